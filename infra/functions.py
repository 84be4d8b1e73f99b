"""Constructs for Lambda functions and their queues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypedDict, cast

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.deployment import ROOT, Deployment
from infra.layer_builds import NOT_SOURCE
from infra.layers import ARCHITECTURE, RUNTIME, Layers
from infra.nag import accept, accept_wildcard

if TYPE_CHECKING:
    from infra.data_stack import DataStack

LOG_RETENTION: Final = logs.RetentionDays.ONE_MONTH

_LAMBDAS = ROOT / "lambdas"
_NAMESPACE: Final = "Sourcebook"
"""Of the metrics that functions write to their logs."""


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
            layers: in the order in which Lambda unpacks them.
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
            # The correlation id in every message joins the logs of one run already. Traces cost money
            # and are a choice of the deployment.
            tracing=lambda_.Tracing.DISABLED,
            environment={
                "POWERTOOLS_SERVICE_NAME": name,
                "POWERTOOLS_METRICS_NAMESPACE": _NAMESPACE,
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

    def allow(
        self,
        actions: Sequence[str],
        *resource_arns: str,
        conditions: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
    ) -> None:
        """Allow the function `actions` on the resources with these ARNs, where all conditions hold."""
        self.role.add_to_principal_policy(
            iam.PolicyStatement(actions=list(actions), resources=list(resource_arns), conditions=conditions)
        )

    def metric(self, name: str, *, statistic: str, period: cdk.Duration) -> cloudwatch.Metric:
        """Return a metric that the function itself counts, by its name in the code of lambdas/."""
        return cloudwatch.Metric(
            namespace=_NAMESPACE,
            metric_name=name,
            dimensions_map={"service": self.name},
            statistic=statistic,
            period=period,
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


class TableFunction(PythonFunction):
    """A Lambda that works on the table.

    It has the package `sourcebook` and what that imports, and knows the names of table and bucket. What it
    may do with them, the `allow_` methods add.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        name: str,
        description: str,
        data: DataStack,
        layers: Layers,
        more_layers: Sequence[lambda_.ILayerVersion] = (),
        environment: Mapping[str, str] | None = None,
        timeout: cdk.Duration,
        memory_size: int = 512,
    ) -> None:
        """Define the function.

        Args:
            scope: the construct it belongs to.
            construct_id: its name in there.
            name: the folder in lambdas/.
            description: one line for the console.
            data: the stack of table and bucket.
            layers: the layers of the stack.
            more_layers: those that it needs besides the package and its dependencies.
            environment: variables besides the names of table and bucket.
            timeout: after which Lambda kills it.
            memory_size: MB; CPU comes in proportion, a whole one at 1,769.
        """
        super().__init__(
            scope,
            construct_id,
            name=name,
            description=description,
            layers=[layers.core, layers.dependencies, *more_layers],
            environment={
                "TABLE_NAME": data.table.table_name,
                "BUCKET_NAME": data.bucket.bucket_name,
                **(environment or {}),
            },
            timeout=timeout,
            memory_size=memory_size,
        )
        self._data = data

    def allow_items(self, *operations: str, partitions: Sequence[str] = ()) -> None:
        """Allow operations of DynamoDB, such as ``GetItem``, on items of the table.

        Args:
            operations: without ``dynamodb:``.
            partitions: patterns of the partition keys that are meant; empty for all items.
        """
        self.allow(
            [f"dynamodb:{operation}" for operation in operations],
            self._data.table.table_arn,
            conditions={"ForAllValues:StringLike": {"dynamodb:LeadingKeys": list(partitions)}}
            if partitions
            else None,
        )

    def allow_indexes(self, *names: str) -> None:
        """Allow queries of these indexes of the table."""
        self.allow(["dynamodb:Query"], *(f"{self._data.table.table_arn}/index/{name}" for name in names))

    def allow_statements(self, deployment: Deployment, *kinds: str) -> None:
        """Allow ``Table.create_many`` (the kind ``Insert``) or ``Table.update_many`` (``Update``).

        AWS checks the kind of each PartiQL statement, on the table; the embedded cloud checks the operation,
        and does not see which table it is for.
        """
        self.allow_items(*(f"PartiQL{kind}" for kind in kinds))
        if deployment.is_local:
            self.allow(["dynamodb:BatchExecuteStatement"], "*")
            accept_wildcard(
                self.role,
                "On the embedded cloud alone, whose PartiQL requests name no resource; AWS gets the table's "
                "ARN.",
            )

    def allow_objects(self, pattern: str, *operations: str, listing: bool = False) -> None:
        """Allow operations of S3, such as ``GetObject``, on objects of the bucket.

        Args:
            pattern: of their keys.
            operations: without ``s3:``.
            listing: whether it may also list them.
        """
        self.allow(
            [f"s3:{operation}" for operation in operations], self._data.bucket.arn_for_objects(pattern)
        )
        accept_wildcard(
            self.role,
            "The keys of the objects hold ids, days or digests that are not known beforehand; the prefix is "
            "the narrowest that holds them all.",
            self._data.resource_of_objects(pattern),
        )
        if listing:
            self.allow(
                ["s3:ListBucket"],
                self._data.bucket.bucket_arn,
                conditions={"StringLike": {"s3:prefix": [pattern]}},
            )


class TaskOptions(TypedDict, total=False):
    """What distinguishes tasks from one another, as `TaskFunction` has it."""

    more_layers: Sequence[lambda_.ILayerVersion]
    environment: Mapping[str, str]
    seconds: int
    memory_size: int


class TaskFunction(TableFunction):
    """A task of workflows: it may record its attempts, and complete these records."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        description: str,
        *,
        data: DataStack,
        layers: Layers,
        more_layers: Sequence[lambda_.ILayerVersion] = (),
        environment: Mapping[str, str] | None = None,
        seconds: int = 60,
        memory_size: int = 512,
    ) -> None:
        """Define the function; its construct is named after it.

        Args:
            scope: the construct it belongs to.
            name: the folder in lambdas/.
            description: one line for the console.
            data: the stack of table and bucket.
            layers: the layers of the stack.
            more_layers: those that it needs besides the package and its dependencies.
            environment: variables besides the names of table and bucket.
            seconds: after which Lambda kills it.
            memory_size: MB; CPU comes in proportion, a whole one at 1,769.
        """
        super().__init__(
            scope,
            pascal(name),
            name=name,
            description=description,
            data=data,
            layers=layers,
            more_layers=more_layers,
            environment=environment,
            timeout=cdk.Duration.seconds(seconds),
            memory_size=memory_size,
        )
        self.allow_items("PutItem", "UpdateItem")


def allow_tracing(role: iam.IRole, *more: str) -> None:
    """Allow a role to send traces, by actions that take no resource."""
    actions = ["xray:PutTelemetryRecords", "xray:PutTraceSegments", *more]
    role.add_to_principal_policy(iam.PolicyStatement(actions=actions, resources=["*"]))
    accept_wildcard(role, "X-Ray's actions know no resource (Service Authorization Reference, AWS X-Ray).")


def with_batches(action: str, deployment: Deployment) -> list[str]:
    """Return the actions that allow an operation and its batch form.

    AWS checks both as the one action; the embedded cloud checks the batch form under its own name,
    which no policy on AWS may hold.
    """
    return [action, f"{action}Batch"] if deployment.is_local else [action]


def pascal(name: str) -> str:
    """Return a name such as find_nova or feed-queue-size as that of a construct."""
    return "".join(part.capitalize() for part in name.replace("-", "_").split("_"))


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
