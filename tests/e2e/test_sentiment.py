"""What is felt about subjects, on the deployed stack with IAM and TLS on."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from boto3.dynamodb.conditions import Key

from sourcebook.clock import isoformat, utc_now
from sourcebook.records.subject import Subject
from sourcebook.sentiment.subjects import SubjectRegistry
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook_local.folder import feeds_in, start_server, stop_servers
from tests.e2e.sources import fetch, keys_by_status, register
from tests.e2e.stack import invoke, wait_until

if TYPE_CHECKING:
    from tests.e2e.stack import Stack

TOOL, COMPANY = "quartzon", "MRBL"
SUBJECTS = (
    Subject(TOOL, "Quartzon", "tool", aliases=("Quartzon Studio",)),
    Subject(COMPANY, "Marbleton", "company", ticker="MRBL"),
)
STORIES = (
    ("Quartzon delights developers with a wonderful release", 0.2),
    ("Hackers steal passwords in terrible Quartzon breach", 3),
    ("Quartzon Studio moves its office to another street", 30),
    ("Marbleton sued over fraud and shares crash", 100),
    ("Marbleton and Quartzon celebrate a great partnership", 500),
)
REFRESH = "SourcebookPipeline-refresh_sentiment"


@pytest.fixture(scope="module")
def table(stack: Stack) -> Table:
    return Table(stack.outputs.table_name, stack.session.client("dynamodb"))


@pytest.fixture(scope="module", autouse=True)
def analyzed_articles(stack: Stack, table: Table, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Stories of the last weeks about two subjects, fetched and analyzed."""
    SubjectRegistry(table).register(SUBJECTS)
    home = tmp_path_factory.mktemp("servers")
    folder = tmp_path_factory.mktemp("subjects")
    write_feed(folder, utc_now())
    server = start_server(home, folder)
    fetch(stack, register(stack, [spec for _, spec in feeds_in(folder, server.url)[0]]))
    yield
    stop_servers(home)


def write_feed(folder: Path, now: datetime) -> None:
    items = "".join(
        f"<item><title>{title}</title><link>https://subjects.example/{n}</link><guid>subjects-{n}</guid>"
        f"<pubDate>{now - timedelta(hours=hours):%a, %d %b %Y %H:%M:%S} GMT</pubDate></item>"
        for n, (title, hours) in enumerate(STORIES)
    )
    (folder / "subjects.rss").write_text(
        '<rss version="2.0"><channel><title>Subjects</title><link>https://subjects.example/</link>'
        f"<description>Written for a test</description>{items}</channel></rss>"
    )


def get(stack: Stack, path: str, status: int = 200, **params: str | int) -> Any:
    answer = stack.api.get(f"/api/v1{path}", params=params or None)
    assert answer.status_code == status, answer.text
    return answer.json()


def mentions(table: Table, tool_id: str) -> list[dict[str, Any]]:
    return list(table.query_all(Key("tag").eq(tool_id), index=keys.TAG_INDEX))


def check(table: Table, answer: dict[str, Any]) -> None:
    """The answer equals a count over each single mention of its window."""
    first, last = (
        f"{datetime.fromtimestamp(answer[name], UTC):%Y-%m-%dT%H:%M:%SZ}"
        for name in ("period_start_ts", "period_end_ts")
    )
    within = [m for m in mentions(table, answer["tool_id"]) if first <= m["timestamp"] < last]
    assert answer["total_mentions"] == len(within)
    for label in ("positive", "negative", "neutral"):
        assert answer[f"{label}_count"] == sum(m["label"] == label for m in within)
    mean = sum(m["polarity"] for m in within) / len(within) if within else 0.0
    assert answer["average_sentiment"] == pytest.approx(mean, abs=1e-5)


def test_subjects_are_listed(stack: Stack) -> None:
    items: list[dict[str, Any]] = []
    cursor: dict[str, Any] = {}
    while True:
        page = get(stack, "/tools", 200, limit=100, **cursor)
        items += page["items"]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert {TOOL, COMPANY} <= {item["tool_id"] for item in items}


def test_a_period_is_computed_once_and_then_read_from_the_cache(stack: Stack, table: Table) -> None:
    for hours, total in ((1, 1), (24, 2), (168, 3), (720, 4)):
        key = keys.cache_entry(TOOL, {1: "HOUR_1", 24: "HOUR_24", 168: "DAY_7", 720: "DAY_30"}[hours])
        table.delete(key)
        missed = get(stack, f"/tools/{TOOL}/sentiment", hours=hours)
        assert (missed["is_cached"], missed["total_mentions"]) == (False, total)
        check(table, missed)
        hit = get(stack, f"/tools/{TOOL}/sentiment", hours=hours)
        assert (hit["is_cached"], hit["is_stale"]) == (True, False)
        assert hit == missed | {"is_cached": True}
        read = stack.session.client("dynamodb").get_item(
            TableName=table.name,
            Key={name: {"S": value} for name, value in key.items()},
            ReturnConsumedCapacity="TOTAL",
        )
        assert read["ConsumedCapacity"]["CapacityUnits"] <= 0.5
    other = get(stack, f"/tools/{TOOL}/sentiment", hours=31)
    assert (other["is_cached"], other["cached_at"], other["total_mentions"]) == (False, None, 3)
    check(table, other)


