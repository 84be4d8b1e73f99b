"""`sourcebook photometry ingest` and `rebuild` against a stack in moto."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import boto3
import boto3.session
import pytest
from click.testing import CliRunner

from sourcebook.bucket.objects import Objects
from sourcebook.novae.store import NovaStore
from sourcebook.photometry.messages import RebuildTable, UploadObject, UploadValid
from sourcebook.photometry.table import TableRebuilder
from sourcebook.photometry.upload import UploadValidator
from sourcebook_cli.main import main
from sourcebook_cli.photometry import photometry
from sourcebook_cli.stack import Stack
from tests.integration.cli.conftest import BUCKET

if TYPE_CHECKING:
    from pathlib import Path


pytestmark = pytest.mark.integration

CSV = "jd,mag,band\n2456079.9,11.1,V\n"
OTHER = "jd,mag,band\n2456080.9,11.2,V\n"


@pytest.fixture
def stack(stack_starting: Callable[..., Stack]) -> Stack:
    return stack_starting("IngestPhotometryArn")


def call(*arguments: str) -> Any:
    return CliRunner().invoke(photometry, arguments)


@pytest.mark.usefixtures("stack")
def test_files_are_uploaded_and_their_ingestion_started(nova_id: str, tmp_path: Path) -> None:
    for name, text in (("one.csv", CSV), ("two.csv", OTHER)):
        (tmp_path / name).write_text(text)
    paths = [str(tmp_path / name) for name in ("one.csv", "two.csv")]
    result = call("ingest", "v1324_sco", *paths, "--no-wait", "--json")
    assert result.exit_code == 0, result.output
    started = json.loads(result.stdout)
    assert [entry["file"] for entry in started] == paths
    key = f"raw/photometry/{hashlib.sha256(CSV.encode()).hexdigest()}/one.csv"
    assert started[0]["s3_key"] == key
    body = boto3.client("s3").get_object(Bucket=BUCKET, Key=key)["Body"].read()
    assert body == CSV.encode()
    described = boto3.client("stepfunctions").describe_execution(executionArn=started[0]["execution_arn"])
    assert json.loads(described["input"]) == {"name": "v1324_sco", "s3_key": key}
    by_id = json.loads(call("ingest", nova_id, paths[1], "--no-wait", "--json").stdout)
    described = boto3.client("stepfunctions").describe_execution(executionArn=by_id[0]["execution_arn"])
    assert json.loads(described["input"])["nova_id"] == nova_id


def test_a_table_is_made_anew_without_an_upload(stack: Stack, nova_id: str) -> None:
    store, objects = NovaStore(stack.table), Objects(boto3.client("s3"), BUCKET)
    file_id = ""
    for number, text in enumerate((CSV, OTHER)):
        key = f"raw/photometry/{number}.csv"
        objects.write(key, text.encode(), "text/csv")
        valid = UploadValidator(store, objects).validate(nova_id, key)
        assert isinstance(valid, UploadValid)
        file_id = valid.file_id
        upload = UploadObject(s3_key=key, etag=valid.etag, byte_length=valid.byte_length)
        asked = RebuildTable(nova_id=nova_id, file_id=file_id, upload=upload)
        TableRebuilder(store, objects).rebuild(asked)
    assert call("rebuild", "V1324 Sco").output == "2 measurements of 2 uploads\n"
    result = call("rebuild", nova_id, "--without", file_id)
    assert result.output == "1 measurements of 1 uploads\n"
    assert "the name or id of one nova; none is known" in str(call("rebuild", "V1 Sco").exception)


def test_check_shows_the_rows_that_it_has_read(tmp_path: Path) -> None:
    file = tmp_path / "night.csv"
    file.write_text("mjd,mag,err,band,fainterthan\n59300.5,13.9,99.99,V,True\n59301.5,9.8,0.05,V,False\n")
    result = call("check", "--rows", str(file))
    assert result.exit_code == 0, result.output
    (report,) = json.loads(result.stdout)
    kept = ("row", "mjd", "band", "magnitude", "limit", "error", "is_upper_limit")
    assert [tuple(row[name] for name in kept) for row in report["rows_read"]] == [
        (2, 59300.5, "V", None, 13.9, None, True),
        (3, 59301.5, "V", 9.8, None, 0.05, False),
    ]
    assert "rows_read" not in json.loads(call("check", "--json", str(file)).stdout)[0]


@pytest.mark.usefixtures("stack", "nova_id")
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_an_unknown_nova_is_an_error_that_names_the_known_ones(options: tuple[str, ...]) -> None:
    found = CliRunner().invoke(main, ["nova", "show", "V1324 Scorpii", *options])
    assert found.exit_code == 0, found.output
    missing = CliRunner().invoke(main, ["nova", "show", "V1325 Sco", *options])
    assert missing.exit_code != 0
    assert "Did you mean V1324 Sco?" in missing.output
