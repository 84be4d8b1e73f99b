"""Ideas: what may be concluded from an event, by rules that always conclude the same from the same.

An idea says who an event is about, which way it points, how many independent sources report it and how
fast, and why, in words. It is a summary of what was published, and no advice.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final, Protocol

from boto3.dynamodb.conditions import Attr

from sourcebook.articles.grouping.similarity import names_in
from sourcebook.clock import parse_iso
from sourcebook.records.article import Article, SourceAttribution, Status
from sourcebook.records.event import Conclusion, Direction, Event, EventIdea, Idea
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed, Table

CLEAR: Final = 0.15
"""Weighted sentiment from which an event points anywhere."""
SUBJECTS_KEPT: Final = 5

_DOMAIN = re.compile(r"^(?:www\.)?([^/\s]+)\.[a-z]{2,}$")
_READ: Final = (
    "dedup_key", "timestamp", "headline", "matched_tickers", "source_attribution", "status", "sentiment",
    "score", "polarity",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ArticleFacts:
    """One article, as far as an idea is drawn from it.

    Attributes:
        published_at: ISO 8601.
        sentiment: its class; None while it is not analyzed.
        polarity: -1 to 1.
        confidence: how sure the analysis is, 0 to 1.
        publishers: who carries it: one publisher counts once, whichever way it reached us.
    """

    dedup_key: str
    published_at: str
    headline: str
    tickers: tuple[str, ...]
    sentiment: str | None
    polarity: float
    confidence: float
    publishers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EventFacts:
    """The articles of an event, in the order of their publication, from which an idea is drawn."""

    event_id: str
    articles: tuple[ArticleFacts, ...]

    @property
    def digest(self) -> str:
        """The hash of everything here, which distinguishes states of an event."""
        text = json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()


class IdeaEngine(Protocol):
    """Concludes from an event. Deterministic: the same facts always give the same idea."""

    @property
    def name(self) -> str:
        """Name and version, kept with every idea as its origin."""

    def conclude(self, event: EventFacts) -> Conclusion | None:
        """Return what may be concluded, or None if nothing may."""


class WeighingEngine:
    """Weighs the sentiment of an event's articles: by confidence, and by how many publishers carry each."""

    name = "weighing-1"

    def conclude(self, event: EventFacts) -> Conclusion | None:
        """Return the idea; None if no article is analyzed yet."""
        analyzed = [article for article in event.articles if article.sentiment is not None]
        if not analyzed:
            return None
        weights = [article.confidence * max(1, len(article.publishers)) for article in analyzed]
        total = sum(weights)
        weighed = sum(w * article.polarity for w, article in zip(weights, analyzed, strict=True))
        score = round(weighed / total, 4) if total else 0.0
        publishers = {name for article in event.articles for name in article.publishers}
        direction = (
            Direction.UP if score >= CLEAR else Direction.DOWN if score <= -CLEAR else Direction.UNCLEAR
        )
        idea = Conclusion(
            subjects=_subjects(event.articles),
            direction=direction,
            score=score,
            independent_sources=len(publishers),
            articles=len(event.articles),
            velocity=round(len(event.articles) / max(1.0, _hours(event.articles)), 2),
            why="",
        )
        return replace(idea, why=_why(event, analyzed, idea))


