"""What holds for every headline, not only for those that somebody thought of."""

from __future__ import annotations

import re
import time
import unicodedata
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.articles.normalize import identify, normalize_headline, signature
from sourcebook.errors import InvalidInput

PUBLISHED = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)

# Pieces that the rules know, so that chance puts them together in every order.
PIECES = [
    *["a", "Ω", "é", "ß", "İ", "क", "東", "ا", "9", "-", "–", "—", "|", ":", "·", ".", ",", "'", "&"],
    *["<", ">", "(", ")", "[", "]", "【", "】", "_", "%", "$", "€", "+", "#", "/", "−", "½", "™", "´"],
    *["\u0301", "\u200d", "\ufe0f", "🚨", "ﷺ"],
    *["Fed", "Oil", "up", "1.5%", "-3%", "$1,500", "10,5", "3-2", "9/11", "C++", "C#", ".NET", "AA-"],
    *["Disney+", "Q4", "2026", "U.S.", "COVID-19"],
    *["Reuters", "BBC", "News", "World", "AP", "Bloomberg", "Bugle", "Daily", "bugle.com", "UPDATE"],
    *["2-", "BREAKING:", "LIVE", "RPT-"],
    *["&amp;", "&amp;#39;", "&lt;b&gt;", "<b>", "</b>", "<br/>", "&nbsp;"],
    "Daily Bugle",
    " - ",
    " | ",
    " ",
    "",
]
headlines = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join),
    st.lists(st.sampled_from(PIECES), max_size=14).map("".join),
)
plain_words = st.lists(
    st.sampled_from(
        ["Fed", "Oil", "holds", "rates", "Ärger", "курс", "falls", "1.5%", "$3", "AA-", "C++", "3-2", "to"]
    ),
    min_size=1,
    max_size=9,
).map(" ".join)
publishers = st.lists(
    st.sampled_from(
        ["Reuters", "Daily Bugle", "dailybugle.com", "Oil - Google News", "World - CBSNews.com", "Oil"]
    ),
    max_size=3,
)


def normalized_or_none(headline: str, names: list[str]) -> str | None:
    try:
        return normalize_headline(headline, names)
    except InvalidInput:
        return None


@given(headlines, publishers)
def test_normalizing_again_changes_nothing(headline: str, names: list[str]) -> None:
    normalized = normalized_or_none(headline, names)
    if normalized is not None:
        assert normalize_headline(normalized, names) == normalized


@given(headlines, publishers)
def test_the_result_is_what_the_rules_say_or_an_error(headline: str, names: list[str]) -> None:
    normalized = normalized_or_none(headline, names)
    if normalized is None:
        words = {character for character in headline if character.isalnum()}
        fillers = set("\u115f\u1160\u3164\uffa0")  # letters to Unicode, nothing to the eye
        assert "&" in headline or "<" in headline or words <= fillers
        return
    assert normalized
    assert normalized == normalized.lower() == normalized.strip()
    assert "  " not in normalized
    assert {unicodedata.category(character)[0] for character in normalized if character != " "} <= set("LMN")
    assert unicodedata.is_normalized("NFKC", normalized)


@given(headlines, publishers)
def test_the_key_is_32_hexadecimal_digits(headline: str, names: list[str]) -> None:
    if normalized_or_none(headline, names) is not None:
        identity = identify(headline, PUBLISHED, names)
        assert re.fullmatch("[0-9a-f]{32}", identity.dedup_key)
        assert re.fullmatch("[0-9a-f]{32}", identity.signed_key)
        assert identity.signed_key != identity.dedup_key


@given(plain_words)
def test_case_changes_nothing(headline: str) -> None:
    assert identify(headline.upper(), PUBLISHED) == identify(headline.lower(), PUBLISHED)


@given(plain_words, st.sampled_from([" ", "  ", "\u00a0", "\t", "\n", "\u3000 "]))
def test_white_space_changes_nothing(headline: str, space: str) -> None:
    spaced = f"{space}{headline.replace(' ', space)}{space}"
    assert identify(spaced, PUBLISHED) == identify(headline, PUBLISHED)


@given(
    plain_words,
    st.sampled_from(
        ["", "UPDATE 2-", "BREAKING: ", "Exclusive-", "RPT-UPDATE 1-", "(Updated) ", "🚨 LIVE: ", "AP — "]
    ),
    st.sampled_from(
        ["", " - Reuters", " – Daily Bugle", "|dailybugle.com", " — BBC News", " (AFP)", " [Updated]"]
    ),
)
def test_what_newsrooms_add_changes_nothing(headline: str, before: str, after: str) -> None:
    dressed = f"{before}{headline}{after}"
    assert identify(dressed, PUBLISHED, ["Daily Bugle"]) == identify(headline, PUBLISHED)
    assert signature(dressed, ["Daily Bugle"]) == signature(headline)


@given(headlines, st.sampled_from([" - Reuters", " | Daily Bugle"]))
def test_a_publisher_more_changes_nothing_whatever_stands_before(headline: str, after: str) -> None:
    names = ["Daily Bugle"]
    normalized = normalized_or_none(headline, names)
    if normalized is not None:
        assert normalize_headline(f"{headline}{after}", names) == normalized
        assert signature(f"{headline}{after}", names) == signature(headline, names)


@pytest.mark.parametrize(
    "piece",
    [
        *[
            "word ",
            "a",
            " ",
            "-",
            " - ",
            "|",
            "(",
            "<b ",
            "<b a=",
            "&amp;",
            "1.",
            "1,",
            "$-",
            "a+",
            "'",
            "ﷺ",
            "½",
        ],
        *[
            "\u0301",
            "UPDATE 2-",
            "LIVE: ",
            " - Reuters",
            "Reuters - ",
            "(Reuters) ",
            " (Updated)",
            "【速報】",
        ],
    ],
)
def test_a_very_long_headline_takes_no_longer_than_its_limit_does(piece: str) -> None:
    headline = "x" + piece * (100_000 // len(piece))
    begin = time.process_time()
    identify(headline, PUBLISHED)
    assert time.process_time() - begin < 0.5  # some 0.02 s; quadratic time would be tens of seconds
