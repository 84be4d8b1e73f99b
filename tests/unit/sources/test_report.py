"""What a round leaves in the log and the metrics, through the real logger."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from aws_lambda_powertools import Logger, Metrics

from sourcebook.errors import InvalidInput
from sourcebook.sources.poll import PollReport, PollResult, Rejected, RoundReport, Verdict
from sourcebook.sources.report import failed_records, log_round, measure_round


def poll(source: str, kind: str = "feed", **result: Any) -> PollReport:
    verdict = Verdict.FAILED if result.get("message") else Verdict.CHANGED
    return PollReport(source, kind, PollResult(verdict, result.pop("cause", "ok"), **result), 12, True)


BAD = Rejected("meridian", "7", "url: bad")
REPORT = RoundReport(
    [
        poll("harbor", entries=20, fresh=10, created=8, merged=2),
        poll(
            "meridian",
            entries=10,
            fresh=10,
            created=5,
            merged=5,
            rejected=(Rejected("meridian", "7", "url: bad"),),
        ),
        poll("tiingo", "tiingo", entries=50, fresh=4, created=3, merged=1),
        poll("down", cause="timeout", message="timeout: no answer"),
    ],
    ["gone-on"],
    ["later"],
    [("broken", RuntimeError("out of paper"))],
)


@pytest.fixture
def logged(request: pytest.FixtureRequest) -> tuple[Logger, io.StringIO]:
    stream = io.StringIO()
    # Loggers of one name share their stream, so each test has a name of its own.
    return Logger(service=request.node.name, stream=stream), stream


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_every_source_and_the_round_have_a_line(logged: tuple[Logger, io.StringIO]) -> None:
    logger, stream = logged
    log_round(REPORT, logger)
    by_message: dict[str, list[dict[str, Any]]] = {}
    for line in lines(stream):
        by_message.setdefault(line["message"], []).append(line)
    assert [line["source_id"] for line in by_message["source_fetched"]] == ["harbor", "meridian", "tiingo"]
    assert by_message["source_fetched"][0]["articles_created"] == 8
    assert by_message["source_failed"][0]["reason"] == "timeout: no answer"
    assert by_message["entry_rejected"][0]["reason"] == "url: bad"
    assert by_message["poll_failed"][0]["reason"] == "RuntimeError: out of paper"
    assert (
        by_message["round_finished"][0] | {"polled": 4, "moved_on": 1, "postponed": 1, "failed": 1}
        == (by_message["round_finished"][0])
    )


def test_feeds_are_counted_together_and_each_news_api_by_itself(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Sourcebook")
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "fetch_sources")
    measure_round(REPORT, Metrics(namespace="Sourcebook", service="fetch_sources"))
    blobs = {}
    for line in capsys.readouterr().out.splitlines():
        blob = json.loads(line)
        blobs[blob.get("source")] = blob
    assert blobs["feed"]["ArticlesFetched"] == [20]
    assert blobs["feed"]["CollisionRate"] == [35]
    assert blobs["tiingo"]["ArticlesStored"] == [3]
    assert blobs["tiingo"]["CollisionRate"] == [25]
    assert "harbor" not in blobs


def test_a_message_that_cannot_be_read_is_reported_as_failed(logged: tuple[Logger, io.StringIO]) -> None:
    logger, stream = logged
    failed: list[str] = []
    with failed_records("message-1", failed, logger):
        raise InvalidInput("sources", None, "a list")
    assert failed == ["message-1"]
    assert lines(stream)[0]["reason"].startswith("sources: None is not valid")