@dataclass(frozen=True, slots=True)
class IdeaWriter:
    """Keeps the ideas of events in the table."""

    table: Table
    engine: IdeaEngine

    def write(self, event_id: str) -> Idea | None:
        """Conclude from an event as it stands and keep it; return the idea if it is new.

        The same state of an event gives the same key, so being asked twice leaves one idea.

        Raises:
            Retryable: if the table is not able to answer now.
        """
        item = self.table.get(keys.event(event_id), consistent=True)
        if item is None:
            return None
        event = Event.of_item(item)
        facts = event_facts(event_id, self._articles(event.members))
        digest = facts.digest
        if event.idea_digest == digest:
            return None
        found = self.engine.conclude(facts)
        if found is None:
            return None
        shown = EventIdea(**asdict(found), time=event.updated_at)
        idea = Idea(
            **asdict(shown),
            event_id=event_id,
            engine=self.engine.name,
            inputs_digest=digest,
            ttl_timestamp=event.ttl_timestamp,
        )
        key = keys.event_idea(event_id, idea.time, digest[:12])
        is_new = self.table.create(idea.to_item(key)) is None
        self._show(event_id, digest, shown)
        return idea if is_new else None

    def _articles(self, members: Iterable[str]) -> Iterable[Article]:
        wanted = (keys.article(member) for member in members)
        return map(Article.of_item, self.table.batch_get(wanted, attributes=_READ, consistent=True))

    def _show(self, event_id: str, digest: str, idea: EventIdea) -> None:
        """Put the newest idea on the event itself, where lists of events find it."""
        try:
            self.table.update(
                keys.event(event_id),
                assign={"idea": idea.to_json(), "idea_digest": digest, "idea_time": idea.time},
                condition=Attr("PK").exists()
                & (Attr("idea_time").not_exists() | Attr("idea_time").lte(idea.time)),
            )
        except ConditionFailed:
            return  # a later state of the event has its idea already


def event_facts(event_id: str, articles: Iterable[Article]) -> EventFacts:
    """Return the facts of an event, given its articles in any order."""
    facts = [
        ArticleFacts(
            dedup_key=article.dedup_key,
            published_at=article.timestamp,
            headline=article.headline,
            tickers=tuple(sorted(article.matched_tickers)),
            sentiment=article.sentiment if article.status == Status.ANALYZED else None,
            polarity=article.polarity or 0.0,
            confidence=article.score or 0.0,
            publishers=publishers_of(article.source_attribution),
        )
        for article in articles
    ]
    return EventFacts(event_id, tuple(sorted(facts, key=lambda one: (one.published_at, one.dedup_key))))


def publishers_of(attribution: Mapping[str, SourceAttribution]) -> tuple[str, ...]:
    """Return who carries an article, each once.

    A publisher may reach us by its own feed and by a news API, there under its domain: "Harbor Ledger",
    "harbor-ledger" and "harborledger.com" are one.
    """
    found = {_publisher(word.source_name or source) for source, word in attribution.items()}
    return tuple(sorted(found))


def _publisher(name: str) -> str:
    name = name.strip().lower()
    domain = _DOMAIN.match(name)
    plain = re.sub(r"[\W_]+", "", domain[1] if domain else name)
    return plain or name


def _hours(articles: Sequence[ArticleFacts]) -> float:
    first, last = (parse_iso(article.published_at) for article in (articles[0], articles[-1]))
    return (last - first).total_seconds() / 3600


def _subjects(articles: Sequence[ArticleFacts]) -> tuple[str, ...]:
    counted = Counter(ticker for article in articles for ticker in article.tickers)
    if not counted:
        counted = Counter(name for article in articles for name in names_in(article.headline))
    return tuple(sorted(counted, key=lambda subject: (-counted[subject], subject))[:SUBJECTS_KEPT])


def _why(event: EventFacts, analyzed: Sequence[ArticleFacts], idea: Conclusion) -> str:
    counts = Counter(article.sentiment for article in analyzed)
    shares = ", ".join(f"{counts[s]} {s}" for s in ("positive", "neutral", "negative") if counts[s])
    about = ", ".join(idea.subjects) or "no known subject"
    sources = "source" if idea.independent_sources == 1 else "sources"
    points = {
        Direction.UP: "points up",
        Direction.DOWN: "points down",
        Direction.UNCLEAR: "points neither way",
    }[idea.direction]
    waiting = len(event.articles) - len(analyzed)
    return (
        f"{idea.articles} headlines from {idea.independent_sources} independent {sources} tell of {about}, "
        f"{idea.velocity:g} an hour; weighted sentiment {idea.score:+.2f} ({shares}) {points}."
        + (f" {waiting} are not analyzed yet." if waiting else "")
    )
