"""The settings of feeds: defaults, the environment, and what they make of the client."""

from __future__ import annotations

from dataclasses import fields
from datetime import timedelta
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.errors import InvalidInput
from sourcebook.feeds.settings import PREFIX, FeedSettings

PAGE = (Path(__file__).parents[3] / "docs" / "feeds.md").read_text("utf-8")


def test_the_defaults_are_those_of_the_design_but_for_one() -> None:
    settings = FeedSettings.from_environment({})
    assert settings == FeedSettings()
    assert settings.max_concurrent_requests == 20, "docs/decisions/0361"
    assert settings.request_timeout_seconds == 10
    assert (settings.min_refresh_interval_minutes, settings.max_refresh_interval_minutes) == (1, 15)
    assert settings.target_articles_per_fetch == 5
    assert settings.shortest == timedelta(minutes=1)


def test_the_environment_overrides_them() -> None:
    settings = FeedSettings.from_environment(
        {
            "FEEDS_REQUEST_TIMEOUT_SECONDS": "7.5",
            "FEEDS_MAX_CONCURRENT_REQUESTS": " 4 ",
            "FEEDS_PARSER": "reference",
            "FEEDS_USER_AGENT": "Reader/2",
            "FEEDS_TARGET_ARTICLES_PER_FETCH": "",
        }
    )
    assert settings.request_timeout_seconds == 7.5
    assert settings.max_concurrent_requests == 4
    assert settings.parser == "reference"
    assert settings.target_articles_per_fetch == 5


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("FEEDS_MAX_CONCURRENT_REQUESTS", "many"),
        ("FEEDS_MAX_CONCURRENT_REQUESTS", "0"),
        ("FEEDS_REQUEST_TIMEOUT_SECONDS", "nan"),
        ("FEEDS_REQUEST_TIMEOUT_SECONDS", "61"),
        ("FEEDS_MIN_REFRESH_INTERVAL_MINUTES", "1.5"),
        ("FEEDS_MIN_REFRESH_INTERVAL_MINUTES", "16"),
        ("FEEDS_MAX_REFRESH_INTERVAL_MINUTES", "1441"),
        ("FEEDS_TARGET_ARTICLES_PER_FETCH", "-5"),
        ("FEEDS_USER_AGENT", "two words/1"),
        ("FEEDS_PARSER", "lxml"),
        ("FEEDS_PARSER_SAMPLE_PERCENT", "101"),
    ],
)
def test_a_wrong_value_is_named_with_its_variable(variable: str, value: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        FeedSettings.from_environment({variable: value})
    assert refused.value.field == variable
    assert value in str(refused.value)


@given(
    st.integers(1, 200),
    st.floats(1, 60),
    st.integers(1, 60),
    st.integers(60, 1440),
    st.sampled_from(["fast", "reference"]),
)
def test_they_survive_the_environment(
    concurrent: int, timeout: float, shortest: int, longest: int, parser: Literal["fast", "reference"]
) -> None:
    settings = FeedSettings(
        max_concurrent_requests=concurrent,
        request_timeout_seconds=timeout,
        min_refresh_interval_minutes=shortest,
        max_refresh_interval_minutes=longest,
        parser=parser,
    )
    assert FeedSettings.from_environment(settings.to_environment()) == settings


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"max_refresh_interval": 30}, "max_refresh_interval"),
        ({"max_refresh_interval_minutes": 1.5}, "max_refresh_interval_minutes"),
        ({"target_articles_per_fetch": True}, "target_articles_per_fetch"),
        ({"min_refresh_interval_minutes": 20}, "min_refresh_interval_minutes"),
        ({"parser": ["fast"]}, "parser"),
    ],
)
def test_a_wrong_setting_is_named(values: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        FeedSettings.from_values(values)
    assert refused.value.field == field


def test_they_make_the_policy_of_the_client() -> None:
    policy = FeedSettings(
        max_concurrent_requests=3, request_timeout_seconds=7, user_agent="Reader/2"
    ).http_policy(contact="https://a.example/bot", allowed_networks="127.0.0.0/8")
    assert (policy.max_concurrent, policy.total_timeout) == (3, 7)
    assert policy.user_agent == "Reader/2 (+https://a.example/bot)"
    assert len(policy.allowed_networks) == 1
    with pytest.raises(InvalidInput, match="allowed_networks"):
        FeedSettings().http_policy(allowed_networks="here")


def test_the_page_names_every_setting_with_its_variable() -> None:
    for setting in fields(FeedSettings):
        assert f"`{PREFIX}{setting.name.upper()}`" in PAGE
