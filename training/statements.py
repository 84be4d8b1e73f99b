"""Generated statements of company results, whose label follows from the direction and the measure.

Headlines of results are built from few parts, and what makes one good or bad is which measure
moved which way; drawing the parts at random teaches just that.
"""

from __future__ import annotations

import random
from typing import Final

_COMPANIES: Final = (
    "Halvorsen|Kaskela|Outotec Metals|Norrbruk|Teleste Marine|Ravelin|Aldersey|Bryce & Sons|Dunmore Foods|"
    "Pohjola Paper|Sanderling|Vattula|The company|The group|The bank|The Finnish company|Elektra|Kemin Steel|"
    "Orrick Energy|Mallory Retail|Tarpon Airlines|Sable Mining|Whitcombe|Larkspur Pharma|Ostrava Motors|"
    "Bellweather|Castellan|Drummond Cement|Gulmohar Finance|Shantanu Textiles|Indus Power|Konkan Ports"
).split("|")
_GOOD_HIGH: Final = (
    "net sales|operating profit|net profit|profit before taxes|earnings per share|revenue|orders|"
    "turnover|pretax profit|EBIT|market share|order backlog|quarterly profit|sales|dividend|"
    "comparable operating profit|passenger numbers|production volumes|margins|cash flow"
).split("|")
_GOOD_LOW: Final = (
    "net loss|operating loss|costs|net debt|pretax loss|bad loans|staff turnover|loan losses".split("|")
)
_UP: Final = "rose|grew|increased|climbed|jumped|surged|went up|improved".split("|")
_DOWN: Final = "fell|declined|decreased|dropped|slumped|slid|went down|shrank".split("|")
_PERIODS: Final = (
    "in the third quarter|in the first half|in 2009|in the second quarter of 2010|for the quarter|in Q1|Q2|"
    "in the January-September period|year on year|in the corresponding period|in fiscal 2024|in May"
).split("|")
_UNITS: Final = (
    "EUR {} mn",
    "{} million euros",
    "EUR{}m",
    "${} million",
    "Rs {} crore",
    "MEUR {}",
    "USD {} mn",
    "SEK {} million",
)

_FACTS: Final = (
    "{c} has its headquarters in {town}",
    "{c}'s shares are listed in {town}",
    "{c} will publish its interim report on {day}",
    "{c} employs {n} people in {town}",
    "The contract value was not disclosed",
    "The value of the order is {a}",
    "{c} holds {p} % of the shares after the transaction",
    "The plant is located in {town}",
    "{c} to hold its annual general meeting on {day}",
    "{c} appoints head of its {town} office",
    "The transaction is expected to close in the second quarter",
    "{c}'s {m} totalled {a} {t}",
    "{c} operates in {n} countries and had {m} of {a} {t}",
    "The building has a floor area of {n} square metres",
    "{c} sells its office building in {town} for {a}",
    "{c} and {d} are to merge their {town} units",
    "{c} to acquire {d}",
    "{c} Q2 results: what to expect",
    "Should you buy, sell or hold {c}?",
    "{c} board to consider dividend on {day}",
    "{c} {m} unchanged {t}",
    "{c}'s {m} stays flat at {a}",
    "Hold {c}, target price {a}: brokerage",
    "Stocks to watch: {c}, {d}",
    "The shares carry a right to vote from {day}",
    "{c} issues {n} new shares to its staff",
)  # fmt: skip
_GOOD: Final = (
    "{c} wins {a} order from {d}",
    "{c} signs {a} contract with {d}",
    "{c} raises its full-year forecast",
    "{c} expects its {m} to improve {t}",
    "{c} {m} beats estimates",
    "{c} {m} tops expectations, shares gain {p}%",
    "{c} upgraded to buy",
    "{c} returns to profit",
    "{c} swings to profit of {a} from a loss of {b}",
    "{c} shares jump {p}% on strong demand",
    "{c} hires {n} people in {town}",
    "{c} turned a loss into a profit of {a} {t}",
    "{c} receives approval for its new plant in {town}",
    "{c} loss less than feared",
    "{c} raises dividend by {p} %",
    "Buy {c}, target price {a}: brokerage",
)
_BAD: Final = (
    "{c} loses {a} order to {d}",
    "{c} cuts its full-year forecast",
    "{c} expects its {m} to weaken {t}",
    "{c} {m} misses estimates",
    "{c} {m} below expectations, shares lose {p}%",
    "{c} downgraded to sell",
    "{c} swings to loss of {a} from a profit of {b}",
    "{c} shares tumble {p}% on weak demand",
    "{c} to lay off {n} people in {town}",
    "{c} starts negotiations with staff on cutting {n} jobs",
    "{c} issues profit warning",
    "{c} closes its plant in {town}",
    "{c} fined {a}",
    "{c} halts production in {town} after strike",
    "{c} passes its dividend",
    "{c} profit not enough to meet expectations",
    "Sell {c}, target price {a}: brokerage",
)
_TOWNS: Final = "Helsinki|Tampere|Mumbai|Leeds|Toledo|Gdansk|Porto|Osaka|Perth|Chennai|Oulu|Austin".split("|")
_DAYS: Final = "20 August|3 March|Tuesday|17 November|Monday|1 January|28 February".split("|")


