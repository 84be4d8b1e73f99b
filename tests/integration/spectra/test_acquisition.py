"""One spectrum from its provider into the catalogue: task after task, against a provider on loopback."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import zipfile
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from boto3.dynamodb.conditions import Key

from sourcebook.bucket.objects import DocumentRefused, Objects
from sourcebook.clock import isoformat
from sourcebook.errors import DoesNotFit, InvalidInput
from sourcebook.fits.artifacts import artifacts
from sourcebook.fits.check import check
from sourcebook.http.client import HttpClient
from sourcebook.http.policy import HttpPolicy, parse_networks
from sourcebook.novae.reference_read import ReferenceReader
from sourcebook.novae.review import ReviewDesk
from sourcebook.records.spectrum import IdentityKind, Locator, LocatorKind, LocatorRole, SpectrumProduct
from sourcebook.runs.tasks import TaskRun
from sourcebook.spectra.acquire import Acquirer, AcquisitionFailed
from sourcebook.spectra.fingerprints import Fingerprints, OwnerUnsettled
from sourcebook.spectra.hold import hold_spectrum
from sourcebook.spectra.load import NoSuchSpectrum, SpectrumLoader, find_spectrum
from sourcebook.spectra.messages import (
    Acquired,
    AcquireSpectrum,
    Acquisition,
    AlreadyValid,
    ExamineSpectrum,
    Failure,
    FailureKind,
    Found,
    HoldSpectrum,
    LoadDecision,
    LoadSpectrum,
    NotAcquired,
    RecordSpectrum,
    RunOutcome,
    Unsure,
)
from sourcebook.spectra.products import DONATION, INDEX_ATTRIBUTES, data_product_id_for, spectrum_item
from sourcebook.spectra.record import COOLDOWNS, LONGEST_RETRY_AFTER, SpectrumRecorder
from sourcebook.spectra.validate import FileChanged, SpectrumValidator
from sourcebook.table import keys
from sourcebook.table.pages import walk_shards
from tests.integration.astronomy import task_run
from tests.spectra_files import fits_spectrum
from tests.unit.fits import made
from tests.unit.http.servers import Exchange, Server, serve

if TYPE_CHECKING:
    from sourcebook.bucket.objects import Objects
    from sourcebook.messages import TaskResult
    from sourcebook.novae.quarantine import Quarantiner
    from sourcebook.table.client import Table
    from tests.integration.astronomy import Clock

pytestmark = pytest.mark.integration

NOVA = "b6c05a41-2227-5387-8f82-9085f39c71d6"
VALID = fits_spectrum()
UNITLESS = fits_spectrum(unit=None)
EMPTY_FLUX = fits_spectrum(all_nan=True)
HTML = b"<!DOCTYPE html><html><body>Down for maintenance</body></html>"


@dataclass
class Provider:
    """What a provider answers by path: bytes, or something that it does."""

    answers: dict[str, bytes | Callable[[Exchange], Any]] = field(default_factory=dict)
    server: Server | None = None

    def url(self, name: str) -> str:
        assert self.server is not None
        return self.server.url(f"/{name}")

    async def respond(self, exchange: Exchange) -> None:
        answer = self.answers.get(exchange.target.lstrip("/"))
        if answer is None:
            await exchange.answer(b"no such file", 404)
        elif isinstance(answer, bytes):
            await exchange.answer(answer, Content_Type="application/fits", ETag='"1"')
        else:
            await answer(exchange)


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    played = Provider()
    async with serve(played.respond) as server:
        played.server = server
        yield played


def _about(product: SpectrumProduct) -> dict[str, Any]:
    return {"nova_id": NOVA, "data_product_id": product.data_product_id, "provider": product.provider}


@dataclass
class Workflow:
    """The tasks in the order of the state machine, without it."""

    table: Table
    objects: Objects
    http: HttpClient
    clock: Clock
    quarantiner: Quarantiner
    provider: Provider
    runs: int = 0
    largest: int = 2_000_000
    before_the_upgrade: bool = False
    """Whether the execution began when acquisition handed nothing on of the spectrum's item."""

    def product(
        self, name: str, *, locators: tuple[Locator, ...] = (), provider: str = "LOOP", **more: Any
    ) -> SpectrumProduct:
        found = SpectrumProduct(
            nova_id=NOVA,
            data_product_id=data_product_id_for(provider, f"provider_product_id:{name}"),
            provider=provider,
            locator_identity=f"provider_product_id:{name}",
            identity_kind=IdentityKind.NATIVE_ID,
            locators=locators or (Locator(kind=LocatorKind.URL, value=self.provider.url(name)),),
            hints={"instrument": "LOOPSPEC"},
            created_at=self.clock.now,
            updated_at=self.clock.now,
            **more,
        )
        assert self.table.create(spectrum_item(found)) is None
        return found

    def task_run(self, job_run_id: str | None = None) -> TaskRun:
        self.runs += 1
        return task_run(
            job_run_id or f"run-{self.runs}", workflow="acquire_and_validate_spectra", record=NOVA
        )

    async def acquire(self, product: SpectrumProduct, run: TaskRun) -> Acquisition:
        acquirer = Acquirer(self.table, self.objects, self.http, self.clock, self.largest)
        return await acquirer.acquire(AcquireSpectrum(**_about(product)), run)

    async def run(self, product: SpectrumProduct, *, quarantine_id: str | None = None) -> dict[str, Any]:
        """Run all tasks as the state machine would, by their JSON, and return the outcome."""
        run, about = self.task_run(), _about(product)
        loaded = SpectrumLoader(self.table, self.clock).load(
            LoadSpectrum(nova_id=NOVA, data_product_id=product.data_product_id, quarantine_id=quarantine_id)
        )
        if loaded.decision is not LoadDecision.ACQUIRE:
            return {"outcome": loaded.decision, **loaded.to_json()}
        found: dict[str, Any] = {}
        try:
            acquisition = await self.acquire(product, run)
        except AcquisitionFailed as error:
            failure = Failure(
                kind=FailureKind.RETRYABLE,
                reason="task_failed",
                error_type="Retryable",
                message=f"AcquisitionFailed: {error}",
            )
            acquisition = NotAcquired(failure=failure)
        found["acquisition"] = self.handed_on(acquisition)
        if isinstance(acquisition, Acquired):
            validator = SpectrumValidator(self.table, self.objects, check, artifacts, self.clock)
            asked = ExamineSpectrum.of_json({**about, **found})
            found["examination"] = self.handed_on(validator.validate(asked, run))
        if (
            isinstance(acquisition, Unsure)
            or found.get("examination", {}).get("verdict", {}).get("outcome") == "QUARANTINED"
        ):
            to_hold = HoldSpectrum.of_json({**about, "found": found})
            found["hold"] = self.handed_on(hold_spectrum(self.quarantiner, self.objects, to_hold, run))
        recorder = SpectrumRecorder(self.table, self.objects.bucket, self.clock)
        to_record = RecordSpectrum.of_json({**about, "found": found})
        outcome = recorder.record(to_record, run)
        assert recorder.record(to_record, run).outcome is outcome.outcome, "twice is once"
        return self.handed_on(outcome)

    def handed_on(self, answer: TaskResult) -> dict[str, Any]:
        """Return an answer as the state machine hands it on."""
        found: dict[str, Any] = json.loads(json.dumps(answer.to_json()))
        if self.before_the_upgrade:
            found.pop("spectrum", None)
        return found

    def item(self, product: SpectrumProduct) -> dict[str, Any]:
        found = self.table.get(product.key)
        assert found is not None
        return found

    def is_eligible(self, product: SpectrumProduct) -> bool:
        """Whether it stands in both indexes, or in none of them."""
        own = Key("GSI1PK").eq(NOVA) & Key("GSI1SK").begins_with("ELIG#ACQUIRE#SPECTRA#LOOP#")
        by_nova = {row["SK"] for row in self.table.query_all(own, index=keys.ELIGIBILITY_INDEX)}
        due = walk_shards(self.table, "status", "ACQUIRE", index=keys.STATUS_INDEX, page_size=100)
        in_both = {product.key["SK"] in by_nova, product.key["SK"] in {row["SK"] for row in due}}
        assert len(in_both) == 1
        item = self.item(product)
        assert (item["eligibility"] == "ACQUIRE") is in_both.copy().pop()
        assert all((name in item) is (item["eligibility"] == "ACQUIRE") for name in INDEX_ATTRIBUTES)
        return in_both.pop()


