"""One round of polling: the sources of a message, fetched in parallel, each committed conditionally.

A source's state is the only thing that says whether it was fetched. The last write of a poll moves it on,
conditional on the due time that the message names. So a message may come twice, late, or at the same time
as itself: what was done in between is idempotent, and only one of them moves the source on.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Protocol, Self

from boto3.dynamodb.conditions import Attr
from botocore.exceptions import BotoCoreError, ClientError

from sourcebook.clock import Clock, epoch_seconds, isoformat, utc_now
from sourcebook.errors import Retryable, shorten
from sourcebook.events import SourceDue
from sourcebook.messages import field_names
from sourcebook.records.source import Fetch, Source, articles_per_fetch
from sourcebook.sources import limits, schedule
from sourcebook.sources.registry import SourceRegistry
from sourcebook.table import keys
from sourcebook.table.client import Change, TableForbidden
from sourcebook.table.codec import Item
from sourcebook.table.keys import Key

if TYPE_CHECKING:
    from sourcebook.http.errors import FetchError

HISTORY_KEPT: Final = timedelta(days=30)
PROCESS_DIED: Final = "process_died"
OUT_OF_TIME: Final = "out_of_time"
OUT_OF_MEMORY: Final = "out_of_memory"
_POLLED_ALONE: Final = frozenset({PROCESS_DIED, OUT_OF_TIME, OUT_OF_MEMORY})
"""Causes of a failure after which a source is polled alone."""
_TO_COMMIT: Final = 10.0
"""Seconds at the end of an invocation that are reserved for committing polls."""
_OURS: Final = (Retryable, TableForbidden, BotoCoreError, ClientError, ImportError)
"""Errors of an adapter that are no fault of its source but of the table, a topic or the deployment."""


class PollVerdict(StrEnum):
    """The verdict of a poll, by which the next one is scheduled."""

    CHANGED = "changed"
    UNCHANGED = "unchanged"
    FAILED = "failed"
    """A failure that may pass by itself: of the network, the server, a limit."""
    BROKEN = "broken"
    """A failure that is likely to stay: not found, not a feed. Ten in a row disable the source."""
    GONE = "gone"
    """The source says that it is gone for good."""
    DEFERRED = "deferred"
    """Not fetched, because the host asked to wait."""


_OF_FAILURES: Final[Mapping[str, PollVerdict]] = {
    "transient": PollVerdict.FAILED,
    "soft": PollVerdict.BROKEN,
    "final": PollVerdict.GONE,
}
"""The verdict of a failed fetch, by its `sourcebook.http.errors.Severity`."""
_HOST_IS_BUSY: Final = frozenset({"rate_limited", "server_error"})
"""Causes of a failure after which a whole host is left alone, if it says for how long."""
_QUIET: Final = frozenset({PollVerdict.UNCHANGED, PollVerdict.DEFERRED})
"""Verdicts that leave no history."""
_MAY_DISABLE: Final = frozenset({PollVerdict.BROKEN, PollVerdict.GONE})


@dataclass(frozen=True, slots=True)
class Rejected:
    """An entry that could not be taken, with the reason in words."""

    source_id: str
    article_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class PollResult:
    """The result of polling one source.

    Attributes:
        verdict: what the schedule is to make of it.
        cause: why, machine-readable: "ok", "not_modified", "same_body", or the cause of the failure.
        message: why, for a person; empty when all went well.
        http_status: status of the last answer, if there was one.
        fetch_seconds: from the request to the end of its answer or to its failure; None if nothing was asked.
        entries: entries in the document.
        fresh: those among them that were not seen before, or were edited.
        tickers: tickers that were asked for.
        created, merged, updated: articles of this poll that are new, that another source had already, and
            that the same source has edited.
        rejected: entries that could not be taken.
        dropped: how many rows of a page of figures could not be taken, by reason.
        warnings: what was mended or is in doubt in a document that was taken all the same, a sentence each.
        anomaly: what looks wrong about an answer that was taken all the same, in words; empty when nothing.
        state: attributes of the source's STATE item to write, such as the validators; None removes one.
        retry_after: earliest time at which the server wants to be asked again.
        next_fetch: when the adapter wants to ask again after a success; None leaves it to the source's
            interval.
    """

    verdict: PollVerdict
    cause: str
    message: str = ""
    http_status: int | None = None
    fetch_seconds: float | None = None
    entries: int = 0
    fresh: int = 0
    tickers: tuple[str, ...] = ()
    created: int = 0
    merged: int = 0
    updated: int = 0
    rejected: tuple[Rejected, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    anomaly: str = ""
    state: Item = field(default_factory=dict)
    retry_after: datetime | None = None
    next_fetch: datetime | None = None

    @classmethod
    def of_failure(cls, error: FetchError) -> Self:
        """Return the result of a fetch that failed."""
        return cls(
            _OF_FAILURES[error.cause.severity],
            error.cause.value,
            message=str(error),
            http_status=error.status,
            fetch_seconds=error.elapsed,
            retry_after=error.retry_after,
        )


class SourceAdapter(Protocol):
    """Asks sources of one kind for what is new and stores it.

    Storing must be idempotent: the same poll may run twice, also at the same time.
    """

    async def poll(self, source: Source) -> PollResult:
        """Fetch a source and store what is new.

        A failure of the source itself is a result. What is raised otherwise is taken for one.

        Raises:
            Retryable: if the table or a topic could not take what was found; the message comes back.
        """


@dataclass(frozen=True, slots=True)
class Poll:
    """One source's poll.

    Attributes:
        source: as it was before.
        crash: what the adapter raised; None if it ended as it should.
        charged: what was charged before the poll began; empty where nothing was.
        committed: whether it is recorded. It is not if another delivery of the message had moved the source
            on in the meantime.
        interval: until the next poll, as far as the adapter has a say in it.
        disabled: whether the source is not polled from now on, but probed now and then.
    """

    source: Source
    result: PollResult
    duration_ms: int
    crash: BaseException | None = None
    charged: Item = field(default_factory=dict)
    committed: bool = False
    interval: timedelta | None = None
    disabled: bool = False

    @property
    def source_id(self) -> str:
        """The id of the source."""
        return self.source.source_id

    @property
    def is_quiet(self) -> bool:
        """Whether it leaves no history: nothing changed, and nothing was left out."""
        result = self.result
        return result.verdict in _QUIET and not result.rejected and not result.dropped

    @property
    def articles_per_fetch(self) -> float:
        """How many articles a fetch of the source has brought on average, this one included."""
        articles = self.source.articles + self.result.created + self.result.merged
        fetches = self.source.fetch_count + (self.result.verdict is not PollVerdict.DEFERRED)
        return articles_per_fetch(articles, fetches)


@dataclass(frozen=True, slots=True)
class RoundReport:
    """All polls of one message.

    Attributes:
        polls: the sources that were polled.
        moved_on: sources that were not due any more, or that are unknown or disabled.
        postponed: sources left for the next dispatch because the time was running out.
        failures: sources whose poll met a failure of ours, with the error. They are still due.
    """

    polls: list[Poll]
    moved_on: list[str]
    postponed: list[str]
    failures: list[tuple[str, Exception]]


@dataclass(frozen=True, slots=True)
class Poller:
    """Runs rounds of polling.

    Whatever happens inside the poll of one source ends as the failure of that source, and the others keep
    their work. What an adapter raises is caught, unless it is a failure of ours: then the source stays due.
    What takes too long is ended (`sourcebook.sources.limits`). What ends the whole process is charged before
    it can happen: a source is polled alone, when all others are done, and its failure is committed before the
    poll begins, to be replaced by what the poll finds,

    - if its last poll ended the process, or used up its time or its memory;
    - if its message came before: it may be the one that ended the process then.

    Attributes:
        adapters: the adapter of each kind.
        parallel: sources polled at the same time.
        parallel_of_host: those of them that may be of one host. The others of it wait without taking up a
            place of `parallel`, so that they hear of it when it asks for patience.
        seconds_left: seconds that this invocation still has; polls start only while it is above `reserve`.
        linger: seconds that a source without news waits for others to be committed with.
        poll_seconds: for one poll.
    """

    registry: SourceRegistry
    adapters: Mapping[str, SourceAdapter]
    clock: Clock = utc_now
    parallel: int = 20
    parallel_of_host: int = 2
    seconds_left: Callable[[], float] = lambda: float("inf")
    reserve: float = 30.0
    linger: float = 0.5
    poll_seconds: float = limits.POLL_SECONDS
    poll_cpu_seconds: float = limits.POLL_CPU_SECONDS

    async def run(self, due: Sequence[SourceDue], *, receive_count: int = 1) -> RoundReport:
        """Poll the sources of one message that are still due.

        Args:
            due: the sources.
            receive_count: how often the message has come, this time included.
        """
        limits.poll_threads()
        known = await asyncio.to_thread(self.registry.get_many, (d.source_id for d in due))
        report = RoundReport([], [], [], [])
        together: list[Source] = []
        alone: list[Source] = []
        for request in due:
            source = known.get(request.source_id)
            if source is None or source.next_fetch_time != request.due_at:
                report.moved_on.append(request.source_id)
            elif receive_count > 1 or source.last_cause in _POLLED_ALONE:
                alone.append(source)
            else:
                together.append(source)
        hosts: dict[str, datetime] = {}
        watch = limits.Watch(self.poll_cpu_seconds)
        with watch.running():
            alone += await self._poll_together(together, hosts, watch, report)
            for source in alone:
                await self._poll_alone(source, hosts, watch, report)
        return report

    async def _poll_together(
        self, sources: Sequence[Source], hosts: dict[str, datetime], watch: limits.Watch, report: RoundReport
    ) -> list[Source]:
        """Poll sources in parallel; return those for which the memory was too little beside the others."""
        slots = asyncio.Semaphore(self.parallel)
        of_host = {source.host: asyncio.Semaphore(self.parallel_of_host) for source in sources}
        again: list[Source] = []
        quiet: list[Poll] = []
        flushes: list[asyncio.Task[None]] = []
        ended = asyncio.Event()

        async def flush_soon() -> None:
            with suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), self.linger)
            waiting = quiet.copy()
            quiet.clear()
            await asyncio.to_thread(self._commit_quiet, waiting, report)

        async def one(source: Source) -> None:
            async with of_host[source.host], slots:
                if self.seconds_left() < self.reserve:
                    report.postponed.append(source.source_id)
                    return
                try:
                    poll = await self._poll(source, hosts, watch)
                    if poll.result.cause == OUT_OF_MEMORY:
                        again.append(source)
                    elif poll.is_quiet:
                        quiet.append(poll)
                        if len(quiet) == 1:
                            flushes.append(asyncio.create_task(flush_soon()))
                    else:
                        report.polls.append(await asyncio.to_thread(self._commit_or_blame, poll))
                except Exception as error:  # noqa: BLE001 - one source's failure never harms the others; it is reported
                    report.failures.append((source.source_id, limits.let_go(error)))

        await asyncio.gather(*(one(source) for source in sources))
        ended.set()
        await asyncio.gather(*flushes)
        return again

    async def _poll_alone(
        self, source: Source, hosts: dict[str, datetime], watch: limits.Watch, report: RoundReport
    ) -> None:
        """Poll a source that may end the process, and charge it before."""
        if self.seconds_left() < self.reserve:
            report.postponed.append(source.source_id)
            return
        try:
            charged = await asyncio.to_thread(self._charge, source)
            if charged is None:
                report.moved_on.append(source.source_id)
                return
            try:
                poll = await self._poll(source, hosts, watch)
            except Exception:
                await asyncio.to_thread(self._discharge, source, charged)
                raise
            poll = replace(poll, charged=charged)
            report.polls.append(await asyncio.to_thread(self._commit_or_blame, poll))
        except Exception as error:  # noqa: BLE001 - as above
            report.failures.append((source.source_id, limits.let_go(error)))

    async def _poll(self, source: Source, hosts: dict[str, datetime], watch: limits.Watch) -> Poll:
        """Poll a source; what its adapter raises is its failure.

        Raises:
            Exception: what is no fault of the source, see `_OURS`.
        """
        adapter = self.adapters.get(source.kind)
        started = time.monotonic()
        crash: BaseException | None = None
        host_busy_until = hosts.get(source.host)
        if host_busy_until is not None and host_busy_until > self.clock():
            # Its host has just asked for patience, through another source.
            result = PollResult(PollVerdict.DEFERRED, "host_busy", next_fetch=host_busy_until)
        elif adapter is None:
            known = ", ".join(sorted(self.adapters))
            message = f"kind: {shorten(source.kind)} has no adapter; expected one of {known}"
            result = PollResult(PollVerdict.BROKEN, "unknown_kind", message)
        else:
            seconds = min(self.poll_seconds, max(1.0, self.seconds_left() - _TO_COMMIT))
            result, crash = await _guarded(adapter, source, seconds, watch)
        if result.cause in _HOST_IS_BUSY and result.retry_after:
            hosts[source.host] = schedule.believed(result.retry_after, self.clock())
        return Poll(source, result, round((time.monotonic() - started) * 1000), crash)

    def _ended(self, poll: Poll, *, committed: bool) -> Poll:
        """Return a poll with what came of it."""
        source, result = poll.source, poll.result
        disabled = (
            committed
            and source.enabled
            and result.verdict in _MAY_DISABLE
            and state_changes(source, result, self.clock()).get("enabled") is False
        )
        interval = result.next_fetch - self.clock() if result.next_fetch else None
        return replace(poll, committed=committed, interval=interval, disabled=disabled)

    def _commit_quiet(self, quiet: Sequence[Poll], report: RoundReport) -> None:
        """Commit the polls without news in one request: most of a round, most of the time.

        A source whose commit is lost is polled once more, which is harmless. So these wait for one another
        for `linger` seconds: if the process ends in the middle of a round, only the latest of them are lost.
        """
        now = self.clock()
        try:
            outcomes = self.registry.table.update_many([_quiet_change(poll, now) for poll in quiet])
        except Exception as error:  # noqa: BLE001 - the polls with news are committed already; it is reported
            report.failures.extend((poll.source_id, error) for poll in quiet)
            return
        for poll, outcome in zip(quiet, outcomes, strict=True):
            if isinstance(outcome, bool):
                report.polls.append(self._ended(poll, committed=outcome))
            else:
                report.failures.append((poll.source_id, outcome))

    def _commit_or_blame(self, poll: Poll) -> Poll:
        """Record a poll. If the table refuses what there is to record, that is the source's failure."""
        try:
            committed = self.commit(poll)
        except _OURS:
            raise
        except Exception as error:  # noqa: BLE001 - it is reported; a source that is never moved on is polled for ever
            message = f"the table refused what was found ({type(error).__name__}); see the log"
            result = PollResult(PollVerdict.BROKEN, "not_storable", message)
            poll = replace(poll, result=result, crash=limits.let_go(error))
            committed = self.commit(poll)
        return self._ended(poll, committed=committed)

    def commit(self, poll: Poll) -> bool:
        """Record a poll: its history if it brought news or failed, and last the source's state.

        Returns:
            False if the source had moved on already; then nothing of the state was changed.
        """
        source, result, charged = poll.source, poll.result, poll.charged
        now = self.clock()
        if charged and poll.is_quiet:
            self.registry.table.delete(_history_key(source))
        elif charged:
            self.registry.table.put(history_item(poll, now))
        elif not poll.is_quiet:
            # Created, not overwritten: a repeated poll finds little that is new and must not hide the first.
            self.registry.table.create(history_item(poll, now))
        changes = {**_uncharged(source, charged), **state_changes(source, result, now)}
        increments = {} if result.verdict is PollVerdict.DEFERRED else {"fetch_count": 1}
        if result.verdict is PollVerdict.UNCHANGED:
            increments["unchanged_count"] = 1
        return self._change(source, changes, charged, increments)

    def _charge(self, source: Source) -> Item | None:
        """Commit the failure of a poll that is about to begin.

        Returns:
            What was changed in the state of the source; None if it had moved on already.
        """
        now = self.clock()
        result = PollResult(
            PollVerdict.BROKEN, PROCESS_DIED, "the process that polled it ended before the poll did"
        )
        changes = state_changes(source, result, now)
        if not self._change(source, changes, {}, {}):
            return None
        self.registry.table.create(history_item(Poll(source, result, 0), now))
        return changes

    def _discharge(self, source: Source, charged: Item) -> None:
        """Refund what was charged: the poll failed, and not by the source's fault."""
        due = _due_or_probed(source, source.next_fetch_time, enabled=source.enabled)
        self._change(source, {**_uncharged(source, charged), **due}, charged, {})
        self.registry.table.delete(_history_key(source))

    def _change(self, source: Source, changes: Item, charged: Item, increments: Mapping[str, int]) -> bool:
        """Change the state of a source, if it is still the one that was read, or charged."""
        due = charged.get("next_fetch_time", isoformat(source.next_fetch_time))
        enabled = charged.get("enabled", source.enabled)
        return self.registry.table.change_if(
            Attr("next_fetch_time").eq(due) & Attr("enabled").eq(enabled),
            keys.source(source.source_id),
            assign=dict(changes),
            increment=dict(increments),
        )


