"""Telling the event bus: ten events a request, refusals sent again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from sourcebook.errors import Retryable
from sourcebook.events import BusEvent

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient

SOURCE: Final = "sourcebook"
"""The `source` of every event of this project."""
IDS_IN_ONE: Final = 100
"""Ids that one event carries: it stays far below the 256 KB that a request may have."""

_BATCH: Final = 10
_ATTEMPTS: Final = 5


class EventRefused(Retryable):
    """The bus did not take an event, also when asked again."""


@dataclass(frozen=True, slots=True)
class EventBus:
    """Puts events on the project's bus."""

    client: EventBridgeClient
    name: str
    sleep: Callable[[float], None] = field(default=time.sleep)

    def tell(self, events: Iterable[BusEvent]) -> int:
        """Put events on the bus and return how many there were.

        Raises:
            EventRefused: if it did not take all of them. Telling them all again is harmless.
        """
        remaining = iter(events)
        told = 0
        while chunk := list(islice(remaining, _BATCH)):
            self._put(
                [
                    {
                        "EventBusName": self.name,
                        "Source": SOURCE,
                        "DetailType": event.detail_type,
                        "Detail": event.model_dump_json(),
                    }
                    for event in chunk
                ]
            )
            told += len(chunk)
        return told

    def _put(self, waiting: list[dict[str, Any]]) -> None:
        reasons: list[str] = []
        for attempt in range(_ATTEMPTS):
            try:
                answer: Any = self.client.put_events(Entries=waiting)  # type: ignore[arg-type]
            except (ClientError, BotoCoreError) as error:
                raise EventRefused(f"EventBridge: {error}") from error
            # The request succeeds as a whole even when the bus refuses some of its entries.
            results = zip(waiting, answer["Entries"], strict=True)
            refused = [(entry, result["ErrorCode"]) for entry, result in results if result.get("ErrorCode")]
            waiting, reasons = [entry for entry, _ in refused], [code for _, code in refused]
            if not waiting:
                return
            self.sleep(0.1 * 2**attempt)
        raise EventRefused(
            f"EventBridge refused {len(waiting)} events {_ATTEMPTS} times: {reasons[0]}; they are told again"
        )
