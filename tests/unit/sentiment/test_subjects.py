from __future__ import annotations

from typing import Any

import pytest

from sourcebook.errors import InvalidInput
from sourcebook.records.subject import Subject
from sourcebook.sentiment.subjects import parse_subject, parse_subjects

GOOD = {"tool_id": "quartzon", "name": "Quartzon", "kind": "tool", "aliases": ["QZ One"], "ticker": "QZN"}


def test_a_subject_is_the_same_after_its_way_through_an_item() -> None:
    subject = parse_subject(GOOD)
    assert Subject.of_item(subject.item()) == subject


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"tool_id": ""}, "tool_id"),
        ({"tool_id": "a#b"}, "tool_id"),
        ({"tool_id": "a:b"}, "tool_id"),
        ({"tool_id": "x" * 81}, "tool_id"),
        ({"tool_id": 7}, "tool_id"),
        ({"name": "  "}, "name"),
        ({"name": None}, "name"),
        ({"kind": "car"}, "kind"),
        ({"ticker": "msft"}, "ticker"),
        ({"aliases": "QZ"}, "aliases"),
        ({"aliases": ["ok", ""]}, "aliases[1]"),
        ({"aliases": ["x"] * 51}, "aliases"),
        ({"active": "yes"}, "active"),
        ({"alias": ["x"]}, "alias"),
    ],
)
def test_a_wrong_field_is_named(change: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_subject(GOOD | change)
    assert caught.value.field == field


@pytest.mark.parametrize("values", [None, [], {}, {"subjects": []}, "text", {"subjects": "x"}])
def test_a_list_without_subjects_is_refused(values: Any) -> None:
    with pytest.raises(InvalidInput, match="subjects"):
        parse_subjects(values)


def test_the_wrong_entry_of_a_list_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"subjects\[1\]\.kind"):
        parse_subjects([GOOD, GOOD | {"tool_id": "b", "kind": "car"}])
    with pytest.raises(InvalidInput, match=r"subjects\[1\]\.tool_id"):
        parse_subjects([GOOD, GOOD])
    with pytest.raises(InvalidInput, match=r"subjects\[0\]\.subject"):
        parse_subjects(["x"])


def test_a_retired_subject_leaves_the_index_of_the_active_ones() -> None:
    assert Subject("a", "A").item()["GSI1PK"] != Subject("a", "A", active=False).item()["GSI1PK"]
