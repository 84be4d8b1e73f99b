"""What a command learns of the stack that it works on."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping

import boto3
import boto3.session
import pytest

from sourcebook.errors import InvalidInput, Terminal
from sourcebook.feeds.settings import FeedSettings
from sourcebook.table.client import Table
from sourcebook_cli.stack import Stack

pytestmark = pytest.mark.integration


def stack_with(environment: Mapping[str, str], name: str = "fetch") -> Stack:
    trust = {"Statement": [{"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}}]}
    role = boto3.client("iam").create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps(trust))
    code = io.BytesIO()
    with zipfile.ZipFile(code, "w") as archive:
        archive.writestr("handler.py", "")
    boto3.client("lambda").create_function(
        FunctionName=name,
        Runtime="python3.13",
        Handler="handler.handler",
        Role=role["Role"]["Arn"],
        Code={"ZipFile": code.getvalue()},
        Environment={"Variables": dict(environment)},
    )
    return Stack(boto3.session.Session(), {"FetchFunctionName": name})


@pytest.mark.usefixtures("table")
def test_the_settings_of_feeds_are_those_of_the_function_that_polls_them() -> None:
    deployed = FeedSettings(max_refresh_interval_minutes=30, parser="reference")
    stack = stack_with({"TABLE_NAME": "t", **deployed.to_environment()})
    assert stack.feed_settings() == deployed


@pytest.mark.usefixtures("table")
def test_a_function_without_settings_has_the_defaults_and_a_wrong_one_is_named(table: Table) -> None:
    assert stack_with({"TABLE_NAME": table.name}).feed_settings() == FeedSettings()
    boto3.client("lambda").update_function_configuration(
        FunctionName="fetch", Environment={"Variables": {"FEEDS_PARSER": "lxml"}}
    )
    with pytest.raises(InvalidInput, match="FEEDS_PARSER"):
        Stack(boto3.session.Session(), {"FetchFunctionName": "fetch"}).feed_settings()


@pytest.mark.usefixtures("table")
def test_a_configuration_that_cannot_be_read_says_which_permission_is_missing() -> None:
    nowhere = Stack(boto3.session.Session(), {"FetchFunctionName": "nowhere"})
    with pytest.raises(Terminal, match=r"from nowhere .* need lambda:GetFunctionConfiguration"):
        nowhere.feed_settings()
