"""One day of the index: what is found in many languages, what is not, and that writing twice is as once."""

from __future__ import annotations

import zlib
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sourcebook.clock import isoformat
from sourcebook.records.article import Article
from sourcebook.search.day import ArticleWords, Day, IndexedArticle, needs_text
from sourcebook.search.query import parse
from sourcebook.search.sqlite import DamagedIndex

NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)


def article(number: int, headline: str, text: str = "", **values: Any) -> dict[str, Any]:
    return {
        "dedup_key": f"{number:032x}",
        "timestamp": isoformat(NOON + timedelta(minutes=number)),
        "headline": headline,
        "text_for_analysis": text,
        "status": "analyzed",
        "sources": ["harbor-ledger"],
        **values,
    }


class Known(Day):
    """A day that remembers the articles, as the table does."""

    entries: dict[str, IndexedArticle]

    def add(self, *rows: dict[str, Any]) -> int:
        entries = [IndexedArticle.of(Article.of_item(row)) for row in rows]
        self.entries = getattr(self, "entries", {}) | {entry.key: entry for entry in entries}
        return self.put(entries)


def day_of(*headlines: str) -> Known:
    day = Known()
    day.add(*(article(number, headline) for number, headline in enumerate(headlines)))
    return day


def found(day: Known, text: str) -> list[int]:
    """The articles that are found: by the index, and of those by their text."""
    query = parse(text, NOON)
    hits = [hit for hit in day.find(query.groups) if ArticleWords(day.entries[hit.key]).match(query.groups)]
    if not needs_text(query.groups):
        assert hits == day.find(query.groups), "then the index alone is right"
    return [int(hit.key, 16) for hit in hits]


def finds(headline: str, text: str) -> bool:
    return found(day_of(headline), text) == [0]


@pytest.mark.parametrize(
    ("headline", "there", "missing"),
    [
        (
            "Ferry orders double in Lisbon",
            ["FERRY", "double orders", '"orders double"'],
            ["ferries", '"double orders"'],
        ),
        (
            "Ngân hàng của Nguyễn Đình tăng lãi suất",
            ["nguyen dinh", "Nguyễn", "lai suat", "ĐÌNH"],
            ["nguyen tran", "dinhh"],
        ),
        (
            "Crème brûlée façon grand-mère",
            ["creme brulee", "facon", '"grand mere"', "GRAND-MÈRE"],
            ["cremes"],
        ),
        ("Die Straße am Fluß wird größer", ["strasse", "fluss", "grosser"], ["strase"]),
        ("Łódź wita nową halę, a Kraków żegna starą", ["lodz", "krakow", "zegna"], ["lodzi"]),
        ("Το ΛΙΜΆΝΙ του Πειραιά", ["λιμανι", "πειραια"], ["λιμανια"]),
        ("Новый порт: ёлка и Йод", ["елка", "новыи", "НОВЫЙ ПОРТ"], ["порты"]),
        ("İstanbul'da yağmur, Iğdır'da kar", ["istanbul", "igdir", "yagmur"], ["istanbu"]),
        ("東京証券取引所で株価が上昇", ["株価", "証券取引", "東京 上昇", '"株価が上昇"'], ["価株", "大阪"]),
        ("カタカナとひらがなのニュース", ["カナ", "ひらがな", "ニュース"], ["ナカ", "ヒラガナ"]),
        ("北京大学发布新的人工智能模型", ["人工智能", "大学", "北京 模型"], ["智能人工", "南京"]),
        (
            "삼성전자가 새로운 반도체 공장을 짓는다",
            ["삼성전자", "전자", "반도", "반도체 공장"],
            ["자전", "엘지"],
        ),
        ("ธนาคารกลางขึ้นดอกเบี้ย", ["ธนาคาร", "ดอกเบี้ย"], ["เงินกู้"]),
        ("البنكُ المركزيّ يرفع الفائدة", ["البنك", "المركزي"], ["بنوك"]),
        ("भारत में नई रेल लाइन", ["भारत", "रेल लाइन"], ["भार", "रेलवे"]),
        ("שָׁלוֹם ירושלים", ["שלום", "ירושלים"], ["שלומי"]),
        ("ＡＢＣ　１２３ full-width", ["abc 123"], ["ab"]),
        ("GPT-4o beats O'Neil's U.S. record: 3.5%", ["gpt-4o", "o'neil", "U.S.", "3.5%"], ["gpt4"]),
    ],
)
def test_what_is_there_is_found_and_what_is_not_is_not(
    headline: str, there: list[str], missing: list[str]
) -> None:
    assert [text for text in there if not finds(headline, text)] == []
    assert [text for text in missing if finds(headline, text)] == []


def test_addresses_are_no_words() -> None:
    day = day_of("Ferry orders https://t.example/Qx7Zk2 double")
    assert found(day, '"orders double"') == [0]
    assert found(day, "Qx7Zk2") == []