async def _guarded(
    adapter: SourceAdapter, source: Source, seconds: float, watch: limits.Watch
) -> tuple[PollResult, BaseException | None]:
    """Return what a poll found, and what it raised if that made it the source's failure.

    Raises:
        Exception: what is no fault of the source, see `_OURS`.
    """
    timeout = asyncio.timeout(seconds)
    try:
        with watch.poll(seconds):
            async with timeout:
                return await adapter.poll(source), None
    except (*_OURS, KeyboardInterrupt):
        raise
    except BaseException as error:
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
            raise
        limits.let_go(error)
        if isinstance(error, limits.PollEnded) or timeout.expired():
            if not await limits.poll_threads().settle():
                limits.replace_threads()
            message = (
                f"the poll took longer than it may ({seconds:.0f} s, or too much CPU time) and was ended"
            )
            return PollResult(PollVerdict.BROKEN, OUT_OF_TIME, message), error
        if isinstance(error, MemoryError):
            gc.collect()
            message = "the poll took more memory than there is; the document is too large or made to hurt"
            return PollResult(PollVerdict.BROKEN, OUT_OF_MEMORY, message), error
        message = f"reading it failed ({type(error).__name__}: {shorten(error)}); see the log"
        return PollResult(PollVerdict.BROKEN, "poll_crashed", message), error


