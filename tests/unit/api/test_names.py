"""The read side spells the models' names itself, so as not to import pydantic: here the two are compared."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from sourcebook.articles import read as articles
from sourcebook.records.source import Source
from sourcebook.sources.model import SourceSpec, state_item
from sourcebook.table import keys


def stored_source(*, enabled: bool = True, **state: Any) -> dict[str, Any]:
    """Return a source's STATE item as it comes back from the table, without its absent attributes."""
    spec = SourceSpec(source_id="a", url="https://a.example/", enabled=enabled)
    item = state_item(spec, now="2026-11-27T00:00:00Z") | state
    return {name: value for name, value in item.items() if value is not None}


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("errors", [0, 3])
@pytest.mark.parametrize("success", [None, "2026-11-27T21:56:00Z"])
def test_health_is_that_of_the_source(*, enabled: bool, errors: int, success: str | None) -> None:
    source = Source.of_item(
        stored_source(enabled=enabled, consecutive_errors=errors, last_success_at=success)
    )
    wanted = "disabled" if not enabled else "failing" if errors else "healthy" if success else "new"
    assert source.shown()["health"] == source.shown_in_short()["health"] == source.health.value == wanted


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
