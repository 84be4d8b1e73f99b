"""`pause` and `resume`: stop and start what writes to the table by itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import click

from sourcebook.errors import Terminal
from sourcebook.table.client import aws_config
from sourcebook_cli.output import say
from sourcebook_cli.redrive import dead_letter_queues
from sourcebook_cli.stack import Stack, chosen, on_aws

if TYPE_CHECKING:
    import boto3.session

_TIMEOUT: Final = 900
"""Seconds after which no function that has begun is still at work, and hardly a workflow."""


class StillAtWork(Terminal):
    """Work that had begun before the pause did not end in time."""


@click.command()
@click.option("--timeout", default=_TIMEOUT, show_default=True, help="Seconds to wait for what has begun.")
@on_aws
def pause(timeout: int, aws: bool) -> None:
    """Stop the schedules and the queues' consumers, and wait until no work is in progress.

    New messages wait in the queues. The API still answers, and its requests still change the table.
    `sourcebook resume` ends the pause.
    """
    stack = Stack.connect(aws=aws)
    moving = Moving.of(stack.session, chosen().stack)
    moving.switch(on=False)
    wait_for_rest(stack, moving, timeout)
    say(f"Paused: {moving.described}. Nothing is at work. `sourcebook resume` ends it.")


@click.command()
@on_aws
def resume(aws: bool) -> None:
    """Start all schedules and the queues' consumers again."""
    stack = Stack.connect(aws=aws)
    moving = Moving.of(stack.session, chosen().stack)
    moving.switch(on=True)
    say(f"Resumed: {moving.described}.")


@dataclass(frozen=True)
class Moving:
    """The schedules, queue consumers and workflows of a stack.

    Attributes:
        rules: names of the rules with a schedule.
        mappings: ids of the event source mappings of queues.
        machines: ARNs of the state machines.
    """

    session: boto3.session.Session
    rules: tuple[str, ...] = ()
    mappings: tuple[str, ...] = ()
    machines: tuple[str, ...] = ()
    sleep: Callable[[float], None] = field(default=time.sleep)

    @classmethod
    def of(cls, session: boto3.session.Session, name: str) -> Moving:
        """Return those of a stack."""
        ids: dict[str, list[str]] = {}
        pages = session.client("cloudformation", config=aws_config()).get_paginator("list_stack_resources")
        for page in pages.paginate(StackName=name):
            for resource in page["StackResourceSummaries"]:
                ids.setdefault(resource["ResourceType"], []).append(resource.get("PhysicalResourceId", ""))
        own = set(ids.get("AWS::Events::Rule", ()))
        rules = session.client("events", config=aws_config()).get_paginator("list_rules").paginate()
        return cls(
            session,
            # A rule that waits for an event only puts it into a queue, and one that is off loses it.
            tuple(
                rule["Name"]
                for page in rules
                for rule in page["Rules"]
                if rule["Name"] in own and "ScheduleExpression" in rule
            ),
            tuple(ids.get("AWS::Lambda::EventSourceMapping", ())),
            tuple(ids.get("AWS::StepFunctions::StateMachine", ())),
        )

    @property
    def described(self) -> str:
        """Return a description of what is paused."""
        return f"{len(self.rules)} schedules and {len(self.mappings)} readers of queues"

    def switch(self, *, on: bool) -> None:
        """Enable or disable all of them."""
        events = self.session.client("events", config=aws_config())
        for name in self.rules:
            (events.enable_rule if on else events.disable_rule)(Name=name)
        functions = self.session.client("lambda", config=aws_config())
        for mapping in self.mappings:
            # One that is on its way to another state refuses to be asked for it again.
            state = functions.get_event_source_mapping(UUID=mapping)["State"]
            if state not in ({"Enabled", "Enabling"} if on else {"Disabled", "Disabling"}):
                functions.update_event_source_mapping(UUID=mapping, Enabled=on)

    def switching(self) -> Iterator[str]:
        """Yield the mappings that are still changing their state."""
        functions = self.session.client("lambda", config=aws_config())
        for mapping in self.mappings:
            state = functions.get_event_source_mapping(UUID=mapping).get("State", "")
            if state not in {"Enabled", "Disabled"}:
                yield f"mapping {mapping} is {state}"

    def running(self) -> Iterator[str]:
        """Yield the executions of workflows that have not ended."""
        client = self.session.client("stepfunctions", config=aws_config())
        for machine in self.machines:
            pages = client.get_paginator("list_executions").paginate(
                stateMachineArn=machine, statusFilter="RUNNING"
            )
            yield from (f"execution {one['name']}" for page in pages for one in page["executions"])


def wait_for_rest(stack: Stack, moving: Moving, timeout: float) -> None:
    """Wait until no message is under way and no workflow runs.

    Raises:
        StillAtWork: if that is not so in time; it says what goes on.
    """
    sqs: Any = stack.session.client("sqs", config=aws_config())
    work = {job: work for job, (_, work) in dead_letter_queues(stack.outputs).items()}

    def at_work() -> list[str]:
        found = [*moving.switching(), *moving.running()]
        name = "ApproximateNumberOfMessagesNotVisible"
        for job, queue in work.items():
            attributes = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=[name])["Attributes"]
            if int(attributes[name]):
                found.append(f"{attributes[name]} messages of {job}")
        return found

    deadline = time.monotonic() + timeout
    while busy := at_work():
        if time.monotonic() >= deadline:
            raise StillAtWork(
                f"still at work after {timeout:g} s: {', '.join(busy[:5])}; wait and pause again, or resume"
            )
        moving.sleep(1)
