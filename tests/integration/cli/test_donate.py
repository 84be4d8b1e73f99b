"""`sourcebook donate` and `sourcebook providers` against a stack in moto."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import boto3
import boto3.session
import pytest
from boto3.dynamodb.conditions import Key
from click.testing import CliRunner

from sourcebook.errors import InvalidInput
from sourcebook.spectra.providers.registry import BUILT_IN, providers
from sourcebook_cli.donate import donate
from sourcebook_cli.providers import providers as providers_command
from sourcebook_cli.stack import Stack
from tests.integration.cli.conftest import BUCKET

pytestmark = pytest.mark.integration


@pytest.fixture
def stack(stack_starting: Callable[..., Stack]) -> Stack:
    return stack_starting("AcquireAndValidateSpectraArn", "IngestPhotometryArn")


def give(*arguments: str) -> tuple[int, list[dict[str, Any]]]:
    result = CliRunner().invoke(donate, [*arguments, "--donor", "Ada", "--no-wait", "--json"])
    assert result.exit_code in {0, 1}, result.output
    return result.exit_code, json.loads(result.stdout)


def test_files_become_products_and_their_examination_is_started(
    stack: Stack, nova_id: str, tmp_path: Path
) -> None:
    for name, body in (("one.fits", b"SIMPLE 1"), ("two.fits", b"SIMPLE 2"), ("empty.fits", b"")):
        (tmp_path / name).write_bytes(body)
    paths = [str(tmp_path / name) for name in ("one.fits", "empty.fits", "two.fits")]
    code, results = give("v1324_sco", *paths, "--license", "CC0")
    assert code == 1, "one of them could not be taken"
    assert "byte_length" in results[1]["error"]
    started = [result for result in results if result.get("state") == "started"]
    assert [Path(result["file"]).name for result in started] == ["one.fits", "two.fits"]
    sfn = boto3.client("stepfunctions")
    for result in started:
        execution = sfn.describe_execution(executionArn=result["execution_arn"])
        assert json.loads(execution["input"]) == {
            "nova_id": nova_id,
            "provider": "DONATION",
            "data_product_id": result["data_product_id"],
        }
        assert execution["name"].startswith(result["data_product_id"])
    own = Key("PK").eq(nova_id) & Key("SK").begins_with("PRODUCT#SPECTRA#DONATION#")
    rows = list(stack.table.query_all(own))
    assert {row["data_product_id"] for row in rows} == {result["data_product_id"] for result in started}
    assert {row["provenance"]["license"] for row in rows} == {"CC0"}

    code, again = give(nova_id, paths[0])
    assert (code, again[0]["state"]) == (0, "known already")
    assert again[0]["data_product_id"] == started[0]["data_product_id"]


@pytest.mark.usefixtures("stack")
def test_light_curves_and_spectra_are_handed_in_together_with_one_report(
    nova_id: str, tmp_path: Path
) -> None:
    (tmp_path / "night.CSV").write_text("jd,mag,band\n2456079.9,11.1,V\n")
    (tmp_path / "one.fits").write_bytes(b"SIMPLE 1")
    code, results = give(nova_id, str(tmp_path / "night.CSV"), str(tmp_path / "one.fits"))
    assert code == 0
    by_name = {Path(result["file"]).name: result for result in results}
    assert by_name["one.fits"]["state"] == "started"
    assert by_name["night.CSV"]["s3_key"].startswith("raw/photometry/")
    sfn = boto3.client("stepfunctions")
    execution = sfn.describe_execution(executionArn=by_name["night.CSV"]["execution_arn"])
    assert json.loads(execution["input"]) == {"nova_id": nova_id, "s3_key": by_name["night.CSV"]["s3_key"]}


def test_a_name_that_is_no_nova_or_several_is_refused(stack: Stack, nova_id: str, tmp_path: Path) -> None:
    (tmp_path / "one.fits").write_bytes(b"SIMPLE")
    for name in ("V9999 Sgr", "Nova Sco 2012"):
        result = CliRunner().invoke(donate, [name, str(tmp_path / "one.fits"), "--donor", "Ada"])
        assert isinstance(result.exception, InvalidInput), result.output
        assert "NOVA" in str(result.exception)
    assert stack.outputs["BucketName"] == BUCKET
    assert boto3.client("s3").list_objects_v2(Bucket=BUCKET)["KeyCount"] == 0
    assert nova_id


def test_providers_are_listed_set_and_reset(stack: Stack, tmp_path: Path) -> None:
    runner = CliRunner()
    listed = json.loads(runner.invoke(providers_command, ["list", "--json"]).stdout)
    assert [entry["provider"] for entry in listed] == [spec.provider for spec in BUILT_IN]
    more = {"provider": "ELODIE", "protocol": "ssa", "addresses": ["https://ssa.example/q"]}
    listed[0]["enabled"] = False
    file = tmp_path / "providers.json"
    file.write_text(json.dumps([*listed, more]))
    result = runner.invoke(providers_command, ["set", str(file)])
    assert result.exit_code == 0, result.output
    asked = [spec.provider for spec in providers(stack.table)]
    assert asked == ["MAST", "BESS", "DONATION", "ELODIE"]
    assert (
        "ESO  eso  https://archive.eso.org/tap_obs/sync  (off)"
        in runner.invoke(providers_command, ["list"]).stdout.splitlines()
    )
    for wrong in ("{", '[{"provider": "x"}]'):
        file.write_text(wrong)
        assert isinstance(runner.invoke(providers_command, ["set", str(file)]).exception, InvalidInput)
    assert [spec.provider for spec in providers(stack.table)] == asked
    assert runner.invoke(providers_command, ["reset"]).exit_code == 0
    assert tuple(providers(stack.table)) == BUILT_IN
