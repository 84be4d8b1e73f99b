"""Light curves and spectra as files: each is read back by other programs, and its numbers are compared."""

from __future__ import annotations

import csv
import io
import math
import re
import uuid
import warnings
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import astropy.units as u
import boto3
import numpy as np
import pandas as pd
import pytest
from astropy.io.votable import parse
from astropy.io.votable.ucd import check_ucd
from astropy.table import Table as AstropyTable
from botocore.config import Config

from sourcebook.api.access import AccessControl
from sourcebook.api.parts import Services
from sourcebook.api.routes import Api
from sourcebook.api.tokens import TokenStore
from sourcebook.bucket.objects import Objects
from sourcebook.fits.artifacts import artifacts
from sourcebook.fits.check import check
from sourcebook.lightcurves.parse import parse_upload
from sourcebook.lightcurves.units import read_flux_unit
from sourcebook.lightcurves.written import as_aavso, as_csv, as_votable
from sourcebook.novae.establish import NovaEstablisher
from sourcebook.novae.resolvers.identity import Identity
from sourcebook.novae.store import NovaStore
from sourcebook.records.spectrum import AcquisitionStatus, Eligibility, ValidationStatus
from sourcebook.spectra.products import data_product_id_for
from tests.integration.api.test_products import CURVE, ONE, Client, Quiet
from tests.integration.astronomy import NOW
from tests.unit.fits import made
from tests.votables import needs_stilts, read_strictly, votlint

if TYPE_CHECKING:
    from pathlib import Path

    from sourcebook.table.client import Table

pytestmark = pytest.mark.integration

UPLOAD = (
    "mjd,mag,err,band,observer\n"
    "56079.4,11.1,0.01,V,Ada\n"
    "56080.123456,<15.2,,V,Ada\n"
    '56081.4,12.1,,B,"Bo & Co, <x>"\n'
    "56082.4,10.9,,Vis.,Bo\n"
    "56083.4,9.75,0.02,g,Bo\n"
)


@pytest.fixture
def client(table: Table) -> Client:
    s3 = boto3.client("s3", region_name="us-east-1", config=Config(signature_version="s3v4"))
    bucket = f"sourcebook-{uuid.uuid4().hex}"
    s3.create_bucket(Bucket=bucket)
    objects = Objects(s3, bucket)
    nova = NovaEstablisher(NovaStore(table)).establish(
        "V1324 Sco", Identity("simbad", "simbad:v1324 sco", "V1324 Sco", 267.72458, -32.62236, "No*")
    )
    assert nova.nova_id is not None
    nothing: Any = None
    services = Services(table=table, start=nothing, workflows=(), objects=lambda: objects, environ={})
    access = AccessControl(TokenStore(table), public_read=False)
    return Client(Api(access, nothing, services), table, objects, nova.nova_id)


def ask(client: Client, route: str, query: str = "", **path: str) -> dict[str, Any]:
    method, _, template = route.partition(" ")
    return client.api.answer(
        {
            "routeKey": f"{method} /iam{template}",
            "rawQueryString": query,
            "pathParameters": {"nova_id": client.nova_id, **path},
            "headers": {},
            "requestContext": {"authorizer": {"iam": {"userArn": "arn:aws:iam::1:user/ada"}}},
        },
        Quiet(),
    )


def points_of(client: Client, query: str = "") -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = client.call(CURVE, query).body["items"]
    return items


def test_a_light_curve_as_csv_has_the_numbers_of_the_api(client: Client) -> None:
    client.ingest(UPLOAD)
    answer = ask(client, f"{CURVE}.csv")
    assert answer["headers"]["content-type"].startswith("text/csv")
    assert answer["headers"]["content-disposition"] == f'attachment; filename="{client.nova_id}.csv"'
    rows = list(csv.DictReader(io.StringIO(answer["body"], newline="")))
    points = points_of(client)
    assert len(rows) == len(points) == 5
    frame = pd.read_csv(io.StringIO(answer["body"]))
    for name in ("mjd", "magnitude"):
        assert frame[name].to_list() == [point[name] for point in points]
    for row, point in zip(rows, points, strict=True):
        assert float(row["mjd"]) == point["mjd"]
        assert float(row["magnitude"]) == point["magnitude"]
        assert row["upper_limit"] == ("true" if point["upper_limit"] else "false")
        assert (float(row["magnitude_error"]) if row["magnitude_error"] else None) == point["magnitude_error"]
        assert (row["band"], row["observer"]) == (point["band"], point["observer"])


