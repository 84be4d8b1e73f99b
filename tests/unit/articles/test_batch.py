from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from sourcebook.articles.batch import Run, batch_key, ingestion_batch
from sourcebook.sources.poll import Poll, PollResult, PollVerdict, Rejected, RoundReport
from sourcebook.table import keys
from tests.polled import polled

NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)
RUN = Run("batch-1", "request-1", NOON, NOON + timedelta(seconds=2.5))


def poll(source: str, verdict: PollVerdict = PollVerdict.CHANGED, **result: Any) -> Poll:
    return polled(source, PollResult(verdict, "ok", **result), kind=source)


def test_a_run_is_recorded_with_how_often_sources_reported_the_same() -> None:
    report = RoundReport(
        [
            poll("tiingo", fresh=50, created=45, merged=5, tickers=("MSFT", "AAPL")),
            poll(
                "finnhub", fresh=50, created=30, merged=15, rejected=(Rejected("finnhub", "7", "url: bad"),)
            ),
            poll("quiet", PollVerdict.UNCHANGED),
        ],
        [],
        [],
        [("broken", RuntimeError("out of paper"))],
    )
    batch = ingestion_batch(report, RUN)
    assert batch is not None
    assert batch.tickers_processed == ("AAPL", "MSFT")
    assert batch.sources_queried == ("finnhub", "quiet", "tiingo")
    assert batch.metrics.articles_fetched == {"finnhub": 50, "tiingo": 50}
    assert (batch.metrics.articles_stored, batch.metrics.collisions_detected) == (75, 20)
    assert batch.metrics.collision_rate == 0.2
    assert batch.metrics.duration_ms == 2500
    assert batch.errors == ("broken: RuntimeError: out of paper", "finnhub 7: url: bad")
    item = batch.to_item(batch_key(batch))
    assert item["PK"] == "WORKFLOW#ingest_articles#2026-11-27"
    assert item["SK"] == f"{keys.JOB_RUN_PREFIX}ingest_articles#2026-11-27T12:00:00.000Z#batch-1"


def test_a_run_over_unchanged_sources_leaves_no_record() -> None:
    assert ingestion_batch(RoundReport([poll("quiet", PollVerdict.UNCHANGED)], [], [], []), RUN) is None


def test_many_errors_are_cut_with_a_word_on_where_the_rest_is() -> None:
    rejected = tuple(Rejected("tiingo", str(n), "url: bad") for n in range(80))
    batch = ingestion_batch(RoundReport([poll("tiingo", fresh=80, rejected=rejected)], [], [], []), RUN)
    assert batch is not None
    assert len(batch.errors) == 51
    assert batch.errors[-1] == "and 30 more: see the log of invocation request-1"
