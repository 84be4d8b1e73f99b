"""Alerts: permissions and settings of index_articles, which evaluates rules on the table's stream."""

from __future__ import annotations

from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.api import Api
from infra.data_stack import DataStack
from infra.deployment import Deployment
from infra.functions import PythonFunction
from sourcebook.table.keys import ALERT_PARTITIONS, ALERT_RULES, ELIGIBILITY_INDEX


class Alerts(Construct):
    """The topic of mails, and permissions for rules and deliveries.

    Attributes:
        topic: of mails; its filter sends each message to one address.
    """

    def __init__(self, scope: Construct, construct_id: str, *, data: DataStack) -> None:
        super().__init__(scope, construct_id)
        self._table = data.table
        self.topic = sns.Topic(self, "Mails", enforce_ssl=True, display_name="Sourcebook alerts")

    def add_firing(self, function: PythonFunction, bus: events.IEventBus, deployment: Deployment) -> None:
        """Allow a function to read rules, to write firings, and to deliver them."""
        for name, value in {
            "EVENT_BUS_NAME": bus.event_bus_name,
            "ALERT_TOPIC_ARN": self.topic.topic_arn,
            "HTTP_ALLOWED_NETWORKS": deployment.allowed_networks,
            "HTTP_CONTACT": deployment.contact,
        }.items():
            function.function.add_environment(name, value)
        self._may(function, ["GetItem", "Query"], ALERT_RULES)
        self._may(function, ["GetItem", "PutItem", "UpdateItem"], ALERT_PARTITIONS)
        # What the other banks offer, and of which kind a series is.
        self._may(function, ["GetItem", "Query"], "LATEST#*", "OBSERVATIONS")
        # What is due, and what subjects are called.
        function.allow(["dynamodb:Query"], f"{self._table.table_arn}/index/{ELIGIBILITY_INDEX}")
        function.allow(["events:PutEvents"], bus.event_bus_arn)
        function.allow(["sns:Publish"], self.topic.topic_arn)

    def add_managing(self, api: Api) -> None:
        """Allow the API to create and delete rules."""
        self._may(api.function, ["DeleteItem", "PutItem", "UpdateItem"], ALERT_RULES)
        api.function.function.add_environment("ALERT_TOPIC_ARN", self.topic.topic_arn)
        api.function.allow(["sns:Subscribe"], self.topic.topic_arn)

    def outputs(self) -> dict[str, str]:
        """Return the stack outputs of this construct."""
        return {"AlertMailTopicArn": self.topic.topic_arn}

    def _may(self, function: PythonFunction, operations: list[str], *partitions: str) -> None:
        function.role.add_to_principal_policy(
            iam.PolicyStatement(
                actions=[f"dynamodb:{operation}" for operation in operations],
                resources=[self._table.table_arn],
                conditions={"ForAllValues:StringLike": {"dynamodb:LeadingKeys": list(partitions)}},
            )
        )
