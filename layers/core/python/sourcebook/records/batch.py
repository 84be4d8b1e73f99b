"""A run of ingestion: what it asked, what it stored, how often sources reported the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from sourcebook.records.base import Count, EpochSeconds, Place, Record, Time, View
from sourcebook.table import keys


@dataclass(frozen=True, slots=True, kw_only=True)
class CollisionMetrics(Record):
    """How effective deduplication was in one run."""

    invocation_id: Annotated[str, "Request id of the function's invocation."]
    timestamp: Annotated[Time, "When it started."]
    articles_fetched: Annotated[
        Mapping[str, int],
        "Articles that were not seen before, by source; what is repeated poll after poll is not counted.",
    ]
    articles_stored: Annotated[Count, "Articles that no source had reported before."]
    collisions_detected: Annotated[Count, "Articles that another source had reported already."]
    collision_rate: Annotated[float, "collisions_detected / all articles fetched, 0 to 1."]
    duration_ms: Annotated[Count, "From start to end."]


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestionBatch(Record):
    """One run of ingestion."""

    PLACE: ClassVar = Place(keys.ingestion_batch, "fetch, if something changed or failed; 90 days")

    batch_id: Annotated[str, "Its id."]
    started_at: Annotated[Time, "When it started."]
    completed_at: Annotated[Time, "When it ended."]
    tickers_processed: Annotated[tuple[str, ...], "Tickers that were asked for."]
    sources_queried: Annotated[tuple[str, ...], "Ids of its sources."]
    metrics: Annotated[CollisionMetrics, "How effective deduplication was."]
    errors: Annotated[tuple[str, ...], "Sources that failed and articles that were refused, and why."]
    ttl_timestamp: Annotated[EpochSeconds, "When it expires."]

    def shown(self) -> View:
        """Return what the API shows of it in a list."""
        metrics = self.metrics
        return {
            "batch_id": self.batch_id,
            "started_at": self.started_at,
            "completed_at": self.completed_at,
            "sources": len(self.sources_queried),
            "articles_fetched": sum(metrics.articles_fetched.values()),
            "articles_stored": metrics.articles_stored,
            "collisions_detected": metrics.collisions_detected,
            "collision_rate": metrics.collision_rate,
            "duration_ms": metrics.duration_ms,
            "errors": list(self.errors),
        }
