"""Two novae that are one, one that is two, and one that is none."""

from __future__ import annotations

import logging
import os
import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import boto3
import pytest
from boto3.dynamodb.conditions import Key

from sourcebook.bucket.objects import Objects
from sourcebook.bucket.stored import FITS
from sourcebook.curation.curate import Curator, NovaBusy
from sourcebook.curation.messages import Action, Curated, CurateNova
from sourcebook.errors import InvalidInput, SourcebookError
from sourcebook.fits.model import SpectrumOutcome, Verdict
from sourcebook.integrity.checks import all_checks
from sourcebook.integrity.verify import Verifier
from sourcebook.integrity.walk import pages_of
from sourcebook.lightcurves.series import Series
from sourcebook.novae.establish import NovaEstablisher
from sourcebook.novae.model import nova_id_for, reference_id_for
from sourcebook.novae.read import NovaReader
from sourcebook.novae.resolvers.archive import ArchiveStatus
from sourcebook.novae.resolvers.identity import Identity
from sourcebook.novae.store import NovaStore
from sourcebook.photometry.messages import RebuildTable, UploadObject, UploadValid
from sourcebook.photometry.table import TableRebuilder, points_key
from sourcebook.photometry.upload import UploadValidator
from sourcebook.records.nova import NovaReference, Reference, ReferenceRole
from sourcebook.records.spectrum import Locator, LocatorKind
from sourcebook.spectra.discover import SpectraDiscoverer
from sourcebook.spectra.fingerprints import Fingerprints
from sourcebook.spectra.load import find_spectrum
from sourcebook.spectra.messages import Acquired, Examination, Found, RecordSpectrum
from sourcebook.spectra.products import data_product_id_for
from sourcebook.spectra.providers.provider import FoundProduct, Search
from sourcebook.spectra.record import SpectrumRecorder
from sourcebook.table import keys
from tests.faulty_client import FAULTS, Crash, FaultyBucket, FaultyClient
from tests.integration.astronomy import task_run
from tests.moto_table import MotoTable

if TYPE_CHECKING:
    from sourcebook.table.client import Table
    from tests.integration.astronomy import Clock

pytestmark = pytest.mark.integration

BUCKET = "sourcebook-data"
SEED: Final = int(os.environ.get("SOURCEBOOK_FAULT_SEED", "1"))
WHOLE: Final = "SOURCEBOOK_FAULT_SEEDS" in os.environ
"""Whether all fifty sequences are played, and long ones; a few short ones by default."""
SEQUENCES: Final = 50 if WHOLE else 2
OPERATIONS: Final = 22 if WHOLE else 12
SKY: Final = {
    "V1 Sco": (250.0, -35.0, "2012-06-00"),
    "V2 Sco": (251.0, -35.5, "2011-03-00"),
    "V3 Sgr": (270.0, -25.0, "2013-01-02"),
    "V4 Sgr": (271.0, -25.0, None),
}
PUBLISHED: Final = {
    "V1 Sco": "2012-06",
    "V2 Sco": "2011-03",
    "V3 Sgr": "2013-01-02",
    "V4 Sgr": "2015-02",
}
IDS: Final = {name: nova_id_for(f"simbad:{name.casefold()}") for name in SKY}


