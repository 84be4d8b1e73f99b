"""Taking in one source's word on a story: create the article, or add to the one that is there.

Every write is conditional on the state it was made for, so two sources may bring the same story at the
same moment and the same source may bring it twice. The order of the writes is what a crash is survived by:
the alias first, then the article. Whoever comes again finds the alias and completes what is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from boto3.dynamodb.conditions import Attr

from sourcebook.articles.merge import merged, new_item
from sourcebook.articles.model import ATTRIBUTIONS_KEPT, RETENTION, IncomingArticle, Status
from sourcebook.articles.normalize import HeadlineIdentity, identify, neighbouring_keys
from sourcebook.clock import epoch_seconds
from sourcebook.errors import Retryable, Terminal
from sourcebook.events import SCHEMA_VERSION
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed, Table
from sourcebook.table.codec import Item

_RACES: Final = 25
"""Times that a merge tries again after another writer was faster."""
_BASIS_OF_ANALYSIS: Final = frozenset(
    {"headline", "text_for_analysis", "timestamp", "tags", "matched_tickers", "ttl_timestamp"}
)
"""What the sentiment, subjects and mentions of an article follow from. When one of these changes, the article
is analyzed again, so that they do not depend on the order in which its sources came."""


class Outcome(StrEnum):
    """What became of one source's word."""

    CREATED = "created"
    MERGED = "merged"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Stored:
    """One article after ingestion.

    Attributes:
        announce: whether its analysis has to be asked for: it is new, or what its analysis rests on has
            changed, or it is told again while it still waits, because the run that made it may have died
            before it asked. Asking twice is harmless.
    """

    outcome: Outcome
    dedup_key: str
    announce: bool


class MergeContended(Retryable):
    """Other writers kept changing the article; a later attempt will find it at rest."""


