"""Uploads of photometry, from the object in the bucket to the one table of a nova."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import boto3
import pyarrow.parquet as pq
import pytest
from boto3.dynamodb.conditions import Key

from sourcebook.bucket.objects import Body, BucketBusy, DocumentRefused, ObjectChanged, Objects
from sourcebook.bucket.stored import StoredObject
from sourcebook.errors import InvalidInput
from sourcebook.lightcurves.parquet import NotATable, read_table
from sourcebook.lightcurves.series import Series
from sourcebook.novae.establish import NovaEstablisher
from sourcebook.novae.model import photometry_id_for
from sourcebook.novae.resolvers.identity import Identity
from sourcebook.novae.store import NoSuchNova, NovaStore
from sourcebook.photometry import table as photometry_table
from sourcebook.photometry.messages import RebuildTable
from sourcebook.photometry.table import (
    TableContended,
    TableFull,
    TableRebuilder,
    points_key,
    snapshot_key,
    table_key,
)
from sourcebook.photometry.upload import NothingUsable, UploadValidator, ingested
from sourcebook.records.product import PhotometryTable
from sourcebook.table import keys
from tests.integration.astronomy import Clock, task_run
from tests.unit.lightcurves.uploads import extended

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.integration

BUCKET = "sourcebook-data"
CSV = "jd,mag,err,band,observer\n2456079.9,11.1,0.01,V,Ada\n2456080.9,<15.2,,B,Ada\n"
OTHER = "mjd,mag,band,observer\n56079.4,11.10,V,\n56090.5,12.5,V,Bo\n"


@dataclass
class Desk:
    """What the two tasks of the workflow do, one after the other."""

    store: NovaStore
    objects: Objects
    clock: Clock
    nova_id: str
    number: int = 0
    keys: list[str] = field(default_factory=list)

    def upload(self, text: str | bytes) -> str:
        self.number += 1
        key = f"raw/photometry/{self.number}/upload.csv"
        self.objects.write(key, text.encode() if isinstance(text, str) else text, "text/csv")
        return key

    def validate(self, text: str | bytes) -> dict[str, Any]:
        validator = UploadValidator(self.store, self.objects, self.clock)
        return dict(validator.validate(self.nova_id, self.upload(text)).to_json())

    def rebuild(self, validated: dict[str, Any], objects: Objects | None = None) -> dict[str, Any]:
        upload = {"s3_key": f"raw/photometry/{self.number}/upload.csv", "etag": validated["etag"]}
        asked = RebuildTable.of_json(
            {
                "nova_id": self.nova_id,
                "file_id": validated["file_id"],
                "upload": {**upload, "byte_length": validated["byte_length"]},
            }
        )
        rebuilder = TableRebuilder(self.store, objects or self.objects, self.clock)
        return dict(rebuilder.rebuild(asked, task_run(workflow="ingest_photometry")).to_json())

    def ingest(self, text: str | bytes) -> dict[str, Any]:
        validated = self.validate(text)
        return validated if validated["outcome"] == "SKIPPED_DUPLICATE" else self.rebuild(validated)

    def item(self) -> PhotometryTable:
        item = self.store.table.get(keys.photometry_table(self.nova_id), consistent=True)
        assert item is not None
        return PhotometryTable.of_item(item)

    def magnitudes(self) -> list[float | None]:
        body = self.objects.read(table_key(self.nova_id), 10**8).body
        return [one.magnitude for one in read_table(body).measurements]

    def points(self) -> list[float]:
        body = self.objects.read(points_key(self.nova_id), 10**8).body
        return [point["magnitude"] for point in Series.read(body).select(most=1_000).points]


@pytest.fixture
def objects(aws: None) -> Objects:
    client = boto3.client("s3")
    client.create_bucket(Bucket=BUCKET)
    return Objects(client, BUCKET)


@pytest.fixture
def desk(store: NovaStore, objects: Objects, clock: Clock) -> Desk:
    made = NovaEstablisher(store).establish(
        "Nova Sco 2012 No. 1",
        Identity("simbad", "simbad:v1324 sco", "V1324 Sco", 267.72458, -32.62236, "No*"),
    )
    assert made.nova_id is not None
    return Desk(store, objects, clock, made.nova_id)


def test_an_upload_becomes_the_table_its_twin_and_pointers(desk: Desk) -> None:
    told = desk.ingest(CSV)
    assert told == {
        "outcome": "INGESTED",
        "nova_id": desk.nova_id,
        "file_id": told["file_id"],
        "added": 2,
        "known_before": 0,
        "table_rows": 2,
        "ingestion_count": 1,
    }
    assert desk.magnitudes() == [11.1, 15.2]
    assert desk.points() == [11.1, 15.2]
    item = desk.item()
    assert (item.s3_bucket, item.s3_key) == (
        BUCKET,
        f"derived/photometry/{desk.nova_id}/photometry_table.parquet",
    )
    assert (item.ingestion_count, item.row_count, item.bands) == (1, 2, {"B": 1, "V": 1})
    assert (item.mjd_min, item.mjd_max) == (56079.4, 56080.4)
    assert item.last_ingested_file_id == told["file_id"]
    assert item.last_ingestion_source == "raw/photometry/1/upload.csv"
    own = Key("PK").eq(desk.nova_id) & Key("SK").begins_with("FILE#PHOTOMETRY_TABLE#")
    roles = [
        (row["role"], row["name"], row["created_by"]["job_run_id"]) for row in desk.store.table.query_all(own)
    ]
    assert roles == [
        ("DATA_BUNDLE", told["file_id"], "run-1"),
        ("MANIFEST", told["file_id"], "run-1"),
        ("NORMALIZED", "photometry_table", "run-1"),
        ("NORMALIZED", "points", "run-1"),
    ]


def test_the_same_file_again_is_skipped_also_under_another_key_and_after_others(desk: Desk) -> None:
    first = desk.ingest(CSV)
    desk.ingest(OTHER)
    before = desk.objects.state(table_key(desk.nova_id))
    again = desk.ingest(CSV)
    assert (again["outcome"], again["file_id"]) == ("SKIPPED_DUPLICATE", first["file_id"])
    assert again["ingested_at"] == "2026-11-27T21:00:00Z"
    assert desk.objects.state(table_key(desk.nova_id)) == before
    assert desk.item().ingestion_count == 2


def test_what_several_uploads_have_is_in_the_table_once(desk: Desk) -> None:
    desk.ingest(CSV)
    told = desk.ingest(OTHER)
    assert (told["added"], told["known_before"], told["table_rows"], told["ingestion_count"]) == (1, 1, 3, 2)
    assert desk.magnitudes() == [11.1, 15.2, 12.5]
    assert desk.points() == [11.1, 15.2, 12.5]


def test_bad_rows_are_in_the_report_and_the_good_go_on(desk: Desk) -> None:
    told = desk.validate("jd,mag,band\n2456079.9,11.1,V\n2456079.9,x,V\n1,11,V\n2456079.9,11.1,V\n")
    counts = {name: told[name] for name in ("rows", "accepted", "duplicates", "rejected")}
    assert counts == {"rows": 4, "accepted": 1, "duplicates": 1, "rejected": 2}
    assert [problem.partition(":")[0] for problem in told["problems"]] == ["row 3", "row 4"]
    report = json.loads(desk.objects.read(told["report_key"], 10**6).body)
    assert [(error["row"], error["field"]) for error in report["errors"]] == [(3, "mag"), (4, "jd")]
    assert desk.rebuild(told)["table_rows"] == 1


def test_an_upload_without_one_good_row_is_refused_and_has_a_report(desk: Desk) -> None:
    with pytest.raises(NothingUsable, match=r"none of the 2 rows .*row 2: mag"):
        desk.validate("jd,mag,band\n2456079.9,x,V\n2456079.9,y,V\n")
    listed = desk.objects.client.list_objects_v2(Bucket=BUCKET, Prefix="derived/photometry/")["Contents"]
    assert [entry["Key"].rpartition("/")[2] for entry in listed] == ["report.json"]


def test_rows_of_other_stars_are_refused_and_every_name_of_the_nova_is_taken(desk: Desk) -> None:
    told = desk.validate(
        extended(NAME="V* V1324 SCORPII")
        + extended(NAME="nova sco 2012 no. 1", MAG="11.2").splitlines()[-1]
        + "\n"
        + extended(NAME="Nova Sco 2012", MAG="11.3").splitlines()[-1]
        + "\n"
        + extended(NAME="SS CYG", MAG="11.4").splitlines()[-1]
        + "\n"
        + extended(NAME="***", MAG="11.5").splitlines()[-1]
    )
    assert (told["accepted"], told["rejected"]) == (2, 3)
    assert "'Nova Sco 2012'" in told["problems"][0], "that is one of several"


def test_what_cannot_be_read_as_a_whole_is_refused(desk: Desk) -> None:
    with pytest.raises(InvalidInput, match="VOTable"):
        desk.validate('<!DOCTYPE v [<!ENTITY x SYSTEM "file:///etc/passwd">]><VOTABLE>&x;</VOTABLE>')
    validator = UploadValidator(desk.store, desk.objects)
    for key in ("raw/spectra/x", "raw/photometry/../spectra/x", ""):
        with pytest.raises(InvalidInput, match="s3_key"):
            validator.validate(desk.nova_id, key)
    with pytest.raises(DocumentRefused, match="NoSuchKey"):
        validator.validate(desk.nova_id, "raw/photometry/none.csv")
    with pytest.raises(NoSuchNova):
        validator.validate("00000000-0000-0000-0000-000000000000", "raw/photometry/none.csv")


@dataclass(frozen=True)
class Interrupted(Objects):
    """A bucket in which something happens just before a conditional write of one object."""

    before: Callable[[], Any] = lambda: None
    key: str = ""
    done: list[str] = field(default_factory=list)

    def _put(
        self, key: str, body: Body, content_type: str, metadata: Any, condition: dict[str, Any]
    ) -> StoredObject:
        if key == self.key and condition and not self.done:
            self.done.append(key)
            self.before()
        return Objects._put(self, key, body, content_type, metadata, condition)


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize("which", [table_key, points_key])
def test_two_uploads_at_once_lose_nothing(desk: Desk, there: bool, which: Callable[[str], str]) -> None:
    if there:
        desk.ingest("mjd,mag,band\n56000.5,10.0,V\n")
    slow, fast = desk.validate(CSV), desk.validate(OTHER)
    interrupted = Interrupted(
        desk.objects.client, BUCKET, before=lambda: desk.rebuild(fast), key=which(desk.nova_id)
    )
    told = desk.rebuild(slow, interrupted)
    assert interrupted.done
    expected = [10.0, 11.1, 15.2, 12.5] if there else [11.1, 15.2, 12.5]
    assert desk.magnitudes() == expected
    assert desk.points() == expected
    item = desk.item()
    assert (item.ingestion_count, item.row_count) == (
        len(expected) - 1 - (not there) + (not there),
        len(expected),
    ) or (item.row_count == len(expected))
    assert item.ingestion_count == (3 if there else 2)
    assert told["outcome"] == "INGESTED"
    for one in (slow, fast):
        assert ingested(desk.store, desk.nova_id, one["file_id"]) is not None


def test_one_that_is_overtaken_every_time_gives_up_for_now(desk: Desk) -> None:
    @dataclass(frozen=True)
    class Overtaken(Objects):
        def _put(
            self, key: str, body: Body, content_type: str, metadata: Any, condition: dict[str, Any]
        ) -> StoredObject:
            if condition and key.endswith(".parquet"):
                raise ObjectChanged(key)
            return Objects._put(self, key, body, content_type, metadata, condition)

    desk.ingest(CSV)
    with pytest.raises(TableContended):
        desk.rebuild(desk.validate(OTHER), Overtaken(desk.objects.client, BUCKET))
    assert desk.magnitudes() == [11.1, 15.2]


@pytest.mark.parametrize("failing", ["photometry_table.parquet", "points.json.gz", "item"])
def test_a_task_that_was_cut_short_is_repeated_and_comes_to_the_same(
    desk: Desk, failing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    @dataclass(frozen=True)
    class Breaking(Objects):
        def _put(
            self, key: str, body: Body, content_type: str, metadata: Any, condition: dict[str, Any]
        ) -> StoredObject:
            written = Objects._put(self, key, body, content_type, metadata, condition)
            if key.endswith(failing):
                raise BucketBusy(f"{key}: the answer was lost")
            return written

    validated = desk.validate(CSV)
    if failing == "item":
        monkeypatch.setattr(
            TableRebuilder, "_note", lambda *_, **__: (_ for _ in ()).throw(BucketBusy("cut"))
        )
    with pytest.raises(BucketBusy):
        desk.rebuild(validated, Breaking(desk.objects.client, BUCKET))
    monkeypatch.undo()
    assert ingested(desk.store, desk.nova_id, validated["file_id"]) is None
    told = desk.rebuild(validated)
    assert (told["outcome"], told["added"], told["table_rows"], told["ingestion_count"]) == (
        "INGESTED",
        2,
        2,
        1,
    )
    assert desk.points() == [11.1, 15.2]
    assert desk.item().ingestion_count == 1
    recorded = Key("PK").eq(desk.nova_id) & Key("SK").begins_with(
        keys.files_of("PHOTOMETRY_TABLE", photometry_id_for(desk.nova_id))
    )
    names = {item["name"] for item in desk.store.table.query_all(recorded) if item["role"] == "NORMALIZED"}
    assert names == {"photometry_table", "points"}
    assert desk.ingest(CSV)["outcome"] == "SKIPPED_DUPLICATE"


def test_a_change_of_the_schema_keeps_the_last_table_of_the_old_one(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sourcebook.lightcurves import parquet

    monkeypatch.setattr(parquet, "TABLE_SCHEMA", "0")
    desk.ingest(CSV)
    old = desk.objects.read(table_key(desk.nova_id), 10**8).body
    monkeypatch.undo()
    desk.ingest(OTHER)
    kept = desk.objects.read(snapshot_key(desk.nova_id, "0"), 10**8).body
    assert kept == old
    assert "/snapshots/schema=0/" in snapshot_key(desk.nova_id, "0")
    now = read_table(desk.objects.read(table_key(desk.nova_id), 10**8).body)
    assert (now.schema_version, len(now.measurements)) == ("1", 3)
    desk.ingest("mjd,mag,band\n56000.5,10.0,V\n")
    listed = desk.objects.client.list_objects_v2(
        Bucket=BUCKET, Prefix=f"derived/photometry/{desk.nova_id}/snapshots/"
    )
    assert listed["KeyCount"] == 1, "without a change there is no snapshot"


def test_a_table_that_cannot_be_read_is_not_overwritten(desk: Desk) -> None:
    desk.ingest(CSV)
    desk.objects.write(table_key(desk.nova_id), b"spoilt", "application/octet-stream")
    with pytest.raises(NotATable):
        desk.ingest(OTHER)
    assert desk.objects.read(table_key(desk.nova_id), 100).body == b"spoilt"


def test_a_table_is_made_anew_without_an_upload_that_should_not_be_there(desk: Desk) -> None:
    first, _ = desk.ingest(CSV), desk.ingest(OTHER)
    rebuilder = TableRebuilder(desk.store, desk.objects, desk.clock)
    told = rebuilder.remake(desk.nova_id, without=[first["file_id"]])
    assert (len(told.measurements), len(told.uploads)) == (2, 1)
    assert desk.magnitudes() == desk.points() == [11.1, 12.5]
    item = desk.item()
    assert (item.row_count, item.ingestion_count, item.table_revision) == (2, 1, 3)
    again = desk.ingest(CSV)
    assert (again["outcome"], again["added"], again["table_rows"]) == ("INGESTED", 1, 3)
    assert desk.points() == [11.1, 15.2, 12.5]
    with pytest.raises(InvalidInput, match="the id of an upload of this nova"):
        rebuilder.remake(desk.nova_id, without=["x"])


def test_a_table_that_cannot_be_read_is_made_anew_of_its_uploads(desk: Desk) -> None:
    desk.ingest(CSV)
    desk.ingest(OTHER)
    desk.objects.write(table_key(desk.nova_id), b"spoilt", "application/octet-stream")
    TableRebuilder(desk.store, desk.objects, desk.clock).remake(desk.nova_id)
    assert desk.magnitudes() == [11.1, 15.2, 12.5]
    assert desk.ingest("mjd,mag,band\n56000.5,10.0,V\n")["table_rows"] == 4
    assert desk.points() == [10.0, 11.1, 15.2, 12.5]


def test_a_table_with_no_upload_left_is_empty(desk: Desk) -> None:
    told = desk.ingest(CSV)
    TableRebuilder(desk.store, desk.objects, desk.clock).remake(desk.nova_id, without=[told["file_id"]])
    assert (desk.magnitudes(), desk.points(), desk.item().row_count) == ([], [], 0)
    assert (desk.item().mjd_min, desk.item().bands) == (None, {})


def test_a_table_has_a_largest_size(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(photometry_table, "MOST_ROWS", 2)
    desk.ingest(CSV)
    with pytest.raises(TableFull, match="3 measurements; a table takes 2"):
        desk.ingest(OTHER)


def test_the_table_is_plain_parquet_for_others(desk: Desk) -> None:
    desk.ingest(CSV)
    table = pq.read_table(io.BytesIO(desk.objects.read(table_key(desk.nova_id), 10**8).body))
    assert table.num_rows == 2
    assert table.column("upper_limit").to_pylist() == [False, True]
