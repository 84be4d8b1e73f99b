"""Takes in one source's report of a story: create the article, or add to the one that is there.

Every write is conditional on the state it was made for, so two sources may bring the same story at the
same moment and the same source may bring it twice. The order of the writes is what a crash is survived by:
the alias first, then the article. Whoever comes again finds the alias and completes what is missing.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final, TypeAlias

from boto3.dynamodb.conditions import Attr

from sourcebook.articles.conditions import has_status
from sourcebook.articles.merge import merged, new_article
from sourcebook.articles.model import ATTRIBUTIONS_KEPT, IncomingArticle
from sourcebook.articles.normalize import HeadlineIdentity, identify, neighbouring_keys
from sourcebook.articles.redirects import MOST_REDIRECTS, redirect
from sourcebook.clock import epoch_seconds
from sourcebook.errors import Retryable, Terminal
from sourcebook.records.article import RETENTION, Article, ArticleAlias, Status
from sourcebook.records.base import changes
from sourcebook.table import keys
from sourcebook.table.client import Change, ConditionFailed, Table
from sourcebook.table.codec import Item

_RACES: Final = 25
"""Times that a merge tries again after another writer was faster."""
_BASIS_OF_ANALYSIS: Final = frozenset(
    {"headline", "text_for_analysis", "timestamp", "tags", "matched_tickers", "ttl_timestamp"}
)
"""What the sentiment, subjects and mentions of an article follow from. When one of these changes, the article
is analyzed again, so that they do not depend on the order in which its sources came."""


_ByKey: TypeAlias = dict[str, Article]
"""Articles by their dedup keys."""


class Outcome(StrEnum):
    """The result of taking in one source's report."""

    CREATED = "created"
    MERGED = "merged"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Stored:
    """One article after ingestion.

    Attributes:
        announce: whether its analysis has to be asked for: it is new, or what its analysis rests on has
            changed, or it is reported again while it still waits, because the run that made it may have died
            before it asked. Asking twice is harmless.
    """

    outcome: Outcome
    dedup_key: str
    announce: bool


class MergeContended(Retryable):
    """Other writers kept changing the article; a later attempt will find it at rest."""


@dataclass(frozen=True, slots=True)
class _Report:
    """One source's report of a story, with the identity of its headline.

    Attributes:
        near_keys: keys that the same story has if another day is given for it; none unless midnight is near.
    """

    article: IncomingArticle
    identity: HeadlineIdentity
    near_keys: tuple[str, ...]

    @classmethod
    def of(cls, article: IncomingArticle) -> _Report:
        """Identify the story; raises `InvalidInput` if nothing of the headline remains."""
        published_at = article.published_at
        identity = identify(article.headline, published_at, article.publishers)
        near = neighbouring_keys(identity.normalized, published_at)
        if near and identity.signature:
            near += neighbouring_keys(identity.normalized, published_at, signature=identity.signature)
        return cls(article, identity, tuple(near))

    def neighbour(self, known: Mapping[str, Article]) -> Article | None:
        """Return the article of the day before or after with the same story, if it is known."""
        near = (known[key] for key in self.near_keys if key in known)
        return next((one for one in near if self.is_of(one)), None)

    def is_of(self, article: Article) -> bool:
        """Whether an article under this story's key has the same story, with the same numbers."""
        return (article.signature or "") == self.identity.signature

    def makes(self, known: Mapping[str, Article]) -> tuple[str, ...]:
        """Return the keys under which this report may make an article; none if there is one to join."""
        key, signed = self.identity.dedup_key, self.identity.signed_key
        if signed in known or self.neighbour(known) is not None:
            return ()
        there = known.get(key)
        if there is None:
            return (key,)
        return () if self.is_of(there) else (signed,)


Result: TypeAlias = Stored | Terminal | Retryable
"""The result of one report, or why it could not be taken in."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A report that needs an article, made or found.

    Attributes:
        alias_says: where the report's alias points.
        is_new: whether this source is counted as a further one of the story.
    """

    report: _Report
    alias_says: str
    is_new: bool


@dataclass(frozen=True, slots=True)
class _Join:
    """A report that is to be merged with an article that is there."""

    report: _Report
    existing: Article
    is_new: bool


