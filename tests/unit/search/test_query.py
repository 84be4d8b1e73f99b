"""What a person may ask for, and what is refused with a word on what is wrong."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.errors import InvalidInput
from sourcebook.search.query import LONGEST, Query, SearchTerm, parse

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)


def read(text: str) -> Query:
    return parse(text, NOW)


def test_words_phrases_and_filters_become_terms() -> None:
    query = read('Ferry "Orders Double" -source:Circuit subject:"Apple Inc" lang:EN')
    assert query.groups == (
        (SearchTerm("", ("ferry",)),),
        (SearchTerm("", ("orders", "double")),),
        (SearchTerm("source", ("Circuit",), negated=True),),
        (SearchTerm("subject", ("Apple Inc",)),),
        (SearchTerm("lang", ("EN",)),),
    )
    assert query.phrases == [("ferry",), ("orders", "double")]


def test_or_joins_its_neighbours() -> None:
    query = read("a b OR -c OR source:d e | f")
    assert [[term.values[0] for term in group] for group in query.groups] == [
        ["a"],
        ["b", "c", "d"],
        ["e", "f"],
    ]


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("24h", NOW - timedelta(hours=24)),
        ("7d", NOW - timedelta(days=7)),
        ("90m", NOW - timedelta(minutes=90)),
        ("2W", NOW - timedelta(weeks=2)),
        ("2026-11-20", datetime(2026, 11, 20, tzinfo=UTC)),
        ("2026-11-20T10:00:00+02:00", datetime(2026, 11, 20, 8, tzinfo=UTC)),
    ],
)
def test_times_are_moments_days_or_how_long_ago(text: str, moment: datetime) -> None:
    assert read(f"a since:{text}").since == moment
    assert read(f"UNTIL:{text} a").until == moment
    assert read(f"since:{text}").groups == ()


def test_quotes_of_other_kinds_are_quotes_and_a_hyphen_in_a_word_is_no_not() -> None:
    assert read("“red ferry”").groups == ((SearchTerm("", ("red", "ferry")),),)
    assert read("covid-19").groups == ((SearchTerm("", ("covid", "19")),),)
    assert read("a - b").groups == ((SearchTerm("", ("a",)),), (SearchTerm("", ("b",)),))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "words"),
        ("  !!! ", "words"),
        ("OR a", "OR between"),
        ("a OR", "OR between"),
        ("a OR OR b", "OR between"),
        ("a OR since:7d", "not beside OR"),
        ("since:7d OR a", "OR between"),
        ("-since:7d a", "without -"),
        ("since:7d since:8d", "once"),
        ("soruce:x", "source:"),
        ("https://a.example/", "quotation marks"),
        ('"open', "quotation mark at the end"),
        ("x" * (LONGEST + 1), "at most 400"),
        (" ".join(["a"] * 31), "at most 30"),
        ("a\ud800", "whole Unicode"),
        ("ferr*", "whole words"),
        ("source: harbor-ledger", "without a blank"),
        ("(ferry tram) OR harbor", "no brackets"),
        ("ferry -(strike delay)", "no brackets"),
    ],
)
def test_what_cannot_be_meant_is_refused(text: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=why) as refused:
        read(text)
    assert refused.value.field == "q"


@pytest.mark.parametrize("text", ["yesterday", "7y", "2026-13-01", "2026-11-20T10:00:00", "99999w9"])
def test_a_wrong_time_names_its_filter(text: str) -> None:
    with pytest.raises(InvalidInput, match="24h") as refused:
        read(f"a since:{text}")
    assert refused.value.field == "since"


@given(st.text(max_size=60))
def test_no_text_breaks_a_query(text: str) -> None:
    with contextlib.suppress(InvalidInput):
        read(text)
