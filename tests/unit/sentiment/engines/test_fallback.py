from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.sentiment.engines.fallback import WEIGHTS, FallbackEngine, features
from tests.unit.sentiment.engines.behaviour import behaviour, mistakes

CORE = WEIGHTS.parents[3]
ENGINE = FallbackEngine()


def test_behaves_as_a_reader_would_on_75_percent_of_the_behaviour_list() -> None:
    wrong = mistakes(ENGINE)
    assert len(wrong) <= 0.25 * len(behaviour()), "\n".join(wrong)


def test_needs_nothing_but_the_standard_library() -> None:
    program = f"""
import sys
sys.path.insert(0, {str(CORE)!r})
from sourcebook.sentiment.engines.fallback import FallbackEngine
print(FallbackEngine().label(["Profit plunges as sales collapse"])[0].sentiment)
"""
    # -S and -I leave out the site packages: an import from there would fail.
    finished = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True
    )
    assert finished.stdout.strip() == "negative"


@given(st.text(max_size=300))
def test_any_text_gets_probabilities(text: str) -> None:
    [label] = ENGINE.label([text])
    assert 0 < label.confidence <= 1
    assert -1 <= label.polarity <= 1
    assert sum(label.scores.values()) == pytest.approx(1, abs=0.001)


@pytest.mark.parametrize(
    ("text", "feature"),
    [
        ("Operating loss fell to EUR 2 mn from EUR 9 mn", "m low down"),
        ("Operating loss fell to EUR 2 mn from EUR 9 mn", "c low down"),
        ("Net sales rose to EUR 9.5 mn compared to EUR 2.1 mn", "c high up"),
        ("Net sales of 1,200 against 1,500 a year ago", "c high down"),
        ("Profit up", "m high up"),
        ("Carrier avoids bankruptcy", "l not bad"),
        ("Will Apple win?", "l asks 1"),
    ],
)
def test_what_moves_which_way_is_a_feature(text: str, feature: str) -> None:
    assert feature in features(text)


def test_equal_amounts_say_nothing() -> None:
    assert not any(feature.startswith("c ") for feature in features("Sales of 20 compared to 20"))


def test_the_name_has_the_version() -> None:
    assert ENGINE.name.startswith("ngrams-")
    assert Path(WEIGHTS).stat().st_size < 500_000
