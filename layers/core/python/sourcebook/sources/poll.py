"""One round of polling: the sources of a message, fetched in parallel, each committed conditionally.

A source's state is the only thing that says whether it was fetched. The last write of a poll moves it on,
conditional on the due time that the message names. So a message may come twice, late, or at the same time
as itself: what was done in between is idempotent, and only one of them moves the source on.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, Protocol

from boto3.dynamodb.conditions import Attr

from sourcebook.clock import Clock, epoch_seconds, isoformat, utc_now
from sourcebook.errors import shorten
from sourcebook.events import SourceDue
from sourcebook.schema import SCHEMA_VERSION
from sourcebook.sources import schedule
from sourcebook.sources.model import Source
from sourcebook.sources.registry import SourceRegistry
from sourcebook.table import keys
from sourcebook.table.client import Change, ConditionFailed

HISTORY_KEPT: Final = timedelta(days=30)


class Verdict(StrEnum):
    """What a poll found, as far as the schedule is concerned."""

    CHANGED = "changed"
    UNCHANGED = "unchanged"
    FAILED = "failed"
    """It may mend itself: the network, the server, a limit."""
    BROKEN = "broken"
    """It does not look like mending itself: not found, not a feed. Ten in a row disable the source."""
    GONE = "gone"
    """The source says that it is gone for good."""
    DEFERRED = "deferred"
    """It was not asked, because its host wants patience."""


_HOST_IS_BUSY: Final = frozenset({"rate_limited", "server_error"})


_QUIET: Final = frozenset({Verdict.UNCHANGED, Verdict.DEFERRED})
"""What leaves no history."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """An entry that could not be taken, with the reason in words."""

    source_id: str
    article_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class PollResult:
    """What an adapter found out about one source.

    Attributes:
        verdict: what the schedule is to make of it.
        cause: why, machine-readable: "ok", "not_modified", "same_body", or the cause of the failure.
        message: why, for a person; empty when all went well.
        http_status: status of the last answer, if there was one.
        fetch_seconds: from the request to the end of its answer; None if there was none.
        entries: entries in the document.
        fresh: those among them that were not seen before, or were edited.
        tickers: tickers that were asked for.
        created, merged, updated: articles of this poll that are new, that another source had already, and
            that the same source has edited.
        rejected: entries that could not be taken.
        dropped: how many rows of a page of figures could not be taken, by reason.
        anomaly: what looks wrong about an answer that was taken all the same, in words; empty when nothing.
        state: attributes of the source's STATE item to write, such as the validators; None removes one.
        retry_after: earliest time at which the server wants to be asked again.
        next_fetch: when the adapter wants to ask again after a success; None leaves it to the source's
            interval.
    """

    verdict: Verdict
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
    anomaly: str = ""
    state: Mapping[str, Any] = field(default_factory=dict)
    retry_after: datetime | None = None
    next_fetch: datetime | None = None


class SourceAdapter(Protocol):
    """Asks sources of one kind for what is new and stores it.

    Storing must be idempotent: the same poll may run twice, also at the same time.
    """

    async def poll(self, source: Source) -> PollResult:
        """Fetch a source and store what is new.

        A failure of the source itself is a result. What is raised is ours, and makes the message come back.

        Raises:
            Retryable: if the table or a topic could not take what was found.
        """
        ...


@dataclass(frozen=True, slots=True)
class PollReport:
    """One source's poll as it ended: what is logged and measured.

    Attributes:
        committed: False if another delivery of the message had moved the source on in the meantime.
        interval: until the next poll, as far as the adapter has a say in it.
    """

    source_id: str
    kind: str
    result: PollResult
    duration_ms: int
    committed: bool
    interval: timedelta | None = None


@dataclass(frozen=True, slots=True)
class _Polled:
    """A poll that is not committed yet."""

    source: Source
    result: PollResult
    duration_ms: int


@dataclass(frozen=True, slots=True)
class RoundReport:
    """All polls of one message.

    Attributes:
        polls: the sources that were polled.
        moved_on: sources that were not due any more, or that are unknown or disabled.
        postponed: sources left for the next dispatch because the time was running out.
        failures: sources whose poll raised, with the error. They are still due.
    """

    polls: list[PollReport]
    moved_on: list[str]
    postponed: list[str]
    failures: list[tuple[str, Exception]]


@dataclass(frozen=True, slots=True)
class Poller:
    """Runs rounds of polling.

    Attributes:
        adapters: the adapter of each kind.
        parallel: sources polled at the same time.
        seconds_left: seconds that this invocation still has; polls start only while it is above `reserve`.
        linger: seconds that a source without news waits for others to be committed with.
    """

    registry: SourceRegistry
    adapters: Mapping[str, SourceAdapter]
    clock: Clock = utc_now
    parallel: int = 10
    seconds_left: Callable[[], float] = lambda: float("inf")
    reserve: float = 30.0
    linger: float = 0.5

    async def run(self, due: Sequence[SourceDue]) -> RoundReport:
        """Poll the sources of one message that are still due."""
        known = await asyncio.to_thread(self.registry.get_many, (d.source_id for d in due))
        report = RoundReport([], [], [], [])
        slots = asyncio.Semaphore(self.parallel)
        hosts: dict[str, datetime] = {}
        quiet: list[_Polled] = []
        flushes: list[asyncio.Task[None]] = []
        ended = asyncio.Event()

        async def flush_soon() -> None:
            with suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), self.linger)
            waiting = quiet.copy()
            quiet.clear()
            await asyncio.to_thread(self._commit_quiet, waiting, report)

        async def one(request: SourceDue) -> None:
            source = known.get(request.source_id)
            if source is None or source.next_fetch_time != request.due_at:
                report.moved_on.append(request.source_id)
                return
            async with slots:
                if self.seconds_left() < self.reserve:
                    report.postponed.append(request.source_id)
                    return
                try:
                    polled = await self._poll(source, hosts.get(source.host))
                    if polled.result.cause in _HOST_IS_BUSY and polled.result.retry_after:
                        hosts[source.host] = polled.result.retry_after
                    if polled.result.verdict in _QUIET:
                        quiet.append(polled)
                        if len(quiet) == 1:
                            flushes.append(asyncio.create_task(flush_soon()))
                        return
                    committed = await asyncio.to_thread(
                        self.commit, source, polled.result, polled.duration_ms
                    )
                    report.polls.append(self._reported(polled, committed=committed))
                except Exception as error:  # noqa: BLE001 - one source's failure never harms the others; it is reported
                    report.failures.append((request.source_id, error))

        await asyncio.gather(*(one(request) for request in due))
        ended.set()
        await asyncio.gather(*flushes)
        return report

    async def _poll(self, source: Source, host_busy_until: datetime | None) -> _Polled:
        adapter = self.adapters.get(source.kind)
        started = time.monotonic()
        if host_busy_until is not None and host_busy_until > self.clock():
            # Its host has just asked for patience, through another source.
            result = PollResult(Verdict.DEFERRED, "host_busy", next_fetch=host_busy_until)
        elif adapter is None:
            known = ", ".join(sorted(self.adapters))
            message = f"kind: {shorten(source.kind)} has no adapter; expected one of {known}"
            result = PollResult(Verdict.BROKEN, "unknown_kind", message)
        else:
            result = await adapter.poll(source)
        return _Polled(source, result, round((time.monotonic() - started) * 1000))

    def _reported(self, polled: _Polled, *, committed: bool) -> PollReport:
        source, result = polled.source, polled.result
        interval = result.next_fetch - self.clock() if result.next_fetch else None
        return PollReport(source.source_id, source.kind, result, polled.duration_ms, committed, interval)

    def _commit_quiet(self, quiet: Sequence[_Polled], report: RoundReport) -> None:
        """Move on, all together, sources that had nothing to tell: most of a round, most of the time.

        Were this not to happen, they would be asked once more. So they wait for one another, but not long:
        whatever ends the process in the middle of a round costs only the youngest of them.
        """
        now = self.clock()
        try:
            outcomes = self.registry.table.update_many([_quiet_change(polled, now) for polled in quiet])
        except Exception as error:  # noqa: BLE001 - those that had something to tell are committed; it is reported
            report.failures.extend((polled.source.source_id, error) for polled in quiet)
            return
        for polled, outcome in zip(quiet, outcomes, strict=True):
            if isinstance(outcome, bool):
                report.polls.append(self._reported(polled, committed=outcome))
            else:
                report.failures.append((polled.source.source_id, outcome))

    def commit(self, source: Source, result: PollResult, duration_ms: int) -> bool:
        """Record a poll: its history if there is something to tell, and last the state that moves on.

        Returns:
            False if the source had moved on already; then nothing of the state was changed.
        """
        now = self.clock()
        if result.verdict not in _QUIET:
            # Created, not overwritten: a repeated poll finds little that is new and must not hide the first.
            self.registry.table.create(history_item(source, result, now, duration_ms))
        changes = state_changes(source, result, now)
        increments = {} if result.verdict is Verdict.DEFERRED else {"fetch_count": 1}
        if result.verdict is Verdict.UNCHANGED:
            increments["unchanged_count"] = 1
        try:
            self.registry.table.change(
                keys.source(source.source_id),
                assign=dict(changes),
                increment=dict(increments),
                condition=Attr("next_fetch_time").eq(isoformat(source.next_fetch_time))
                & Attr("enabled").eq(source.enabled),
            )
        except ConditionFailed:
            return False
        return True


def _quiet_change(polled: _Polled, now: datetime) -> Change:
    source, result = polled.source, polled.result
    counts: dict[str, int] = {}
    if result.verdict is Verdict.UNCHANGED:
        # Not increments: the due time has been another one whenever a poll was counted.
        counts = {"fetch_count": source.fetch_count + 1, "unchanged_count": source.unchanged_count + 1}
    return Change(
        keys.source(source.source_id),
        assign={**state_changes(source, result, now), **counts},
        expected={"next_fetch_time": isoformat(source.next_fetch_time), "enabled": source.enabled},
    )


def state_changes(source: Source, result: PollResult, now: datetime) -> dict[str, Any]:
    """Return what a poll changes in a source's STATE item; None removes an attribute."""
    stamp = isoformat(now)
    if result.verdict is Verdict.DEFERRED:
        next_time = max(result.next_fetch or now, source.next_fetch_time + timedelta(seconds=1))
        return {"last_cause": result.cause, **_due_or_probed(source, next_time, enabled=source.enabled)}
    changes: dict[str, Any] = {"last_fetch_at": stamp, "last_cause": result.cause, **result.state}
    if result.verdict in {Verdict.CHANGED, Verdict.UNCHANGED}:
        next_time = result.next_fetch or schedule.after_success(source, now)
        if result.retry_after is not None:
            next_time = max(next_time, result.retry_after)
        changes |= {"enabled": True} if not source.enabled else {}  # a disabled source that is back
        changes |= {"last_success_at": stamp, "consecutive_errors": 0, "last_error": None}
        if result.verdict is Verdict.CHANGED:
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
        if result.verdict is Verdict.BROKEN:
            broken = min(source.broken_count, source.consecutive_errors) + 1
        if broken or source.broken_count:
            changes["broken_count"] = broken
        broken_for_long = broken >= schedule.DISABLE_AFTER
        if not source.enabled or result.verdict is Verdict.GONE or broken_for_long:
            probe = _due_or_probed(source, now + schedule.PROBE_EVERY, enabled=False)
            return changes | {"enabled": False, **probe}
    # A clock that stands still must not leave the source with the due time it had.
    next_time = max(next_time, source.next_fetch_time + timedelta(seconds=1))
    return changes | _due_or_probed(source, next_time, enabled=True)


