"""Puts events on the EventBridge bus, in batches."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from sourcebook.articles._batch_sending import send_in_batches
from sourcebook.errors import Retryable
from sourcebook.events import BusEvent

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient

SOURCE: Final = "sourcebook"
"""The `source` of every event of this project."""
IDS_IN_ONE: Final = 100
"""Ids that one event carries: it stays far below the 256 KB that a request may have."""


class EventRefused(Retryable):
    """The bus did not take an event, also when asked again."""


@dataclass(frozen=True, slots=True)
class EventBus:
    """Puts events on the project's bus."""

    client: EventBridgeClient
    name: str
    sleep: Callable[[float], None] = field(default=time.sleep)

    def put(self, events: Iterable[BusEvent]) -> int:
        """Put events on the bus and return how many there were.

        Raises:
            EventRefused: if it did not take all of them. Putting them all again is harmless.
        """
        return send_in_batches(
            events, self._put, service="EventBridge", refused=EventRefused, sleep=self.sleep
        )

    def _put(self, events: list[BusEvent]) -> list[tuple[BusEvent, str]]:
        entries: Any = [
            {
                "EventBusName": self.name,
                "Source": SOURCE,
                "DetailType": event.detail_type,
                "Detail": event.model_dump_json(),
            }
            for event in events
        ]
        answer: Any = self.client.put_events(Entries=entries)
        results = zip(events, answer["Entries"], strict=True)
        return [(event, result["ErrorCode"]) for event, result in results if result.get("ErrorCode")]
