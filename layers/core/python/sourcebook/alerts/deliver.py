"""Delivering what rules have fired for: on the bus, by mail, by webhook."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sourcebook.alerts.deliveries import DeliveryStore
from sourcebook.alerts.mail import Mailer, NotTaken
from sourcebook.alerts.rules import RuleStore
from sourcebook.alerts.webhook import AT_ONCE, EVENT_TYPE, signed_headers
from sourcebook.clock import Clock, utc_now
from sourcebook.errors import Retryable
from sourcebook.events import AlertFired
from sourcebook.http.client import HttpClient
from sourcebook.http.errors import FetchCause, FetchError
from sourcebook.http.policy import HttpPolicy
from sourcebook.records.alert import AlertRule, Delivery, DeliveryState, Way

if TYPE_CHECKING:
    from sourcebook.articles.bus import EventBus

MOST: Final = 400
"""Deliveries that one run looks at."""
_REFUSED: Final = frozenset({FetchCause.BLOCKED_ADDRESS, FetchCause.BLOCKED_PORT, FetchCause.INVALID_URL})


@dataclass(slots=True)
class Delivered:
    """What a run came to: deliveries by what became of them."""

    delivered: int = 0
    again: int = 0
    given_up: int = 0
    cancelled: int = 0

    def count(self, state: DeliveryState) -> None:
        """Add one to the count."""
        name = "again" if state is DeliveryState.PENDING else state.lower()
        setattr(self, name, getattr(self, name) + 1)


@dataclass(frozen=True, slots=True)
class Deliverer:
    """Delivers what is due.

    Attributes:
        policy: of the client that asks webhooks; the guard is its part.
    """

    store: RuleStore
    deliveries: DeliveryStore
    bus: EventBus
    mailer: Mailer
    policy: HttpPolicy
    clock: Clock = utc_now

    async def run(self, more: Callable[[], bool] = lambda: True) -> Delivered:
        """Deliver what is due, each as far as it can be.

        Args:
            more: whether there is time for another one.
        """
        done = Delivered()
        slots = asyncio.Semaphore(AT_ONCE)
        async with HttpClient(self.policy, clock=self.clock) as client:

            async def one(delivery: Delivery) -> None:
                async with slots:
                    if more():
                        done.count(await self._deliver(client, delivery))

            await asyncio.gather(*map(one, self.deliveries.due(MOST)))
        return done

    async def _deliver(self, client: HttpClient, delivery: Delivery) -> DeliveryState:
        """Try one delivery, and return its state."""
        rule = self.store.get(delivery.alert_id)
        if rule is None:
            self.deliveries.cancel(delivery, "the rule was removed")
            return DeliveryState.CANCELLED
        if not self.deliveries.claim(delivery):
            return DeliveryState.PENDING
        event = AlertFired.model_validate_json(delivery.payload)
        left: list[Way] = []
        errors: list[str] = []
        final = True
        for way in delivery.todo:
            try:
                await self._by(way, client, rule, event)
            except NotTaken as refused:
                left.append(way)
                errors.append(f"{way}: {refused}")
                final = final and refused.final
        return self.deliveries.note(delivery, left, "; ".join(errors) or None, final=bool(left) and final)

    async def _by(self, way: Way, client: HttpClient, rule: AlertRule, event: AlertFired) -> None:
        if way is Way.BUS:
            try:
                self.bus.put([event])
            except Retryable as error:
                raise NotTaken(str(error)) from error
        # The rule may have lost its address since then.
        if way is Way.MAIL and rule.mail:
            self.mailer.send(rule.mail, event)
        if way is Way.WEBHOOK and rule.webhook and rule.secret:
            await self._post(client, rule.webhook, rule.secret, event)

    async def _post(self, client: HttpClient, webhook: str, secret: str, event: AlertFired) -> None:
        data = event.model_dump(mode="json")
        payload = {"type": EVENT_TYPE, "timestamp": data["at"], "data": data}
        body = json.dumps(payload, ensure_ascii=False).encode()
        headers = signed_headers(secret, event.event_id, self.clock(), body)
        try:
            answer = await client.post(webhook, body, headers=headers)
        except FetchError as error:
            raise NotTaken(f"{error.cause.value}: {error.detail}", final=error.cause in _REFUSED) from error
        if answer.status == 410:
            raise NotTaken("the receiver is gone (410)", final=True)
        if not 200 <= answer.status < 300:
            raise NotTaken(f"the receiver answered {answer.status}")
