"""The last step of every adapter: store articles, announce those that wait for analysis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sourcebook.articles.announce import Announcer
from sourcebook.articles.ingest import ArticleStore, Outcome, Stored
from sourcebook.articles.model import IncomingArticle
from sourcebook.errors import Retryable
from sourcebook.sources.poll import Rejected


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of the articles of one poll."""

    outcomes: tuple[Outcome, ...]
    refused: tuple[Rejected, ...]

    def count(self, outcome: Outcome) -> int:
        """Count the articles with this outcome."""
        return self.outcomes.count(outcome)


@dataclass(frozen=True, slots=True)
class Intake:
    """Stores and announces, in the name of one run."""

    store: ArticleStore
    announcer: Announcer
    correlation_id: str

    def take(self, articles: Sequence[IncomingArticle]) -> Taken:
        """Store articles and announce those that wait for analysis.

        An article that breaks a rule is refused with its reason, and the rest goes on.

        Raises:
            Retryable: if some could not be stored or announced now. Those that could be stored are
                announced first.
        """
        outcomes: list[Outcome] = []
        refused: list[Rejected] = []
        announce: list[str] = []
        postponed: list[Retryable] = []
        for article, result in self.store.store_many(articles):
            if isinstance(result, Stored):
                outcomes.append(result.outcome)
                if result.announce:
                    announce.append(result.dedup_key)
            elif isinstance(result, Retryable):
                postponed.append(result)
            else:
                refused.append(Rejected(article.source, article.article_id, str(result)))
        self.announcer.announce(announce, self.correlation_id)
        if postponed:
            raise postponed[0]
        return Taken(tuple(outcomes), tuple(refused))
