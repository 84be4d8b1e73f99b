"""The description of the API tells of sentiment as it is."""

from __future__ import annotations

from sourcebook.api.schemas import EXAMPLES, SCHEMAS
from sourcebook.sentiment.subjects import parse_subjects


def test_the_examples_have_the_fields_that_are_served() -> None:
    assert EXAMPLES["SubjectPage"]["items"][0].keys() == SCHEMAS["Subject"]["properties"].keys()
    assert EXAMPLES["Sentiment"].keys() == SCHEMAS["Sentiment"]["properties"].keys()
    bucket = SCHEMAS["SentimentSeries"]["properties"]["items"]["items"]
    assert EXAMPLES["SentimentSeries"]["items"][0].keys() == bucket["properties"].keys()


def test_the_example_of_a_subject_can_be_loaded() -> None:
    listed = EXAMPLES["SubjectPage"]["items"][0]
    declared = {name: value for name, value in listed.items() if name != "active"}
    assert parse_subjects([declared])[0].tool_id == "AAPL"
