"""What rules have fired for, and how far its delivery is: outbox and log in one.

A firing is one item, created once by its key: the same happening of the same rule is the same item. While
something of it is left to deliver it stands in EligibilityIndex, by when it may be tried.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from boto3.dynamodb.conditions import Attr
from boto3.dynamodb.conditions import Key as KeyCondition

from sourcebook.alerts.happenings import Fact
from sourcebook.clock import Clock, epoch_seconds, isoformat, utc_now
from sourcebook.records.alert import AlertRule, Delivery, DeliveryState, Way
from sourcebook.schema import SCHEMA_VERSION
from sourcebook.table import keys
from sourcebook.table.client import Table

KEPT: Final = timedelta(days=40)
"""Longer than articles are kept, so that none fires twice for one."""
PAUSES: Final = tuple(timedelta(minutes=m) for m in (1, 5, 15, 30, 60, 120, 240, 480, 480))
"""Between two attempts: a day in all."""


def event_id_of(alert_id: str, kind: str, identity: str) -> str:
    """Return the id of what a rule fires for: the same for the same happening."""
    return f"evt_{hashlib.sha256(f'{alert_id}|{kind}|{identity}'.encode()).hexdigest()[:32]}"


@dataclass(frozen=True, slots=True)
class DeliveryStore:
    """The firings in the table."""

    table: Table
    clock: Clock = utc_now

    def fire(self, rule: AlertRule, kind: str, identity: str, at: str, facts: Mapping[str, Fact]) -> bool:
        """Keep that a rule fires, to be delivered; return whether it had not fired for the same before."""
        now = self.clock()
        event_id = event_id_of(rule.alert_id, kind, identity)
        payload = {
            "schema_version": SCHEMA_VERSION,
            "correlation_id": event_id,
            "alert_id": rule.alert_id,
            "alert_name": rule.name,
            "event_id": event_id,
            "kind": kind,
            "at": at,
            "facts": dict(facts),
        }
        todo = (Way.BUS, *([Way.MAIL] if rule.mail else []), *([Way.WEBHOOK] if rule.webhook else []))
        made = Delivery(
            alert_id=rule.alert_id,
            event_id=event_id,
            kind=kind,
            at=at,
            payload=json.dumps(payload, ensure_ascii=False, separators=(",", ":")),
            todo=todo,
            created_at=isoformat(now, "milliseconds"),
            next_attempt_at=isoformat(now),
            ttl_timestamp=epoch_seconds(now + KEPT),
        )
        key = keys.alert_delivery(rule.alert_id, event_id)
        index = keys.due_delivery(rule.alert_id, event_id, isoformat(now))
        return self.table.create(made.to_item(key, index)) is None

    def due(self, most: int) -> list[Delivery]:
        """Return what may be delivered now, what has waited longest first."""
        condition = KeyCondition("GSI1PK").eq(keys.DUE_DELIVERIES) & KeyCondition("GSI1SK").lte(
            f"{isoformat(self.clock())}~"
        )
        page = self.table.query(condition, index=keys.ELIGIBILITY_INDEX, limit=most)
        wanted = [keys.key_of(item) for item in page.items]
        found = [Delivery.of_item(item) for item in self.table.batch_get(wanted, consistent=True)]
        now = isoformat(self.clock())
        waiting = [one for one in found if one.state is DeliveryState.PENDING and one.next_attempt_at <= now]
        return sorted(waiting, key=lambda one: (one.next_attempt_at, one.created_at))

    def claim(self, delivery: Delivery) -> bool:
        """Count an attempt and say when the next may be; return False if somebody else has it in hand.

        Whoever dies after this leaves a delivery that is tried again at that time.
        """
        again = self.clock() + PAUSES[min(delivery.attempts, len(PAUSES) - 1)]
        return self.table.change_if(
            Attr("state").eq(DeliveryState.PENDING.value) & Attr("attempts").eq(delivery.attempts),
            keys.alert_delivery(delivery.alert_id, delivery.event_id),
            assign={
                "next_attempt_at": isoformat(again),
                **keys.due_delivery(delivery.alert_id, delivery.event_id, isoformat(again)),
            },
            increment={"attempts": 1},
        )

    def note(
        self, delivery: Delivery, left: Sequence[Way], error: str | None, *, final: bool
    ) -> DeliveryState:
        """Keep what came of an attempt, and return the state of the delivery.

        Args:
            delivery: as it was before it was claimed.
            left: ways by which it is still not delivered.
            error: what went wrong.
            final: whether trying again is of no use.
        """
        state = DeliveryState.PENDING if left else DeliveryState.DELIVERED
        if left and (final or delivery.attempts >= len(PAUSES)):
            state = DeliveryState.GIVEN_UP
        self._end(delivery, state, left, error)
        return state

    def cancel(self, delivery: Delivery, reason: str) -> None:
        """Keep that it is not to be delivered any more."""
        self._end(delivery, DeliveryState.CANCELLED, delivery.todo, reason)

    def log(self, alert_id: str) -> list[Delivery]:
        """Return what a rule has fired for in the last 40 days, the newest first."""
        rows = self.table.items_of(keys.alert_partition(alert_id), keys.DELIVERY_PREFIX, consistent=True)
        found = map(Delivery.of_item, rows)
        return sorted(found, key=lambda one: (one.created_at, one.event_id), reverse=True)

    def _end(self, delivery: Delivery, state: DeliveryState, left: Sequence[Way], error: str | None) -> None:
        place: dict[str, object] = {} if state is DeliveryState.PENDING else {"GSI1PK": None, "GSI1SK": None}
        self.table.change(
            keys.alert_delivery(delivery.alert_id, delivery.event_id),
            assign={
                "state": state.value,
                "todo": [way.value for way in left],
                "last_error": None if error is None else error[:300],
                "delivered_at": isoformat(self.clock()) if state is DeliveryState.DELIVERED else None,
                **place,
            },
            condition=Attr("PK").exists(),
        )
