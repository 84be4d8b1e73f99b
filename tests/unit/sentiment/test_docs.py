"""The description of the API tells of sentiment as it is."""

from __future__ import annotations

from sourcebook.api.schemas import EXAMPLES, SCHEMAS
from sourcebook.sentiment.cache import ENTRY_FIELDS
from sourcebook.sentiment.read import SERIES_FIELDS
from sourcebook.sentiment.subjects import PUBLIC_FIELDS, parse_subjects


def test_the_examples_have_the_fields_that_are_served() -> None:
    assert list(EXAMPLES["SubjectPage"]["items"][0]) == list(PUBLIC_FIELDS)
    assert list(SCHEMAS["Subject"]["properties"]) == list(PUBLIC_FIELDS)
    fields = [*ENTRY_FIELDS, "hours", "is_stale", "is_cached", "cached_at"]
    assert list(EXAMPLES["Sentiment"]) == fields == list(SCHEMAS["Sentiment"]["properties"])
    assert list(EXAMPLES["SentimentSeries"]["items"][0]) == list(SERIES_FIELDS)


def test_the_example_of_a_subject_can_be_loaded() -> None:
    listed = EXAMPLES["SubjectPage"]["items"][0]
    declared = {name: value for name, value in listed.items() if name != "active"}
    assert parse_subjects([declared])[0].tool_id == "AAPL"
