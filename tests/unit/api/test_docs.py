"""docs/api.md describes the API as it is."""

from __future__ import annotations

import json
import re
from pathlib import Path

from sourcebook.api.routes import ROUTES
from sourcebook.articles.read import PUBLIC_FIELDS
from sourcebook.sources import read as sources

PAGE = (Path(__file__).parents[3] / "docs" / "api.md").read_text("utf-8")


def example(heading: str) -> dict[str, object]:
    """Return the first JSON block under a heading."""
    _, found, section = PAGE.partition(f"\n## {heading}\n")
    assert found, f"docs/api.md has no section {heading}"
    block = re.search(r"```json\n(.*?)```", section.partition("\n## ")[0], re.DOTALL)
    assert block is not None
    parsed: dict[str, object] = json.loads(block[1])
    return parsed


def first_item(heading: str) -> dict[str, object]:
    items = example(heading)["items"]
    assert isinstance(items, list)
    item: dict[str, object] = items[0]
    return item


def test_every_route_has_a_section() -> None:
    headings = set(re.findall(r"^## ((?:GET|POST|PATCH|DELETE) .*)$", PAGE, re.MULTILINE))
    assert headings == set(ROUTES)


def test_the_examples_have_the_fields_that_are_served() -> None:
    assert list(first_item("GET /articles")) == list(PUBLIC_FIELDS)
    assert list(first_item("GET /feeds")) == ["feed_id", "health", *sources.PUBLIC_FIELDS, *sources.COUNTS]
    assert list(first_item("GET /feeds/{feed_id}/history")) == ["due_at", *sources.FETCH_FIELDS]
    assert set(example("GET /health")) == {"status", "checks", "timestamp"}
