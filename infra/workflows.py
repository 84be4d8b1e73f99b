"""The state machines of statemachines/, and the function that closes runs left open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast

import aws_cdk as cdk
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_stepfunctions as stepfunctions
from constructs import Construct

import statemachines
from infra.data_stack import DataStack
from infra.functions import LOG_RETENTION, PythonFunction, allow_tracing
from infra.layers import Layers
from infra.nag import accept
from sourcebook.table.keys import STATUS_INDEX

SWEEP_RUNS_EVERY: Final = cdk.Duration.minutes(15)


class Workflow(Construct):
    """One state machine, as `statemachines` declares it.

    The definition goes into the template as the console shows it; what only the deployment knows is put in by
    CloudFormation: ``${partition}``, ``${table_name}``, and the ARNs of what it calls as ``${<name>_arn}``.

    Attributes:
        name: of the workflow.
        machine: the state machine.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        name: str,
        functions: Mapping[str, PythonFunction],
        table: dynamodb.ITable,
        starts: Mapping[str, Workflow] | None = None,
        values: Mapping[str, str] | None = None,
    ) -> None:
        """Make the state machine.

        Args:
            scope: the construct it belongs to.
            construct_id: its name in there.
            name: the module in statemachines/.
            functions: what there is to call, by name; the declaration says which of them it calls.
            table: where it keeps its job runs and locks.
            starts: the workflows that there are to start, likewise.
            values: what else the declaration leaves to the deployment, by name.

        Raises:
            KeyError: if the declaration names a function or a workflow that is not among these.
        """
        super().__init__(scope, construct_id)
        stack = cdk.Stack.of(self)
        declared = statemachines.workflow(name)
        definition = declared.text()
        called = [functions[function] for function in sorted(declared.functions())]
        started = [(starts or {})[other] for other in sorted(declared.starts())]
        self.name = name
        self.machine: stepfunctions.StateMachine = stepfunctions.StateMachine(
            self,
            "StateMachine",
            state_machine_name=f"{stack.stack_name}-{name}",
            state_machine_type=stepfunctions.StateMachineType.STANDARD,
            definition_body=stepfunctions.DefinitionBody.from_string(definition),
            definition_substitutions={
                "partition": stack.partition,
                "table_name": table.table_name,
                **(values or {}),
                **{f"{function.name}_arn": function.function.function_arn for function in called},
                **{f"{other.name}_arn": other.machine.state_machine_arn for other in started},
            },
            logs=stepfunctions.LogOptions(
                destination=_shared_log(stack),
                level=stepfunctions.LogLevel.ALL,
                # Ids and counts travel through a workflow, never bodies or secrets.
                include_execution_data=True,
            ),
        )
        # cfn-lint's schema knows one partition alone, and no expression where Step Functions takes one in
        # JSONata states. tests/unit/statemachines has the definitions validated by what knows both.
        resource = cast("cdk.CfnResource", self.machine.node.default_child)
        resource.add_metadata("cfn-lint", {"config": {"ignore_checks": ["E3601"]}})
        accept(
            self.machine,
            "AwsSolutions-SF2",
            "An execution's history and log show each step with its times; traces are a choice.",
        )
        role = self.machine.role
        role.add_to_principal_policy(
            iam.PolicyStatement(
                actions=["lambda:InvokeFunction"],
                resources=[function.function.function_arn for function in called],
            )
        )
        role.add_to_principal_policy(
            iam.PolicyStatement(
                # The record of each execution; the lock, where there is one, is taken and released too.
                actions=["dynamodb:PutItem", "dynamodb:UpdateItem"]
                + (["dynamodb:DeleteItem"] if declared.lock else []),
                resources=[table.table_arn],
            )
        )
        if started:
            role.add_to_principal_policy(
                iam.PolicyStatement(
                    actions=["states:StartExecution"],
                    resources=[other.machine.state_machine_arn for other in started],
                )
            )
        if "startExecution.sync" in definition:
            self._wait_for(role, started)
        accept(
            role.node.find_child("DefaultPolicy"),
            "AwsSolutions-IAM5",
            "The logs:*LogDelivery* and logs:*ResourcePolicies actions that Step Functions needs to write "
            "its log know no resource (Service Authorization Reference, CloudWatch Logs).",
            applies_to=("Resource::*",),
        )

    def trace(self) -> None:
        """Trace each execution with X-Ray, as part of the trace of its caller."""
        resource = cast("stepfunctions.CfnStateMachine", self.machine.node.default_child)
        resource.tracing_configuration = stepfunctions.CfnStateMachine.TracingConfigurationProperty(
            enabled=True
        )
        allow_tracing(self.machine.role, "xray:GetSamplingRules", "xray:GetSamplingTargets")

    def _wait_for(self, role: iam.IRole, started: Sequence[Workflow]) -> None:
        """Allow it to wait for executions that it has started, which Step Functions does by a rule."""
        stack = cdk.Stack.of(self)
        executions = [
            stack.format_arn(
                service="states",
                resource="execution",
                resource_name=f"{stack.stack_name}-{other.name}:*",
                arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
            )
            for other in started
        ]
        role.add_to_principal_policy(
            iam.PolicyStatement(
                actions=["states:DescribeExecution", "states:StopExecution"], resources=executions
            )
        )
        role.add_to_principal_policy(
            iam.PolicyStatement(
                actions=["events:DescribeRule", "events:PutRule", "events:PutTargets"],
                resources=[
                    stack.format_arn(
                        service="events",
                        resource="rule",
                        resource_name="StepFunctionsGetEventsForStepFunctionsExecutionRule",
                    )
                ],
            )
        )
        accept(
            role.node.find_child("DefaultPolicy"),
            "AwsSolutions-IAM5",
            "Each execution has a name of its own: these are all executions of the workflows it starts.",
            applies_to=tuple(
                f"Resource::arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:execution:"
                f"{stack.stack_name}-{other.name}:*"
                for other in started
            ),
        )


