"""Context values: what an operator may choose, and what a wrong choice is told."""

from __future__ import annotations

import json
import re
from pathlib import Path

import aws_cdk as cdk
import pytest

from infra.application import build_app
from infra.deployment import CHOICES, Deployment, DeploymentTarget, take_choices
from infra.regions import check_region
from sourcebook.feeds.settings import FeedSettings

pytestmark = pytest.mark.infra


def _deployment(**context: object) -> Deployment:
    return Deployment.from_context(cdk.App(context=context, analytics_reporting=False).node)


def test_aws_is_the_default_and_lets_nothing_private_through() -> None:
    chosen = _deployment()
    assert chosen.target is DeploymentTarget.LAMBDA
    assert chosen.allowed_networks == ""
    assert chosen.public_read is False
    assert chosen.sentiment_engine == "model"
    assert chosen.bytecode == ""


def test_values_come_as_text_from_the_command_line() -> None:
    chosen = _deployment(
        target="local",
        public_read="False",
        allowed_networks=" 10.0.0.0/8 , ::1/128",
        analyze_concurrency="4",
        cors_origins="https://App.Example",
    )
    assert chosen.cors_origins == ("https://app.example",), "as browsers send it"
    assert chosen.is_local
    assert chosen.public_read is False
    assert chosen.allowed_networks == "10.0.0.0/8,::1/128"
    assert chosen.analyze_concurrency == 4


@pytest.mark.parametrize(
    "given",
    [
        {"max_refresh_interval_minutes": 30, "parser": "reference"},
        '{"max_refresh_interval_minutes": "30", "parser": "reference"}',
    ],
)
def test_the_settings_of_feeds_are_one_object(given: object) -> None:
    assert _deployment(feeds=given).feeds == FeedSettings(max_refresh_interval_minutes=30, parser="reference")
    assert _deployment().feeds == _deployment(feeds="").feeds == FeedSettings()


def test_an_empty_list_of_networks_closes_loopback_too() -> None:
    assert _deployment(target="local", allowed_networks="").allowed_networks == ""


