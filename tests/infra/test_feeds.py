"""The settings of feeds, from the context to the functions that go by them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sourcebook.feeds.settings import PREFIX, FeedSettings

if TYPE_CHECKING:
    from tests.infra.conftest import Assembly

pytestmark = pytest.mark.infra

GO_BY_THEM = ("fetch_sources", "api")


def _settings(assembly: Assembly) -> dict[str, FeedSettings]:
    """Return the settings of each function that is given some."""
    found = {}
    for function in assembly.properties("AWS::Lambda::Function"):
        variables = function.get("Environment", {}).get("Variables", {})
        if any(name.startswith(PREFIX) for name in variables):
            plain = {name: value for name, value in variables.items() if isinstance(value, str)}
            name = function["FunctionName"].partition("-")[2]
            found[name] = FeedSettings.from_environment(plain)
    return found


def test_without_a_choice_feeds_are_polled_by_the_defaults(aws: Assembly) -> None:
    assert _settings(aws) == dict.fromkeys(GO_BY_THEM, FeedSettings())
    variables = aws.function("fetch_sources")["Environment"]["Variables"]
    assert FeedSettings().to_environment().items() <= variables.items(), "all are there to be read"


def test_one_object_of_the_context_sets_them_for_all_who_go_by_them(chosen: Assembly) -> None:
    settings = FeedSettings(max_refresh_interval_minutes=30, target_articles_per_fetch=3, parser="reference")
    assert _settings(chosen) == dict.fromkeys(GO_BY_THEM, settings)
