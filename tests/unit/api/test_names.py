"""The read side spells the models' names itself, so as not to import pydantic: here the two are compared."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from typing import Any

import pytest

from sourcebook.articles import read as articles
from sourcebook.sources import read as sources
from sourcebook.sources.model import Health, Source, SourceSpec, state_item
from sourcebook.sources.poll import PollResult, Rejected, Verdict, history_item
from sourcebook.table import keys


def stored_source(*, enabled: bool = True, **state: Any) -> dict[str, Any]:
    """Return a source's STATE item as it comes back from the table, without its absent attributes."""
    spec = SourceSpec(source_id="a", url="https://a.example/", enabled=enabled)
    item = state_item(spec, now="2026-11-27T00:00:00Z") | state
    return {name: value for name, value in item.items() if value is not None}


def test_feeds_are_served_with_the_fields_of_their_model_but_those_that_only_polling_needs() -> None:
    kept_back = {"etag", "last_modified", "body_hash", "circuit", "options", "observed_day"}
    kept_back |= {"histogram", "entries_counted", "skip", "redirect_url", "redirect_count", "full_fetch_at"}
    kept_back |= {"validators_stuck", "rate_lately", "entries_together", "broken_count", "title"}
    served = {*sources.PUBLIC_FIELDS, *sources.COUNTS}
    assert served == set(Source.model_fields) - {"source_id"} - kept_back
    assert set(sources.HEALTHS) == {health.value for health in Health}


def test_fetches_are_served_with_the_fields_that_polling_writes() -> None:
    now = datetime(2026, 11, 27, tzinfo=UTC)
    source = Source.from_item(stored_source())
    rejected = (Rejected("a", "1", "no headline"),)
    item = history_item(source, PollResult(Verdict.CHANGED, "ok", "m", 200, rejected=rejected), now, 5)
    internal = {"PK", "SK", "entity_type", "schema_version", "source_id", "ttl_timestamp"}
    assert set(sources.FETCH_FIELDS) == set(item) - internal


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("errors", [0, 3])
@pytest.mark.parametrize("success", [None, "2026-11-27T21:56:00Z"])
def test_health_is_judged_by_the_rule_of_the_model(
    *, enabled: bool, errors: int, success: str | None
) -> None:
    item = stored_source(enabled=enabled, consecutive_errors=errors, last_success_at=success)
    assert sources.health_of(item) == Source.from_item(item).health.value
    assert sources.public(item)["health"] == sources.health_of(item)


def test_an_article_of_the_older_format_keeps_its_own_fields() -> None:
    item = {
        **keys.article_alias("tiingo", "91144751"),
        "source_id": "tiingo:91144751",
        "timestamp": "2025-12-01T00:00:00Z",
        "status": "analyzed",
        "source_type": "tiingo",
    }
    assert articles.read_article(item).shown() == {
        name: value for name, value in item.items() if name not in {"PK", "SK"}
    }


def test_the_api_starts_without_pydantic_and_the_event_handler_of_powertools() -> None:
    code = (
        "import sys, sourcebook.api.routes\n"
        "from aws_lambda_powertools import Logger\n"
        "Logger()\n"
        "heavy = ('pydantic', 'httpx', 'feedparser', 'aws_lambda_powertools.event_handler',\n"
        "         'sourcebook.api.schemas', 'sourcebook.api.openapi', 'sourcebook.api.reference')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"