def _uncharged(source: Source, charged: Item) -> Item:
    """Return what takes back a charge, besides the due time and its place in the index."""
    before = {name: getattr(source, name) for name in charged if name in field_names(Source)}
    return {name: isoformat(v) if isinstance(v, datetime) else v for name, v in before.items()}


def _history_key(source: Source) -> Key:
    return keys.source_fetch(source.source_id, isoformat(source.next_fetch_time))


def _quiet_change(poll: Poll, now: datetime) -> Change:
    source, result = poll.source, poll.result
    counts: dict[str, int] = {}
    if result.verdict is PollVerdict.UNCHANGED:
        # Not increments: the due time has been another one whenever a poll was counted.
        counts = {"fetch_count": source.fetch_count + 1, "unchanged_count": source.unchanged_count + 1}
    return Change(
        keys.source(source.source_id),
        assign={**state_changes(source, result, now), **counts},
        expected={"next_fetch_time": isoformat(source.next_fetch_time), "enabled": source.enabled},
    )


def state_changes(source: Source, result: PollResult, now: datetime) -> Item:
    """Return what a poll changes in a source's STATE item; None removes an attribute."""
    stamp = isoformat(now)
    if result.verdict is PollVerdict.DEFERRED:
        next_time = max(result.next_fetch or now, source.next_fetch_time + timedelta(seconds=1))
        return {"last_cause": result.cause, **_due_or_probed(source, next_time, enabled=source.enabled)}
    changes: Item = {"last_fetch_at": stamp, "last_cause": result.cause, **result.state}
    if result.verdict in {PollVerdict.CHANGED, PollVerdict.UNCHANGED}:
        next_time = result.next_fetch or now + timedelta(minutes=source.interval_minutes)
        if result.retry_after is not None:
            next_time = max(next_time, schedule.believed(result.retry_after, now))
        changes |= {"enabled": True} if not source.enabled else {}  # a disabled source that is back
        changes |= {"last_success_at": stamp, "consecutive_errors": 0, "last_error": None}
        if result.verdict is PollVerdict.CHANGED:
            changes |= {
                "last_change_at": stamp,
                "unchanged_count": 0,
                "unchanged_since": None,
                "last_entries": result.entries,
                "created_total": source.created_total + result.created,
                "merged_total": source.merged_total + result.merged,
            }
        elif source.unchanged_since is None:
            changes["unchanged_since"] = stamp
    else:
        failures = source.consecutive_errors + 1
        next_time = schedule.after_failure(source, now, result.retry_after)
        changes |= {"consecutive_errors": failures, "last_error": result.message[:300] or result.cause}
        # Of these alone: a server that is down for hours is no reason to give up the source when it then says
        # "not found" once.
        broken = 0
        if result.verdict is PollVerdict.BROKEN:
            broken = min(source.broken_count, source.consecutive_errors) + 1
        if broken or source.broken_count:
            changes["broken_count"] = broken
        broken_for_long = broken >= schedule.DISABLE_AFTER
        if not source.enabled or result.verdict is PollVerdict.GONE or broken_for_long:
            probe = _due_or_probed(source, now + schedule.PROBE_EVERY, enabled=False)
            return changes | {"enabled": False, **probe}
    # A clock that stands still must not leave the source with the due time it had.
    next_time = max(next_time, source.next_fetch_time + timedelta(seconds=1))
    return changes | _due_or_probed(source, next_time, enabled=True)


