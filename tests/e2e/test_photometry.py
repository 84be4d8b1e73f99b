"""Photometry on the deployed stack: uploads become one table, and the API serves its points and spectra."""

from __future__ import annotations

import hashlib
import io
import logging
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from sourcebook.bucket.objects import Objects
from sourcebook.bucket.stored import FITS
from sourcebook.fits.artifacts import artifacts
from sourcebook.fits.check import check
from sourcebook.novae.establish import NovaEstablisher
from sourcebook.novae.model import photometry_id_for
from sourcebook.novae.resolvers.archive import ArchiveStatus
from sourcebook.novae.resolvers.identity import Identity
from sourcebook.novae.store import NovaStore
from sourcebook.records.spectrum import Locator, LocatorKind
from sourcebook.runs.tasks import TaskRun
from sourcebook.spectra.discover import SpectraDiscoverer
from sourcebook.spectra.fingerprints import Fingerprints
from sourcebook.spectra.load import find_spectrum
from sourcebook.spectra.messages import Acquired, ExamineSpectrum, Found, RecordSpectrum
from sourcebook.spectra.products import data_product_id_for
from sourcebook.spectra.providers.provider import FoundProduct, Search
from sourcebook.spectra.record import SpectrumRecorder
from sourcebook.spectra.validate import SpectrumValidator
from sourcebook.table.client import Table
from sourcebook_cli.photometry import hand_in
from sourcebook_cli.stack import Stack as OperatorsStack
from sourcebook_local.astronomy.light_curve import SAMPLE_LIGHT_CURVE
from sourcebook_local.outputs import stack_outputs
from tests.e2e.stack import wait_until
from tests.e2e.test_novae import Catalogue, attempts
from tests.unit.fits import made
from tests.unit.lightcurves.uploads import extended

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.stack import Stack

WORKFLOW = "ingest_photometry"


