"""The table with something of everything, in moto: one for the tests of a module that need a whole one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import boto3
import boto3.session
import pytest
from moto import mock_aws

from tests.integration.integrity.healthy import Healthy, build
from tests.moto_table import MotoTable
from tests.templates import table_definition


@contextmanager
def built_in_moto() -> Iterator[Healthy]:
    """Yield the table, built anew, in an environment that leads to moto alone."""
    with pytest.MonkeyPatch.context() as environment, mock_aws():
        for name in ("AWS_ENDPOINT_URL", "AWS_PROFILE", "AWS_SESSION_TOKEN"):
            environment.delenv(name, raising=False)
        environment.setenv("AWS_ACCESS_KEY_ID", "testing")
        environment.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        environment.setenv("AWS_DEFAULT_REGION", "us-east-1")
        definition = table_definition()
        boto3.client("dynamodb").create_table(**definition)
        yield build(MotoTable.connect(definition["TableName"]), boto3.session.Session())