def test_words_or_and_not() -> None:
    day = day_of("red ferry", "blue ferry", "blue tram", "green tram")
    assert found(day, "ferry") == [1, 0]
    assert found(day, "blue ferry") == [1]
    assert found(day, "red OR green") == [3, 0]
    assert found(day, "ferry OR tram blue") == [2, 1]
    assert found(day, "blue -ferry") == [2]
    assert found(day, "-ferry") == [3, 2]
    assert found(day, '-"blue tram" tram') == [3]
    assert found(day, "ferry NOT blue") == [0]
    assert found(day, "ferry –blue") == found(day, "ferry −blue") == [0]
    assert found(day, "red|green") == found(day, "(red OR green)") == [3, 0]
    assert found(day, "or") == []


def test_initials_are_found_with_their_points_and_without() -> None:
    day = day_of("U.S. tariffs rise", "US Steel is sold", "UK inflation slows")
    assert found(day, "US") == found(day, "u.s.") == [1, 0]
    assert found(day, '"U.S. Steel"') == [1]
    assert found(day, "US OR U.K.") == [2, 1, 0]
    assert found(day, "-us") == [2]


def test_words_are_found_with_the_marks_that_make_them_another() -> None:
    day = day_of("C++26 is out", "C# and .NET 10", "Vitamin C helps", "ASP.NET is old, the net is older")
    assert found(day, "c++") == [0]
    assert found(day, '"C#"') == [1]
    assert found(day, ".net") == [3, 1]
    assert found(day, "c -c++ -c#") == [2]
    assert found(day, "c++ OR vitamin") == [2, 0]


def test_numbers_are_found_with_separators_and_without() -> None:
    day = day_of("3,000 jobs go", "3000 jobs come", "1.250.000 euros", "In 2026", "2,026 votes")
    assert found(day, "3000 jobs") == found(day, "3,000") == [1, 0]
    assert found(day, "1250000") == [2]
    assert found(day, "2026") == [3]


def test_filters_combine_with_words() -> None:
    day = Known()
    rows = [
        article(0, "Ferry", sources=["harbor-ledger"], sentiment="positive", tags=["AAPL", "Rates, bonds"]),
        article(1, "Ferry", sources=["Circuit-Review", "harbor-ledger"], sentiment="neutral"),
        article(2, "Ferry", sources=["circuit"], sentiment="negative", metadata={"language": "pt-BR"}),
    ]
    day.add(*rows)
    assert found(day, "source:harbor-ledger") == [1, 0]
    assert found(day, "ferry source:circuit-review") == [1]
    assert found(day, "source:circuit") == [2], "and not what begins so"
    assert found(day, "source:circuit,circuit-review") == [2, 1]
    assert found(day, "sentiment:positive,negative") == [2, 0]
    assert found(day, "-sentiment:neutral ferry") == [2, 0]
    assert found(day, "tag:aapl") == [0]
    assert found(day, 'tag:"rates, bonds"') == [0]
    assert found(day, "lang:pt") == [2]
    assert found(day, "lang:pt-br") == [2]
    assert found(day, "lang:p") == []
    assert found(day, "source:circuit OR tag:aapl") == [2, 0]


def test_bounds_are_seconds_the_first_included_the_last_not() -> None:
    day = day_of("a", "b", "c")
    at = [hit.at for hit in day.find(())]
    assert [hit.at for hit in day.find((), since=at[1], until=at[0])] == [at[1]]


def test_the_best_comes_first_when_it_is_ranked() -> None:
    day = Known()
    rows = [
        article(0, "Harbor ferry", "The ferry"),
        article(1, "Trains", "a ferry was seen between many other things of a long day in the town"),
        article(2, "Trams"),
    ]
    day.add(*rows)
    query = parse("ferry", NOON)
    hits = day.find(query.groups, ranked=query.phrases)
    assert [int(hit.key, 16) for hit in hits] == [0, 1]
    assert hits[0].score < hits[1].score < 0


def test_the_same_again_changes_nothing_and_a_new_text_replaces_the_old() -> None:
    day = day_of("red ferry", "blue tram")
    assert day.add(article(0, "red ferry")) == 0
    assert day.add(article(0, "red ferry", sentiment="positive")) == 1
    assert found(day, "sentiment:positive") == [0]
    assert day.add(article(0, "green ferry", sentiment="positive")) == 1
    assert (found(day, "red"), found(day, "green")) == ([], [0])
    assert len(day) == 2
    for small in (False, True):
        again = Known(day.packed(small=small))
        again.entries = day.entries
        assert (found(again, "green"), len(again)) == ([0], 2)


CUT, CUT_SMALL = (day_of("a").packed(small=small)[:-9] for small in (False, True))


@pytest.mark.parametrize(
    "content", [b"", b"no", zlib.compress(b"no"), zlib.compress(b"x" * 5000), CUT, CUT_SMALL]
)
def test_a_file_that_is_no_index_is_damaged(content: bytes) -> None:
    with pytest.raises(DamagedIndex):
        Day(content)
