"""The record of one ingestion run: sources, stored articles, and how often sources reported the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sourcebook.clock import epoch_seconds, isoformat
from sourcebook.records.batch import CollisionMetrics, IngestionBatch
from sourcebook.sources.poll import Poll, PollVerdict, RoundReport
from sourcebook.table import keys

_KEPT: Final = timedelta(days=90)
_ERRORS_KEPT: Final = 50


@dataclass(frozen=True, slots=True)
class Run:
    """One invocation that polled sources."""

    batch_id: str
    invocation_id: str
    started: datetime
    completed: datetime


def collision_rate(polls: Iterable[Poll]) -> float | None:
    """Return the share of fetched articles that another source had reported already; None if none."""
    totals: Counter[str] = Counter()
    for poll in polls:
        totals["fetched"] += poll.result.fresh
        totals["merged"] += poll.result.merged
    return round(totals["merged"] / totals["fetched"], 4) if totals["fetched"] else None


def ingestion_batch(report: RoundReport, run: Run) -> IngestionBatch | None:
    """Return the record of a run, or None if nothing changed and nothing failed.

    A run over unchanged sources leaves no record: it costs one write for each of them and no more.
    """
    polls = [poll for poll in report.polls if poll.result.verdict is not PollVerdict.UNCHANGED]
    if not polls and not report.failures:
        return None
    fetched: Counter[str] = Counter()
    for poll in polls:
        fetched[poll.source_id] += poll.result.fresh
    errors = [f"{source_id}: {type(error).__name__}: {error}" for source_id, error in report.failures]
    for poll in polls:
        if poll.result.message:
            errors.append(f"{poll.source_id}: {poll.result.message}")
        errors += [f"{r.source_id} {r.article_id[:100]}: {r.reason}" for r in poll.result.rejected]
    if len(errors) > _ERRORS_KEPT:
        more = f"and {len(errors) - _ERRORS_KEPT} more: see the log of invocation {run.invocation_id}"
        errors = [*errors[:_ERRORS_KEPT], more]
    return IngestionBatch(
        batch_id=run.batch_id,
        started_at=isoformat(run.started, "milliseconds"),
        completed_at=isoformat(run.completed, "milliseconds"),
        tickers_processed=tuple(sorted({ticker for poll in polls for ticker in poll.result.tickers})),
        sources_queried=tuple(sorted(poll.source_id for poll in report.polls)),
        metrics=CollisionMetrics(
            invocation_id=run.invocation_id,
            timestamp=isoformat(run.started, "milliseconds"),
            articles_fetched={source: n for source, n in sorted(fetched.items()) if n},
            # What brings no entries brings no articles: a page of figures counts its observations as created.
            articles_stored=sum(poll.result.created for poll in polls if poll.result.fresh),
            collisions_detected=sum(poll.result.merged for poll in polls),
            collision_rate=collision_rate(polls) or 0.0,
            duration_ms=round((run.completed - run.started).total_seconds() * 1000),
        ),
        errors=tuple(error[:300] for error in errors),
        ttl_timestamp=epoch_seconds(run.completed + _KEPT),
    )


def batch_key(batch: IngestionBatch) -> keys.Key:
    """Return the key of the record of a run."""
    return keys.ingestion_batch(batch.started_at[:10], batch.started_at, batch.batch_id)
