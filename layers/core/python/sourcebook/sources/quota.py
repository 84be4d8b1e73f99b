"""Daily quotas of calls, counted atomically, and the circuit breaker that spares a provider in trouble."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from boto3.dynamodb.conditions import Attr

from sourcebook.clock import epoch_seconds
from sourcebook.messages import Json, Message
from sourcebook.schema import SCHEMA_VERSION
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed, Table

OPENS_AFTER: Final = 5
"""Failures within `WITHIN` that open a circuit."""
WITHIN: Final = timedelta(seconds=300)
OPEN_FOR: Final = timedelta(seconds=300)
"""How long an open circuit lets no call through; then one call probes."""


def take_calls(table: Table, source_id: str, wanted: int, limit: int, now: datetime) -> int:
    """Take up to `wanted` calls out of the quota of `limit` of this day, UTC; return how many were granted.

    Calls are taken before they are made, so a run that dies uses them up; it never makes more calls than are
    granted, however many runs there are at once.
    """
    key = keys.source_quota(source_id, f"{now:%Y-%m-%d}")
    item = table.get(key, consistent=True)
    calls = min(wanted, limit - (item["calls"] if item else 0))
    while calls > 0:
        try:
            table.update(
                key,
                assign={
                    "entity_type": "Quota",
                    "schema_version": SCHEMA_VERSION,
                    "ttl_timestamp": epoch_seconds(now + timedelta(days=7)),
                },
                increment={"calls": calls},
                condition=Attr("calls").not_exists() | Attr("calls").lte(limit - calls),
            )
        except ConditionFailed:
            calls //= 2  # others have taken some meanwhile
        else:
            return calls
    return 0


@dataclass(frozen=True, slots=True)
class CircuitBreaker(Message):
    """Closed while calls succeed; open after five failures in 300 s; then one call probes.

    A value: every change gives a new one, which is kept with the source's state.
    """

    failures: tuple[datetime, ...] = ()
    opened_at: datetime | None = None

    def allows(self, now: datetime) -> bool:
        """Whether calls may be made: always when closed, and to probe when it was open long enough."""
        return self.closes_at is None or now >= self.closes_at

    def is_probing(self, now: datetime) -> bool:
        """Whether only one call may be made, to see if the provider is back."""
        return self.opened_at is not None and self.allows(now)

    @property
    def closes_at(self) -> datetime | None:
        """The time of the next probe; None when it is closed."""
        return None if self.opened_at is None else self.opened_at + OPEN_FOR

    def failed(self, now: datetime) -> CircuitBreaker:
        """Return the breaker after a call that failed."""
        recent = (*(moment for moment in self.failures if moment > now - WITHIN), now)[-OPENS_AFTER:]
        if self.is_probing(now) or len(recent) >= OPENS_AFTER:
            return CircuitBreaker(recent, now)
        return replace(self, failures=recent)

    def succeeded(self) -> CircuitBreaker:
        """Return the breaker after a call that succeeded."""
        return CircuitBreaker()

    def to_state(self) -> Mapping[str, Json] | None:
        """Return the form that a source's state keeps; None when there is nothing to remember."""
        return None if self == CircuitBreaker() else self.to_json()
