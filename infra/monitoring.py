"""Alarms that say what to do, and one page that shows the pipeline at work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.analysis import Analysis
from infra.api import Api
from infra.functions import PythonFunction, WorkQueue
from infra.ingestion import Ingestion
from infra.workflows import Workflow

RUNBOOK: Final = "docs/operations.md"

_FIVE_MINUTES = cdk.Duration.minutes(5)
_SLOW = cdk.Duration.seconds(3)
_LATE = cdk.Duration.minutes(30)
"""Twice and a half the longest visibility timeout, so a message that is only being repeated is not late."""


class Monitoring(Construct):
    """The alarms, the topic they report to, and the dashboard.

    Attributes:
        topic: subscribe an address to it to hear of alarms.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        ingestion: Ingestion,
        analysis: Analysis,
        api: Api,
        workflows: Sequence[Workflow],
    ) -> None:
        super().__init__(scope, construct_id)
        self.topic = self._build_topic()
        functions = (ingestion.dispatch, ingestion.fetch, analysis.analyze, analysis.heal, api.function)
        self._watch_queue("fetch", ingestion.work)
        self._watch_queue("analyze", analysis.work)
        for function in functions:
            self._watch_errors(function)
            self._watch_throttles(function)
        self._watch_schedule(ingestion.dispatch)
        self._watch_api(api)
        self._watch_recursion(ingestion.fetch, analysis.analyze)
        for workflow in workflows:
            self._watch_workflow(workflow)
        self._dashboard = self._build_dashboard(ingestion, analysis, api, functions)

    def show(self, graphs: Mapping[str, Sequence[cloudwatch.IMetric]]) -> None:
        """Add a row to the dashboard.

        Args:
            graphs: what each shows, by its title; three fill a row.
        """
        self._dashboard.add_widgets(*(_graph(title, metrics) for title, metrics in graphs.items()))

    def watch(
        self,
        *,
        functions: Sequence[PythonFunction] = (),
        queues: Mapping[str, WorkQueue] | None = None,
        workflow_tasks: Sequence[PythonFunction] = (),
        workflows: Sequence[Workflow] = (),
    ) -> None:
        """Add the alarms that every function and queue has, for those of another construct.

        Args:
            functions: each gets an alarm for errors and one for throttles.
            queues: by job; each gets an alarm for dead letters and one for a backlog.
            workflow_tasks: as `functions`, with one entry of the runbook for all: their errors are retried
                and recorded by the workflow that calls them.
            workflows: each gets an alarm for failures and one for time-outs; one entry each for all.
        """
        for task in workflow_tasks:
            self._watch_errors(task, entry="workflow-task-errors")
            self._watch_throttles(task)
        for workflow in workflows:
            self._watch_workflow(workflow, entry="workflow")
        for function in functions:
            self._watch_errors(function)
            self._watch_throttles(function)
        for job, work in (queues or {}).items():
            self._watch_queue(job, work)

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

    def _watch_queue(self, job: str, work: WorkQueue) -> None:
        self.alarm(
            f"{job}-dead-letters",
            metric=work.dead_letters.metric_approximate_number_of_messages_visible(
                period=_FIVE_MINUTES, statistic="Maximum"
            ),
            meaning=f"Messages of the {job} queue failed too often and wait in its dead-letter queue.",
            action="Read one, mend the cause, send them back.",
        )
        self.alarm(
            f"{job}-backlog",
            metric=work.queue.metric_approximate_age_of_oldest_message(
                period=_FIVE_MINUTES, statistic="Maximum"
            ),
            threshold=_LATE.to_seconds(),
            meaning=f"The oldest message of the {job} queue waits longer than {_LATE.to_minutes():.0f} min.",
            action="See whether its function fails, is throttled, or is only outnumbered.",
        )

    def _watch_errors(self, function: PythonFunction, entry: str | None = None) -> None:
        self.alarm(
            f"{_dashed(function.name)}-errors",
            # Two bad periods of three mean two failed runs, so a period is no shorter than from run to run.
            metric=function.function.metric_errors(period=function.period or _FIVE_MINUTES, statistic="Sum"),
            periods=(2, 3),
            meaning=f"{function.name} raised, was killed at its timeout or ran out of memory, repeatedly.",
            action="Read its log; after a deployment, deploy the version before.",
            entry=entry,
        )

    def _watch_throttles(self, function: PythonFunction) -> None:
        self.alarm(
            f"{_dashed(function.name)}-throttles",
            metric=function.function.metric_throttles(period=_FIVE_MINUTES, statistic="Sum"),
            periods=(2, 3),
            meaning=f"Lambda refuses calls of {function.name}: the account's concurrency is used up.",
            action="Lower fetch_concurrency or ask for a higher account limit.",
            entry="function-throttles",
        )

    def _watch_schedule(self, dispatch: PythonFunction) -> None:
        self.alarm(
            "schedule-not-ticking",
            metric=dispatch.function.metric_invocations(period=_FIVE_MINUTES, statistic="Sum"),
            comparison=cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
            missing=cloudwatch.TreatMissingData.BREACHING,
            meaning="dispatch_sources has not run for 5 minutes, so no source is fetched.",
            action="See whether its EventBridge rule is enabled and may call it.",
        )

    def _watch_api(self, api: Api) -> None:
        self.alarm(
            "api-server-errors",
            metric=api.api.metric_server_error(period=_FIVE_MINUTES, statistic="Sum"),
            periods=(2, 3),
            meaning="The HTTP API answers with 5xx.",
            action="Find the requests in its access log, then the function's log.",
        )
        self.alarm(
            "api-slow",
            metric=api.api.metric_latency(period=_FIVE_MINUTES, statistic="p95"),
            threshold=_SLOW.to_milliseconds(),
            periods=(3, 3),
            meaning=f"For a quarter of an hour, one of twenty requests took over {_SLOW.to_seconds():.0f} s.",
            action="See in the log which operation is slow, and whether the table throttles.",
        )

    def _watch_recursion(self, *functions: PythonFunction) -> None:
        """Hear of it when Lambda takes a loop of messages for endless and drops one."""
        for function in functions:
            self.alarm(
                f"{_dashed(function.name)}-recursion",
                metric=function.function.metric(
                    "RecursiveInvocationsDropped", period=_FIVE_MINUTES, statistic="Sum"
                ),
                meaning=f"Lambda took calls of {function.name} for an endless loop and dropped a message.",
                action="See what publishes to its own trigger, and deploy the commit before.",
                entry="recursion",
            )

    def _watch_workflow(self, workflow: Workflow, entry: str | None = None) -> None:
        # An alarm for each, where metric math would do with one: the embedded cloud deploys no math.
        name = _dashed(workflow.name)
        self.alarm(
            f"{name}-failed",
            metric=workflow.machine.metric_failed(period=_FIVE_MINUTES, statistic="Sum"),
            meaning=f"An execution of {workflow.name} failed.",
            action="Open the execution: its cause says what to do.",
            entry=f"{entry}-failed" if entry else None,
        )
        self.alarm(
            f"{name}-timed-out",
            metric=workflow.machine.metric_timed_out(period=_FIVE_MINUTES, statistic="Sum"),
            meaning=f"An execution of {workflow.name} ran out of time.",
            action="Open the execution and see which state it stood in.",
            entry=f"{entry}-timed-out" if entry else None,
        )

    def alarm(
        self,
        name: str,
        *,
        metric: cloudwatch.IMetric,
        meaning: str,
        action: str,
        entry: str | None = None,
        threshold: float = 1,
        periods: tuple[int, int] = (1, 1),
        comparison: cloudwatch.ComparisonOperator = (
            cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD
        ),
        missing: cloudwatch.TreatMissingData = cloudwatch.TreatMissingData.NOT_BREACHING,
    ) -> None:
        """Make an alarm.

        Args:
            name: its name, after the stack's.
            metric: what it watches.
            meaning: what is the matter when it rings.
            action: what to do first.
            entry: anchor of its entry in the runbook; its name when None.
            threshold: the first value that is bad, or with another `comparison` the last that is good.
            periods: how many periods must be bad, out of how many.
            comparison: how a value is held against the threshold.
            missing: what a period without a value says.
        """
        bad, among = periods
        alarm = cloudwatch.Alarm(
            self,
            "".join(part.capitalize() for part in name.split("-")),
            alarm_name=f"{cdk.Stack.of(self).stack_name}-{name}",
            alarm_description=f"{meaning} {action} Runbook: {RUNBOOK}#{entry or name}",
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
        self, ingestion: Ingestion, analysis: Analysis, api: Api, functions: Sequence[PythonFunction]
    ) -> cloudwatch.Dashboard:
        queues = (ingestion.work, analysis.work)
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
            _graph("Requests", [api.api.metric_count()]),
            _graph(
                "Client and server errors", [api.api.metric_client_error(), api.api.metric_server_error()]
            ),
            _graph("Latency, 95th percentile", [api.api.metric_latency(statistic="p95")]),
        )
        return dashboard


def _graph(title: str, metrics: Sequence[cloudwatch.IMetric]) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(title=title, left=list(metrics), width=8)


def _dashed(name: str) -> str:
    return name.replace("_", "-")
