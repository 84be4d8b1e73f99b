"""A table with something of everything, built by the code that builds the real one."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import boto3.session

from sourcebook.articles.bus import EventBus
from sourcebook.articles.grouping.grouper import Grouper
from sourcebook.articles.grouping.ideas import IdeaWriter, WeighingEngine
from sourcebook.articles.grouping.log import GroupingLog
from sourcebook.articles.normalize import identify
from sourcebook.bucket.objects import Objects
from sourcebook.bucket.stored import FITS
from sourcebook.clock import Clock, isoformat
from sourcebook.fits.artifacts import artifacts
from sourcebook.fits.check import check
from sourcebook.novae.establish import NovaEstablisher
from sourcebook.novae.quarantine import Quarantiner
from sourcebook.novae.resolvers.archive import ArchiveStatus
from sourcebook.novae.resolvers.identity import Identity
from sourcebook.novae.store import NovaStore
from sourcebook.observations.terms import NO_TERM
from sourcebook.photometry.messages import RebuildTable, UploadObject, UploadValid
from sourcebook.photometry.table import TableRebuilder
from sourcebook.photometry.upload import UploadValidator
from sourcebook.records.spectrum import Locator, LocatorKind
from sourcebook.runs.errors import Held
from sourcebook.sources.model import parse_spec
from sourcebook.sources.registry import SourceRegistry
from sourcebook.spectra.discover import SpectraDiscoverer
from sourcebook.spectra.fingerprints import Fingerprints
from sourcebook.spectra.load import find_spectrum
from sourcebook.spectra.messages import Acquired, ExamineSpectrum, Found, RecordSpectrum
from sourcebook.spectra.products import data_product_id_for
from sourcebook.spectra.providers.provider import FoundProduct, Search
from sourcebook.spectra.record import SpectrumRecorder
from sourcebook.spectra.validate import SpectrumValidator
from sourcebook.table import keys
from sourcebook.table.client import Table
from tests.incoming import NOON, incoming, list_new_articles
from tests.integration.articles.grouping.test_flow import Bus
from tests.integration.astronomy import task_run
from tests.integration.observations.world import World as Figures
from tests.integration.sentiment.conftest import World as News
from tests.spectra_files import fits_spectrum

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sns import SNSClient

BUCKET = "sourcebook-data"
CSV = "jd,mag,err,band,observer\n2456079.9,11.1,0.01,V,Ada\n2456080.9,<15.2,,B,Ada\n"
TARGET = ("Harbor Bank", "deposit_online", NO_TERM)
LATEST = keys.latest(TARGET[1], TARGET[2], TARGET[0])
FIRST = "Quartzon ships a faster release"
STORY = "Orbita wins lunar lander contract from Esrange"


@dataclass
class Healthy:
    """The table, and the names of what is in it.

    Attributes:
        now: the present of everything in it.
        s3: with the bucket.
        story: dedup key of an article that two sources tell, with tags of its own.
        nova_id: of the nova.
        spectra: data_product_id by the name of each of its spectra: one is valid, one waits, one has ended.
    """

    table: Table
    now: datetime
    s3: S3Client
    story: str
    nova_id: str
    spectra: dict[str, str]

    def clock(self) -> datetime:
        return self.now

    def spectrum(self, name: str) -> keys.Key:
        return keys.spectrum(self.nova_id, "LOOP", self.spectra[name])


def build(table: Table, session: boto3.session.Session) -> Healthy:
    """Build it on an empty table, with the bucket and the topic that it needs."""
    s3 = session.client("s3")
    s3.create_bucket(Bucket=BUCKET)
    now = _news(table)
    _sources(table, now)
    _figures(table)
    clock = lambda: now  # noqa: E731 - a clock that stands
    store = NovaStore(table, clock)
    made = NovaEstablisher(store).establish(
        "Nova Sco 2012 No. 1",
        Identity("simbad", "simbad:v1324 sco", "V1324 Sco", 267.72458, -32.62236, "No*"),
    )
    assert made.nova_id is not None
    spectra = _spectra(store, Objects(s3, BUCKET), made.nova_id)
    _photometry(store, Objects(s3, BUCKET), made.nova_id)
    _runs(table, made.nova_id, now)
    _case(table, Objects(s3, BUCKET), session.client("sns"), clock)
    story = identify(STORY, NOON).dedup_key
    return Healthy(table, now, s3, story, made.nova_id, spectra)


def _news(table: Table) -> datetime:
    news = News(table)
    for minute, headline in enumerate((STORY, FIRST, "Marbleton shares fall after a profit warning")):
        for source in ("wire", "harbor"):
            article = incoming(
                source,
                f"{minute}",
                crawled_minute=minute,
                headline=headline,
                tickers=["ORBQ"] if headline == STORY else (),
                tags=("markets", "technology"),
                published_at=NOON - timedelta(minutes=minute, days=minute),
            )
            news.report(article)
    news.analyze()
    news.report(incoming("wire", "late", 50, headline="Quartzon wins an award", published_at=NOON))
    news.report(incoming("ledger", "edited", 50, headline=f"{STORY} for $2bn", tickers=["ORBQ"]))
    news.analyze()
    bus = EventBus(Bus(), "news", sleep=lambda _seconds: None)  # type: ignore[arg-type]
    grouped = Grouper(table, GroupingLog(table, news.clock), bus, news.clock, workers=1).run("run-1")
    assert grouped.events
    for event_id in grouped.events:
        IdeaWriter(table, WeighingEngine()).write(event_id)
    for _ in range(2):  # the first leaves the marks, which are young; the second finds them settled
        news.wait(minutes=15)
        news.refresh()
    # One article waits for its analysis.
    news.report(incoming("harbor", "pending", 80, headline="Nothing has judged this yet", published_at=NOON))
    list_new_articles(table)
    return news.now + timedelta(minutes=1)


def _sources(table: Table, now: datetime) -> None:
    registry = SourceRegistry(table, lambda: now)
    for source_id, enabled in (("wire", True), ("harbor", True), ("silent", False)):
        registry.register(
            parse_spec(
                {
                    "source_id": source_id,
                    "kind": "feed",
                    "url": f"https://{source_id}.example/feed.xml",
                    "enabled": enabled,
                }
            )
        )


def _figures(table: Table) -> None:
    figures = Figures(table)
    figures.declare("official", 1)
    figures.declare("aggregator", 5)
    figures.declare("removed", 2)
    for day in range(3):
        moment = NOON + timedelta(days=day - 3)
        for number, source_id in enumerate(("official", "aggregator", "removed")):
            figures.scrape(source_id, moment + timedelta(minutes=number), {TARGET: 3.1 + number / 10 + day})
    figures.remove("removed")
    figures.sql.close()


def _spectra(store: NovaStore, objects: Objects, nova_id: str) -> dict[str, str]:
    discoverer = SpectraDiscoverer(store, logging.getLogger("test"), store.clock)
    found = [
        FoundProduct(
            locators=(Locator(kind=LocatorKind.URL, value=f"https://loop.example/{name}.fits"),),
            provider_product_id=name,
        )
        for name in ("valid", "waiting", "ended")
    ]
    discoverer.register(store.active(nova_id), "LOOP", Search(ArchiveStatus.OK, tuple(found)))
    ids = {
        name: data_product_id_for("LOOP", f"provider_product_id:{name}")
        for name in ("valid", "waiting", "ended")
    }
    _acquire(store, objects, nova_id, ids["valid"], fits_spectrum())
    _acquire(store, objects, nova_id, ids["ended"], fits_spectrum(all_nan=True))
    return ids


def _acquire(store: NovaStore, objects: Objects, nova_id: str, data_product_id: str, body: bytes) -> None:
    """Do what the workflow does once the bytes have come."""
    run = task_run(f"run-{data_product_id}", workflow="acquire_and_validate_spectra", record=nova_id)
    stored = objects.write(f"raw/spectra/{nova_id}/{data_product_id}/primary.fits", body, FITS)
    acquired = Acquired(
        key=stored.key, byte_length=stored.byte_length, etag=stored.etag, sha256=stored.sha256
    )
    product = find_spectrum(store.table, nova_id, data_product_id, "LOOP")
    Fingerprints(store.table, store.clock).note(product, stored.sha256)
    validator = SpectrumValidator(store.table, objects, check, artifacts, store.clock)
    about = {"nova_id": nova_id, "data_product_id": data_product_id, "provider": "LOOP"}
    examination = validator.validate(ExamineSpectrum(**about, acquisition=acquired), run)
    recorder = SpectrumRecorder(store.table, objects.bucket, store.clock)
    found = Found(acquisition=acquired, examination=examination)
    recorder.record(RecordSpectrum(**about, found=found), run)


def _photometry(store: NovaStore, objects: Objects, nova_id: str) -> None:
    key = "raw/photometry/1/upload.csv"
    objects.write(key, CSV.encode(), "text/csv")
    read = UploadValidator(store, objects, store.clock).validate(nova_id, key)
    assert isinstance(read, UploadValid)
    upload = UploadObject(s3_key=key, etag=read.etag, byte_length=read.byte_length)
    asked = RebuildTable(nova_id=nova_id, file_id=read.file_id, upload=upload)
    TableRebuilder(store, objects, store.clock).rebuild(asked, task_run(workflow="ingest_photometry"))


def _runs(table: Table, nova_id: str, now: datetime) -> None:
    """Put the records of two runs: one has ended, one began a moment ago."""
    for run_id, status, age in (("ended", "SUCCEEDED", 120), ("open", "RUNNING", 5)):
        put_run(table, nova_id, run_id, status, now - timedelta(minutes=age))


def put_run(table: Table, nova_id: str, run_id: str, status: str, started: datetime) -> keys.Key:
    """Put the record of a run as the state machines write it."""
    moment = isoformat(started, "milliseconds")
    key = keys.job_run(nova_id, "ingest_new_nova", moment, run_id)
    table.put(
        {
            **key,
            "GSI1PK": keys.job_run_by_id(run_id),
            "GSI1SK": moment,
            "entity_type": "JobRun",
            "schema_version": "1",
            "job_run_id": run_id,
            "workflow_name": "ingest_new_nova",
            "execution_arn": f"arn:aws:states:us-east-1:123456789012:execution:ingest_new_nova:{run_id}",
            "nova_id": nova_id,
            "status": status,
            "timestamp": moment,
            "started_at": moment,
        }
    )
    return key


def _case(table: Table, objects: Objects, sns: SNSClient, clock: Clock) -> None:
    """Hold something for review."""
    topic = sns.create_topic(Name="quarantined")["TopicArn"]
    held = Held("AMBIGUOUS_NAME", "two stars are near", {"candidates": 2})
    quarantiner = Quarantiner(table, objects, sns, topic, logging.getLogger("test"), clock)  # type: ignore[arg-type]
    quarantiner.hold(task_run(), held, subject="V2 Test", retry_input={"name": "V2 Test"})
