"""Which headlines are one story and which are not: one named pair for each rule and each trap."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from sourcebook.articles.normalize import HeadlineIdentity, identify, normalize_headline
from sourcebook.errors import InvalidInput

PUBLISHED = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)
REUTERS = ("Reuters", "Reuters World News", "reuters.com")
Side = str | tuple[str, tuple[str, ...]]
"""A headline, with its publishers where they matter."""


def identity_of(side: Side) -> HeadlineIdentity:
    headline, publishers = (side, ()) if isinstance(side, str) else side
    return identify(headline, PUBLISHED, publishers)


MUST_MERGE: dict[str, tuple[Side, Side]] = {
    # Publishers behind the headline.
    "the seed's example": ("Apple Reports Q4 Earnings Beat - Reuters", "Apple reports Q4 earnings beat"),
    "en dash": ("Fed holds rates – Reuters", "Fed holds rates"),
    "em dash": ("Fed holds rates — Reuters", "Fed holds rates"),
    "em dash without spaces": ("Fed holds rates—Reuters", "Fed holds rates"),
    "bar": ("Fed holds rates | Reuters", "Fed holds rates"),
    "bar without spaces": ("Fed holds rates|Reuters", "Fed holds rates"),
    "full-width bar": ("Fed holds rates｜Reuters", "Fed holds rates"),
    "middle dot": ("Fed holds rates · Reuters", "Fed holds rates"),
    "hyphen with one space before": ("Ex-CEO pushes back on attacks -CNBC", "Ex-CEO pushes back on attacks"),
    "hyphen with one space after": ("China attacks US at G20- CNBC", "China attacks US at G20"),
    "section of a publisher": ("Fed holds rates - Reuters World News", "Fed holds rates"),
    "news of a publisher": (("Fed holds rates - BBC News", ("BBC",)), "Fed holds rates"),
    "publisher without its news": (("Fed holds rates - BBC", ("BBC News",)), "Fed holds rates"),
    "domain": ("Fed holds rates - Reuters.com", "Fed holds rates"),
    "domain with www": ("Fed holds rates | www.bbc.co.uk", "Fed holds rates"),
    "brackets": ("Fed holds rates (Reuters)", "Fed holds rates"),
    "agency after a colon": ("Blast heard in Kabul: AFP", "Blast heard in Kabul"),
    "two publishers": ("Fed holds rates - Reuters | Yahoo Finance", "Fed holds rates"),
    "apostrophe in the name": ("Stocks are going nowhere - Barron’s", "Stocks are going nowhere"),
    "an unknown publisher's own name": (
        ("City opens a bridge - Daily Bugle", ("Daily Bugle",)),
        "City opens a bridge",
    ),
    "own name with an article": (
        ("City opens a bridge | The Daily Bugle", ("Daily Bugle",)),
        "City opens a bridge",
    ),
    "own name without its article": (
        ("City opens a bridge | Moscow Times", ("The Moscow Times",)),
        "City opens a bridge",
    ),
    "own domain for a name": (
        ("City opens a bridge - dailybugle.com", ("Daily Bugle",)),
        "City opens a bridge",
    ),
    "own name from the host": (
        ("City opens a bridge - Daily Bugle", ("www.dailybugle.co.uk",)),
        "City opens a bridge",
    ),
    "own name from an address": (("City opens - Daily Bugle", ("https://dailybugle.com/rss",)), "City opens"),
    "own name that is also a word": (("Diets that work - The Times", ("The Times",)), "Diets that work"),
    "feed's title with a separator in it": (
        ("City opens a bridge - World - CBSNews.com", ("World - CBSNews.com",)),
        "City opens a bridge",
    ),
    "domain inside the feed's title": (
        ("City opens a bridge - CBSNews.com", ("World - CBSNews.com",)),
        "City opens a bridge",
    ),
    "Cyrillic publisher": (("Погода на завтра — Вечерний город", ("Вечерний город",)), "Погода на завтра"),
    "publishers with and without": (("Fed holds rates - Reuters", REUTERS), ("Fed holds rates", ("Tiingo",))),
    # Publishers in front.
    "leading publisher with a dash": ("BBC News - Fed holds rates", "Fed holds rates"),
    "leading publisher with a bar": ("Reuters | Fed holds rates", "Fed holds rates"),
    "leading agency with a colon": ("Reuters: Fed holds rates", "Fed holds rates"),
    "leading agency in brackets": ("(AP) — Fed holds rates", "Fed holds rates"),
    "own known publisher with a colon": (("CNBC: Fed holds rates", ("CNBC",)), "Fed holds rates"),
    "publisher in front of a label": ("BBC News - LIVE: Fed holds rates", "Fed holds rates"),
    # Labels of wire items.
    "numbered update": ("UPDATE 2-Oil sinks on weak data", "Oil sinks on weak data"),
    "update with spaces": ("Update 10 - Oil sinks on weak data", "Oil sinks on weak data"),
    "wrap-up": ("WRAPUP 1-Oil sinks on weak data", "Oil sinks on weak data"),
    "repeated update": ("RPT-UPDATE 1-Oil sinks on weak data", "Oil sinks on weak data"),
    "repeat of an update": ("RPT UPDATE 1-Oil sinks on weak data", "Oil sinks on weak data"),
    "refiled": ("REFILE--Oil sinks on weak data", "Oil sinks on weak data"),
    "corrected": ("CORRECTED-Oil sinks on weak data", "Oil sinks on weak data"),
    "officially corrected": ("CORRECTED-(OFFICIAL)-UPDATE 3-Oil sinks", "Oil sinks"),
    "exclusive with a colon": ("EXCLUSIVE: Oil sinks on weak data", "Oil sinks on weak data"),
    "exclusive with a hyphen": ("Exclusive-Oil sinks on weak data", "Oil sinks on weak data"),
    "breaking": ("BREAKING: Oil sinks on weak data", "Oil sinks on weak data"),
    "breaking news with a dash": ("Breaking News — Oil sinks on weak data", "Oil sinks on weak data"),
    "breaking with an emoji": ("🚨 BREAKING 🚨: Oil sinks", "🚨 BREAKING 🚨: oil sinks!"),
    "emoji before the label": ("🚨 BREAKING: Oil sinks on weak data", "Oil sinks on weak data"),
    "stars around the label": ("**BREAKING** Oil sinks on weak data", "Oil sinks on weak data"),
    "live": ("Live: Oil sinks on weak data", "Oil sinks on weak data"),
    "live updates with a bar": ("LIVE UPDATES | Oil sinks on weak data", "Oil sinks on weak data"),
    "just in": ("JUST IN: Oil sinks on weak data", "Oil sinks on weak data"),
    "label in brackets": ("(UPDATED) Oil sinks on weak data", "Oil sinks on weak data"),
    "numbered label in brackets": ("[Update 2] Oil sinks on weak data", "Oil sinks on weak data"),
    "label in brackets behind": ("Oil sinks on weak data (Updated)", "Oil sinks on weak data"),
    "Japanese label": ("【速報】東京で地震", "東京で地震"),
    "Russian label": ("СРОЧНО: Курс рубля вырос", "Курс рубля вырос"),
    "French label": ("EN DIRECT. La Bourse recule", "La Bourse recule"),
    "label and publisher": ("UPDATE 1-Oil sinks on weak data - Reuters", "Oil sinks on weak data"),
    # Characters.
    "case": ("FED HOLDS RATES", "Fed holds rates"),
    "white space": ("  Fed\u00a0holds\n rates\t", "Fed holds rates"),
    "final punctuation": ("Will the Fed hold rates?", "Will the Fed hold rates"),
    "quotation marks": ("“Fed” holds ‘rates’", "\"Fed\" holds 'rates'"),
    "apostrophes": ("Apple’s profit", "Apple's profit"),
    "an accent as an apostrophe": ("Apple´s profit", "Apple's profit"),
    "dashes between words": ("Fed holds – for now", "Fed holds - for now"),
    "ellipsis": ("And then… nothing", "And then... nothing"),
    "initials": ("U.S. and U.K. sign", "US and UK sign"),
    "entity": ("Johnson &amp; Johnson wins", "Johnson & Johnson wins"),
    "numeric entity": ("Apple&#8217;s profit &#x2013; up", "Apple’s profit – up"),
    "entity encoded twice": ("Johnson &amp;amp; Johnson&amp;#39;s win", "Johnson & Johnson's win"),
    "tags": ("<b>Slack</b> (NYSE:WORK) <a href='x'>jumps</a>", "Slack (NYSE:WORK) jumps"),
    "encoded tags": ("&lt;b&gt;Slack&lt;/b&gt; jumps", "Slack jumps"),
    "tag inside a word": ("CO<sub>2</sub> falls", "CO₂ falls"),
    "line break tag": ("Slack<br/>jumps", "Slack jumps"),
    "full-width letters": ("ＡＢＣ　ｗｉｎｓ", "ABC wins"),
    "full-width colon after a label": ("LIVE：Oil sinks", "Oil sinks"),
    "composed and decomposed accents": ("Le caf\u00e9 ferme", "Le cafe\u0301 ferme"),
    "decomposed Vietnamese": ("Vi\u1ec7t Nam", "Vie\u0323\u0302t Nam"),
    "ligature": ("Oﬃce ﬁnds", "Office finds"),
    "emoji": ("Fed holds rates 🎉🇺🇸👍🏽", "Fed holds rates"),
    "emoji with an invisible second half": ("Apple ❤️ profits", "Apple profits"),
    "emoji of a family": ("Families 👩‍👩‍👧 win", "Families win"),
    "trade mark signs": ("Apple™ and Slack® win", "Apple and Slack win"),
    "soft hyphen and zero-width space": ("Donau\u00addampf\u200bschiff", "Donaudampfschiff"),
    "direction marks": ("\u202bArab\u202c wins\u200f", "Arab wins"),
    "CJK punctuation": ("「東京」で、地震。", "東京で地震"),
    "half-width kana": ("ﾄﾖﾀが発表", "トヨタが発表"),
    "Hindi with a dash": ("दिल्ली में बारिश – आज", "दिल्ली में बारिश - आज"),
    "Cyrillic case": ("КУРС РУБЛЯ ВЫРОС", "Курс рубля вырос"),
    # Numbers and words with punctuation.
    "thousands separator": ("Slack cuts 1,500 jobs", "Slack cuts 1500 jobs"),
    "Swiss thousands separator": ("Bank cuts 1'500 jobs", "Bank cuts 1,500 jobs"),
    "decimal comma": ("Inflation at 10,5%", "Inflation at 10.5%"),
    "true minus sign": ("Oil -3% today", "Oil −3% today"),
    "plus sign": ("Oil +3% today", "Oil 3% today"),
    "percent with a space": ("Inflation at 3 %", "Inflation at 3%"),
    "full-width percent": ("Inflation at ３％", "Inflation at 3%"),
    "currency with a space": ("A fine of € 5", "A fine of €5"),
    "score with an en dash": ("Arsenal win 3–2", "Arsenal win 3-2"),
    "fraction": ("Fed cuts by ½ point", "Fed cuts by 1/2 point"),
    "mixed fraction": ("Fed cuts by 5½ points", "Fed cuts by 5 1/2 points"),
    "hyphen in a name": ("COVID-19 cases rise", "COVID19 cases rise"),
    "hyphen after a number": ("7-Eleven grows", "7Eleven grows"),
    "ampersand in a name": ("AT&T wins", "ATT wins"),
    "class of shares": ("BRK.A rises", "BRKA rises"),
    "rights that are no rating": ("LGBTQ+ march", "LGBTQ march"),
}

MUST_NOT_MERGE: dict[str, tuple[Side, Side]] = {
    # What looks like a publisher.
    "a subject behind a dash": ("The truth about Trump - Wikipedia", "The truth about Trump"),
    "an unknown name behind a bar": ("Hunted in the dark | Fox", "Hunted in the dark"),
    "somebody else's name": (("City opens - Daily Bugle", ("Daily Planet",)), "City opens"),
    "a company's domain": ("Regulator fines travel site - Booking.com", "Regulator fines travel site"),
    "a source of the claim": ("Spain to hold elections -sources", "Spain to hold elections"),
    "a company before a colon": (
        ("Apple: Q4 results", ("Apple",)),
        ("Microsoft: Q4 results", ("Microsoft",)),
    ),
    "a speaker before a colon": ("Bloomberg: I will not run", "I will not run"),
    "the topic of a search feed": (
        ("Slack - shares fall", ("Slack - Google News", "news.google.com")),
        ("Zoom - shares fall", ("Zoom - Google News", "news.google.com")),
    ),
    "the topic of a ticker's feed": (("AAPL - shares fall", ("AAPL News",)), "shares fall"),
    "a shared host": (("Search giant is sued - Google", ("news.google.com",)), "Search giant is sued"),
    "a section by itself": (("Hello - World", ("World - CBSNews.com",)), "Hello"),
    "a joined name": ("Layoffs at Thomson-Reuters", "Layoffs at Thomson"),
    "a poll": ("AP-NORC poll shows drop", "NORC poll shows drop"),
    "a name in the middle": ("Fed - Reuters poll - sees cut", "Fed sees cut"),
    "publishers alone": ("BBC News", "CNN"),
    # What looks like a label.
    "a series": ("Breaking Bad: the end", "Bad: the end"),
    "a compound": ("Live-action film opens", "Action film opens"),
    "a company that begins like a label": ("Live Nation: shares fall", "Nation: shares fall"),
    "a ticker that is a label": ("$LIVE - Ventures reports results", "Ventures reports results"),
    "an ordinary colon": ("Study: coffee is good", "Coffee is good"),
    "another kind of item": ("GLOBAL MARKETS-Stocks rise", "US STOCKS-Stocks rise"),
    "opinion": ("OPINION: Coffee is good", "Coffee is good"),
    # Characters.
    "accents": ("Peña wins", "Pena wins"),
    "vowel marks in Hindi": ("कल बारिश", "काल बारिश"),
    "vowel marks in Arabic": ("عَلَم", "عِلْم"),
    "one CJK character": ("東京で地震", "東京で自身"),
    "one Cyrillic letter": ("Курс рубля вырос", "Курс рубля вынос"),
    "a comparison is no tag": ("Is a < b?", "Is a?"),
    "words in angle brackets are no tag": ("Say x <b and c> y", "Say x y"),
    "letters in another script": ("Сode red", "Code red"),
    # Numbers.
    "decimal point": ("Inflation at 1.5%", "Inflation at 15%"),
    "decimal point without percent": ("iOS 7.1 is out", "iOS 71 is out"),
    "version after a letter": ("GPT v2.0 is out", "GPT v20 is out"),
    "decimal point before the digit": ("Rate at .5", "Rate at 5"),
    "sign": ("Oil +3% today", "Oil -3% today"),
    "minus or none": ("Temperature of -15 expected", "Temperature of 15 expected"),
    "minus before a currency": ("Net income of -$3 a share", "Net income of $3 a share"),
    "percent or none": ("Sales up 15%", "Sales up 15"),
    "currency": ("A fine of $15", "A fine of €15"),
    "currency or none": ("A fee of $15", "A fee of 15"),
    "score": ("Arsenal win 3-2", "Arsenal win 32"),
    "other score": ("Arsenal win 3-2", "Arsenal win 2-3"),
    "date or telephone number": ("The 9/11 call", "The 911 call"),
    "time": ("Doors open 10:30", "Doors open 1030"),
    "range": ("Growth of 3-5%", "Growth of 35%"),
    "numbers that differ": ("Slack cuts 1500 jobs", "Slack cuts 1600 jobs"),
    "quarters": ("Apple reports Q4", "Apple reports Q3"),
    "units": ("A deal for $1.5bn", "A deal for $1.5 billion"),
    "thousands or decimals": ("Rate of 1.500", "Rate of 1,500"),
    # Words.
    "tickers": ("Upgrade for (AAPL)", "Upgrade for (MSFT)"),
    "classes of shares": ("BRK.A rises", "BRK.B rises"),
    "C++ and C": ("C++ gains ground", "C gains ground"),
    "C++ and C#": ("C++ gains ground", "C# gains ground"),
    ".NET and net": ("A look at .NET profit", "A look at net profit"),
    "a service and its company": ("Disney+ loses money", "Disney loses money"),
    "ratings": ("S&P cuts Spain to AA-", "S&P cuts Spain to AA+"),
    "a rating without a sign": ("S&P cuts Spain to AA-", "S&P cuts Spain to AA"),
    "a rating before a publisher": ("S&P cuts Spain to AA- - Reuters", "S&P cuts Spain to AA - Reuters"),
    "leaving and staying": ("Coach re-signs", "Coach resigns"),
    "negated": ("Fed will cut rates", "Fed will not cut rates"),
}


@pytest.mark.parametrize(("one", "other"), MUST_MERGE.values(), ids=MUST_MERGE.keys())
def test_one_story_has_one_identity(one: Side, other: Side) -> None:
    assert identity_of(one) == identity_of(other)


@pytest.mark.parametrize(("one", "other"), MUST_NOT_MERGE.values(), ids=MUST_NOT_MERGE.keys())
def test_different_stories_differ_in_key_or_signature(one: Side, other: Side) -> None:
    first, second = identity_of(one), identity_of(other)
    assert (first.dedup_key, first.signature) != (second.dedup_key, second.signature)
    assert first.signed_key != second.signed_key


@pytest.mark.parametrize(
    ("headline", "expected"),
    [
        ("Apple Reports Q4 Earnings Beat", "apple reports q4 earnings beat"),
        ('A  "quoted",  (bracketed)\tlist: one_two; 3!', "a quoted bracketed list onetwo 3"),
        ("U.S.-China talks—again", "uschina talksagain"),
        ("Éric à Orléans", "éric à orléans"),
        ("दिल्ली में बारिश!", "दिल्ली में बारिश"),
        ("مُحَمَّد — فاز", "مُحَمَّد فاز"),
        ("東京で地震。", "東京で地震"),
    ],
)
def test_the_seed_rules_remove_punctuation_and_nothing_else(headline: str, expected: str) -> None:
    assert normalize_headline(headline) == expected


@pytest.mark.parametrize(
    ("headline", "expected"),
    [
        ("Reuters", "reuters"),
        ("Reuters - BBC News", "reuters"),
        ("BBC News | BBC News", "bbc news"),
        ("Reuters: Reuters", "reuters"),
        ("(Reuters)", "reuters"),
        ("LIVE: BBC", "bbc"),
        ("LIVE:", "live"),
        ("BREAKING: 🚨!!!", "breaking"),
        ("UPDATE 2-", "update 2"),
        ("- Reuters", "reuters"),
    ],
)
def test_nothing_is_taken_off_when_nothing_would_remain(headline: str, expected: str) -> None:
    assert normalize_headline(headline, REUTERS) == expected


@pytest.mark.parametrize(
    "headline",
    [
        "",
        "   ",
        "\u00a0\u200b",
        "...",
        "—",
        "🎉",
        "❤️",
        "👩‍👩‍👧",
        "🇺🇸",
        "<b></b>",
        "&nbsp;",
        "_",
        "\u0301",
        "\u3164",
        "\ud800",
    ],
)
def test_a_headline_without_letter_or_digit_is_refused(headline: str) -> None:
    with pytest.raises(
        InvalidInput, match=r"headline: .* expected a headline with at least one letter"
    ) as caught:
        normalize_headline(headline)
    assert caught.value.field == "headline"


def test_a_headline_that_is_no_text_is_refused() -> None:
    with pytest.raises(InvalidInput, match="headline is missing; expected text"):
        normalize_headline(None)  # type: ignore[arg-type]


def test_one_publisher_given_as_text_is_one_publisher() -> None:
    assert normalize_headline("City opens a bridge - Daily Bugle", "Daily Bugle") == "city opens a bridge"


def test_publishers_without_a_name_are_ignored() -> None:
    assert normalize_headline("City opens - Daily Bugle", ["", "  ", "Daily Bugle"]) == "city opens"


def test_a_headline_of_any_length_is_read_to_the_limit() -> None:
    long = "word " * 20_000
    normalized = normalize_headline(long)
    assert normalized.startswith("word word")
    assert len(normalized) <= 4096
    assert normalize_headline(long + "and an end that differs") == normalized