def statements(draw: random.Random, count: int) -> list[tuple[str, int]]:
    """Return generated statements with their labels: two fifths of them compare two amounts."""
    return [_comparison(draw) if draw.random() < 0.4 else _statement(draw) for _ in range(count)]


def _statement(draw: random.Random) -> tuple[str, int]:
    label = draw.choice((-1, 0, 0, 1))
    low, high = _amounts(draw)
    unit = draw.choice(_UNITS)
    text = draw.choice({-1: _BAD, 0: _FACTS, 1: _GOOD}[label]).format(
        c=draw.choice(_COMPANIES),
        d=draw.choice(_COMPANIES[:12]),
        m=draw.choice(_GOOD_HIGH),
        t=draw.choice(_PERIODS),
        a=unit.format(low),
        b=unit.format(high),
        n=draw.choice((25, 40, 120, 300, 950, 2000, 12)),
        p=draw.randint(2, 30),
        town=draw.choice(_TOWNS),
        day=draw.choice(_DAYS),
    )
    return _dressed(text, draw), label


def _comparison(draw: random.Random) -> tuple[str, int]:
    good_when_high = draw.random() < 0.7
    measure = draw.choice(_GOOD_HIGH if good_when_high else _GOOD_LOW)
    up = draw.random() < 0.5
    low, high = _amounts(draw)
    unit = draw.choice(_UNITS)
    now, before = (unit.format(high), unit.format(low)) if up else (unit.format(low), unit.format(high))
    verb = draw.choice(_UP if up else _DOWN)
    if measure in _GOOD_LOW and verb == "improved":
        verb = "rose"
    company, period = draw.choice(_COMPANIES), draw.choice(_PERIODS)
    percent = draw.randint(2, 60)
    text = draw.choice(
        (
            f"{company}'s {measure} {verb} to {now} from {before} {period}",
            f"{measure} {verb} by {percent} % to {now} from {before} {period}",
            f"{measure} totalled {now}, compared to {before} a year earlier",
            f"{measure} was {now}, {'up' if up else 'down'} from {before} {period}",
            f"{measure} {verb} {percent} % {period}",
            f"{company} {measure} {verb} {percent}% to {now}",
            f"{company} says its {measure} {verb} {period}",
            f"{company} posts {'higher' if up else 'lower'} {measure} {period}",
            f"{measure} amounted to {now}, as against {before} in the previous year",
            f"{company}: {measure} {'up' if up else 'down'} {percent}% at {now}",
            f"{company} narrows {measure}"
            if measure.endswith("loss") and not up
            else f"{company} {measure} {verb} {period}",
        )
    )
    return _dressed(text, draw), 1 if up == good_when_high else -1


def _amounts(draw: random.Random) -> tuple[str, str]:
    """Return two amounts as texts, the smaller first and the difference plain to see."""
    low = draw.uniform(0.8, 400)
    high = low * draw.uniform(1.08, 2.5)
    places = draw.choice((0, 1, 1, 2)) if low > 5 else 1
    return f"{low:.{places}f}", f"{high:.{places}f}"


def _dressed(text: str, draw: random.Random) -> str:
    text = text[0].upper() + text[1:]
    return f"{text} ." if draw.random() < 0.1 else f"{text}." if draw.random() < 0.2 else text
