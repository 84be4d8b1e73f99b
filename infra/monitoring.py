"""The alarms, each with its action, and the dashboard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import aws_cdk as cdk
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.deployment import Deployment
from infra.functions import PythonFunction, WorkQueue, pascal
from infra.workflows import Workflow

RUNBOOK: Final = "docs/operations.md"
FAILED_RUNS: Final = "workflow-failed"
"""Anchor of the runbook's entry on executions that failed."""
COUNTED_WORKFLOWS: Final = frozenset({"acquire_and_validate_spectra"})
"""Workflows of which a single failure is ordinary: an alarm counts them instead."""

_FIVE_MINUTES = cdk.Duration.minutes(5)
_SLOW = cdk.Duration.seconds(3)
_LATE = cdk.Duration.minutes(30)
"""Twice and a half the longest visibility timeout, so a message that is only being repeated is not late."""
_ENDED_BADLY = ("FAILED", "TIMED_OUT")
_MOST_METRICS = 10
"""Metrics that an alarm may be made of (CloudWatch, alarms on metric math)."""


@dataclass(frozen=True, slots=True)
class WatchedMetric:
    """One of the metrics that an alarm watches.

    Attributes:
        metric: its values.
        limit: the first value that is bad.
    """

    metric: cloudwatch.Metric
    limit: float = 1


