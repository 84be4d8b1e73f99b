"""Every execution leaves a true record: a toy workflow, added to the project as a person would add one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest

from sourcebook.clock import isoformat, parse_iso
from sourcebook.table import keys
from sourcebook_local.deploy import deploy
from sourcebook_local.project import ROOT
from tests.e2e.afterwards import check_the_table
from tests.e2e.conftest import start_deployed
from tests.e2e.stack import Stack, invoke, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from sourcebook_local.cloud import LocalCloud

TOY = Path(__file__).with_name("toy")
CLOSER = "SourcebookPipeline-close_runs"


def project_with_the_toy(folder: Path) -> Path:
    """Return a copy of the project to which one workflow and one function were added, and nothing else."""
    for name in ("infra", "lambdas", "statemachines"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("app.py", "cdk.json", "package.json"):
        shutil.copy(ROOT / name, folder / name)
    for name in ("layers", "web", "node_modules"):
        (folder / name).symlink_to(ROOT / name)
    (folder / ".sourcebook").mkdir()
    (folder / ".sourcebook" / "build").symlink_to(ROOT / ".sourcebook" / "build")
    shutil.copy(TOY / "workflow.py", folder / "statemachines" / "toy.py")
    (folder / "lambdas" / "say_toy").mkdir()
    shutil.copy(TOY / "handler.py", folder / "lambdas" / "say_toy" / "handler.py")
    return folder


@dataclass(frozen=True)
class Toy:
    stack: Stack

    @property
    def arn(self) -> str:
        return self.stack.outputs.state_machines["toy"]

    def start(self, payload: object) -> str:
        client = self.stack.session.client("stepfunctions")
        return str(
            client.start_execution(stateMachineArn=self.arn, input=json.dumps(payload))["executionArn"]
        )

    def run_of(self, execution: str) -> dict[str, Any] | None:
        items = self.stack.api.get("/job-runs?workflow=toy&limit=100").json()["items"]
        ids = [item["job_run_id"] for item in items if item["execution_arn"] == execution]
        assert len(ids) <= 1, "one job run for an execution"
        return dict(self.stack.api.get(f"/job-runs/{ids[0]}").json()) if ids else None

    def ended(self, execution: str, timeout: float = 120) -> dict[str, Any]:
        def run() -> Any:
            found = self.run_of(execution)
            return found if found and found["status"] != "RUNNING" else None

        return dict(wait_until(run, timeout, f"the end of {execution}"))

    def at_work(self, word: str) -> str:
        """Return an execution whose first task has begun."""
        execution = self.start({"word": word})
        wait_until(lambda: (self.run_of(execution) or {}).get("attempts"), 60, "the first attempt")
        return execution

    def locks(self) -> list[str]:
        found = self.stack.table.scan(
            FilterExpression="begins_with(PK, :lock)",
            ExpressionAttributeValues={":lock": keys.lock("toy:")["PK"]},
        )
        return [str(item["PK"]) for item in found["Items"]]

    def post(self, path: str, body: object) -> httpx.Response:
        url, content = f"{self.stack.outputs.api_url}/iam{path}", json.dumps(body)
        request = AWSRequest("POST", url, data=content, headers={"Content-Type": "application/json"})
        credentials = self.stack.session.get_credentials()
        assert credentials is not None
        SigV4Auth(credentials, "execute-api", "us-east-1").add_auth(request)
        return self.stack.api.post(f"/iam{path}", content=content, headers=dict(request.headers.items()))


@pytest.fixture(scope="module")
def toy(new_cloud: Callable[[str], LocalCloud], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toy]:
    project = project_with_the_toy(tmp_path_factory.mktemp("project"))
    cloud = new_cloud("runs")
    start_deployed(cloud)
    outputs = deploy(cloud, assembly=project / "assembly", project=project, say=print).outputs
    with httpx.Client(base_url=outputs.api_url, verify=cloud.verify, timeout=60) as api:
        stack = Stack(cloud, outputs, cloud.session(), api)
        yield Toy(stack)
        check_the_table(stack)
    cloud.stop()


@pytest.fixture
def no_events(toy: Toy) -> Iterator[None]:
    """Step Functions' events are lost."""
    events = toy.stack.session.client("events")
    (rule,) = (rule["Name"] for rule in events.list_rules()["Rules"] if "RunClosingEnded" in rule["Name"])
    events.disable_rule(Name=rule)
    yield
    events.enable_rule(Name=rule)


def attempts(run: dict[str, Any]) -> list[tuple[str, int, str]]:
    return [(a["task_name"], a["attempt_no"], a["status"]) for a in run["attempts"]]


def test_the_toy_is_less_than_45_lines() -> None:
    lines = [
        line for path in TOY.glob("*.py") for line in path.read_text("utf-8").splitlines() if line.strip()
    ]
    assert len(lines) < 45


def test_it_runs_and_has_a_record_with_its_attempts(toy: Toy) -> None:
    run = toy.ended(toy.start({"word": "hello"}))
    assert (run["status"], run["outcome"], run["subject"]) == ("SUCCEEDED", "SAID", "hello")
    assert run["result"] == {"said": "hello"}
    assert attempts(run) == [("Say it", 1, "SUCCEEDED"), ("Say it again", 1, "SUCCEEDED")]
    assert toy.locks() == []