def test_a_light_curve_as_votable_is_valid_and_has_the_numbers_of_the_api(client: Client) -> None:
    client.ingest(UPLOAD)
    answer = ask(client, f"{CURVE}.vot", "since=56080")
    points = points_of(client, "since=56080")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        votable = parse(io.BytesIO(answer["body"].encode()), verify="exception")
    table = votable.get_first_table()
    assert [field.name for field in table.fields] == list(points[0])
    for field in table.fields:
        assert check_ucd(field.ucd, check_controlled_vocabulary=True), field.ucd
    assert (str(table.get_field_by_id("mjd").unit), str(table.get_field_by_id("magnitude").unit)) == (
        "d",
        "mag",
    )
    rows = table.to_table()
    assert rows["mjd"].tolist() == [point["mjd"] for point in points]
    assert rows["magnitude"].tolist() == [point["magnitude"] for point in points]
    assert [bool(limit) for limit in rows["upper_limit"]] == [point["upper_limit"] for point in points]
    assert [str(one) for one in rows["observer"]] == [point["observer"] for point in points]
    for value, point in zip(rows["magnitude_error"], points, strict=True):
        missing = value is np.ma.masked or math.isnan(value)
        assert (None if missing else float(value)) == point["magnitude_error"]


def test_a_light_curve_in_aavsos_format_is_read_back_by_our_own_reader(client: Client) -> None:
    client.ingest(UPLOAD)
    text = ask(client, f"{CURVE}.aavso")["body"]
    read = parse_upload(text.encode(), is_nova=lambda name: name == "V1324 Sco", now=NOW)
    assert (read.format.value, read.rejected) == ("aavso_extended", 0)
    points = points_of(client)
    assert [(m.mjd, m.band, m.magnitude, m.magnitude_error, m.upper_limit) for m in read.measurements] == [
        (p["mjd"], p["band"], p["magnitude"], p["magnitude_error"], p["upper_limit"]) for p in points
    ]
    assert "left out" not in text
    frame = pd.read_csv(io.StringIO(text), comment="#", header=None)
    assert frame[1].to_list() == pytest.approx([point["mjd"] + 2_400_000.5 for point in points], abs=1e-6)
    written = frame[2].astype(str).str.removeprefix("<").astype(float).to_list()
    assert written == [point["magnitude"] for point in points]
    rows = [line for line in text.splitlines() if not line.startswith("#")]
    assert rows[1].split(",")[:7] == ["V1324 Sco", "2456080.623456", "<15.2", "na", "V", "NO", "STD"]
    assert [row.split(",")[4] for row in rows[2:]] == ["B", "Vis.", "SG"]


UNITS = (
    *("Jy", "erg/s/cm2/Hz", "erg/s/cm2/A", "erg/s/cm2", "W/m2", "W/m2/Hz", "W/m2/um", "W/m2/nm"),
    *("count/s", "electron/s"),
)
POINT: dict[str, Any] = {
    "mjd": 56079.5,
    "time_system": "MJD",
    "time_scale": "UTC",
    "band": "V",
    "magnitude": 11.0,
    "magnitude_error": None,
    "magnitude_system": None,
    "flux": None,
    "flux_error": None,
    "flux_unit": None,
    "upper_limit": False,
    "observer": None,
}


def test_what_aavsos_format_cannot_hold_is_left_out_and_counted() -> None:
    flux: dict[str, Any] = {"band": "5 GHz", "magnitude": None, "flux": 0.003, "flux_unit": "Jy"}
    others: list[dict[str, Any]] = [
        flux,
        {"band": "5 GHz"},
        {"time_scale": "TT"},
        {"time_system": "HJD", "time_scale": "TDB"},
    ]
    kept: list[dict[str, Any]] = [
        {},
        {"time_system": "BJD", "time_scale": "TDB"},
        {"time_system": "HMJD", "time_scale": None},
    ]
    text = as_aavso([POINT | one for one in (*others, *kept)], "=HYPERLINK(1)")
    assert "# 4 measurements left out" in text
    rows = [line for line in text.splitlines() if not line.startswith("#")]
    assert len(rows) == 3
    assert all(row.startswith("'=HYPERLINK") for row in rows)
    assert [line for line in text.splitlines() if line.startswith("#DATE=")] == [
        "#DATE=JD",
        "#DATE=BJD",
        "#DATE=HJD",
    ]


@pytest.mark.parametrize(
    ("changes", "unit", "has_time"),
    [
        ([{"flux": 1.5, "flux_unit": "Jy"}, {"flux": 2.5, "flux_unit": "Jy"}], "Jy", True),
        ([{"flux": 1.5, "flux_unit": "Jy"}, {"flux": 2.5, "flux_unit": "ct/s"}], None, True),
        ([{"flux": 1.5, "flux_unit": "erg s-1 cm-2 Angstrom-1"}], "0.01 W / (nm m2)", True),
        ([{"flux": 1.5, "flux_unit": "electron s-1"}], "electron / s", True),
        ([{"time_scale": "TT"}, {"time_scale": "UTC"}], None, False),
        ([{"time_system": "HJD"}, {"time_system": "JD"}], None, False),
        ([], None, False),
        ([{"observer": "a\x00b\ud800 <&>\"'"}], None, True),
    ],
)
def test_a_votable_says_the_unit_and_the_time_system_where_all_rows_have_one(
    changes: list[dict[str, Any]], unit: str | None, *, has_time: bool
) -> None:
    text = as_votable([POINT | one for one in changes], 'V "1" & <2>')
    table = read_strictly(text).get_first_table()
    found = table.get_field_by_id("flux").unit
    assert (None if found is None else str(found)) == unit
    assert ("<TIMESYS " in text) is has_time
    assert len(table.array) == len(changes)