@pytest.fixture
async def workflow(
    table: Table, objects: Objects, quarantiner: Quarantiner, clock: Clock, provider: Provider
) -> AsyncIterator[Workflow]:
    policy = HttpPolicy(
        allowed_networks=parse_networks("127.0.0.0/8"),
        read_timeout=0.3,
        total_timeout=1.0,
        max_bytes=2_000_000,
    )
    async with HttpClient(policy, clock=clock) as http:
        yield Workflow(table, objects, http, clock, quarantiner, provider)


async def test_a_valid_spectrum_is_kept_with_all_that_is_made_of_it(workflow: Workflow) -> None:
    workflow.provider.answers["a"] = VALID
    sha256 = hashlib.sha256(VALID).hexdigest()
    product = workflow.product("a", expected_byte_length=len(VALID), expected_sha256=sha256)
    assert workflow.is_eligible(product)
    outcome = await workflow.run(product)
    assert outcome == {"outcome": "VALIDATED", "fits_profile_id": "generic_table@1.2.0"}
    item = workflow.item(product)
    assert not workflow.is_eligible(product)
    assert (item["validation_status"], item["acquisition_status"]) == ("VALID", "ACQUIRED")
    assert (item["attempt_count"], item["byte_length"], item["sha256"]) == (1, len(VALID), sha256)
    assert item["profile_selection_inputs"]["hints"] == {"instrument": "LOOPSPEC"}
    assert item["verdict"]["wavelength_min_m"] == pytest.approx(4e-7)
    assert item["last_attempt_at"] == "2026-11-27T21:00:00Z"
    assert not {"next_eligible_attempt_at", "last_error", "unreadable_count"} & {
        name for name in item if item[name]
    }
    raw = f"raw/spectra/{NOVA}/{product.data_product_id}/"
    derived = f"derived/spectra/{NOVA}/{product.data_product_id}/"
    assert workflow.objects.read(f"{raw}primary.fits", 10**6).body == VALID
    source = json.loads(workflow.objects.read(f"{raw}source.json", 10**6).body)
    assert source["answer"]["headers"]["content-type"] == "application/fits"
    assert source["received"] == {"byte_length": len(VALID), "sha256": sha256}
    assert workflow.objects.read(f"{derived}preview.png", 10**6).body.startswith(b"\x89PNG")
    assert b"em.wl" in workflow.objects.read(f"{derived}spectrum.ecsv", 10**6).body
    rows = workflow.table.query_all(Key("PK").eq(NOVA) & Key("SK").begins_with("FILE#SPECTRA#"))
    files = {(row["role"], row["name"]): row for row in rows}
    assert set(files) == {
        ("RAW_FITS", "primary.fits"),
        ("MANIFEST", "source.json"),
        ("MANIFEST", "metadata.json"),
        ("NORMALIZED", "spectrum.ecsv"),
        ("PLOT", "preview.png"),
    }
    assert files["RAW_FITS", "primary.fits"]["sha256"] == sha256
    for row in files.values():
        content = workflow.objects.read(row["key"], 10**6).body
        assert (row["byte_length"], row["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())
        assert row["created_by"] == {"workflow": "acquire_and_validate_spectra", "job_run_id": "run-1"}
    assert workflow.table.get(keys.fingerprint(sha256, product.data_product_id)) is not None
    assert workflow.table.get(keys.fingerprint_owner(sha256))["data_product_id"] == product.data_product_id  # type: ignore[index]


async def test_what_is_valid_is_never_touched_again(workflow: Workflow) -> None:
    workflow.provider.answers["a"] = VALID
    product = workflow.product("a")
    await workflow.run(product)
    before = workflow.item(product)
    workflow.provider.answers["a"] = fits_spectrum(2)
    assert (await workflow.run(product))["outcome"] == "SKIPPED_DUPLICATE"
    # A task that comes late, as Lambda may call it twice.
    late = workflow.task_run()
    assert await workflow.acquire(product, late) == AlreadyValid()
    recorder = SpectrumRecorder(workflow.table, workflow.objects.bucket, workflow.clock)
    asked = RecordSpectrum(**_about(product), found=Found(acquisition=AlreadyValid()))
    assert recorder.record(asked, late).outcome is RunOutcome.SKIPPED_DUPLICATE
    assert workflow.item(product) == before
    assert workflow.objects.read(before["raw_s3_key"], 10**6).body == VALID


async def test_an_execution_that_began_before_an_upgrade_ends_all_the_same(workflow: Workflow) -> None:
    workflow.before_the_upgrade = True
    workflow.provider.answers |= {"valid": VALID, "unitless": UNITLESS, "page": HTML}
    outcomes = {name: await workflow.run(workflow.product(name)) for name in workflow.provider.answers}
    assert {name: outcome["outcome"] for name, outcome in outcomes.items()} == {
        "valid": "VALIDATED",
        "unitless": "QUARANTINED",
        "page": "FAILED_RETRYABLE",
    }


@pytest.mark.parametrize("wrap", ["gzip", "zip", "zip of gzip"])
async def test_a_wrapped_file_is_the_same_spectrum(workflow: Workflow, wrap: str) -> None:
    packed = gzip.compress(VALID) if "gzip" in wrap else VALID
    if "zip of" in wrap or wrap == "zip":
        body = io.BytesIO()
        with zipfile.ZipFile(body, "w") as archive:
            archive.writestr("readme.txt", "see there")
            archive.writestr("s_x1d.fits.gz" if "gzip" in wrap else "s_x1d.fits", packed)
        packed = body.getvalue()
    workflow.provider.answers |= {"plain": VALID, "packed": packed}
    first = workflow.product("plain")
    assert (await workflow.run(first))["outcome"] == "VALIDATED"
    # Providers announce the length and digest of the file packed, or unpacked.
    second = workflow.product("packed", expected_byte_length=len(packed), expected_sha256=_sha256(VALID))
    outcome = await workflow.run(second)
    assert outcome == {"outcome": "DUPLICATE_OF_EXISTING", "duplicate_of": first.data_product_id}
    item = workflow.item(second)
    assert not workflow.is_eligible(second)
    assert (item["duplicate_of"], item["acquisition_status"]) == (first.data_product_id, "SKIPPED_DUPLICATE")
    assert (await workflow.run(second))["outcome"] == "SKIPPED_DUPLICATE"


async def test_of_two_with_the_same_bytes_at_once_one_becomes_valid(workflow: Workflow) -> None:
    workflow.provider.answers |= {"a": VALID, "b": VALID}
    one, other = workflow.product("a"), workflow.product("b")
    sha256 = _sha256(VALID)
    prints = Fingerprints(workflow.table, workflow.clock)
    assert prints.claim(one, sha256) is None, "both have found the bytes valid; this one claims them first"
    assert prints.valid_owner(sha256, other.data_product_id) is None
    with pytest.raises(OwnerUnsettled):
        prints.claim(other, sha256)
    assert (await workflow.run(one))["outcome"] == "VALIDATED"
    assert (await workflow.run(other))["outcome"] == "DUPLICATE_OF_EXISTING"


async def test_bytes_whose_claim_came_to_nothing_are_free(workflow: Workflow) -> None:
    workflow.provider.answers |= {"a": EMPTY_FLUX, "b": VALID}
    one, other = workflow.product("a"), workflow.product("b")
    # The first was about to become valid, was lost, and finds something else when it is tried again.
    assert Fingerprints(workflow.table, workflow.clock).claim(one, _sha256(VALID)) is None
    assert (await workflow.run(one))["outcome"] == "TERMINAL_INVALID"
    assert (await workflow.run(other))["outcome"] == "VALIDATED"


async def test_a_spectrum_without_flux_is_terminal_and_leaves_the_indexes(workflow: Workflow) -> None:
    workflow.provider.answers["a"] = EMPTY_FLUX
    product = workflow.product("a")
    outcome = await workflow.run(product)
    assert (outcome["outcome"], outcome["reason"]) == ("TERMINAL_INVALID", "ALL_NAN")
    item = workflow.item(product)
    assert (item["validation_status"], item["terminal_reason"]) == ("TERMINAL_INVALID", "ALL_NAN")
    assert not workflow.is_eligible(product)
    assert (await workflow.run(product))["outcome"] == "NOT_ELIGIBLE"


async def test_a_spectrum_without_a_unit_waits_for_a_person_who_says_it(
    workflow: Workflow, notices: tuple[str, Any]
) -> None:
    workflow.provider.answers["a"] = UNITLESS
    product = workflow.product("a")
    outcome = await workflow.run(product)
    assert (outcome["outcome"], outcome["reason"]) == ("QUARANTINED", "MISSING_CRITICAL_METADATA")
    item = workflow.item(product)
    assert not workflow.is_eligible(product)
    assert (item["validation_status"], item["manual_review_status"]) == ("QUARANTINED", "PENDING")
    assert item["quarantine_reason_code"] == "MISSING_CRITICAL_METADATA"
    (notice,) = notices[1]()
    assert (notice["workflow"], notice["reason"]) == (
        "acquire_and_validate_spectra",
        "MISSING_CRITICAL_METADATA",
    )
    prefix = f"quarantine/spectra/{NOVA}/{product.data_product_id}/"
    listed = workflow.objects.client.list_objects_v2(Bucket=workflow.objects.bucket, Prefix=prefix)[
        "Contents"
    ]
    assert sorted(entry["Key"].rpartition("/")[2] for entry in listed) == ["context.json", "primary.fits"]
    assert (await workflow.run(product))["outcome"] == "NOT_ELIGIBLE", "nothing leaves quarantine by itself"

    started: list[tuple[str, Mapping[str, Any], str]] = []

    def start(workflow_name: str, payload: Mapping[str, Any], name: str) -> str:
        started.append((workflow_name, payload, name))
        return f"arn:{name}"

    desk = ReviewDesk(workflow.table, start, workflow.clock)
    case = outcome["quarantine_id"]
    for wrong in (
        {"unit": "nm"},
        {"wavelength_unit": ""},
        {"wavelength_unit": "furlong"},
        {"date": "yesterday"},
        {"ignore_checksum": "yes"},
    ):
        with pytest.raises(InvalidInput, match="overrides"):
            desk.review(case, "CLEARED_RETRY_APPROVED", reviewer="Ada", overrides=wrong)
    with pytest.raises(InvalidInput, match="new try is approved"):
        await workflow.run(product, quarantine_id=case)
    answer = desk.review(
        case, "CLEARED_RETRY_APPROVED", reviewer="Ada", overrides={"wavelength_unit": "Angstrom"}
    )
    assert answer is not None
    assert answer["overrides"] == {"wavelength_unit": "Angstrom"}
    ((name, payload, _),) = started
    assert name == "acquire_and_validate_spectra"
    assert payload == {
        "nova_id": NOVA,
        "data_product_id": product.data_product_id,
        "provider": "LOOP",
        "quarantine_id": case,
    }
    with pytest.raises(DoesNotFit):
        desk.review(case, "CLEARED_RETRY_APPROVED", reviewer="Bob", overrides={"wavelength_unit": "nm"})
    workflow.provider.answers.clear()  # what was judged is examined, not what the provider has by now
    outcome = await workflow.run(product, quarantine_id=case)
    assert outcome["outcome"] == "VALIDATED", outcome
    item = workflow.item(product)
    assert item["overrides"] == {"wavelength_unit": "Angstrom"}
    assert item["manual_review_status"] == "CLEARED_RETRY_APPROVED"
    assert any("reviewer" in note for note in item["normalization_notes"])
    assert item["attempt_count"] == 2
    assert (await workflow.run(product, quarantine_id=case))["outcome"] == "SKIPPED_DUPLICATE"


async def test_a_reviewer_who_is_wrong_is_asked_again(workflow: Workflow) -> None:
    workflow.provider.answers["a"] = UNITLESS
    product = workflow.product("a")
    case = (await workflow.run(product))["quarantine_id"]
    desk = ReviewDesk(workflow.table, lambda *_: "arn", workflow.clock)
    desk.review(
        case,
        "CLEARED_RETRY_APPROVED",
        reviewer="Ada",
        overrides={"wavelength_unit": "nm", "date": "1950-01-01"},
    )
    outcome = await workflow.run(product, quarantine_id=case)
    assert (outcome["outcome"], outcome["reason"]) == ("QUARANTINED", "OTHER")
    found = desk.get(outcome["quarantine_id"])
    assert found is not None
    assert "before 1970" in found["message"]
    desk.review(
        outcome["quarantine_id"],
        "CLEARED_RETRY_APPROVED",
        reviewer="Ada",
        overrides={"wavelength_unit": "Angstrom", "date": "2012-06-20"},
    )
    assert (await workflow.run(product, quarantine_id=outcome["quarantine_id"]))["outcome"] == "VALIDATED"


async def test_a_closed_case_ends_the_spectrum(workflow: Workflow) -> None:
    workflow.provider.answers["a"] = UNITLESS
    product = workflow.product("a")
    case = (await workflow.run(product))["quarantine_id"]
    desk = ReviewDesk(workflow.table, lambda *_: pytest.fail("nothing is started"), workflow.clock)
    with pytest.raises(InvalidInput, match="overrides"):
        desk.review(case, "CLEARED_TERMINAL", reviewer="Ada", overrides={"date": "2012-06-20"})
    for _ in range(2):
        assert desk.review(case, "CLEARED_TERMINAL", reviewer="Ada") is not None
    item = workflow.item(product)
    assert (item["validation_status"], item["terminal_reason"]) == ("TERMINAL_INVALID", "REVIEWED")
    assert item["manual_review_status"] == "CLEARED_TERMINAL"
    assert (await workflow.run(product))["outcome"] == "NOT_ELIGIBLE"


async def test_an_archive_with_several_spectra_is_for_a_person_and_then_read(workflow: Workflow) -> None:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as archive:
        archive.writestr("one.fits", VALID)
        archive.writestr("two.fits", UNITLESS)
    workflow.provider.answers["a"] = body.getvalue()
    product = workflow.product("a")
    outcome = await workflow.run(product)
    assert (outcome["outcome"], outcome["reason"]) == ("QUARANTINED", "OTHER")
    desk = ReviewDesk(workflow.table, lambda *_: "arn", workflow.clock)
    case = desk.get(outcome["quarantine_id"])
    assert case is not None
    assert case["context"]["members"] == ["one.fits", "two.fits"]
    assert case["data_product_id"] == product.data_product_id
    desk.review(
        outcome["quarantine_id"], "CLEARED_RETRY_APPROVED", reviewer="Ada", overrides={"member": "one.fits"}
    )
    assert (await workflow.run(product, quarantine_id=outcome["quarantine_id"]))["outcome"] == "VALIDATED"


async def test_each_failure_rests_longer_and_before_its_time_nobody_asks(workflow: Workflow) -> None:
    async def down(exchange: Exchange) -> None:
        await exchange.answer(b"down", 503)

    workflow.provider.answers["a"] = down
    product = workflow.product("a")
    for attempt, rest in enumerate([*COOLDOWNS, COOLDOWNS[-1]], start=1):
        outcome = await workflow.run(product)
        assert outcome["outcome"] == "FAILED_RETRYABLE"
        item, due = workflow.item(product), workflow.clock.now + rest
        assert item["next_eligible_attempt_at"] == item["timestamp"] == isoformat(due)
        assert (item["attempt_count"], item["acquisition_status"]) == (attempt, "FAILED_RETRYABLE")
        assert "status 503" in item["last_error"]
        assert workflow.is_eligible(product)
        asked = len(_exchanges(workflow))
        workflow.clock.now = due - timedelta(seconds=1)
        skipped = await workflow.run(product)
        assert (skipped["outcome"], skipped["next_eligible_attempt_at"]) == (
            "SKIPPED_BACKOFF",
            isoformat(due),
        )
        assert len(_exchanges(workflow)) == asked
        workflow.clock.now = due
    workflow.provider.answers["a"] = VALID
    assert (await workflow.run(product))["outcome"] == "VALIDATED"


@pytest.mark.parametrize(
    ("status", "retry_after", "rest"),
    [
        (429, "30", COOLDOWNS[0]),
        (429, "7200", timedelta(hours=2)),
        (429, "Fri, 27 Nov 2026 23:00:00 GMT", timedelta(hours=2)),
        (503, "600", timedelta(minutes=10)),
        (503, "999999999", LONGEST_RETRY_AFTER),
    ],
)
async def test_the_providers_wish_wins_when_it_is_longer(
    workflow: Workflow, status: int, retry_after: str, rest: timedelta
) -> None:
    async def busy(exchange: Exchange) -> None:
        await exchange.answer(b"later", status, Retry_After=retry_after)

    workflow.provider.answers["a"] = busy
    product = workflow.product("a")
    run = workflow.task_run()
    answer = await workflow.acquire(product, run)
    assert isinstance(answer, NotAcquired), "not raised: it is not asked again within seconds"
    assert (await workflow.run(product))["outcome"] == "FAILED_RETRYABLE"
    item = workflow.item(product)
    assert item["next_eligible_attempt_at"] == isoformat(workflow.clock.now + rest)
    assert item["last_error_fingerprint"].startswith(f"status_{status}:")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
async def test_a_refusal_is_final(workflow: Workflow, status: int) -> None:
    async def refuse(exchange: Exchange) -> None:
        await exchange.answer(b"no", status)

    workflow.provider.answers["a"] = refuse
    product = workflow.product("a")
    outcome = await workflow.run(product)
    assert (outcome["outcome"], outcome["reason"]) == ("TERMINAL_INVALID", f"status_{status}")
    assert workflow.item(product)["acquisition_status"] == "FAILED_TERMINAL"
    assert not workflow.is_eligible(product)


async def test_trouble_that_may_pass_in_seconds_is_raised_for_the_state_machine_to_repeat(
    workflow: Workflow,
) -> None:
    async def silent(exchange: Exchange) -> None:
        import asyncio

        await asyncio.sleep(5)

    async def breaks_off(exchange: Exchange) -> None:
        await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n" + VALID)
        exchange.close()

    async def drops(exchange: Exchange) -> None:
        exchange.reset()

    workflow.provider.answers |= {"silent": silent, "short": breaks_off, "dropped": drops}
    for name, reason in (("silent", "timeout"), ("short", "truncated"), ("dropped", "reset")):
        product = workflow.product(name)
        with pytest.raises(AcquisitionFailed, match=f"^{reason}"):
            await workflow.acquire(product, workflow.task_run())
        assert (await workflow.run(product))["outcome"] == "FAILED_RETRYABLE"


async def test_the_same_unreadable_bytes_three_times_are_what_there_is(workflow: Workflow) -> None:
    workflow.provider.answers["a"] = HTML
    product = workflow.product("a")
    for times in (1, 2):
        outcome = await workflow.run(product)
        assert (outcome["outcome"], outcome["reason"]) == ("FAILED_RETRYABLE", "HTML_BODY")
        item = workflow.item(product)
        assert (item["unreadable_sha256"], item["unreadable_count"]) == (_sha256(HTML), times)
        workflow.clock.now = datetime.fromisoformat(item["next_eligible_attempt_at"])
    outcome = await workflow.run(product)
    assert (outcome["outcome"], outcome["reason"]) == ("TERMINAL_INVALID", "SAME_BYTES_UNREADABLE")
    assert not workflow.is_eligible(product)


async def test_other_bytes_begin_the_count_anew_and_silence_does_not(workflow: Workflow) -> None:
    product = workflow.product("a")
    cut = VALID[:-3_000]
    for body, count in ((HTML, 1), (HTML, 2), (None, 2), (cut, 1), (HTML, 1), (HTML, 2)):

        async def down(exchange: Exchange) -> None:
            await exchange.answer(b"down", 500)

        workflow.provider.answers["a"] = down if body is None else body
        assert (await workflow.run(product))["outcome"] == "FAILED_RETRYABLE"
        item = workflow.item(product)
        assert item["unreadable_count"] == count
        workflow.clock.now = datetime.fromisoformat(item["next_eligible_attempt_at"])


@pytest.mark.parametrize(
    ("announced", "reason"),
    [({"expected_byte_length": 4}, "wrong_length"), ({"expected_sha256": "0" * 64}, "wrong_sha256")],
)
async def test_what_is_not_what_was_announced_is_asked_for_again(
    workflow: Workflow, announced: dict[str, Any], reason: str
) -> None:
    workflow.provider.answers["a"] = VALID
    product = workflow.product("a", **announced)
    outcome = await workflow.run(product)
    assert (outcome["outcome"], outcome["reason"]) == ("FAILED_RETRYABLE", reason)
    with pytest.raises(DocumentRefused):
        workflow.objects.read(f"raw/spectra/{NOVA}/{product.data_product_id}/primary.fits", 10**6)


async def test_what_is_larger_than_is_read_is_final(workflow: Workflow) -> None:
    workflow.provider.answers |= {
        "long": b"\0" * 2_100_000,
        "bomb": gzip.compress(b"\0" * 50_000_000),
    }
    for name in ("long", "bomb"):
        outcome = await workflow.run(workflow.product(name))
        assert (outcome["outcome"], outcome["reason"]) == ("TERMINAL_INVALID", "too_large")


async def test_a_mirror_is_asked_when_the_first_place_fails(workflow: Workflow) -> None:
    workflow.provider.answers["mirror"] = VALID
    locators = (
        Locator(kind=LocatorKind.URL, value=workflow.provider.url("mirror"), role=LocatorRole.MIRROR),
        Locator(kind=LocatorKind.URL, value=workflow.provider.url("gone")),
    )
    assert (await workflow.run(workflow.product("a", locators=locators)))["outcome"] == "VALIDATED"
    assert [exchange.target for exchange in _exchanges(workflow)] == ["/gone", "/mirror"]


async def test_no_mirror_is_asked_when_the_function_would_not_live_to_hear_its_answer(
    workflow: Workflow,
) -> None:
    workflow.provider.answers["mirror"] = VALID
    locators = (
        Locator(kind=LocatorKind.URL, value=workflow.provider.url("gone")),
        Locator(kind=LocatorKind.URL, value=workflow.provider.url("mirror"), role=LocatorRole.MIRROR),
    )
    product = workflow.product("a", locators=locators)
    times = iter([0.0, 100.0])
    acquirer = Acquirer(
        workflow.table, workflow.objects, workflow.http, workflow.clock, monotonic=lambda: next(times)
    )
    answer = await acquirer.acquire(AcquireSpectrum(**_about(product)), workflow.task_run())
    assert isinstance(answer, NotAcquired)
    assert (answer.failure.kind, answer.failure.reason) == (FailureKind.RETRYABLE, "out_of_time")
    assert [exchange.target for exchange in _exchanges(workflow)] == ["/gone"]


async def test_what_was_handed_in_is_read_from_its_folder_and_from_no_other(workflow: Workflow) -> None:
    workflow.objects.write("raw/donations/x/s.fits", VALID, "application/fits")
    workflow.objects.write("derived/secret.fits", VALID, "application/fits")
    good = Locator(kind=LocatorKind.S3, value="raw/donations/x/s.fits")
    bad = Locator(kind=LocatorKind.S3, value="derived/secret.fits")
    assert (await workflow.run(workflow.product("a", locators=(good,))))["outcome"] == "VALIDATED"
    outcome = await workflow.run(workflow.product("b", locators=(bad,)))
    assert (outcome["outcome"], outcome["reason"]) == ("TERMINAL_INVALID", "no_such_locator")


@pytest.mark.parametrize(
    ("body", "reason"), [(HTML, "HTML_BODY"), (gzip.compress(VALID)[:-9], "damaged_archive")]
)
async def test_what_was_handed_in_and_is_no_spectrum_is_refused_at_once(
    workflow: Workflow, body: bytes, reason: str
) -> None:
    # It is never another file. An archive may send one next time.
    workflow.objects.write("raw/donations/x/s.fits", body, "application/fits")
    handed_in = Locator(kind=LocatorKind.S3, value="raw/donations/x/s.fits")
    product = workflow.product("a", locators=(handed_in,), provider=DONATION)
    outcome = await workflow.run(product)
    assert (outcome["outcome"], outcome["reason"]) == ("TERMINAL_INVALID", reason)
    assert not workflow.is_eligible(product)


async def test_what_was_handed_in_and_is_too_large_is_refused_and_not_tried_again(workflow: Workflow) -> None:
    workflow.objects.write("raw/donations/x/s.fits", VALID, "application/fits")
    handed_in = Locator(kind=LocatorKind.S3, value="raw/donations/x/s.fits")
    product = workflow.product("a", locators=(handed_in,), provider=DONATION)
    workflow.largest = len(VALID) - 1
    outcome = await workflow.run(product)
    assert (outcome["outcome"], outcome["reason"]) == ("TERMINAL_INVALID", "too_large")
    assert not workflow.is_eligible(product)


async def test_the_network_of_this_machine_is_out_of_reach_where_it_is_not_allowed(
    workflow: Workflow,
) -> None:
    workflow.provider.answers["a"] = VALID
    product = workflow.product("a")
    async with HttpClient(HttpPolicy()) as http:
        workflow.http = http
        outcome = await workflow.run(product)
    assert (outcome["outcome"], outcome["reason"]) == ("TERMINAL_INVALID", "blocked_address")


async def test_the_bytes_that_are_examined_are_those_that_were_acquired(workflow: Workflow) -> None:
    workflow.provider.answers["a"] = VALID
    product = workflow.product("a")
    run = workflow.task_run()
    acquired = await workflow.acquire(product, run)
    assert isinstance(acquired, Acquired)
    workflow.objects.write(acquired.key, EMPTY_FLUX, "application/fits")
    validator = SpectrumValidator(workflow.table, workflow.objects, check, artifacts, workflow.clock)
    with pytest.raises(FileChanged):
        validator.validate(ExamineSpectrum(**_about(product), acquisition=acquired), run)


async def test_a_spectrum_is_found_without_its_provider_and_an_unknown_one_is_named(
    workflow: Workflow,
) -> None:
    workflow.product("a")
    product = workflow.product("b")
    assert find_spectrum(workflow.table, NOVA, product.data_product_id).locator_identity.endswith(":b")
    with pytest.raises(NoSuchSpectrum, match=re.escape(NOVA)):
        find_spectrum(workflow.table, NOVA, NOVA)
    with pytest.raises(InvalidInput, match="a case of this spectrum"):
        SpectrumLoader(workflow.table, workflow.clock).load(
            LoadSpectrum(**_about(product), quarantine_id=NOVA)
        )


def _sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def _exchanges(workflow: Workflow) -> list[Exchange]:
    assert workflow.provider.server is not None
    return workflow.provider.server.exchanges


async def test_the_paper_that_a_spectrum_names_is_a_publication_of_its_nova(workflow: Workflow) -> None:
    body = made.eso({"REFERENC": "2018A&A...609A.120F"})
    workflow.provider.answers["a"] = body
    assert (await workflow.run(workflow.product("a")))["outcome"] == "VALIDATED"
    (paper,) = ReferenceReader(workflow.table).page(NOVA, limit=10).items
    assert (paper["bibcode"], paper["role"]) == ("2018A&A...609A.120F", "SPECTRA_SOURCE")
