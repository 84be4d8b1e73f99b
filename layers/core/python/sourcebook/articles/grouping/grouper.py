"""One run of grouping: decide on the articles that wait, record it, carry it out, ask for conclusions.

The order survives a crash at any point. The decisions are recorded first; then articles and events are
written from them; then the bus gets them; last the marks of the waiting articles go. A run that finds a
mark whose article is decided already carries the decision out again, which changes nothing if it was done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final, TypeVar

from boto3.dynamodb.conditions import Attr

from sourcebook.articles.bus import IDS_IN_ONE, EventBus
from sourcebook.articles.grouping.by_people import as_merged, recent_decisions, window_of
from sourcebook.articles.grouping.groups import Compared, Entry, Window
from sourcebook.articles.grouping.log import GroupingLog
from sourcebook.articles.grouping.members import new_event, with_members
from sourcebook.articles.grouping.ungrouped import ONE_LINE, Line, articles_of, waiting_marks
from sourcebook.clock import Clock, isoformat, utc_now
from sourcebook.errors import Retryable
from sourcebook.events import GenerateIdeas
from sourcebook.records.article import Article, Status
from sourcebook.records.base import changes
from sourcebook.records.event import Event
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed, Table
from sourcebook.table.codec import Item

T = TypeVar("T")

AT_ONCE: Final = 300
"""Articles decided in one chunk of the log, which must stay below 400 kB."""
MOST_READ: Final = 2_000
"""Marks looked at for one chunk, since some belong to articles that are not analyzed yet."""
_RACES: Final = 25
_RECORDING_RACES: Final = 100
"""Times that a run decides again because others were faster, which takes it some milliseconds each."""
_READ: Final = (
    "dedup_key", "timestamp", "headline", "matched_tickers", "source_attribution", "status", "sentiment",
    "event_id", "kept_alone",
)  # fmt: skip


class GroupingContended(Retryable):
    """Other runs kept writing first; a later one will find the table at rest."""


@dataclass(slots=True)
class Grouped:
    """Counts of a run.

    Attributes:
        articles: that were decided on.
        linked: those among them that belong to an event.
        events: ids of the events that have changed.
        conflicts: times that another run was faster and the decisions were made again.
    """

    articles: int = 0
    linked: int = 0
    events: set[str] = field(default_factory=set)
    conflicts: int = 0


@dataclass(frozen=True, slots=True)
class _Waiting:
    """Articles to decide on, and what becomes of their marks afterwards.

    Attributes:
        articles: by their dedup keys.
        done: marks that go.
        left: marks of which some articles are not analyzed yet, with only these.
    """

    articles: dict[str, Article] = field(default_factory=dict)
    done: list[keys.Key] = field(default_factory=list)
    left: list[Item] = field(default_factory=list)

    def take(self, mark: Item, found: Mapping[str, Article]) -> None:
        """Take the articles of a mark that are analyzed; `found` are those that are there.

        Of the others the analysis died after the mark, or is about to end: they keep it.
        """
        there = {key: found[key] for key in articles_of(mark) if key in found and not found[key].kept_alone}
        ready = {key: article for key, article in there.items() if article.status == Status.ANALYZED}
        rest = [key for key in there if key not in ready]
        if not rest:
            self.done.append(keys.key_of(mark))
        elif ready:
            self.left.append({**mark, "dedup_keys": rest})
        self.articles.update(ready)


@dataclass(frozen=True, slots=True)
class Grouper:
    """Links articles that wait for it into events.

    Attributes:
        seconds_left: time that the run has; it begins no further chunk in its last seconds.
        reserve: seconds that a chunk may take.
        workers: articles and events written at the same time.
    """

    table: Table
    log: GroupingLog
    bus: EventBus
    clock: Clock = utc_now
    seconds_left: Callable[[], float] = field(default=lambda: 900.0)
    reserve: float = 25.0
    workers: int = 8

    def run(self, correlation_id: str, lines: Iterable[Line] = (ONE_LINE,)) -> Grouped:
        """Group all articles that wait in some lines, or as many as there is time for.

        Raises:
            Retryable: if the table or the bus is not able to answer now.
        """
        done = Grouped()
        for line in lines:
            self._run_line(line, correlation_id, done)
        return done

    def _run_line(self, line: Line, correlation_id: str, done: Grouped) -> None:
        while self.seconds_left() > self.reserve:
            waiting = self._waiting(line)
            if not waiting.done and not waiting.left:
                break
            events = self._record(list(waiting.articles.values()), done)
            self._carry_out(events)
            self._request_ideas(events, correlation_id)
            self.table.put_many(waiting.left)
            self.table.delete_many(waiting.done)
            done.events |= events.keys()

    def _waiting(self, line: Line) -> _Waiting:
        """Return the next articles of a line to decide on, those that wait longest first."""
        waiting = _Waiting()
        marks = waiting_marks(self.table, MOST_READ, line)
        while (room := AT_ONCE - len(waiting.articles)) > 0 and (chunk := _marks_of(room, marks)):
            wanted = (keys.article(key) for mark in chunk for key in articles_of(mark))
            items = self.table.batch_get(wanted, attributes=_READ, consistent=True)
            found = {article.dedup_key: article for article in map(Article.of_item, items)}
            for mark in chunk:
                waiting.take(mark, found)
        return waiting

    def _record(self, articles: Sequence[Article], done: Grouped) -> dict[str, list[Entry]]:
        """Decide on articles and record it; return the members to write by event.

        Whoever is overtaken keeps what it has compared, so that it soon tries again.
        """
        compared: Compared = {}
        decisions = recent_decisions(self.table, self.clock())
        made = {article.dedup_key: Entry.of(article) for article in articles}
        for _ in range(_RECORDING_RACES):
            window = window_of(self.log, decisions)
            # An article that was analyzed again long after it was grouped stays in its event.
            settled = [a for a in articles if a.event_id and a.dedup_key not in window.entries]
            articles = [article for article in articles if article not in settled]
            newcomers = [made[article.dedup_key] for article in articles]
            try:
                decided = window.decide(newcomers, compared)
                if decided and not self.log.commit(decided):
                    done.conflicts += 1
                    continue
            except BaseException:
                self.log.forget()
                raise
            fresh = {entry.dedup_key for entry in decided}
            ours = [window.entries[article.dedup_key] for article in articles]
            done.articles += sum(entry.dedup_key in fresh for entry in ours)
            done.linked += sum(entry.dedup_key in fresh and entry.event_id is not None for entry in ours)
            known = [entry for entry in ours if entry.dedup_key not in fresh]
            unchanged: dict[str, list[Entry]] = {a.event_id: [] for a in settled if a.event_id}
            return as_merged(unchanged | _members_to_write(window, decided, known), window)
        raise GroupingContended(f"overtaken by other runs {_RECORDING_RACES} times; it is tried again")

    def _carry_out(self, events: Mapping[str, list[Entry]]) -> None:
        """Write articles and events as they were decided. All of it may be done twice."""
        members = [(event_id, entry) for event_id, entries in sorted(events.items()) for entry in entries]
        if not members:
            return
        # What a person has taken out meanwhile stays out.
        linked = self._each(lambda member: self._link(*member), members)
        members = [member for member, is_linked in zip(members, linked, strict=True) if is_linked]
        events = {event_id: [entry for of, entry in members if of == event_id] for event_id, _ in members}
        self._each(lambda event: self._update_event(*event), sorted(events.items()))

    def _each(self, write: Callable[[Any], T], work: Sequence[Any]) -> list[T]:
        if min(self.workers, len(work)) < 2:
            return [write(one) for one in work]
        with ThreadPoolExecutor(min(self.workers, len(work))) as pool:
            return list(pool.map(write, work))

    def _link(self, event_id: str, entry: Entry) -> bool:
        """Set the event of an article; return False if a person has decided otherwise."""
        try:
            self.table.update(
                keys.article(entry.dedup_key),
                assign={"event_id": event_id},
                condition=Attr("PK").exists()
                & Attr("kept_alone").not_exists()
                & (Attr("event_id").not_exists() | Attr("event_id").ne(event_id)),
            )
        except ConditionFailed as failed:  # it says so already, or it has expired, or it is kept alone
            return not (failed.item and failed.item.get("kept_alone"))
        return True

    def _update_event(self, event_id: str, entries: Sequence[Entry]) -> None:
        """Add members to an event, however many runs do so at the same time."""
        for _ in range(_RACES):
            item = self.table.get(keys.event(event_id), consistent=True)
            existing = None if item is None else Event.of_item(item)
            if existing is not None and existing.merged_into:
                self._carry_out({existing.merged_into: list(entries)})
                return
            now = isoformat(self.clock(), "milliseconds")
            known = existing or new_event(event_id, now)
            added = [one for one in entries if one.dedup_key not in known.taken_out]
            after = with_members(known, added)
            if existing is None:
                if self.table.create(after.to_item(keys.event(event_id))) is None:
                    return
                continue
            if after == existing:
                return
            try:
                self.table.update(
                    keys.event(event_id),
                    assign=changes(existing, replace(after, revision=existing.revision + 1, updated_at=now)),
                    condition=Attr("revision").eq(existing.revision),
                )
            except ConditionFailed:
                continue
            return
        raise GroupingContended(f"event {event_id}: overtaken {_RACES} times; it is tried again")

    def _request_ideas(self, events: Iterable[str], correlation_id: str) -> None:
        remaining = iter(sorted(events))

        def requests() -> Iterator[GenerateIdeas]:
            while chunk := tuple(islice(remaining, IDS_IN_ONE)):
                yield GenerateIdeas(correlation_id=correlation_id, event_ids=chunk)

        self.bus.put(requests())


def _marks_of(articles: int, marks: Iterator[Item]) -> list[Item]:
    """Return the next marks, until they have so many articles together, or a few more."""
    taken: list[Item] = []
    while articles > 0 and (mark := next(marks, None)) is not None:
        taken.append(mark)
        articles -= len(articles_of(mark))
    return taken


def _members_to_write(
    window: Window, decided: Iterable[Entry], known: Iterable[Entry]
) -> dict[str, list[Entry]]:
    """Return the members to write by event: what was decided now, and all of an event that was cut short.

    Args:
        window: all articles that are remembered.
        decided: articles of the chunk just written.
        known: articles that wait although an earlier chunk decides on them: its run died before it was done.
    """
    events: dict[str, list[Entry]] = {}
    for entry in decided:
        if entry.event_id:
            events.setdefault(entry.event_id, []).append(entry)
    for entry in known:
        if entry.event_id:
            events[entry.event_id] = window.members(entry.event_id)
    return events
