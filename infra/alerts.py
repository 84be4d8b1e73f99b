"""Alerts: permissions and settings of index_articles, which evaluates rules on the table's stream."""

from __future__ import annotations

from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.deployment import Deployment
from infra.functions import TableFunction
from sourcebook.table.keys import ALERT_RULES, ELIGIBILITY_INDEX, alert_partition


class Alerts(Construct):
    """The topic of mails, and permissions for rules and deliveries.

    Attributes:
        topic: of mails; its filter sends each message to one address.
    """

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id)
        self.topic = sns.Topic(self, "Mails", enforce_ssl=True, display_name="Sourcebook alerts")

    def grant_fire(self, function: TableFunction, deployment: Deployment) -> None:
        """Allow a function to read rules, to write firings, and to deliver them by mail and webhook."""
        for name, value in {
            "ALERT_TOPIC_ARN": self.topic.topic_arn,
            **deployment.http_environment(),
        }.items():
            function.function.add_environment(name, value)
        function.allow_items("GetItem", "Query", partitions=[ALERT_RULES])
        function.allow_items("GetItem", "PutItem", "UpdateItem", partitions=[alert_partition("*")])
        # What the other banks offer, and of which kind a series is.
        function.allow_items("GetItem", "Query", partitions=["LATEST#*", "OBSERVATIONS"])
        # What is due, and what subjects are called.
        function.allow_indexes(ELIGIBILITY_INDEX)
        function.allow(["sns:Publish"], self.topic.topic_arn)

    def grant_manage(self, function: TableFunction) -> None:
        """Allow a function to create and delete rules, and to subscribe addresses to mails."""
        function.allow_items("DeleteItem", "PutItem", "UpdateItem", partitions=[ALERT_RULES])
        function.function.add_environment("ALERT_TOPIC_ARN", self.topic.topic_arn)
        function.allow(["sns:Subscribe"], self.topic.topic_arn)

    def outputs(self) -> dict[str, str]:
        """Return the stack outputs of this construct."""
        return {"AlertMailTopicArn": self.topic.topic_arn}
