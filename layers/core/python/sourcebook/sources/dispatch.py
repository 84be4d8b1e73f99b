"""Dispatch: finds the sources that are due and sends them as messages, the sources of one host together."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Final

from boto3.dynamodb.conditions import Attr, Key

from sourcebook.clock import Clock, isoformat, parse_iso, utc_now
from sourcebook.messages import TaskRequest, TaskResult
from sourcebook.schema import SCHEMA_VERSION
from sourcebook.sources.registry import SourceRegistry
from sourcebook.table import keys
from sourcebook.table.codec import Item

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

SOURCES_PER_MESSAGE: Final = 20
MOST_PER_DISPATCH: Final = 100_000
"""Sources sent by one dispatch; those left are the first ones a minute later."""
MOST_QUEUED: Final = 10_000
"""Messages that may wait: while fetching stands still, each dispatch would send the same sources again."""

_SQS_BATCH = 10
_NAMED_AT_MOST = 20
_SHARDS_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class DispatchCounts(TaskResult):
    """Counts of one dispatch.

    Attributes:
        due: sources that were due, or were requested and could be made due.
        messages: messages that the queue accepted.
        skipped: requested sources that are unknown or disabled.
        refused: messages that the queue refused; their sources are still due and are sent again next time.
        not_sent: the ids of those that were skipped, the first twenty.
    """

    due: int
    messages: int
    skipped: int = 0
    refused: int = 0
    not_sent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DispatchSources(TaskRequest):
    """Requests a dispatch: of all sources that are due, or of those of `source_ids`, which are made due."""

    function = "dispatch_sources"
    results = (DispatchCounts,)
    source_ids: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class _Due:
    source_id: str
    kind: str
    host: str
    priority: int
    due_at: str


@dataclass(frozen=True, slots=True)
class Dispatcher:
    """Sends due sources to the fetch queue.

    A source stays due until its fetch has moved it on, so a minute later it is sent again if the first
    message has not been worked off. That is harmless: a message names the due time it was made for.
    """

    registry: SourceRegistry
    queue: SQSClient
    queue_url: str
    clock: Clock = utc_now
    most: int = MOST_PER_DISPATCH
    most_queued: int = MOST_QUEUED

    def dispatch(self, request: DispatchSources, correlation_id: str) -> DispatchCounts:
        """Send the requested sources to the queue; return the counts."""
        if request.source_ids is None:
            return self.send_due(correlation_id)
        return self.send(request.source_ids, correlation_id)

    def send_due(self, correlation_id: str) -> DispatchCounts:
        """Send every source that is due, in the order of priority and then of due time.

        What the queue has no room for is still due a minute later.
        """
        due = self._due_now()
        sent, refused = self._send(due, correlation_id, most=max(0, self.most_queued - self._queued()))
        self._tick(due[0].due_at if due else None)
        return DispatchCounts(due=len(due), messages=sent, refused=refused)

    def _due_now(self) -> list[_Due]:
        """Return up to `most` sources that are due, those first that have been so longest.

        The index has the day of a source in its key and the time in an attribute. DynamoDB reads all that
        is due today and returns what is due by now. Once `most` sources are found, the rest of the index is
        only searched for those that have been due longer.
        """
        now = isoformat(self.clock())
        table = self.registry.table
        longest = _LongestDue(self.most, now)

        def read(partition: str) -> None:
            condition = Key("GSI1PK").eq(partition) & Key("GSI1SK").lt(keys.end_of_day(now))
            start: Item | None = None
            while True:
                where = Attr("next_fetch_time").lte(longest.until)
                page = table.query(condition, index=keys.ELIGIBILITY_INDEX, where=where, start=start)
                longest.add([_due(item) for item in page.items])
                if (start := page.next_key) is None:
                    return

        read(keys.DISABLED_SOURCES)  # probed, rarely
        if table.shards.count == 1:
            read(keys.DUE_SOURCES)
        else:
            # Not `pages.walk_shards`: it reads at the same time only the first page of each shard, and by one
            # condition. Here all pages are read, and the condition grows stricter from page to page.
            from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - most deployments have one shard

            with ThreadPoolExecutor(_SHARDS_AT_ONCE) as threads:
                list(threads.map(read, table.shards.read(keys.DUE_SOURCES)))
        return longest.sources()

    def _queued(self) -> int:
        """Return about how many messages wait for their fetch."""
        answer = self.queue.get_queue_attributes(
            QueueUrl=self.queue_url, AttributeNames=["ApproximateNumberOfMessages"]
        )
        return int(answer["Attributes"]["ApproximateNumberOfMessages"])

    def _tick(self, longest_due: str | None) -> None:
        """Record for the health check the time of this dispatch, and the earliest due time it found."""
        self.registry.table.put(
            {
                **keys.DISPATCH_TICK,
                "entity_type": "DispatchTick",
                "schema_version": SCHEMA_VERSION,
                "ticked_at": isoformat(self.clock()),
                **({} if longest_due is None else {"longest_due": longest_due}),
            }
        )

    def send(self, source_ids: Iterable[str], correlation_id: str) -> DispatchCounts:
        """Make these sources due now and send them; return the counts."""
        wanted = dict.fromkeys(source_ids)
        found = [source for source_id in wanted if (source := self.registry.make_due(source_id))]
        due = [_Due(s.source_id, s.kind, s.host, s.priority, isoformat(s.next_fetch_time)) for s in found]
        sent, refused = self._send(due, correlation_id)
        skipped = [source_id for source_id in wanted if source_id not in {s.source_id for s in found}]
        return DispatchCounts(
            due=len(due),
            messages=sent,
            skipped=len(skipped),
            refused=refused,
            not_sent=tuple(source_id[:80] for source_id in skipped[:_NAMED_AT_MOST]),
        )

    def _send(self, due: Sequence[_Due], correlation_id: str, most: int | None = None) -> tuple[int, int]:
        sent = refused = 0
        messages = islice((message_body(chunk, correlation_id) for chunk in chunks_by_host(due)), most)
        while batch := list(islice(messages, _SQS_BATCH)):
            answer = self.queue.send_message_batch(
                QueueUrl=self.queue_url,
                Entries=[{"Id": str(n), "MessageBody": body} for n, body in enumerate(batch)],
            )
            sent += len(answer.get("Successful", ()))
            refused += len(answer.get("Failed", ()))
        return sent, refused


class _LongestDue:
    """Keeps those of many due sources that have been due longest; threads may share it.

    Attributes:
        until: only what was due by then can still be among them.
    """

    def __init__(self, most: int, now: str) -> None:
        self.until = now
        self._most = most
        self._kept: list[_Due] = []
        self._lock = Lock()

    def add(self, due: Iterable[_Due]) -> None:
        with self._lock:
            self._kept += due
            if len(self._kept) >= 2 * self._most:
                self._kept = self.sources()
                self.until = self._kept[-1].due_at

    def sources(self) -> list[_Due]:
        """Return them, those first that have been due longest."""
        return sorted(self._kept, key=lambda source: source.due_at)[: self._most]


def chunks_by_host(due: Sequence[_Due], size: int = SOURCES_PER_MESSAGE) -> Iterator[list[_Due]]:
    """Yield the sources in chunks, the most urgent first and the sources of one host in one chunk.

    One function then fetches all that a host is asked for, so politeness needs no shared lock. A host with
    more than `size` sources makes a chunk of its own as long as it takes, up to five times `size`.
    """
    by_host: dict[str, list[_Due]] = {}
    for source in sorted(due, key=lambda source: (source.priority, source.due_at)):
        by_host.setdefault(source.host, []).append(source)
    chunk: list[_Due] = []
    for group in by_host.values():
        for start in range(0, len(group), size * 5):
            part = group[start : start + size * 5]
            if chunk and len(chunk) + len(part) > size:
                yield chunk
                chunk = []
            chunk.extend(part)
    if chunk:
        yield chunk


def message_body(due: Iterable[_Due], correlation_id: str) -> str:
    """Return the `sourcebook.events.FetchRequested` for these sources, as JSON.

    Written without that class: dispatch reads no message, and pydantic would be a third of what it loads at
    its start.
    """
    sources = [
        {"source_id": s.source_id, "kind": s.kind, "due_at": isoformat(parse_iso(s.due_at))} for s in due
    ]
    return json.dumps(
        {"schema_version": SCHEMA_VERSION, "correlation_id": correlation_id, "sources": sources},
        ensure_ascii=False,
        separators=(",", ":"),
    )


def _due(item: Item) -> _Due:
    return _Due(
        item["source_id"], item["kind"], item.get("host", ""), item["priority"], item["next_fetch_time"]
    )
