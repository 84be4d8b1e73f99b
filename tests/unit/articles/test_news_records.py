"""Records of news APIs as they are really sent: nulls, numbers as text, lists as text."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from sourcebook.articles.adapters.news_api import Finnhub, Tiingo
from sourcebook.errors import InvalidInput

NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)
FINNHUB = {
    "id": 7, "datetime": int(NOON.timestamp()), "headline": "Anvil makes anvils", "source": "a.example",
    "url": "https://a.example/1", "related": "ANVL", "summary": "", "category": "company", "image": "",
}  # fmt: skip
TIINGO = {
    "id": 7, "publishedDate": "2026-11-27T12:00:00Z", "crawlDate": "2026-11-27T12:05:00Z",
    "source": "a.example", "title": "Anvil makes anvils", "url": "https://a.example/1", "tickers": ["anvl"],
    "description": "",
}  # fmt: skip


@pytest.mark.parametrize(
    "written",
    [
        "2026-11-27T12:00:00Z",
        "2026-11-27T12:00:00",
        "2026-11-27 12:00:00+00:00",
        "2026-11-27T07:00:00.000000-05:00",
        1795780800,
        "1795780800",
        1795780800.0,
        1795780800000,
        "1795780800000",
    ],
)
def test_a_time_is_read_in_any_of_its_forms(written: object) -> None:
    assert Finnhub().read({**FINNHUB, "datetime": written}, "ANVL")["published_at"] == NOON
    assert Tiingo().read({**TIINGO, "publishedDate": written}, "ANVL")["published_at"] == NOON


@pytest.mark.parametrize(
    "written", [0, "0", None, "", True, -5, float("nan"), 1e300, "soon", "05/11/2026", {}]
)
def test_a_time_that_nobody_can_tell_is_refused_by_name(written: object) -> None:
    with pytest.raises(InvalidInput, match=r"^datetime"):
        Finnhub().read({**FINNHUB, "datetime": written}, "ANVL")


@pytest.mark.parametrize("written", [None, ""])
def test_an_article_without_its_time_has_that_of_the_crawl(written: object) -> None:
    read = Tiingo().read({**TIINGO, "publishedDate": written}, "ANVL")
    assert read["published_at"] == datetime(2026, 11, 27, 12, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("written", "symbols"),
    [
        (["anvl", "ANVL", " hmmr ", "", None, 5], ["ANVL", "HMMR"]),
        ("anvl, hmmr", ["ANVL", "HMMR"]),
        ([], []),
        ("", []),
        (None, []),
    ],
)
def test_tickers_come_as_a_list_or_as_text(written: object, symbols: list[str]) -> None:
    assert Tiingo().read({**TIINGO, "tickers": written}, "ANVL")["tickers"] == symbols
    assert Finnhub().read({**FINNHUB, "related": written}, "ANVL")["tickers"] == sorted({*symbols, "ANVL"})


@pytest.mark.parametrize("written", [None, 0, "", "0"])
def test_an_article_without_an_id_is_known_by_its_address(written: object) -> None:
    assert Tiingo().read({**TIINGO, "id": written}, "ANVL")["article_id"] == "https://a.example/1"


@pytest.mark.parametrize("written", [None, "", {}, []])
def test_what_an_article_cannot_do_without_is_refused_by_name(written: object) -> None:
    with pytest.raises(InvalidInput, match=r"^headline"):
        Finnhub().read({**FINNHUB, "headline": written}, "ANVL")
    with pytest.raises(InvalidInput, match=r"^url"):
        Finnhub().read({**FINNHUB, "url": written, "id": None}, "ANVL")


def test_half_a_character_at_the_end_of_a_text_is_dropped() -> None:
    assert Finnhub().read({**FINNHUB, "summary": "Anvils \ud83d"}, "ANVL")["text"] == "Anvils"
