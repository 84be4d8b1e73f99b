from __future__ import annotations

import pytest

from sourcebook.errors import InvalidInput
from sourcebook.sentiment.engines import Target
from sourcebook.sentiment.engines.clauses import clause_of
from sourcebook.sentiment.engines.fallback import FallbackEngine


def target(text: str, name: str) -> Target:
    start = text.index(name)
    return Target(text, start, start + len(name))


@pytest.mark.parametrize(
    ("text", "name", "clause"),
    [
        ("Kestrel jumps 8%; Lumora slides on weak sales", "Kestrel", "Kestrel jumps 8%"),
        ("Kestrel jumps 8%; Lumora slides on weak sales", "Lumora", "Lumora slides on weak sales"),
        ("Kestrel slides as Lumora takes the lead", "Lumora", "Lumora takes the lead"),
        ("Kestrel opens a plant", "Kestrel", "Kestrel opens a plant"),
        ("Kestrel, Lumora lead the gainers", "Kestrel", "Kestrel, Lumora lead the gainers"),
        ("Shares of both fell sharply: Kestrel", "Kestrel", "Shares of both fell sharply: Kestrel"),
        ("Kestrel", "Kestrel", "Kestrel"),
        ("Profit of 1.5 billion at Kestrel. Lumora warns", "Kestrel", "Profit of 1.5 billion at Kestrel"),
    ],
)
def test_a_clause_is_what_speaks_of_the_target(text: str, name: str, clause: str) -> None:
    assert clause_of(target(text, name)) == clause


def test_an_engine_of_whole_texts_labels_a_target_by_its_clause() -> None:
    text = "Kestrel profit jumps to a record; Lumora plunges after profit warning"
    labels = FallbackEngine().label_targets([target(text, "Kestrel"), target(text, "Lumora")])
    assert [label.sentiment for label in labels] == ["positive", "negative"]


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (3, 3), (4, 2), (0, 8)])
def test_a_place_that_is_not_in_the_text_is_refused(start: int, end: int) -> None:
    with pytest.raises(InvalidInput, match="a place in a text of 7 characters"):
        Target("Kestrel", start, end)
