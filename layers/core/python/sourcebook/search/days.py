"""The days of the index in the bucket: ``search/v2/<day>.db``, each replaced only by who has read it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Protocol

from sourcebook.bucket.objects import Content, ObjectChanged
from sourcebook.clock import Clock, epoch_seconds, utc_now
from sourcebook.errors import Retryable
from sourcebook.search.day import LARGEST, VERSION, Day, IndexedArticle

PREFIX: Final = f"search/v{VERSION}/"
"""Below it the bucket forgets what is older than the articles themselves."""

_BUSY: Final = 6 * 3600
"""Seconds after its end for which a day is still written often."""
_TRIES: Final = 8
_KEY: Final = re.compile(rf"{PREFIX}(\d{{4}}-\d\d-\d\d)\.db", re.ASCII)
_CONTENT_TYPE: Final = "application/vnd.sqlite3"


class Bucket(Protocol):
    """What is asked of the bucket; `sourcebook.bucket.objects.Objects` is one."""

    def read(self, key: str, largest: int) -> Content:
        """Return an object."""

    def create(self, key: str, body: bytes, content_type: str) -> str:
        """Write an object where there is none; raises `ObjectChanged` if there is one."""

    def replace(self, key: str, body: bytes, content_type: str, *, etag: str) -> str:
        """Write an object in place of the one with this ETag; raises `ObjectChanged` if it is another."""

    def etags(self, prefix: str) -> dict[str, str]:
        """Return the ETags of the objects below a prefix, by key."""


class DayContended(Retryable):
    """A day was written by others each time that it was tried."""


@dataclass(frozen=True, slots=True)
class Days:
    """The days of the index."""

    bucket: Bucket
    clock: Clock = utc_now

    def listed(self) -> dict[str, str]:
        """Return the days that there are, with their ETags."""
        found = self.bucket.etags(PREFIX)
        return {match[1]: etag for key, etag in found.items() if (match := _KEY.fullmatch(key))}

    def read(self, day: str) -> tuple[Day, str]:
        """Return a day and its ETag.

        Raises:
            DamagedIndex: if it is no index.
        """
        content = self.bucket.read(_key(day), LARGEST)
        return Day(content.body), content.etag

    def put(self, day: str, entries: Sequence[IndexedArticle], *, there: bool) -> int:
        """Add articles to a day, whoever else does so at this moment; return how many changed.

        Args:
            day: the day.
            entries: what to add.
            there: whether the bucket has the day, as far as is known.

        Raises:
            DamagedIndex: if the day that is there cannot be read: it is to be made again from the table.
            DayContended: if others wrote it each time.
        """
        for _ in range(_TRIES):
            index, etag = self.read(day) if there else (Day(), "")
            changed = index.put(entries)
            if there and not changed:
                return 0
            try:
                self._write(day, index, etag)
            except ObjectChanged:
                there = True
                continue
            return changed
        raise DayContended(f"the index of {day} was written by others {_TRIES} times")

    def make(self, day: str, entries: Iterable[IndexedArticle], *, etag: str | None) -> int:
        """Write a day anew, in one piece, and return how many articles it has.

        Args:
            day: the day.
            entries: all of its articles.
            etag: of the file that is there; None where there is none.

        Raises:
            ObjectChanged: if another file is there by now.
        """
        index = Day()
        count = index.put(entries)
        self._write(day, index, etag or "")
        return count

    def _write(self, day: str, index: Day, etag: str) -> None:
        packed = index.packed(small=day < day_of(epoch_seconds(self.clock()) - _BUSY))
        if etag:
            self.bucket.replace(_key(day), packed, _CONTENT_TYPE, etag=etag)
        else:
            self.bucket.create(_key(day), packed, _CONTENT_TYPE)


def day_of(seconds: int) -> str:
    """Return the day of a moment in seconds since 1970."""
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()


def _key(day: str) -> str:
    return f"{PREFIX}{day}.db"
