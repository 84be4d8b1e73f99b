"""Daily quotas of calls, counted atomically, and the circuit breaker that spares a provider in trouble."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from boto3.dynamodb.conditions import Attr

from sourcebook.clock import Clock, epoch_seconds, isoformat, parse_iso, utc_now
from sourcebook.schema import SCHEMA_VERSION
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed, Table

OPENS_AFTER: Final = 5
"""Failures within `WITHIN` that open a circuit."""
WITHIN: Final = timedelta(seconds=300)
OPEN_FOR: Final = timedelta(seconds=300)
"""How long an open circuit lets no call through; then one call probes."""


@dataclass(frozen=True, slots=True)
class DailyQuota:
    """Calls that a provider grants in one day, UTC."""

    table: Table
    clock: Clock = utc_now

    def take(self, source_id: str, wanted: int, limit: int) -> int:
        """Take up to `wanted` calls out of the day's quota and return how many were granted.

        Calls are taken before they are made, so a run that dies uses them up; it never makes more calls
        than are granted, however many runs there are at once.
        """
        now = self.clock()
        for calls in _attempts(wanted, self._left(source_id, now, limit)):
            try:
                self.table.update(
                    keys.source_quota(source_id, f"{now:%Y-%m-%d}"),
                    assign={
                        "entity_type": "Quota",
                        "schema_version": SCHEMA_VERSION,
                        "ttl_timestamp": epoch_seconds(now + timedelta(days=7)),
                    },
                    increment={"calls": calls},
                    condition=Attr("calls").not_exists() | Attr("calls").lte(limit - calls),
                )
            except ConditionFailed:
                continue
            return calls
        return 0

    def _left(self, source_id: str, now: datetime, limit: int) -> int:
        item = self.table.get(keys.source_quota(source_id, f"{now:%Y-%m-%d}"), consistent=True)
        return limit - (item["calls"] if item else 0)


def _attempts(wanted: int, left: int) -> list[int]:
    """Return the amounts to try: what is wanted, or what is left, and less if others take some meanwhile."""
    amount = min(wanted, left)
    tries: list[int] = []
    while amount > 0:
        tries.append(amount)
        amount //= 2
    return tries


@dataclass(frozen=True, slots=True)
class CircuitBreaker:
    """Closed while calls succeed; open after five failures in 300 s; then one call probes.

    A value: every change gives a new one, which is kept with the source's state.
    """

    failures: tuple[datetime, ...] = ()
    opened_at: datetime | None = None

    def allows(self, now: datetime) -> bool:
        """Whether calls may be made: always when closed, and to probe when it was open long enough."""
        return self.opened_at is None or now >= self.opened_at + OPEN_FOR

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

    @classmethod
    def from_state(cls, state: Mapping[str, Any] | None) -> CircuitBreaker:
        """Read the breaker from a source's state."""
        if not state:
            return cls()
        opened = state.get("opened_at")
        return cls(
            tuple(parse_iso(moment) for moment in state.get("failures", ())),
            parse_iso(opened) if opened else None,
        )

    def to_state(self) -> dict[str, object] | None:
        """Return the form that a source's state keeps; None when there is nothing to remember."""
        if not self.failures and self.opened_at is None:
            return None
        state: dict[str, object] = {"failures": [isoformat(moment) for moment in self.failures]}
        return state | ({"opened_at": isoformat(self.opened_at)} if self.opened_at else {})