def test_refreshing_fills_the_cache_and_records_it(stack: Stack, table: Table) -> None:
    counts = invoke(stack.session, REFRESH, {})
    assert counts["failed"] == counts["left"] == 0
    for tool_id in (TOOL, COMPANY):
        for hours in (1, 24, 168, 720):
            answer = get(stack, f"/tools/{tool_id}/sentiment", hours=hours)
            assert answer["is_cached"]
            check(table, answer)
    health = get(stack, "/cache/health")
    assert health["status"] == "healthy"
    assert {TOOL, COMPANY} <= set(health["tools_refreshed"])
    assert health["total_entries"] == 4 * counts["refreshed"]
    assert health["cache_hits_24h"] >= 8
    assert 0 < health["cache_hit_rate"] <= 1
    # Nothing is dirty any more, or counted twice if it is.
    again = invoke(stack.session, REFRESH, {"tool_ids": [TOOL]})
    assert again["refreshed"] == 1
    check(table, get(stack, f"/tools/{TOOL}/sentiment", hours=720))


def test_repeated_and_concurrent_deliveries_change_no_count(stack: Stack, table: Table) -> None:
    before = sorted(mentions(table, TOOL), key=lambda m: m["PK"])
    sns = stack.session.client("sns")

    def deliver(mention: dict[str, Any]) -> None:
        message = {
            "schema_version": "1",
            "correlation_id": "again",
            "dedup_key": mention["PK"].removeprefix("dedup:"),
        }
        sns.publish(TopicArn=stack.outputs.article_topic_arn, Message=json.dumps(message))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(deliver, before * 4))
    queue = stack.outputs.analyze_queue_url

    def drained() -> bool:
        found = stack.session.client("sqs").get_queue_attributes(
            QueueUrl=queue,
            AttributeNames=["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"],
        )
        return set(found["Attributes"].values()) == {"0"}

    wait_until(drained, 60, "the queue of articles to be empty", interval=0.5)
    assert sorted(mentions(table, TOOL), key=lambda m: m["PK"]) == before
    invoke(stack.session, REFRESH, {"tool_ids": [TOOL]})
    check(table, get(stack, f"/tools/{TOOL}/sentiment", hours=720))


def test_a_series_has_every_bucket(stack: Stack) -> None:
    hourly = get(stack, f"/tools/{TOOL}/sentiment/series", hours=24, bucket="hour")["items"]
    assert len(hourly) == 25
    assert sum(item["total_mentions"] for item in hourly) == 2
    daily = get(stack, f"/tools/{TOOL}/sentiment/series", hours=720, bucket="day")["items"]
    assert len(daily) == 31
    assert sum(item["total_mentions"] for item in daily) == 4


def test_reanalysis_judges_every_article_anew_and_forgets_the_cache(stack: Stack, table: Table) -> None:
    get(stack, f"/tools/{TOOL}/sentiment", hours=720)
    before = {m["PK"]: m["label"] for m in mentions(table, TOOL)}
    stories = {f"dedup:{m['PK'].removeprefix('dedup:')}" for m in mentions(table, TOOL)}
    output = stack.run_state_machine("reanalyze_subject", {"tool_id": TOOL}, timeout=120)
    counts = {"tool_id": TOOL, "analyzed": len(stories), "failed": 0}
    assert counts.items() <= output.items()
    run = stack.api.get(f"/job-runs/{output['job_run_id']}").json()
    assert (run["status"], run["outcome"], run["result"]) == ("SUCCEEDED", "REANALYZED", counts)
    tasks = Counter(attempt["task_name"] for attempt in run["attempts"])
    assert tasks == {"Forget what is cached": 1, "Analyze a part of the day": 31, "Forget what was cached": 1}
    assert {attempt["status"] for attempt in run["attempts"]} == {"SUCCEEDED"}
    assert not [key for key in keys_by_status(stack, "pending") if key in stories]
    assert {m["PK"]: m["label"] for m in mentions(table, TOOL)} == before
    answer = get(stack, f"/tools/{TOOL}/sentiment", hours=720)
    assert answer["is_cached"] is False
    check(table, answer)


def test_a_new_name_is_found_in_the_articles_that_are_there(stack: Stack, table: Table) -> None:
    tool_id = f"streets-{uuid.uuid4().hex[:6]}"
    SubjectRegistry(table).register([Subject(tool_id, "another street")])
    assert not mentions(table, tool_id)
    # The story is 30 hours old. The state machine would do this for every day, so for every article here.
    part = {"tool_id": tool_id, "scope": "all", "days_ago": 1, "started_at": isoformat(utc_now())}
    output = invoke(stack.session, "SourcebookPipeline-reanalyze_articles", part)
    assert (output["failed"], output["done"]) == (0, True)
    assert len(mentions(table, tool_id)) == 1


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"/tools/{TOOL}/sentiment?hours=0", 400),
        (f"/tools/{TOOL}/sentiment?hours=721", 400),
        (f"/tools/{TOOL}/sentiment?days=1", 400),
        (f"/tools/{TOOL}/sentiment/series?bucket=week", 400),
        ("/tools/nobody/sentiment", 404),
        ("/tools/nobody/sentiment?hours=5", 404),
        ("/tools/nobody/sentiment/series", 404),
        (f"/tools/{'x' * 3000}/sentiment", 404),
        ("/tools?cursor=xyz", 400),
    ],
)
def test_bad_input_and_unknown_subjects_are_distinguished(stack: Stack, path: str, status: int) -> None:
    get(stack, path, status)


@pytest.mark.parametrize(
    "payload", [{}, {"tool_id": ""}, {"tool_id": TOOL, "scop": "all"}, {"tool_id": "nobody"}]
)
def test_a_reanalysis_of_nothing_known_is_refused(stack: Stack, payload: dict[str, str]) -> None:
    with pytest.raises(AssertionError, match="InvalidInput"):
        stack.run_state_machine("reanalyze_subject", payload, timeout=60)
