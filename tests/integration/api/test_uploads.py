"""Photometry and spectra that are handed in over the API, down to the nova's table and its products."""

from __future__ import annotations

import hashlib
import json
import uuid
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import boto3
import pytest
from botocore.config import Config

from sourcebook.api.access import AccessControl
from sourcebook.api.idempotency import IdempotentRequests
from sourcebook.api.parts import Services
from sourcebook.api.routes import Api
from sourcebook.api.tokens import TokenStore
from sourcebook.bucket.objects import Objects
from sourcebook.novae.establish import NovaEstablisher
from sourcebook.novae.resolvers.identity import Identity
from sourcebook.novae.store import NovaStore
from sourcebook.novae.whereabouts import find_product
from sourcebook.table import keys
from tests.integration.api.test_products import Quiet
from tests.unit.fits import made

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sourcebook.table.client import Table

pytestmark = pytest.mark.integration

CSV = b"mjd,mag,err,band,observer\n56079.4,11.1,0.01,V,Ada\n"
OPEN, COMPLETE, REPORT = "POST /uploads", "POST /uploads/{upload_id}/complete", "GET /uploads/{upload_id}"


@dataclass
class World:
    api: Api
    table: Table
    objects: Objects
    nova_id: str
    started: list[tuple[str, dict[str, Any], str]] = field(default_factory=list)

    def call(self, route: str, body: object = None, **path: str) -> Any:
        method, _, template = route.partition(" ")
        event = {
            "routeKey": f"{method} /iam{template}",
            "pathParameters": path,
            "headers": {"content-type": "application/json"},
            "body": None if body is None else json.dumps(body),
            "requestContext": {
                "requestId": str(uuid.uuid4()),
                "authorizer": {"iam": {"userArn": "arn:aws:iam::1:user/ada"}},
            },
        }
        answer = self.api.answer(event, Quiet())
        return SimpleNamespace(status=answer["statusCode"], body=json.loads(answer["body"]))

    def file(self, name: str, body: bytes, kind: str = "photometry") -> dict[str, Any]:
        digest = hashlib.sha256(body).hexdigest()
        about = {"nova_id": self.nova_id, "kind": kind, "file_name": name}
        return {**about, "byte_length": len(body), "sha256": digest}

    def send(self, file: Mapping[str, Any], body: bytes) -> None:
        """Put a file where its link leads; moto judges no signature."""
        key = urlsplit(file["send"]["url"]).path.lstrip("/").removeprefix(f"{self.objects.bucket}/")
        self.objects.write(key, body, file["send"]["headers"]["content-type"])


@pytest.fixture
def world(table: Table) -> World:
    s3 = boto3.client("s3", region_name="us-east-1", config=Config(signature_version="s3v4"))
    bucket = f"sourcebook-{uuid.uuid4().hex}"
    s3.create_bucket(Bucket=bucket)
    nova = NovaEstablisher(NovaStore(table)).establish(
        "V1324 Sco", Identity("simbad", "simbad:v1324 sco", "V1324 Sco", 267.72458, -32.62236, "No*")
    )
    assert nova.nova_id is not None
    started: list[tuple[str, dict[str, Any], str]] = []

    def start(workflow: str, payload: Mapping[str, Any], name: str) -> str:
        started.append((workflow, dict(payload), name))
        return f"arn:aws:states:us-east-1:1:execution:{workflow}:{name}"

    objects = Objects(s3, bucket)
    services = Services(table=table, start=start, workflows=(), objects=lambda: objects, environ={})
    access = AccessControl(TokenStore(table), public_read=False)
    api = Api(access, IdempotentRequests(table), services)
    return World(api, table, objects, nova.nova_id, started)


def test_a_link_takes_one_file_of_its_size_type_and_digest(world: World) -> None:
    opened = world.call(OPEN, {"donor": "Ada", "files": [world.file("night.CSV", CSV)]})
    assert opened.status == 201
    (file,) = opened.body["files"]
    assert file["state"] == "EXPECTED"
    assert file["send"]["method"] == "PUT"
    signed = parse_qs(urlsplit(file["send"]["url"]).query)["X-Amz-SignedHeaders"][0].split(";")
    assert {"content-length", "content-type", "x-amz-checksum-sha256"} <= {*signed}
    assert file["send"]["headers"]["content-type"] == "text/plain"


