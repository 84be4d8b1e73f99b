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
from infra.functions import LOG_RETENTION, PythonFunction, TableFunction, TaskFunction, allow_tracing, pascal
from infra.layers import Layers
from infra.nag import accept, accept_wildcard
from sourcebook.table.keys import STATUS_INDEX

SWEEP_RUNS_EVERY: Final = cdk.Duration.minutes(15)


def state_machine_arn(stack: cdk.Stack, workflow: str = "") -> str:
    """Return the ARN of a workflow's state machine, or what those of all workflows begin with."""
    return _states_arn(stack, "stateMachine", workflow)


def _executions_arn(stack: cdk.Stack, pattern: str) -> str:
    return _states_arn(stack, "execution", pattern)


def _states_arn(stack: cdk.Stack, resource: str, name: str) -> str:
    return stack.format_arn(
        service="states",
        resource=resource,
        resource_name=f"{stack.stack_name}-{name}",
        arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
    )


def _accept_executions(role: iam.IRole, stack: cdk.Stack, *patterns: str) -> None:
    accept_wildcard(
        role,
        "Each execution has a name of its own; the pattern is the narrowest that holds them all.",
        *(
            f"arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:execution:{stack.stack_name}-{pattern}"
            for pattern in patterns
        ),
    )


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
        """Define the state machine.

        Args:
            scope: the construct it belongs to.
            construct_id: its name in there.
            name: the module in statemachines/.
            functions: those that the declaration may call, by name.
            table: where it keeps its job runs and locks.
            starts: the workflows that the declaration may start, by name.
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
        accept_wildcard(
            role,
            "The logs:*LogDelivery* and logs:*ResourcePolicies actions that Step Functions needs to write "
            "its log know no resource (Service Authorization Reference, CloudWatch Logs).",
        )

    def trace(self) -> None:
        """Trace each execution with X-Ray, as part of the trace of its caller."""
        resource = cast("stepfunctions.CfnStateMachine", self.machine.node.default_child)
        resource.tracing_configuration = stepfunctions.CfnStateMachine.TracingConfigurationProperty(
            enabled=True
        )
        allow_tracing(self.machine.role, "xray:GetSamplingRules", "xray:GetSamplingTargets")

    def _wait_for(self, role: iam.IRole, started: Sequence[Workflow]) -> None:
        """Allow the role to wait for executions that it has started, which Step Functions does by a rule."""
        stack = cdk.Stack.of(self)
        patterns = [f"{other.name}:*" for other in started]
        role.add_to_principal_policy(
            iam.PolicyStatement(
                actions=["states:DescribeExecution", "states:StopExecution"],
                resources=[_executions_arn(stack, pattern) for pattern in patterns],
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
        _accept_executions(role, stack, *patterns)


class RunClosing(Construct):
    """Closes the runs whose executions were stopped, timed out, or failed outside of their tasks.

    Attributes:
        function: called by events of Step Functions, and by a schedule.
    """

    def __init__(self, scope: Construct, construct_id: str, *, data: DataStack, layers: Layers) -> None:
        super().__init__(scope, construct_id)
        stack = cdk.Stack.of(self)
        self.function = TableFunction(
            self,
            "CloseRuns",
            name="close_runs",
            description="Closes the records of executions that have ended without doing so",
            data=data,
            layers=layers,
            timeout=cdk.Duration.seconds(120),
        )
        self.function.allow_items("DeleteItem", "GetItem", "PutItem", "UpdateItem")
        self.function.allow_indexes(STATUS_INDEX)
        self.function.allow(["states:DescribeExecution"], _executions_arn(stack, "*"))
        _accept_executions(self.function.role, stack, "*")
        events.Rule(
            self,
            "Ended",
            description="Executions that ended otherwise than by success",
            event_pattern=events.EventPattern(
                source=["aws.states"],
                detail_type=["Step Functions Execution Status Change"],
                detail={
                    "status": ["ABORTED", "FAILED", "TIMED_OUT"],
                    "stateMachineArn": [{"prefix": state_machine_arn(stack)}],
                },
            ),
            targets=[targets.LambdaFunction(self.function.function)],
        )
        # The index may show a record too late for the first try.
        self.function.run_every(SWEEP_RUNS_EVERY, retries=2)

    def outputs(self) -> dict[str, str]:
        """Return the stack outputs of this construct."""
        return {"CloseRunsFunctionName": self.function.function.function_name}


class DeclaredWorkflows(Construct):
    """The workflows that no other construct has created, with their functions.

    Such a function may read and write items of the table, and nothing else. Whoever needs more defines the
    function in a construct of its own, and the workflow too.

    Attributes:
        workflows: the state machines.
    """

    def __init__(self, scope: Construct, construct_id: str, *, data: DataStack, layers: Layers) -> None:
        super().__init__(scope, construct_id)
        parts = cdk.Stack.of(self).node.find_all()
        functions = {part.name: part for part in parts if isinstance(part, PythonFunction)}
        workflows = {part.name: part for part in parts if isinstance(part, Workflow)}
        self.workflows: list[Workflow] = []
        for name in statemachines.names():
            if name in workflows:
                continue
            for function in sorted(statemachines.workflow(name).functions() - set(functions)):
                functions[function] = self._task(function, data, layers)
            self.workflows.append(
                Workflow(
                    self, pascal(name), name=name, functions=functions, table=data.table, starts=workflows
                )
            )

    def outputs(self) -> dict[str, str]:
        """Return the stack outputs of this construct."""
        return {f"{pascal(one.name)}Arn": one.machine.state_machine_arn for one in self.workflows}

    def _task(self, name: str, data: DataStack, layers: Layers) -> TaskFunction:
        task = TaskFunction(self, name, f"Workflow task {name}", data=data, layers=layers)
        task.allow_items("GetItem", "Query")
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
