"""Job runs and their attempts, as they are served."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from boto3.dynamodb.conditions import Key as KeyCondition

from sourcebook.clock import Clock, parse_iso, utc_now
from sourcebook.records.base import View
from sourcebook.records.run import Attempt, JobRun, RunStatus
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item
from sourcebook.table.pages import (
    ListedItem,
    Listing,
    Page,
    Stream,
    bad_cursor,
    between,
    fill_page,
    in_partition,
    merge_newest_first,
    merged_position,
)

STATUSES: Final = tuple(status.value for status in RunStatus)
LONGEST_RUN: Final = timedelta(minutes=30)
"""No state machine may run longer; a run that is RUNNING after this has been aborted or lost."""
LONG_RUNS: Final = dict.fromkeys(
    ("reanalyze_subject", "rebuild_canonical", "export_period"), timedelta(days=1)
)
"""Except these, which go through everything that a part of the table holds."""

_ATTEMPTS_AT_MOST: Final = 1_000


@dataclass(frozen=True, slots=True)
class RunReader:
    """Reads the records that workflows leave."""

    table: Table
    clock: Clock = utc_now

    def get(self, job_run_id: str) -> View | None:
        """Return a job run with its attempts in order, or None if there is none with this id.

        Up to 1,000 attempts are given; `attempts_left_out` says whether there are more.
        """
        if not job_run_id or len(job_run_id) > 80:
            return None
        index = KeyCondition("GSI1PK").eq(keys.job_run_by_id(job_run_id))
        found = self.table.query(index, index=keys.ELIGIBILITY_INDEX, limit=1).items
        run = self.table.get({"PK": found[0]["PK"], "SK": found[0]["SK"]}) if found else None
        if run is None:
            started = self.table.get(keys.started_run(job_run_id), consistent=True)
            return self._public(started) | {"attempts": [], "attempts_left_out": False} if started else None
        attempts = list(self.attempts(run["PK"], job_run_id, most=_ATTEMPTS_AT_MOST + 1))
        shown = [Attempt.of_item(item).shown() for item in attempts[:_ATTEMPTS_AT_MOST]]
        return self._public(run) | {"attempts": shown, "attempts_left_out": len(attempts) > _ATTEMPTS_AT_MOST}

    def attempts(self, record: str, job_run_id: str, *, most: int | None = None) -> list[Item]:
        """Return the attempts of a run, by the time they began."""
        found = self.table.items_of(record, keys.attempts_of(job_run_id), most=most)
        return sorted(found, key=lambda item: (item["created_at"], item["SK"]))

    def page(
        self, *, status: str | None = None, workflow: str | None = None, limit: int, cursor: str | None = None
    ) -> Page[View]:
        """Return one page of all runs, newest first.

        Args:
            status: one of `STATUSES`, or None for all.
            workflow: name of a workflow, or None for all.
            limit: runs of a full page.
            cursor: the `next_cursor` of the page before.

        Raises:
            InvalidInput: if the cursor is not one of this list with these filters.
        """
        listing = Listing.of("job-runs", {"status": status, "workflow": workflow})
        names = [status] if status else STATUSES
        after = None
        if cursor is not None:
            after = merged_position(listing, cursor, names)

        def stream(name: str) -> Stream:
            def read(first: str | None, last: str | None, after: str | None) -> Iterator[Item]:
                start = None
                if last and after:
                    partition, _, run = after.partition(f" {keys.JOB_RUN_PREFIX}")
                    own = {"PK": partition, "SK": f"{keys.JOB_RUN_PREFIX}{run}"}
                    start = {"status": name, "timestamp": last, **own}
                found = self.table.query_all(
                    in_partition("status", name, between(first, last)),
                    index=keys.STATUS_INDEX,
                    newest_first=True,
                    start=start,
                    page_size=limit + 1,
                )
                return (
                    item | {"run": item["PK"], "PK": f"{item['PK']} {item['SK']}"}
                    for item in found
                    if item["SK"].startswith(keys.JOB_RUN_PREFIX)
                )

            return read

        # What another workflow has left is looked at too, so that a page knows how much it has read.
        begin = f"{keys.JOB_RUN_PREFIX}{workflow}#" if workflow else keys.JOB_RUN_PREFIX

        def load(entries: list[ListedItem]) -> list[View | None]:
            wanted: list[keys.Key] = [
                {"PK": entry.item["run"], "SK": entry.item["SK"]}
                for entry in entries
                if not entry.given and entry.item["SK"].startswith(begin)
            ]
            items = {(item["PK"], item["SK"]): item for item in self.table.batch_get(wanted)}
            runs = [
                None if entry.given else items.get((entry.item["run"], entry.item["SK"])) for entry in entries
            ]
            return [self._public(run) if run and status in {None, run["status"]} else None for run in runs]

        return fill_page(
            merge_newest_first({name: stream(name) for name in names}, after),
            listing=listing,
            position=lambda entry: entry.position,
            load=load,
            limit=limit,
        )

    def of_nova(self, nova_id: str, *, limit: int, cursor: str | None = None) -> Page[View]:
        """Return one page of a nova's runs: by workflow, the newest of each first.

        Raise InvalidInput if the cursor is not one of this nova's runs.
        """
        listing = Listing.of("nova-job-runs", {"nova_id": nova_id})
        start = None
        if cursor is not None:
            (sort_key,) = listing.position(cursor, parts=1)
            if not sort_key.startswith(keys.JOB_RUN_PREFIX):
                raise bad_cursor(cursor)
            start = {"PK": nova_id, "SK": sort_key}
        runs = KeyCondition("PK").eq(nova_id) & KeyCondition("SK").begins_with(keys.JOB_RUN_PREFIX)
        return fill_page(
            self.table.query_all(runs, newest_first=True, start=start, page_size=limit + 1),
            listing=listing,
            position=lambda item: (item["SK"],),
            load=lambda items: [self._public(item) for item in items],
            limit=limit,
        )

    def _public(self, item: Item) -> View:
        run = JobRun.of_item(item)
        longest = LONG_RUNS.get(run.workflow_name, LONGEST_RUN)
        lost = run.status == RunStatus.RUNNING and self.clock() - parse_iso(run.started_at) > longest
        return run.shown() | {"lost": lost}
