from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from sourcebook.errors import InvalidInput
from sourcebook.observations.export import COLUMNS, writer_for
from sourcebook.observations.raw_read import RawReader
from sourcebook.records.base import View
from sourcebook.table.pages import all_items
from tests.integration.observations.memory import MemoryTable
from tests.integration.observations.world import World

SIX = ("VCB", "deposit_online", "M0006")
LOAN = ("VCB", "home_loan", "-")
MORNING = datetime(2026, 1, 6, 2, tzinfo=UTC)


def raw_rows(world: World) -> Iterator[View]:
    return all_items(partial(RawReader(world.table).figures, limit=1_000))


@pytest.fixture
def scene() -> World:
    world = World(MemoryTable())
    world.declare("timo", 1)
    world.declare("other", 2)
    world.scrape("timo", MORNING, {SIX: 4.5, LOAN: 7.25})
    world.scrape("other", MORNING, {SIX: 4.6})
    world.scrape("timo", MORNING + timedelta(days=1), {SIX: 4.35})
    return world


@pytest.mark.parametrize("suffix", ["json", "csv", "parquet"])
def test_every_form_holds_the_same(scene: World, tmp_path: Path, suffix: str) -> None:
    def read(path: Path) -> list[tuple[str, str, float, str]]:
        match suffix:
            case "json":
                rows = json.loads(path.read_text("utf-8"))
            case "csv":
                with path.open(encoding="utf-8", newline="") as file:
                    rows = list(csv.DictReader(file))
            case _:
                rows = pq.read_table(path).to_pylist()
        assert all(list(row) == list(COLUMNS) for row in rows)
        return sorted(
            (r["series_code"], str(r["observed_day"]), float(r["rate_pct"]), r["source_id"]) for r in rows
        )

    path = tmp_path / f"rates.{suffix}"
    write = writer_for(path)
    assert write(path, all_items(scene.reader.latest)) == 2
    assert read(path) == [
        ("deposit_online", "2026-01-07", 4.35, "timo"),
        ("home_loan", "2026-01-06", 7.25, "timo"),
    ]
    assert write(path, raw_rows(scene)) == 4
    assert read(path) == [
        ("deposit_online", "2026-01-06", 4.5, "timo"),
        ("deposit_online", "2026-01-06", 4.6, "other"),
        ("deposit_online", "2026-01-07", 4.35, "timo"),
        ("home_loan", "2026-01-06", 7.25, "timo"),
    ]


def test_the_raw_export_keeps_the_word_of_a_removed_source(scene: World) -> None:
    scene.remove("other")
    assert [r["source_priority"] for r in raw_rows(scene) if r["source_id"] == "other"] == [None]
    assert all(row["source_id"] == "timo" for row in all_items(scene.reader.latest))


def test_another_form_of_file_is_refused_before_anything_is_read() -> None:
    with pytest.raises(InvalidInput, match=r"\.json, \.csv, \.parquet"):
        writer_for(Path("rates.xlsx"))


def test_a_bank_named_like_a_formula_runs_in_no_spreadsheet_and_a_negative_figure_is_a_number(
    tmp_path: Path,
) -> None:
    world = World(MemoryTable())
    world.declare("timo", 1)
    for bank in ("=cmd|'/C calc'!A0", "＝1+1", "\t@SUM(1)"):
        world.scrape("timo", MORNING, {(bank, "deposit_online", "M0006"): -1.25})
    for rows in (all_items(world.reader.latest), raw_rows(world)):
        path = tmp_path / "rates.csv"
        writer_for(path)(path, rows)
        with path.open(encoding="utf-8", newline="") as file:
            written = list(csv.DictReader(file))
        assert written
        assert all(row["bank_name"].startswith("'") for row in written)
        assert {row["rate_pct"] for row in written} == {"-1.25"}
