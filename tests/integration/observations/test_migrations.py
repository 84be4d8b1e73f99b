from __future__ import annotations

from datetime import UTC, datetime

import pytest

from sourcebook.errors import InvalidInput
from sourcebook.migrations.steps import STEPS, Migrations
from sourcebook.table import keys
from sourcebook.table.client import Table
from tests.integration.observations.world import World

TARGETS = [("VCB", "deposit_online", f"M{months:04}") for months in (1, 6, 12)]
NOW = datetime(2026, 1, 10, tzinfo=UTC)
STEP = STEPS[0].step_id


def store_as_version_1(world: World) -> None:
    """Put observations as the first version wrote them: one time, no order of arrival."""
    world.declare("timo", 1)
    world.scrape("timo", datetime(2026, 1, 6, 2, tzinfo=UTC), dict.fromkeys(TARGETS, 4.5))
    for target in TARGETS:
        key = keys.observation(*target, "2026-01-05", "timo")
        world.table.put(
            {
                **key,
                "entity_type": "Observation",
                "schema_version": "1",
                "source_id": "timo",
                "observed_day": "2026-01-05",
                "scraped_at": "2026-01-05T02:00:00.000Z",
                "rate_pct": 4.4,
                "raw_value": "4,4",
            }
        )


def stored(table: Table, version: str) -> int:
    return sum(
        item.get("schema_version") == version
        for target in TARGETS
        for item in [table.get(keys.observation(*target, "2026-01-05", "timo"))]
        if item
    )


def test_a_step_brings_old_items_up_to_date_once_and_is_recorded(moto_world: World) -> None:
    world = moto_world
    store_as_version_1(world)
    migrations = Migrations(world.table, clock=lambda: NOW)
    assert [(a.step_id, a.applied_at) for a in migrations.status()] == [(STEP, None)]

    (applied,) = migrations.run()
    assert (applied.changed, applied.ran, applied.applied_at) == (3, True, "2026-01-10T00:00:00Z")
    assert (stored(world.table, "1"), stored(world.table, "2")) == (0, 3)
    item = world.table.get(keys.observation(*TARGETS[0], "2026-01-05", "timo"))
    assert item is not None
    assert item["first_seen_at"] == item["last_seen_at"] == "2026-01-05T02:00:00.000Z"
    assert item["sequence"] == 0
    assert "scraped_at" not in item

    (again,) = migrations.run()
    assert (again.ran, again.applied_at) == (False, "2026-01-10T00:00:00Z")
    (forced,) = migrations.run(again=STEP)
    assert (forced.ran, forced.changed) == (True, 0)


class Dying(Table):
    """A table whose third update never comes."""

    left = 2

    def update(self, *args: object, **kwargs: object) -> dict[str, object]:
        if not Dying.left:
            raise KeyboardInterrupt
        Dying.left -= 1
        return super().update(*args, **kwargs)  # type: ignore[arg-type]


def test_a_step_that_was_cut_short_goes_on_where_it_was(moto_world: World) -> None:
    world = moto_world
    store_as_version_1(world)
    with pytest.raises(KeyboardInterrupt):
        list(Migrations(Dying(world.table.name, world.table.client)).run())
    assert stored(world.table, "1") == 1
    (applied,) = Migrations(world.table, clock=lambda: NOW).run()
    assert (applied.changed, stored(world.table, "1")) == (1, 0)


def test_old_and_new_items_are_read_alike_before_the_migration_and_after(moto_world: World) -> None:
    world = moto_world
    store_as_version_1(world)

    def read() -> list[tuple[object, ...]]:
        return world.history(TARGETS[0])

    before = read()
    assert [point[0] for point in before] == ["2026-01-05", "2026-01-06"]
    list(Migrations(world.table).run())
    assert read() == before
    assert world.rebuild()[1] == 0


def test_an_unknown_step_is_refused_with_the_names_of_the_known_ones(world: World) -> None:
    with pytest.raises(InvalidInput, match=STEP):
        list(Migrations(world.table).run(again="0009"))


def test_a_fresh_table_needs_no_step_and_one_with_old_items_does(moto_world: World) -> None:
    migrations = Migrations(moto_world.table, clock=lambda: NOW)
    assert [one.needed for one in migrations.status()] == [False]
    store_as_version_1(moto_world)
    assert [one.needed for one in migrations.status()] == [True]
    list(migrations.run())
    assert [one.needed for one in migrations.status()] == [False]
