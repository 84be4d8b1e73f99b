"""A table and a bucket with something in them for every view of the page."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
from aws_lambda_powertools import Logger

from sourcebook.bucket.objects import Objects
from sourcebook.clock import isoformat
from sourcebook.fits.artifacts import artifacts
from sourcebook.fits.check import check
from sourcebook.novae.establish import NovaEstablisher
from sourcebook.novae.quarantine import Quarantiner
from sourcebook.novae.resolvers.identity import Identity
from sourcebook.novae.store import NovaStore
from sourcebook.photometry.messages import RebuildTable, UploadObject, UploadValid
from sourcebook.photometry.table import TableRebuilder
from sourcebook.photometry.upload import UploadValidator
from sourcebook.records.spectrum import (
    AcquisitionStatus,
    Eligibility,
    IdentityKind,
    Locator,
    LocatorKind,
    SpectrumProduct,
    ValidationStatus,
)
from sourcebook.records.subject import Subject
from sourcebook.runs.errors import Held
from sourcebook.runs.tasks import TaskRun
from sourcebook.search.days import Days
from sourcebook.search.index import Indexer
from sourcebook.sentiment.subjects import SubjectRegistry
from sourcebook.spectra.products import data_product_id_for, spectrum_item
from sourcebook.table import keys
from sourcebook.table.client import Table
from tests.integration.articles.grouping.test_flow import EDITED, ELSEWHERE, STORY, News
from tests.integration.observations.world import World as Figures
from tests.unit.api.stored import article_item, put_article, put_source
from tests.unit.fits import made

NOW = datetime.now(UTC).replace(microsecond=0)
CURVE = (
    "mjd,mag,err,band,observer\n"
    "56079.4,11.1,0.05,V,Ada\n56080.4,10.2,0.04,V,Ada\n56081.4,<15.2,,V,Ada\n56083.4,11.4,0.06,V,Bo\n"
    "56081.5,12.1,0.1,B,Bo\n56084.5,13.0,0.1,B,Bo\n56085.1,10.9,,rp,Bo\n"
)
BANKS = {"Harbor Bank": 4.4, "Bến Xuân": 4.9, "Old Mill Savings": 4.1, "Tideway": 4.9}
REASON = "the wavelength unit is not said: neither CUNIT1 nor anything else names it"


@dataclass(frozen=True)
class World:
    """What the tests ask by."""

    table: Table
    objects: Objects
    nova_id: str
    single_id: str
    spectrum_case: str
    candidates_case: str
    failed_run: str


def fill(table: Table, objects: Objects) -> World:
    """Put something into every view."""
    _articles(table, objects)
    _sources(table)
    _figures(table)
    nova_id = _nova(table, objects)
    return World(
        table,
        objects,
        nova_id,
        _single(table, objects),
        _held_spectrum(table, objects, nova_id),
        _held_name(table, objects, nova_id),
        _failed_run(table),
    )


def _articles(table: Table, objects: Objects) -> None:
    SubjectRegistry(table).register(
        [
            Subject("halcyon", "Halcyon Robotics", "company", ticker="HLCR"),
            Subject("ferries", "Ferries", "topic"),
        ]
    )
    stored = []
    for number in range(25):
        published = NOW - timedelta(minutes=7 * number + 1)
        label = ("positive", "neutral", "negative")[number % 3]
        item = article_item(
            f"{number:032x}",
            published,
            status="analyzed",
            sentiment=label,
            tags=("halcyon", "ferries") if number % 2 else ("ferries",),
        )
        item["headline"] = f"Harbor news number {number}"
        item["normalized_headline"] = f"harbor news number {number}"
        if number == 0:
            item["headline"] = item["normalized_headline"] = "東京の株価指数が三日続けて上がる"
        if number == 3:
            item["sources"] = ["harbor-ledger", "tide-times"]
            first = item["source_attribution"]["harbor-ledger"]
            item["source_attribution"]["tide-times"] = first | {
                "original_headline": "HARBOR NEWS, number 3!",
                "url": "https://tide.example/3",
                "source_name": "Tide Times",
                "published_at": isoformat(published + timedelta(minutes=2)),
            }
        if number == 5:
            item["subject_sentiments"] = {"halcyon": {"label": "positive", "score": 0.88, "polarity": 0.88}}
        stored.append(put_article(table, item))
    Indexer(Days(objects), table).take(stored)


def _sources(table: Table) -> None:
    soon, old = isoformat(NOW + timedelta(minutes=5)), isoformat(NOW - timedelta(hours=3))
    put_source(table, "harbor-ledger", soon, last_success_at=isoformat(NOW), last_fetch_at=isoformat(NOW))
    put_source(
        table,
        "tide-times",
        soon,
        last_success_at=old,
        last_fetch_at=isoformat(NOW),
        consecutive_errors=4,
        last_cause="not_found",
        last_error="https://tide-times.example/feed answered 404",
    )
    put_source(table, "quiet-cove", "9999-12-31T23:59:59Z", enabled=False, last_success_at=old)
    for hours in range(3):
        moment = NOW - timedelta(hours=hours)
        table.put(
            {
                **keys.source_fetch("tide-times", isoformat(moment)),
                "entity_type": "Fetch",
                "due_at": isoformat(moment),
                "fetched_at": isoformat(moment, "milliseconds"),
                "verdict": "broken",
                "cause": "not_found",
                "message": "https://tide-times.example/feed answered 404",
                "http_status": 404,
                "entries": 0,
                "created": 0,
                "merged": 0,
                "updated": 0,
                "rejected": 0,
                "duration_ms": 120,
            }
        )


def _figures(table: Table) -> None:
    figures = Figures(table)
    figures.declare("official")
    figures.declare("portal", 5)
    for days in range(6):
        day = NOW - timedelta(days=5 - days)
        rows = {
            (bank, "deposit_online", term): rate + 0.1 * months + 0.02 * days
            for bank, rate in BANKS.items()
            for term, months in (("M0003", 0), ("M0006", 3), ("M0012", 7))
            if not (bank == "Tideway" and term == "M0012")
        }
        rows[("Harbor Bank", "home_loan", "M0012")] = 7.5
        figures.scrape("official", day, rows)
    figures.scrape("portal", NOW, {("Harbor Bank", "deposit_online", "M0006"): 4.75})


def _nova(table: Table, objects: Objects) -> str:
    store = NovaStore(table)
    established = NovaEstablisher(store).establish(
        "Nova Sco 2012", Identity("simbad", "simbad:v1324 sco", "V1324 Sco", 267.72458, -32.62236, "No*")
    )
    assert established.nova_id is not None
    nova_id = established.nova_id
    _photometry(store, objects, nova_id, CURVE)
    checked = check(made.eso())
    for provider in ("ESO", "ESO_OLD"):
        product_id = data_product_id_for(provider, "provider_product_id:ADP.1")
        prefix = f"derived/spectra/{nova_id}/{product_id}/"
        for name, (content, kind) in artifacts(checked, source={}).items():
            objects.write(f"{prefix}{name}", content, kind)
        _product(
            table,
            nova_id,
            provider,
            validation_status=ValidationStatus.VALID,
            acquisition_status=AcquisitionStatus.ACQUIRED,
            eligibility=Eligibility.NONE,
            derived_s3_prefix=prefix,
            verdict=checked.verdict.to_json(),
        )
    return nova_id


def _single(table: Table, objects: Objects) -> str:
    """Add a nova that was measured once."""
    store = NovaStore(table)
    established = NovaEstablisher(store).establish(
        "Nova Sgr 1936", Identity("simbad", "simbad:v0630 sgr", "V0630 Sgr", 272.19, -34.34, "No*")
    )
    assert established.nova_id is not None
    _photometry(store, objects, established.nova_id, "mjd,mag,err,band\n28446.5,4.4,0.2,V\n")
    return established.nova_id


def _photometry(store: NovaStore, objects: Objects, nova_id: str, text: str) -> None:
    place = f"raw/photometry/{nova_id}/x.csv"
    objects.write(place, text.encode(), "text/csv")
    valid = UploadValidator(store, objects).validate(nova_id, place)
    assert isinstance(valid, UploadValid)
    upload = UploadObject(s3_key=place, etag=valid.etag, byte_length=valid.byte_length)
    TableRebuilder(store, objects).rebuild(
        RebuildTable(nova_id=nova_id, file_id=valid.file_id, upload=upload)
    )


def _product(table: Table, nova_id: str, provider: str, **fields: Any) -> SpectrumProduct:
    identity = "provider_product_id:ADP.1"
    product = SpectrumProduct(
        nova_id=nova_id,
        data_product_id=data_product_id_for(provider, identity),
        provider=provider,
        locator_identity=identity,
        identity_kind=IdentityKind.NATIVE_ID,
        locators=(Locator(kind=LocatorKind.URL, value="https://archive.example/1"),),
        created_at=NOW,
        updated_at=NOW,
        **fields,
    )
    table.put(spectrum_item(product))
    return product


def _quarantiner(table: Table, objects: Objects) -> Quarantiner:
    sns = boto3.client("sns", region_name="us-east-1")
    topic = sns.create_topic(Name="quarantine")["TopicArn"]
    return Quarantiner(table, objects, sns, topic, Logger(service="page"))


def _run_of(workflow: str) -> TaskRun:
    run_id = str(uuid.uuid4())
    return TaskRun(workflow, run_id, run_id, "arn:x", f"WORKFLOW#{workflow}#{run_id}", "Decide", 1)


def _held_spectrum(table: Table, objects: Objects, nova_id: str) -> str:
    body = made.bess({"CUNIT1": None, "CTYPE1": None})
    verdict = check(body).verdict
    product = _product(
        table,
        nova_id,
        "BESS",
        validation_status=ValidationStatus.QUARANTINED,
        acquisition_status=AcquisitionStatus.ACQUIRED,
        eligibility=Eligibility.NONE,
    )
    folder = f"quarantine/spectra/{nova_id}/{product.data_product_id}/now/"
    objects.write(f"{folder}primary.fits", body, "application/fits")
    said = verdict.to_json()
    context = {
        "data_product_id": product.data_product_id,
        "provider": "BESS",
        "verdict": {name: value for name, value in said.items() if name not in {"outcome", "reason"}},
    }
    answer = _quarantiner(table, objects).hold(
        _run_of("acquire_and_validate_spectra"),
        Held(str(said["reason"]), str(said["message"]), context),
        subject=product.data_product_id,
        retry_input={
            "nova_id": nova_id,
            "data_product_id": product.data_product_id,
            "provider": "BESS",
        },
        folder=folder,
    )
    return answer.quarantine_id


def _held_name(table: Table, objects: Objects, nova_id: str) -> str:
    answer = _quarantiner(table, objects).hold(
        _run_of("initialize_nova"),
        Held(
            "COORDINATES_UNSURE",
            "V0001 Sco lies near V1324 Sco at 6.2″: say whether they are the same nova",
            {
                "identity": {"main_name": "V0001 Sco", "ra_deg": 267.7, "dec_deg": -32.6, "names": []},
                "candidates": [
                    {"nova_id": nova_id, "primary_name": "V1324 Sco", "separation_arcsec": 6.2},
                ],
            },
        ),
        subject="V0001 Sco",
        retry_input={"candidate_name": "V0001 Sco"},
    )
    return answer.quarantine_id


def _failed_run(table: Table) -> str:
    run_id, began = str(uuid.uuid4()), isoformat(NOW - timedelta(minutes=3), "milliseconds")
    record = keys.workflow_partition("initialize_nova", run_id)
    table.put(
        {
            **keys.job_run(record, "initialize_nova", began, run_id),
            "GSI1PK": keys.job_run_by_id(run_id),
            "GSI1SK": began,
            "entity_type": "JobRun",
            "job_run_id": run_id,
            "workflow_name": "initialize_nova",
            "correlation_id": run_id,
            "execution_arn": "arn:x",
            "subject": "V0002 Sco",
            "input": '{"candidate_name": "V0002 Sco", "correlation_id": "c"}',
            "status": "FAILED",
            "timestamp": began,
            "started_at": began,
            "ended_at": isoformat(NOW, "milliseconds"),
            "error_type": "ArchiveUnavailable",
            "error_message": "simbad: 503 Service Unavailable",
        }
    )
    for number in (1, 2):
        at = isoformat(NOW - timedelta(minutes=3 - number), "milliseconds")
        table.put(
            {
                **keys.attempt(record, run_id, "Resolve the name", number, at),
                "entity_type": "Attempt",
                "task_name": "Resolve the name",
                "attempt_no": number,
                "status": "FAILED",
                "error_type": "ArchiveUnavailable",
                "error_message": "simbad: 503 Service Unavailable",
                "duration_ms": 800,
                "created_at": at,
            }
        )
    return run_id


def two_events(table: Table) -> tuple[str, str]:
    """Add an event of three articles and one of two; return their ids."""
    news = News(table)
    news.now = NOW

    def take_in(headline: str, source: str) -> str:
        return news.take_in(headline, source, published_at=NOW, crawled_at=NOW)

    first = take_in(STORY, "wire")
    take_in(EDITED, "ledger")
    take_in(f"{STORY} on Tuesday", "review")
    other = take_in(ELSEWHERE, "wire")
    take_in(f"{ELSEWHERE}, 300 jobs go", "ledger")
    news.grouper().run("run-1")
    return str(news.article(first)["event_id"]), str(news.article(other)["event_id"])