class RunClosing(Construct):
    """Closes the runs whose executions were stopped, timed out, or failed outside of their tasks.

    Attributes:
        function: called by events of Step Functions, and by a schedule.
    """

    def __init__(self, scope: Construct, construct_id: str, *, data: DataStack, layers: Layers) -> None:
        super().__init__(scope, construct_id)
        stack = cdk.Stack.of(self)
        self.function = PythonFunction(
            self,
            "CloseRuns",
            name="close_runs",
            description="Closes the records of executions that have ended without doing so",
            layers=[layers.core, layers.dependencies],
            environment={"TABLE_NAME": data.table.table_name, "BUCKET_NAME": data.bucket.bucket_name},
            timeout=cdk.Duration.seconds(120),
            memory_size=512,
        )
        self.function.allow(
            ["dynamodb:DeleteItem", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"],
            data.table.table_arn,
        )
        self.function.allow(["dynamodb:Query"], f"{data.table.table_arn}/index/{STATUS_INDEX}")
        self._let_it_look(stack)
        machines = stack.format_arn(
            service="states",
            resource="stateMachine",
            resource_name=f"{stack.stack_name}-",
            arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
        )
        events.Rule(
            self,
            "Ended",
            description="Executions that ended otherwise than by success",
            event_pattern=events.EventPattern(
                source=["aws.states"],
                detail_type=["Step Functions Execution Status Change"],
                detail={
                    "status": ["ABORTED", "FAILED", "TIMED_OUT"],
                    "stateMachineArn": [{"prefix": machines}],
                },
            ),
            targets=[targets.LambdaFunction(self.function.function)],
        )
        # The index may show a record too late for the first try.
        self.function.run_every(SWEEP_RUNS_EVERY, retries=2)

    def _let_it_look(self, stack: cdk.Stack) -> None:
        executions = f"execution:{stack.stack_name}-*"
        self.function.allow(
            ["states:DescribeExecution"],
            stack.format_arn(
                service="states",
                resource="execution",
                resource_name=f"{stack.stack_name}-*",
                arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
            ),
        )
        accept(
            self.function.role.node.find_child("DefaultPolicy"),
            "AwsSolutions-IAM5",
            "Each execution has a name of its own: these are all executions of this stack's workflows.",
            applies_to=(
                f"Resource::arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:{executions}",
            ),
        )


class DeclaredWorkflows(Construct):
    """The workflows that no other construct has created, with their functions.

    Such a function may read, write and complete items of the table, and nothing else. One that needs more is
    made by a construct of its own, which then makes the workflow too.

    Attributes:
        tasks: the functions that were made.
        workflows: the state machines.
    """

    def __init__(self, scope: Construct, construct_id: str, *, data: DataStack, layers: Layers) -> None:
        super().__init__(scope, construct_id)
        parts = cdk.Stack.of(self).node.find_all()
        functions = {part.name: part for part in parts if isinstance(part, PythonFunction)}
        workflows = {part.name: part for part in parts if isinstance(part, Workflow)}
        self.tasks: list[PythonFunction] = []
        self.workflows: list[Workflow] = []
        for name in statemachines.names():
            if name in workflows:
                continue
            for function in sorted(statemachines.workflow(name).functions() - set(functions)):
                functions[function] = self._task(function, data, layers)
                self.tasks.append(functions[function])
            made = Workflow(
                self, pascal(name), name=name, functions=functions, table=data.table, starts=workflows
            )
            self.workflows.append(made)

    def outputs(self) -> dict[str, str]:
        """Return the stack outputs of this construct."""
        return {f"{pascal(one.name)}Arn": one.machine.state_machine_arn for one in self.workflows}

    def _task(self, name: str, data: DataStack, layers: Layers) -> PythonFunction:
        task = PythonFunction(
            self,
            pascal(name),
            name=name,
            description=f"Workflow task {name}",
            layers=[layers.core, layers.dependencies],
            environment={"TABLE_NAME": data.table.table_name, "BUCKET_NAME": data.bucket.bucket_name},
            timeout=cdk.Duration.seconds(60),
            memory_size=512,
        )
        task.allow(
            ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem"],
            data.table.table_arn,
        )
        return task


def _shared_log(stack: cdk.Stack) -> logs.ILogGroup:
    """Return the log group of all workflows; the names of its streams have the workflows' names."""
    made = stack.node.try_find_child("WorkflowLogs")
    if isinstance(made, logs.LogGroup):
        return made
    return logs.LogGroup(
        stack,
        "WorkflowLogs",
        # Step Functions needs this prefix for the same reason as API Gateway.
        log_group_name=f"/aws/vendedlogs/states/{stack.stack_name}",
        retention=LOG_RETENTION,
        removal_policy=cdk.RemovalPolicy.DESTROY,
    )


def pascal(name: str) -> str:
    """Return a name such as find_nova as that of a construct."""
    return "".join(part.capitalize() for part in name.split("_"))
