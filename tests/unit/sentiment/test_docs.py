"""docs/api.md describes the operations on sentiment as they are."""

from __future__ import annotations

from sourcebook.sentiment.cache import ENTRY_FIELDS
from sourcebook.sentiment.read import SERIES_FIELDS
from sourcebook.sentiment.subjects import PUBLIC_FIELDS, parse_subjects
from tests.unit.api.test_docs import example, first_item


def test_the_examples_have_the_fields_that_are_served() -> None:
    assert list(first_item("GET /api/v1/tools")) == list(PUBLIC_FIELDS)
    sentiment = example("GET /api/v1/tools/{tool_id}/sentiment")
    assert list(sentiment) == [*ENTRY_FIELDS, "hours", "is_stale", "is_cached", "cached_at"]
    assert list(first_item("GET /api/v1/tools/{tool_id}/sentiment/series")) == list(SERIES_FIELDS)


def test_the_example_of_a_subject_can_be_loaded() -> None:
    declared = {name: value for name, value in first_item("GET /api/v1/tools").items() if name != "active"}
    assert parse_subjects([declared])[0].tool_id == "AAPL"
