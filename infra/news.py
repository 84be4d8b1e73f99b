"""Events and ideas: the event bus, its consumers, and the alarm on collision rates."""

from __future__ import annotations

from typing import Final

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_lambda_event_sources as event_sources
from constructs import Construct

from infra.api_keys import ApiKeys
from infra.data_stack import DataStack
from infra.deployment import Deployment
from infra.functions import PythonFunction, WorkQueue
from infra.layers import Layers
from infra.monitoring import Monitoring
from sourcebook.articles.bus import SOURCE
from sourcebook.events import ArticlesNew, BusEvent, GenerateIdeas, GroupHeadlines

LEAST_COLLISIONS: Final = 5
MOST_COLLISIONS: Final = 40
"""Bounds, in percent, of the fetched articles that another source had reported already."""
ENOUGH_ARTICLES: Final = 200
"""Least number of articles in a period for which the rate is computed."""

_LEAST_CONCURRENCY: Final = 2
"""The least concurrency that SQS takes; more runs of grouping than lines overtake one another."""


class News(Construct):
    """fetch_sources → bus → trigger_grouping → bus → group_headlines → bus → generate_ideas.

    Each function listens on a queue of its own that a rule of the bus fills, so that none is called by what
    it writes to, and what fails waits instead of being lost.

    Attributes:
        bus: the event bus; other systems may listen to it too.
        trigger: asks for grouping when it is due.
        group: links articles into events.
        ideas: draws conclusions from events.
        queues: what the three listen on, by job.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, data: DataStack, layers: Layers, lines: int
    ) -> None:
        super().__init__(scope, construct_id)
        self.bus = events.EventBus(
            self,
            "Bus",
            event_bus_name=f"{cdk.Stack.of(self).stack_name}-news",
            description="New articles, events that changed, ideas to be made",
        )
        self.queues: dict[str, WorkQueue] = {}
        self._shared = {"TABLE_NAME": data.table.table_name, "BUCKET_NAME": data.bucket.bucket_name}
        self._layers = [layers.core, layers.dependencies]
        self.trigger = self._build_trigger(data, lines)
        self.group = self._build_group(data, lines)
        self.ideas = self._build_ideas(data)

    def _build_trigger(self, data: DataStack, lines: int) -> PythonFunction:
        trigger = PythonFunction(
            self,
            "TriggerGrouping",
            name="trigger_grouping",
            description="Asks for grouping when enough articles wait, or one has waited long enough",
            layers=self._layers,
            environment={
                **self._shared,
                "EVENT_BUS_NAME": self.bus.event_bus_name,
                "GROUPING_LINES": str(lines),
            },
            timeout=cdk.Duration.seconds(20),
            memory_size=256,
        )
        trigger.allow(["dynamodb:Query"], data.table.table_arn)
        self._may_tell(trigger)
        # One look serves all articles of a few seconds.
        self._listen(trigger, "new-articles", ArticlesNew, batch_size=100, window=cdk.Duration.seconds(5))
        trigger.run_every(cdk.Duration.minutes(1))
        return trigger

    def _build_group(self, data: DataStack, lines: int) -> PythonFunction:
        group = PythonFunction(
            self,
            "GroupHeadlines",
            name="group_headlines",
            description="Links the articles that wait for it into events",
            layers=self._layers,
            environment={**self._shared, "EVENT_BUS_NAME": self.bus.event_bus_name},
            timeout=cdk.Duration.seconds(120),
            memory_size=1024,
        )
        group.allow(
            [
                "dynamodb:BatchGetItem",
                "dynamodb:BatchWriteItem",
                "dynamodb:GetItem",
                "dynamodb:PutItem",
                "dynamodb:Query",
                "dynamodb:UpdateItem",
            ],
            data.table.table_arn,
        )
        self._may_tell(group)
        self._listen(
            group,
            "group",
            GroupHeadlines,
            # A run does all lines that it is asked for, one after the other.
            batch_size=10 if lines == 1 else 1,
            window=cdk.Duration.seconds(1),
            concurrency=max(_LEAST_CONCURRENCY, lines),
        )
        return group

    def _build_ideas(self, data: DataStack) -> PythonFunction:
        ideas = PythonFunction(
            self,
            "GenerateIdeas",
            name="generate_ideas",
            description="Draws conclusions from the events that have changed",
            layers=self._layers,
            environment=self._shared,
            timeout=cdk.Duration.seconds(60),
            memory_size=512,
        )
        ideas.allow(
            ["dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"],
            data.table.table_arn,
        )
        self._listen(ideas, "ideas", GenerateIdeas, batch_size=5, window=cdk.Duration.seconds(1))
        return ideas

    def _listen(
        self,
        function: PythonFunction,
        job: str,
        event: type[BusEvent],
        *,
        batch_size: int,
        window: cdk.Duration,
        concurrency: int = _LEAST_CONCURRENCY,
    ) -> None:
        """Send the events of one type to a function, through a queue."""
        work = WorkQueue(
            self,
            "".join(part.capitalize() for part in job.split("-")),
            visibility_timeout=function.visibility_timeout(),
            max_receive_count=5,
        )
        events.Rule(
            self,
            f"{event.__name__}Rule",
            description=f"{event.detail_type}: to {function.name}",
            event_bus=self.bus,
            event_pattern=events.EventPattern(source=[SOURCE], detail_type=[event.detail_type]),
            targets=[
                targets.SqsQueue(work.queue, message=events.RuleTargetInput.from_event_path("$.detail"))
            ],
        )
        function.function.add_event_source(
            event_sources.SqsEventSource(
                work.queue,
                batch_size=batch_size,
                max_batching_window=window,
                report_batch_item_failures=True,
                max_concurrency=concurrency,
            )
        )
        self.queues[job] = work

    def _may_tell(self, function: PythonFunction) -> None:
        function.allow(["events:PutEvents"], self.bus.event_bus_arn)

    def add_fetching(self, fetch: PythonFunction, api_keys: ApiKeys) -> None:
        """Allow fetch_sources to put events on the bus and to read the keys of the news APIs."""
        fetch.function.add_environment("EVENT_BUS_NAME", self.bus.event_bus_name)
        self._may_tell(fetch)
        fetch.allow(
            ["secretsmanager:GetSecretValue"], *(api_keys.arn(secret) for secret in api_keys.secrets.values())
        )

    def add_monitoring(self, monitoring: Monitoring, fetch: PythonFunction, deployment: Deployment) -> None:
        """Add the alarms of this construct."""
        if not deployment.is_local:  # the embedded cloud knows no metric math
            _watch_collisions(monitoring, fetch)


def _watch_collisions(monitoring: Monitoring, fetch: PythonFunction) -> None:
    period = cdk.Duration.hours(6)

    def counted(name: str) -> cloudwatch.Metric:
        return cloudwatch.Metric(
            namespace="Sourcebook",
            metric_name=name,
            dimensions_map={"service": fetch.name},
            statistic="Sum",
            period=period,
        )

    rate = "100 * merged / fetched"
    outside = cloudwatch.MathExpression(
        label="Collision rate outside of its bounds",
        expression=(
            f"IF(fetched < {ENOUGH_ARTICLES}, 0, "
            f"IF({rate} < {LEAST_COLLISIONS} OR {rate} > {MOST_COLLISIONS}, 1, 0))"
        ),
        using_metrics={"fetched": counted("ArticlesFetched"), "merged": counted("ArticlesMerged")},
        period=period,
    )
    monitoring.alarm(
        "collision-rate",
        metric=outside,
        periods=(2, 2),
        meaning=f"Less than {LEAST_COLLISIONS} % or more than {MOST_COLLISIONS} % of the articles of "
        "six hours had been reported by another source.",
        action="See which source changed, and whether its headlines still look like headlines.",
    )
