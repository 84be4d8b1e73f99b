"""Sources for the end-to-end tests: registered, fetched, and waited for."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from boto3.dynamodb.conditions import Attr
from botocore.exceptions import BotoCoreError, ClientError

from sourcebook.articles.conditions import has_status
from sourcebook.clock import isoformat
from sourcebook.records.article import Status, status_of
from sourcebook.records.source import Source
from sourcebook.sources.model import SourceSpec
from sourcebook.sources.registry import SourceRegistry
from sourcebook.table import keys
from sourcebook.table.client import Table, TableBusy
from sourcebook.table.codec import decode_item
from tests.e2e.stack import Stack, invoke, wait_until

REQUIRED = {
    "source_id",
    "timestamp",
    "dedup_key",
    "headline",
    "normalized_headline",
    "sources",
    "source_attribution",
    "status",
    "matched_tickers",
    "ttl_timestamp",
    "created_at",
    "updated_at",
}
"""Fields that every article has, by the data model of the articles."""


def registry(stack: Stack) -> SourceRegistry:
    return SourceRegistry(Table(stack.outputs.table_name, stack.session.client("dynamodb")))


def register(stack: Stack, specs: Iterable[SourceSpec]) -> dict[str, Source]:
    """Register sources and return them as they are then."""
    sources = registry(stack)
    specs = list(specs)
    for spec in specs:
        sources.register(spec)
    return sources.get_many(spec.source_id for spec in specs)


def fetch(stack: Stack, before: dict[str, Source], timeout: float = 120) -> dict[str, Source]:
    """Have sources fetched, wait until each was and nothing waits for analysis; return them as they are."""
    stack.invoke("dispatch_sources", {"source_ids": list(before)})
    return wait_for_fetches(stack, before, timeout)


def wait_for_fetches(stack: Stack, before: dict[str, Source], timeout: float = 120) -> dict[str, Source]:
    sources = registry(stack)

    def fetched() -> dict[str, Source]:
        now = sources.get_many(before)
        done = all(now[id_].fetch_count > source.fetch_count for id_, source in before.items())
        return now if done else {}

    after = wait_until(fetched, timeout, f"{len(before)} sources to be fetched", interval=0.5)
    wait_until(lambda: not keys_by_status(stack, "pending"), timeout, "no article pending", interval=0.5)
    return after


def ask_for_grouping(stack: Stack) -> None:
    """Run the grouping function once, as a message would, and wait for its answer."""
    invoke(stack.session, "SourcebookPipeline-group_headlines", grouping_request())


def grouping_request() -> dict[str, Any]:
    """Return the event by which a queue has everything grouped that waits."""
    request = {"correlation_id": "test", "trigger_reason": "interval_elapsed", "ungrouped_count": 1}
    return {"Records": [{"messageId": "1", "body": json.dumps(request)}]}


def group_now(stack: Stack, timeout: float = 90) -> None:
    """Have everything grouped that waits, and wait for it."""
    ask_for_grouping(stack)

    def waiting() -> int:
        answer = stack.session.client("dynamodb").query(
            TableName=stack.outputs.table_name,
            KeyConditionExpression="PK = :p",
            ExpressionAttributeValues={":p": {"S": keys.UNGROUPED}},
            Select="COUNT",
        )
        return int(answer["Count"])

    wait_until(lambda: not waiting(), timeout, "no article that waits for grouping", interval=0.5)


def statuses(items: Iterable[dict[str, Any]]) -> set[str | None]:
    """Return the statuses that articles have, given their items as DynamoDB's client has them."""
    return {status_of(decode_item(item)) for item in items}


def keys_by_status(stack: Stack, status: str) -> list[str]:
    """Return the partition keys of the articles with a status, those that no index holds too.

    Raises:
        TableBusy: if the embedded cloud does not answer, as while it is started again.
    """
    table = stack.session.resource("dynamodb").Table(stack.outputs.table_name)
    asked: Any = {
        "FilterExpression": Attr("entity_type").eq("Article") & has_status(Status(status)),
        "ProjectionExpression": "PK",
        "ConsistentRead": True,
    }
    found: list[str] = []
    while True:
        try:
            page = table.scan(**asked)
        except (BotoCoreError, ClientError) as error:
            raise TableBusy(str(error)) from error
        found += [str(item["PK"]) for item in page["Items"]]
        if "LastEvaluatedKey" not in page:
            return found
        asked["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def everything(stack: Stack) -> dict[tuple[str, str], dict[str, Any]]:
    """Return every item of the table by its key."""
    pages = (
        stack.session.client("dynamodb")
        .get_paginator("scan")
        .paginate(TableName=stack.outputs.table_name, ConsistentRead=True)
    )
    return {(item["PK"]["S"], item["SK"]["S"]): item for page in pages for item in page["Items"]}


def articles_of(stack: Stack, source_ids: Iterable[str]) -> list[dict[str, Any]]:
    """Return the article items that any of these sources tells of, in DynamoDB's typed form."""
    wanted = set(source_ids)
    return [
        item
        for item in everything(stack).values()
        if item.get("entity_type") == {"S": "Article"} and wanted & item["source_attribution"]["M"].keys()
    ]


def write_feeds(folder: Path, feeds: int, entries: int, now: datetime, theme: str) -> None:
    """Write RSS files in which every entry tells a story of its own."""
    for f in range(feeds):
        items = "".join(
            f"<item><title>{theme} story {_in_words(f * entries + e)}</title>"
            f"<link>https://{theme}.example/{f}/{e}</link><guid>{theme}-{f}-{e}</guid>"
            f"<pubDate>{now - timedelta(minutes=e):%a, %d %b %Y %H:%M:%S} GMT</pubDate>"
            f"<description>What {theme} has to say.</description></item>"
            for e in range(entries)
        )
        (folder / f"{theme}-{f}.rss").write_text(
            f'<rss version="2.0"><channel><title>{theme} {f}</title><link>https://{theme}.example/</link>'
            f"<description>Written for a test at {isoformat(now)}</description>{items}</channel></rss>"
        )


def _in_words(number: int) -> str:
    """Spell a number in words of its own, so that headlines differ in words and not in digits."""
    digits = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    return " ".join(digits[int(d)] for d in str(number))


def stage(url: str, *rules: dict[str, Any]) -> None:
    """Stage trouble on a sample or folder server; without rules, end it."""
    request = Request(
        f"{url}/_control",
        data=json.dumps({"rules": rules}).encode(),
        headers={"Content-Type": "application/json"},
        method="POST" if rules else "DELETE",
    )
    with urlopen(request, timeout=5) as answer:
        assert answer.status == 200