@dataclass
class World:
    """The catalogue, its bucket, and all that is done to both; of its calls one may fail."""

    clean: Table
    s3: Any
    clock: Clock
    fault: tuple[int, str] | None = None
    calls: int = 0
    done: list[Callable[[], object]] = field(default_factory=list)

    def __post_init__(self) -> None:
        client: Any = FaultyClient(self.clean.client, self._draw)
        bucket: Any = FaultyBucket(self.s3, self._draw)
        self.table = MotoTable(self.clean.name, client, sleep=lambda _: None, shards=self.clean.shards)
        self.store = NovaStore(self.table, self.clock)
        self.objects = Objects(bucket, BUCKET)
        self.curator = Curator(self.store, self.objects, self.clock)

    def _draw(self, operation: str) -> str:
        self.calls += 1
        return self.fault[1] if self.fault and self.fault[0] == self.calls else ""

    def attempt(self, act: Callable[[], object], fault: tuple[int, str] | None) -> bool:
        """Do something in whose course a call fails, and return whether it came to its end."""
        self.fault, self.calls = fault, 0
        try:
            act()
        except (Crash, SourcebookError):
            return False
        finally:
            self.fault = None
        return True

    def establish(self, name: str) -> str:
        ra, dec, _ = SKY[name]
        identity = Identity("simbad", f"simbad:{name.casefold()}", name, ra, dec, "No*", (f"PNV {name[:2]}",))
        nova_id = NovaEstablisher(self.store).establish(name, identity).nova_id
        assert nova_id is not None
        return nova_id

    def refer(self, name: str) -> None:
        """Store a publication, and the date that it gives."""
        nova_id = self.store.active(IDS[name]).nova_id
        reference_id = reference_id_for("ADS", name)
        now = self.clock()
        times: dict[str, Any] = {"created_at": now, "updated_at": now}
        reference = Reference(
            reference_id=reference_id,
            source="ADS",
            source_identifier=name,
            published_at=PUBLISHED[name],
            **times,
        )
        link = NovaReference(
            reference_id=reference_id, role=ReferenceRole.DISCOVERY, added_by_workflow="test", **times
        )
        self.table.create(reference.to_item(keys.reference(nova_id, reference_id)))
        self.table.create(link.to_item(keys.nova_reference(nova_id, reference_id)))

    def discover(self, name: str, *products: str) -> None:
        nova = self.store.active(IDS[name])
        found = tuple(
            FoundProduct(
                locators=(Locator(kind=LocatorKind.URL, value=f"https://loop.example/{one}.fits"),),
                provider_product_id=one,
            )
            for one in products
        )
        discoverer = SpectraDiscoverer(self.store, logging.getLogger("test"), self.clock)
        discoverer.register(nova, "LOOP", Search(ArchiveStatus.OK, found))

    def acquire(self, name: str, product: str, run_id: str) -> None:
        """Do what the workflow does with bytes that were found valid."""
        data_product_id = data_product_id_for("LOOP", f"provider_product_id:{product}")
        nova_id = IDS[name]
        found = find_spectrum(self.table, nova_id, data_product_id, "LOOP")
        stored = self.objects.write(f"raw/spectra/x/{product}", product.encode(), FITS)
        Fingerprints(self.table, self.clock).note(found, stored.sha256)
        acquired = Acquired(
            key=stored.key, byte_length=stored.byte_length, etag=stored.etag, sha256=stored.sha256
        )
        verdict = Verdict(outcome=SpectrumOutcome.VALID, fits_profile_id="TEST")
        examination = Examination(verdict=verdict, prefix=f"derived/spectra/{product}/")
        whole = Found(acquisition=acquired, examination=examination)
        run = task_run(run_id, workflow="acquire_and_validate_spectra", record=nova_id)
        SpectrumRecorder(self.table, BUCKET, self.clock).record(
            RecordSpectrum(nova_id=nova_id, data_product_id=data_product_id, provider="LOOP", found=whole),
            run,
        )

    def measure(self, name: str, number: int) -> None:
        """Ingest an upload of two measurements."""
        text = (
            f"jd,mag,band,observer\n{2456079 + number}.5,11.{number},V,Ada\n{2456080 + number}.5,12.1,B,Bo\n"
        )
        key = f"raw/photometry/{number}/upload.csv"
        self.objects.write(key, text.encode(), "text/csv")
        read = UploadValidator(self.store, self.objects, self.clock).validate(IDS[name], key)
        if isinstance(read, UploadValid):
            upload = UploadObject(s3_key=key, etag=read.etag, byte_length=read.byte_length)
            asked = RebuildTable(nova_id=read.nova_id, file_id=read.file_id, upload=upload)
            TableRebuilder(self.store, self.objects, self.clock).rebuild(asked)

    def decide(self, action: Action, name: str, into: str | None = None) -> Curated:
        target = None if into is None else IDS[into]
        return self.curator.curate(
            CurateNova(action=action, nova_id=IDS[name], into=target, reason="it is the same star")
        )

    def items(self) -> list[dict[str, Any]]:
        return [item for page in pages_of(self.clean, segments=1) for item in page]

    def magnitudes(self, name: str) -> list[float]:
        body = self.objects.read(points_key(IDS[name]), 10**8).body
        return sorted(point["magnitude"] for point in Series.read(body).select(most=1_000).points)

    def problems(self) -> list[str]:
        verifier = Verifier(self.clean, all_checks(self.clean, self.clock, self.s3), patience=0)
        return [f"{r.finding.key} {r.finding.problem}" for r in verifier.run()]


@pytest.fixture
def world(table: Table, aws: None, clock: Clock) -> World:
    s3 = boto3.client("s3")
    s3.create_bucket(Bucket=BUCKET)
    return World(table, s3, clock)


def furnish(world: World, name: str, number: int) -> None:
    world.establish(name)
    world.table.update(keys.nova(IDS[name]), assign={"discovery_date": SKY[name][2]})
    world.refer(name)
    world.discover(name, f"{name}-1", f"{name}-2")
    world.acquire(name, f"{name}-1", f"run-{name}")
    world.measure(name, number)


def partition(world: World, name: str) -> dict[str, dict[str, Any]]:
    return {row["SK"]: row for row in world.clean.query_all(Key("PK").eq(IDS[name]), consistent=True)}