@dataclass(frozen=True, slots=True)
class _Elsewhere:
    """Reports that do not join the article that was found for them.

    Attributes:
        gone: those whose article is there no more.
        led: those that a person has led to another article, whose dedup key this is.
    """

    gone: dict[int, _Place] = field(default_factory=dict)
    led: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ArticleStore:
    """Articles in the table."""

    table: Table

    def store(self, article: IncomingArticle) -> Stored:
        """Take in one source's report.

        Idempotent: the same report again changes nothing.

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

        What is new is written, and what meets an article is merged with it, 25 a request, each on a
        condition of its own.

        Raises:
            Retryable: if the table is not able to answer now. What was taken in by then is found again.
        """
        results: dict[int, Result] = {}
        reports: dict[int, _Report] = {}
        for n, article in enumerate(articles):
            try:
                reports[n] = _Report.of(article)
            except Terminal as error:
                results[n] = error
        known = self._look_up(reports.values())
        # A document may report a story twice: the second report is merged with what the first has made.
        waiting = reports
        while waiting:
            first, waiting = _taken_together(waiting, known)
            self._take_in(first, known, results)
        self._settle_across_midnight(reports, results)
        return [(article, results[n]) for n, article in enumerate(articles)]

    def _look_up(self, reports: Iterable[_Report]) -> _ByKey:
        """Return what the table has under these stories' keys, those of the neighbouring days among them.

        A hundred in one request, and half a unit each, where a condition that fails costs a whole one. What
        comes in the meantime, or is not to be seen yet, the conditional writes find.
        """
        wanted = (key for each in reports for key in (each.identity.dedup_key, *each.near_keys))
        found = self.table.batch_get(keys.article(key) for key in wanted)
        return _by_key(found)

    def _take_in(self, reports: Mapping[int, _Report], known: _ByKey, results: dict[int, Result]) -> None:
        """Take in reports of which no two have the same alias or make the same article.

        `known` holds articles by key, as far as they were read or made; what is made is added.
        """
        places: dict[int, _Place] = {}
        merged_before: dict[int, str] = {}
        aliases = self.table.create_many(
            [_alias_item(each.article, each.identity.dedup_key) for each in reports.values()]
        )
        for (n, each), alias in zip(reports.items(), aliases, strict=True):
            if isinstance(alias, Terminal | Retryable):
                results[n] = alias
            elif alias is None:
                places[n] = _Place(each, each.identity.dedup_key, is_new=True)
            elif "dedup_key" in alias:
                merged_before[n] = alias["dedup_key"]
            else:  # an article of the older key format, stored whole under its own id
                results[n] = Stored(Outcome.UNCHANGED, "", announce=False)
        joins: dict[int, _Join] = {}
        there = self._read(merged_before.values())
        for n, target in merged_before.items():
            if target in there:
                joins[n] = _Join(reports[n], there[target], is_new=False)
            else:  # an earlier run died between the alias and the article, or it has expired
                places[n] = _Place(reports[n], target, is_new=False)
        joins |= self._place(places, known, results)
        self._merge(joins, known, results)

    def _read(self, dedup_keys: Iterable[str]) -> _ByKey:
        found = self.table.batch_get(map(keys.article, dedup_keys), consistent=True)
        return _by_key(found)

    def _place(
        self, places: Mapping[int, _Place], known: _ByKey, results: dict[int, Result]
    ) -> dict[int, _Join]:
        """Create articles; return the reports that join one instead, because it has the same story."""
        met: dict[int, Article] = {}
        missing: dict[int, str] = {}
        for n, place in places.items():
            identity = place.report.identity
            existing = place.report.neighbour(known) or known.get(identity.dedup_key)
            if existing is None:
                missing[n] = identity.dedup_key
            else:
                met[n] = existing
        met |= self._create(places, missing, known, results)
        # Same words, other numbers: another story, under a key that holds the numbers too.
        others = {
            n: places[n].report.identity.signed_key
            for n, existing in met.items()
            if not places[n].report.is_of(existing)
        }
        met = {
            n: known.get(others.get(n, ""), existing)
            for n, existing in met.items()
            if n not in others or others[n] in known
        }
        met |= self._create(places, {n: key for n, key in others.items() if n not in met}, known, results)
        joins: dict[int, _Join] = {}
        for n, existing in met.items():
            if self._point_alias(n, places[n], existing.dedup_key, results):
                joins[n] = _Join(places[n].report, existing, places[n].is_new)
        return joins

    def _create(
        self,
        places: Mapping[int, _Place],
        wanted: Mapping[int, str],
        known: _ByKey,
        results: dict[int, Result],
    ) -> dict[int, Article]:
        """Create articles under these keys, which differ; return those that are there already."""
        new = [
            new_article(places[n].report.article, places[n].report.identity, key) for n, key in wanted.items()
        ]
        met: dict[int, Article] = {}
        items = [article.to_new_item() for article in new]
        for (n, key), article, existing in zip(
            wanted.items(), new, self.table.create_many(items), strict=True
        ):
            if isinstance(existing, Terminal | Retryable):
                results[n] = existing
            elif existing is not None:
                met[n] = known[key] = Article.of_item(existing)
            elif self._point_alias(n, places[n], key, results):
                known[key] = article
                results[n] = Stored(Outcome.CREATED, key, announce=True)
        return met

    def _point_alias(self, n: int, place: _Place, target: str, results: dict[int, Result]) -> bool:
        """Set the article of a report's alias; return False if the table does not take it."""
        if place.alias_says != target:
            try:
                self.table.put(_alias_item(place.report.article, target))
            except (Terminal, Retryable) as error:
                results[n] = error
                return False
        return True

    def _settle_across_midnight(self, reports: Mapping[int, _Report], results: dict[int, Result]) -> None:
        """Keep one article where another source made its neighbour at the same moment.

        Both makers look again after they have written, so at least one of them sees both. Its own article
        gives way if, in the same instant, the other is still there.
        """
        made: dict[int, Stored] = {
            n: result
            for n, result in results.items()
            if isinstance(result, Stored) and result.outcome is Outcome.CREATED
        }
        near = (key for n in made for key in reports[n].near_keys)
        found = self.table.batch_get((keys.article(key) for key in near), consistent=True)
        neighbours = _by_key(found)
        joins: dict[int, _Join] = {}
        for n, result in made.items():
            neighbour = reports[n].neighbour(neighbours)
            if neighbour is None:
                continue
            try:
                self.table.delete_in_favour_of(
                    keys.article(neighbour.dedup_key),
                    keys.article(result.dedup_key),
                    Attr("revision").eq(1) & has_status(Status.PENDING),
                )
            except ConditionFailed:
                continue  # the other gave way, or this one has gained another source's report
            except Retryable as error:
                results[n] = error
                continue
            if self._point_alias(
                n, _Place(reports[n], result.dedup_key, is_new=True), neighbour.dedup_key, results
            ):
                joins[n] = _Join(reports[n], neighbour, is_new=True)
        self._merge(joins, {}, results)

    def _merge(
        self, joins: Mapping[int, _Join], known: _ByKey, results: dict[int, Result], *, redirects: int = 0
    ) -> None:
        """Add reports to articles, however many others do so at the same time.

        One report of each article at a time: the next is merged with what the one before has made. Where a
        person has decided so, a report goes to another article.
        """
        newest: dict[str, Article | None] = {}
        waiting: dict[str, deque[int]] = {}
        for n, join in joins.items():
            dedup = join.existing.dedup_key
            newest.setdefault(dedup, join.existing)
            waiting.setdefault(dedup, deque()).append(n)
        races = Counter[int]()
        elsewhere = _Elsewhere()
        while waiting:
            merges = self._next_merges(waiting, newest, joins, elsewhere, results)
            outcomes = self.table.update_many([merge.change for merge in merges.values()])
            overtaken = [dedup for dedup, outcome in zip(merges, outcomes, strict=True) if outcome is False]
            newest |= dict.fromkeys(overtaken) | self._read(overtaken)
            for (dedup, merge), outcome in zip(merges.items(), outcomes, strict=True):
                n = waiting[dedup][0]
                races[n] += outcome is False
                if outcome is False and races[n] < _RACES:
                    continue
                waiting[dedup].popleft()
                if outcome is True:
                    newest[dedup] = known[dedup] = merge.after
                    results[n] = merge.stored
                else:
                    results[n] = outcome or MergeContended(
                        f"article {dedup}: {_RACES} merges were overtaken by others; it is retried"
                    )
            waiting = {dedup: numbers for dedup, numbers in waiting.items() if numbers}
        for n, place in elsewhere.gone.items():
            self._merge(self._place({n: place}, {}, results), {}, results)
        if elsewhere.led:
            self._follow(elsewhere.led, joins, results, redirects + 1)

    def _follow(
        self, led: Mapping[int, str], joins: Mapping[int, _Join], results: dict[int, Result], redirects: int
    ) -> None:
        """Add reports to the articles that decisions of people lead to; one that has expired is made anew.

        Their aliases stay: where a decision is taken back, they lead back too.
        """
        if redirects > MOST_REDIRECTS:
            results |= {
                n: MergeContended(f"article {key}: decisions lead in a circle") for n, key in led.items()
            }
            return
        there = self._read(led.values())
        found: dict[int, Article] = {}
        for n, key in led.items():
            if key in there:
                found[n] = there[key]
            else:
                place = _Place(joins[n].report, key, is_new=False)
                found |= self._create({n: place}, {n: key}, there, results)
        further = {n: replace(joins[n], existing=article) for n, article in found.items()}
        self._merge(further, {}, results, redirects=redirects)

    def _next_merges(
        self,
        waiting: Mapping[str, deque[int]],
        newest: Mapping[str, Article | None],
        joins: Mapping[int, _Join],
        elsewhere: _Elsewhere,
        results: dict[int, Result],
    ) -> dict[str, _Merge]:
        """Return the next merge of each article.

        Reports that say nothing new end here, those that have lost their article or are led to another too.
        """
        merges: dict[str, _Merge] = {}
        for dedup, numbers in waiting.items():
            while numbers and dedup not in merges:
                existing, join = newest[dedup], joins[numbers[0]]
                if existing is None:  # it expired, or gave way to its neighbour across midnight
                    elsewhere.gone[numbers.popleft()] = _Place(join.report, dedup, is_new=False)
                elif target := redirect(existing, join.report.article.source):
                    elsewhere.led[numbers.popleft()] = target
                elif merge := _Merge.of(existing, join.report.article):
                    merges[dedup] = merge
                else:
                    results[numbers.popleft()] = self._nothing_new(existing, join)
        return merges

    def _nothing_new(self, existing: Article, join: _Join) -> Result:
        attributions = existing.source_attribution
        if (
            join.is_new
            and join.report.article.source not in attributions
            and len(attributions) >= ATTRIBUTIONS_KEPT
        ):
            try:
                self.table.change(keys.article(existing.dedup_key), increment={"attributions_omitted": 1})
            except (Terminal, Retryable) as error:
                return error
        pending = existing.status == Status.PENDING
        return Stored(Outcome.UNCHANGED, existing.dedup_key, announce=pending)


