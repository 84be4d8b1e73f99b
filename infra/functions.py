"""Constructs for Lambda functions and their queues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast

import aws_cdk as cdk
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.deployment import ROOT, Deployment
from infra.layers import ARCHITECTURE, NOT_SOURCE, RUNTIME
from infra.nag import accept

LOG_RETENTION: Final = logs.RetentionDays.ONE_MONTH

_LAMBDAS = ROOT / "lambdas"


class PythonFunction(Construct):
    """A Lambda of the folder ``lambdas/<name>`` with a role and a log group of its own.

    The role may write to that log group and nothing else; :meth:`allow` adds what the function
    does. The function and its log group are named after the folder, so that a name seen in the
    code is a name to look for in the console.

    Attributes:
        name: the folder in lambdas/.
        timeout: after which Lambda kills it.
        period: from one scheduled run to the next, if it has a schedule.
        function: the Lambda itself.
        role: what it may do.
        log_group: where it logs.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        name: str,
        description: str,
        layers: Sequence[lambda_.ILayerVersion],
        environment: Mapping[str, str],
        timeout: cdk.Duration,
        memory_size: int,
    ) -> None:
        """Define the function, its log group and its role.

        Args:
            scope: the construct it belongs to.
            construct_id: its name in there.
            name: the folder in lambdas/.
            description: one line for the console.
            layers: the first is the uppermost.
            environment: variables besides those that every function has.
            timeout: after which Lambda kills it.
            memory_size: MB; CPU comes in proportion, a whole one at 1,769.

        Raises:
            ValueError: if the folder has no handler.
        """
        super().__init__(scope, construct_id)
        folder = _LAMBDAS / name
        if not (folder / "handler.py").is_file():
            raise ValueError(f"lambdas/{name}/handler.py is missing: it must define handler(event, context)")
        function_name = f"{cdk.Stack.of(self).stack_name}-{name}"
        self.name = name
        self.timeout = timeout
        self.period: cdk.Duration | None = None
        self.log_group = logs.LogGroup(
            self,
            "Logs",
            log_group_name=f"/aws/lambda/{function_name}",
            retention=LOG_RETENTION,
            # With its fixed name a retained group would make the next deployment of the stack fail.
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        self.role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
            description=f"What {name} may do",
        )
        self.log_group.grant_write(self.role)
        self.function = lambda_.Function(
            self,
            "Function",
            function_name=function_name,
            description=description,
            code=lambda_.Code.from_asset(
                str(folder), exclude=list(NOT_SOURCE), ignore_mode=cdk.IgnoreMode.GIT
            ),
            handler="handler.handler",
            runtime=RUNTIME,
            architecture=ARCHITECTURE,
            layers=layers,
            role=self.role,
            log_group=self.log_group,
            timeout=timeout,
            memory_size=memory_size,
            # Every message carries a correlation id that joins the logs of one run; traces say it again,
            # for money, and are a choice of the deployment.
            tracing=lambda_.Tracing.DISABLED,
            environment={
                "POWERTOOLS_SERVICE_NAME": name,
                "POWERTOOLS_METRICS_NAMESPACE": "Sourcebook",
                "POWERTOOLS_LOG_LEVEL": "INFO",
                **environment,
            },
        )

        accept(
            self.function,
            "AwsSolutions-L1",
            "Python 3.13 and not the newest: the same code must run on the interpreter that a newcomer has, "
            "and 3.13 is the newest that all the compiled dependencies are tested with on arm64.",
        )

    def allow(self, actions: Sequence[str], *resource_arns: str) -> None:
        """Allow the function `actions` on the resources with these ARNs."""
        self.role.add_to_principal_policy(
            iam.PolicyStatement(actions=list(actions), resources=list(resource_arns))
        )

    def trace(self) -> None:
        """Trace each run with X-Ray; boto3 passes the trace on to the services that are called."""
        resource = cast("lambda_.CfnFunction", self.function.node.default_child)
        resource.tracing_config = lambda_.CfnFunction.TracingConfigProperty(mode="Active")
        allow_tracing(self.role)

    def run_every(self, period: cdk.Duration, *, retries: int = 0) -> None:
        """Call the function once each `period`.

        A call that fails is not repeated, unless others than the clock call it too: the next one finds the
        same work.
        """
        lifetime = cdk.Duration.seconds(min(period.to_seconds(), 6 * 3600))
        self.period = period
        self.function.configure_async_invoke(max_event_age=lifetime, retry_attempts=retries)
        events.Rule(
            self,
            "Schedule",
            description=f"Runs {self.name}",
            schedule=events.Schedule.rate(period),
            targets=[targets.LambdaFunction(self.function, max_event_age=lifetime, retry_attempts=0)],
        )

    def visibility_timeout(self, *, local: bool = False) -> cdk.Duration:
        """Return the visibility timeout of a queue that feeds this function.

        Six times the function's timeout, as AWS asks for event source mappings: less, and a message
        that waits for a free function comes back while it is still being worked on. The embedded cloud
        receives no message before a function is free, and `make up` waits for the work of a process that
        was killed.
        """
        seconds = int(self.timeout.to_seconds())
        return cdk.Duration.seconds(seconds + 15 if local else 6 * seconds)


def allow_tracing(role: iam.IRole, *more: str) -> None:
    """Allow a role to send traces, by actions that take no resource."""
    actions = ["xray:PutTelemetryRecords", "xray:PutTraceSegments", *more]
    role.add_to_principal_policy(iam.PolicyStatement(actions=actions, resources=["*"]))
    accept(
        role.node.find_child("DefaultPolicy"),
        "AwsSolutions-IAM5",
        "X-Ray's actions know no resource (Service Authorization Reference, AWS X-Ray).",
        applies_to=("Resource::*",),
    )


def with_batches(action: str, deployment: Deployment) -> list[str]:
    """Return the actions that allow an operation and its batch form.

    AWS checks both as the one action; the embedded cloud checks the batch form under its own name,
    which no policy on AWS may hold.
    """
    return [action, f"{action}Batch"] if deployment.is_local else [action]


def allow_partiql(
    function: PythonFunction, table: dynamodb.ITable, deployment: Deployment, *kinds: str
) -> None:
    """Allow a function ``Table.create_many`` (``Insert``) or ``Table.update_many`` (``Update``).

    AWS checks the kind of each statement, on the table; the embedded cloud checks the operation, and does not
    see which table it is for.
    """
    function.allow([f"dynamodb:PartiQL{kind}" for kind in kinds], table.table_arn)
    if deployment.is_local:
        function.allow(["dynamodb:BatchExecuteStatement"], "*")
        accept(
            function.role.node.find_child("DefaultPolicy"),
            "AwsSolutions-IAM5",
            "On the embedded cloud alone, whose PartiQL requests name no resource; AWS gets the table's ARN.",
            applies_to=("Resource::*",),
        )


class WorkQueue(Construct):
    """A queue that feeds a function, with its dead-letter queue."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        visibility_timeout: cdk.Duration,
        max_receive_count: int,
    ) -> None:
        super().__init__(scope, construct_id)
        self.dead_letters = sqs.Queue(
            self,
            "DeadLetters",
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            # The longest SQS offers: a weekend and a holiday must fit between failure and redrive.
            retention_period=cdk.Duration.days(14),
        )
        self.queue = sqs.Queue(
            self,
            "Queue",
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            enforce_ssl=True,
            visibility_timeout=visibility_timeout,
            retention_period=cdk.Duration.days(4),
            dead_letter_queue=sqs.DeadLetterQueue(
                queue=self.dead_letters, max_receive_count=max_receive_count
            ),
        )
