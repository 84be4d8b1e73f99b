"""Feeds as a source of articles: fetch if it changed, parse, and store what was not seen before."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

from sourcebook.articles.adapters.intake import Intake
from sourcebook.articles.adapters.memory import recall, remember
from sourcebook.articles.ingest import Outcome
from sourcebook.articles.model import TEXT_LIMIT, IncomingArticle, parse_incoming
from sourcebook.clock import Clock, utc_now
from sourcebook.errors import InvalidInput
from sourcebook.feeds.model import FeedEntry, NotAFeed, ParsedFeed
from sourcebook.feeds.parse import content_fingerprint, identify, parse_feed, text_of
from sourcebook.feeds.seen import EntryMark, Freshness
from sourcebook.http import FetchError, HttpClient, HttpResponse, Severity, error_for
from sourcebook.sources.model import Source
from sourcebook.sources.poll import PollResult, Rejected, Verdict
from sourcebook.table.client import Table

_VERDICTS = {
    Severity.TRANSIENT: Verdict.FAILED,
    Severity.SOFT: Verdict.BROKEN,
    Severity.FINAL: Verdict.GONE,
}
_CATEGORIES_AS_TAGS = 5
_ID_LIMIT = 300


@dataclass(frozen=True, slots=True)
class _Candidate:
    """An entry that is new or edited."""

    entry: FeedEntry
    article_id: str
    first_seen: datetime


@dataclass(frozen=True, slots=True)
class FeedAdapter:
    """Polls one feed: the adapter of kind `feed`."""

    http: HttpClient
    table: Table
    intake: Intake
    clock: Clock = utc_now

    async def poll(self, source: Source) -> PollResult:
        """Fetch a feed and store its new and edited entries.

        Articles are written first, then announced, then the fingerprints of the entries are kept: whatever
        dies in between is done again by the next poll, and changes nothing that was done already.

        Raises:
            Retryable: if the table or the topic could not take what was found.
        """
        try:
            response = await self.http.get(source.url, etag=source.etag, last_modified=source.last_modified)
            if response.not_modified:
                return PollResult(
                    Verdict.UNCHANGED,
                    "not_modified",
                    http_status=304,
                    state=_new_validators(source, response),
                )
            if not response.is_success or response.is_challenge:
                return _failed(error_for(response))
        except FetchError as error:
            return _failed(error)
        body_hash = sha256(response.body).hexdigest()[:32]
        state = {**_new_validators(source, response), "body_hash": body_hash}
        if body_hash == source.body_hash:
            return PollResult(Verdict.UNCHANGED, "same_body", http_status=response.status, state=state)
        return await asyncio.to_thread(self._take_in, source, response, state)

    def _take_in(self, source: Source, response: HttpResponse, state: Mapping[str, Any]) -> PollResult:
        """Store the entries of a document that changed."""
        try:
            feed = parse_feed(
                response.body, url=response.url, content_type=response.content_type, charset=response.charset
            )
        except NotAFeed as error:
            return PollResult(
                Verdict.BROKEN, error.cause.value, message=str(error), http_status=response.status
            )
        now = self.clock()
        seen = recall(self.table, source)
        marks = [
            EntryMark(identity.primary, content_fingerprint(entry))
            for entry, identity in zip(feed.entries, identify(feed.entries), strict=True)
        ]
        candidates = [
            _Candidate(entry, _article_id(mark.identity), seen.first_seen(mark, now))
            for entry, mark in zip(feed.entries, marks, strict=True)
            if seen.freshness(mark) is not Freshness.KNOWN
        ]
        articles, rejected = self._articles(source, feed, candidates, now)
        taken = self.intake.take(articles)
        remember(self.table, source, seen, marks, now)
        changed = bool(candidates)
        return PollResult(
            Verdict.CHANGED if changed else Verdict.UNCHANGED,
            "ok" if changed else "no_new_entries",
            http_status=response.status,
            entries=len(feed.entries),
            fresh=len(candidates),
            created=taken.count(Outcome.CREATED),
            merged=taken.count(Outcome.MERGED),
            updated=taken.count(Outcome.UPDATED),
            rejected=(*_skipped(source, feed), *rejected, *taken.refused) if changed else (),
            state=state,
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


def incoming_article(
    source: Source, feed: ParsedFeed, candidate: _Candidate, now: datetime
) -> IncomingArticle:
    """Return a feed's entry as one source's word on a story.

    Raises:
        InvalidInput: naming the field of the entry that breaks a rule.
    """
    entry = candidate.entry
    publisher = entry.publisher or source.name or feed.title
    return parse_incoming(
        {
            "source": source.source_id,
            "article_id": candidate.article_id,
            "url": entry.address or feed.link or source.url,
            "headline": entry.title[:2000],
            "published_at": entry.published or entry.updated or candidate.first_seen,
            "crawled_at": now,
            "publishers": tuple(filter(None, (entry.publisher, source.name, feed.title, source.host))),
            "source_name": publisher[:200] or None,
            "text": text_of(entry.summary, TEXT_LIMIT),
            "tags": _tags(source, entry),
            "metadata": _metadata(feed, entry),
        }
    )


def _tags(source: Source, entry: FeedEntry) -> tuple[str, ...]:
    """Return the tags of the source and the first categories of the entry, in lower case."""
    categories = (" ".join(category.lower().split())[:64] for category in entry.categories)
    return (*source.tags, *list(dict.fromkeys(filter(None, categories)))[:_CATEGORIES_AS_TAGS])


def _metadata(feed: ParsedFeed, entry: FeedEntry) -> dict[str, Any]:
    known = {"author": (entry.author or "")[:200], "language": feed.language, "feed_title": feed.title[:200]}
    return {name: value for name, value in known.items() if value}


def _article_id(identity: str) -> str:
    """Return the entry's own id, or its link, if it is short enough for a key, else its hash."""
    identity = identity.removeprefix("id:").removeprefix("link:")
    if len(identity.encode()) <= _ID_LIMIT:
        return identity
    return f"sha256-{sha256(identity.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _skipped(source: Source, feed: ParsedFeed) -> list[Rejected]:
    return [Rejected(source.source_id, f"entry {position}", reason) for position, reason in feed.skipped]


def _new_validators(source: Source, response: HttpResponse) -> dict[str, str | None]:
    """Return the validators that an answer brought, where they differ from those we have.

    A 304 need not repeat them; any other answer that has none takes the old ones away.
    """
    found: dict[str, str | None] = {"etag": response.etag, "last_modified": response.last_modified}
    if response.not_modified:
        found = {name: value for name, value in found.items() if value}
    return {name: value for name, value in found.items() if value != getattr(source, name)}


def _failed(error: FetchError) -> PollResult:
    return PollResult(
        _VERDICTS[error.cause.severity],
        error.cause.value,
        message=str(error),
        http_status=error.status,
        retry_after=error.retry_after,
    )
