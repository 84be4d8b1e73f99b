"""Events and ideas: the event bus, its consumers, and the alarm on collision rates."""

from __future__ import annotations

from typing import Final

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_lambda_event_sources as event_sources
from constructs import Construct

from infra.data_stack import DataStack
from infra.functions import PythonFunction, TableFunction, WorkQueue, pascal
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
        self.trigger = self._build_trigger(data, layers, lines)
        self.group = self._build_group(data, layers, lines)
        self.ideas = self._build_ideas(data, layers)

    def grant_put_events(self, function: PythonFunction) -> None:
        """Allow a function to put events on the bus."""
        function.function.add_environment("EVENT_BUS_NAME", self.bus.event_bus_name)
        function.allow(["events:PutEvents"], self.bus.event_bus_arn)

    def _build_trigger(self, data: DataStack, layers: Layers, lines: int) -> TableFunction:
        trigger = TableFunction(
            self,
            "TriggerGrouping",
            name="trigger_grouping",
            description="Asks for grouping when enough articles wait, or one has waited long enough",
            data=data,
            layers=layers,
            environment={"GROUPING_LINES": str(lines)},
            timeout=cdk.Duration.seconds(20),
            memory_size=256,
        )
        trigger.allow_items("Query")
        self.grant_put_events(trigger)
        # One look serves all articles of a few seconds.
        self._listen(trigger, "new-articles", ArticlesNew, batch_size=100, window=cdk.Duration.seconds(5))
        trigger.run_every(cdk.Duration.minutes(1))
        return trigger

    def _build_group(self, data: DataStack, layers: Layers, lines: int) -> TableFunction:
        group = TableFunction(
            self,
            "GroupHeadlines",
            name="group_headlines",
            description="Links the articles that wait for it into events",
            data=data,
            layers=layers,
            timeout=cdk.Duration.seconds(120),
            memory_size=1024,
        )
        group.allow_items("BatchGetItem", "BatchWriteItem", "GetItem", "PutItem", "Query", "UpdateItem")
        self.grant_put_events(group)
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

    def _build_ideas(self, data: DataStack, layers: Layers) -> TableFunction:
        ideas = TableFunction(
            self,
            "GenerateIdeas",
            name="generate_ideas",
            description="Draws conclusions from the events that have changed",
            data=data,
            layers=layers,
            timeout=cdk.Duration.seconds(60),
        )
        ideas.allow_items("BatchGetItem", "GetItem", "PutItem", "UpdateItem")
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
            pascal(job),
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

    def add_monitoring(self, monitoring: Monitoring, fetch: PythonFunction) -> None:
        """Add the alarm on the collision rate: the share of articles that another source had reported."""
        period = cdk.Duration.hours(6)
        rate = "100 * merged / fetched"
        outside = cloudwatch.MathExpression(
            label="Collision rate outside of its bounds",
            expression=(
                f"IF(fetched < {ENOUGH_ARTICLES}, 0, "
                f"IF({rate} < {LEAST_COLLISIONS} OR {rate} > {MOST_COLLISIONS}, 1, 0))"
            ),
            using_metrics={
                "fetched": fetch.metric("ArticlesFetched", statistic="Sum", period=period),
                "merged": fetch.metric("ArticlesMerged", statistic="Sum", period=period),
            },
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

    def outputs(self) -> dict[str, str]:
        """Return the stack outputs of this construct."""
        queues = {
            f"{pascal(job)}{kind}Url": queue.queue_url
            for job, work in self.queues.items()
            for kind, queue in (("Queue", work.queue), ("DeadLetterQueue", work.dead_letters))
        }
        return {
            **queues,
            "EventBusName": self.bus.event_bus_name,
            "TriggerFunctionName": self.trigger.function.function_name,
            "GroupFunctionName": self.group.function.function_name,
            "IdeasFunctionName": self.ideas.function.function_name,
        }