def _due_or_probed(source: Source, moment: datetime, *, enabled: bool) -> Item:
    """Return the attributes that say when a source is asked next, and its place in the index."""
    stamp = isoformat(moment)
    index = keys.due(source.source_id, stamp) if enabled else keys.disabled(source.source_id, stamp)
    return {"next_fetch_time": stamp, **index}


def history_item(poll: Poll, now: datetime) -> Item:
    """Return the item of one fetch that changed something or failed.

    Its key is the due time that the fetch was made for, so that a repeated fetch is recorded once.
    """
    result = poll.result
    fetch = Fetch(
        source_id=poll.source_id,
        fetched_at=isoformat(now, "milliseconds"),
        verdict=result.verdict.value,
        cause=result.cause,
        message=result.message[:300] or None,
        http_status=result.http_status,
        entries=result.entries,
        created=result.created,
        merged=result.merged,
        updated=result.updated,
        rejected=len(result.rejected),
        rejections=tuple(f"{r.article_id[:100]}: {r.reason[:200]}" for r in result.rejected[:10]) or None,
        dropped=dict(result.dropped) or None,
        warnings=tuple(warning[:200] for warning in result.warnings[:10]) or None,
        duration_ms=poll.duration_ms,
        ttl_timestamp=epoch_seconds(now + HISTORY_KEPT),
    )
    return fetch.to_item(_history_key(poll.source))
