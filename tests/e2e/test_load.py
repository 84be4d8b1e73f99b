"""Many feeds and many readers at once: no error, no loss, bounded memory, and a backlog that drains.

`make load` is the whole of it, ten minutes and what the backlog takes then, in a cloud of its own; with
SOURCEBOOK_LOAD_FEEDS and SOURCEBOOK_LOAD_SECONDS a smaller one. `make test` has a small one on the shared
stack.
"""

from __future__ import annotations

import logging
import math
import os
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from statistics import median
from typing import TYPE_CHECKING, Any

import pytest
from boto3.dynamodb.conditions import Key

from sourcebook.clock import utc_now
from sourcebook.records.article import status_of
from sourcebook.sentiment.cache import SentimentCache
from sourcebook.sentiment.rollups import SETTLE, Ledger
from sourcebook.sentiment.subjects import SubjectRegistry
from sourcebook.sentiment.windows import PERIODS, SECOND, floor
from sourcebook.table import keys
from sourcebook.table.client import Table, aws_config
from sourcebook.table.codec import decode_item
from sourcebook_local.folder import start_server, stop_servers
from tests.e2e.conftest import deployed_apart
from tests.e2e.loading import MB, Publishers, Readers, Sampler, Size, Word
from tests.e2e.sources import keys_by_status, registry
from tests.e2e.stack import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from sourcebook_local.cloud import LocalCloud
    from tests.e2e.stack import Stack

LOG = logging.getLogger(__name__)
FULL = os.environ.get("SOURCEBOOK_LOAD") == "full"
SIZE = (
    Size(
        feeds=int(os.environ.get("SOURCEBOOK_LOAD_FEEDS", "2000")),
        entries=20,
        more=5,
        readers=20,
        seconds=float(os.environ.get("SOURCEBOOK_LOAD_SECONDS", "600")),
        pause=2.0,
        patience=1_800,
    )
    if FULL
    else Size(feeds=40, entries=20, more=5, readers=4, seconds=15, pause=0.3, patience=180)
)
LOOK = max(1.0, SIZE.seconds / 60)
"""Seconds between two looks at queues and memory, which are work for the cloud as well."""
FUNCTIONS = (
    *("dispatch_sources", "fetch_sources", "analyze_sentiment", "heal_articles", "refresh_sentiment"),
    *("trigger_grouping", "group_headlines", "generate_ideas", "api"),
)


@pytest.fixture(scope="module")
def loaded(request: pytest.FixtureRequest, new_cloud: Callable[[str], LocalCloud]) -> Iterator[Stack]:
    """The shared stack for the small load, and one in a cloud of its own for the whole."""
    if not FULL:
        yield request.getfixturevalue("stack")
        return
    with deployed_apart(new_cloud, "load") as stack:
        yield stack


@pytest.fixture
def publishers(tmp_path: Path) -> Publishers:
    begun = utc_now().replace(hour=3, minute=0, second=0, microsecond=0) - timedelta(days=1)
    return Publishers(SIZE, tmp_path, begun, f"load-{uuid.uuid4().hex[:6]}")


