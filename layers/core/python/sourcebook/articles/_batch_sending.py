"""Sending entries to a service that takes ten in one request and may refuse some of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Final, TypeAlias, TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from sourcebook.errors import Retryable

Entry = TypeVar("Entry")

Refusals: TypeAlias = list[tuple[Entry, str]]
"""Entries that a service did not take, each with the code that it gave for it."""

BATCH: Final = 10
"""Entries in one request; the limit of SNS and of EventBridge."""

ATTEMPTS: Final = 5
"""How often an entry is offered."""


def send_in_batches(
    entries: Iterable[Entry],
    send: Callable[[list[Entry]], Refusals[Entry]],
    *,
    service: str,
    refused: type[Retryable],
    sleep: Callable[[float], None],
) -> int:
    """Send entries ten at a time, those that are refused again after a pause, and return how many there were.

    Args:
        entries: what to send; taken as it is needed.
        send: makes one request and returns what was refused. A request may succeed as a whole and still
            refuse some of its entries.
        service: its name, for messages.
        refused: the error to raise.
        sleep: pauses for seconds: 0.1, 0.2, 0.4 and 0.8 after an entry's attempts.

    Raises:
        Retryable: of the kind `refused`, if a request failed or an entry was refused to the end. Entries sent
            before that stay sent.
    """
    remaining = iter(entries)
    sent = 0
    while batch := list(islice(remaining, BATCH)):
        _send_one(batch, send, service=service, refused=refused, sleep=sleep)
        sent += len(batch)
    return sent


def _send_one(
    batch: list[Entry],
    send: Callable[[list[Entry]], Refusals[Entry]],
    *,
    service: str,
    refused: type[Retryable],
    sleep: Callable[[float], None],
) -> None:
    waiting, reason = batch, ""
    for attempt in range(ATTEMPTS):
        if attempt:
            sleep(0.1 * 2 ** (attempt - 1))
        try:
            refusals = send(waiting)
        except (ClientError, BotoCoreError) as error:
            raise refused(f"{service}: {error}") from error
        if not refusals:
            return
        waiting, reason = [entry for entry, _ in refusals], refusals[0][1]
    raise refused(f"{service} refused {len(waiting)} of {len(batch)} entries {ATTEMPTS} times: {reason}")
