"""Lists of symbols behind an exchange: each of them is proven, and no word beside them."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from sourcebook.records.subject import Subject
from sourcebook.sentiment.matching import Matcher
from sourcebook.sentiment.subjects import default_subjects

CASES = Path(__file__).parents[4] / "shared" / "cases" / "headline-tickers" / "headlines.txt"
COMPANIES = dict(
    part.split(":")
    for part in (
        "MA:Marlbank V:Vistapay HD:Homedepotia LOW:Lowland CAT:Catworks DE:Deeria COST:Costwell MU:Mucron "
        "A:Agilia T:Telefonia ON:Onsemia IT:Gartneria BRK.B:Berkland SHOP:Shopland ALL:Allstania MOG:Moogia"
    ).split()
)
MATCHER = Matcher(
    [Subject(ticker.lower(), name, "company", ticker=ticker) for ticker, name in COMPANIES.items()]
)


@pytest.mark.parametrize(
    ("headline", "tickers"),
    [
        ("Networks slip (NYSE: MA, V)", "MA V"),
        ("Home stores (NYSE: HD, LOW) slip", "HD LOW"),
        ("Truck makers (NYSE: CAT, DE) slip", "CAT DE"),
        ("(NASDAQ: COST, MU)", "COST MU"),
        ("Networks [NYSE: MA, V] slip", "MA V"),
        ("Networks NYSE:MA; NYSE:V slip", "MA V"),
        ("Networks (NYSE:MA;V) slip", "MA V"),
        ("Networks (NYSE: MA; NYSE: V)", "MA V"),
        ("Networks (NYSE: MA) (NYSE: V)", "MA V"),
        ("Networks (NYSE: MA and V) slip", "MA V"),
        ("Networks (NYSE: MA, V and DE) slip", "MA V DE"),
        ("Networks (NYSE: MA, V, and DE) slip", "MA V DE"),
        ("NETWORKS (NYSE: MA AND V) SLIP", "MA V"),
        ("Networks (NYSE: MA & V)", "MA V"),
        ("Networks (NYSE: MA/V)", "MA V"),
        ("Networks (NYSE: MA | V)", "MA V"),
        ("Networks (NYSE American: MA, V)", "MA V"),
        ("Networks (NYSE Arca: MA, V)", "MA V"),
        ("Networks (NYSEARCA: MA, V)", "MA V"),
        ("Networks (NasdaqGS: COST, MU)", "COST MU"),
        ("Networks (Nasdaq Global Select Market: COST, MU)", "COST MU"),
        ("Networks (nasdaq: COST, MU)", "COST MU"),
        ("Networks (AMEX: MA, V)", "MA V"),
        ("Networks (OTCQX: MA, V)", "MA V"),
        ("Networks (TSX: SHOP, MA)", "SHOP MA"),
        ("Networks (TSX-V: SHOP, MA)", "SHOP MA"),
        ("Networks (LSE: MA, DE)", "MA DE"),
        ("Networks (NYSE/TSX: SHOP, MA)", "SHOP MA"),
        ("Networks (NYSE and TSX: SHOP)", "SHOP"),
        ("Networks (NYSE: $MA, $V)", "MA V"),
        ("$MA, $V slip", "MA V"),
        ("Networks ($MA, V) slip", "MA V"),
        ("Networks NYSE: (MA, V)", "MA V"),
        ("Networks （NYSE：MA, V）", "MA V"),
        ("Networks (NYSE: BRK.B, V)", "BRK.B V"),
        ("Networks (NYSE: BRK.A, V)", "BRK.B V"),
        ("Networks (NYSE: BRK-B, V)", "BRK.B V"),
        ("Networks (NYSE: BRK/B, V)", "BRK.B V"),
        ("Networks (NYSE: BRK B, V)", "BRK.B V"),
        ("Networks (NYSE: BRK.A/BRK.B)", "BRK.B"),
        ("Networks (NYSE: BRK.A, BRK.B; V)", "BRK.B V"),
        ("$BRK-B and $BRK.A rise", "BRK.B"),
        ("Valves (NYSE: MOG.A)", "MOG"),
        ("Insurers (NYSE: ALL, V)", "ALL V"),
        ("Chips (NASDAQ: ON, IT)", "ON IT"),
        ("Labs (NYSE: A, T) slip", "A T"),
        ("NYSE: V's rivals slip", "V"),
    ],
)  # fmt: skip
def test_every_symbol_of_a_list_is_proven(headline: str, tickers: str) -> None:
    assert MATCHER.find(headline) == [ticker.lower() for ticker in tickers.split()]


@pytest.mark.parametrize(
    "headline",
    [
        "Networks slip, V and A shapes",
        "A deal (NYSE rules) for V fans",
        "Talk: MA students ON strike",
        "Telephone company (TSX: T) raises its dividend",
        "NYSE: a day of V shapes",
        "He said: V, A and T are letters",
        "The AIM: DEal making",
        "NYSE MA V",
    ],
)
def test_letters_that_no_exchange_stands_before_prove_nothing(headline: str) -> None:
    assert not {"v", "a", "t", "ma", "de", "on"} & set(MATCHER.find(headline))


@pytest.mark.parametrize(
    ("headline", "tickers"),
    [
        ("Networks (NYSE: MA), A new deal", "MA"),
        ("NYSE: MA, A deal is near", "MA"),
        ("NYSE: V slips IT budgets", "V"),
        ("(NYSE: CAT) and DE facto rules", "CAT"),
        ("Brick (NYSE: SHOP/B)", "SHOP"),
    ],
)
def test_a_list_ends_where_it_ends(headline: str, tickers: str) -> None:
    assert MATCHER.find(headline) == [ticker.lower() for ticker in tickers.split()]


@pytest.mark.parametrize(
    "unit", ["NYSE: MA, ", "NYSE: ", "$MA", "NYSE:" + " " * 50, "(", ", ", "MA/", "NYSE "]
)
def test_the_time_grows_with_the_length_of_a_text(unit: str) -> None:
    short, long = (_seconds(unit * (length // len(unit))) for length in (5_000, 80_000))
    assert long < 0.1 or long < 100 * short  # sixteen times is linear, 256 times quadratic


def _seconds(text: str) -> float:
    """Return the CPU seconds that a text takes, the least of three."""
    measured = []
    for _ in range(3):
        begun = time.process_time()
        MATCHER.find(text)
        measured.append(time.process_time() - begun)
    return min(measured)


@pytest.mark.skipif(not CASES.exists(), reason="no shared cases beside this checkout")
def test_the_lists_of_the_cases_are_found_whole() -> None:
    matcher = Matcher(default_subjects())
    wanted = [{"MA", "V"}, {"HD", "LOW"}, {"CAT", "DE"}, {"COST", "MU"}]
    for line, tickers in zip(CASES.read_text("utf-8").splitlines(), wanted, strict=True):
        assert set(matcher.find(line)) == tickers