def test_what_may_pass_is_tried_again_and_what_cannot_fails_the_run(toy: Toy) -> None:
    later, never = (toy.start({"word": word}) for word in ("later", "never"))
    run = toy.ended(later)
    assert run["outcome"] == "SAID"
    assert [a[1:] for a in attempts(run) if a[0] == "Say it"] == [(1, "FAILED"), (2, "SUCCEEDED")]
    run = toy.ended(never)
    assert (run["status"], run["outcome"], run["error_type"]) == ("FAILED", "FAILED", "Terminal")
    assert run["error_message"] == "it cannot be said"
    assert attempts(run) == [("Say it", 1, "FAILED")]
    assert toy.locks() == []


def test_it_runs_once_at_a_time_for_one_word(toy: Toy) -> None:
    with ThreadPoolExecutor(2) as pool:
        executions = list(pool.map(lambda _: toy.start({"word": "slowly"}), range(2)))
    runs = sorted((toy.ended(one) for one in executions), key=lambda run: run["ended_at"])
    assert {run["outcome"] for run in runs} == {"SAID"}
    first_of_second = min(attempt["created_at"] for attempt in runs[1]["attempts"])
    last_of_first = max(attempt["created_at"] for attempt in runs[0]["attempts"])
    assert last_of_first < first_of_second


def test_the_api_starts_it_and_knows_what_it_takes(toy: Toy) -> None:
    answer = toy.post("/workflows/toy/executions", {"word": "hello"})
    assert answer.status_code == 202, answer.text
    run = toy.ended(answer.json()["execution_arn"])
    assert (run["job_run_id"], run["outcome"]) == (answer.json()["job_run_id"], "SAID")
    refused = toy.post("/workflows/toy/executions", {"word": ""})
    assert (refused.status_code, "word" in refused.text) == (400, True)
    listed = {
        item["workflow_name"]: item["input"] for item in toy.stack.api.get("/workflows").json()["items"]
    }
    assert listed["toy"]["required"] == ["word"]


def test_an_execution_that_is_refused_has_a_record(toy: Toy) -> None:
    run = toy.ended(toy.start({"wort": "hello"}))
    assert (run["status"], run["outcome"], run["error_type"]) == ("FAILED", "REFUSED", "InvalidInput")
    assert run["error_message"].startswith("wort: hello is not valid; expected only the fields word")
    assert run["attempts"] == []
    assert toy.ended(toy.start(["hello"]))["error_message"].startswith("input: ")


def test_an_execution_that_is_stopped_has_a_record_and_no_lock(toy: Toy) -> None:
    execution = toy.at_work("slowly")
    assert toy.locks()
    toy.stack.session.client("stepfunctions").stop_execution(executionArn=execution, cause="enough of it")
    run = toy.ended(execution)
    assert (run["status"], run["outcome"], run["lost"]) == ("FAILED", "ABORTED", False)
    assert run["error_type"] == "Aborted"
    assert toy.locks() == []


@pytest.mark.usefixtures("no_events")
def test_an_execution_that_timed_out_has_a_record(toy: Toy) -> None:
    # The embedded cloud does not time executions out: the event that Step Functions sends then is sent here.
    execution = toy.at_work("slowly")
    client = toy.stack.session.client("stepfunctions")
    client.stop_execution(executionArn=execution)
    described = client.describe_execution(executionArn=execution)
    milliseconds = {name: round(described[name].timestamp() * 1000) for name in ("startDate", "stopDate")}
    detail = {"executionArn": execution, "status": "TIMED_OUT", **milliseconds}
    event = {"source": "aws.states", "detail": detail}
    run = toy.run_of(execution)
    assert run is not None
    assert run["status"] == "RUNNING", "no event has come"
    closed = [invoke(toy.stack.session, CLOSER, event) for _ in range(2)]
    assert closed == [{"closed": run["job_run_id"]}, {"closed": None}]
    run = toy.ended(execution)
    assert (run["status"], run["outcome"], run["error_type"]) == ("FAILED", "TIMED_OUT", "TimedOut")
    assert toy.locks() == []


@pytest.mark.usefixtures("no_events")
def test_a_sweep_closes_what_the_events_lost(toy: Toy) -> None:
    execution = toy.at_work("slowly")
    toy.stack.session.client("stepfunctions").stop_execution(executionArn=execution)
    assert invoke(toy.stack.session, CLOSER, {})["closed"] == 0, "it has only just begun"
    _begin_earlier(toy, execution)
    assert invoke(toy.stack.session, CLOSER, {})["closed"] == 1
    assert toy.ended(execution)["outcome"] == "ABORTED"
    assert toy.locks() == []


def _begin_earlier(toy: Toy, execution: str) -> None:
    run = toy.run_of(execution)
    assert run is not None
    index = toy.stack.table.query(
        IndexName=keys.ELIGIBILITY_INDEX,
        KeyConditionExpression="GSI1PK = :run",
        ExpressionAttributeValues={":run": keys.job_run_by_id(run["job_run_id"])},
    )
    (item,) = index["Items"]
    earlier = isoformat(parse_iso(run["started_at"]) - timedelta(minutes=10), "milliseconds")
    toy.stack.table.update_item(
        Key={"PK": item["PK"], "SK": item["SK"]},
        UpdateExpression="SET #at = :at, started_at = :at",
        ExpressionAttributeNames={"#at": "timestamp"},
        ExpressionAttributeValues={":at": earlier},
    )
