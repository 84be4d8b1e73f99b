"""Feeds as a source of articles: fetch if it changed, parse, and store what was not seen before."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from hashlib import sha256
from typing import Any

from sourcebook.articles.adapters.intake import Intake, crawl_time
from sourcebook.articles.adapters.memory import recall, remember
from sourcebook.articles.ingest import Outcome
from sourcebook.articles.model import TEXT_LIMIT, IncomingArticle, parse_incoming
from sourcebook.clock import Clock, isoformat, utc_now
from sourcebook.errors import InvalidInput
from sourcebook.feeds.fetching import (
    address_state,
    document_state,
    title_state,
    validator_state,
    validators_for,
)
from sourcebook.feeds.hints import FeedHints
from sourcebook.feeds.marks import marks_of
from sourcebook.feeds.model import FeedEntry, NotAFeed, ParsedFeed
from sourcebook.feeds.parse import parse_feed
from sourcebook.feeds.sampling import ParserSample
from sourcebook.feeds.schedule import (
    ALL_NEW_AT_LEAST,
    DEFAULTS,
    Rhythm,
    minutes_asked_for,
    next_fetch,
)
from sourcebook.feeds.seen import EntryMark, Freshness, SeenComparison, SeenEntries
from sourcebook.feeds.settings import FeedSettings
from sourcebook.feeds.text import author_name, once_encoded, plain_title, shorten_text
from sourcebook.http.client import HttpClient
from sourcebook.http.errors import FetchError
from sourcebook.http.response import HttpResponse, error_for
from sourcebook.records.source import Source
from sourcebook.sources.limits import read_document
from sourcebook.sources.model import is_http_url
from sourcebook.sources.poll import PollResult, PollVerdict, Rejected
from sourcebook.table.client import Table

_CATEGORIES_AS_TAGS = 5


@dataclass(frozen=True, slots=True)
class _Candidate:
    """An entry that is new or edited, with the plain text of its summary."""

    entry: FeedEntry
    text: str
    article_id: str
    first_seen: datetime
    is_new: bool


@dataclass(frozen=True, slots=True)
class FeedAdapter:
    """Polls one feed: the adapter of kind `feed`.

    Attributes:
        random: numbers from 0 to 1, by which intervals are varied.
        settings: of fetching, parsing and the schedule.
        sample: is offered the documents that were read, to compare the parsers on some of them.
    """

    http: HttpClient
    table: Table
    intake: Intake
    clock: Clock = utc_now
    random: Callable[[], float] = random.random
    settings: FeedSettings = DEFAULTS
    sample: ParserSample | None = None

    async def poll(self, source: Source) -> PollResult:
        """Fetch a feed and store its new and edited entries.

        Articles are written first, then announced, then the fingerprints of the entries are kept: whatever
        dies in between is done again by the next poll, and changes nothing that was done already.

        Raises:
            Retryable: if the table or the topic could not take what was found.
        """
        now = self.clock()
        etag, last_modified = validators_for(source, now)
        try:
            response = await self.http.get(source.url, etag=etag, last_modified=last_modified)
            if not (response.is_success or response.not_modified) or response.is_challenge:
                return PollResult.of_failure(error_for(response))
        except FetchError as error:
            return PollResult.of_failure(error)
        hints = {"hint_minutes": _hint_minutes(source, response, None, now)}
        if response.not_modified:
            state = validator_state(source, response) | hints
            return self._unchanged(source, response, "not_modified", state, now)
        body_hash = sha256(response.body).hexdigest()[:32]
        state = document_state(source, response, body_hash, now)
        if body_hash == source.body_hash:
            state |= address_state(source, response) | hints
            return self._unchanged(source, response, "same_body", state, now)
        read = partial(parse_feed, response.body, url=response.url, charset=response.charset)
        try:
            feed = await read_document(partial(read, mode=self.settings.parser), len(response.body))
        except NotAFeed as error:
            return PollResult(
                PollVerdict.BROKEN,
                error.cause.value,
                message=str(error),
                http_status=response.status,
                fetch_seconds=response.elapsed,
            )
        if self.sample is not None:
            self.sample.offer(source.source_id, feed, len(response.body), partial(read, mode="reference"))
        return await asyncio.to_thread(self._take_in, source, response, feed, state)

    def _unchanged(
        self, source: Source, response: HttpResponse, cause: str, state: Mapping[str, object], now: datetime
    ) -> PollResult:
        rhythm = Rhythm.of(source).after((), now, source.last_success_at)
        changed = rhythm.rates() if source.last_success_at else {}
        return PollResult(
            PollVerdict.UNCHANGED,
            cause,
            http_status=response.status,
            fetch_seconds=response.elapsed,
            state=_stored({**state, **changed}),
            next_fetch=self._next(source, rhythm, state, now),
        )

    def _next(
        self,
        source: Source,
        rhythm: Rhythm,
        state: Mapping[str, Any],
        now: datetime,
        *,
        all_new: bool = False,
        fresh: int = 0,
        document: int | None = None,
    ) -> datetime:
        hints = FeedHints(
            state.get("hint_minutes", source.hint_minutes), state.get("skip", source.skip) or {}
        )
        decision = next_fetch(
            source,
            rhythm,
            hints,
            now,
            settings=self.settings,
            all_new=all_new,
            fresh=fresh,
            document=document,
            jitter=self.random(),
        )
        return decision.due

    def _take_in(
        self, source: Source, response: HttpResponse, feed: ParsedFeed, state: Mapping[str, object]
    ) -> PollResult:
        """Store the entries of a document that changed."""
        now = self.clock()
        seen = recall(self.table, source)
        marks, compared = read_entries(feed, now, seen)
        candidates = [
            _Candidate(entry, mark.text, known.article_id, known.first_seen, known.freshness is Freshness.NEW)
            for entry, mark, known in zip(feed.entries, marks, compared.entries, strict=True)
            if known.freshness is not Freshness.KNOWN
        ]
        articles, rejected = self._articles(source, feed, candidates, now)
        taken = self.intake.take(articles)
        remember(self.table, source, seen, compared.after)
        changed = bool(candidates)
        news = [c for c in candidates if c.is_new]
        rhythm = Rhythm.of(source).after([_when(c, now) for c in news], now, source.last_success_at)
        state = {
            **state,
            **title_state(source, feed.title),
            **rhythm.to_state(),
            **address_state(source, response),
            "hint_minutes": _hint_minutes(source, response, feed, now),
            "skip": feed.hints.skip or None,
        }
        all_new = len(news) == len({known.article_id for known in compared.entries}) >= ALL_NEW_AT_LEAST
        return PollResult(
            PollVerdict.CHANGED if changed else PollVerdict.UNCHANGED,
            "ok" if changed else "no_new_entries",
            http_status=response.status,
            fetch_seconds=response.elapsed,
            entries=len(feed.entries),
            fresh=len(candidates),
            created=taken.count(Outcome.CREATED),
            merged=taken.count(Outcome.MERGED),
            updated=taken.count(Outcome.UPDATED),
            rejected=(*_skipped(source, feed), *rejected, *taken.refused),
            dropped=feed.left_out,
            warnings=tuple(feed.warnings),
            state=_stored(state),
            next_fetch=self._next(
                source, rhythm, state, now, all_new=all_new, fresh=len(news), document=len(feed.entries)
            ),
        )

    def _articles(
        self, source: Source, feed: ParsedFeed, candidates: list[_Candidate], now: datetime
    ) -> tuple[list[IncomingArticle], list[Rejected]]:
        articles: list[IncomingArticle] = []
        rejected: list[Rejected] = []
        for candidate in candidates:
            try:
                articles.append(incoming_article(source, feed, candidate, now))
            except InvalidInput as error:
                rejected.append(Rejected(source.source_id, candidate.article_id, str(error)))
        return articles, rejected


def _hint_minutes(source: Source, response: HttpResponse, feed: ParsedFeed | None, now: datetime) -> int:
    """Return the shortest interval that the server asks for; the document's own is remembered."""
    remembered = source.hint_minutes if source.body_hash else 0
    by_document = remembered if feed is None else feed.hints.minutes
    return minutes_asked_for(by_document, response.max_age, response.expires, now)


