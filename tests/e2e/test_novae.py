"""The catalogue's workflows on the deployed stack, against archives that this machine plays."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest

from sourcebook.novae.model import nova_id_for
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook_local.astronomy.sample import use_sample_archives
from sourcebook_local.astronomy.services import votable_error
from sourcebook_local.folder import forget, start_server
from tests.e2e.sources import stage
from tests.e2e.stack import wait_until

if TYPE_CHECKING:
    from tests.e2e.stack import Stack

SIMBAD, MIRROR, SESAME = "/astronomy/simbad/*", "/astronomy/simbad-mirror/*", "/astronomy/sesame/*"
ALL = (SIMBAD, MIRROR, SESAME)


@dataclass(frozen=True)
class Catalogue:
    """The deployed catalogue, and the server that plays its archives."""

    stack: Stack
    server_url: str

    def start(self, workflow: str, payload: object) -> str:
        client = self.stack.session.client("stepfunctions")
        arn = self.stack.outputs.state_machines[workflow]
        return str(client.start_execution(stateMachineArn=arn, input=json.dumps(payload))["executionArn"])

    def ended(self, arn: str, timeout: float = 240) -> dict[str, Any]:
        client = self.stack.session.client("stepfunctions")

        def execution() -> Any:
            found = client.describe_execution(executionArn=arn)
            return None if found["status"] == "RUNNING" else found

        return dict(wait_until(execution, timeout, f"the end of {arn}"))

    def run(self, workflow: str, payload: object) -> dict[str, Any]:
        """Run a workflow to its end and return its job run with the attempts, as the API shows it."""
        arn = self.start(workflow, payload)
        self.ended(arn)
        return self.run_of(arn)

    def run_of(self, arn: str) -> dict[str, Any]:
        workflow = next(name for name in self.stack.outputs.state_machines if f"-{name}:" in arn)
        listed = self.get(f"/job-runs?workflow={workflow}&limit=100")["items"]
        (job_run_id,) = (run["job_run_id"] for run in listed if run["execution_arn"] == arn)
        return self.get(f"/job-runs/{job_run_id}")

    def initialize(self, name: str) -> dict[str, Any]:
        return self.run("initialize_nova", {"candidate_name": name})

    def get(self, path: str) -> dict[str, Any]:
        answer = self.stack.api.get(path)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def post(self, path: str, body: object, *, signed: bool = True) -> Any:
        # The gateway checks signatures below /iam.
        path = f"/iam{path}" if signed else path
        url = f"{self.stack.outputs.api_url}{path}"
        content = json.dumps(body)
        request = AWSRequest("POST", url, data=content, headers={"Content-Type": "application/json"})
        if signed:
            credentials = self.stack.session.get_credentials()
            assert credentials is not None
            SigV4Auth(credentials, "execute-api", "us-east-1").add_auth(request)
        return self.stack.api.post(path, content=content, headers=dict(request.headers.items()))


@pytest.fixture(scope="module")
def catalogue(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalogue]:
    home: Path = tmp_path_factory.mktemp("archives")
    server = start_server(home)
    table = Table(stack.outputs.table_name, stack.session.client("dynamodb"))
    use_sample_archives(table, stack.session, server.url)
    _scale_waits(stack, 0.1)
    yield Catalogue(stack, server.url)
    _scale_waits(stack, 1)
    forget(home)


def _scale_waits(stack: Stack, scale: float) -> None:
    """Let the state machines' retries wait less: what is tested is how often, not how long."""
    stack.cloud.configure("stepfunctions._SFN_WAIT_SCALE", scale)


def attempts(run: dict[str, Any], task: str) -> list[tuple[int, str, str | None]]:
    return [
        (a["attempt_no"], a["status"], a["error_type"]) for a in run["attempts"] if a["task_name"] == task
    ]


def rows(stack: Stack, partition: str) -> list[dict[str, Any]]:
    table = Table(stack.outputs.table_name, stack.session.client("dynamodb"))
    from boto3.dynamodb.conditions import Key

    return list(table.query_all(Key("PK").eq(partition)))


