from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from aws_lambda_powertools import Logger, Metrics

from sourcebook.feeds.model import ParsedFeed
from sourcebook.feeds.parse import parse_feed
from sourcebook.feeds.sampling import Agreement, ParserSample, report_agreement
from tests.unit.feeds.documents import URL, rss

ITEMS = [
    f"<title>Pier {n} &amp;amp; more</title><link>https://news.example/{n}</link><guid>n-{n}</guid>"
    "<pubDate>Fri, 27 Nov 2026 21:56:00 GMT</pubDate>"
    for n in range(3)
]
BODY = rss(*ITEMS)


def reader(body: bytes) -> Callable[[], ParsedFeed]:
    return partial(parse_feed, body, url=URL, mode="reference")


def agreement(read_by_us: bytes, read_by_feedparser: bytes) -> Agreement:
    """Compare as if the two parsers had read different things in one document."""
    sample = ParserSample(percent=100)
    sample.offer("harbor", parse_feed(read_by_us, url=URL), len(BODY), reader(read_by_feedparser))
    [found] = sample.compare()
    return found


def test_a_document_that_both_read_alike_agrees() -> None:
    assert agreement(BODY, BODY) == Agreement("harbor", entries=3, disagreeing=0)


@pytest.mark.parametrize(
    ("given", "changed", "field"),
    [
        ("Pier 1 ", "Quay 1 ", "title"),
        ("https://news.example/1<", "https://news.example/x<", "link"),
        ("<guid>n-1<", "<guid>x<", "id"),
        ("21:56:00 GMT</pubDate></item></channel>", "22:56:00 GMT</pubDate></item></channel>", "time"),
    ],
)
def test_a_field_that_differs_is_named(given: str, changed: str, field: str) -> None:
    other = BODY.decode().replace(given, changed).encode()
    assert other != BODY
    assert agreement(BODY, other) == Agreement("harbor", 3, 1, {field: 1})


def test_entries_that_one_of_them_lacks_are_counted_and_the_others_compared() -> None:
    assert agreement(BODY, rss(*ITEMS[1:])) == Agreement("harbor", 3, 1, {"entry": 1})
    assert agreement(rss(*ITEMS[:1]), BODY) == Agreement("harbor", 3, 2, {"entry": 2})


def test_what_feedparser_cannot_read_is_a_disagreement_and_harms_nothing() -> None:
    found = agreement(BODY, b"<html>no feed</html>")
    assert (found.entries, found.disagreeing, found.by_field) == (3, 3, {"entry": 3})
    assert found.reason.startswith("NotAFeed: ")


def broken() -> ParsedFeed:
    raise RecursionError("too deep")


def test_a_failure_of_feedparser_itself_is_reported_and_not_raised() -> None:
    sample = ParserSample(percent=100)
    sample.offer("harbor", parse_feed(BODY, url=URL), 1, broken)
    [found] = sample.compare()
    assert found.reason == "RecursionError: too deep"


def test_only_the_wanted_share_is_read_again() -> None:
    drawn = iter([0.5, 0.0099, 0.01, 0.3])
    sample = ParserSample(percent=1, random=lambda: next(drawn), most=10)
    feed = parse_feed(BODY, url=URL)
    for n in range(4):
        sample.offer(f"feed-{n}", feed, len(BODY), reader(BODY))
    assert [found.source_id for found in sample.compare()] == ["feed-1"]
    assert sample.compare() == []


def test_a_round_reads_one_document_again_at_most_and_none_that_is_large() -> None:
    sample = ParserSample(percent=100)
    feed = parse_feed(BODY, url=URL)
    sample.offer("large", feed, 1_000_001, reader(BODY))
    sample.offer("first", feed, 1_000_000, reader(BODY))
    sample.offer("second", feed, 1, reader(BODY))
    assert [found.source_id for found in sample.compare()] == ["first"]


def test_what_feedparser_has_read_already_is_not_compared_with_itself() -> None:
    sample = ParserSample(percent=100)
    sample.offer("harbor", parse_feed(BODY, url=URL, mode="reference"), 1, reader(BODY))
    assert sample.compare() == []


def test_none_is_read_again_when_the_sample_is_switched_off() -> None:
    sample = ParserSample(percent=0, random=lambda: 0.0)
    sample.offer("harbor", parse_feed(BODY, url=URL), 1, reader(BODY))
    assert sample.compare() == []


def counted(agreements: list[Agreement], capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    metrics = Metrics(namespace="Sourcebook", service="fetch_sources")
    report_agreement(agreements, Logger(service="fetch_sources"), metrics)
    if agreements:
        metrics.flush_metrics()
    return [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"_aws"' in line]


def test_a_sample_is_counted_and_a_disagreement_logged(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    [line] = counted([Agreement("one", 20, 0), Agreement("two", 10, 2, {"link": 2})], capsys)
    assert {name: line[name] for name in line if name.startswith("Parser")} == {
        "ParserDocumentsSampled": [2.0],
        "ParserDocumentsDisagreed": [1.0],
        "ParserEntriesSampled": [30.0],
        "ParserEntriesDisagreed": [2.0],
    }
    [logged] = [vars(record) for record in caplog.records if record.message == "parsers_disagree"]
    assert (logged["source_id"], logged["disagreeing"], logged["by_field"]) == ("two", 2, {"link": 2})


def test_a_round_without_a_sample_writes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert counted([], capsys) == []