@pytest.fixture
def url(publishers: Publishers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("servers")
    publishers.write(1)
    yield start_server(home, publishers.folder).url
    stop_servers(home)


def ask_for(stack: Stack, source_ids: Sequence[str]) -> None:
    """Have sources fetched, a hundred at a time, as no dispatch of a person asks for more."""
    for start in range(0, len(source_ids), 100):
        stack.invoke("dispatch_sources", {"source_ids": list(source_ids[start : start + 100])})


def unfetched(stack: Stack, wanted: dict[str, str]) -> list[str]:
    """Return the sources whose document as it is now has not been taken in."""
    now = registry(stack).get_many(wanted)
    return [id_ for id_, source in now.items() if source.body_hash != wanted[id_]]


def errors_logged(stack: Stack, since: float) -> Counter[str]:
    """Return how many lines of level ERROR the functions have written since then, by what they say."""
    logs = stack.session.client("logs")
    found: Counter[str] = Counter()
    for group in (f"/aws/lambda/SourcebookPipeline-{name}" for name in FUNCTIONS):
        pages: Any = logs.get_paginator("filter_log_events").paginate(
            logGroupName=group, startTime=int(since * 1000), filterPattern='{ $.level = "ERROR" }'
        )
        for event in (event for page in pages for event in page["events"]):
            if '"level":"ERROR"' in event["message"]:
                found[event["message"][:200]] += 1
    return found


def stored_words(stack: Stack, source_ids: set[str]) -> Counter[tuple[str | None, frozenset[Word]]]:
    """Return each article that these sources tell, with its status and every source's word."""
    pages: Any = (
        stack.session.client("dynamodb", config=aws_config(read_timeout=120))
        .get_paginator("scan")
        .paginate(
            TableName=stack.outputs.table_name,
            ConsistentRead=True,
            FilterExpression="entity_type = :a",
            ProjectionExpression="#s, sentiment, source_attribution",
            ExpressionAttributeNames={"#s": "status"},
            ExpressionAttributeValues={":a": {"S": "Article"}},
        )
    )
    return Counter(
        (
            status_of(decode_item({n: item[n] for n in ("status", "sentiment") if n in item})),
            frozenset(
                (source, word["M"]["url"]["S"], word["M"]["original_headline"]["S"])
                for source, word in item["source_attribution"]["M"].items()
            ),
        )
        for page in pages
        for item in page["Items"]
        if source_ids & item["source_attribution"]["M"].keys()
    )


def check_rollups(table: Table, publishers: Publishers) -> None:
    """Article → mention → roll-up → cache: each story about the subject is counted once."""
    tool_id = publishers.subject.tool_id
    # What the refresh does, without leaving marks to settle: nobody is between a mark and a mention any more.
    now = floor(utc_now(), SECOND)
    Ledger.open(table, tool_id, now + SETTLE).settle()
    ledger = Ledger.open(table, tool_id, now)
    cache = SentimentCache(table)
    for period in PERIODS:
        cache.put(cache.compute(ledger, period))
    rows = list(table.query_all(Key("PK").eq(keys.subject(tool_id)["PK"]), consistent=True))
    for prefix in (keys.HOUR_PREFIX, keys.DAY_PREFIX):
        counted = sum(row["total_mentions"] for row in rows if row["SK"].startswith(prefix))
        assert counted == publishers.about, prefix
    cached = table.get(keys.cache_entry(tool_id, "DAY_7"), consistent=True)
    assert cached is not None
    assert cached["total_mentions"] == publishers.about


def test_many_feeds_and_readers_at_once(
    loaded: Stack, publishers: Publishers, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, logger="httpx")  # it would tell of each of the reads
    stack, table = loaded, loaded.items()
    SubjectRegistry(table).register([publishers.subject])
    # Processes that know the subjects of before would go on with them for minutes. What is killed at work
    # comes back only after minutes too, so they are let finish first.
    wait_until(
        lambda: not keys_by_status(stack, "pending"),
        SIZE.patience,
        "no article pending from before",
        interval=LOOK,
    )
    stack.kill_function_workers("analyze_sentiment")
    readers, sampler = Readers(stack, publishers), Sampler(stack, every=LOOK)
    dead_before = sampler.look().dead
    began, moment = time.time(), time.monotonic()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(registry(stack).register, publishers.specs(url)))
    registered = time.monotonic() - moment
    with sampler.sampling():
        with readers.reading():
            stack.invoke("dispatch_sources", {})
            sleep_until(moment + SIZE.seconds / 2)
            publishers.write(2)
            ask_for(stack, publishers.source_ids)
            sleep_until(moment + SIZE.seconds)
        wanted = publishers.body_hashes()
        drained = drain(stack, sampler, wanted) - moment
    summary = [
        f"{SIZE.feeds} feeds registered in {registered:.0f} s, {SIZE.words} entries in",
        f"drained {drained:.0f} s after the beginning; the embedded cloud's CPU: {sampler.cpu:.0f} s",
        *summary_lines(readers, sampler, limits := memory_limits(stack)),
    ]
    LOG.info("%s", "\n".join(["", *summary]))

    assert not readers.errors
    assert readers.count > SIZE.readers
    assert not errors_logged(stack, began)
    assert sampler.samples[-1].dead == dead_before
    assert not sampler.troubles
    # What Lambda would end a process for.
    peaks = peak_memory(sampler)
    assert not {name: peak for name, peak in peaks.items() if peak > limits[name] * MB}, peaks
    found = stored_words(stack, set(publishers.source_ids))
    wanted_words = Counter[tuple[str | None, frozenset[Word]]](
        ("analyzed", frozenset([word])) for word in publishers.words()
    )
    lost, doubled = wanted_words - found, found - wanted_words
    assert (lost.total(), doubled.total()) == (0, 0), (lost.most_common(5), doubled.most_common(5))
    assert found.total() == SIZE.words
    check_rollups(table, publishers)


