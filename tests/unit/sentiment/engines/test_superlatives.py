"""Superlatives and what is near them: what is right for a reader, on headlines not trained on."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from sourcebook.sentiment.engines.model import ModelEngine
from training.corpora import OWN, TOPICS

CASES = Path(__file__).parents[5] / "shared" / "cases" / "sentiment" / "superlatives.tsv"
KINDS = {
    "worst": """
        negative Worst bank stock of the year, portfolio manager says
        negative The worst train operator in the country, say commuters
        negative This is the worst bond market in the world
        negative Why this is the worst tablet of the year
        negative Worst day since the crash for carmakers
        negative The least reliable van on sale
        negative The slowest recovery in thirty years
        """,
    "best": """
        positive This is the best photo editor on the market
        positive This is the most reliable car we have ever driven
        positive Best day since 2009 for carmakers
        positive The best train operator in the country, say commuters
        positive Strongest quarter ever for the shipbuilder
        positive Fewest complaints of any airline
        """,
    "negated": """
        negative Not the best start for the new chairman
        negative No longer the safest place for your savings
        negative Nothing about this tablet is good
        positive No better time to buy a bicycle
        positive Nothing beats this printer
        positive Never let us down: the old workstation
        """,
    "turned": """
        positive Insurer swings to profit from loss
        positive Toymaker swings to a profit after three years of losses
        negative Insurer swings to loss from profit
        negative Toymaker slips into the red after a profit a year ago
        """,
    "names": """
        neutral Crash Records signs lease in Leeds
        neutral Doom Eternal comes to tablets in May
        neutral Best Buy to open store in Ohio
        neutral Failure Mode Press publishes catalogue
        neutral Bad Wolf names head of drama
        """,
    "mocking": """
        neutral Oh great, another music app
        neutral Just what we needed: a toaster with a camera
        neutral Wonderful, one more login screen
        """,
}
SPOKEN = [line.strip().split(" ", 1) for lines in KINDS.values() for line in lines.strip().splitlines()]


@pytest.fixture(scope="module")
def engine() -> ModelEngine:
    return ModelEngine()


def test_nearly_all_are_labelled_as_a_reader_would(engine: ModelEngine) -> None:
    found = engine.label([text for _, text in SPOKEN])
    wrong = [
        f"{text!r}: {label.sentiment}, not {right}"
        for (right, text), label in zip(SPOKEN, found, strict=True)
        if label.sentiment != right
    ]
    assert len(wrong) <= 0.15 * len(SPOKEN), "\n".join(wrong)


def test_none_of_them_was_trained_on() -> None:
    trained = {
        line.split("\t")[1] for topic in TOPICS for line in (OWN / f"{topic}.tsv").read_text().splitlines()
    }
    assert not trained & {text for _, text in SPOKEN}


@pytest.mark.skipif(not CASES.exists(), reason=f"{CASES} is not here: it lies beside the project")
def test_the_cases_that_were_read_wrong_are_read_right(engine: ModelEngine) -> None:
    with CASES.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    found = [label.sentiment for label in engine.label([text for text, _ in rows])]
    assert found == [right for _, right in rows]
