"""Whatever happens inside the poll of one source ends as its failure, and the others keep their work."""

from __future__ import annotations

import asyncio
import gc
import re
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from boto3.dynamodb.conditions import Key
from botocore.exceptions import EndpointConnectionError

from sourcebook.events import SourceDue
from sourcebook.records.source import Source
from sourcebook.sources.model import SourceSpec
from sourcebook.sources.poll import Poller, PollResult, PollVerdict, Rejected, RoundReport
from sourcebook.sources.registry import SourceRegistry
from sourcebook.table import keys
from sourcebook.table.client import Table, TableBusy
from tests.moto_table import MotoTable

NOW = datetime(2026, 11, 27, 21, 0, tzinfo=UTC)
OK = PollResult(PollVerdict.CHANGED, "ok", http_status=200, entries=1, created=1)


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


class Adapter:
    """Does with each source what the test says; answers for all others."""

    def __init__(self, **does: Callable[[Source], PollResult]) -> None:
        self.does = does
        self.polled: list[str] = []

    async def poll(self, source: Source) -> PollResult:
        self.polled.append(source.source_id)
        does = self.does.get(source.source_id)
        if does is None:
            return OK
        if does is hang:
            await asyncio.sleep(1e6)
        if does.__name__.startswith("in_thread"):
            return await asyncio.to_thread(does, source)
        return does(source)


class Raises:
    """Raises an error; holds on to nothing."""

    __name__ = "raises"

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __call__(self, source: Source) -> PollResult:
        raise self.error


def hang(source: Source) -> PollResult:
    raise AssertionError


def compute(source: Source) -> PollResult:
    while True:
        sum(range(1000))


def in_thread_compute(source: Source) -> PollResult:
    while True:
        with suppress(Exception):  # a reader that catches everything is ended all the same
            sum(range(1000))


def in_thread_sleep(source: Source) -> PollResult:
    time.sleep(8)
    return OK


def deepest(source: Source) -> PollResult:
    return deepest(source)


class Stage:
    """A table with sources, and rounds of polling them."""

    def __init__(self, table: Table, *names: str) -> None:
        self.clock = Clock()
        self.table = MotoTable(table.name, table.client, shards=table.shards)
        self.registry = SourceRegistry(self.table, self.clock)
        for name in names:
            self.registry.register(SourceSpec(source_id=name, url=f"https://{name}.example/feed"))
        self.names = names

    def source(self, name: str) -> Source:
        found = self.registry.get(name)
        assert found is not None
        return found

    def due(self) -> list[SourceDue]:
        return [
            SourceDue(source_id=name, kind="feed", due_at=self.source(name).next_fetch_time)
            for name in self.names
        ]

    async def run(
        self,
        adapter: Adapter,
        *,
        receive_count: int = 1,
        due: list[SourceDue] | None = None,
        seconds: float = 2.0,
    ) -> RoundReport:
        poller = Poller(
            self.registry, {"feed": adapter}, self.clock, linger=0, poll_seconds=seconds, poll_cpu_seconds=5
        )
        return await poller.run(self.due() if due is None else due, receive_count=receive_count)

    def history(self, name: str) -> list[Mapping[str, object]]:
        partition = Key("PK").eq(keys.source(name)["PK"]) & Key("SK").begins_with("FETCH#")
        return list(self.table.query_all(partition))


def causes(report: RoundReport) -> dict[str, str]:
    return {poll.source_id: poll.result.cause for poll in report.polls}


@pytest.mark.parametrize(
    ("does", "cause"),
    [
        (Raises(KeyError("a")), "poll_crashed"),
        (Raises(ValueError("\ud800")), "poll_crashed"),
        (Raises(UnicodeDecodeError("utf-8", b"\xff", 0, 1, "x")), "poll_crashed"),
        (Raises(TimeoutError()), "poll_crashed"),
        (Raises(asyncio.CancelledError()), "poll_crashed"),
        (Raises(SystemExit(1)), "poll_crashed"),
        (Raises(GeneratorExit()), "poll_crashed"),
        (Raises(BaseExceptionGroup("x", [SystemExit(1)])), "poll_crashed"),
        (Raises(StopIteration()), "poll_crashed"),
        (Raises(AssertionError()), "poll_crashed"),
        (deepest, "poll_crashed"),
        (Raises(MemoryError()), "out_of_memory"),
        (hang, "out_of_time"),
        (compute, "out_of_time"),
        (in_thread_compute, "out_of_time"),
        (in_thread_sleep, "out_of_time"),
    ],
    ids=lambda value: (
        value
        if isinstance(value, str)
        else value.__name__
        if not isinstance(value, Raises)
        else repr(value.error)[:30]
    ),
)
async def test_a_poll_that_ends_badly_fails_its_own_source(
    table: Table, does: Callable[[Source], PollResult], cause: str
) -> None:
    stage = Stage(table, "a", "bad", "c")
    report = await stage.run(Adapter(bad=does))

    assert causes(report) == {"a": "ok", "bad": cause, "c": "ok"}
    assert not report.failures
    bad = stage.source("bad")
    assert (bad.consecutive_errors, bad.broken_count, bad.last_cause) == (1, 1, cause)
    assert bad.next_fetch_time == NOW + timedelta(minutes=2)
    assert [item["cause"] for item in stage.history("bad")] == [cause]
    assert stage.source("a").created_total == stage.source("c").created_total == 1
    # The process goes on to poll, and the threads too.
    stage.clock.now += timedelta(days=1)
    assert causes(await stage.run(Adapter(a=in_thread_answer))) == {"a": "ok", "bad": "ok", "c": "ok"}


