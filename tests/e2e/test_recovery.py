"""What an operator does after a bad day, as docs/operations.md tells it: each course, run to its end.

In a cloud of its own, because it is paused, stopped, and its table damaged.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from boto3.dynamodb.conditions import Key
from click.testing import CliRunner

from sourcebook.clock import parse_iso, utc_now
from sourcebook.records.subject import Subject
from sourcebook.sentiment.subjects import SubjectRegistry
from sourcebook.table import keys
from sourcebook.table.client import Table, aws_config
from sourcebook.table.codec import decode_item
from sourcebook_cli import stack as command_line
from sourcebook_cli.main import main
from sourcebook_cli.redrive import dead_letter_queues
from sourcebook_local.deploy import deploy
from sourcebook_local.folder import feeds_in, start_server
from sourcebook_local.project import HOME
from sourcebook_local.samples import sample_sources
from sourcebook_local.samples_observations import sample_observation_sources
from tests.e2e.conftest import deployed_apart
from tests.e2e.sources import (
    articles_of,
    everything,
    fetch,
    group_now,
    keys_by_status,
    register,
    registry,
    statuses,
    write_feeds,
)
from tests.e2e.stack import wait_until

if TYPE_CHECKING:
    from sourcebook.records.source import Source
    from sourcebook_local.cloud import LocalCloud
    from tests.e2e.stack import Stack

Items = dict[tuple[str, str], dict[str, Any]]
SUBJECT = Subject("ORBQ", "Orbita", "company")
SOON = "2"
"""Seconds after which a queue delivers again what failed; it has minutes."""


@pytest.fixture(scope="module")
def stack(new_cloud: Callable[[str], LocalCloud]) -> Iterator[Stack]:
    with deployed_apart(new_cloud, "recovery") as found:
        yield found


@pytest.fixture(scope="module")
def samples(stack: Stack, home: Path) -> dict[str, Source]:
    """A day's news and figures, fetched, analyzed and grouped."""
    SubjectRegistry(table_of(stack)).register([SUBJECT])
    url = start_server(home).url
    found = fetch(stack, register(stack, [*sample_sources(url), *sample_observation_sources(url)]))
    assert not any(source.consecutive_errors for source in found.values())
    group_now(stack)
    return found


