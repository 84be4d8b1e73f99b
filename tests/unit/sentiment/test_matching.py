"""Which subjects a headline speaks of, held against a list labelled by hand.

The headlines were written for this project and labelled by its author: half of them use an ambiguous name
("Target", "Visa", "Cursor") in its common sense, or for somebody else.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sourcebook.records.article import Article
from sourcebook.records.subject import Subject
from sourcebook.sentiment.matching import SUBJECTS_AT_MOST, Matcher, subjects_in, text_of
from sourcebook.sentiment.subjects import default_subjects, parse_subjects

DATA = Path(__file__).parent / "data"
MORE = parse_subjects(json.loads((DATA / "more_subjects.json").read_text("utf-8")))


@pytest.fixture(scope="module")
def matcher() -> Matcher:
    return Matcher([*default_subjects(), *MORE])


def labelled() -> list[tuple[set[str], str]]:
    lines = (DATA / "labelled_headlines.tsv").read_text("utf-8").splitlines()[1:]
    rows = [line.split("\t") for line in lines]
    return [({id_ for id_ in subjects.split(",") if id_}, headline) for subjects, headline in rows]


def test_precision_and_recall_on_the_labelled_list(matcher: Matcher) -> None:
    found = [(wanted, set(matcher.find(headline))) for wanted, headline in labelled()]
    right = sum(len(wanted & got) for wanted, got in found)
    assert len(found) >= 250
    assert right / sum(len(got) for _, got in found) >= 0.90
    assert right / sum(len(wanted) for wanted, _ in found) >= 0.90


def test_precision_and_recall_on_the_headlines_with_ambiguous_names_alone(matcher: Matcher) -> None:
    ambiguous = ("target", "gap", "block", "meta", "apple", "amazon", "visa", "oracle", "cursor", "claude")
    found = [
        (wanted, set(matcher.find(headline)))
        for wanted, headline in labelled()
        if any(word in headline.lower() for word in ambiguous)
    ]
    right = sum(len(wanted & got) for wanted, got in found)
    assert len(found) >= 90
    assert right / sum(len(got) for _, got in found) >= 0.90
    assert right / sum(len(wanted) for wanted, _ in found) >= 0.90


@pytest.mark.parametrize(
    ("headline", "subjects"),
    [
        ("$T and $V lead the Dow", ["T", "V"]),
        ("T and V are letters", []),
        ("AT&T Inc. (NYSE:T) raises dividend", ["T"]),
        ("target corporation opens a store", ["TGT"]),
        ("TARGET CORPORATION OPENS A STORE", ["TGT"]),
        ("Lowe’s beats forecasts", ["LOW"]),
        ("Ronald McDonald visits school", []),
        ("$TGT", ["TGT"]),
        ("Buy $NVDA, sell $INTC", ["NVDA", "INTC"]),
        ("NVDA hits record as AMD slips", ["NVDA", "AMD"]),
        ("nvda", []),
        ("", []),
        ("‘Apple’ — “Meta”: ’s", []),
        ("Apple, Microsoft and Meta agree on a standard", ["AAPL", "MSFT", "META"]),
        ("Trending: NVDA, TSLA, COST", ["NVDA", "TSLA", "COST"]),
        ("IBM, NOW with quantum chips", ["IBM"]),
        ("CAT stock hits record", ["CAT"]),
        ("CAT scans are delayed", []),
        ("AAPL.O: Larkin raises target", ["AAPL"]),
        ("U.N. and J.P.N. agree", []),
        ("Why BRK-B fell and BRK.A rose", ["BRK.B"]),
        ("Apple-backed startup hires", ["AAPL"]),
        ("Its Apple stake grows again", ["AAPL"]),
        ("Greg Abbott signs a bill on roads", []),
        ("Harrison Target returns home", []),
        ("Niger Target militants regroup", []),
        ("Why Apple moved its factories", ["AAPL"]),
        ("Nikki Haley criticizes Apple", ["AAPL"]),
        ("Nvidias Gewinn verdoppelt sich", ["NVDA"]),
        ("The southern company of players returns", []),
        ("the Southern Company builds a plant", ["SO"]),
        ("Wells fargo cuts 900 jobs", []),
        ("Coca-cola raises outlook", ["KO"]),
        ("McDonalds brings back a menu", ["MCD"]),
        ("Anti-Apple bill passes", ["AAPL"]),
        ("Nvidia\u2011Intel tie-up", ["NVDA", "INTC"]),
        ("On Target: archers win gold", []),
        ("Walmart+ members get more", ["WMT"]),
        ("GOOG stock hits a high", ["GOOGL"]),
        ("Apple、AI競争で出遅れ", ["AAPL"]),
        ("Target объявила отчёт", ["TGT"]),
        ("NVDA株が急落", ["NVDA"]),
        ("주가 급등, Nvidia도 상승", ["NVDA"]),
    ],
)
def test_names_count_as_much_as_they_prove(matcher: Matcher, headline: str, subjects: list[str]) -> None:
    assert matcher.find(headline) == subjects


@pytest.mark.parametrize(
    ("headline", "subjects"),
    [
        ("Brasserie Elan opens in Lyon", ["elan"]),
        ("ÉLAN S'EFFONDRE EN BOURSE", ["elan"]),
        ("海風集団、営業利益が15%増", ["kaze"]),
        ("株価上昇：海風集団とノルド", ["kaze", "nord"]),
        ("ノルディック選手権が開幕", []),
        ("누리전자가 새 공장을 짓는다", ["nuri"]),
        ("누리전자제품 전시회", []),
        ("0700.HK rises as games are approved", ["nuri"]),
        ("Nobody needs 0700 hours", []),
        ("Shares climb (HKG: 0700)", ["nuri"]),
        ("KAZ-USD slides below support", ["kaze"]),
        ("Shares climb (LSE: KAZ)", ["kaze"]),
        ("Shares climb (NYSE: KAZ)", []),
    ],
)
def test_names_and_tickers_of_other_languages_and_exchanges(headline: str, subjects: list[str]) -> None:
    matcher = Matcher(
        [
            Subject("elan", "Élan", "company"),
            Subject("kaze", "Kazeshu", "company", ("海風集団",), ticker="KAZ-USD"),
            Subject("nord", "Nord Marin", "company", ("ノルド",)),
            Subject("nuri", "Nuri Electronics", "company", ("누리전자",), ticker="0700.HK"),
        ]
    )
    assert matcher.find(headline) == subjects


def test_the_longest_name_counts() -> None:
    matcher = Matcher([Subject("a", "Blue Harbor"), Subject("b", "Blue Harbor Freight")])
    assert matcher.find("Blue Harbor Freight grows") == ["b"]
    assert matcher.find("Blue Harbor grows") == ["a"]
    assert matcher.find("Blue Harbor Freight sues Blue Harbor") == ["b", "a"]


def test_an_excluded_phrase_hides_the_names_of_its_own_subject_only() -> None:
    matcher = Matcher(
        [Subject("a", "Harborline", excluded=("Quartzon Harborline",)), Subject("b", "Quartzon")]
    )
    assert matcher.find("Quartzon Harborline shown") == ["b"]
    assert matcher.find("Harborline shown") == ["a"]


def test_two_subjects_may_share_a_name() -> None:
    matcher = Matcher([Subject("a", "Quartzon"), Subject("b", "Quartzon")])
    assert set(matcher.find("Quartzon shown")) == {"a", "b"}


def test_what_is_declared_ambiguous_needs_context() -> None:
    plain, wary = (
        Subject("a", "Quartzon", "company"),
        Subject("a", "Quartzon", "company", ambiguous=("Quartzon",)),
    )
    headline = "quartzon found in river"
    assert Matcher([plain]).find(headline) == ["a"]
    assert Matcher([wary]).find(headline) == []
    assert Matcher([wary]).find("Quartzon shares jump") == ["a"]


def test_headline_text_and_tickers_of_the_source_all_count(matcher: Matcher) -> None:
    article = Article.of_item(
        {
            "headline": "Chipmakers rally",
            "text_for_analysis": "Nvidia led the way.",
            "matched_tickers": ["AMD", "UNKNOWN"],
        }
    )
    assert list(subjects_in(matcher, article)) == ["NVDA", "AMD"]


def test_an_article_has_only_so_many_subjects(matcher: Matcher) -> None:
    tickers = [subject.ticker for subject in default_subjects() if subject.ticker]
    article = Article.of_item({"headline": " ".join(f"${ticker}" for ticker in tickers)})
    assert list(subjects_in(matcher, article)) == tickers[:SUBJECTS_AT_MOST]


def test_the_default_list_has_the_coding_tools_and_a_hundred_companies() -> None:
    subjects = default_subjects()
    companies = [subject for subject in subjects if subject.kind == "company"]
    assert len(companies) == 100
    assert all(subject.tool_id == subject.ticker for subject in companies)
    assert len([subject for subject in subjects if subject.kind == "tool"]) >= 40


@pytest.mark.parametrize(
    ("headline", "names"),
    [
        ("Nvidia's chips beat AMD's, says Intel", ["Nvidia", "AMD", "Intel"]),
        ("Deal announced (NYSE: MA, V)", ["MA", "V"]),
        ("$NVDA falls while Microsoft\u2019s cloud grows; Microsoft up", ["$NVDA", "Microsoft"]),
    ],
)
def test_a_subject_has_its_first_place_in_the_text(matcher: Matcher, headline: str, names: list[str]) -> None:
    places = matcher.find_places(headline)
    assert list(places) == matcher.find(headline)
    assert [headline[start:end] for start, end in places.values()] == names
    assert [start for start, _ in places.values()] == [headline.index(name) for name in names]


def test_a_place_in_an_article_is_one_in_the_text_that_it_is_judged_by(matcher: Matcher) -> None:
    article = Article.of_item(
        {
            "headline": "AMD and others rally",
            "text_for_analysis": "Nvidia led the way, AMD followed.",
            "matched_tickers": ["MSFT", "NVDA"],
        }
    )
    found = subjects_in(matcher, article)
    assert {
        tool_id: text_of(article)[place.start : place.end] if place else None
        for tool_id, place in found.items()
    } == {"AMD": "AMD", "NVDA": "Nvidia", "MSFT": None}
