"""Managing feeds: adding, changing, removing, and lists of them in and out.

The API and the command line do the same by this.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from sourcebook.clock import Clock, utc_now
from sourcebook.errors import DoesNotFit, InvalidInput, shorten
from sourcebook.feeds.inputs import FeedChange, NewFeed
from sourcebook.feeds.opml import (
    OpmlFeed,
    OpmlProblem,
    clean_url,
    declaration,
    host_of,
    parse_opml,
    same_url,
    source_id_for,
    write_opml,
)
from sourcebook.feeds.settings import FeedSettings
from sourcebook.http.urls import hide_query
from sourcebook.records.source import Source
from sourcebook.sources.model import ID_EXPECTED, NAME_LENGTH, SourceSpec, parse_spec
from sourcebook.sources.registry import SourceRegistry, source_entries
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item

if TYPE_CHECKING:
    from sourcebook.http.policy import HttpPolicy

FEED: Final = "feed"
MOST_IMPORTED: Final = 5_000
"""Feeds of one document that are imported: more than that do not fit the time of a request."""

_ID: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


@dataclass(frozen=True, slots=True)
class Added:
    """What adding a feed came to.

    Attributes:
        new: False if it was there already.
        feed: as it is now.
    """

    new: bool
    feed: Source


@dataclass(slots=True)
class ImportReport:
    """What importing a list of feeds came to.

    Attributes:
        added: ids of the feeds that are new, in the order of the document.
        known: ids of those that were there already; nothing of them was changed.
        problems: outlines that were left out or taken in part, and why.
        mended: what was wrong with the document as a whole, "" when nothing.
    """

    added: list[str] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    problems: list[OpmlProblem] = field(default_factory=list)
    mended: str = ""


@dataclass(frozen=True, slots=True)
class FeedManager:
    """The feeds in the table, to be changed.

    Attributes:
        settings: the interval of a new feed comes from here.
        policy: gives what feeds are fetched by, which also judges their addresses; that of the settings if
            there is none.
        parallel: writes under way at once while a list is imported.
    """

    table: Table
    clock: Clock = utc_now
    settings: FeedSettings = field(default_factory=FeedSettings)
    parallel: int = 8
    policy: Callable[[], HttpPolicy] | None = None

    def http_policy(self) -> HttpPolicy:
        """Return what feeds are fetched by."""
        return self.settings.http_policy() if self.policy is None else self.policy()

    def add(self, values: Mapping[str, object], *, name: str = "") -> Added:
        """Add a feed, due at once. Adding it again changes nothing and is no error.

        Args:
            values: of a `NewFeed`, with its ``url``.
            name: for a new feed that is given none, such as the title that it has itself.

        Raises:
            InvalidInput: naming the field that is wrong.
            DoesNotFit: if its id belongs to something else, its URL to another id, or the feed is
                there with other values than those given.
        """
        checked = NewFeed.read(values).given()
        if "url" not in checked:
            raise InvalidInput("url", None, NewFeed.expected("url"))
        url = clean_url(checked.pop("url"))
        wanted = checked.pop("feed_id", None)
        known = self._known([url]).get(same_url(url))
        if known is not None and wanted is not None and known != wanted:
            raise DoesNotFit("feed_id", wanted, f"{known}, the id by which this feed is registered")
        title = name.strip()[:NAME_LENGTH]
        spec = self._spec(
            {"name": title, **checked, "source_id": wanted or known or source_id_for(url), "url": url}
        )
        existing = self._registry.add(spec)
        if existing is None:
            created = self.table.get(keys.source(spec.source_id), consistent=True)
            return Added(new=True, feed=Source.of_item(created or {}))
        if existing.kind != FEED or same_url(url) not in _addresses(existing):
            what = f"{existing.kind} {shorten(existing.url)}"
            raise DoesNotFit("feed_id", spec.source_id, f"an id that is free: it belongs to the {what}")
        for given, value in checked.items():
            present = existing.shown_name or "" if given == "name" else getattr(existing, given)
            if given == "tags":
                present = list(present)
                if _folded(present) == _folded(value):
                    continue
            if present != value:
                raise DoesNotFit(
                    given,
                    value,
                    f"{present!r}, as {spec.source_id} is registered; change it instead of adding it",
                )
        return Added(new=False, feed=existing)

    def change(self, feed_id: str, values: Mapping[str, object]) -> Source | None:
        """Change what is declared of a feed.

        Args:
            feed_id: the feed.
            values: of a `FeedChange`.

        Returns:
            The feed afterwards, or None if there is no such feed.

        Raises:
            InvalidInput: naming the field that is wrong.
            DoesNotFit: if another feed has the address.
        """
        changes = FeedChange.read(values).given()
        if not changes:
            raise InvalidInput("body", dict(values), f"at least one of {', '.join(FeedChange.names())}")
        source = self.source(feed_id)
        if source is None:
            return None
        enabled = changes.pop("enabled", None)
        url = changes.pop("url", source.url)
        if moved := self._moved(source, url):
            changes |= moved
        sooner = changes.get("interval_minutes", source.interval_minutes) < source.interval_minutes
        return self._registry.change(
            feed_id, changes, enabled=enabled, kind=FEED, at_once=bool(moved) or sooner
        )

    def _moved(self, source: Source, address: str) -> Item:
        """Return what changes of a feed that has another address; nothing if it is the same.

        The validators and hints of the old document's server are removed. The feed's entries stay
        known, and so does its old address, by which it is found.
        """
        spec = self._spec({"source_id": source.source_id, "url": clean_url(address)})
        if spec.url == source.url:
            return {}
        other = self._known([spec.url]).get(same_url(spec.url))
        if other not in {None, source.source_id}:
            raise DoesNotFit("url", address, f"an address that no other feed has: {other} has it")
        forgotten = ("etag", "last_modified", "body_hash", "redirect_url", "redirect_count")
        known: Item = {
            "url": spec.url,
            "host": spec.host,
            "previous_url": source.url,
            "consecutive_errors": 0,
        }
        return known | dict.fromkeys(forgotten)

    def source(self, feed_id: str) -> Source | None:
        """Return a feed with its state, or None if there is no such feed."""
        source = self._registry.get(feed_id) if _ID.fullmatch(feed_id) else None
        return source if source and source.kind == FEED else None

    def remove(self, feed_id: str) -> bool:
        """Delete a feed with its history; its articles stay until they expire.

        Returns:
            False if there is no such feed.
        """
        return bool(_ID.fullmatch(feed_id)) and self._registry.delete(feed_id, kind=FEED)

    def import_opml(self, content: bytes | str) -> ImportReport:
        """Add the feeds of an OPML document; known ones are left as they are.

        Importing again is harmless: it adds what is missing.

        Raises:
            InvalidInput: if it is not OPML, or lists too many feeds.
            Retryable: if the table did not take all of them; import again.
        """
        document = parse_opml(content)
        if len(document.feeds) > MOST_IMPORTED:
            raise InvalidInput(
                "opml", f"{len(document.feeds)} feeds", f"at most {MOST_IMPORTED} in one document: split it"
            )
        report = ImportReport(problems=list(document.problems), mended=document.mended)
        known = self._known(feed.url for feed in document.feeds)
        specs: list[tuple[OpmlFeed, SourceSpec]] = []
        for feed in document.feeds:
            if registered := known.get(same_url(feed.url)):
                report.known.append(registered)
            elif spec := self._imported(feed, report):
                specs.append((feed, spec))
        for (feed, spec), existing in zip(specs, self._add_all(spec for _, spec in specs), strict=True):
            if existing is None:
                report.added.append(spec.source_id)
            elif existing.kind == FEED and same_url(feed.url) in _addresses(existing):
                report.known.append(spec.source_id)
            else:
                self._import_under_own_id(feed, report)
        report.problems.sort(key=lambda problem: problem.line)
        return report

    def export_opml(self, *, version: str = "2.0", whole: bool = True) -> str:
        """Return all feeds as an OPML document, by id.

        Args:
            version: "1.0" or "2.0".
            whole: whether addresses have the values of their queries.

        Raises:
            InvalidInput: if there is no such version.
        """
        listed = (
            OpmlFeed(
                url=feed.url if whole else hide_query(feed.url),
                name=feed.shown_name or "",
                tags=feed.tags,
                feed_id=feed.source_id,
                priority=feed.priority,
                enabled=feed.enabled,
            )
            for feed in sorted(self.feeds(), key=lambda feed: feed.source_id)
        )
        return write_opml(listed, title="Feeds of Sourcebook", now=self.clock(), version=version)

    def feeds(self, hosts: Collection[str] | None = None) -> Iterator[Source]:
        """Yield all feeds, or those of some hosts, each once, in no order."""
        ids = dict.fromkeys(
            entry["source_id"]
            for entry in source_entries(self.table)
            if entry["kind"] == FEED and (hosts is None or entry.get("host", "") in hosts)
        )
        yield from map(Source.of_item, self.table.batch_get(map(keys.source, ids)))

    @property
    def _registry(self) -> SourceRegistry:
        return SourceRegistry(self.table, self.clock)

    def _spec(self, values: Mapping[str, object]) -> SourceSpec:
        """Return the checked declaration of a feed.

        Raises:
            InvalidInput: naming the field by its name here.
        """
        from sourcebook.http.guard import check_address  # noqa: PLC0415 - reading feeds needs none of it

        check_address(str(values["url"]), self.http_policy())
        interval = self.settings.max_refresh_interval_minutes
        try:
            return parse_spec({"kind": FEED, "interval_minutes": interval, **values})
        except InvalidInput as error:
            field_name = "feed_id" if error.field == "source_id" else error.field
            raise InvalidInput(field_name, values.get(error.field), _in_words(error)) from error

    def _imported(self, feed: OpmlFeed, report: ImportReport) -> SourceSpec | None:
        """Return the declaration of a feed in a document; what is wrong with it goes into the report."""
        try:
            return self._spec(declaration(feed))
        except InvalidInput as error:
            report.problems.append(OpmlProblem(feed.line, str(error)))
            if error.field == "feed_id" and feed.feed_id is not None:
                return self._imported(replace(feed, feed_id=None), report)
            return None

    def _import_under_own_id(self, feed: OpmlFeed, report: ImportReport) -> None:
        """Add a feed of a document whose id belongs to something else here."""
        values = declaration(feed)
        del values["source_id"]
        try:
            added = self.add(values)
        except InvalidInput as error:
            report.problems.append(OpmlProblem(feed.line, str(error)))
            return
        (report.added if added.new else report.known).append(added.feed.source_id)

    def _add_all(self, specs: Iterable[SourceSpec]) -> list[Source | None]:
        with ThreadPoolExecutor(self.parallel) as threads:
            return list(threads.map(self._registry.add, specs))

    def _known(self, urls: Iterable[str]) -> dict[str, str]:
        """Return the ids of the registered ones among feeds, by `same_url`.

        The index has the host of each source and not its URL, so only sources of these hosts are read.
        """
        hosts = {host for url in urls if (host := host_of(url))}
        found: dict[str, str] = {}
        for feed in self.feeds(hosts):
            found |= dict.fromkeys(_addresses(feed), feed.source_id)
        return found


def _folded(tags: Iterable[str]) -> list[str]:
    return [tag.casefold() for tag in tags]


def _in_words(error: InvalidInput) -> str:
    if error.field == "url":
        return f"an http or https address of at most 2000 characters, without a user name ({error.expected})"
    if error.field == "source_id":
        return ID_EXPECTED
    return error.expected


def _addresses(feed: Source) -> set[str]:
    """Return the addresses that a feed is known by: its own, and the one that it has moved away from."""
    return {same_url(url) for url in (feed.url, feed.previous_url) if url}