def in_thread_answer(source: Source) -> PollResult:
    return OK


async def test_cpu_time_of_a_thread_is_limited_apart_from_its_time(table: Table) -> None:
    stage = Stage(table, "bad", "good")
    poller = Poller(
        stage.registry, {"feed": Adapter(bad=in_thread_compute)}, stage.clock, poll_cpu_seconds=0.3
    )
    started = time.monotonic()
    report = await poller.run(stage.due())

    assert causes(report) == {"bad": "out_of_time", "good": "ok"}
    assert time.monotonic() - started < 20


async def test_a_source_that_always_ends_badly_is_disabled_and_reported_so_once(table: Table) -> None:
    stage = Stage(table, "bad")
    reported = []
    for n in range(10):
        assert stage.source("bad").enabled, n
        report = await stage.run(Adapter(bad=Raises(RecursionError())))
        reported.append([poll.disabled for poll in report.polls])
        stage.clock.now += timedelta(hours=2)

    assert not stage.source("bad").enabled
    assert reported == [[False]] * 9 + [[True]]
    stage.clock.now += timedelta(days=8)
    probe = await stage.run(Adapter(bad=Raises(RecursionError())))
    assert [poll.disabled for poll in probe.polls] == [False]


@pytest.mark.parametrize(
    "error", [TableBusy("busy"), EndpointConnectionError(endpoint_url="x"), ImportError("gone")], ids=repr
)
@pytest.mark.parametrize("receive_count", [1, 2])
async def test_a_failure_of_ours_is_not_charged(table: Table, error: Exception, receive_count: int) -> None:
    stage = Stage(table, "a", "b")
    before = stage.table.get(keys.source("b"))
    report = await stage.run(Adapter(b=Raises(error)), receive_count=receive_count)

    assert report.failures == [("b", error)]
    assert causes(report) == {"a": "ok"}
    assert stage.history("b") == []
    after = stage.table.get(keys.source("b"))
    assert before is not None
    assert after is not None
    assert {name: value for name, value in after.items() if value} == {
        name: value for name, value in before.items() if value
    }, "it is due as before"


class Died(KeyboardInterrupt):
    """Stands for the end of the process: nothing after it runs."""


async def test_what_ended_the_process_is_charged_when_its_message_comes_again(table: Table) -> None:
    stage = Stage(table, "a", "killer", "c")
    message = stage.due()
    charged: list[Source] = []

    def die(source: Source) -> PollResult:
        charged.append(stage.source("killer"))
        raise Died

    adapter = Adapter(killer=die)
    with pytest.raises(Died):
        await stage.run(adapter, due=message, receive_count=2)
    (seen,) = charged
    assert (seen.last_cause, seen.consecutive_errors) == ("process_died", 1), (
        "committed before the poll begins"
    )
    assert seen.next_fetch_time == NOW + timedelta(minutes=2)
    assert [item["cause"] for item in stage.history("killer")] == ["process_died"]
    assert stage.source("a").created_total == 1

    report = await stage.run(adapter, due=message, receive_count=3)
    assert sorted(report.moved_on) == ["a", "killer"]
    assert causes(report) == {"c": "ok"}
    assert adapter.polled == ["a", "killer", "c"]


async def test_what_ended_the_process_once_is_polled_last_and_alone(table: Table) -> None:
    stage = Stage(table, "killer", "b", "c")

    def die(source: Source) -> PollResult:
        raise Died

    with pytest.raises(Died):
        await stage.run(Adapter(killer=die), receive_count=2)
    for n in range(2, 11):
        stage.clock.now += timedelta(hours=2)
        assert stage.source("killer").consecutive_errors == n - 1
        adapter = Adapter(killer=die)
        with pytest.raises(Died):
            await stage.run(adapter)
        assert adapter.polled[-1] == "killer"
        assert stage.source("c").last_success_at == stage.clock.now, (
            "committed before it was the killer's turn"
        )
    assert not stage.source("killer").enabled