def read_entries(
    feed: ParsedFeed, now: datetime, seen: SeenEntries
) -> tuple[list[EntryMark], SeenComparison]:
    """Return what distinguishes the entries of a document, and which of them are new or edited."""
    marks = marks_of(feed.entries)
    return marks, seen.compare(marks, now)


def incoming_article(
    source: Source, feed: ParsedFeed, candidate: _Candidate, now: datetime
) -> IncomingArticle:
    """Return a feed's entry as one source's report of a story.

    Raises:
        InvalidInput: naming the field of the entry that breaks a rule.
    """
    entry = candidate.entry
    publisher = entry.publisher or source.name or feed.title
    return parse_incoming(
        {
            "source": source.source_id,
            "article_id": candidate.article_id,
            "url": _address(source, feed, entry),
            "headline": once_encoded(entry.title[:2000]),
            "published_at": entry.published or entry.updated or candidate.first_seen,
            "crawled_at": crawl_time(source, now),
            "publishers": tuple(filter(None, (entry.publisher, source.name, feed.title, source.host))),
            "source_name": publisher[:200] or None,
            "text": shorten_text(once_encoded(candidate.text), TEXT_LIMIT),
            "tags": _tags(source, entry),
            "metadata": _metadata(feed, entry),
        }
    )


def _address(source: Source, feed: ParsedFeed, entry: FeedEntry) -> str:
    """Return the best address of an entry that leads to a page: its own, else its feed's."""
    addresses = (entry.origin, entry.link, entry.enclosure, feed.link)
    return next(filter(is_http_url, filter(None, addresses)), source.url)


def _tags(source: Source, entry: FeedEntry) -> tuple[str, ...]:
    """Return the tags of the source and the first categories of the entry, in lower case."""
    categories = (plain_title(category).lower()[:64] for category in entry.categories)
    known = {tag.casefold() for tag in source.tags}
    named = (category for category in dict.fromkeys(categories) if category and category not in known)
    return (*source.tags, *list(named)[:_CATEGORIES_AS_TAGS])


def _metadata(feed: ParsedFeed, entry: FeedEntry) -> dict[str, object]:
    known = {
        "author": author_name(entry.author or "")[:200],
        "language": feed.language,
        "feed_title": feed.title[:200],
    }
    return {name: value for name, value in known.items() if value}


def _skipped(source: Source, feed: ParsedFeed) -> list[Rejected]:
    return [Rejected(source.source_id, f"entry {position}", reason) for position, reason in feed.skipped]


def _when(candidate: _Candidate, now: datetime) -> datetime:
    entry = candidate.entry
    return min(entry.published or entry.updated or candidate.first_seen, now)


def _stored(state: Mapping[str, object]) -> dict[str, object]:
    """Return a state with its times written as the table keeps them."""
    return {name: isoformat(v) if isinstance(v, datetime) else v for name, v in state.items()}
