"""What a round leaves in the metrics: what the alarm on the collision rate watches."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aws_lambda_powertools import Metrics

from sourcebook.sources.poll import PollReport, PollResult, RoundReport, Verdict
from sourcebook.sources.report import measure_round


def poll(source_id: str, kind: str, *, fresh: int, created: int, merged: int) -> PollReport:
    result = PollResult(Verdict.CHANGED, "ok", fresh=fresh, created=created, merged=merged)
    return PollReport(source_id, kind, result, duration_ms=1, committed=True)


def written(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"_aws"' in line]


def test_fetched_and_merged_are_counted_over_all_sources_and_for_each(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Sourcebook")
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "fetch_sources")
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