class Monitoring(Construct):
    """The alarms, the topic they report to, and the dashboard.

    It finds the queues, scheduled functions and workflows of its stack by itself, so make it after them. One
    alarm stands for all of a kind: its entry in the runbook says how to see which one it is. What fails in a
    function that a queue feeds is seen by its dead letters, in a task of a workflow by the execution, in one
    that answers requests by the API's errors. docs/decisions/0270 says what an alarm costs.

    Attributes:
        topic: subscribe an address to it to hear of alarms and of executions that failed.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        deployment: Deployment,
        dispatch: PythonFunction,
        api: apigateway.HttpApi,
        shown: Sequence[PythonFunction],
    ) -> None:
        """Create the alarms that every deployment has.

        Args:
            scope: the construct it belongs to.
            construct_id: its name in there.
            deployment: the embedded cloud deploys no alarm on metric math.
            dispatch: the function that the clock calls each minute.
            api: the HTTP API.
            shown: functions of the dashboard.
        """
        super().__init__(scope, construct_id)
        parts = cdk.Stack.of(self).node.find_all()
        queues = [part for part in parts if isinstance(part, WorkQueue)]
        functions = [part for part in parts if isinstance(part, PythonFunction)]
        self._knows_math = not deployment.is_local
        self.topic = self._build_topic()
        self._watch_queues(queues)
        self._watch_schedules([function for function in functions if function.period])
        self._watch_throttles()
        self._watch_dispatch(dispatch)
        self._watch_api(api)
        # By a role: what EventBridge publishes cannot be bound to a source in the topic's policy.
        self._publisher = iam.Role(
            self,
            "Publisher",
            description="Publishes to the topic of alarms",
            assumed_by=iam.ServicePrincipal(
                "events.amazonaws.com",
                conditions={"StringEquals": {"aws:SourceAccount": cdk.Aws.ACCOUNT_ID}},
            ),
        )
        workflows = [part for part in parts if isinstance(part, Workflow)]
        self.announce(
            "FailedRuns",
            [workflow for workflow in workflows if workflow.name not in COUNTED_WORKFLOWS],
            *_ENDED_BADLY,
        )
        self._dashboard = self._build_dashboard(queues, api, shown)

    def show(self, graphs: Mapping[str, Sequence[cloudwatch.IMetric]]) -> None:
        """Add a row to the dashboard.

        Args:
            graphs: what each shows, by its title; three fill a row.
        """
        self._dashboard.add_widgets(*(_graph(title, metrics) for title, metrics in graphs.items()))

    def _build_topic(self) -> sns.Topic:
        topic = sns.Topic(self, "Alarms", enforce_ssl=True, display_name="Sourcebook alarms")
        # A topic policy of its own replaces the default one, by which alarms of the account may publish.
        topic.add_to_resource_policy(
            iam.PolicyStatement(
                sid="AlarmsOfThisAccount",
                principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
                actions=["sns:Publish"],
                resources=[topic.topic_arn],
                conditions={"StringEquals": {"aws:SourceAccount": cdk.Aws.ACCOUNT_ID}},
            )
        )
        return topic

    def _watch_queues(self, queues: Sequence[WorkQueue]) -> None:
        self.alarm_on_any(
            "dead-letters",
            [
                WatchedMetric(
                    work.dead_letters.metric_approximate_number_of_messages_visible(
                        period=_FIVE_MINUTES, statistic="Maximum"
                    )
                )
                for work in queues
            ],
            meaning="Messages failed too often, or were taken for an endless loop, and were set aside.",
            action="See which queue, read one, mend the cause, send them back.",
        )
        self.alarm_on_any(
            "backlog",
            [
                WatchedMetric(
                    work.queue.metric_approximate_age_of_oldest_message(
                        period=_FIVE_MINUTES, statistic="Maximum"
                    ),
                    limit=_LATE.to_seconds(),
                )
                for work in queues
            ],
            meaning=f"The oldest message of a queue waits longer than {_LATE.to_minutes():.0f} minutes.",
            action="See which queue, and whether its function fails, is throttled, or is only outnumbered.",
        )

    def _watch_schedules(self, functions: Sequence[PythonFunction]) -> None:
        # Two bad periods of three mean two failed runs, so a period is no shorter than from run to run.
        longest = max(int(function.period.to_seconds()) for function in functions if function.period)
        period = cdk.Duration.seconds(longest)
        self.alarm_on_any(
            "scheduled-function-errors",
            [
                WatchedMetric(function.function.metric_errors(period=period, statistic="Sum"))
                for function in functions
            ],
            periods=(2, 3),
            meaning="A function that runs by the clock raised, was killed at its timeout or lacked memory.",
            action="See which one, read its log; after a deployment, deploy the version before.",
        )

    def _watch_throttles(self) -> None:
        self.alarm(
            "function-throttles",
            # Of all functions of the account in this region, since it is the account's concurrency that they
            # share. So it is one metric, whatever the number of functions.
            metric=cloudwatch.Metric(
                namespace="AWS/Lambda", metric_name="Throttles", period=_FIVE_MINUTES, statistic="Sum"
            ),
            periods=(2, 3),
            meaning="Lambda refuses calls: the concurrency of the account in this region is used up.",
            action="Lower fetch_concurrency or ask for a higher account limit.",
        )

    def _watch_dispatch(self, dispatch: PythonFunction) -> None:
        self.alarm(
            "schedule-not-ticking",
            metric=dispatch.function.metric_invocations(period=_FIVE_MINUTES, statistic="Sum"),
            comparison=cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
            missing=cloudwatch.TreatMissingData.BREACHING,
            meaning="dispatch_sources has not run for 5 minutes, so no source is fetched.",
            action="See whether its EventBridge rule is enabled and may call it.",
        )

    def _watch_api(self, api: apigateway.HttpApi) -> None:
        self.alarm(
            "api-server-errors",
            metric=api.metric_server_error(period=_FIVE_MINUTES, statistic="Sum"),
            periods=(2, 3),
            meaning="The HTTP API answers with 5xx.",
            action="Find the requests in its access log, then the function's log.",
        )
        self.alarm(
            "api-slow",
            metric=api.metric_latency(period=_FIVE_MINUTES, statistic="p95"),
            threshold=_SLOW.to_milliseconds(),
            periods=(3, 3),
            meaning=f"For a quarter of an hour, one of twenty requests took over {_SLOW.to_seconds():.0f} s.",
            action="See in the log which operation is slow, and whether the table throttles.",
        )

    def announce(self, construct_id: str, workflows: Sequence[Workflow], *statuses: str) -> None:
        """Publish each execution of these workflows that ends in one of these ways; an event costs nothing.

        Args:
            construct_id: name of the rule.
            workflows: whose executions.
            statuses: of Step Functions, such as ``FAILED``.
        """
        field = events.EventField.from_path
        events.Rule(
            self,
            construct_id,
            description=f"Publishes executions that ended as {' or '.join(statuses)} to the topic of alarms",
            event_pattern=events.EventPattern(
                source=["aws.states"],
                detail_type=["Step Functions Execution Status Change"],
                detail={
                    "status": list(statuses),
                    "stateMachineArn": [workflow.machine.state_machine_arn for workflow in workflows],
                },
            ),
            targets=[
                targets.SnsTopic(
                    self.topic,
                    role=self._publisher,
                    message=events.RuleTargetInput.from_text(
                        f"{field('$.detail.status')}: {field('$.detail.executionArn')}. "
                        f"Open the execution: its cause says what to do. Runbook: {RUNBOOK}#{FAILED_RUNS}"
                    ),
                )
            ],
        )

    def alarm_on_any(
        self,
        name: str,
        watched: Sequence[WatchedMetric],
        *,
        meaning: str,
        action: str,
        periods: tuple[int, int] = (1, 1),
    ) -> None:
        """Create one alarm that rings when any of several metrics is bad.

        It costs what an alarm on each would cost, and is one resource and one entry of the runbook.

        Args:
            name: its name, after the stack's.
            watched: the metrics, all of the same period.
            meaning: what is the matter when it rings.
            action: what to do first.
            periods: how many periods must be bad, out of how many.

        Raises:
            ValueError: if there are more metrics than CloudWatch lets an alarm have, or of several periods.
        """
        if len(watched) > _MOST_METRICS:
            raise ValueError(f"{name}: {len(watched)} metrics are more than {_MOST_METRICS}: make two alarms")
        (period,) = {one.metric.period.to_seconds() for one in watched}
        # A metric without a value in a period counts as 0, so that the others of that period still count.
        shares = [f"FILL(m{number}, 0) / {one.limit:.0f}" for number, one in enumerate(watched)]
        self.alarm(
            name,
            metric=cloudwatch.MathExpression(
                label="The worst of all, as a share of its limit",
                expression=f"MAX([{', '.join(shares)}])",
                using_metrics={f"m{number}": one.metric for number, one in enumerate(watched)},
                period=cdk.Duration.seconds(period),
            ),
            meaning=meaning,
            action=action,
            periods=periods,
        )

    def alarm(
        self,
        name: str,
        *,
        metric: cloudwatch.IMetric,
        meaning: str,
        action: str,
        threshold: float = 1,
        periods: tuple[int, int] = (1, 1),
        comparison: cloudwatch.ComparisonOperator = (
            cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD
        ),
        missing: cloudwatch.TreatMissingData = cloudwatch.TreatMissingData.NOT_BREACHING,
    ) -> None:
        """Create an alarm; the embedded cloud does without those on metric math.

        Args:
            name: its name, after the stack's, and the anchor of its entry in the runbook.
            metric: what it watches.
            meaning: what is the matter when it rings.
            action: what to do first.
            threshold: the first value that is bad, or with another `comparison` the last that is good.
            periods: how many periods must be bad, out of how many.
            comparison: how a value is held against the threshold.
            missing: what a period without a value says.
        """
        if isinstance(metric, cloudwatch.MathExpression) and not self._knows_math:
            return
        bad, among = periods
        alarm = cloudwatch.Alarm(
            self,
            pascal(name),
            alarm_name=f"{cdk.Stack.of(self).stack_name}-{name}",
            alarm_description=f"{meaning} {action} Runbook: {RUNBOOK}#{name}",
            metric=metric,
            threshold=threshold,
            datapoints_to_alarm=bad,
            evaluation_periods=among,
            comparison_operator=comparison,
            treat_missing_data=missing,
        )
        alarm.add_alarm_action(actions.SnsAction(self.topic))
        alarm.add_ok_action(actions.SnsAction(self.topic))

    def _build_dashboard(
        self, queues: Sequence[WorkQueue], api: apigateway.HttpApi, functions: Sequence[PythonFunction]
    ) -> cloudwatch.Dashboard:
        dashboard = cloudwatch.Dashboard(
            self,
            "Dashboard",
            dashboard_name=cdk.Stack.of(self).stack_name,
            default_interval=cdk.Duration.hours(3),
        )
        dashboard.add_widgets(
            _graph("Calls", [function.function.metric_invocations() for function in functions]),
            _graph("Errors", [function.function.metric_errors() for function in functions]),
            _graph(
                "Duration, 95th percentile",
                [function.function.metric_duration(statistic="p95") for function in functions],
            ),
        )
        dashboard.add_widgets(
            _graph(
                "Waiting messages",
                [work.queue.metric_approximate_number_of_messages_visible() for work in queues],
            ),
            _graph(
                "Age of the oldest message",
                [work.queue.metric_approximate_age_of_oldest_message() for work in queues],
            ),
            _graph(
                "Dead letters",
                [work.dead_letters.metric_approximate_number_of_messages_visible() for work in queues],
            ),
        )
        dashboard.add_widgets(
            _graph("Requests", [api.metric_count()]),
            _graph("Client and server errors", [api.metric_client_error(), api.metric_server_error()]),
            _graph("Latency, 95th percentile", [api.metric_latency(statistic="p95")]),
        )
        return dashboard

    def outputs(self) -> dict[str, str]:
        """Return the stack outputs of this construct."""
        return {"AlarmTopicArn": self.topic.topic_arn}


def _graph(title: str, metrics: Sequence[cloudwatch.IMetric]) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(title=title, left=list(metrics), width=8)