@pytest.fixture
def sourcebook(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Run a command line on this stack, and return what it says; it must succeed unless told otherwise."""
    found = command_line.Stack(stack.session, command_line._outputs(stack.session))
    monkeypatch.setattr(command_line.Stack, "connect", lambda **_: found)

    def run(line: str, *, code: int = 0) -> str:
        result = CliRunner().invoke(main, line.split())
        assert result.exit_code == code, (line, result.output, result.exception)
        return result.output

    return run


def table_of(stack: Stack) -> Table:
    return Table(stack.outputs.table_name, stack.session.client("dynamodb", config=aws_config()))


def held(stack: Stack, queue: str) -> int:
    names: Any = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    found: Any = stack.session.client("sqs").get_queue_attributes(QueueUrl=queue, AttributeNames=names)
    return sum(int(found["Attributes"][name]) for name in names)


def differences(before: Items, after: Items) -> set[tuple[str, str]]:
    return {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}


def values(items: Items) -> Items:
    """Return items as values: the embedded cloud tells 1.0 from 1, as DynamoDB does not."""
    return {key: decode_item(item) for key, item in items.items()}


@contextmanager
def broken(stack: Stack, function: str) -> Iterator[None]:
    """Let a function work on a table that is not there, as a wrong deployment would."""
    client = stack.session.client("lambda")
    name = stack.function_name(function)
    before = client.get_function_configuration(FunctionName=name)["Environment"]["Variables"]

    def deployed(variables: dict[str, str]) -> None:
        client.update_function_configuration(FunctionName=name, Environment={"Variables": variables})
        stack.kill_function_workers(function)

    deployed({**before, "TABLE_NAME": "there-is-none"})
    try:
        yield
    finally:
        deployed(before)


def test_what_a_broken_function_has_left_dead_is_redriven_once_it_is_mended(
    stack: Stack, samples: dict[str, Source], sourcebook: Callable[..., str], home: Path, tmp_path: Path
) -> None:
    queues = dead_letter_queues(command_line._outputs(stack.session))
    dead, work = queues["analyze"]
    sqs = stack.session.client("sqs")
    usual: Any = sqs.get_queue_attributes(QueueUrl=work, AttributeNames=["VisibilityTimeout"])["Attributes"]
    write_feeds(tmp_path, feeds=1, entries=8, now=utc_now(), theme="redriven")
    url = start_server(home, tmp_path).url
    before = register(stack, [spec for _, spec in feeds_in(tmp_path, url)[0]])
    try:
        sqs.set_queue_attributes(QueueUrl=work, Attributes={"VisibilityTimeout": SOON})
        with broken(stack, "analyze_sentiment"):
            stack.invoke("dispatch_sources", {"source_ids": list(before)})
            wait_until(lambda: held(stack, dead) == 8, 240, "8 messages that failed too often", interval=1)
            assert statuses(articles_of(stack, before)) == {"pending"}
            # They came minutes ago, so whoever reads the table's stream lists them.
            stack.invoke("index_articles", {})
            listed = stack.api.get("/articles", params={"status": "pending", "limit": 100}).json()["items"]
            assert {one["dedup_key"] for one in listed} >= {
                one["dedup_key"]["S"] for one in articles_of(stack, before)
            }
    finally:
        sqs.set_queue_attributes(QueueUrl=work, Attributes=usual)

    assert "analyze: 8 messages sent back to work" in sourcebook("redrive analyze")
    wait_until(lambda: not keys_by_status(stack, "pending"), 60, "no article pending", interval=0.5)
    articles = articles_of(stack, before)
    assert len(articles) == 8
    assert statuses(articles) == {"analyzed"}
    group_now(stack)
    every = [queue for pair in queues.values() for queue in pair]
    wait_until(lambda: not any(held(stack, queue) for queue in every), 60, "queues without messages")


def test_a_days_ingestion_that_is_run_again_changes_nothing(
    stack: Stack, samples: dict[str, Source], sourcebook: Callable[..., str]
) -> None:
    """Every document is read anew, and every entry stored again, as though none of them were known."""
    group_now(stack)
    sourcebook("pause --timeout 120")
    before = everything(stack)
    table = table_of(stack)
    for source_id in samples:
        table.delete(keys.source_seen(source_id))
        unread = ("etag", "last_modified", "body_hash", "observed_day")
        table.change(keys.source(source_id), remove=unread)
    sourcebook("resume")
    again = fetch(stack, registry(stack).get_many(samples))
    assert {source.last_cause for source in again.values()} == {"ok"}
    assert {id_: s.last_entries for id_, s in again.items()} == {
        id_: s.last_entries for id_, s in samples.items()
    }
    sourcebook("pause --timeout 120")
    after = everything(stack)
    sourcebook("resume")

    changed = differences(values(before), values(after))
    # A source's own state and history, the record of the run, and what clocks bring up to date.
    told_anew = ("SOURCE#", "WORKFLOW#", "TOOL#", "CACHE#")
    changed = {key for key in changed if not key[0].startswith(told_anew)}
    # Of figures, how a source's last scrape went, how many were ever scraped, and when each was seen last.
    counted = {key for key in changed if key[0] == keys.OBSERVATIONS}
    assert {sort_key.partition("#")[0] for _, sort_key in counted} <= {"SCRAPE", "SEQUENCE"}
    figures = changed - counted
    assert figures <= before.keys() & after.keys()
    for key in figures:
        assert unseen(decode_item(after[key])) == unseen(decode_item(before[key]))
    assert {id_: s.created_total for id_, s in again.items()} == {
        id_: s.created_total for id_, s in samples.items()
    }


def unseen(value: Any) -> Any:
    """Return a figure, in the raw layer or the canonical one, without when it was seen last."""
    if not isinstance(value, dict):
        return value
    return {name: unseen(member) for name, member in value.items() if name != "last_seen_at"}


def objects(stack: Stack) -> dict[str, str]:
    pages = stack.session.client("s3").get_paginator("list_objects_v2")
    listed = pages.paginate(Bucket=stack.outputs.bucket_name)
    return {each["Key"]: each["ETag"] for page in listed for each in page.get("Contents", ())}


def schedules(stack: Stack) -> dict[str, tuple[str, str]]:
    rules = stack.session.client("events").list_rules()["Rules"]
    return {rule["Name"]: (rule.get("ScheduleExpression", ""), rule["State"]) for rule in rules}


def tick(stack: Stack) -> Any:
    found = table_of(stack).get(keys.DISPATCH_TICK, consistent=True)
    return parse_iso(found["ticked_at"]) if found else None


def test_everything_is_there_after_down_and_up(
    stack: Stack, samples: dict[str, Source], sourcebook: Callable[..., str]
) -> None:
    cloud = stack.cloud
    sourcebook("pause --timeout 120")
    before = everything(stack), objects(stack), schedules(stack)
    assert before[1]
    assert any(state == "DISABLED" for _, state in before[2].values())

    assert cloud.stop(), "it had to be killed"
    assert not cloud.running()
    cloud.start()
    again = deploy(cloud, assembly=HOME / "assembly")
    assert not again.deployed, "nothing has changed, so there is nothing to deploy"
    assert again.outputs == stack.outputs

    assert (everything(stack), objects(stack), schedules(stack)) == before
    sourcebook("resume")
    assert {state for _, state in schedules(stack).values()} == {"ENABLED"}
    started = utc_now()
    found = stack.run_state_machine("refresh_sources", {"source_ids": list(samples)})
    assert found["due"] == len(samples)
    answer = stack.api.get("/articles", params={"limit": 5})
    assert len(answer.json()["items"]) == 5
    wait_until(lambda: (last := tick(stack)) and last > started, 150, "a schedule to run", interval=1)


@dataclass
class Damage:
    """What a bad deployment or a slip of the hand has done to the table."""

    lost: list[keys.Key]
    changed: list[keys.Key]


def damage(stack: Stack, samples: dict[str, Source]) -> Damage:
    table = table_of(stack)
    articles = sorted(articles_of(stack, samples), key=lambda item: str(item["PK"]["S"]))
    whole = [key for item in articles[:10] for key in parts_of(table, item["PK"]["S"])]
    table.delete_many(whole)
    changed = [keys.article(item["dedup_key"]["S"]) for item in articles[10:20]]
    for key, item in zip(changed, articles[10:20], strict=True):
        other = "negative" if item["sentiment"]["S"] == "positive" else "positive"
        table.change(key, assign={"sentiment": other, "headline": "X"})
    latest = [keys.Key(PK=pk, SK=sk) for pk, sk in everything(stack) if pk.startswith("LATEST#")][:3]
    table.delete_many(latest)
    mention = next(table.query_all(Key("PK").eq(articles[20]["PK"]["S"]) & Key("SK").begins_with("TAG#")))
    table.put({**mention, **keys.article_tag(articles[20]["dedup_key"]["S"], "stray"), "tag": "stray"})
    return Damage([*whole, *latest], changed)


def parts_of(table: Table, partition: str) -> list[keys.Key]:
    found = table.query_all(Key("PK").eq(partition), consistent=True)
    return [keys.Key(PK=item["PK"], SK=item["SK"]) for item in found]


def test_a_damaged_table_is_restored_and_what_came_since_is_fetched_again(
    stack: Stack, samples: dict[str, Source], sourcebook: Callable[..., str], home: Path, tmp_path: Path
) -> None:
    write_feeds(tmp_path, feeds=1, entries=5, now=utc_now(), theme="restored")
    url = start_server(home, tmp_path).url
    feed = register(stack, [spec for _, spec in feeds_in(tmp_path, url)[0]])
    feed = fetch(stack, feed)
    group_now(stack)
    sourcebook("pause --timeout 120")
    moment = everything(stack)

    # The embedded cloud has no past: it restores what is there when it is asked, so it is asked before.
    dynamodb = stack.session.client("dynamodb")
    dynamodb.restore_table_to_point_in_time(
        SourceTableName=stack.outputs.table_name,
        TargetTableName="sourcebook-restored",
        UseLatestRestorableTime=True,
    )
    sourcebook("resume")
    write_feeds(tmp_path, feeds=1, entries=9, now=utc_now(), theme="restored")
    fetch(stack, registry(stack).get_many(feed))
    group_now(stack)
    assert len(articles_of(stack, feed)) == 9
    done = damage(stack, samples)

    # The course of docs/operations.md, from here on.
    sourcebook("pause --timeout 120")
    found = sourcebook("verify --json --patience 0.5", code=1)
    checks = {json.loads(line).get("check") for line in found.splitlines()}
    assert checks >= {"mentions", "aliases", "articles-of-mentions", "observations"}, found
    assert "nothing is wrong" in sourcebook("verify --objects --table sourcebook-restored")

    differ = sourcebook("restore sourcebook-restored --dry-run")
    damaged = everything(stack)
    lost = moment.keys() - damaged.keys()
    assert f"{len(lost)} items are missing" in differ
    assert {(key["PK"], key["SK"]) for key in done.lost} <= lost

    put_back = sourcebook("restore sourcebook-restored --yes")
    assert f"{len(lost)} items put back" in put_back
    assert not differences(values(moment), values(everything(stack)))
    assert "0 items put back, 0 set back, 0 removed" in sourcebook("restore sourcebook-restored --yes")
    assert "nothing is wrong" in sourcebook("verify --objects")

    sourcebook("resume")
    sourcebook("redrive")
    fetch(stack, registry(stack).get_many(feed))
    assert len(articles_of(stack, feed)) == 9
    ours = {(item["PK"]["S"], item["SK"]["S"]) for item in articles_of(stack, samples)}
    after = everything(stack)
    assert not differences(
        values({key: moment[key] for key in ours}), values({key: after[key] for key in ours})
    )
    group_now(stack)
    answer = stack.api.get("/articles", params={"limit": 100})
    assert answer.status_code == 200
    dynamodb.delete_table(TableName="sourcebook-restored")