def test_a_name_becomes_a_nova_with_its_names_references_and_records(catalogue: Catalogue) -> None:
    run = catalogue.initialize("Nova Scorpii 2012")
    assert (run["status"], run["outcome"]) in {
        ("SUCCEEDED", "CREATED_AND_LAUNCHED"),
        ("SUCCEEDED", "EXISTS_AND_LAUNCHED"),
    }
    nova_id = run["nova_id"]
    assert nova_id == nova_id_for("simbad:v1324 sco")
    found = catalogue.get("/novae?name=V*+V1324+SCORPII")
    assert (found["match"], found["items"][0]["primary_name"]) == ("ONE", "V1324 Sco")
    near = catalogue.get("/novae?ra=267.7246&dec=-32.6224&radius=0.01")
    assert near["items"][0]["nova_id"] == nova_id

    def refreshed() -> Any:
        runs = catalogue.get(f"/novae/{nova_id}/job-runs?limit=100")["items"]
        mine = [r for r in runs if r["correlation_id"] == run["correlation_id"]]
        done = {r["workflow_name"]: r for r in mine if r["status"] != "RUNNING"}
        return done if {"ingest_new_nova", "refresh_references"} <= set(done) else None

    done = wait_until(refreshed, 240, "ingest_new_nova and refresh_references")
    assert done["ingest_new_nova"]["outcome"] == "LAUNCHED"
    assert done["refresh_references"]["outcome"] == "REFRESHED"
    assert done["refresh_references"]["correlation_id"] == run["correlation_id"]
    counts = done["refresh_references"]["result"]
    assert counts["found"] == 63
    assert counts["created"] + counts["unchanged"] == 63
    nova = catalogue.get(f"/novae/{nova_id}")
    assert nova["discovery_date"] == "2012-06-00"
    assert {"V1324 Sco", "Nova Scorpii 2012", "MOA 2012 BLG-320"} <= {name["name"] for name in nova["names"]}

    # Spectra are acquired meanwhile; tests/e2e/test_discovery.py is about those.
    moving = (keys.JOB_RUN_PREFIX, "ATTEMPT#", "PRODUCT#SPECTRA#", "FILE#")
    kept = [row for row in rows(catalogue.stack, nova_id) if not row["SK"].startswith(moving)]
    assert sum(row["SK"].startswith("REF#") for row in kept) == 63
    assert [row["SK"] for row in kept if row.get("role") == "DISCOVERY"]
    again = catalogue.run("refresh_references", {"nova_id": nova_id})
    assert again["result"]["unchanged"] == 63
    assert again["result"]["changed"] is False
    assert catalogue.initialize("v1324_sco")["outcome"] == "EXISTS_AND_LAUNCHED"
    after = [row for row in rows(catalogue.stack, nova_id) if not row["SK"].startswith(moving)]
    assert after == kept, "running it again changed what was right"


def test_each_answer_of_the_archives_has_its_outcome(catalogue: Catalogue) -> None:
    wanted = {
        "Nova Nowhere 1": ("SUCCEEDED", "NOT_FOUND", None),
        "SN 2011fe": ("SUCCEEDED", "NOT_A_CLASSICAL_NOVA", None),
        "SS Cyg": ("SUCCEEDED", "NOT_A_CLASSICAL_NOVA", None),
        "LPBK 7": ("SUCCEEDED", "QUARANTINED", "NOVA_CANDIDATE"),
        "LPBK 8": ("SUCCEEDED", "QUARANTINED", "NO_COORDINATES"),
        "LPBK 9": ("SUCCEEDED", "QUARANTINED", "AMBIGUOUS_NAME"),
    }
    started = {name: catalogue.start("initialize_nova", {"candidate_name": name}) for name in wanted}
    for name, (status, outcome, reason) in wanted.items():
        catalogue.ended(started[name])
        run = catalogue.run_of(started[name])
        assert (run["status"], run["outcome"]) == (status, outcome), (name, run)
        assert run["result"].get("reason_code") == reason
        assert {attempt["status"] for attempt in run["attempts"]} <= {"SUCCEEDED", "FAILED"}
        failed = [attempt["error_type"] for attempt in run["attempts"] if attempt["status"] == "FAILED"]
        assert failed == (["Held"] if reason else [])


def test_below_two_arcseconds_it_is_the_same_nova_and_a_minute_away_another(catalogue: Catalogue) -> None:
    first = catalogue.initialize("LPBK 1")
    assert catalogue.initialize("LPBK 2")["nova_id"] == first["nova_id"]
    other = catalogue.initialize("LPBK 4")
    assert other["nova_id"] not in {None, first["nova_id"]}
    left, right = catalogue.initialize("LPBK 5"), catalogue.initialize("LPBK 6")
    assert right["nova_id"] == left["nova_id"], "1.1 arcseconds apart, on either side of 0 degrees"