@dataclass(frozen=True)
class Observatory:
    """A nova of its own on the deployed stack, and ways to hand in what was measured of it."""

    catalogue: Catalogue
    nova_id: str
    name: str

    @property
    def stack(self) -> Stack:
        return self.catalogue.stack

    @property
    def bucket(self) -> str:
        return self.stack.outputs.bucket_name

    def put(self, key: str, body: bytes) -> str:
        self.stack.session.client("s3").put_object(Bucket=self.bucket, Key=key, Body=body)
        return key

    def read(self, key: str) -> bytes:
        return bytes(self.stack.session.client("s3").get_object(Bucket=self.bucket, Key=key)["Body"].read())

    def upload(self, text: str) -> str:
        return self.put(f"raw/photometry/{uuid.uuid4()}/night.csv", text.encode())

    def runs(self, inputs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Start a run for each of these inputs at once, and return their job runs at the end."""
        arns = [self.catalogue.start(WORKFLOW, payload) for payload in inputs]
        for arn in arns:
            self.catalogue.ended(arn)
        return [self.catalogue.run_of(arn) for arn in arns]

    def ingest(self, text: str) -> dict[str, Any]:
        (run,) = self.runs([{"nova_id": self.nova_id, "s3_key": self.upload(text)}])
        return run

    def curve(self, query: str = "") -> dict[str, Any]:
        return self.catalogue.get(f"/novae/{self.nova_id}/photometry{query}")


@pytest.fixture(scope="module")
def catalogue(stack: Stack) -> Catalogue:
    return Catalogue(stack, "")


@pytest.fixture
def observatory(catalogue: Catalogue) -> Observatory:
    """A new nova for each test, at a place where none is."""
    stack = catalogue.stack
    table = Table(stack.outputs.table_name, stack.session.client("dynamodb"))
    number = uuid.uuid4().int
    name = f"LPBP {number % 10**12}"
    place = (number % 359_000) / 1_000, (number % 170_000) / 1_000 - 85
    found = NovaEstablisher(NovaStore(table)).establish(
        name, Identity("simbad", f"simbad:{name}", name, *place, "No*")
    )
    assert found.nova_id is not None
    return Observatory(catalogue, found.nova_id, name)


def csv(*rows: str) -> str:
    return "\n".join(("jd,mag,err,band,observer", *rows)) + "\n"


def test_an_upload_becomes_the_light_curve_and_the_same_object_again_is_skipped(
    observatory: Observatory,
) -> None:
    key = observatory.upload(
        csv(
            "2456079.9,11.1,0.01,V,Ada", "2456080.9,<15.2,,B,Ada", "56081.4,11.3,,V,Ada", "2456079.9,11.1,,V,"
        )
    )
    payload = {"nova_id": observatory.nova_id, "s3_key": key}
    (run,) = observatory.runs([payload])
    assert (run["status"], run["outcome"], run["subject"]) == ("SUCCEEDED", "INGESTED", key), run
    result = run["result"]
    counts = {
        name: result[name] for name in ("rows", "accepted", "duplicates", "rejected", "added", "table_rows")
    }
    assert counts == {"rows": 4, "accepted": 2, "duplicates": 1, "rejected": 1, "added": 2, "table_rows": 2}
    assert result["problems"][0].startswith("row 4: jd: '56081.4' is not valid")
    for task in ("Find the nova", "Validate the rows", "Rebuild the table"):
        assert attempts(run, task) == [(1, "SUCCEEDED", None)]
    assert b'"row": 4' in observatory.read(result["report_key"])

    (again,) = observatory.runs([payload])
    assert (again["status"], again["outcome"]) == ("SUCCEEDED", "SKIPPED_DUPLICATE")
    assert again["result"]["file_id"] == result["file_id"]
    assert attempts(again, "Rebuild the table") == []

    curve = observatory.curve()
    assert [(p["mjd"], p["band"], p["magnitude"], p["upper_limit"]) for p in curve["items"]] == [
        (56079.4, "V", 11.1, False),
        (56080.4, "B", 15.2, True),
    ]
    assert (curve["matched"], curve["thinned"], curve["ingestion_count"]) == (2, False, 1)
    assert len(observatory.curve("?include_upper_limits=false")["items"]) == 1
    assert observatory.curve("?band=B&since=2012-06-02")["bands"] == {"B": 1}
    (product,) = observatory.catalogue.get(f"/novae/{observatory.nova_id}/products")["items"]
    assert (product["product_type"], product["row_count"]) == ("PHOTOMETRY_TABLE", 2)
    whole = observatory.catalogue.get(f"/novae/{observatory.nova_id}/products/{product['data_product_id']}")
    files = {file["role"]: file["key"] for file in whole["files"]}
    assert files["DATA_BUNDLE"] == key
    table = pq.read_table(
        io.BytesIO(observatory.read(f"derived/photometry/{observatory.nova_id}/photometry_table.parquet"))
    )
    assert table.column("magnitude").to_pylist() == [11.1, 15.2]
    runs = observatory.catalogue.get(f"/novae/{observatory.nova_id}/job-runs")["items"]
    assert [one["outcome"] for one in runs] == ["SKIPPED_DUPLICATE", "INGESTED"]


def test_uploads_at_once_lose_nothing(observatory: Observatory) -> None:
    keys = [
        observatory.upload(csv(*(f"{2456000.5 + 100 * part + n},1{part}.{n},,V,O{part}" for n in range(5))))
        for part in range(4)
    ]
    runs = observatory.runs([{"nova_id": observatory.nova_id, "s3_key": key} for key in [*keys, keys[0]]])
    assert [run["status"] for run in runs] == ["SUCCEEDED"] * 5, runs
    outcomes = sorted(run["outcome"] for run in runs)
    assert outcomes == ["INGESTED"] * 4 + ["SKIPPED_DUPLICATE"]
    curve = observatory.curve()
    assert (curve["table_rows"], curve["ingestion_count"], len(curve["items"])) == (20, 4, 20)
    (product,) = observatory.catalogue.get(f"/novae/{observatory.nova_id}/products")["items"]
    assert product["row_count"] == 20
    table = pq.read_table(
        io.BytesIO(observatory.read(f"derived/photometry/{observatory.nova_id}/photometry_table.parquet"))
    )
    assert table.num_rows == 20


def test_a_name_finds_the_nova_and_rows_of_other_stars_are_refused(observatory: Observatory) -> None:
    own, other = extended(NAME=observatory.name), extended(NAME="SS CYG", MAG="9.9").splitlines()[-1]
    key = observatory.upload(f"{own}{other}\n")
    (run,) = observatory.runs([{"name": observatory.name.lower(), "s3_key": key}])
    assert (run["outcome"], run["nova_id"]) == ("INGESTED", observatory.nova_id), run
    assert (run["result"]["accepted"], run["result"]["rejected"]) == (1, 1)
    assert "NAME: 'SS CYG'" in run["result"]["problems"][0]
    assert observatory.curve()["items"][0]["time_scale"] == "UTC"


def test_what_cannot_be_ingested_fails_and_says_why(observatory: Observatory) -> None:
    hostile = (
        '<?xml version="1.0"?><!DOCTYPE v [<!ENTITY x SYSTEM "file:///etc/passwd">]><VOTABLE>&x;</VOTABLE>'
    )
    key = observatory.upload(csv("2456079.9,11.1,,V,Ada"))
    nova = {"nova_id": observatory.nova_id}
    runs = observatory.runs(
        [
            {**nova, "s3_key": observatory.upload(hostile)},
            {**nova, "s3_key": observatory.upload(csv("x,11.1,,V,Ada"))},
            {**nova, "s3_key": "raw/photometry/there/is-none.csv"},
            {"nova_id": str(uuid.uuid4()), "s3_key": key},
            {"name": "Nova Nowhere 99", "s3_key": key},
        ]
    )
    assert {run["status"] for run in runs} == {"FAILED"}
    kinds = ["InvalidInput", "NothingUsable", "DocumentRefused", "NoSuchNova", "NoSuchNova"]
    assert [run["error_type"] for run in runs] == kinds
    assert "without a document type" in runs[0]["error_message"]
    assert "row 2: jd: 'x'" in runs[1]["error_message"]
    assert "start initialize_nova" in runs[4]["error_message"]
    assert attempts(runs[1], "Validate the rows") == [(1, "FAILED", "NothingUsable")], "it is not repeated"
    for wrong in (
        {"s3_key": key},
        {**nova, "name": "V1 Sco", "s3_key": key},
        {**nova, "s3_key": "raw/spectra/x"},
        {**nova, "s3_key": key, "formt": "csv"},
    ):
        refused = observatory.catalogue.ended(observatory.catalogue.start(WORKFLOW, wrong))
        assert (refused["status"], refused["error"]) == ("FAILED", "InvalidInput"), wrong
    assert observatory.curve()["items"] == []


def test_the_command_hands_in_files_and_reports_each(observatory: Observatory, tmp_path: Path) -> None:
    stacks = stack_outputs(observatory.stack.cloud, ["SourcebookData", "SourcebookPipeline"])
    operator = OperatorsStack(observatory.stack.session, stacks)
    curve = tmp_path / "curve.txt"
    curve.write_text(SAMPLE_LIGHT_CURVE.read_text().replace("V1324 Sco", observatory.name))
    page = tmp_path / "page.html"
    page.write_text("<html></html>")
    ingested, failed, again = hand_in(operator, observatory.nova_id, [curve, page, curve], timeout=240)
    assert {ingested["outcome"], again["outcome"]} == {"INGESTED", "SKIPPED_DUPLICATE"}
    assert "VOTable" in failed["error"]
    thinned = observatory.curve("?points=100")
    assert (thinned["thinned"], thinned["matched"]) == (True, 759)
    assert len(thinned["items"]) <= 100
    assert set(thinned["bands"]) == {"B", "I", "R", "V"}


def acquired_spectrum(observatory: Observatory, body: bytes) -> str:
    """Register a spectrum and do what its workflow does once the bytes have come; return its id."""
    stack, nova_id, provider = observatory.stack, observatory.nova_id, "ESO"
    store = NovaStore(Table(stack.outputs.table_name, stack.session.client("dynamodb")))
    locator = Locator(kind=LocatorKind.URL, value="https://archive.example/1")
    found = FoundProduct(locators=(locator,), provider_product_id=observatory.name)
    SpectraDiscoverer(store, logging.getLogger("test")).register(
        store.active(nova_id), provider, Search(ArchiveStatus.OK, (found,))
    )
    product_id = data_product_id_for(provider, f"provider_product_id:{observatory.name}")
    objects = Objects(stack.session.client("s3"), observatory.bucket)
    stored = objects.write(f"raw/spectra/{nova_id}/{product_id}/primary.fits", body, FITS)
    acquired = Acquired(
        key=stored.key, byte_length=stored.byte_length, etag=stored.etag, sha256=stored.sha256
    )
    run = TaskRun("acquire_and_validate_spectra", product_id, "test", "arn:test", nova_id, "A task", 1)
    Fingerprints(store.table).note(find_spectrum(store.table, nova_id, product_id, provider), stored.sha256)
    about = {"nova_id": nova_id, "data_product_id": product_id, "provider": provider}
    examination = SpectrumValidator(store.table, objects, check, artifacts).validate(
        ExamineSpectrum(**about, acquisition=acquired), run
    )
    found_ = Found(acquisition=acquired, examination=examination)
    SpectrumRecorder(store.table, objects.bucket).record(RecordSpectrum(**about, found=found_), run)
    return product_id


def test_the_samples_of_a_spectrum_are_served(observatory: Observatory) -> None:
    # Bytes of its own, for bytes have one owner, and each test of a cloud that is kept has another nova.
    body = made.eso({"OBJECT": observatory.name})
    product_id = acquired_spectrum(observatory, body)
    stack = observatory.stack
    path = f"/novae/{observatory.nova_id}/products/{product_id}"
    spectrum = observatory.catalogue.get(f"{path}/spectrum?points=4")
    assert spectrum["points"] <= 4
    assert spectrum["samples"] == check(body).verdict.samples
    assert observatory.catalogue.get(path)["validation_status"] == "VALID"
    listed = observatory.catalogue.get(f"/novae/{observatory.nova_id}/products?provider=ESO")["items"]
    assert [item["data_product_id"] for item in listed] == [product_id]
    missing = stack.api.get(f"{path.replace(product_id, photometry_id_for(observatory.nova_id))}/spectrum")
    assert missing.status_code == 404


def test_a_light_curve_and_a_spectrum_are_handed_in_over_the_api_by_signed_links(
    observatory: Observatory,
) -> None:
    night = csv("2456079.9,11.1,0.01,V,Ada").encode()
    spectrum = made.eso({"OBJECT": observatory.name})  # bytes that no other test hands in
    files: list[dict[str, Any]] = []
    for kind, name, body in (("photometry", "night.csv", night), ("spectrum", "spectrum.fits", spectrum)):
        about = {"nova_id": observatory.nova_id, "kind": kind, "file_name": name}
        digest = hashlib.sha256(body).hexdigest()
        files.append({**about, "byte_length": len(body), "sha256": digest})
    opened = observatory.catalogue.post("/uploads", {"donor": "Ada", "files": files})
    assert opened.status_code == 201, opened.text
    for file, body in zip(opened.json()["files"], (night, spectrum), strict=True):
        send = file["send"]
        for content, status in ((body + b"x", 403), (body, 200)):
            sent = observatory.stack.api.put(send["url"], content=content, headers=send["headers"])
            assert sent.status_code == status, sent.text
    upload_id = opened.json()["upload_id"]
    assert observatory.catalogue.post(f"/uploads/{upload_id}/complete", {}).status_code == 202

    def states() -> list[str] | None:
        found = [file["state"] for file in observatory.catalogue.get(f"/uploads/{upload_id}")["files"]]
        return None if "RUNNING" in found else found

    assert wait_until(states, 300, "both files are ingested") == ["TAKEN", "TAKEN"]
    assert [point["magnitude"] for point in observatory.curve()["items"]] == [11.1]
