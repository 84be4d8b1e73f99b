"""The last step of every adapter: store articles, announce those that wait for analysis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sourcebook.articles.announce import Announcer
from sourcebook.articles.bus import IDS_IN_ONE, EventBus
from sourcebook.articles.ingest import ArticleStore, Outcome, Stored
from sourcebook.articles.model import IncomingArticle
from sourcebook.errors import Retryable
from sourcebook.events import ArticlesNew
from sourcebook.records.source import Source
from sourcebook.sources.poll import Rejected
from sourcebook.table.client import TableForbidden


def crawl_time(source: Source, now: datetime) -> datetime:
    """Return the time of a poll as its articles keep it, which is to the second.

    A poll in the second of the one before has the next one: of two texts of a source, the one with the later
    time counts.
    """
    before = source.last_success_at
    return before + timedelta(seconds=1) if before == now.replace(microsecond=0) else now


@dataclass(frozen=True, slots=True)
class Taken:
    """The outcomes of the articles of one poll.

    Attributes:
        outcomes: of those that are stored.
        refused: those that break a rule.
    """

    outcomes: tuple[Outcome, ...]
    refused: tuple[Rejected, ...]

    def count(self, outcome: Outcome) -> int:
        """Count the articles with this outcome."""
        return self.outcomes.count(outcome)


@dataclass(frozen=True, slots=True)
class Intake:
    """Stores articles and announces them, with the correlation id of one run.

    Attributes:
        bus: gets the new articles; None for no bus.
    """

    store: ArticleStore
    announcer: Announcer
    correlation_id: str
    bus: EventBus | None = None

    def take(self, articles: Sequence[IncomingArticle]) -> Taken:
        """Store articles and announce those that wait for analysis.

        An article that breaks a rule is refused with its reason, and the rest goes on.

        Raises:
            Retryable: if some could not be stored or announced now. Those that could be stored are
                announced first.
            TableForbidden: if a permission to store them is missing. They are not refused for that: who takes
                them for refused does not bring them again.
        """
        outcomes: list[Outcome] = []
        refused: list[Rejected] = []
        announce: list[str] = []
        postponed: list[Retryable | TableForbidden] = []
        for article, result in self.store.store_many(articles):
            if isinstance(result, Stored):
                outcomes.append(result.outcome)
                if result.announce:
                    announce.append(result.dedup_key)
            elif isinstance(result, Retryable | TableForbidden):
                postponed.append(result)
            else:
                refused.append(Rejected(article.source, article.article_id, str(result)))
        self.announcer.announce(announce, self.correlation_id)
        if self.bus is not None and announce:
            self.bus.put(self._new(articles[0].source, list(dict.fromkeys(announce))))
        if postponed:
            raise postponed[0]
        return Taken(tuple(outcomes), tuple(refused))

    def _new(self, source_id: str, dedup_keys: Sequence[str]) -> Iterator[ArticlesNew]:
        for start in range(0, len(dedup_keys), IDS_IN_ONE):
            ids = tuple(dedup_keys[start : start + IDS_IN_ONE])
            yield ArticlesNew(
                correlation_id=self.correlation_id, source_id=source_id, article_ids=ids, count=len(ids)
            )
