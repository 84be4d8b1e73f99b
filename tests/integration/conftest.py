"""A table in moto, made from the synthesized template, so that the tests cannot drift from it."""

from __future__ import annotations

from collections.abc import Iterator

import boto3
import pytest
from moto import mock_aws

from sourcebook.table.client import Table
from tests import quick_moto
from tests.moto_table import MotoTable
from tests.templates import table_definition

quick_moto.hasten()


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("AWS_ENDPOINT_URL", "AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    with mock_aws():
        yield


@pytest.fixture
def table(aws: None) -> Table:
    definition = table_definition()
    boto3.client("dynamodb").create_table(**definition)
    return MotoTable.connect(definition["TableName"])