@pytest.mark.parametrize(
    ("context", "message"),
    [
        ({"target": "aws"}, "target='aws': expected one of lambda, local"),
        ({"allowed_networks": "10.0.0.1/8"}, "allowed_networks: '10.0.0.1/8' is not a network"),
        ({"cors_origins": "https://a.example/path"}, "'https://a.example/path' is not an origin"),
        ({"cors_origins": "*,https://a.example"}, "either * for any site"),
        (
            {"contact": "News (Zürich) <bot@example.org>"},
            "context contact: 'News (Zürich) <bot@example.org>' is",
        ),
        ({"tns_bot": "our_bot"}, "tns_bot: 'our_bot' is not valid; expected <id>:<name>"),
        ({"public_read": "yes"}, "public_read='yes': expected true or false"),
        ({"feeds": {"max_interval": 3}}, "feeds.max_interval: 3 is not valid; expected one of the settings"),
        (
            {"feeds": '{"max_refresh_interval_minutes": 1441}'},
            "feeds.max_refresh_interval_minutes: 1441 is not valid; expected 1 to 1440",
        ),
        ({"feeds": "{parser: fast}"}, "feeds='{parser: fast}' is not JSON"),
        ({"feeds": [1]}, "feeds=[1]: expected an object of settings"),
        ({"fetch_concurrency": "1"}, "fetch_concurrency='1': expected a whole number from 2 to 1000"),
        (
            {"analyze_concurrency": "many"},
            "analyze_concurrency='many': expected a whole number from 2 to 1000",
        ),
        ({"index_shards": "65"}, "index_shards='65': expected a whole number from 1 to 64"),
        (
            {"index_shards": "8", "index_shards_before": "8"},
            "index_shards_before=8: expected more than index_shards, which is 8, or nothing where",
        ),
        ({"grouping_lines": "0"}, "grouping_lines='0': expected a whole number from 1 to 32"),
        (
            {"sentiment_engine": "finbert"},
            "sentiment_engine='finbert': expected one of model, fallback, vader, comprehend",
        ),
        (
            {"target": "local", "sentiment_engine": "comprehend"},
            "sentiment_engine='comprehend': the embedded cloud has no Comprehend; expected one of model, ",
        ),
        (
            {"target": "local", "bytecode": "python3.13"},
            "bytecode='python3.13': the embedded cloud's layers have the bytecode of its own interpreter",
        ),
    ],
)
def test_a_wrong_value_is_named_with_what_would_be_right(context: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        _deployment(**context)


def _chosen(file: Path, **context: object) -> Deployment:
    node = cdk.App(context=context, analytics_reporting=False).node
    take_choices(node, file)
    return Deployment.from_context(node)


def test_choices_come_from_their_file(tmp_path: Path) -> None:
    file = tmp_path / "deployment.json"
    file.write_text(json.dumps({"contact": "you@example.org", "public_read": True, "fetch_concurrency": 20}))
    chosen = _chosen(file)
    assert (chosen.contact, chosen.public_read, chosen.fetch_concurrency) == ("you@example.org", True, 20)
    # The same said again does no harm, however the command line spells it.
    assert _chosen(file, public_read="true", fetch_concurrency="20") == chosen
    assert _chosen(tmp_path / "none.json") == _deployment()


def test_the_embedded_cloud_does_not_read_them(tmp_path: Path) -> None:
    file = tmp_path / "deployment.json"
    file.write_text('{"fetch_concurrency": 20}')
    assert _chosen(file, target="local", fetch_concurrency="4").fetch_concurrency == 4


def test_how_a_machine_builds_is_its_own_matter(tmp_path: Path) -> None:
    assert _chosen(tmp_path / "none.json", bytecode="python3.13").bytecode == "python3.13"


@pytest.mark.parametrize(
    ("written", "context", "message"),
    [
        ({}, {"contact": "you@example.org"}, 'write "contact": "you@example.org" into deployment.json'),
        ({"public_read": True}, {"public_read": "false"}, "the next deployment would forget it"),
        (
            {"publicread": True},
            {},
            "deployment.json: 'publicread' is no choice; expected some of acquire_con",
        ),
        ({"target": "local"}, {}, "'target' is no choice"),
        ({"fetch_concurrency": 1}, {}, "fetch_concurrency=1: expected a whole number from 2 to 1000"),
        ([], {}, "expected an object of choices"),
        ("{", {}, "deployment.json is not JSON"),
    ],
)
def test_a_choice_that_the_next_deployment_would_drop_is_refused(
    tmp_path: Path, written: object, context: dict[str, object], message: str
) -> None:
    file = tmp_path / "deployment.json"
    file.write_text(written if isinstance(written, str) else json.dumps(written))
    with pytest.raises(ValueError, match=re.escape(message)):
        _chosen(file, **context)


def test_the_file_of_this_checkout_is_valid() -> None:
    assert _chosen(CHOICES).target is DeploymentTarget.LAMBDA


def test_a_region_is_refused_with_what_it_lacks() -> None:
    check_region("eu-central-1", _deployment(sentiment_engine="comprehend", traces="true"))
    check_region("cn-north-1", _deployment())
    check_region("xx-nowhere-1", _deployment(sentiment_engine="comprehend"))
    with pytest.raises(ValueError, match=r"eu-north-1 does not have Comprehend \(choose another"):
        check_region("eu-north-1", _deployment(sentiment_engine="comprehend"))
    with pytest.raises(ValueError, match=r"us-isof-east-1 does not have API Gateway's HTTP APIs"):
        check_region("us-isof-east-1", _deployment())


def test_a_synthesis_for_a_region_without_a_service_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CDK_DEFAULT_REGION", "us-isof-east-1")
    (tmp_path / "deployment.json").write_text("{}")
    with pytest.raises(ValueError, match="us-isof-east-1 does not have"):
        build_app(outdir=tmp_path / "out", choices=tmp_path / "deployment.json")
