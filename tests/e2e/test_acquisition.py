"""Spectra are acquired on the deployed stack, from a provider on loopback with every kind of bad day."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import os
import threading
import time
import uuid
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from boto3.dynamodb.conditions import Key
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest

from sourcebook.clock import isoformat, parse_iso, utc_now
from sourcebook.records.spectrum import IdentityKind, Locator, LocatorKind, SpectrumProduct
from sourcebook.spectra.products import INDEX_ATTRIBUTES, data_product_id_for, spectrum_item
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.pages import walk_shards
from tests.e2e.stack import invoke, wait_until
from tests.spectra_files import fits_spectrum

if TYPE_CHECKING:
    from tests.e2e.stack import Stack

NOVA = str(uuid.uuid4())
SWEPT = int(os.environ.get("SOURCEBOOK_SWEPT_SPECTRA", "24"))
"""Spectra in the test of the sweep. A thousand take about twelve minutes on two busy cores."""
AT_ONCE = 3
"""`acquire_concurrency` of a local deployment."""

VALID = fits_spectrum(seed=uuid.uuid4().int % 10**6)
UNITLESS = fits_spectrum(seed=uuid.uuid4().int % 10**6, unit=None)
EMPTY_FLUX = fits_spectrum(seed=uuid.uuid4().int % 10**6, all_nan=True)
HTML = b"<!DOCTYPE html><html><head><title>Maintenance</title></head><body>Later.</body></html>"


def zipped(members: Mapping[str, bytes]) -> bytes:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return body.getvalue()


@dataclass
class Answer:
    """What a provider does when it is asked for a file.

    Attributes:
        announced: Content-Length, whether true or not.
        silence: seconds before anything is said.
        drop: whether the connection is broken off instead.
    """

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    announced: int | None = None
    silence: float = 0.0
    drop: bool = False


@dataclass
class Provider:
    """A provider's file server, and what was asked of it."""

    url: str
    answers: dict[str, Answer] = field(default_factory=dict)
    asked: Counter[str] = field(default_factory=Counter)
    at_once: int = 0
    most_at_once: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def serve(self, handler: BaseHTTPRequestHandler) -> None:
        name = handler.path.lstrip("/")
        answer = self.answers.get(name, Answer(b"no such file", 404))
        with self.lock:
            self.asked[name] += 1
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            time.sleep(answer.silence)
            if not answer.drop:
                length = len(answer.body) if answer.announced is None else answer.announced
                handler.send_response(answer.status)
                headers = {"Content-Type": "application/fits", "Content-Length": str(length)}
                for header, value in {**headers, **answer.headers}.items():
                    handler.send_header(header, value)
                handler.end_headers()
                handler.wfile.write(answer.body)
            handler.close_connection = True
        finally:
            with self.lock:
                self.at_once -= 1


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            with contextlib.suppress(OSError):  # who is slow has lost its client
                played.serve(self)

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    played = Provider(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield played
    server.shutdown()
    server.server_close()
    thread.join()


@dataclass(frozen=True)
class Acquisition:
    """The deployed workflow, and the provider that it asks."""

    stack: Stack
    provider: Provider
    table: Table

    def add(self, name: str, answer: Answer, **more: Any) -> SpectrumProduct:
        self.provider.answers[name] = answer
        now = utc_now()
        product = SpectrumProduct(
            nova_id=more.pop("nova_id", NOVA),
            data_product_id=data_product_id_for("LOOP", f"url:{self.provider.url}/{name}"),
            provider="LOOP",
            locator_identity=f"url:{self.provider.url}/{name}",
            identity_kind=IdentityKind.NATIVE_ID,
            locators=(Locator(kind=LocatorKind.URL, value=f"{self.provider.url}/{name}"),),
            created_at=now,
            updated_at=now,
            **more,
        )
        self.table.put(spectrum_item(product))
        return product

    def start(self, workflow: str, payload: Mapping[str, Any]) -> str:
        client = self.stack.session.client("stepfunctions")
        arn = self.stack.outputs.state_machines[workflow]
        return str(client.start_execution(stateMachineArn=arn, input=json.dumps(payload))["executionArn"])

    def run_product(self, product: SpectrumProduct) -> str:
        about = {"nova_id": product.nova_id, "data_product_id": product.data_product_id}
        return self.start("acquire_and_validate_spectra", about)

    def ended(self, arn: str, timeout: float = 300) -> dict[str, Any]:
        client = self.stack.session.client("stepfunctions")

        def execution() -> Any:
            found = client.describe_execution(executionArn=arn)
            return None if found["status"] == "RUNNING" else found

        return dict(wait_until(execution, timeout, f"the end of {arn}", interval=0.5))

    def job_run(self, arn: str, partition: str) -> dict[str, Any]:
        """Return the job run of an execution with its attempts, as the API shows it."""
        own = Key("PK").eq(partition) & Key("SK").begins_with(keys.JOB_RUN_PREFIX)
        (row,) = (row for row in self.table.query_all(own) if row["execution_arn"] == arn)
        answer = self.stack.api.get(f"/job-runs/{row['job_run_id']}")
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def run(self, product: SpectrumProduct) -> dict[str, Any]:
        """Run the workflow for a spectrum to its end and return its job run."""
        arn = self.run_product(product)
        self.ended(arn)
        return self.job_run(arn, product.nova_id)

    def item(self, product: SpectrumProduct) -> dict[str, Any]:
        found = self.table.get(product.key, consistent=True)
        assert found is not None
        return found

    def indexed(self, product: SpectrumProduct) -> tuple[bool, bool]:
        """Say whether a spectrum is in EligibilityIndex and in by_status."""
        own = Key("GSI1PK").eq(product.nova_id) & Key("GSI1SK").begins_with("ELIG#ACQUIRE#SPECTRA#")
        by_nova = self.table.query_all(own, index=keys.ELIGIBILITY_INDEX)
        due = walk_shards(self.table, "status", "ACQUIRE", index=keys.STATUS_INDEX, page_size=100)
        return tuple(product.key["SK"] in {row["SK"] for row in rows} for rows in (by_nova, due))  # type: ignore[return-value]

    def review(self, quarantine_id: str, decision: Mapping[str, Any]) -> Any:
        path = f"/iam/quarantine/{quarantine_id}/review"
        url, content = f"{self.stack.outputs.api_url}{path}", json.dumps(decision)
        request = AWSRequest("POST", url, data=content, headers={"Content-Type": "application/json"})
        credentials = self.stack.session.get_credentials()
        assert credentials is not None
        SigV4Auth(credentials, "execute-api", "us-east-1").add_auth(request)
        return self.stack.api.post(path, content=content, headers=dict(request.headers.items()))


@pytest.fixture(scope="module")
def acquisition(stack: Stack, provider: Provider) -> Iterator[Acquisition]:
    table = Table(stack.outputs.table_name, stack.session.client("dynamodb"))
    events = stack.session.client("events")
    (schedule,) = (
        rule["Name"]
        for page in events.get_paginator("list_rules").paginate()
        for rule in page["Rules"]
        if rule.get("Description") == "Runs sweep_spectra"
    )
    events.disable_rule(Name=schedule)  # it would ask the provider between the lines of a test
    _scale_waits(stack, 0.1)
    yield Acquisition(stack, provider, table)
    _scale_waits(stack, 1)
    _put_away(table)
    events.enable_rule(Name=schedule)


def _put_away(table: Table) -> None:
    """Let no sweep of today find what a test, of this module or another, has left to be tried again."""
    tomorrow = isoformat(utc_now() + timedelta(days=1))
    for row in walk_shards(table, "status", "ACQUIRE", index=keys.STATUS_INDEX, page_size=100):
        put_off = {"next_eligible_attempt_at": tomorrow, "timestamp": tomorrow}
        table.update({"PK": row["PK"], "SK": row["SK"]}, assign=put_off)


def _scale_waits(stack: Stack, scale: float) -> None:
    """Let the state machines' retries wait less: what is tested is how often, not how long."""
    stack.cloud.configure("stepfunctions._SFN_WAIT_SCALE", scale)


def attempts(run: Mapping[str, Any], task: str) -> list[tuple[int, str, str | None]]:
    return [
        (a["attempt_no"], a["status"], a["error_type"]) for a in run["attempts"] if a["task_name"] == task
    ]


def run_all(acquisition: Acquisition, products: Sequence[SpectrumProduct]) -> list[dict[str, Any]]:
    """Run the workflow for several spectra, a few at once, and return their job runs in order."""
    arns: list[str] = []
    for start in range(0, len(products), AT_ONCE):
        chunk = [acquisition.run_product(product) for product in products[start : start + AT_ONCE]]
        for arn in chunk:
            acquisition.ended(arn)
        arns += chunk
    return [acquisition.job_run(arn, NOVA) for arn in arns]


def test_every_kind_of_file_has_its_outcome_and_leaves_the_indexes(acquisition: Acquisition) -> None:
    sha256 = hashlib.sha256(VALID).hexdigest()
    product = acquisition.add(
        "valid.fits", Answer(VALID), expected_byte_length=len(VALID), expected_sha256=sha256
    )
    assert acquisition.indexed(product) == (True, True)
    (run,) = run_all(acquisition, [product])
    assert (run["status"], run["outcome"]) == ("SUCCEEDED", "VALIDATED"), run
    assert [(a["task_name"], a["status"]) for a in run["attempts"]] == [
        ("Load the spectrum", "SUCCEEDED"),
        ("Acquire the file", "SUCCEEDED"),
        ("Examine the file", "SUCCEEDED"),
        ("Record the outcome", "SUCCEEDED"),
    ]
    item = acquisition.item(product)
    assert (item["validation_status"], item["attempt_count"], item["sha256"]) == ("VALID", 1, sha256)
    assert not set(INDEX_ATTRIBUTES) & set(item)
    s3 = acquisition.stack.session.client("s3")
    bucket = acquisition.stack.outputs.bucket_name
    names = {}
    for prefix in (f"raw/spectra/{NOVA}/", f"derived/spectra/{NOVA}/"):
        for entry in s3.list_objects_v2(Bucket=bucket, Prefix=prefix)["Contents"]:
            names[entry["Key"].rpartition("/")[2]] = entry["Key"]
    assert set(names) == {"primary.fits", "source.json", "spectrum.ecsv", "metadata.json", "preview.png"}
    assert s3.get_object(Bucket=bucket, Key=names["primary.fits"])["Body"].read() == VALID
    assert s3.get_object(Bucket=bucket, Key=names["preview.png"])["Body"].read().startswith(b"\x89PNG")
    files = acquisition.table.query_all(Key("PK").eq(NOVA) & Key("SK").begins_with("FILE#SPECTRA#"))
    assert {row["name"] for row in files} == set(names)

    others = {
        "same.fits.gz": (Answer(gzip.compress(VALID)), "DUPLICATE_OF_EXISTING", "SKIPPED_DUPLICATE"),
        "none.fits": (Answer(EMPTY_FLUX), "TERMINAL_INVALID", "ACQUIRED"),
        "refused.fits": (Answer(b"log in", 401), "TERMINAL_INVALID", "FAILED_TERMINAL"),
        "bomb.fits.gz": (Answer(gzip.compress(b"\0" * 80_000_000)), "TERMINAL_INVALID", "FAILED_TERMINAL"),
        "several.zip": (Answer(zipped({"a.fits": VALID, "b.fits": VALID})), "QUARANTINED", "STUB"),
    }
    products = [acquisition.add(name, answer) for name, (answer, _, _) in others.items()]
    for product, run, (_, outcome, status) in zip(
        products, run_all(acquisition, products), others.values(), strict=True
    ):
        assert (run["status"], run["outcome"]) == ("SUCCEEDED", outcome), run
        item = acquisition.item(product)
        assert (item["acquisition_status"], item["eligibility"]) == (status, "NONE"), product.locator_identity
        assert acquisition.indexed(product) == (False, False)
    again = acquisition.run(products[0])
    assert (again["outcome"], attempts(again, "Acquire the file")) == ("SKIPPED_DUPLICATE", [])


def test_a_provider_that_fails_is_asked_again_at_once_and_then_left_alone(acquisition: Acquisition) -> None:
    troubles = {
        "down.fits": (Answer(b"down", 503), "status_503"),
        "silent.fits": (Answer(VALID, silence=8), "timeout"),
        "dropped.fits": (Answer(drop=True), "reset"),
        "longer.fits": (Answer(VALID, announced=len(VALID) + 5_000), "truncated"),
    }
    products = [acquisition.add(name, answer) for name, (answer, _) in troubles.items()]
    runs = run_all(acquisition, products)
    for name, product, run in zip(troubles, products, runs, strict=True):
        assert (run["status"], run["outcome"]) == ("FAILED", "FAILED_RETRYABLE"), run
        assert run["error_type"] == "AcquisitionFailed"
        assert troubles[name][1] in run["error_message"]
        tried = [(number, "FAILED", "AcquisitionFailed") for number in (1, 2, 3, 4)]
        assert attempts(run, "Acquire the file") == tried
        assert acquisition.provider.asked[name] == 4
        item = acquisition.item(product)
        assert (item["acquisition_status"], item["attempt_count"]) == ("FAILED_RETRYABLE", 1)
        rest = parse_iso(item["next_eligible_attempt_at"]) - parse_iso(item["last_attempt_at"])
        assert timedelta(seconds=59) <= rest <= timedelta(seconds=61)
        assert item["timestamp"] == item["next_eligible_attempt_at"]
        assert acquisition.indexed(product) == (True, True)
    # On a slow machine the minute is over by now.
    later = isoformat(utc_now() + timedelta(minutes=5))
    acquisition.table.update(products[0].key, assign={"next_eligible_attempt_at": later})
    again = acquisition.run(products[0])
    assert (again["status"], again["outcome"]) == ("SUCCEEDED", "SKIPPED_BACKOFF")
    assert acquisition.item(products[0])["timestamp"] == later
    assert acquisition.provider.asked["down.fits"] == 4, "not before its time"


def test_what_a_second_try_within_seconds_cannot_mend_is_not_asked_again(acquisition: Acquisition) -> None:
    troubles = {
        "busy.fits": (Answer(b"slow down", 429, {"Retry-After": "7200"}), "status_429", 7200),
        "pause.fits": (Answer(b"pause", 503, {"Retry-After": "600"}), "status_503", 600),
        "page.fits": (Answer(HTML, headers={"Content-Type": "text/html"}), "HTML_BODY", 60),
        "shorter.fits": (Answer(VALID, announced=len(VALID) - 3_000), "TRUNCATED", 60),
    }
    products = [acquisition.add(name, answer) for name, (answer, _, _) in troubles.items()]
    runs = run_all(acquisition, products)
    for name, product, run in zip(troubles, products, runs, strict=True):
        _, reason, seconds = troubles[name]
        assert (run["status"], run["outcome"], run["result"]["reason"]) == (
            "FAILED",
            "FAILED_RETRYABLE",
            reason,
        )
        assert [number for number, _, _ in attempts(run, "Acquire the file")] == [1]
        # What came is an answer by which the workflow goes on, and its attempt has failed all the same.
        task = "Examine the file" if reason.isupper() else "Acquire the file"
        (failed,) = (attempt for attempt in run["attempts"] if attempt["status"] == "FAILED")
        assert (failed["task_name"], failed["error_message"].partition(": ")[0]) == (task, reason)
        assert acquisition.provider.asked[name] == 1
        item = acquisition.item(product)
        rest = parse_iso(item["next_eligible_attempt_at"]) - parse_iso(item["last_attempt_at"])
        # It counts from the answer; how long the run took after that depends on the machine.
        assert abs(rest.total_seconds() - seconds) <= 15, name
        assert acquisition.indexed(product) == (True, True)

    page = products[2]
    for times in (2, 3):
        _let_pass(acquisition, page)
        run = acquisition.run(page)
        outcome = "FAILED_RETRYABLE" if times < 3 else "TERMINAL_INVALID"
        assert run["outcome"] == outcome, run
    assert acquisition.item(page)["terminal_reason"] == "SAME_BYTES_UNREADABLE"
    assert acquisition.indexed(page) == (False, False)
    # The provider has mended itself: the one that came cut off is acquired.
    acquisition.provider.answers["shorter.fits"] = Answer(fits_spectrum(seed=uuid.uuid4().int % 10**6))
    _let_pass(acquisition, products[3])
    assert acquisition.run(products[3])["outcome"] == "VALIDATED"
    item = acquisition.item(products[3])
    assert (item["attempt_count"], "unreadable_count" in item, "last_error" in item) == (2, False, False)


def _let_pass(acquisition: Acquisition, product: SpectrumProduct) -> None:
    """Let the time pass that a spectrum rests."""
    acquisition.table.update(product.key, remove=["next_eligible_attempt_at"])


def test_what_a_person_says_of_a_file_is_used_and_recorded(acquisition: Acquisition) -> None:
    product = acquisition.add("unitless.fits", Answer(UNITLESS))
    run = acquisition.run(product)
    assert (run["status"], run["outcome"]) == ("SUCCEEDED", "QUARANTINED"), run
    assert run["result"]["reason"] == "MISSING_CRITICAL_METADATA"
    assert attempts(run, "Hold for a person") == [(1, "SUCCEEDED", None)]
    item = acquisition.item(product)
    assert (item["validation_status"], item["manual_review_status"]) == ("QUARANTINED", "PENDING")
    assert acquisition.indexed(product) == (False, False)
    prefix = f"quarantine/spectra/{NOVA}/{product.data_product_id}/"
    listed = acquisition.stack.session.client("s3").list_objects_v2(
        Bucket=acquisition.stack.outputs.bucket_name, Prefix=prefix
    )
    assert sorted(entry["Key"].rpartition("/")[2] for entry in listed["Contents"]) == [
        "context.json",
        "primary.fits",
    ]
    assert acquisition.run(product)["outcome"] == "NOT_ELIGIBLE"

    case = run["result"]["quarantine_id"]
    decision = {
        "decision": "CLEARED_RETRY_APPROVED",
        "reviewer": "Ada",
        "note": "the observer's log says so",
        "overrides": {"wavelength_unit": "Angstrom"},
    }
    refused = acquisition.review(case, {**decision, "overrides": {"wavelength": "nm"}})
    assert refused.status_code == 400, refused.text
    answer = acquisition.review(case, decision)
    assert answer.status_code == 200, answer.text
    assert answer.json()["overrides"] == {"wavelength_unit": "Angstrom"}
    arn = answer.json()["execution_arn"]
    acquisition.ended(arn)
    run = acquisition.job_run(arn, NOVA)
    assert (run["status"], run["outcome"]) == ("SUCCEEDED", "VALIDATED"), run
    item = acquisition.item(product)
    assert (item["validation_status"], item["overrides"]) == ("VALID", {"wavelength_unit": "Angstrom"})
    assert any("reviewer" in note for note in item["normalization_notes"])
    assert acquisition.provider.asked["unitless.fits"] == 1, "the bytes that were judged are examined"


def test_a_closed_case_ends_the_spectrum(acquisition: Acquisition) -> None:
    product = acquisition.add("hopeless.zip", Answer(zipped({"a.fits": UNITLESS, "b.fits": UNITLESS})))
    run = acquisition.run(product)
    assert (run["outcome"], run["result"]["reason"]) == ("QUARANTINED", "OTHER")
    decision = {"decision": "CLEARED_TERMINAL", "reviewer": "Ada", "note": "no way to tell"}
    answer = acquisition.review(run["result"]["quarantine_id"], decision)
    assert answer.status_code == 200, answer.text
    item = acquisition.item(product)
    assert (item["validation_status"], item["manual_review_status"]) == (
        "TERMINAL_INVALID",
        "CLEARED_TERMINAL",
    )
    assert acquisition.indexed(product) == (False, False)


def test_two_runs_for_one_spectrum_at_once_make_it_valid_once(acquisition: Acquisition) -> None:
    body = fits_spectrum(seed=uuid.uuid4().int % 10**6)
    product = acquisition.add("twice.fits", Answer(body, silence=1))
    arns = [acquisition.run_product(product) for _ in range(2)]
    runs = [acquisition.job_run(arn, NOVA) for arn in arns if acquisition.ended(arn)]
    assert sorted(run["outcome"] for run in runs) == ["SKIPPED_DUPLICATE", "VALIDATED"], runs
    assert acquisition.provider.asked["twice.fits"] == 1
    assert acquisition.item(product)["attempt_count"] == 1


def test_a_run_that_has_nothing_to_run_for_says_so(acquisition: Acquisition) -> None:
    nobody = {"nova_id": NOVA, "data_product_id": str(uuid.uuid4())}
    arn = acquisition.start("acquire_and_validate_spectra", nobody)
    acquisition.ended(arn)
    run = acquisition.job_run(arn, NOVA)
    assert (run["status"], run["error_type"]) == ("FAILED", "NoSuchSpectrum")
    refused = acquisition.ended(acquisition.start("acquire_and_validate_spectra", {"nova_id": NOVA}))
    assert (refused["status"], refused["error"]) == ("FAILED", "InvalidInput")


def test_a_sweep_acquires_all_that_is_due_so_many_at_once_and_none_twice(
    acquisition: Acquisition, record_property: Callable[[str, object], None]
) -> None:
    novae = [str(uuid.uuid4()) for _ in range(3)]
    base = uuid.uuid4().int % 10**6
    _put_away(acquisition.table)
    acquisition.provider.most_at_once = 0
    products = [
        acquisition.add(
            f"swept-{number}.fits",
            Answer(fits_spectrum(seed=base + number, samples=50), silence=0.2),
            nova_id=novae[number % len(novae)],
        )
        for number in range(SWEPT)
    ]
    resting = acquisition.add(
        "resting.fits",
        Answer(VALID),
        next_eligible_attempt_at=utc_now() + timedelta(hours=1),
        nova_id=novae[0],
    )
    begun = time.monotonic()
    # The schedule's own function, called twice as EventBridge may: one execution.
    found = [invoke(acquisition.stack.session, "SourcebookPipeline-sweep_spectra", {}) for _ in range(2)]
    assert found[0]["due"] >= min(SWEPT, 1000)
    arns = {sweep["started"] for sweep in found if sweep["started"]}
    assert len(arns) == 1
    second = acquisition.ended(acquisition.start("acquire_due_spectra", {}))
    assert json.loads(second["output"])["outcome"] == "ALREADY_RUNNING"
    counts = Counter[str]()
    while arns:
        output = json.loads(acquisition.ended(arns.pop(), timeout=1_700)["output"])
        assert output["outcome"] == "SWEPT"
        counts.update({name: output[name] for name in ("started", "ended", "failed")})
        # A sweep ends after ten minutes, and leaves the rest to the next.
        following = invoke(acquisition.stack.session, "SourcebookPipeline-sweep_spectra", {})["started"]
        arns = {following} if following else set()
    record_property("seconds", round(time.monotonic() - begun))
    assert counts == {"started": SWEPT, "ended": SWEPT, "failed": 0}

    for product in products:
        item = acquisition.item(product)
        assert (item["validation_status"], item["attempt_count"]) == ("VALID", 1), item
    assert acquisition.item(resting)["attempt_count"] == 0
    names = [f"swept-{number}.fits" for number in range(SWEPT)]
    assert {acquisition.provider.asked[name] for name in names} == {1}, "none twice"
    assert 1 < acquisition.provider.most_at_once <= AT_ONCE

    runs = [
        run
        for nova_id in novae
        for run in acquisition.table.query_all(
            Key("PK").eq(nova_id)
            & Key("SK").begins_with(f"{keys.JOB_RUN_PREFIX}acquire_and_validate_spectra#")
        )
    ]
    assert Counter(run["subject"] for run in runs) == Counter(p.data_product_id for p in products)
    moments = sorted(
        [(run["started_at"], 1) for run in runs] + [(run["ended_at"], -1) for run in runs]
    )  # an end before a start at the same time
    running = most = 0
    for _, step in moments:
        running += step
        most = max(most, running)
    assert 1 < most <= AT_ONCE, "no more runs at once than the deployment says"
