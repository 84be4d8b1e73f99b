"""What an end-to-end test holds in its hand: a cloud, the stack deployed to it, and ways to reach both."""

from __future__ import annotations

import base64
import json
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import botocore.config

from sourcebook.errors import shorten
from sourcebook.table.client import Table, aws_config
from sourcebook.table.keys import Shards
from sourcebook_local import process

if TYPE_CHECKING:
    import boto3.session
    import httpx
    from mypy_boto3_dynamodb.service_resource import Table as TableResource

    from sourcebook_local.cloud import LocalCloud
    from sourcebook_local.outputs import Outputs

T = TypeVar("T")


class FunctionError(AssertionError):
    """A function that should have answered raised.

    Attributes:
        kind: the class of its exception.
    """

    def __init__(self, function: str, kind: str, message: str, log: str) -> None:
        self.kind = kind
        super().__init__(f"{function} raised {kind}: {message}\n{log}")


def wait_until(predicate: Callable[[], T], timeout: float, what: str, *, interval: float = 0.2) -> T:
    """Return the first true value of `predicate`, asked every `interval` seconds.

    Raises:
        AssertionError: if there is none within `timeout` seconds; it says what was waited for and what
            the last value was.
    """
    deadline = time.monotonic() + timeout
    while not (value := predicate()):
        assert time.monotonic() < deadline, (
            f"{what}: not within {timeout:g} s; last seen {shorten(value, 400)}"
        )
        time.sleep(interval)
    return value


def invoke(session: boto3.session.Session, function: str, payload: object) -> Any:
    """Call a function by its full name, wait for its answer, and return that parsed.

    Raises:
        FunctionError: if it raises or times out.
    """
    # A call that is slow must not be made a second time behind the test's back.
    patient = botocore.config.Config(read_timeout=300, retries={"total_max_attempts": 1})
    answer = session.client("lambda", config=patient).invoke(
        FunctionName=function, Payload=json.dumps(payload).encode(), LogType="Tail"
    )
    content = json.loads(answer["Payload"].read())
    if "FunctionError" in answer:
        log = base64.b64decode(answer.get("LogResult", "")).decode(errors="replace")
        raise FunctionError(function, content.get("errorType", ""), content.get("errorMessage", ""), log)
    return content


def kill_workers(cloud: LocalCloud, function: str) -> list[int]:
    """Kill the processes of a function, given by its full name, with no chance to tidy up."""
    pids = cloud.worker_pids(function)
    for pid in pids:
        process.send(pid, signal.SIGKILL)
    return pids


SHARDS = Shards.from_environment()
"""Of the indexes: one, or as many as INDEX_SHARDS says, with which the application is deployed then."""


@dataclass(frozen=True)
class Stack:
    """The deployed application.

    Functions are named as their folders in lambdas/ are.

    Attributes:
        cloud: where it runs.
        outputs: its addresses and names.
        session: a boto3 session that may do everything there.
        api: a client of its HTTP API; paths begin with a slash.
    """

    cloud: LocalCloud
    outputs: Outputs
    session: boto3.session.Session
    api: httpx.Client

    @property
    def table(self) -> TableResource:
        """The one table."""
        return self.session.resource("dynamodb").Table(self.outputs.table_name)

    def items(self) -> Table:
        """Return the table as our own code uses it, with a client of its own."""
        client = self.session.client("dynamodb", config=aws_config())
        return Table(self.outputs.table_name, client, shards=SHARDS)

    def function_name(self, function: str) -> str:
        """Return the full name of a function."""
        return self.outputs.api_function_name.removesuffix("api") + function

    def invoke(self, function: str, payload: object) -> Any:
        """Call a function, wait for its answer and return that parsed; raises `FunctionError`."""
        return invoke(self.session, self.function_name(function), payload)

    def kill_function_workers(self, function: str) -> list[int]:
        """Kill the processes that run a function now; returns their pids, none if there are none."""
        return kill_workers(self.cloud, self.function_name(function))

    def logs(self, function: str) -> list[str]:
        """Return what a function has logged, oldest first."""
        name = self.function_name(function)
        configuration = self.session.client("lambda").get_function_configuration(FunctionName=name)
        group = configuration.get("LoggingConfig", {}).get("LogGroup", f"/aws/lambda/{name}")
        pages = self.session.client("logs").get_paginator("filter_log_events").paginate(logGroupName=group)
        return [event["message"] for page in pages for event in page["events"]]

    def run_state_machine(self, name: str, payload: object, timeout: float = 60) -> Any:
        """Run a state machine to its end and return its output, parsed.

        Raises:
            AssertionError: if it fails or does not end in time.
        """
        client = self.session.client("stepfunctions")
        arn = client.start_execution(
            stateMachineArn=self.outputs.state_machines[name], input=json.dumps(payload)
        )["executionArn"]

        def ended() -> Any:
            execution = client.describe_execution(executionArn=arn)
            return None if execution["status"] == "RUNNING" else execution

        execution = wait_until(ended, timeout, f"the end of {name}")
        assert execution["status"] == "SUCCEEDED", execution
        return json.loads(execution["output"])
