from __future__ import annotations

import time

import pytest

from sourcebook_cli.suggestions import similar, unknown


@pytest.mark.parametrize(
    ("value", "known", "meant"),
    [
        ("ledgr", ["ledger", "herald"], "ledger"),
        ("LEDGER", ["ledger", "herald"], "ledger"),
        ("vietcombnk", ["Vietcombank", "VietinBank"], "Vietcombank"),
        ("ben xuan", ["Bến Xuân", "Đông Á"], "Bến Xuân"),
        ("dong a", ["Bến Xuân", "Đông Á"], "Đông Á"),
        ("v1324sco", ["V1324 Sco", "T CrB"], "V1324 Sco"),
        ("harbor_wire", ["harbor-wire", "tide"], "harbor-wire"),
        ("ledger", ["the-ledger-world-news", "herald"], "the-ledger-world-news"),
    ],
)
def test_what_was_meant_comes_first(value: str, known: list[str], meant: str) -> None:
    assert similar(value, known)[0] == meant
    assert f"Did you mean {meant}" in str(unknown("NAME", value, known, "a known name"))


@pytest.mark.parametrize("value", ["", "  ", "zzzz", "\u202e"])
def test_nothing_is_made_up(value: str) -> None:
    assert similar(value, ["ledger", "herald"]) == []
    assert "mean" not in str(unknown("NAME", value, ["ledger"], "a known name"))


def test_at_most_three_are_named_and_each_once() -> None:
    named = similar("feed", [f"feed-{n}" for n in range(9)] + ["Feed-1"])
    assert len(named) == len(set(named)) == 3


def test_very_many_or_very_long_names_take_no_time() -> None:
    begun = time.process_time()
    similar("ledger", (f"source-{n:06}" for n in range(1_000_000)))
    similar("l" * 2_000, ["l" * 2_000, "x" * 100_000])
    assert time.process_time() - begun < 2
