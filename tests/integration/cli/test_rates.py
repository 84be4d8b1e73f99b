from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner

from sourcebook.observations import read
from sourcebook.table.client import Table
from sourcebook_cli.rates import rates
from sourcebook_cli.stack import Stack
from tests.integration.observations.world import World

BEGIN = datetime(2026, 1, 6, 2, tzinfo=UTC)
RATES = {BEGIN + timedelta(days=day): 4 + day / 10 for day in range(7)}


@pytest.mark.parametrize("points_in_a_page", [3, 7, 1])
def test_a_history_of_several_pages_is_shown_whole(
    points_in_a_page: int,
    table: Table,
    stack_starting: Callable[..., Stack],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(read, "MOST_POINTS", points_in_a_page)
    stack_starting()
    world = World(table)
    world.declare("bank", 1)
    for moment, rate in RATES.items():
        world.scrape("bank", moment, {("Elm", "deposit_online", "M0006"): rate})
    command = ["history", "--bank", "Elm", "--series", "deposit_online", "--term", "6"]

    answer = json.loads(CliRunner().invoke(rates, [*command, "--json"], catch_exceptions=False).output)

    days = {moment.date().isoformat(): rate for moment, rate in RATES.items()}
    assert {item["observed_day"]: item["rate_pct"] for item in answer["items"]} == days
    assert [item["observed_day"] for item in answer["items"]] == sorted(days)
    assert "next_cursor" not in answer
    some = CliRunner().invoke(rates, [*command, "--from", "2026-01-07", "--to", "2026-01-11"]).output
    assert re.findall(r"2026-01-\d\d", some) == sorted(days)[1:6]
    world.sql.close()