def test_a_person_decides_and_it_is_recorded(catalogue: Catalogue) -> None:
    catalogue.initialize("LPBK 1")
    held = catalogue.initialize("LPBK 3")
    if held["outcome"] != "QUARANTINED":
        pytest.skip("this kept cloud has the decision from an earlier run")
    assert held["result"]["reason_code"] == "COORDINATES_UNSURE"
    case = catalogue.get(f"/quarantine/{held['result']['quarantine_id']}")
    assert case["manual_review_status"] == "PENDING"
    assert case["context"]["candidates"][0]["separation_arcsec"] == pytest.approx(2.1, abs=0.05)
    listed = catalogue.get("/quarantine?limit=100")["items"]
    assert case["quarantine_id"] in {item["quarantine_id"] for item in listed}
    path = f"/quarantine/{case['quarantine_id']}/review"
    decision = {"decision": "CLEARED_RETRY_APPROVED", "reviewer": "an astronomer", "note": "two stars"}
    assert catalogue.post(path, decision, signed=False).status_code == 401
    answer = catalogue.post(path, decision)
    assert answer.status_code == 200, answer.text
    assert answer.json()["reviewer"] == "an astronomer"
    assert answer.json()["reviewed_at"]
    catalogue.ended(answer.json()["execution_arn"])
    run = catalogue.run_of(answer.json()["execution_arn"])
    assert run["outcome"] == "CREATED_AND_LAUNCHED", run
    assert catalogue.post(path, {**decision, "decision": "CLEARED_TERMINAL"}).status_code == 409
    decided = catalogue.get("/quarantine?review=decided&limit=100")["items"]
    assert case["quarantine_id"] in {item["quarantine_id"] for item in decided}


def test_two_executions_for_one_star_at_once_make_one_nova(catalogue: Catalogue) -> None:
    names = ["LPBK 10", "lpbk 10", "LPBK 10a", "LPBK  10B"]
    with ThreadPoolExecutor(4) as pool:
        arns = list(
            pool.map(lambda name: catalogue.start("initialize_nova", {"candidate_name": name}), names)
        )
    for arn in arns:
        catalogue.ended(arn)
    runs = [catalogue.run_of(arn) for arn in arns]
    assert len({run["nova_id"] for run in runs}) == 1
    outcomes = sorted(run["outcome"] for run in runs)
    assert outcomes.count("CREATED_AND_LAUNCHED") <= 1
    assert set(outcomes) <= {"CREATED_AND_LAUNCHED", "EXISTS_AND_LAUNCHED"}
    assert len(catalogue.get("/novae?ra=15&dec=-70&radius=0.1")["items"]) == 1
    assert not rows(
        catalogue.stack, keys.lock(f"initialize_nova:lpbk 10:1:{runs[0]['started_at'][:10]}")["PK"]
    )


def test_the_novae_of_one_year_stay_apart(catalogue: Catalogue) -> None:
    ids = {catalogue.initialize(f"Nova Sgr 2012 No. {number}")["nova_id"] for number in (1, 2)}
    assert len(ids) == 2
    ambiguous = catalogue.initialize("Nova Sgr 2012")
    assert ambiguous["result"]["reason_code"] == "AMBIGUOUS_NAME"
    found = catalogue.get("/novae?name=Nova+Sagittarii+2012")
    assert found["match"] == "AMBIGUOUS"
    assert ids <= {item["nova_id"] for item in found["items"]}


@pytest.fixture
def trouble(catalogue: Catalogue) -> Iterator[None]:
    yield
    stage(catalogue.server_url)


def fresh(catalogue: Catalogue) -> None:
    """Forget what the archives have said, so that they are asked again."""
    table = catalogue.stack.table
    for partition in ("ARCHIVE#all", "ARCHIVE#simbad", "ARCHIVE#sesame"):
        for row in rows(catalogue.stack, partition):
            table.delete_item(Key={"PK": row["PK"], "SK": row["SK"]})


