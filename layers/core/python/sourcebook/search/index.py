"""Writing the index: articles that have changed, or all of a day anew from the table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta

from boto3.dynamodb.conditions import Key as KeyCondition

from sourcebook.bucket.objects import ObjectChanged
from sourcebook.errors import SourcebookError
from sourcebook.records.article import Article, Sentiment, is_analyzed
from sourcebook.search.day import IndexedArticle
from sourcebook.search.days import Days, day_of
from sourcebook.search.sqlite import DamagedIndex
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item


@dataclass(slots=True)
class Indexed:
    """What a run came to.

    Attributes:
        articles: those that were looked at.
        changed: entries of the index that are new or other than before.
        days: days that were written.
        left_out: articles that could not be indexed, with the reason, by key.
    """

    articles: int = 0
    changed: int = 0
    days: int = 0
    left_out: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Indexer:
    """Writes articles into the days of the index."""

    days: Days
    table: Table

    def take(self, articles: Iterable[Item]) -> Indexed:
        """Add analyzed articles, each to its day. Taking them again changes nothing.

        A day whose file is damaged is made again from the table.

        Raises:
            Retryable: if the bucket or the table is not able to answer now: take all of them again.
        """
        run = Indexed()
        by_day: defaultdict[str, list[IndexedArticle]] = defaultdict(list)
        for entry in _entries(articles, run):
            by_day[day_of(entry.at)].append(entry)
        known = self.days.listed() if by_day else {}
        for day, entries in sorted(by_day.items()):
            try:
                changed = self.days.put(day, entries, there=day in known)
            except DamagedIndex:
                # An index of the table may not show yet what has just been analyzed.
                changed = self._make(day, known.get(day), run, entries)
            run.changed += changed
            run.days += bool(changed)
        return run

    def take_keys(self, partition_keys: Iterable[str]) -> Indexed:
        """Add the articles of these keys as they are now; see `take`."""
        wanted = (keys.Key(PK=key, SK=keys.ARTICLE_SORT_KEY) for key in partition_keys)
        return self.take(self.table.batch_get(wanted, consistent=True))

    def rebuild(
        self, first: str, last: str, note: Callable[[str, int], None] = lambda _day, _count: None
    ) -> Indexed:
        """Rebuild the days from the table, both ends included.

        Args:
            first: first day, such as 2026-11-01.
            last: last day.
            note: called for each day with its number of articles.
        """
        run = Indexed()
        known = self.days.listed()
        day = date.fromisoformat(first)
        while (name := day.isoformat()) <= last:
            count = self._make(name, known.get(name), run)
            if count or name in known:
                run.changed += count
                run.days += 1
                note(name, count)
            day += timedelta(days=1)
        return run

    def _make(self, day: str, etag: str | None, run: Indexed, also: Iterable[IndexedArticle] = ()) -> int:
        """Rebuild a day from the table, and return how many articles it has."""
        while True:
            wanted = (keys.Key(PK=item["PK"], SK=keys.ARTICLE_SORT_KEY) for item in self._analyzed(day))
            entries = [*_entries(self.table.batch_get(wanted), run), *also]
            if not entries and etag is None:
                return 0
            try:
                return self.days.make(day, entries, etag=etag)
            except ObjectChanged:
                etag = self.days.listed().get(day)

    def _analyzed(self, day: str) -> Iterator[Item]:
        values = (value for one in Sentiment for value in self.table.shards.read(one.value))
        for value in values:
            condition = KeyCondition("sentiment").eq(value) & KeyCondition("timestamp").begins_with(day)
            yield from self.table.query_all(condition, index=keys.SENTIMENT_INDEX)


def _entries(articles: Iterable[Item], run: Indexed) -> Iterator[IndexedArticle]:
    """Yield the entries of the analyzed ones among articles; one that cannot have one loses no other."""
    for article in articles:
        if not is_analyzed(article) or "dedup_key" not in article:
            continue
        run.articles += 1
        try:
            yield IndexedArticle.of(Article.of_item(article))
        except (AttributeError, TypeError, ValueError, SourcebookError) as error:
            run.left_out[str(article["dedup_key"])] = f"{type(error).__name__}: {error}"