@dataclass(frozen=True, slots=True)
class ArticleStore:
    """Articles in the table.

    Attributes:
        workers: articles taken in at the same time.
    """

    table: Table
    workers: int = 16

    def store(self, article: IncomingArticle) -> Stored:
        """Take in one source's word.

        Idempotent: the same word again changes nothing.

        Raises:
            InvalidInput: if nothing of the headline remains after normalization.
            Retryable: if the table cannot take it now.
        """
        ((_, result),) = self.store_many([article])
        if isinstance(result, Stored):
            return result
        raise result

    def store_many(
        self, articles: Sequence[IncomingArticle]
    ) -> list[tuple[IncomingArticle, Stored | Terminal | Retryable]]:
        """Take in several, in parallel; each ends with what became of it or why it could not be taken.

        Raises:
            Retryable: if the table cannot even be read now; then none was taken in.
        """
        identities = [_identity(article) for article in articles]
        told = [
            (article, identity)
            for article, identity in zip(articles, identities, strict=True)
            if isinstance(identity, HeadlineIdentity)
        ]
        neighbours = self._neighbours(told, consistent=False)

        def one(work: tuple[IncomingArticle, HeadlineIdentity | Terminal]) -> Stored | Terminal | Retryable:
            article, identity = work
            if not isinstance(identity, HeadlineIdentity):
                return identity
            try:
                return self._take_in(article, identity, neighbours.get(identity))
            except (Terminal, Retryable) as error:
                return error

        work = list(zip(articles, identities, strict=True))
        if min(self.workers, len(articles)) < 2:
            results = [one(each) for each in work]
        else:
            with ThreadPoolExecutor(min(self.workers, len(articles))) as pool:
                results = list(pool.map(one, work))
        self._settle_across_midnight(articles, identities, results)
        return list(zip(articles, results, strict=True))

    def _take_in(
        self, article: IncomingArticle, identity: HeadlineIdentity, neighbour: Item | None
    ) -> Stored:
        known = self.table.create(_alias_item(article, identity.dedup_key))
        if known is None:
            return self._place(article, identity, neighbour, alias_says=identity.dedup_key, is_new=True)
        target = known.get("dedup_key")
        if target is None:  # an article of the older key format, stored whole under its own id
            return Stored(Outcome.UNCHANGED, "", announce=False)
        existing = self.table.get(keys.article(target), consistent=True)
        if existing is None:  # an earlier run died between the alias and the article, or it has expired
            return self._place(article, identity, neighbour, alias_says=target, is_new=False)
        return self._merge(existing, article, is_new=False)

    def _place(
        self,
        article: IncomingArticle,
        identity: HeadlineIdentity,
        neighbour: Item | None,
        *,
        alias_says: str,
        is_new: bool,
    ) -> Stored:
        """Create the article, or join the one that tells the same story."""
        if neighbour is not None:
            return self._join(neighbour, article, alias_says=alias_says, is_new=is_new)
        own_key = identity.dedup_key
        existing = self.table.create(new_item(article, identity, own_key))
        if existing is not None and existing.get("signature", "") != identity.signature:
            # Same words, other numbers: another story, under a key that holds the numbers too.
            own_key = identity.signed_key
            existing = self.table.create(new_item(article, identity, own_key))
        if existing is not None:
            return self._join(existing, article, alias_says=alias_says, is_new=is_new)
        self._point_alias(article, alias_says, own_key)
        return Stored(Outcome.CREATED, own_key, announce=True)

    def _neighbours(
        self, told: Iterable[tuple[IncomingArticle, HeadlineIdentity]], *, consistent: bool
    ) -> dict[HeadlineIdentity, Item]:
        """Return, by identity, the article of the day before or after that tells the same story.

        Only stories told close to midnight can have one; a whole feed is looked up in one request.
        """
        wanted: dict[HeadlineIdentity, dict[str, None]] = {}
        for article, identity in told:
            near_keys = neighbouring_keys(identity.normalized, article.published_at)
            if identity.signature:
                signature = identity.signature
                near_keys += neighbouring_keys(identity.normalized, article.published_at, signature=signature)
            wanted.setdefault(identity, {}).update(dict.fromkeys(near_keys))
        found = self.table.batch_get(
            (keys.article(key) for near in wanted.values() for key in near), consistent=consistent
        )
        by_key = {item["dedup_key"]: item for item in found}
        return {
            identity: by_key[key]
            for identity, near in wanted.items()
            for key in near
            if key in by_key and by_key[key].get("signature", "") == identity.signature
        }

    def _settle_across_midnight(
        self,
        articles: Sequence[IncomingArticle],
        identities: Sequence[HeadlineIdentity | Terminal],
        results: list[Stored | Terminal | Retryable],
    ) -> None:
        """Let one article remain where another source made its neighbour at the same moment.

        Both makers look again after they have written, so at least one of them sees both. Its own article
        gives way if, in the same instant, the other is still there.
        """
        made = [
            (n, article, identity, result)
            for n, (article, identity, result) in enumerate(zip(articles, identities, results, strict=True))
            if isinstance(identity, HeadlineIdentity)
            and isinstance(result, Stored)
            and result.outcome is Outcome.CREATED
        ]
        neighbours = self._neighbours(
            ((article, identity) for _, article, identity, _ in made), consistent=True
        )
        for n, article, identity, result in made:
            neighbour = neighbours.get(identity)
            if neighbour is None:
                continue
            try:
                self.table.delete_in_favour_of(
                    keys.article(neighbour["dedup_key"]),
                    keys.article(result.dedup_key),
                    Attr("revision").eq(1) & Attr("status").eq(Status.PENDING),
                )
                results[n] = self._join(neighbour, article, alias_says=result.dedup_key, is_new=True)
            except ConditionFailed:
                continue  # the other gave way, or this one has gained another source's word
            except Retryable as error:
                results[n] = error

    def _join(self, existing: Item, article: IncomingArticle, *, alias_says: str, is_new: bool) -> Stored:
        self._point_alias(article, alias_says, existing["dedup_key"])
        return self._merge(existing, article, is_new=is_new)

    def _point_alias(self, article: IncomingArticle, says: str, target: str) -> None:
        if says != target:
            self.table.put(_alias_item(article, target))

    def _merge(self, existing: Item, article: IncomingArticle, *, is_new: bool) -> Stored:
        """Add a source's word to an article, however many others do so at the same time."""
        dedup = existing["dedup_key"]
        for _ in range(_RACES):
            had_word = article.source in existing["source_attribution"]
            changes = merged(existing, article)
            if not changes:
                self._count_omitted(existing, article, is_new=is_new)
                return Stored(Outcome.UNCHANGED, dedup, announce=existing["status"] == Status.PENDING)
            revision = existing["revision"]
            again = existing["status"] == Status.ANALYZED and not _BASIS_OF_ANALYSIS.isdisjoint(changes)
            status = {"status": Status.PENDING.value} if again else {}
            try:
                self.table.update(
                    keys.article(dedup),
                    assign=changes | status | {"revision": revision + 1},
                    condition=Attr("revision").eq(revision),
                )
            except ConditionFailed as found:
                if found.item is None:  # it expired, or gave way to its neighbour across midnight
                    identity = identify(article.headline, article.published_at, article.publishers)
                    return self._place(article, identity, None, alias_says=dedup, is_new=False)
                existing = found.item
                continue
            outcome = Outcome.UPDATED if had_word else Outcome.MERGED
            return Stored(outcome, dedup, announce=again)
        raise MergeContended(f"article {dedup}: {_RACES} merges were overtaken by others; it is retried")

    def _count_omitted(self, existing: Item, article: IncomingArticle, *, is_new: bool) -> None:
        words = existing["source_attribution"]
        if is_new and article.source not in words and len(words) >= ATTRIBUTIONS_KEPT:
            self.table.update(keys.article(existing["dedup_key"]), increment={"attributions_omitted": 1})


def _alias_item(article: IncomingArticle, dedup: str) -> dict[str, Any]:
    return {
        **keys.article_alias(article.source, article.article_id),
        "entity_type": "ArticleAlias",
        "schema_version": SCHEMA_VERSION,
        "dedup_key": dedup,
        "ttl_timestamp": epoch_seconds(article.crawled_at + RETENTION),
    }


def _identity(article: IncomingArticle) -> HeadlineIdentity | Terminal:
    try:
        return identify(article.headline, article.published_at, article.publishers)
    except Terminal as error:
        return error
