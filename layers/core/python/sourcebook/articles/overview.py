"""Overview of ingestion: recent articles, their age, and how often two sources reported the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from boto3.dynamodb.conditions import Key as KeyCondition

from sourcebook.articles.read import places_by_status
from sourcebook.clock import Clock, isoformat, parse_iso, utc_now
from sourcebook.records.article import Article, SourceAttribution
from sourcebook.records.base import View
from sourcebook.records.batch import IngestionBatch
from sourcebook.records.source import SLOW_FETCH, Fetch, Source
from sourcebook.sources.registry import source_entries
from sourcebook.table import keys
from sourcebook.table.client import Table

ORDERS: Final = ("articles", "age", "slowest", "errors")
HOURS_LIMIT: Final = 72
SOURCES_AT_MOST: Final = 200
"""Sources of one answer. Each is a query, and an answer must be there within seconds."""
ARTICLES_AT_MOST: Final = 2_000
BATCHES_AT_MOST: Final = 2_000
_SHOWN: Final = 100


@dataclass(slots=True)
class _Brought:
    """The yield of a source: the ages of its articles in seconds, and its fetches."""

    articles: int = 0
    ages: list[float] = field(default_factory=list)
    durations: list[int] = field(default_factory=list)
    errors: int = 0


@dataclass(frozen=True, slots=True)
class IngestionOverview:
    """Reads what ingestion has left in the table."""

    table: Table
    clock: Clock = utc_now

    def sources(self, hours: int, order: str) -> View:
        """Return the sources with what they brought within the last `hours`.

        An article's age is the time from its publication, as its source says, to when it was fetched. Fetches
        are those that changed something or failed, which alone are kept. `left_out` says whether there are
        more sources than the first 200 that are due, or more articles than the newest 2,000.
        """
        now = self.clock()
        since = now - timedelta(hours=hours)
        sources, more = self._sources()
        brought: defaultdict[str, _Brought] = defaultdict(_Brought)
        articles = list(islice(self._articles(since), ARTICLES_AT_MOST + 1))
        for item in self.table.batch_get(articles[:ARTICLES_AT_MOST], attributes=("source_attribution",)):
            for source_id, word in (Article.of_item(item).source_attribution or {}).items():
                _count_article(brought[source_id], word)
        for source in sources:
            for fetch in self._fetches(source.source_id, since):
                of = brought[source.source_id]
                of.durations.append(fetch.duration_ms or 0)
                of.errors += bool(fetch.message)
        rows = [_row(source, brought[source.source_id]) for source in sources]
        name = {"age": "mean_age_seconds", "slowest": "slowest_fetch_ms"}.get(order, order)
        rows.sort(key=lambda row: (-(row[name] or 0), row["source_id"]))
        return {
            "start": isoformat(since),
            "end": isoformat(now),
            "left_out": more or len(articles) > ARTICLES_AT_MOST,
            "items": rows,
            "next_cursor": None,
        }

    def batches(self, hours: int) -> View:
        """Return what the runs of the last `hours` came to together, and the newest hundred of them.

        A run over unchanged sources leaves no record. `left_out` says whether there are more than 2,000 runs.
        """
        now = self.clock()
        since = now - timedelta(hours=hours)
        found = list(islice(self._batches(since, now), BATCHES_AT_MOST + 1))
        rows = [batch.shown() for batch in found[:BATCHES_AT_MOST]]
        fetched = sum(row["articles_fetched"] for row in rows)
        collisions = sum(row["collisions_detected"] for row in rows)
        return {
            "start": isoformat(since),
            "end": isoformat(now),
            "left_out": len(found) > BATCHES_AT_MOST,
            "batches": len(rows),
            "articles_fetched": fetched,
            "articles_stored": sum(row["articles_stored"] for row in rows),
            "collisions_detected": collisions,
            "collision_rate": round(collisions / fetched, 4) if fetched else None,
            "items": rows[:_SHOWN],
            "next_cursor": None,
        }

    def _sources(self) -> tuple[list[Source], bool]:
        ids = [entry["source_id"] for entry in islice(source_entries(self.table), SOURCES_AT_MOST + 1)]
        items = self.table.batch_get(keys.source(source_id) for source_id in ids[:SOURCES_AT_MOST])
        return [Source.of_item(item) for item in items], len(ids) > SOURCES_AT_MOST

    def _articles(self, since: datetime) -> Iterator[keys.Key]:
        """Yield the keys of the articles since then; one that is being analyzed anew may come twice."""
        later = KeyCondition("timestamp").gte(isoformat(since))
        by_status = reversed(places_by_status(self.table.shards).values())
        for place in (place for places in by_status for place in places):
            condition = KeyCondition(place.attribute).eq(place.value) & later
            for entry in self.table.query_all(condition, index=place.index, newest_first=True):
                if entry["SK"] == keys.ARTICLE_SORT_KEY:
                    yield keys.key_of(entry)

    def _fetches(self, source_id: str, since: datetime) -> Iterator[Fetch]:
        first = keys.source_fetch(source_id, isoformat(since))
        condition = KeyCondition("PK").eq(first["PK"]) & KeyCondition("SK").between(
            first["SK"], keys.source_fetch(source_id, "~")["SK"]
        )
        return map(Fetch.of_item, self.table.query_all(condition))

    def _batches(self, since: datetime, now: datetime) -> Iterator[IngestionBatch]:
        day = now
        while day.date() >= since.date():
            first = keys.ingestion_batch(f"{day:%Y-%m-%d}", isoformat(since, "milliseconds"), "")
            condition = KeyCondition("PK").eq(first["PK"]) & KeyCondition("SK").gte(first["SK"])
            yield from map(IngestionBatch.of_item, self.table.query_all(condition, newest_first=True))
            day -= timedelta(days=1)


def _count_article(brought: _Brought, word: SourceAttribution) -> None:
    brought.articles += 1
    if word.published_at and word.crawl_timestamp:
        age = (parse_iso(word.crawl_timestamp) - parse_iso(word.published_at)).total_seconds()
        # A source may date an article later than now.
        brought.ages.append(max(0.0, age))


def _row(source: Source, brought: _Brought) -> View:
    slowest = max(brought.durations, default=None)
    return {
        "source_id": source.source_id,
        "kind": source.kind,
        "health": source.health.value,
        "articles": brought.articles,
        "mean_age_seconds": _mean(brought.ages),
        "fetches": len(brought.durations),
        "errors": brought.errors,
        "mean_fetch_ms": _mean(brought.durations),
        "slowest_fetch_ms": slowest,
        "slow": slowest is not None and slowest > SLOW_FETCH * 1000,
    }


def _mean(values: list[float] | list[int]) -> int | None:
    return round(sum(values) / len(values)) if values else None
