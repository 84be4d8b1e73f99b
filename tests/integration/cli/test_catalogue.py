"""`sourcebook catalogue release` against a stack in moto."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import boto3
import pytest
from click.testing import CliRunner

from sourcebook.errors import InvalidInput
from sourcebook.releases.release import Released
from sourcebook_cli.catalogue import catalogue
from sourcebook_cli.stack import Stack
from tests.integration.cli.conftest import BUCKET

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.integration


@pytest.fixture
def stack(stack_starting: Callable[..., Stack]) -> Stack:
    return stack_starting()


@pytest.mark.usefixtures("stack", "nova_id")
def test_a_release_is_in_the_bucket_and_in_the_folder_and_is_made_once(tmp_path: Path) -> None:
    arguments = ["release", "--name", "dr1", "--to", str(tmp_path / "dr1"), "--json"]
    result = CliRunner().invoke(catalogue, arguments)
    assert result.exit_code == 0, result.output
    made = json.loads(result.stdout)
    assert made["counts"] == {"novae": 1, "spectra": 0, "photometry": 0, "references": 0}
    assert {"novae.vot", "novae.ecsv", "novae.parquet", "references.bib", "README.txt"} < made["files"].keys()
    for line in (tmp_path / "dr1" / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((tmp_path / "dr1" / name).read_bytes()).hexdigest() == digest
        stored = boto3.client("s3").get_object(Bucket=BUCKET, Key=f"releases/dr1/{name}")["Body"].read()
        assert stored == (tmp_path / "dr1" / name).read_bytes()
    assert isinstance(CliRunner().invoke(catalogue, arguments).exception, Released)


@pytest.mark.usefixtures("stack")
@pytest.mark.parametrize("name", ["../dr1", "dr 1", ".hidden", "x" * 61])
def test_a_name_that_is_no_name_of_a_folder_is_refused(name: str) -> None:
    result = CliRunner().invoke(catalogue, ["release", "--name", name])
    assert isinstance(result.exception, InvalidInput)