@pytest.mark.parametrize(
    "found",
    [
        OK,
        PollResult(PollVerdict.UNCHANGED, "not_modified", http_status=304),
        PollResult(PollVerdict.FAILED, "timeout", "no answer"),
        PollResult(PollVerdict.GONE, "gone", "410"),
        PollResult(PollVerdict.DEFERRED, "budget_spent", next_fetch=NOW + timedelta(hours=3)),
    ],
    ids=lambda found: found.verdict.value,
)
@pytest.mark.parametrize(
    "before",
    [
        {"consecutive_errors": 0},
        {"consecutive_errors": 9, "broken_count": 9},
        {"last_cause": "process_died"},
    ],
)
async def test_a_charge_is_replaced_by_what_the_poll_finds(
    table: Table, found: PollResult, before: Mapping[str, object]
) -> None:
    stage = Stage(table, "plain", "charged")
    for name in stage.names:
        stage.table.update(keys.source(name), assign=dict(before))

    await stage.run(Adapter(plain=lambda _: found), due=stage.due()[:1])
    await stage.run(Adapter(charged=lambda _: found), due=stage.due()[1:], receive_count=2)

    plain, charged = (
        {
            key: value.replace(name, "x") if isinstance(value, str) else value
            for key, value in (stage.table.get(keys.source(name)) or {}).items()
            if value
        }
        for name in stage.names
    )
    assert plain == charged
    assert [item["cause"] for item in stage.history("charged")] == [
        item["cause"] for item in stage.history("plain")
    ]


async def test_one_that_needs_all_the_memory_is_tried_again_alone(table: Table) -> None:
    stage = Stage(table, "a", "large", "c")
    tried: list[int] = []

    def large(source: Source) -> PollResult:
        tried.append(stage.source("c").created_total)
        if len(tried) == 1:
            raise MemoryError
        return OK

    report = await stage.run(Adapter(large=large), seconds=30)

    assert causes(report) == {"a": "ok", "large": "ok", "c": "ok"}
    assert tried[-1] == 1, "when the others were done"
    assert stage.source("large").consecutive_errors == 0


class Much:
    """What a poll has read."""


@pytest.mark.parametrize("error", [MemoryError, KeyError, TableBusy])
async def test_an_error_that_is_kept_for_the_log_does_not_hold_what_was_read(
    table: Table, error: type[Exception]
) -> None:
    stage = Stage(table, "bad")
    alive: list[weakref.ref[Much]] = []

    def in_thread_read(source: Source) -> PollResult:
        much = Much()
        alive.append(weakref.ref(much))
        try:
            int("x")
        except ValueError as first:
            raise error("x") from first
        return OK

    report = await stage.run(Adapter(bad=in_thread_read))
    gc.collect()

    assert report.polls or report.failures
    assert [ref() for ref in alive] == [None] * len(alive)


async def test_a_result_that_the_table_refuses_is_the_sources_failure(table: Table) -> None:
    stage = Stage(table, "a", "bad")
    unstorable = PollResult(PollVerdict.CHANGED, "ok", state={"etag": "x" * 500_000})
    report = await stage.run(Adapter(bad=lambda _: unstorable))

    assert causes(report) == {"a": "ok", "bad": "not_storable"}
    assert stage.source("bad").consecutive_errors == 1


async def test_what_was_left_out_is_in_the_history_though_nothing_is_new(table: Table) -> None:
    stage = Stage(table, "a")
    left_out = PollResult(
        PollVerdict.UNCHANGED,
        "no_new_entries",
        entries=0,
        rejected=(Rejected("a", "entry 0", "no title"),),
        dropped={"x": 2},
    )
    await stage.run(Adapter(a=lambda _: left_out))

    (item,) = stage.history("a")
    assert item["rejections"] == ["entry 0: no title"]
    assert item["dropped"] == {"x": 2}


def test_memory_beyond_that_of_the_function_cannot_be_had() -> None:
    code = """
from sourcebook.sources.limits import limit_memory
limit_memory()
bytearray(100_000_000)
try:
    bytearray(2_000_000_000)
except MemoryError:
    print("refused")
"""
    environment = {"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1024"}
    if not Path("/proc/self/statm").exists():
        pytest.skip("this system does not limit memory")
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )
    assert done.stdout == "refused\n", done.stderr


def test_the_handler_says_how_often_a_message_came() -> None:
    handler = Path(__file__).parents[3] / "lambdas/fetch_sources/handler.py"
    assert re.search(
        r"ApproximateReceiveCount.*\n.*fetch\(message, context, sample, received\)", handler.read_text()
    )
