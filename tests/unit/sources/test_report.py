"""What a round leaves in the metrics and in the log."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from aws_lambda_powertools import Logger, Metrics

from sourcebook.sources.poll import Poll, PollResult, PollVerdict, Rejected, RoundReport
from sourcebook.sources.report import log_round, measure_process, measure_round
from tests.polled import polled


def poll(source_id: str, kind: str, *, fresh: int, created: int, merged: int) -> Poll:
    result = PollResult(PollVerdict.CHANGED, "ok", fresh=fresh, created=created, merged=merged)
    return polled(source_id, result, kind=kind)


def written(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"_aws"' in line]


@pytest.fixture(autouse=True)
def _of_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Sourcebook")
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "fetch_sources")


def test_fetched_and_merged_are_counted_over_all_sources_and_for_each(
    capsys: pytest.CaptureFixture[str],
) -> None:
    polls = [
        poll("tiingo", "tiingo", fresh=40, created=30, merged=10),
        poll("one", "feed", fresh=30, created=20, merged=10),
        poll("two", "feed", fresh=30, created=20, merged=10),
    ]
    metrics = Metrics()
    measure_round(RoundReport(polls, [], [], []), metrics)
    metrics.flush_metrics()
    found = {line.get("source"): line for line in written(capsys)}
    total = found.pop(None)
    assert (total["ArticlesFetched"], total["ArticlesMerged"]) == ([100.0], [30.0])
    assert total["_aws"]["CloudWatchMetrics"][0]["Dimensions"] == [["service"]]
    assert total["service"] == "fetch_sources"
    assert {source: line["CollisionRate"] for source, line in found.items()} == {
        "tiingo": [25.0],
        "feed": [pytest.approx(100 / 3)],
    }


def feed(source_id: str, verdict: PollVerdict, minutes: float | None = None, **found: Any) -> Poll:
    interval = timedelta(minutes=minutes) if minutes else None
    result = PollResult(verdict, "some cause", **found)
    return polled(source_id, result, duration_ms=400, interval=interval)


ROUND = RoundReport(
    [
        feed(
            "one",
            PollVerdict.CHANGED,
            5,
            fetch_seconds=0.25,
            entries=20,
            fresh=5,
            created=3,
            merged=2,
            state={"rate": 60.0},
            rejected=(Rejected("one", "entry 3", "it has neither a title nor a text"),),
            dropped={"over_the_limit": 6},
        ),
        feed("two", PollVerdict.UNCHANGED, 15, fetch_seconds=6.5, entries=10, state={"rate": 0.5}),
        feed("three", PollVerdict.FAILED, message="it did not answer", fetch_seconds=10.01),
        feed("five", PollVerdict.BROKEN, message="reading it failed"),
        feed("four", PollVerdict.DEFERRED),
        poll("tiingo", "tiingo", fresh=40, created=30, merged=10),
    ],
    [],
    [],
    [],
)


def test_feeds_are_measured_together_under_the_names_of_the_design(
    capsys: pytest.CaptureFixture[str],
) -> None:
    metrics = Metrics()
    measure_round(ROUND, metrics)
    measure_process(metrics, connections=32)
    metrics.flush_metrics()
    [line] = [line for line in written(capsys) if "source" not in line]
    assert {name: line[name] for name in line if "_" in name and name != "_aws"} == {
        "feed_fetch_duration_seconds": [0.25, 6.5, 10.01, 0.4],
        "articles_parsed_total": [30.0],
        "articles_deduplicated_total": [27.0],
        "articles_inserted_total": [3.0],
        "articles_rejected_total": [7.0],
        "feed_fetch_errors_total": [2.0],
        "feed_velocity_articles_per_hour": [60.0, 0.5],
        "average_refresh_interval_seconds": [300.0, 900.0],
        "memory_usage_bytes": [pytest.approx(line["memory_usage_bytes"][0])],
        "database_connection_pool_size": [32.0],
    }
    assert 10e6 < line["memory_usage_bytes"][0] < 10e9
    [directive] = line["_aws"]["CloudWatchMetrics"]
    assert directive["Dimensions"] == [["service"]]
    units = {metric["Name"]: metric["Unit"] for metric in directive["Metrics"]}
    assert units["feed_fetch_duration_seconds"] == units["average_refresh_interval_seconds"] == "Seconds"
    assert units["memory_usage_bytes"] == "Bytes"


def test_a_round_without_feeds_measures_none(capsys: pytest.CaptureFixture[str]) -> None:
    metrics = Metrics()
    measure_round(RoundReport([ROUND.polls[-1]], [], [], []), metrics)
    metrics.flush_metrics()
    assert not any("feed_fetch_duration_seconds" in line for line in written(capsys))


def test_the_log_has_the_pace_of_each_feed_and_warns_of_slow_ones(caplog: pytest.LogCaptureFixture) -> None:
    log_round(ROUND, Logger(service="fetch_sources", level="INFO"))
    lines = [vars(record) for record in caplog.records]
    fetched = {line["source_id"]: line for line in lines if line["message"] == "source_fetched"}
    assert fetched["one"]["velocity_articles_per_hour"] == 60.0
    assert fetched["one"]["refresh_interval_seconds"] == 300
    assert "velocity_articles_per_hour" not in fetched["tiingo"]
    slow = [line for line in lines if line["message"] == "slow_fetch_detected"]
    assert [(line["source_id"], line["duration_ms"], line["threshold_ms"]) for line in slow] == [
        ("two", 6500, 5000),
        ("three", 10010, 5000),
    ]
    assert fetched["one"]["avg_articles_per_fetch"] == 2.5
    assert "avg_articles_per_fetch" not in fetched["tiingo"]
