"""Fingerprints of the entries that a feed's document held lately: an entry seen before costs no request.

Packed, 18 bytes an entry (8 of its identity, 6 of its content, 4 for when it was first seen), so that a
feed of 50 entries costs one write unit when something changed and none when nothing did.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import blake2b
from typing import Final

from sourcebook.clock import epoch_seconds

_RECORD: Final = struct.Struct(">8s6sI")
_KEPT_WHEN_GONE: Final = 300
"""Entries remembered after they left the document: some feeds drop entries and bring them back."""


class Freshness(StrEnum):
    """What is known of an entry in a document."""

    NEW = "new"
    EDITED = "edited"
    KNOWN = "known"


@dataclass(frozen=True, slots=True)
class EntryMark:
    """An entry as the fingerprints know it.

    Attributes:
        identity: what stays the same when the entry is edited.
        content: what changes when it is edited.
    """

    identity: str
    content: str


class SeenEntries:
    """The fingerprints of one feed, in the order of its document, those that left it last."""

    def __init__(self, packed: bytes = b"") -> None:
        self._packed = packed
        whole = len(packed) - len(packed) % _RECORD.size
        self._known = {
            identity: (content, first_seen)
            for identity, content, first_seen in _RECORD.iter_unpack(packed[:whole])
        }

    def freshness(self, mark: EntryMark) -> Freshness:
        """Say whether an entry is new, edited or known."""
        known = self._known.get(_digest(mark.identity, 8))
        if known is None:
            return Freshness.NEW
        return Freshness.KNOWN if known[0] == _digest(mark.content, 6) else Freshness.EDITED

    def first_seen(self, mark: EntryMark, now: datetime) -> datetime:
        """Return when an entry was first seen, to the second: now, if it was not seen before."""
        known = self._known.get(_digest(mark.identity, 8))
        return datetime.fromtimestamp(known[1] if known else epoch_seconds(now), UTC)

    def after(self, marks: Sequence[EntryMark], now: datetime) -> bytes:
        """Return the packed fingerprints after a document with these entries was taken in."""
        current: dict[bytes, tuple[bytes, int]] = {}
        for mark in marks:
            identity = _digest(mark.identity, 8)
            known = self._known.get(identity)
            current[identity] = (_digest(mark.content, 6), known[1] if known else epoch_seconds(now))
        gone = [(identity, *rest) for identity, rest in self._known.items() if identity not in current]
        records = [(identity, *rest) for identity, rest in current.items()]
        return b"".join(_RECORD.pack(*record) for record in (*records, *gone[:_KEPT_WHEN_GONE]))

    @property
    def packed(self) -> bytes:
        """The fingerprints as they are stored."""
        return self._packed


def _digest(text: str, size: int) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).digest()
