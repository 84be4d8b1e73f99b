"""Find the spectra that are due, and give each to exactly one run.

The index by_status lists them as ``ACQUIRE``, ordered by the time from which they may be tried. A spectrum is
claimed before its run is started: a conditional update moves its time in the index an hour ahead, so that of
several sweeps one wins. If the run is lost, the spectrum is due again after that hour.
`next_eligible_attempt_at`, the time before which it may not be tried at all, is not changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from boto3.dynamodb.conditions import Attr
from boto3.dynamodb.conditions import Key as KeyCondition

from sourcebook.clock import Clock, epoch_seconds, isoformat, parse_iso, utc_now
from sourcebook.errors import InvalidInput
from sourcebook.spectra.load import LEASE
from sourcebook.spectra.messages import Claimed, ClaimedSpectrum
from sourcebook.spectra.products import ELIGIBLE_STATUS, read_spectrum_sort_key, run_name
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed, Table, in_any_shard
from sourcebook.table.codec import Item
from sourcebook.table.pages import walk_shards

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger

    from sourcebook.novae.review import Starter

WORKFLOW: Final = "acquire_due_spectra"
"""The workflow that acquires what is due, so many at once."""
LOCK: Final = f"{WORKFLOW}:all:1:always"
"""Its lock, as it takes it itself: one sweep at a time, whatever the day."""
MOST_COUNTED: Final = 1_000

_PAGE: Final = 100


def due_spectra(table: Table, now: datetime, page_size: int = _PAGE) -> Iterator[Item]:
    """Return keys and time of the spectra that are due, the longest due first."""
    until = KeyCondition("timestamp").lte(isoformat(now))
    return walk_shards(table, "status", ELIGIBLE_STATUS, until, index=keys.STATUS_INDEX, page_size=page_size)


def claim_spectra(table: Table, logger: Logger, most: int, clock: Clock = utc_now) -> Claimed:
    """Claim up to `most` due spectra, and return each with the name of its execution."""
    now = clock()
    claimed: list[ClaimedSpectrum] = []
    for row in due_spectra(table, now):
        if len(claimed) >= most:
            break
        try:
            provider, data_product_id = read_spectrum_sort_key(row["SK"])
        except InvalidInput as error:
            logger.warning("due_is_no_spectrum", extra={"reason": str(error)})
            continue
        attempts = _take(table, row, now)
        if attempts is not None:
            claimed.append(
                ClaimedSpectrum(
                    name=run_name(data_product_id, attempts, row["timestamp"]),
                    nova_id=row["PK"],
                    data_product_id=data_product_id,
                    provider=provider,
                )
            )
    return Claimed(claimed=tuple(claimed))


def _take(table: Table, row: Item, now: datetime) -> int | None:
    """Claim one spectrum. Return how often it was tried, or None if it is claimed already."""
    try:
        item = table.update(
            keys.key_of(row),
            assign={"timestamp": isoformat(now + LEASE), "claimed_at": isoformat(now)},
            condition=in_any_shard("status", ELIGIBLE_STATUS) & Attr("timestamp").eq(row["timestamp"]),
        )
    except ConditionFailed:
        # The index shows late what has changed: it is claimed, or has come to its end.
        return None
    return int(item.get("attempt_count", 0))


@dataclass(frozen=True, slots=True)
class Sweep:
    """Counts of a sweep.

    Attributes:
        due: how many there are, counted up to `MOST_COUNTED`.
        overdue_minutes: how long the first of them has been due.
        started: ARN of the execution that runs them, if one was started.
    """

    due: int
    overdue_minutes: float
    started: str | None = None


def sweep_spectra(table: Table, start: Starter, clock: Clock = utc_now) -> Sweep:
    """Count what is due, and start the workflow if there is something and none is running.

    Raises:
        NotStarted, NoSuchWorkflow: if the state machine could not be started.
    """
    now = clock()
    due, oldest = 0, now
    for row in due_spectra(table, now, MOST_COUNTED):
        oldest = min(oldest, parse_iso(row["timestamp"]))
        due += 1
        if due == MOST_COUNTED:
            break
    overdue = round((now - oldest).total_seconds() / 60, 1)
    if not due:
        return Sweep(due, overdue)
    lock = table.get(keys.lock(LOCK), consistent=True)
    if lock is not None and lock["ttl_timestamp"] >= epoch_seconds(now):
        return Sweep(due, overdue)
    # A call that is made twice within the minute starts one execution.
    return Sweep(due, overdue, start(WORKFLOW, {}, f"sweep-{now:%Y%m%dT%H%M}"))
