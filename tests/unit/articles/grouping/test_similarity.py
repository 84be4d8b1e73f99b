"""Headlines that tell of one event, and headlines that only look so."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.articles.grouping.similarity import compare, names_in, profile

ONE_EVENT = [
    ("日銀、政策金利を0.5%に引き上げ", "日銀が政策金利を0.5%に引き上げ"),
    ("Market wrap: stocks close higher on Friday", "Market wrap: Stocks end Friday higher"),
    (
        "Halcyon Robotics posts record profit as warehouse orders surge",
        "Halcyon Robotics record profit on surging warehouse orders",
    ),
    (
        "Microsoft to buy Activision for $68.7 billion",
        "Microsoft to acquire Activision Blizzard in $68.7bn deal",
    ),
    ("Apple unveils iPhone 18 at Cupertino event", "Apple launches iPhone 18 at event in Cupertino"),
    (
        "Fed raises interest rates by 25 basis points",
        "Federal Reserve raises interest rates by 25 bps, signals pause",
    ),
    (
        "European Central Bank holds rates steady at June meeting",
        "ECB holds rates steady at June meeting, Lagarde says",
    ),
    ("Boeing shares fall 3% after crash report", "Boeing stock slides 3 percent after crash report"),
    ("Twitter Beats Revenue Estimates; Shares Rally", "Twitter beats revenue estimates, shares soar"),
    (
        "Tidewater Energy cuts 1,200 jobs in North Sea",
        "Tidewater Energy slashes 1200 jobs in the North Sea as oil falls",
    ),
    ("Uber loses London licence over rider safety", "Uber Loses London Licence Over Safety Of Riders"),
    (
        "Charles Schwab to buy TD Ameritrade for $26 billion",
        "Charles Schwab acquires TD Ameritrade for $26 bn",
    ),
    (
        "U.S. consumer sentiment rises to a seven-month high",
        "US consumer sentiment rose to a 7-month high",
    ),
    (
        "Verdant Motors recalls 40,000 cars over brake fault",
        "Verdant Motors recalling 40,000 cars because of brake fault",
    ),
    (
        "Hackers steal 1.2 million records from Lumen Bank",
        "Lumen Bank: hackers stole records of 1.2m customers",
    ),
    ("TJX third-quarter sales rise 4%", "TJX Q3 sales up 4 percent"),
    ("$NFLX - New Netflix bear steps out of the woods", "New Netflix bear steps out of the woods"),
    ("Boris Johnson resigns as prime minister", "Boris Johnson quits as UK prime minister"),
    ("McDonald's settles class action lawsuit over wages", "McDonald’s settles wages class action"),
    ("Google sued by Epic Games over app store fees", "Epic Games sues Google over app store fees"),
    ("特斯拉第三季度利润创历史新高", "特斯拉第三季度利润创历史新高，股价上涨"),
    ("Газпром сокращает добычу газа в Сибири", "Газпром сокращает добычу газа в Сибири на фоне санкций"),
    ("Société Générale supprime 900 postes en France", "Société Générale va supprimer 900 postes en France"),
    ("Bayer siegt im Glyphosat-Prozess in Missouri", "Bayer siegt in Missouri im Glyphosat-Prozess"),
    ("Amazon opens warehouse in Leeds, hiring 500", "Amazon opens Leeds warehouse and hires 500"),
    ("Prosus to sell 2% of Tencent worth $14.7 billion", "Prosus sells 2% Tencent stake for $14.7 bln"),
]

TWO_EVENTS = [
    ("Halcyon to report Q3 earnings on Thursday", "Halcyon reports Q3 earnings"),
    ("FDA panel to vote on Larkin obesity pill", "FDA panel votes for Larkin obesity pill"),
    ("Acme announces date of Q3 results", "Acme announces Q3 results"),
    ("Fed expected to cut rates in June", "Fed cuts rates in June"),
    ("Orbita shares slip ahead of lander launch", "Orbita shares slip after lander launch"),
    ("Market wrap: stocks close higher", "Market wrap: stocks close lower"),
    (
        "Insider Selling: Acme (ACM) CFO Sells 4,000 Shares",
        "Insider Selling: Acme (ACM) CEO Sells 4,000 Shares",
    ),
    ("Halcyon unveils Robot 17", "Halcyon unveils Robot 17 Air"),
    ("Norden women beat Süden women 2-1", "Norden beat Süden 2-1"),
    ("Nifty today: index opens flat", "Nifty today: index closes flat"),
    ("Norden and Süden reach trade deal", "Norden and Süden fail to reach trade deal"),
    ("Norden beats Süden in semifinal", "Norden beats Süden in final"),
    ("Suspect sought in Larkin University shooting", "Suspect arrested in Larkin University shooting"),
    ("Boil water notice issued for Norden", "Boil water notice lifted for Norden"),
    ("Kestrel 6.18 released by Halcyon", "Kestrel 6.18-rc1 released by Halcyon"),
    ("Bayern gewinnt gegen Dortmund", "Bayern verliert gegen Dortmund"),
    ("L'action Quartzon grimpe à Paris", "L'action Quartzon chute à Paris"),
    ("El banco central sube los tipos", "El banco central baja los tipos"),
    ("Der Bundestag beschließt das Heizungsgesetz", "Der Bundestag beschließt das Heizungsgesetz nicht"),
    ("日銀、政策金利を0.5%に引き上げ", "日銀、政策金利を0.75%に引き上げ"),
    # One template, two companies: the trap that words alone fall into.
    ("Avnet price target raised to $55 at Truist", "Broadcom price target raised to $55 at Truist"),
    ("Avnet Price Target Raised By Truist", "Broadcom Price Target Raised By Truist"),
    ("Healthpeak Properties Q4 Earnings Preview", "Lattice Semiconductor Q4 Earnings Preview"),
    (
        "Hedge Funds Dropped The Ball On The Meet Group, Inc. (MEET)",
        "Hedge Funds Dropped The Ball On Molecular Templates, Inc. (MTEM)",
    ),
    ("Orbita shares rise after analyst upgrade", "Cobalt Pay shares rise after analyst upgrade"),
    ("Gold futures decline on weak global cues", "Zinc futures decline on weak global cues"),
    ("Spot demand lifts crude palm oil futures", "Spot demand lifts chana futures"),
    ("France beat Italy in World Cup opener", "Spain beat Italy in World Cup opener"),
    ("Morning briefing from Tokyo: what to know", "Morning briefing from London: what to know"),
    # Other numbers.
    ("Apple shares fall 3% after earnings", "Apple shares fall 5% after earnings"),
    ("Verdant Motors recalls 40,000 cars over brakes", "Verdant Motors recalls 60,000 cars over brakes"),
    ("Ferrous Dynamics lifts forecast by 1.5%", "Ferrous Dynamics lifts forecast by 15%"),
    ("Acme raises $15 million from investors", "Acme raises $15 billion from investors"),
    ("Acme fund returns -3% this summer", "Acme fund returns 3% this summer"),
    ("Acme sells unit for $15 million", "Acme sells unit for €15 million"),
    ("Lions beat Bears 24-17 in Detroit", "Lions beat Bears 31-10 in Detroit"),
    # Another date, quarter or model.
    ("Tesla Q3 earnings beat estimates", "Tesla Q4 earnings beat estimates"),
    (
        "Tesla third-quarter deliveries disappoint Wall Street",
        "Tesla first-quarter deliveries disappoint Wall Street",
    ),
    ("Stocks to watch on Monday in Frankfurt", "Stocks to watch on Tuesday in Frankfurt"),
    ("Samsung recalls Galaxy S21 phones over battery", "Samsung recalls Galaxy S22 phones over battery"),
    ("U.S. rig count falls for fifth straight week", "U.S. rig count falls for seventh straight week"),
    (
        "OpenQuill releases C++ compiler that halves build times",
        "OpenQuill releases C compiler that halves build times",
    ),
    # Opposite directions, and negations.
    ("Apple shares rise after earnings report", "Apple shares fall after earnings report"),
    ("Acme Bank upgraded to buy at Truist", "Acme Bank downgraded to sell at Truist"),
    ("Orbita to acquire Bramble Solar unit", "Orbita not to acquire Bramble Solar unit"),
    ("Senate approves Pentagon spending bill", "Senate rejects Pentagon spending bill"),
    ("Acme plans merger with Globex in spring", "Acme denies merger with Globex in spring"),
    # Who did it to whom.
    ("Microsoft sues Google over search patents", "Google sues Microsoft over search patents"),
    ("Lions beat Bears in overtime thriller", "Bears beat Lions in overtime thriller"),
    # The same company, another story.
    ("Lumen Bank opens branch in Riga", "Lumen Bank fined over money laundering in Riga"),
    ("Glasswing Games unveils open-world sequel", "Glasswing Games chief steps down"),
    ("Nvidia shares climb", "Nvidia shares climb as export rules ease for China, lifting Asian chip makers"),
    # Scripts without capitals or without spaces.
    ("高盛将苹果目标价上调至200美元", "高盛将谷歌目标价上调至200美元"),
    ("Газпром повышает прогноз по добыче", "Лукойл повышает прогноз по добыче"),
    ("삼성전자 3분기 영업이익 발표", "삼성전자 4분기 영업이익 발표"),
    ("トヨタ、新型車を来春発売へ", "ホンダ、新型車を来春発売へ"),
]


@pytest.mark.parametrize(("one", "other"), ONE_EVENT)
def test_headlines_of_one_event(one: str, other: str) -> None:
    found = compare(profile(one), profile(other))
    assert found.same_event, found.reason


@pytest.mark.parametrize(("one", "other"), TWO_EVENTS)
def test_headlines_of_two_events(one: str, other: str) -> None:
    found = compare(profile(one), profile(other))
    assert not found.same_event, found.reason


def test_the_table_is_long_enough() -> None:
    assert len(ONE_EVENT) + len(TWO_EVENTS) >= 40
    assert len({*ONE_EVENT, *TWO_EVENTS}) == len(ONE_EVENT) + len(TWO_EVENTS)


def test_other_tickers_speak_against_it_whatever_the_words_say() -> None:
    headline = "Price target raised after strong results"
    one, other = (profile(headline, tickers=[ticker]) for ticker in ("AVT", "AVGO"))
    assert compare(one, other).reason == "other tickers"
    assert compare(one, profile(headline, tickers=["AVT", "SPY"])).same_event
    assert compare(one, profile(headline)).same_event


def test_a_publishers_name_in_a_headline_is_no_part_of_the_story() -> None:
    plain = profile("Orbita wins lunar lander contract")
    named = profile("Orbita wins lunar lander contract - Harbor Ledger", publishers=["Harbor Ledger"])
    assert plain == named


@pytest.mark.parametrize(
    ("text", "quantities"),
    [
        ("Acme earns $2.4 billion", {(2.4e9, "$")}),
        ("Acme earns $2.4bn", {(2.4e9, "$")}),
        ("Acme earns 2,400 million dollars", {(2.4e9, "")}),
        ("Acme up 3.5 percent", {(3.5, "%")}),
        ("Acme up 3.5pct, rival up 2%", {(3.5, "%"), (2.0, "%")}),
        ("Rates rise by 25 basis points", {(25.0, "bp")}),
        ("Seven killed in Oslo", {(7.0, "")}),
        ("Temperature falls to -3 in Oslo", {(-3.0, "")}),
        ("Acme loses .5%", {(0.5, "%")}),
    ],
)
def test_numbers_are_read_however_they_are_written(text: str, quantities: set[tuple[float, str]]) -> None:
    assert profile(text).quantities == quantities


def test_quarters_are_read_however_they_are_written() -> None:
    for text in ("Q3 sales", "3Q sales", "third-quarter sales", "third fiscal quarter sales"):
        assert profile(text).codes >= {"q3"}, text


@pytest.mark.parametrize(
    ("headline", "names"),
    [
        ("Shares of Halcyon Robotics rise in Oslo", ("Halcyon", "Robotics", "Oslo")),
        ("Orbita's lander reaches the Moon", ("Orbita", "Moon")),
        ("Why Every Word Of This Headline Has A Capital", ()),
        ("nothing here has one", ()),
    ],
)
def test_names_are_what_a_sentence_writes_with_capitals(headline: str, names: tuple[str, ...]) -> None:
    assert names_in(headline) == names


WORDS = "Orbita Acme Globex raises cuts 3% $4bn Q3 not by profit shares of the in Oslo US - : 特斯拉 Газпром"
HEADLINES: Any = st.text(max_size=120) | st.lists(st.sampled_from(WORDS.split()), max_size=12).map(" ".join)


@given(HEADLINES, HEADLINES)
def test_the_order_of_two_headlines_makes_no_difference(one: str, other: str) -> None:
    assert compare(profile(one), profile(other)) == compare(profile(other), profile(one))


@given(HEADLINES)
def test_any_text_has_a_profile_that_agrees_with_itself(headline: str) -> None:
    own = profile(headline)
    assert compare(own, own).compatible