def _due_or_probed(source: Source, moment: datetime, *, enabled: bool) -> dict[str, Any]:
    """Return the attributes that say when a source is asked next, and its place in the index."""
    stamp = isoformat(moment)
    index = keys.due(source.source_id, stamp) if enabled else keys.disabled(source.source_id, stamp)
    return {"next_fetch_time": stamp, **index}


def history_item(source: Source, result: PollResult, now: datetime, duration_ms: int) -> dict[str, Any]:
    """Return the item that tells of one fetch that changed something or failed.

    Its key is the due time that the fetch was made for, so that a repeated fetch tells of itself once.
    """
    return {
        **keys.source_fetch(source.source_id, isoformat(source.next_fetch_time)),
        "entity_type": "Fetch",
        "schema_version": SCHEMA_VERSION,
        "source_id": source.source_id,
        "fetched_at": isoformat(now, "milliseconds"),
        "verdict": result.verdict.value,
        "cause": result.cause,
        "message": result.message[:300] or None,
        "http_status": result.http_status,
        "entries": result.entries,
        "created": result.created,
        "merged": result.merged,
        "updated": result.updated,
        "rejected": len(result.rejected),
        "rejections": [f"{r.article_id[:100]}: {r.reason[:200]}" for r in result.rejected[:10]] or None,
        "duration_ms": duration_ms,
        "ttl_timestamp": epoch_seconds(now + HISTORY_KEPT),
    }
