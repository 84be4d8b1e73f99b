"""The state machines of statemachines/."""

from __future__ import annotations

from collections.abc import Mapping

import aws_cdk as cdk
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_stepfunctions as stepfunctions
from constructs import Construct

from infra.deployment import ROOT
from infra.functions import LOG_RETENTION, PythonFunction
from infra.nag import accept


class Workflow(Construct):
    """One state machine, defined by ``statemachines/<name>.asl.json``.

    The definition is read as it stands, so that the file, the template and the console show the
    same; the functions it calls are put in by CloudFormation as ``${<function>_arn}``.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        name: str,
        functions: Mapping[str, PythonFunction],
        table: dynamodb.ITable | None = None,
        starts: Mapping[str, Workflow] | None = None,
        values: Mapping[str, str] | None = None,
    ) -> None:
        """Make the state machine.

        Args:
            scope: the construct it belongs to.
            construct_id: its name in there.
            name: the file in statemachines/.
            functions: what the definition calls, by the name before ``_arn``.
            table: where it keeps its job runs and locks, ``${table_name}``.
            starts: the workflows that it starts, by the name before ``_arn``.
            values: what else the definition leaves to the deployment, by name.
        """
        super().__init__(scope, construct_id)
        stack = cdk.Stack.of(self).stack_name
        definition = (ROOT / "statemachines" / f"{name}.asl.json").read_text("utf-8")
        self.name = name
        self.machine: stepfunctions.StateMachine = stepfunctions.StateMachine(
            self,
            "StateMachine",
            state_machine_name=f"{stack}-{name}",
            state_machine_type=stepfunctions.StateMachineType.STANDARD,
            definition_body=stepfunctions.DefinitionBody.from_string(definition),
            definition_substitutions={
                **({"table_name": table.table_name} if table else {}),
                **(values or {}),
                **{f"{key}_arn": function.function.function_arn for key, function in functions.items()},
                **{f"{key}_arn": other.machine.state_machine_arn for key, other in (starts or {}).items()},
            },
            logs=stepfunctions.LogOptions(
                destination=logs.LogGroup(
                    self,
                    "Logs",
                    # Step Functions needs this prefix for the same reason as API Gateway.
                    log_group_name=f"/aws/vendedlogs/states/{stack}-{name}",
                    retention=LOG_RETENTION,
                    removal_policy=cdk.RemovalPolicy.DESTROY,
                ),
                level=stepfunctions.LogLevel.ALL,
                # Ids and counts travel through a workflow, never bodies or secrets.
                include_execution_data=True,
            ),
        )
        accept(
            self.machine,
            "AwsSolutions-SF2",
            "An execution's history and log already show every step with its times; traces cost extra.",
        )
        role = self.machine.role
        role.add_to_principal_policy(
            iam.PolicyStatement(
                actions=["lambda:InvokeFunction"],
                resources=[function.function.function_arn for function in functions.values()],
            )
        )
        if table is not None:
            role.add_to_principal_policy(
                iam.PolicyStatement(
                    # The record of each execution; the lock, where there is one, is taken and released too.
                    actions=["dynamodb:PutItem", "dynamodb:UpdateItem"]
                    + (["dynamodb:DeleteItem"] if "dynamodb:deleteItem" in definition else []),
                    resources=[table.table_arn],
                )
            )
        if starts:
            role.add_to_principal_policy(
                iam.PolicyStatement(
                    actions=["states:StartExecution"],
                    resources=[other.machine.state_machine_arn for other in starts.values()],
                )
            )
        if starts and "startExecution.sync" in definition:
            self._wait_for(role, starts)
        accept(
            role.node.find_child("DefaultPolicy"),
            "AwsSolutions-IAM5",
            "The logs:*LogDelivery* and logs:*ResourcePolicies actions that Step Functions needs to write "
            "its log know no resource (Service Authorization Reference, CloudWatch Logs).",
            applies_to=("Resource::*",),
        )

    def _wait_for(self, role: iam.IRole, started: Mapping[str, Workflow]) -> None:
        """Let it wait for executions that it has started: Step Functions watches them by its own rule."""
        stack = cdk.Stack.of(self)
        executions = [
            stack.format_arn(
                service="states",
                resource="execution",
                resource_name=f"{stack.stack_name}-{other.name}:*",
                arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
            )
            for other in started.values()
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
                for other in started.values()
            ),
        )
