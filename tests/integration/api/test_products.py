"""Data products, spectra and light curves, through the routes."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import boto3
import jsonschema_rs
import pytest

from sourcebook.api.access import AccessControl
from sourcebook.api.parts import Services
from sourcebook.api.routes import Api
from sourcebook.api.schemas import EXAMPLES, SCHEMAS
from sourcebook.api.tokens import TokenStore
from sourcebook.bucket.objects import Objects
from sourcebook.fits.artifacts import artifacts
from sourcebook.fits.check import check
from sourcebook.lightcurves.series import POINT_FIELDS, NotASeries
from sourcebook.novae.establish import NovaEstablisher, prepare_nova
from sourcebook.novae.model import photometry_id_for
from sourcebook.novae.resolvers.identity import Identity
from sourcebook.novae.store import NovaStore
from sourcebook.photometry.messages import RebuildTable, UploadObject, UploadValid
from sourcebook.photometry.table import TableRebuilder, points_key
from sourcebook.photometry.upload import UploadValidator
from sourcebook.records.product import FileObject, FileRole
from sourcebook.records.spectrum import (
    AcquisitionStatus,
    Eligibility,
    IdentityKind,
    Locator,
    LocatorKind,
    SpectrumProduct,
    ValidationStatus,
)
from sourcebook.spectra.products import data_product_id_for, spectrum_item
from tests.integration.astronomy import NOW
from tests.unit.fits import made

if TYPE_CHECKING:
    from sourcebook.table.client import Table

pytestmark = pytest.mark.integration

LIST, ONE = "GET /novae/{nova_id}/products", "GET /novae/{nova_id}/products/{data_product_id}"
SPECTRUM, CURVE = f"{ONE}/spectrum", "GET /novae/{nova_id}/photometry"


class Quiet:
    def info(self, msg: str, *, extra: Mapping[str, object]) -> None: ...

    def error(self, msg: str, *, exc_info: BaseException, extra: Mapping[str, object]) -> None:
        raise exc_info


@dataclass
class Client:
    api: Api
    table: Table
    objects: Objects
    nova_id: str

    def call(self, route: str, query: str = "", **path: str) -> Any:
        method, _, template = route.partition(" ")
        event = {
            "routeKey": f"{method} /iam{template}",
            "rawQueryString": query,
            "pathParameters": {"nova_id": self.nova_id, **path},
            "headers": {},
            "requestContext": {"authorizer": {"iam": {"userArn": "arn:aws:iam::1:user/ada"}}},
        }
        answer = self.api.answer(event, Quiet())
        return SimpleNamespace(status=answer["statusCode"], body=json.loads(answer["body"]))

    def spectrum(self, number: int, provider: str = "ESO", **fields: Any) -> str:
        identity = f"provider_product_id:ADP.{number}"
        product = SpectrumProduct(
            nova_id=self.nova_id,
            data_product_id=data_product_id_for(provider, identity),
            provider=provider,
            locator_identity=identity,
            identity_kind=IdentityKind.NATIVE_ID,
            locators=(Locator(kind=LocatorKind.URL, value=f"https://archive.example/{number}"),),
            created_at=NOW,
            updated_at=NOW,
            **fields,
        )
        self.table.put(spectrum_item(product))
        return product.data_product_id

    def valid_spectrum(self, body: bytes) -> str:
        checked = check(body)
        product_id = data_product_id_for("ESO", "provider_product_id:ADP.1")
        prefix = f"derived/spectra/{self.nova_id}/{product_id}/"
        for name, (content, kind) in artifacts(checked, source={}).items():
            self.objects.write(f"{prefix}{name}", content, kind)
        self.table.put(
            FileObject(
                nova_id=self.nova_id,
                data_product_id=product_id,
                product_type="SPECTRA",
                role=FileRole.PLOT,
                name="preview.png",
                bucket=self.objects.bucket,
                key=f"{prefix}preview.png",
                content_type="image/png",
                byte_length=5,
                created_at=NOW,
                updated_at=NOW,
            ).item()
        )
        return self.spectrum(
            1,
            validation_status=ValidationStatus.VALID,
            acquisition_status=AcquisitionStatus.ACQUIRED,
            eligibility=Eligibility.NONE,
            derived_s3_prefix=prefix,
            verdict=checked.verdict.to_json(),
        )

    def ingest(self, text: str) -> None:
        store = NovaStore(self.table)
        self.objects.write("raw/photometry/x.csv", text.encode(), "text/csv")
        valid = UploadValidator(store, self.objects).validate(self.nova_id, "raw/photometry/x.csv")
        assert isinstance(valid, UploadValid)
        upload = UploadObject(s3_key="raw/photometry/x.csv", etag=valid.etag, byte_length=valid.byte_length)
        request = RebuildTable(nova_id=self.nova_id, file_id=valid.file_id, upload=upload)
        TableRebuilder(store, self.objects).rebuild(request)


@pytest.fixture
def client(table: Table) -> Client:
    s3 = boto3.client("s3")
    bucket = f"sourcebook-{uuid.uuid4().hex}"
    s3.create_bucket(Bucket=bucket)
    objects = Objects(s3, bucket)
    made_ = NovaEstablisher(NovaStore(table)).establish(
        "V1324 Sco", Identity("simbad", "simbad:v1324 sco", "V1324 Sco", 267.72458, -32.62236, "No*")
    )
    assert made_.nova_id is not None
    nothing: Any = None
    services = Services(table=table, start=nothing, workflows=(), objects=lambda: objects, environ={})
    access = AccessControl(TokenStore(table), public_read=False)
    return Client(Api(access, nothing, services), table, objects, made_.nova_id)


def conforms(body: Any, schema: str) -> None:
    whole = {"$ref": f"#/components/schemas/{schema}", "components": {"schemas": SCHEMAS}}
    jsonschema_rs.validator_for(whole, validate_formats=True).validate(body)


def test_a_nova_without_products_has_an_empty_list_and_an_empty_light_curve(client: Client) -> None:
    assert client.call(LIST).body == {"items": [], "next_cursor": None}
    prepare_nova(NovaStore(client.table), client.nova_id)
    listed = client.call(LIST).body["items"]
    assert [item["product_type"] for item in listed] == ["PHOTOMETRY_TABLE"]
    assert (listed[0]["ingestion_count"], listed[0]["row_count"], listed[0]["provider"]) == (0, None, None)
    curve = client.call(CURVE).body
    assert (curve["items"], curve["matched"], curve["table_rows"]) == ([], 0, 0)
    assert curve["data_product_id"] == photometry_id_for(client.nova_id)
    conforms(curve, "Photometry")


def test_products_are_listed_by_provider_in_pages_and_filtered(client: Client) -> None:
    prepare_nova(NovaStore(client.table), client.nova_id)
    ids = [client.spectrum(n, "ESO" if n % 2 else "MAST") for n in range(7)]
    ids.append(
        client.spectrum(
            9, "DONATION", validation_status=ValidationStatus.TERMINAL_INVALID, eligibility=Eligibility.NONE
        )
    )
    seen, cursor = [], ""
    for _ in range(5):
        body = client.call(LIST, f"limit=2{cursor}").body
        conforms(body, "ProductPage")
        seen += body["items"]
        if body["next_cursor"] is None:
            break
        cursor = f"&cursor={body['next_cursor']}"
    assert [item["provider"] for item in seen] == [None, "DONATION", *["ESO"] * 3, *["MAST"] * 4]
    assert {item["data_product_id"] for item in seen} == {*ids, photometry_id_for(client.nova_id)}
    assert len(client.call(LIST, "provider=ESO").body["items"]) == 3
    assert len(client.call(LIST, "product_type=PHOTOMETRY_TABLE").body["items"]) == 1
    assert len(client.call(LIST, "validation_status=TERMINAL_INVALID").body["items"]) == 1
    for wrong in ("provider=eso", "product_type=X", "validation_status=X", "cursor=abc", "providr=ESO"):
        assert client.call(LIST, wrong).status == 400
    page = client.call(LIST, "limit=2").body["next_cursor"]
    assert client.call(LIST, f"limit=2&provider=ESO&cursor={page}").status == 400


def test_a_spectrum_has_its_files_and_its_samples(client: Client) -> None:
    product_id = client.valid_spectrum(made.eso())
    body = client.call(ONE, data_product_id=product_id).body
    conforms(body, "Product")
    assert body["verdict"]["outcome"] == "VALID"
    assert [(file["role"], file["name"]) for file in body["files"]] == [("PLOT", "preview.png")]
    assert body["locators"][0]["kind"] == "URL"
    whole = client.call(SPECTRUM, "points=20000", data_product_id=product_id).body
    conforms(whole, "Spectrum")
    (order,) = whole["orders"]
    assert len(order["wavelength_m"]) == len(order["flux"]) == whole["points"] == whole["samples"]
    assert order["wavelength_m"][0] == pytest.approx(body["verdict"]["wavelength_min_m"], rel=1e-9)
    few = client.call(SPECTRUM, "points=4", data_product_id=product_id).body
    assert few["points"] <= 4
    assert few["downsampled"] is True
    assert max(few["orders"][0]["flux"]) == max(order["flux"])
    assert min(few["orders"][0]["flux"]) == min(order["flux"])
    for wrong in ("points=1", "points=20001", "points=x"):
        assert client.call(SPECTRUM, wrong, data_product_id=product_id).status == 400


def test_what_has_no_samples_says_why(client: Client) -> None:
    prepare_nova(NovaStore(client.table), client.nova_id)
    waiting = client.spectrum(1)
    answer = client.call(SPECTRUM, data_product_id=waiting)
    assert (answer.status, "UNVALIDATED" in answer.body["detail"]) == (404, True)
    answer = client.call(SPECTRUM, data_product_id=photometry_id_for(client.nova_id))
    assert (answer.status, "photometry table" in answer.body["detail"]) == (404, True)
    for route in (ONE, SPECTRUM):
        assert client.call(route, data_product_id="2c7d1f4d-5b7a-4a4d-9f31-8d3b4fd0d4d9").status == 404
        assert client.call(route, data_product_id="").status == 404
    for route in (LIST, ONE, SPECTRUM, CURVE):
        assert client.call(route, nova_id="none", data_product_id="x").status == 404
        assert client.call(route, nova_id="", data_product_id="x").status == 404


CSV = (
    "mjd,mag,err,band,observer\n"
    "56079.4,11.1,0.01,V,Ada\n"
    "56080.4,<15.2,,V,Ada\n"
    "56081.4,12.1,,B,Bo\n"
    "56082.4,10.9,,Vis.,Bo\n"
)


def test_a_light_curve_is_filtered(client: Client) -> None:
    client.ingest(CSV)

    def times(query: str) -> list[float]:
        return [point["mjd"] for point in client.call(CURVE, query).body["items"]]

    whole = client.call(CURVE).body
    conforms(whole, "Photometry")
    assert [point["magnitude"] for point in whole["items"]] == [11.1, 15.2, 12.1, 10.9]
    assert (whole["matched"], whole["thinned"], whole["table_rows"], whole["ingestion_count"]) == (
        4,
        False,
        4,
        1,
    )
    assert whole["bands"] == {"B": 1, "V": 2, "Visual": 1}
    assert times("band=V") == [56079.4, 56080.4]
    assert times("band=Johnson+V,vis.") == [56079.4, 56080.4, 56082.4]
    assert times("since=56080.4") == [56080.4, 56081.4, 56082.4]
    assert times("until=56080.4") == [56079.4]
    assert times("since=2012-06-02&until=2012-06-04T00:00:00Z") == [56080.4, 56081.4]
    assert times("include_upper_limits=false") == [56079.4, 56081.4, 56082.4]
    assert times("band=R") == []


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("band=Q", "band"),
        ("band=V,", "band"),
        ("band=", "band"),
        (f"band={','.join('V' * 31)}", "band"),
        ("since=yesterday", "since"),
        ("since=2012-06-01T00:00:00", "since"),
        ("since=1e5", "since"),
        ("since=56080&until=56080", "until"),
        ("until=nan", "until"),
        ("include_upper_limits=maybe", "include_upper_limits"),
        ("points=9", "points"),
        ("points=10001", "points"),
        ("filter=V", "filter"),
    ],
)
def test_a_wrong_question_about_a_light_curve_is_named(client: Client, query: str, parameter: str) -> None:
    answer = client.call(CURVE, query)
    assert (answer.status, answer.body["parameter"]) == (400, parameter)


def test_a_long_light_curve_is_thinned_and_says_so(client: Client) -> None:
    rows = "".join(f"{56000 + n / 10:.1f},{10 + n % 7},,{'VB'[n % 2]},Ada\n" for n in range(3_000))
    client.ingest(f"mjd,mag,err,band,observer\n{rows}")
    body = client.call(CURVE, "points=100").body
    assert (body["matched"], body["thinned"], body["bands"]) == (3_000, True, {"B": 1_500, "V": 1_500})
    assert 80 <= len(body["items"]) <= 100
    assert client.call(CURVE).body["thinned"] is True
    assert client.call(CURVE, "points=10000").body["thinned"] is False


def test_a_twin_that_is_spoilt_is_an_error_of_ours(client: Client) -> None:
    client.ingest(CSV)
    client.objects.write(points_key(client.nova_id), b"spoilt", "application/gzip")
    with pytest.raises(NotASeries, match="twin cannot be read"):
        client.call(CURVE)


def test_the_examples_are_what_is_served() -> None:
    assert tuple(SCHEMAS["Photometry"]["properties"]["items"]["items"]["properties"]) == POINT_FIELDS
    for name in ("ProductPage", "Product", "Spectrum", "Photometry"):
        conforms(EXAMPLES[name], name)


def test_reading_needs_no_pyarrow_and_no_astropy() -> None:
    program = (
        "import sys, sourcebook.api.products as p\n"
        "heavy = {'pyarrow', 'astropy', 'numpy'}.intersection(sys.modules)\n"
        "sys.exit(f'{heavy}' if heavy else 0)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False, timeout=60).returncode == 0