def test_what_was_sent_is_started_once_and_what_is_missing_can_be_sent_still(world: World) -> None:
    spectrum = made.eso()
    files = [world.file("night.csv", CSV), world.file("spectrum.fits", spectrum, "spectrum")]
    opened = world.call(OPEN, {"donor": "Ada", "license": "CC-BY-4.0", "files": files}).body
    world.send(opened["files"][0], CSV)
    half = world.call(COMPLETE, upload_id=opened["upload_id"])
    assert half.status == 202
    assert [file["state"] for file in half.body["files"]] == ["RUNNING", "MISSING"]
    world.send(half.body["files"][1], spectrum)
    for _ in range(2):
        whole = world.call(COMPLETE, upload_id=opened["upload_id"]).body
        assert [file["state"] for file in whole["files"]] == ["RUNNING", "RUNNING"]
    photometry, acquisition = world.started
    assert photometry[0] == "ingest_photometry"
    assert photometry[1]["nova_id"] == world.nova_id
    assert world.objects.read(photometry[1]["s3_key"], 10**6).body == CSV
    assert acquisition[0] == "acquire_and_validate_spectra"
    assert acquisition[1]["data_product_id"] == whole["files"][1]["data_product_id"]
    product = find_product(world.table, world.nova_id, "DONATION", whole["files"][1]["data_product_id"])
    assert product is not None
    assert product["provenance"]["donor"] == "Ada"
    assert product["provenance"]["license"] == "CC-BY-4.0"


def test_the_report_follows_the_run_and_the_product(world: World) -> None:
    spectrum = made.eso()
    files = [world.file("night.csv", CSV), world.file("spectrum.fits", spectrum, "spectrum")]
    opened = world.call(OPEN, {"donor": "Ada", "files": files}).body
    for file, body in zip(opened["files"], (CSV, spectrum), strict=True):
        world.send(file, body)
    done = world.call(COMPLETE, upload_id=opened["upload_id"]).body
    job_run_id, product_id = done["files"][0]["job_run_id"], done["files"][1]["data_product_id"]
    world.table.put(
        {
            **keys.job_run("WORKFLOW#x", "ingest_photometry", "2026-11-27T21:00:00Z", job_run_id),
            "GSI1PK": keys.job_run_by_id(job_run_id),
            "GSI1SK": "2026-11-27T21:00:00Z",
            "entity_type": "JobRun",
            "job_run_id": job_run_id,
            "workflow_name": "ingest_photometry",
            "status": "FAILED",
            "started_at": "2026-11-27T21:00:00Z",
            "error_type": "NothingUsable",
            "error_message": "none of the 1 rows could be read",
        }
    )
    world.table.update(
        keys.spectrum(world.nova_id, "DONATION", product_id), assign={"validation_status": "VALID"}
    )
    report = world.call(REPORT, upload_id=opened["upload_id"]).body
    assert [file["state"] for file in report["files"]] == ["REFUSED", "TAKEN"]
    assert report["files"][0]["reason"] == "none of the 1 rows could be read"
    assert report["counts"]["TAKEN"] == report["counts"]["REFUSED"] == 1


def test_a_file_of_another_length_is_refused(world: World) -> None:
    opened = world.call(OPEN, {"donor": "Ada", "files": [world.file("night.csv", CSV)]}).body
    world.send(opened["files"][0], CSV + b"more")
    (file,) = world.call(COMPLETE, upload_id=opened["upload_id"]).body["files"]
    assert file["state"] == "REFUSED"
    assert "bytes were sent" in file["reason"]
    assert world.started == []


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"nova_id": "00000000-0000-4000-8000-000000000000"}, "files.0.nova_id"),
        ({"file_name": "night.exe"}, "files.0.file_name"),
        ({"byte_length": 50_000_000}, "files.0.byte_length"),
        ({"byte_length": 200_000_000}, "files.0.byte_length"),
        ({"byte_length": "12"}, "files.0.byte_length"),
        ({"sha256": "ABC"}, "files.0.sha256"),
        ({"kind": "picture"}, "files.0.kind"),
    ],
)
def test_what_cannot_be_taken_is_said_before_it_is_sent(
    world: World, *, change: dict[str, Any], field: str
) -> None:
    body = {"donor": "Ada", "files": [world.file("night.csv", CSV) | change]}
    answer = world.call(OPEN, body)
    assert answer.status == 400
    assert answer.body["detail"].startswith(f"{field}: ")


def test_an_upload_that_is_not_there_is_404(world: World) -> None:
    for upload_id in ("00000000-0000-4000-8000-000000000000", "../../raw"):
        assert world.call(REPORT, upload_id=upload_id).status == 404
        assert world.call(COMPLETE, upload_id=upload_id).status == 404