@dataclass(frozen=True, slots=True)
class _Merge:
    """One report's merge with an article as it was read.

    Attributes:
        after: the article once the change is made.
        stored: what has become of the report then.
    """

    change: Change
    after: Article
    stored: Stored

    @classmethod
    def of(cls, existing: Article, article: IncomingArticle) -> _Merge | None:
        """Return the merge, or None if the report says nothing new."""
        after = merged(existing, article)
        if after is existing:
            return None
        # The status too: whoever concludes the analysis meanwhile leaves the revision as it is, and what
        # was concluded rests on what is changed here. Nothing takes an analyzed one back but a new revision.
        state: dict[str, object] = {"revision": existing.revision}
        if existing.sentiment is None and existing.status == Status.PENDING:
            # A new one has no status until it is listed, which may happen at any time: its analysis is told
            # by the sentiment.
            state["sentiment"] = None
        elif existing.status != Status.ANALYZED:
            state["status"] = existing.status
        has_new_basis = any(getattr(existing, name) != getattr(after, name) for name in _BASIS_OF_ANALYSIS)
        again = existing.status == Status.ANALYZED and has_new_basis
        after = replace(
            after, revision=existing.revision + 1, status=Status.PENDING if again else existing.status
        )
        outcome = Outcome.UPDATED if article.source in existing.source_attribution else Outcome.MERGED
        key = keys.article(existing.dedup_key)
        return cls(
            Change(key, changes(existing, after), state),
            after,
            Stored(outcome, existing.dedup_key, announce=again),
        )


def _by_key(items: Iterable[Item]) -> _ByKey:
    return {article.dedup_key: article for article in map(Article.of_item, items)}


def _alias_item(article: IncomingArticle, dedup: str) -> Item:
    expires = epoch_seconds(article.crawled_at + RETENTION)
    alias = ArticleAlias(dedup_key=dedup, ttl_timestamp=expires)
    return alias.to_item(keys.article_alias(article.source, article.article_id))


def _taken_together(
    reports: Mapping[int, _Report], known: Mapping[str, Article]
) -> tuple[dict[int, _Report], dict[int, _Report]]:
    """Divide into those that can be taken in at the same time, and those that come later.

    Two reports may not make one article at the same time. Once it is there, any number of reports join it at
    once: a document that reports one story 2,000 times takes two steps, not 2,000.
    """
    aliases: set[tuple[str, str]] = set()
    made: set[str] = set()
    first: dict[int, _Report] = {}
    later: dict[int, _Report] = {}
    for n, each in reports.items():
        alias = (each.article.source, each.article.article_id)
        keys_made = each.makes(known)
        if alias not in aliases and made.isdisjoint(keys_made):
            first[n] = each
            aliases.add(alias)
            made.update(keys_made)
        else:
            later[n] = each
    return first, later