@pytest.mark.usefixtures("trouble")
def test_troubles_of_the_archives_end_as_they_should(catalogue: Catalogue) -> None:
    url, task = catalogue.server_url, "Resolve the name"
    fresh(catalogue)

    stage(url, {"path": SIMBAD, "drop": True})
    run = catalogue.initialize("Nova Nowhere 2")
    assert run["outcome"] == "NOT_FOUND", "the mirror answered"
    assert attempts(run, task) == [(1, "SUCCEEDED", None)]

    stage(
        url,
        *({"path": path, "body": "<html><body>too many requests</body></html>"} for path in (SIMBAD, MIRROR)),
    )
    run = catalogue.initialize("LPBK 7a of Sesame")
    assert attempts(run, task)[0] == (1, "FAILED", "ArchiveUnavailable"), "unknown needs SIMBAD's word"
    assert run["outcome"] == "NOT_FOUND"

    stage(url, *({"path": path, "status": 429, "retry_after": "1"} for path in ALL))
    run = catalogue.initialize("Nova Nowhere 3")
    assert attempts(run, task) == [(1, "FAILED", "ArchiveUnavailable"), (2, "SUCCEEDED", None)]
    assert run["outcome"] == "NOT_FOUND"

    stage(url, *({"path": path, "body": votable_error("the query is too heavy")} for path in ALL))
    run = catalogue.initialize("Nova Nowhere 4")
    assert (run["status"], run["error_type"]) == ("FAILED", "ArchiveRejected")
    assert attempts(run, task) == [(1, "FAILED", "ArchiveRejected")], "a refusal is not repeated"

    stage(url, *({"path": path, "status": 503, "times": None} for path in ALL))
    run = catalogue.initialize("Nova Nowhere 5")
    assert (run["status"], run["error_type"]) == ("FAILED", "Retryable")
    assert [a[:2] for a in attempts(run, task)] == [(number, "FAILED") for number in (1, 2, 3, 4)]
    stage(url)
    assert catalogue.initialize("Nova Nowhere 5")["outcome"] == "NOT_FOUND", "the lock was released"


def test_names_are_held_against_the_authorities(catalogue: Catalogue) -> None:
    nova_id = catalogue.initialize("V339 Del")["nova_id"]
    run = catalogue.run("name_check_and_reconcile", {"nova_id": nova_id})
    assert run["outcome"] == "NO_CHANGE", run
    table = catalogue.stack.table
    for place in (
        {"PK": nova_id, "SK": "NAME#nova del 2013"},
        {"PK": "NAME#nova del 2013", "SK": f"NOVA#{nova_id}"},
    ):
        table.delete_item(Key=place)
    run = catalogue.run("name_check_and_reconcile", {"nova_id": nova_id})
    assert (run["outcome"], run["result"]["names_added"]) == ("UPDATED", 1), run
    assert len(attempts(run, "Ask an authority")) == 2


def test_one_bad_publication_does_not_lose_the_others(catalogue: Catalogue) -> None:
    nova_id = catalogue.initialize("Nova Delphini 2013")["nova_id"]
    run = catalogue.run("refresh_references", {"nova_id": nova_id})
    counts = run["result"]
    assert counts["quarantined"] == 1
    assert counts["created"] + counts["unchanged"] == 9
    assert counts["discovery_date"] == "2013-08-00"


def test_a_run_without_a_nova_fails_and_says_so(catalogue: Catalogue) -> None:
    nobody = str(uuid.uuid4())
    for workflow in (
        "ingest_new_nova",
        "refresh_references",
        "discover_spectra_products",
        "name_check_and_reconcile",
    ):
        run = catalogue.run(workflow, {"nova_id": nobody})
        assert (run["status"], run["error_type"]) == ("FAILED", "NoSuchNova"), run
    arn = catalogue.start("initialize_nova", {"candidat_name": "V1324 Sco"})
    refused = catalogue.ended(arn)
    assert (refused["status"], refused["error"]) == ("FAILED", "InvalidInput")
    run = catalogue.run_of(arn)
    assert (run["status"], run["outcome"], run["error_type"]) == ("FAILED", "REFUSED", "InvalidInput")
    assert run["error_message"].startswith("candidat_name: V1324 Sco is not valid; expected only the fields")


def test_sources_that_are_refreshed_leave_a_record_too(catalogue: Catalogue) -> None:
    run = catalogue.run("refresh_sources", {"source_ids": ["no-such-source"]})
    assert (run["status"], run["outcome"]) == ("SUCCEEDED", "DISPATCHED")
    assert (run["result"]["skipped"], run["result"]["not_sent"]) == (1, ["no-such-source"])
    assert attempts(run, "Dispatch the sources") == [(1, "SUCCEEDED", None)]
