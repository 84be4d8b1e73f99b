"""Searching: articles by their words, sources, subjects, tags, sentiment and language."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from heapq import merge
from itertools import islice
from threading import Lock
from typing import Final

from sourcebook.articles.read import SENTIMENTS, ArticleFilter, article_weight
from sourcebook.clock import Clock, epoch_seconds, isoformat, parse_iso, to_utc, utc_now
from sourcebook.errors import InvalidInput
from sourcebook.records.article import Article
from sourcebook.records.subject import Subject
from sourcebook.search.day import ArticleWords, Day, Hit, IndexedArticle, by_rank, folded, needs_text
from sourcebook.search.days import Days, day_of
from sourcebook.search.query import NEWEST, RANK, Query, SearchTerm
from sourcebook.search.sqlite import DamagedIndex
from sourcebook.sentiment.subjects import SubjectRegistry
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item
from sourcebook.table.pages import Listing, Page, Position, bad_cursor, fill_page

FRESH: Final = 60.0
"""Seconds for which the list of days is kept: after them the bucket is asked which have changed."""

_AT_ONCE: Final = 8
_RANKED_AT_MOST: Final = 1_000


@dataclass(slots=True)
class OpenDays:
    """The days that a process has open, kept as long as the bucket's are the same."""

    days: Days
    seconds: Callable[[], float] = time.monotonic
    _listed: dict[str, str] = field(default_factory=dict)
    _listed_at: float | None = None
    _open: dict[str, tuple[str, Day]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def names(self) -> list[str]:
        """Return the days that there are, newest first."""
        with self._lock:
            now = self.seconds()
            if self._listed_at is None or now - self._listed_at >= FRESH:
                self._listed, self._listed_at = self.days.listed(), now
                self._open = {day: one for day, one in self._open.items() if day in self._listed}
            return sorted(self._listed, reverse=True)

    def get(self, names: Sequence[str]) -> list[Day]:
        """Return days, opened at once where they are not open yet. A damaged one counts as empty."""
        missing = [day for day in names if self._open.get(day, ("",))[0] != self._listed.get(day)]
        if len(missing) > 1:
            with ThreadPoolExecutor(_AT_ONCE) as threads:
                list(threads.map(self._load, missing))
        else:
            list(map(self._load, missing))
        return [self._open[day][1] for day in names]

    def _load(self, day: str) -> None:
        try:
            found, etag = self.days.read(day)
        except DamagedIndex:
            # The next article of that day, or `sourcebook search rebuild`, makes it again.
            found, etag = Day(), self._listed[day]
        self._open[day] = (etag, found)


@dataclass(slots=True)
class SubjectNames:
    """Which subjects a name, an alias or an id means, in any case."""

    registry: SubjectRegistry
    seconds: Callable[[], float] = time.monotonic
    _known: dict[str, set[str]] = field(default_factory=dict)
    _read_at: float | None = None

    def ids(self, name: str) -> frozenset[str]:
        """Return the ids of the subjects that are called so; none if nothing is."""
        now = self.seconds()
        if self._read_at is None or now - self._read_at >= FRESH:
            self._known, self._read_at = {}, now
            ids = (tool_id for active in (True, False) for tool_id in self.registry.list_ids(active=active))
            for subject in self.registry.get_many(ids).values():
                for called in _called(subject):
                    self._known.setdefault(called.casefold(), set()).add(subject.tool_id)
        return frozenset(self._known.get(name.strip().casefold(), ()))


@dataclass(frozen=True, slots=True)
class ArticleSearch:
    """Articles by what is looked for."""

    table: Table
    open_days: OpenDays
    subjects: SubjectNames
    clock: Clock = utc_now

    def page(
        self,
        query: Query,
        wanted: ArticleFilter,
        *,
        order: str = NEWEST,
        limit: int,
        cursor: str | None = None,
    ) -> Page[Article]:
        """Return one page of the analyzed articles that are looked for.

        Args:
            query: what is looked for.
            wanted: what else must hold.
            order: one of `query.ORDERS`; by rank only where words are looked for.
            limit: articles of a full page.
            cursor: the `next_cursor` of the page before.

        Raises:
            InvalidInput: if a subject is not known, a filter cannot have its value, there is nothing to rank
                by, or the cursor is not one of this list.
        """
        groups = [
            tuple(as_indexed(term, self.subjects) for term in group)
            for group in (*query.groups, *_groups(wanted))
        ]
        ranked = query.phrases if order == RANK else []
        if order == RANK and not ranked:
            raise InvalidInput("order", order, "newest, or q with words to rank by")
        since = _latest(query.since, wanted.since)
        until = _earliest(query.until, wanted.until)
        if since and until and since >= until:
            raise InvalidInput("until", isoformat(until), f"a time later than since, {isoformat(since)}")
        # Relative times move on from page to page, and the list stays the same one.
        relative = {"q": repr(query.groups), "w": repr(replace(wanted, since=None, until=None))}
        absolute = {
            name: isoformat(to_utc(t)) if t else None
            for name, t in (("s", wanted.since), ("u", wanted.until))
        }
        listing = Listing.of("search", {**relative, **absolute, "order": order})
        after = None if cursor is None else _position(listing, cursor, order)
        return fill_page(
            self._hits(groups, since, until, ranked, after),
            listing=listing,
            position=lambda hit: _place(hit, order),
            load=lambda hits: self._load(hits, wanted, groups if needs_text(groups) else ()),
            limit=limit,
            weight=article_weight,
        )

    def _hits(
        self,
        groups: Sequence[Sequence[SearchTerm]],
        since: datetime | None,
        until: datetime | None,
        ranked: Sequence[tuple[str, ...]],
        after: Hit | None,
    ) -> Iterator[Hit]:
        first, last = _second(since), _second(until)
        names = [
            day
            for day in self.open_days.names()
            if (first is None or day >= day_of(first)) and (last is None or day <= day_of(max(last - 1, 0)))
        ]
        if ranked:
            found = (
                day.find(groups, since=first, until=last, ranked=ranked) for day in self.open_days.get(names)
            )
            hits = merge(*found, key=by_rank)
            rest = hits if after is None else (hit for hit in hits if by_rank(hit) > by_rank(after))
            yield from islice(rest, _RANKED_AT_MOST)
            return
        if after is not None:
            names = [day for day in names if day <= day_of(after.at)]
        for begin in range(0, len(names), _AT_ONCE):
            for day in self.open_days.get(names[begin : begin + _AT_ONCE]):
                for hit in day.find(groups, since=first, until=last):
                    if after is None or (-hit.at, hit.key) > (-after.at, after.key):
                        yield hit

    def _load(
        self, hits: list[Hit], wanted: ArticleFilter, groups: Sequence[Sequence[SearchTerm]]
    ) -> list[Article | None]:
        found = self.table.batch_get(keys.article(hit.key) for hit in hits)
        articles = {item["dedup_key"]: item for item in found}
        return [_served(articles.get(hit.key), hit, wanted, groups) for hit in hits]


def as_indexed(term: SearchTerm, subjects: SubjectNames) -> SearchTerm:
    """Return a term with the values that the index has.

    Raises:
        InvalidInput: if there is no such subject, sentiment or language.
    """
    match term.field:
        case "subject":
            ids = sorted(tool_id for value in term.values for tool_id in subjects.ids(value))
            if not ids:
                expected = "the id, the name or an alias of a subject; GET /api/v1/tools lists them"
                raise InvalidInput("subject", term.values[0], expected)
            return replace(term, values=tuple(map(folded, ids)))
        case "sentiment":
            values = tuple(value.lower() for value in term.values)
            if unknown := [value for value in values if value not in SENTIMENTS]:
                raise InvalidInput("sentiment", unknown[0], f"one or more of {', '.join(SENTIMENTS)}")
            return replace(term, values=values)
        case "lang":
            values = tuple(value.lower().replace("_", "-") for value in term.values)
            if wrong := [value for value in values if not value.replace("-", "").isalnum()]:
                raise InvalidInput("lang", wrong[0], "a language such as en, vi or zh-tw")
            return replace(term, values=values)
        case "source" | "tag":
            return replace(term, values=tuple(map(folded, term.values)))
    return term


def _served(
    item: Item | None, hit: Hit, wanted: ArticleFilter, groups: Sequence[Sequence[SearchTerm]]
) -> Article | None:
    """Return an article as it is served; None if it has expired, or is not any more as the index has it."""
    if item is None or epoch_seconds(parse_iso(item["timestamp"])) != hit.at or not wanted.holds(item):
        return None
    article = Article.of_item(item)
    if groups and not ArticleWords(IndexedArticle.of(article)).match(groups):
        return None
    return article if wanted.tag is None or wanted.tag in article.all_tags else None


def _groups(wanted: ArticleFilter) -> Iterator[tuple[SearchTerm, ...]]:
    for name, values in (
        ("source", wanted.sources),
        ("subject", wanted.subjects),
        ("sentiment", wanted.sentiments or ((wanted.sentiment,) if wanted.sentiment else ())),
        ("lang", wanted.languages),
        ("tag", (wanted.tag,) if wanted.tag is not None else ()),
    ):
        if values:
            yield (SearchTerm(name, tuple(values)),)


def _called(subject: Subject) -> Iterator[str]:
    yield from (subject.tool_id, subject.name, *subject.aliases)
    if subject.ticker:
        yield subject.ticker


def _place(hit: Hit, order: str) -> Position:
    return (f"{hit.score:.6f}", str(hit.at), hit.key) if order == RANK else (str(hit.at), hit.key)


def _position(listing: Listing, cursor: str, order: str) -> Hit:
    *scored, at, key = listing.position(cursor, parts=3 if order == RANK else 2)
    try:
        if not 0 <= int(at) < 253_402_300_800:
            raise bad_cursor(cursor)
        return Hit(int(at), key, float(scored[0]) if scored else 0.0)
    except ValueError as error:
        raise bad_cursor(cursor) from error


def _second(moment: datetime | None) -> int | None:
    """Return the first whole second that is not before a moment: articles have whole ones."""
    if moment is None:
        return None
    moment = to_utc(moment)
    return max(0, epoch_seconds(moment) + (1 if moment.microsecond else 0))


def _latest(*moments: datetime | None) -> datetime | None:
    return max((to_utc(moment) for moment in moments if moment), default=None)


def _earliest(*moments: datetime | None) -> datetime | None:
    return min((to_utc(moment) for moment in moments if moment), default=None)