def spectra(world: World, name: str) -> set[str]:
    return {
        row["provider_product_id"] for key, row in partition(world, name).items() if "#SPECTRA#LOOP" in key
    }


def test_a_merge_brings_everything_together_and_a_split_apart(world: World) -> None:
    furnish(world, "V1 Sco", 1)
    furnish(world, "V2 Sco", 2)
    before = {name: partition(world, name) for name in ("V1 Sco", "V2 Sco")}

    result = world.decide(Action.MERGE, "V2 Sco", "V1 Sco")

    assert result.outcome == "MERGED"
    assert result.moved["spectra"] == 2
    assert result.moved["uploads"] == result.moved["references"] == 1
    assert spectra(world, "V1 Sco") == {"V1 Sco-1", "V1 Sco-2", "V2 Sco-1", "V2 Sco-2"}
    assert spectra(world, "V2 Sco") == set()
    assert world.magnitudes("V1 Sco") == [11.1, 11.2, 12.1, 12.1]
    reader = NovaReader(world.clean)
    for name in ("V1 Sco", "V2 Sco"):
        found = reader.by_name(name)
        assert (found["match"], found["items"][0]["nova_id"]) == ("ONE", IDS["V1 Sco"])
    one = reader.get(IDS["V1 Sco"])
    assert one is not None
    assert one["discovery_date"] == "2011-03-00"
    assert {"V1 Sco", "V2 Sco"} <= {entry["name"] for entry in one["names"]}
    gone = reader.get(IDS["V2 Sco"])
    assert gone is not None
    assert (gone["status"], gone["merged_into"]) == ("MERGED", IDS["V1 Sco"])
    assert gone["status_reason"] == "it is the same star"
    roles = [row["role"] for key, row in partition(world, "V1 Sco").items() if key.startswith("NOVAREF#")]
    assert sorted(roles) == ["DISCOVERY", "OTHER"]
    assert world.problems() == []
    # What is found for either of them now is of the one that stays.
    world.discover("V2 Sco", "V2 Sco-1", "V2 Sco-3")
    assert "V2 Sco-3" in spectra(world, "V1 Sco")
    assert len(spectra(world, "V1 Sco")) == 5
    assert world.decide(Action.MERGE, "V2 Sco", "V1 Sco").moved == {}

    assert world.decide(Action.SPLIT, "V2 Sco").outcome == "SPLIT"

    assert spectra(world, "V2 Sco") == {"V2 Sco-1", "V2 Sco-2"}
    assert world.magnitudes("V1 Sco") == [11.1, 12.1]
    assert world.magnitudes("V2 Sco") == [11.2, 12.1]
    assert world.problems() == []
    assert reader.by_name("V2 Sco")["items"][0]["nova_id"] == IDS["V2 Sco"]
    for name, rows in before.items():
        after = partition(world, name)
        assert {key for key in rows if "V2 Sco-3" not in key} <= set(after)
        assert after["NOVA"]["discovery_date"] == rows["NOVA"]["discovery_date"]
        same = [key for key in rows if key.startswith(("NAME#", "NOVAREF#", "REF#"))]
        assert {key: after[key].get("role") for key in same} == {key: rows[key].get("role") for key in same}
    assert world.decide(Action.SPLIT, "V2 Sco").moved == {}


def test_merges_of_merges_are_undone_from_the_last(world: World) -> None:
    for number, name in enumerate(SKY):
        furnish(world, name, number)
    world.decide(Action.MERGE, "V1 Sco", "V2 Sco")
    world.decide(Action.MERGE, "V2 Sco", "V3 Sgr")
    assert world.store.active(IDS["V1 Sco"]).nova_id == IDS["V3 Sgr"]
    assert len(spectra(world, "V3 Sgr")) == 6
    world.acquire("V1 Sco", "V1 Sco-2", "late")  # it was under way
    for refused, into in (("V1 Sco", "V4 Sgr"), ("V4 Sgr", "V2 Sco"), ("V4 Sgr", "V4 Sgr")):
        with pytest.raises(InvalidInput):
            world.decide(Action.MERGE, refused, into)
    with pytest.raises(InvalidInput, match="merged into an active one"):
        world.decide(Action.SPLIT, "V1 Sco")
    assert world.problems() == []
    world.decide(Action.SPLIT, "V2 Sco")
    assert len(spectra(world, "V2 Sco")) == 4
    world.decide(Action.SPLIT, "V1 Sco")
    assert [len(spectra(world, name)) for name in SKY] == [2, 2, 2, 2]
    valid = [row for row in partition(world, "V1 Sco").values() if row.get("validation_status") == "VALID"]
    assert len(valid) == 2
    assert world.problems() == []