@pytest.mark.parametrize("unit", sorted({read_flux_unit("", text).name for text in UNITS}))
def test_every_unit_of_flux_is_one_of_vounits_and_read_back(unit: str) -> None:
    text = as_votable([POINT | {"magnitude": None, "flux": 1.5, "flux_unit": unit}], "V1")
    field = read_strictly(text).get_first_table().get_field_by_id("flux")
    (written,) = re.findall('name="flux".*? unit="(.*?)"', text)
    assert read_flux_unit("unit", written).name == unit
    if not unit.startswith("electron"):  # which VOUnits makes a unit of its own
        assert (1 * field.unit).to_value(u.Unit(unit)) == pytest.approx(1)


@needs_stilts
def test_topcats_rules_have_nothing_against_a_light_curve_of_fluxes(tmp_path: Path) -> None:
    file = tmp_path / "curve.vot"
    flux = POINT | {"flux": 1.5, "flux_unit": "erg s-1 cm-2 Angstrom-1", "time_system": "HJD"}
    file.write_text(as_votable([flux, flux | {"observer": "a\x00b\ud800 <&>\"'"}], "V1"), "utf-8")
    assert votlint(file) == ""


def test_no_cell_of_a_light_curve_is_a_formula() -> None:
    text = as_csv([POINT | {"observer": "=1+1"}])
    (row,) = csv.DictReader(io.StringIO(text, newline=""))
    assert row["observer"] == "'=1+1"


def spectrum(client: Client, body: bytes) -> str:
    checked = check(body)
    product_id = data_product_id_for("ESO", "provider_product_id:ADP.1")
    prefix, raw = f"derived/spectra/{client.nova_id}/{product_id}/", f"raw/spectra/{client.nova_id}/a.fits"
    for name, (content, kind) in artifacts(checked, source={}).items():
        client.objects.write(f"{prefix}{name}", content, kind)
    client.objects.write(raw, body, "application/fits")
    return client.spectrum(
        1,
        validation_status=ValidationStatus.VALID,
        acquisition_status=AcquisitionStatus.ACQUIRED,
        eligibility=Eligibility.NONE,
        derived_s3_prefix=prefix,
        raw_s3_key=raw,
        verdict=checked.verdict.to_json(),
    )


def test_a_spectrum_is_its_original_file_and_the_same_numbers_as_ecsv_and_csv(client: Client) -> None:
    original = made.eso()
    product_id = spectrum(client, original)

    def linked(suffix: str) -> bytes:
        answer = ask(client, f"{ONE}/spectrum.{suffix}", data_product_id=product_id)
        assert (answer["statusCode"], answer["headers"]["cache-control"]) == (302, "no-store")
        address = answer["headers"]["location"]
        query = parse_qs(urlsplit(address).query)
        assert query["X-Amz-Algorithm"] == ["AWS4-HMAC-SHA256"]
        assert query["X-Amz-Expires"] == ["300"]
        assert query["response-content-disposition"] == [f'attachment; filename="{product_id}.{suffix}"']
        key = urlsplit(address).path.removeprefix(f"/{client.objects.bucket}").lstrip("/")
        return client.objects.read(key, 10**8).body

    assert linked("fits") == original
    table = AstropyTable.read(linked("ecsv").decode(), format="ascii.ecsv")
    assert str(table["wavelength"].unit) == "m"
    answer = ask(client, f"{ONE}/spectrum.csv", data_product_id=product_id)
    rows = list(csv.DictReader(io.StringIO(answer["body"], newline="")))
    for name in ("wavelength", "flux"):
        assert np.array_equal([float(row[name]) for row in rows], np.asarray(table[name]), equal_nan=True)
    samples = client.call(f"{ONE}/spectrum", "points=20000", data_product_id=product_id).body
    assert samples["orders"][0]["wavelength_m"] == [
        float(r["wavelength"]) for r in rows if r["flux"] != "nan"
    ]


def test_what_is_not_there_is_a_problem(client: Client) -> None:
    waiting = client.spectrum(1)
    for suffix in ("csv", "ecsv", "fits"):
        for product_id in (waiting, "2c7d1f4d-5b7a-4a4d-9f31-8d3b4fd0d4d9"):
            assert ask(client, f"{ONE}/spectrum.{suffix}", data_product_id=product_id)["statusCode"] == 404
    for suffix in ("csv", "vot", "aavso"):
        assert ask(client, f"{CURVE}.{suffix}", nova_id="none")["statusCode"] == 404
        assert ask(client, f"{CURVE}.{suffix}", "band=Q")["statusCode"] == 400
        assert ask(client, f"{CURVE}.{suffix}")["statusCode"] == 200


def test_a_file_that_no_answer_can_hold_is_refused(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    client.ingest(UPLOAD)
    monkeypatch.setattr("sourcebook.api.downloads.LARGEST_FILE", 200)
    answer = ask(client, f"{CURVE}.csv")
    assert answer["statusCode"] == 409
    assert "since and until" in answer["body"]