def sleep_until(moment: float) -> None:
    time.sleep(max(0.0, moment - time.monotonic()))


def drain(stack: Stack, sampler: Sampler, wanted: dict[str, str]) -> float:
    """Wait until all is fetched, analyzed and grouped, by the stack's own schedule; return when it was."""
    left = dict(wanted)

    def all_fetched() -> bool:
        behind = unfetched(stack, left)
        for id_ in left.keys() - set(behind):
            del left[id_]
        return not left

    def queues_empty() -> bool:
        return not any(sampler.look().waiting.values())

    table, ungrouped = stack.items(), Key("PK").eq(keys.UNGROUPED)
    wait_until(all_fetched, SIZE.patience, "every document to be fetched", interval=LOOK)
    if FULL:  # on the shared stack, a message that another test has left in flight stays so for minutes
        wait_until(queues_empty, SIZE.patience, "queues without messages", interval=LOOK)
    wait_until(
        lambda: not keys_by_status(stack, "pending"), SIZE.patience, "no article pending", interval=LOOK
    )
    drained = time.monotonic()
    wait_until(
        lambda: not table.query(ungrouped, limit=1).items,
        SIZE.patience,
        "no article that waits for grouping",
        interval=1,
    )
    LOG.info("grouped %.0f s after the rest", time.monotonic() - drained)
    return drained


def memory_limits(stack: Stack) -> dict[str, int]:
    """Return the MB of memory that each function has."""
    pages = stack.session.client("lambda").get_paginator("list_functions").paginate()
    return {f["FunctionName"]: f["MemorySize"] for page in pages for f in page["Functions"]}


def peak_memory(sampler: Sampler) -> dict[str, int]:
    """Return the bytes of the largest process of each function, whenever that was."""
    peaks: dict[str, int] = {}
    for sample in sampler.samples:
        for name, size in sample.workers.items():
            peaks[name] = max(peaks.get(name, 0), size)
    return peaks


def summary_lines(readers: Readers, sampler: Sampler, limits: dict[str, int]) -> list[str]:
    """Return what was measured, as lines."""
    lines = ["", f"{readers.count} reads, errors: {dict(readers.errors) or 'none'}"]
    lines += ["| read | times | p50 ms | p95 ms | largest ms |", "|---|---|---|---|---|"]
    all_times = [time for times in readers.times.values() for time in times]
    for kind, times in [*sorted(readers.times.items()), ("all", all_times)]:
        lines.append(
            f"| {kind} | {len(times)} | {median(times) * 1000:.0f} | {percentile(times, 95) * 1000:.0f} "
            f"| {max(times) * 1000:.0f} |"
        )
    jobs = sorted({job for job in sampler.samples[0].waiting if any(sampler.depth(job))})
    lines += ["", f"| seconds | {' | '.join(jobs)} | cloud MB | functions' processes |"]
    lines += [f"|{'---|' * (len(jobs) + 3)}"]
    step = max(1, len(sampler.samples) // 20)
    for sample in sampler.samples[::step]:
        depths = " | ".join(str(sample.waiting[job]) for job in jobs)
        lines.append(f"| {sample.seconds:.0f} | {depths} | {sample.cloud // MB} | {sample.processes} |")
    lines += ["", "| function | largest process MB | has MB |", "|---|---|---|"]
    for name, peak in sorted(peak_memory(sampler).items()):
        lines.append(f"| {name.partition('-')[2]} | {peak // MB} | {limits.get(name)} |")
    return lines


def percentile(values: Sequence[float], percent: int) -> float:
    return sorted(values)[math.ceil(len(values) * percent / 100) - 1]