def test_a_false_nova_is_deprecated_and_may_come_back(world: World) -> None:
    furnish(world, "V1 Sco", 1)
    assert world.decide(Action.DEPRECATE, "V1 Sco").outcome == "DEPRECATED"
    assert world.decide(Action.DEPRECATE, "V1 Sco").outcome == "DEPRECATED"
    assert NovaReader(world.clean).by_name("V1 Sco")["match"] == "NONE"
    with pytest.raises(SourcebookError):
        world.establish("V1 Sco")
    world.establish("V2 Sco")
    with pytest.raises(InvalidInput):
        world.decide(Action.MERGE, "V2 Sco", "V1 Sco")
    assert world.problems() == []
    assert world.decide(Action.RESTORE, "V1 Sco").outcome == "RESTORED"
    assert NovaReader(world.clean).by_name("V1 Sco")["match"] == "ONE"
    world.decide(Action.DEPRECATE, "V2 Sco")
    with pytest.raises(InvalidInput):
        world.decide(Action.SPLIT, "V2 Sco")


def test_a_nova_that_is_being_merged_is_left_alone_and_reported(world: World) -> None:
    for name in ("V1 Sco", "V2 Sco", "V3 Sgr"):
        furnish(world, name, 1)
    assert not world.attempt(lambda: world.decide(Action.MERGE, "V1 Sco", "V2 Sco"), (12, "crash"))
    assert "half merged" in " ".join(world.problems())
    for action, name, into in (
        (Action.MERGE, "V3 Sgr", "V2 Sco"),
        (Action.MERGE, "V2 Sco", "V3 Sgr"),
        (Action.DEPRECATE, "V2 Sco", None),
    ):
        with pytest.raises(NovaBusy):
            world.decide(action, name, into)
    world.decide(Action.MERGE, "V1 Sco", "V2 Sco")
    assert world.problems() == []


@pytest.mark.parametrize("number", range(SEQUENCES))
def test_random_sequences_with_crashes_leave_a_whole_catalogue(world: World, number: int) -> None:
    draw = random.Random(f"{SEED}:{number}")
    names = list(SKY)
    for name in names:
        world.establish(name)
    unfinished: list[Callable[[], object]] = []
    for step in range(OPERATIONS):
        name, other = draw.sample(names, 2)
        product = f"p{draw.randrange(6)}"
        (act,) = draw.choices(acts(world, name, other, product, step), [1, 2, 4, 3, 3, 5, 3, 1, 1])
        fault = (draw.randrange(1, 40), draw.choice(FAULTS)) if draw.random() < 0.6 else None
        if not world.attempt(act, fault):
            unfinished.append(act)
            if draw.random() < 0.5:  # whoever asked tries again at once
                world.attempt(act, None)
    settle(world)
    for act in unfinished:
        # What was cut short is done again, as retries and the next discovery do.
        with suppress(SourcebookError):
            act()
    settle(world)

    assert world.problems() == []
    items = world.items()
    products = [item for item in items if item["entity_type"] == "DataProduct"]
    assert max(Counter(item["data_product_id"] for item in products).values(), default=1) == 1
    status = {item["nova_id"]: item["status"] for item in items if item["entity_type"] == "Nova"}
    for item in products:
        assert item["PK"] == item["nova_id"]
        assert item["product_type"] == "PHOTOMETRY_TABLE" or status[item["PK"]] != "MERGED"
    files = [item for item in items if item["SK"].startswith("FILE#SPECTRA#")]
    homes = {item["data_product_id"]: item["PK"] for item in products}
    assert all(homes[item["data_product_id"]] == item["PK"] for item in files)


def acts(world: World, name: str, other: str, product: str, step: int) -> list[Callable[[], object]]:
    """Return what may be done next."""
    return [
        lambda: world.establish(name),
        lambda: world.refer(name),
        lambda: world.discover(name, product, f"{name}-own"),
        lambda: world.acquire(name, product, f"run-{step}"),
        lambda: world.measure(name, step),
        lambda: world.decide(Action.MERGE, name, other),
        lambda: world.decide(Action.SPLIT, name),
        lambda: world.decide(Action.DEPRECATE, name),
        lambda: world.decide(Action.RESTORE, name),
    ]


def settle(world: World) -> None:
    """Ask again for whatever was cut short half-way, as `verify` says."""
    by_id = {nova_id: name for name, nova_id in IDS.items()}
    for item in world.items():
        if item["entity_type"] != "MergedNova" or item["state"] not in {"MERGING", "SPLITTING"}:
            continue
        action = Action.MERGE if item["state"] == "MERGING" else Action.SPLIT
        source, target = by_id[item["merged_nova_id"]], by_id[item["nova_id"]]
        world.decide(action, source, target if action is Action.MERGE else None)
