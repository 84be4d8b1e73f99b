"""Taking in one source's word on a story: create the article, or add to the one that is there.

Every write is conditional on the state it was made for, so two sources may bring the same story at the
same moment and the same source may bring it twice. The order of the writes is what a crash is survived by:
the alias first, then the article. Whoever comes again finds the alias and completes what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any, Final, TypeAlias

from boto3.dynamodb.conditions import Attr

from sourcebook.articles.merge import merged, new_item
from sourcebook.articles.model import ATTRIBUTIONS_KEPT, RETENTION, IncomingArticle, Status
from sourcebook.articles.normalize import HeadlineIdentity, identify, neighbouring_keys
from sourcebook.clock import epoch_seconds
from sourcebook.errors import Retryable, Terminal
from sourcebook.schema import SCHEMA_VERSION
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
class _Told:
    """One source's word, and what its headline says of which story it tells."""

    article: IncomingArticle
    identity: HeadlineIdentity

    @classmethod
    def of(cls, article: IncomingArticle) -> _Told:
        """Identify the story; raises `InvalidInput` if nothing of the headline remains."""
        return cls(article, identify(article.headline, article.published_at, article.publishers))

    @property
    def near_keys(self) -> list[str]:
        """Keys that the same story has if another day is given for it; none unless midnight is near."""
        normalized, published_at = self.identity.normalized, self.article.published_at
        found = list(neighbouring_keys(normalized, published_at))
        if self.identity.signature:
            found += neighbouring_keys(normalized, published_at, signature=self.identity.signature)
        return found

    def neighbour(self, known: Mapping[str, Item]) -> Item | None:
        """Return the article of the day before or after that tells the same story, if it is known."""
        near = (known[key] for key in self.near_keys if key in known)
        return next((item for item in near if item.get("signature", "") == self.identity.signature), None)


Result: TypeAlias = Stored | Terminal | Retryable
"""What became of one source's word, or why it could not be taken in."""


