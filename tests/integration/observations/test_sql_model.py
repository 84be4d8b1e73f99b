"""Whatever happens in whatever order, the canonical layer says what SQL says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from boto3.dynamodb.conditions import ConditionBase
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

from sourcebook.table import keys
from sourcebook.table.client import QueryPage
from sourcebook.table.codec import Item
from tests.integration.observations.memory import MemoryTable
from tests.integration.observations.sql import Target
from tests.integration.observations.world import World, new_table

ZONES = {"tokyo": "Asia/Tokyo", "hanoi": "Asia/Ho_Chi_Minh", "lima": "America/Lima"}
SOURCES = sorted(ZONES)
TARGETS: list[Target] = [
    ("Bến Xuân", "deposit_online", "M0006"),
    ("Bến Xuân", "deposit_online", "M0012"),
    ("Lúa #1", "deposit_online", "M0006"),
    ("Lúa #1", "home_loan", "-"),
]
START = datetime(2026, 1, 5, 14, tzinfo=UTC)

sources = st.sampled_from(SOURCES)
priorities = st.sampled_from([None, 1, 2, 2, 3])
# Steps of some hours: several scrapes a day, on both sides of midnight in each of the zones.
moments = st.integers(0, 11).map(lambda steps: START + timedelta(hours=5 * steps))
rows = st.dictionaries(st.sampled_from(TARGETS), st.sampled_from([3.1, 4.25, 4.35, 5.0]), min_size=1)

operations = st.one_of(
    st.tuples(st.just("scrape"), sources, moments, rows),
    st.tuples(st.just("scrape"), sources, moments, rows),
    st.tuples(st.just("scrape"), sources, moments, rows),
    st.tuples(st.just("repeat"), st.integers(0, 30)),
    st.tuples(st.just("declare"), sources, priorities),
    st.tuples(st.just("remove"), sources),
    st.tuples(st.just("overtaken"), sources, moments, rows, priorities | st.just(-1)),
)

several = settings(
    max_examples=100,
    deadline=None,
    # Without shrinking: each try costs a table, and the first failing example is short enough to be read.
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


class Play:
    """Does one operation after the other, and remembers what was scraped so that it can be repeated."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.scraped: dict[tuple[str, datetime], Mapping[Target, float]] = {}
        for number, source_id in enumerate(SOURCES):
            world.declare(source_id, None if number == 0 else number)

    def do(self, operation: tuple[Any, ...]) -> None:
        match operation:
            case ("scrape", source_id, moment, figures):
                self._scrape(source_id, moment, figures)
            case ("repeat", number) if self.scraped:
                source_id, moment = list(self.scraped)[number % len(self.scraped)]
                self._scrape(source_id, moment, {})
            case ("declare", source_id, priority):
                self.world.declare(source_id, priority)
            case ("remove", source_id):
                self.world.remove(source_id)
            case ("overtaken", source_id, moment, figures, priority):
                # While the poll is under way, somebody removes the source or changes its priority.
                change = (
                    partial(self.world.remove, source_id)
                    if priority == -1
                    else partial(self.world.declare, source_id, priority)
                )
                self._scrape(source_id, moment, figures, change)

    def _scrape(
        self,
        source_id: str,
        moment: datetime,
        figures: Mapping[Target, float],
        meanwhile: Callable[[], None] | None = None,
    ) -> None:
        # One source says one thing at one moment, however often that arrives.
        said = self.scraped.setdefault((source_id, moment), figures)
        self.world.scrape(source_id, moment, said, meanwhile=meanwhile)


def assert_as_sql_says(world: World) -> None:
    assert world.raw() == world.sql.raw()
    assert world.latest() == world.sql.latest()
    known = set(world.reader.targets())
    for target in TARGETS:
        if target in known:
            assert world.history(target) == world.sql.history(target)


@several
@given(st.lists(operations, min_size=1, max_size=16))
def test_after_any_order_of_events_the_table_says_what_sql_says(happenings: list[tuple[Any, ...]]) -> None:
    check_after(World(MemoryTable(), ZONES), happenings)


@settings(several, max_examples=2)
@given(st.lists(operations, min_size=4, max_size=5))
def test_dynamodb_judges_the_same(aws: None, happenings: list[tuple[Any, ...]]) -> None:
    check_after(World(new_table(), ZONES), happenings)


def check_after(world: World, happenings: list[tuple[Any, ...]]) -> None:
    play = Play(world)
    for operation in happenings:
        play.do(operation)
    event(f"rows in /latest: {len(world.sql.latest())}")
    assert_as_sql_says(world)
    assert world.rebuild()[1] == 0, "a rebuild found something that was not as it should be"
    assert_as_sql_says(world)
    world.sql.close()


class Interrupted(MemoryTable):
    """A table on which something else happens before the request of a given number."""

    def __init__(self, table: MemoryTable, number: int, happens: Callable[[], None]) -> None:
        self.items = table.items
        self._left = number
        self._happens = happens

    def _tick(self) -> None:
        self._left -= 1
        if self._left == 0:
            self._happens()

    def create(self, item: Mapping[str, object]) -> Item | None:
        self._tick()
        return super().create(item)

    def update(self, key: keys.Key, **changes: Any) -> Item:
        self._tick()
        return super().update(key, **changes)

    def get(self, key: keys.Key, *, consistent: bool = False) -> Item | None:
        self._tick()
        return super().get(key, consistent=consistent)

    def query(self, condition: ConditionBase, **options: Any) -> QueryPage:
        self._tick()
        return super().query(condition, **options)


@several
@given(
    st.lists(operations, max_size=5),
    st.sampled_from(["scrape", "rebuild", "declare"]),
    sources,
    rows,
    st.integers(1, 14),
    st.one_of(
        st.tuples(st.just("scrape"), sources, rows),
        st.tuples(st.just("declare"), sources, priorities),
        st.tuples(st.just("remove"), sources),
    ),
)
def test_two_things_at_once_come_to_what_sql_says(  # noqa: PLR0917 - hypothesis passes them
    before: list[tuple[Any, ...]],
    first: str,
    source_id: str,
    figures: Mapping[Target, float],
    number: int,
    second: tuple[Any, ...],
) -> None:
    plain = MemoryTable()
    world = World(plain, ZONES)
    play = Play(world)
    for operation in before:
        play.do(operation)
    begun, nested = START + timedelta(days=3), START + timedelta(days=3, minutes=1)

    def happens() -> None:
        world.table = plain
        play.do((second[0], second[1], nested, second[2]) if second[0] == "scrape" else second)

    world.table = Interrupted(plain, number, happens)
    match first:
        case "scrape":
            play.do(("scrape", source_id, begun, figures))
        case "rebuild":
            world.rebuild()
        case "declare":
            play.do(("declare", source_id, 2))
    world.table = plain
    if second[0] != "scrape" and first == "declare" and second[1] == source_id:
        # Two people declaring one source at once: SQL knows the order, so the last word is said again.
        play.do(("declare", source_id, 2))
    assert_as_sql_says(world)
    world.sql.close()
