"""The pages of the docs describe events as they are."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from sourcebook.api.schemas import EXAMPLES, SCHEMAS
from sourcebook.articles.grouping.groups import MOST_MEMBERS
from sourcebook.articles.grouping.ungrouped import INTERVAL, THRESHOLD
from sourcebook.articles.normalize import identify
from sourcebook.events import ArticlesNew, BusEvent, GenerateIdeas, GroupHeadlines
from sourcebook.records.base import shown_names
from sourcebook.records.event import EventIdea, EventMember, Idea
from tests.incoming import NOON

DOCS = Path(__file__).parents[4] / "docs"
ARTICLES = (DOCS / "articles.md").read_text("utf-8")


def test_the_examples_of_events_have_the_fields_that_are_served() -> None:
    for example, name in ((EXAMPLES["EventPage"]["items"][0], "EventSummary"), (EXAMPLES["Event"], "Event")):
        assert set(example) == set(SCHEMAS[name]["properties"])
    assert set(EXAMPLES["EventPage"]["items"][0]["idea"]) == set(shown_names(EventIdea))
    assert set(EXAMPLES["Event"]["members"][0]) == set(shown_names(EventMember))
    assert set(EXAMPLES["Event"]["ideas"][0]) == set(shown_names(Idea))


@pytest.mark.parametrize("event", [ArticlesNew, GroupHeadlines, GenerateIdeas])
def test_every_event_of_the_bus_is_described_with_its_fields(event: type[BusEvent]) -> None:
    (row,) = (line for line in ARTICLES.splitlines() if line.startswith(f"| `{event.detail_type}`"))
    own = event.model_fields.keys() - BusEvent.model_fields.keys()
    assert own <= set(re.findall(r"`(\w+)`", row))


def test_the_example_of_an_event_can_be_read() -> None:
    block = re.search(r'```json\n(\{\n  "source": .*?)```', ARTICLES, re.DOTALL)
    assert block is not None
    example = json.loads(block[1])
    assert example["detail-type"] == ArticlesNew.detail_type
    ArticlesNew.model_validate(example["detail"])


def test_thresholds_are_described_as_they_are() -> None:
    minutes = int(INTERVAL.total_seconds() / 60)
    assert f"{THRESHOLD} articles wait, or when one has waited for {minutes} minutes" in ARTICLES
    assert f"up to {MOST_MEMBERS} members" in ARTICLES


def test_the_example_of_a_key_is_right() -> None:
    found = identify("Apple Reports Q4 Earnings Beat - Reuters", NOON)
    assert found.dedup_key in ARTICLES
    assert found.normalized in ARTICLES