@dataclass(frozen=True, slots=True)
class ArticleStore:
    """Articles in the table.

    Attributes:
        workers: articles merged at the same time.
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

    def store_many(self, articles: Sequence[IncomingArticle]) -> list[tuple[IncomingArticle, Result]]:
        """Take in several at once; each ends with what became of it or why it could not be taken.

        What is new, which is most, is written 25 a request; what meets an article is merged one by one, in
        parallel.

        Raises:
            Retryable: if the table is not able to answer now. What was taken in by then is found again.
        """
        results: dict[int, Result] = {}
        told: dict[int, _Told] = {}
        for n, article in enumerate(articles):
            try:
                told[n] = _Told.of(article)
            except Terminal as error:
                results[n] = error
        known = self._look_up(told.values())
        first, later = _first_of_each(told)
        self._each(self._create(first, known, results), results)
        # The same document may tell a story twice: the second word is merged with what the first has made.
        self._each({n: partial(self._take_in, each, known) for n, each in later.items()}, results)
        self._settle_across_midnight(told, results)
        return [(article, results[n]) for n, article in enumerate(articles)]

    def _look_up(self, told: Iterable[_Told]) -> dict[str, Item]:
        """Return what the table has under these stories' keys, those of the neighbouring days among them.

        A hundred in one request, and half a unit each, where a condition that fails costs a whole one. What
        comes in the meantime, or is not to be seen yet, the conditional writes find.
        """
        wanted = (key for each in told for key in (each.identity.dedup_key, *each.near_keys))
        found = self.table.batch_get(keys.article(key) for key in wanted)
        return {item["dedup_key"]: item for item in found}

    def _create(
        self, told: Mapping[int, _Told], known: Mapping[str, Item], results: dict[int, Result]
    ) -> dict[int, Callable[[], Stored]]:
        """Create what is new; return what remains to be done for the others, by their numbers."""
        remaining: dict[int, Callable[[], Stored]] = {}
        aliases = self.table.create_many(
            [_alias_item(each.article, each.identity.dedup_key) for each in told.values()]
        )
        fresh: dict[int, _Told] = {}
        for (n, each), alias in zip(told.items(), aliases, strict=True):
            if isinstance(alias, Terminal | Retryable):
                results[n] = alias
            elif alias is not None:
                remaining[n] = partial(self._told_before, each, known, alias)
            elif each.identity.dedup_key in known or each.neighbour(known):
                remaining[n] = partial(self._place, each, known, is_new=True)
            else:
                fresh[n] = each
        created = self.table.create_many(
            [new_item(each.article, each.identity, each.identity.dedup_key) for each in fresh.values()]
        )
        for (n, each), existing in zip(fresh.items(), created, strict=True):
            if isinstance(existing, Terminal | Retryable):
                results[n] = existing
            elif existing is None:
                results[n] = Stored(Outcome.CREATED, each.identity.dedup_key, announce=True)
            else:
                met = {**known, each.identity.dedup_key: existing}
                remaining[n] = partial(self._place, each, met, is_new=True)
        return remaining

    def _each(self, work: Mapping[int, Callable[[], Stored]], results: dict[int, Result]) -> None:
        def one(n: int) -> None:
            try:
                results[n] = work[n]()
            except (Terminal, Retryable) as error:
                results[n] = error

        if min(self.workers, len(work)) < 2:
            for n in work:
                one(n)
            return
        with ThreadPoolExecutor(min(self.workers, len(work))) as pool:
            list(pool.map(one, work))

    def _take_in(self, told: _Told, known: Mapping[str, Item]) -> Stored:
        alias = self.table.create(_alias_item(told.article, told.identity.dedup_key))
        if alias is None:
            return self._place(told, known, is_new=True)
        return self._told_before(told, known, alias)

    def _told_before(self, told: _Told, known: Mapping[str, Item], alias: Item) -> Stored:
        """Take in what its source has told before, as the alias says."""
        target = alias.get("dedup_key")
        if target is None:  # an article of the older key format, stored whole under its own id
            return Stored(Outcome.UNCHANGED, "", announce=False)
        existing = self.table.get(keys.article(target), consistent=True)
        if existing is None:  # an earlier run died between the alias and the article, or it has expired
            return self._place(told, known, alias_says=target, is_new=False)
        return self._merge(existing, told.article, is_new=False)

    def _place(
        self, told: _Told, known: Mapping[str, Item], *, alias_says: str | None = None, is_new: bool
    ) -> Stored:
        """Create the article, or join the one that tells the same story.

        Args:
            told: the word.
            known: articles by key, as far as they were read.
            alias_says: where the word's alias points; by default to the story's own key.
            is_new: whether this source is counted as one more that tells it.
        """
        article, identity = told.article, told.identity
        own_key = identity.dedup_key
        says = alias_says or own_key
        neighbour = told.neighbour(known)
        if neighbour is not None:
            return self._join(neighbour, article, alias_says=says, is_new=is_new)
        existing = known.get(own_key) or self.table.create(new_item(article, identity, own_key))
        if existing is not None and existing.get("signature", "") != identity.signature:
            # Same words, other numbers: another story, under a key that holds the numbers too.
            own_key = identity.signed_key
            existing = self.table.create(new_item(article, identity, own_key))
        if existing is not None:
            return self._join(existing, article, alias_says=says, is_new=is_new)
        self._point_alias(article, says, own_key)
        return Stored(Outcome.CREATED, own_key, announce=True)

    def _settle_across_midnight(self, told: Mapping[int, _Told], results: dict[int, Result]) -> None:
        """Let one article remain where another source made its neighbour at the same moment.

        Both makers look again after they have written, so at least one of them sees both. Its own article
        gives way if, in the same instant, the other is still there.
        """
        made: dict[int, Stored] = {
            n: result
            for n, result in results.items()
            if isinstance(result, Stored) and result.outcome is Outcome.CREATED
        }
        near = (key for n in made for key in told[n].near_keys)
        found = self.table.batch_get((keys.article(key) for key in near), consistent=True)
        neighbours = {item["dedup_key"]: item for item in found}
        for n, result in made.items():
            neighbour = told[n].neighbour(neighbours)
            if neighbour is None:
                continue
            try:
                self.table.delete_in_favour_of(
                    keys.article(neighbour["dedup_key"]),
                    keys.article(result.dedup_key),
                    Attr("revision").eq(1) & Attr("status").eq(Status.PENDING),
                )
                results[n] = self._join(neighbour, told[n].article, alias_says=result.dedup_key, is_new=True)
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
                self.table.change(
                    keys.article(dedup),
                    assign=changes | status | {"revision": revision + 1},
                    condition=Attr("revision").eq(revision),
                )
            except ConditionFailed as found:
                if found.item is None:  # it expired, or gave way to its neighbour across midnight
                    return self._place(_Told.of(article), {}, alias_says=dedup, is_new=False)
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


def _first_of_each(told: Mapping[int, _Told]) -> tuple[dict[int, _Told], dict[int, _Told]]:
    """Divide into those that are the first of their alias and their story, and those that come later."""
    seen: set[tuple[str, ...]] = set()
    first: dict[int, _Told] = {}
    later: dict[int, _Told] = {}
    for n, each in told.items():
        own = {(each.article.source, each.article.article_id), (each.identity.dedup_key,)}
        (first if seen.isdisjoint(own) else later)[n] = each
        seen |= own
    return first, later
