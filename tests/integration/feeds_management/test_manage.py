"""Feeds in a table: adding, changing, removing, lists in and out."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from boto3.dynamodb.conditions import ConditionBase, Key

from sourcebook.clock import isoformat
from sourcebook.errors import DoesNotFit, InvalidInput
from sourcebook.feeds.manage import MOST_IMPORTED, FeedManager
from sourcebook.feeds.opml import source_id_for
from sourcebook.records.source import Source
from sourcebook.sources.model import parse_spec
from sourcebook.sources.poll import Poll, Poller, PollResult, PollVerdict
from sourcebook.sources.registry import NEVER, SourceRegistry
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item

pytestmark = pytest.mark.integration

NOW = datetime(2026, 11, 27, 21, 56, tzinfo=UTC)
URL = "https://ledger.example/feed.xml"
ID = source_id_for(URL)


class Clock:
    """A clock that a test moves."""

    now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def manager(table: Table, clock: Clock) -> FeedManager:
    return FeedManager(table, clock, parallel=1)


@pytest.fixture
def registry(table: Table, clock: Clock) -> SourceRegistry:
    return SourceRegistry(table, clock)


def state(table: Table, feed_id: str = ID) -> dict[str, Any]:
    item = table.get(keys.source(feed_id), consistent=True)
    assert item is not None
    return item


def partition(table: Table, feed_id: str) -> Iterator[str]:
    condition = Key("PK").eq(keys.source(feed_id)["PK"])
    return (item["SK"] for item in table.query_all(condition, consistent=True))


def opml(*outlines: str) -> str:
    body = "\n".join(f"<outline {outline}/>" for outline in outlines)
    return f'<opml version="2.0" xmlns:sb="urn:sourcebook:opml"><body>\n{body}</body></opml>'


def test_a_new_feed_is_due_at_once_with_the_id_of_its_url(manager: FeedManager, table: Table) -> None:
    added = manager.add({"url": f" {URL} "}, name="Harbor Ledger")
    assert (added.new, added.feed.source_id) == (True, ID)
    item = state(table)
    assert (item["url"], item["name"], item["kind"], item["interval_minutes"]) == (
        URL,
        "Harbor Ledger",
        "feed",
        15,
    )
    assert item["GSI1SK"] == keys.due(ID, isoformat(NOW))["GSI1SK"]


def test_adding_a_feed_again_changes_nothing(manager: FeedManager, table: Table, clock: Clock) -> None:
    manager.add({"url": URL, "priority": 3, "tags": ["ports"]})
    before = state(table)
    clock.now += timedelta(hours=1)
    for again in (
        {"url": URL},
        {"url": "HTTPS://Ledger.example:443/feed.xml#x"},
        {"url": URL, "priority": 3, "tags": ["ports"], "enabled": True, "feed_id": ID},
    ):
        added = manager.add(again, name="Another title")
        assert (added.new, added.feed.source_id) == (False, ID)
    assert state(table) == before


def test_a_feed_that_was_declared_under_another_id_is_the_same_feed(
    manager: FeedManager, registry: SourceRegistry
) -> None:
    registry.register(parse_spec({"source_id": "ledger", "url": URL}))
    added = manager.add({"url": URL})
    assert (added.new, added.feed.source_id) == (False, "ledger")
    assert manager.import_opml(opml(f'xmlUrl="{URL}"')).known == ["ledger"]
    assert [feed.source_id for feed in manager.feeds()] == ["ledger"]


def test_what_contradicts_the_registered_feed_is_a_conflict(
    manager: FeedManager, registry: SourceRegistry
) -> None:
    manager.add({"url": URL, "priority": 3})
    registry.register(
        parse_spec({"source_id": "rates", "kind": "html_table", "url": "https://bank.example/"})
    )
    for values, field in (
        ({"url": URL, "priority": 4}, "priority"),
        ({"url": URL, "enabled": False}, "enabled"),
        ({"url": URL, "feed_id": "mine"}, "feed_id"),
        ({"url": "https://other.example/", "feed_id": ID}, "feed_id"),
        ({"url": "https://other.example/", "feed_id": "rates"}, "feed_id"),
    ):
        with pytest.raises(DoesNotFit) as refused:
            manager.add(values)
        assert refused.value.field == field
    assert [feed.source_id for feed in manager.feeds()] == [ID]


def test_the_address_that_a_feed_has_moved_away_from_is_still_its_own(
    manager: FeedManager, table: Table
) -> None:
    manager.add({"url": URL})
    table.update(
        keys.source(ID),
        assign={"url": "https://new.example/feed", "host": "new.example", "previous_url": URL},
    )
    assert manager.add({"url": URL}).new is False
    assert manager.add({"url": "https://new.example/feed"}).feed.source_id == ID


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({}, "url"),
        ({"url": ""}, "url"),
        ({"url": 5}, "url"),
        ({"url": "ftp://a.example/"}, "url"),
        ({"url": "https://u:p@a.example/"}, "url"),
        ({"url": "https://a.example/" + "x" * 2000}, "url"),
        ({"url": URL, "feed_id": "No Such"}, "feed_id"),
        ({"url": URL, "priority": -1}, "priority"),
        ({"url": URL, "priority": True}, "priority"),
        ({"url": URL, "priority": "3"}, "priority"),
        ({"url": URL, "enabled": "yes"}, "enabled"),
        ({"url": URL, "enabled": None}, "enabled"),
        ({"url": URL, "tags": "a"}, "tags"),
        ({"url": URL, "tags": [""]}, "tags"),
        ({"url": URL, "tags": ["x"] * 11}, "tags"),
        ({"url": URL, "name": "x" * 201}, "name"),
        ({"url": URL, "nmae": "x"}, "nmae"),
        ({"url": URL, "etag": "x"}, "etag"),
    ],
)
def test_a_wrong_value_is_named_and_nothing_is_added(
    manager: FeedManager, values: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        manager.add(values)
    assert refused.value.field == field
    assert list(manager.feeds()) == []


def test_tags_ignore_case_and_keep_their_first_spelling(manager: FeedManager, table: Table) -> None:
    manager.add({"url": URL, "tags": ["Ports", " ports ", "Straße", "STRASSE", "Sea"]})
    assert state(table)["tags"] == ["Ports", "Straße", "Sea"]
    assert not manager.add({"url": URL, "tags": ["PORTS", "strasse", "sea"]}).new
    with pytest.raises(DoesNotFit):
        manager.add({"url": URL, "tags": ["Ports", "Lake"]})
    other = '<outline text="Ports"><outline type="rss" xmlUrl="https://o.example/" category="PORTS,x,X"/>'
    manager.import_opml(f'<opml version="2.0"><body>{other}</outline></body></opml>')
    assert state(table, source_id_for("https://o.example/"))["tags"] == ["PORTS", "x"]


def test_a_feed_without_a_name_goes_by_its_own_title(manager: FeedManager, table: Table) -> None:
    manager.add({"url": URL, "name": ""})
    table.update(keys.source(ID), assign={"title": "Harbour News"})
    assert Source.of_item(state(table)).shown()["name"] == "Harbour News"
    assert 'text="Harbour News"' in manager.export_opml()
    assert not manager.add({"url": URL, "name": "Harbour News"}).new
    manager.change(ID, {"name": "Mine"})
    feed = Source.of_item(state(table))
    assert feed.shown()["name"] == feed.shown_in_short()["name"] == "Mine"


def test_changes_leave_what_polling_has_learned(manager: FeedManager, table: Table) -> None:
    manager.add({"url": URL})
    table.update(keys.source(ID), assign={"etag": '"x"', "consecutive_errors": 2})
    before = state(table)
    changed = manager.change(ID, {"priority": 1, "name": " New ", "tags": ["a", "a", "b"]})
    assert state(table) == before | {"priority": 1, "name": "New", "tags": ["a", "b"]}
    assert changed == Source.of_item(state(table))


def test_priority_reaches_the_index_that_orders_the_due_queue(manager: FeedManager, table: Table) -> None:
    manager.add({"url": URL})
    manager.change(ID, {"priority": 7})
    (entry,) = table.query_all(Key("GSI1PK").eq(keys.DUE_SOURCES), index=keys.ELIGIBILITY_INDEX)
    assert entry["priority"] == 7


def test_a_feed_that_a_person_disables_is_neither_due_nor_probed(
    manager: FeedManager, table: Table, registry: SourceRegistry
) -> None:
    manager.add({"url": URL})
    disabled = manager.change(ID, {"enabled": False, "priority": 2})
    assert disabled is not None
    assert (disabled.enabled, disabled.priority, isoformat(disabled.next_fetch_time)) == (False, 2, NEVER)
    assert state(table)["GSI1SK"] == f"{NEVER}#{ID}"
    assert state(table)["GSI1PK"] == keys.DISABLED_SOURCES
    assert manager.change(ID, {"enabled": False}) == disabled
    source = registry.get(ID)
    assert source is not None
    assert source.health == "disabled"
    assert isoformat(source.next_fetch_time) == NEVER


def test_a_poll_that_was_under_way_does_not_enable_what_a_person_has_disabled(
    manager: FeedManager, table: Table, registry: SourceRegistry
) -> None:
    manager.add({"url": URL})
    source = registry.get(ID)
    assert source is not None
    manager.change(ID, {"enabled": False})
    poll = Poll(source, PollResult(PollVerdict.CHANGED, "ok"), 5)
    committed = Poller(registry, {}, registry.clock).commit(poll)
    assert committed is False
    assert state(table)["next_fetch_time"] == NEVER


def test_one_that_errors_have_disabled_can_be_switched_off_and_on_by_a_person(
    manager: FeedManager, table: Table, clock: Clock
) -> None:
    manager.add({"url": URL})
    probe = isoformat(NOW + timedelta(days=7))
    by_errors = {
        "enabled": False,
        "consecutive_errors": 10,
        "next_fetch_time": probe,
        **keys.disabled(ID, probe),
    }
    table.update(keys.source(ID), assign=by_errors)
    manager.change(ID, {"enabled": False})
    assert state(table)["next_fetch_time"] == NEVER

    clock.now += timedelta(hours=1)
    enabled = manager.change(ID, {"enabled": True})
    assert enabled is not None
    assert (enabled.enabled, enabled.consecutive_errors) == (True, 0)
    there = state(table)
    assert there["next_fetch_time"] == isoformat(clock.now)
    assert {name: there[name] for name in ("GSI1PK", "GSI1SK")} == keys.due(ID, isoformat(clock.now))


def test_enabling_what_is_enabled_does_not_make_it_due(
    manager: FeedManager, table: Table, clock: Clock
) -> None:
    manager.add({"url": URL})
    before = state(table)
    clock.now += timedelta(hours=1)
    manager.change(ID, {"enabled": True})
    assert state(table) == before
    manager.change(ID, {"enabled": True, "priority": 4})
    assert state(table) == before | {"priority": 4}


def test_a_source_that_is_declared_disabled_is_never_probed_and_can_be_enabled(
    registry: SourceRegistry, table: Table
) -> None:
    registry.register(parse_spec({"source_id": "a", "url": URL, "enabled": False}))
    assert state(table, "a")["GSI1SK"] == f"{NEVER}#a"
    registry.register(parse_spec({"source_id": "a", "url": URL, "enabled": True}))
    assert state(table, "a")["GSI1PK"] == keys.DUE_SOURCES
    registry.register(parse_spec({"source_id": "a", "url": URL, "enabled": False}))
    assert state(table, "a")["next_fetch_time"] == NEVER


def test_the_registry_enables_and_disables_any_source(registry: SourceRegistry, table: Table) -> None:
    registry.register(
        parse_spec({"source_id": "rates", "kind": "html_table", "url": "https://bank.example/"})
    )
    disabled = registry.change("rates", enabled=False)
    assert disabled is not None
    assert disabled.enabled is False
    enabled = registry.change("rates", enabled=True)
    assert enabled is not None
    assert enabled.enabled is True
    assert registry.change("nobody", enabled=False) is registry.change("nobody", enabled=True) is None


@pytest.mark.parametrize(
    "values", [{}, {"url": "ftp://a"}, {"feed_id": "x"}, {"priority": 10_000}, {"enabled": 1}]
)
def test_what_cannot_be_changed_is_refused(
    manager: FeedManager, table: Table, values: dict[str, Any]
) -> None:
    manager.add({"url": URL})
    before = state(table)
    with pytest.raises(InvalidInput):
        manager.change(ID, values)
    assert state(table) == before


def test_only_feeds_are_changed_and_removed(
    manager: FeedManager, registry: SourceRegistry, table: Table
) -> None:
    registry.register(
        parse_spec({"source_id": "rates", "kind": "html_table", "url": "https://bank.example/"})
    )
    before = state(table, "rates")
    for values in ({"priority": 1}, {"enabled": False}, {"enabled": True}, {"enabled": False, "priority": 1}):
        assert manager.change("rates", values) is None
        assert manager.change("nobody", values) is None
    assert manager.remove("rates") is False
    assert manager.remove("nobody") is False
    assert state(table, "rates") == before
    assert list(partition(table, "nobody")) == []


def test_removing_a_feed_leaves_nothing_of_its_partition(manager: FeedManager, table: Table) -> None:
    manager.add({"url": URL})
    manager.add({"url": f"{URL}2"})
    other = source_id_for(f"{URL}2")
    for minute in range(60):
        moment = isoformat(NOW + timedelta(minutes=minute))
        table.put({**keys.source_fetch(ID, moment), "cause": "ok"})
    table.put({**keys.source_seen(ID), "entries": b"x"})
    table.put({**keys.source_quota(ID, "2026-11-27"), "calls": 1})
    table.put({**keys.source_seen(other), "entries": b"y"})
    assert manager.remove(ID) is True
    assert list(partition(table, ID)) == []
    assert sorted(partition(table, other)) == ["SEEN", keys.STATE_SORT_KEY]
    assert manager.remove(ID) is False


def test_what_a_late_poll_leaves_of_a_removed_feed_is_not_taken_for_its_successors(
    manager: FeedManager, table: Table
) -> None:
    manager.add({"url": URL})
    manager.remove(ID)
    table.put({**keys.source_seen(ID), "entries": b"x"})
    assert manager.add({"url": URL}).new
    assert list(partition(table, ID)) == [keys.STATE_SORT_KEY]


def test_an_import_adds_what_can_be_added_and_reports_the_rest(manager: FeedManager, table: Table) -> None:
    manager.add({"url": URL, "priority": 3})
    before = state(table)
    report = manager.import_opml(
        opml(
            f'text="known" xmlUrl="{URL}" sb:priority="9"',
            'text="new" xmlUrl="https://a.example/feed" category="x"',
            'text="bad" xmlUrl="gopher://a.example/"',
            'text="worse" xmlUrl="https://[::1/"',
            'type="rss" text="none"',
            'text="bad id" xmlUrl="https://b.example/feed" sb:id="No Such"',
            f'text="id of another" xmlUrl="https://c.example/feed" sb:id="{ID}"',
        )
    )
    ids = [source_id_for(f"https://{host}.example/feed") for host in "abc"]
    assert report.added == ids
    assert report.known == [ID]
    assert [problem.line for problem in report.problems] == [4, 5, 6, 7]
    assert "gopher://a.example/" in report.problems[0].message
    assert state(table) == before
    assert state(table, ids[0])["tags"] == ["x"]


def test_importing_again_adds_nothing(manager: FeedManager) -> None:
    document = opml(*(f'xmlUrl="https://a.example/{n}"' for n in range(30)))
    assert len(manager.import_opml(document).added) == 30
    again = manager.import_opml(document.encode())
    assert (again.added, len(again.known), again.problems) == ([], 30, [])


def test_a_list_is_written_by_several_at_once(table: Table) -> None:
    turn = threading.Lock()

    class InTurn(Table):
        """moto is not safe to call by several threads at once."""

        def create(self, item: Mapping[str, object]) -> Item | None:
            with turn:
                return super().create(item)

        def delete(self, key: keys.Key, condition: ConditionBase | None = None) -> None:
            with turn:
                super().delete(key, condition)

    manager = FeedManager(InTurn(table.name, table.client), parallel=4)
    urls = [f"https://host-{n}.example/" for n in range(40)]
    report = manager.import_opml(opml(*(f'xmlUrl="{url}"' for url in urls)))
    assert report.added == [source_id_for(url) for url in urls]
    assert len(list(manager.feeds())) == 40


def test_an_export_gives_every_feed_back_in_another_table(
    manager: FeedManager, table: Table, registry: SourceRegistry
) -> None:
    registry.register(
        parse_spec({"source_id": "mine", "url": "https://m.example/?a=1&b=2", "name": "M & N", "priority": 2})
    )
    manager.add({"url": URL, "tags": ["Ports", "a, b"]})
    manager.add({"url": "https://off.example/", "enabled": False})
    registry.register(
        parse_spec({"source_id": "rates", "kind": "html_table", "url": "https://bank.example/"})
    )
    declared = ("source_id", "url", "name", "priority", "tags", "enabled")

    def all_feeds() -> list[list[Any]]:
        return sorted([getattr(feed, name) or "" for name in declared] for feed in manager.feeds())

    before = all_feeds()
    exported = manager.export_opml()
    for feed in list(manager.feeds()):
        manager.remove(feed.source_id)
    report = manager.import_opml(exported)
    assert (len(report.added), report.problems) == (3, [])
    assert all_feeds() == before
    assert state(table, source_id_for("https://off.example/"))["next_fetch_time"] == NEVER
    assert manager.export_opml() == exported


def test_a_list_that_is_too_long_is_refused_whole(manager: FeedManager) -> None:
    document = opml(*(f'xmlUrl="https://a.example/{n}"' for n in range(MOST_IMPORTED + 1)))
    with pytest.raises(InvalidInput, match=f"{MOST_IMPORTED + 1} feeds"):
        manager.import_opml(document)
    assert list(manager.feeds()) == []


def test_a_feed_that_has_moved_keeps_its_id_and_is_fetched_at_once_as_if_for_the_first_time(
    manager: FeedManager, table: Table, clock: Clock
) -> None:
    manager.add({"url": URL, "priority": 3})
    learned = {"etag": "x", "body_hash": "y", "redirect_url": "https://r.example/", "fetch_count": 9}
    table.update(keys.source(ID), assign={**learned, "consecutive_errors": 4})
    clock.now += timedelta(hours=1)

    assert manager.change(ID, {"url": " https://new.example/feed "}) is not None

    item = state(table)
    assert (item["url"], item["host"], item["previous_url"]) == (
        "https://new.example/feed",
        "new.example",
        URL,
    )
    assert not {"etag", "body_hash", "redirect_url"} & {
        name for name, value in item.items() if value is not None
    }
    assert (item["priority"], item["fetch_count"], item["consecutive_errors"]) == (3, 9, 0)
    assert item["next_fetch_time"] == isoformat(clock.now)
    assert item["GSI1SK"] == keys.due(ID, isoformat(clock.now))["GSI1SK"]
    assert manager.add({"url": URL}).feed.source_id == ID, "it is known by its old address"

    clock.now += timedelta(hours=1)
    assert manager.change(ID, {"url": "https://new.example/feed"}) is not None
    assert state(table) == item, "the same again changes nothing"


def test_a_feed_that_is_stopped_stays_stopped_when_it_moves(manager: FeedManager, table: Table) -> None:
    manager.add({"url": URL, "enabled": False})
    manager.change(ID, {"url": "https://new.example/feed"})
    assert state(table)["next_fetch_time"] == NEVER
    manager.change(ID, {"url": "https://third.example/feed", "enabled": True})
    item = state(table)
    assert (item["enabled"], item["next_fetch_time"], item["url"]) == (
        True,
        isoformat(NOW),
        "https://third.example/feed",
    )
    manager.change(ID, {"url": URL, "enabled": False})
    assert (state(table)["url"], state(table)["next_fetch_time"]) == (URL, NEVER)


def test_an_address_that_another_feed_has_is_a_conflict(manager: FeedManager, table: Table) -> None:
    manager.add({"url": URL})
    manager.add({"url": "https://other.example/feed"})
    before = state(table)
    with pytest.raises(DoesNotFit) as refused:
        manager.change(ID, {"url": "HTTPS://other.example:443/feed"})
    assert refused.value.field == "url"
    for wrong in ("", "ftp://a.example/", "https://u:p@a.example/", 5, None):
        with pytest.raises(InvalidInput) as refused_too:
            manager.change(ID, {"url": wrong})
        assert refused_too.value.field == "url"
    assert state(table) == before


def test_a_shorter_interval_counts_from_now_and_a_longer_one_from_the_next_fetch(
    manager: FeedManager, table: Table, clock: Clock
) -> None:
    manager.add({"url": URL, "interval_minutes": 60})
    clock.now += timedelta(minutes=1)
    manager.change(ID, {"interval_minutes": 600})
    assert (state(table)["interval_minutes"], state(table)["next_fetch_time"]) == (600, isoformat(NOW))
    manager.change(ID, {"interval_minutes": 5})
    assert (state(table)["interval_minutes"], state(table)["next_fetch_time"]) == (5, isoformat(clock.now))
    for wrong in (0, 1441, True, "5", 5.5):
        with pytest.raises(InvalidInput) as refused:
            manager.change(ID, {"interval_minutes": wrong})
        assert refused.value.field == "interval_minutes"
