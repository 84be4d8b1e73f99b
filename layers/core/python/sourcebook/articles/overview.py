"""Ingestion at a glance: what sources brought of late, how old it was, and how often two told the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Final

from boto3.dynamodb.conditions import Key as KeyCondition

from sourcebook.articles.read import STATUSES
from sourcebook.clock import Clock, isoformat, parse_iso, utc_now
from sourcebook.sources.read import SLOW, health_of
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item

ORDERS: Final = ("articles", "age", "slowest", "errors")
HOURS_LIMIT: Final = 72
SOURCES_AT_MOST: Final = 200
"""Sources of one answer. Each is a query, and an answer must be there within seconds."""
ARTICLES_AT_MOST: Final = 2_000
BATCHES_AT_MOST: Final = 2_000
_SHOWN: Final = 100


@dataclass(slots=True)
class _Brought:
    """What a source brought: the ages of its articles in seconds, and its fetches."""

    articles: int = 0
    ages: list[float] = field(default_factory=list)
    durations: list[int] = field(default_factory=list)
    errors: int = 0


@dataclass(frozen=True, slots=True)
class IngestionOverview:
    """Reads what ingestion has left in the table."""

    table: Table
    clock: Clock = utc_now

    def sources(self, hours: int, order: str) -> dict[str, Any]:
        """Return the sources with what they brought within the last `hours`.

        An article's age is the time from its publication, as its source says, to when it was fetched. Fetches
        are those that changed something or failed, which alone are kept. `left_out` says whether there are
        more sources than the first 200 that are due, or more articles than the newest 2,000.
        """
        now = self.clock()
        since = now - timedelta(hours=hours)
        states, more = self._states()
        brought: defaultdict[str, _Brought] = defaultdict(_Brought)
        articles = list(islice(self._articles(since), ARTICLES_AT_MOST + 1))
        for article in self.table.batch_get(articles[:ARTICLES_AT_MOST], attributes=("source_attribution",)):
            for source_id, word in (article.get("source_attribution") or {}).items():
                _count_article(brought[source_id], word)
        for state in states:
            for fetch in self._fetches(state["source_id"], since):
                of = brought[state["source_id"]]
                of.durations.append(int(fetch.get("duration_ms") or 0))
                of.errors += bool(fetch.get("message"))
        rows = [_row(state, brought[state["source_id"]]) for state in states]
        name = {"age": "mean_age_seconds", "slowest": "slowest_fetch_ms"}.get(order, order)
        rows.sort(key=lambda row: (-(row[name] or 0), row["source_id"]))
        return {
            "start": isoformat(since),
            "end": isoformat(now),
            "left_out": more or len(articles) > ARTICLES_AT_MOST,
            "items": rows,
            "next_cursor": None,
        }

    def batches(self, hours: int) -> dict[str, Any]:
        """Return what the runs of the last `hours` came to together, and the newest hundred of them.

        A run over unchanged sources leaves no record. `left_out` says whether there are more than 2,000 runs.
        """
        now = self.clock()
        since = now - timedelta(hours=hours)
        found = list(islice(self._batches(since, now), BATCHES_AT_MOST + 1))
        rows = [_batch(item) for item in found[:BATCHES_AT_MOST]]
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

    def _states(self) -> tuple[list[Item], bool]:
        due = (
            entry
            for partition in (keys.DUE_SOURCES, keys.DISABLED_SOURCES)
            for entry in self.table.query_all(
                KeyCondition("GSI1PK").eq(partition), index=keys.ELIGIBILITY_INDEX
            )
        )
        ids = [entry["source_id"] for entry in islice(due, SOURCES_AT_MOST + 1)]
        states = self.table.batch_get(keys.source(source_id) for source_id in ids[:SOURCES_AT_MOST])
        return states, len(ids) > SOURCES_AT_MOST

    def _articles(self, since: datetime) -> Iterator[keys.Key]:
        for status in reversed(STATUSES):
            condition = KeyCondition("status").eq(status) & KeyCondition("timestamp").gte(isoformat(since))
            for entry in self.table.query_all(condition, index=keys.STATUS_INDEX, newest_first=True):
                if entry["SK"] == keys.ARTICLE_SORT_KEY:
                    yield keys.Key(PK=entry["PK"], SK=entry["SK"])

    def _fetches(self, source_id: str, since: datetime) -> Iterator[Item]:
        first = keys.source_fetch(source_id, isoformat(since))
        condition = KeyCondition("PK").eq(first["PK"]) & KeyCondition("SK").between(
            first["SK"], keys.source_fetch(source_id, "~")["SK"]
        )
        return self.table.query_all(condition)

    def _batches(self, since: datetime, now: datetime) -> Iterator[Item]:
        day = now
        while day.date() >= since.date():
            first = keys.ingestion_batch(f"{day:%Y-%m-%d}", isoformat(since, "milliseconds"), "")
            condition = KeyCondition("PK").eq(first["PK"]) & KeyCondition("SK").gte(first["SK"])
            yield from self.table.query_all(condition, newest_first=True)
            day -= timedelta(days=1)


def _count_article(brought: _Brought, word: Mapping[str, Any]) -> None:
    brought.articles += 1
    published, fetched = word.get("published_at"), word.get("crawl_timestamp")
    if published and fetched:
        age = (parse_iso(fetched) - parse_iso(published)).total_seconds()
        # A source may date an article later than now.
        brought.ages.append(max(0.0, age))


def _row(state: Mapping[str, Any], brought: _Brought) -> dict[str, Any]:
    slowest = max(brought.durations, default=None)
    return {
        "source_id": state["source_id"],
        "kind": state["kind"],
        "health": health_of(state),
        "articles": brought.articles,
        "mean_age_seconds": _mean(brought.ages),
        "fetches": len(brought.durations),
        "errors": brought.errors,
        "mean_fetch_ms": _mean(brought.durations),
        "slowest_fetch_ms": slowest,
        "slow": slowest is not None and slowest > SLOW * 1000,
    }


def _mean(values: list[float] | list[int]) -> int | None:
    return round(sum(values) / len(values)) if values else None


def _batch(item: Mapping[str, Any]) -> dict[str, Any]:
    metrics = item["metrics"]
    return {
        "batch_id": item["batch_id"],
        "started_at": item["started_at"],
        "completed_at": item["completed_at"],
        "sources": len(item["sources_queried"]),
        "articles_fetched": sum(metrics["articles_fetched"].values()),
        "articles_stored": metrics["articles_stored"],
        "collisions_detected": metrics["collisions_detected"],
        "collision_rate": metrics["collision_rate"],
        "duration_ms": metrics["duration_ms"],
        "errors": item["errors"],
    }
