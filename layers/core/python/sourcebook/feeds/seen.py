"""Fingerprints of the entries that a feed's document held lately: an entry seen before costs no request.

Packed, 18 bytes an entry (8 of its identity, 6 of its content, 4 for when it was first seen), so that a
feed of 50 entries costs one write unit when something changed and none when nothing did.

Beside them stand the names of young entries: by what else an entry may be found, and the id that its
article is stored under. A feed that makes guids and links of its headlines changes both when a headline is
edited; the edited entry is then found by a name of the one that left the document at the same time.
docs/decisions/0031-entries-that-change-their-guid.md has which names are believed, and when.
"""

from __future__ import annotations

import json
import re
import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cached_property
from hashlib import blake2b, sha256
from typing import Any, Final, NamedTuple

from sourcebook.clock import epoch_seconds

_RECORD: Final = struct.Struct(">8s6sI")
_NAME: Final = struct.Struct(">HIB")
_ALIAS: Final = 6
"""Bytes kept of an alias: the first ones of the digest that it would have as an identity."""
_KEPT_WHEN_GONE: Final = 300
"""Entries remembered after they left the document: some feeds drop entries and bring them back."""
_RECORDS_KEPT: Final = 15_000
_NAMES_KEPT: Final = 500
"""Both keep the item below DynamoDB's 400 kB, whatever a feed holds."""
_NAMED_FOR: Final = timedelta(days=3)
"""Headlines are edited soon after publication; names of older entries are not worth their bytes."""
_ID_LIMIT: Final = 300
_SLUG_WORD: Final = re.compile(r"[^\W\d_]{2,}|\d+")


class Freshness(StrEnum):
    """What is known of an entry in a document."""

    NEW = "new"
    EDITED = "edited"
    KNOWN = "known"


@dataclass(frozen=True, slots=True)
class EntryMark:
    """An entry as the fingerprints know it.

    Attributes:
        identity: what stays the same when the entry is edited, as far as the feed keeps to it.
        content: what changes when it is edited.
        aliases: other identities under which an earlier document may have held it, the best first.
        published: when it says it was published, or None.
        text: the plain text of its summary, from which identity and content were made.
    """

    identity: str
    content: str
    aliases: tuple[str, ...] = ()
    published: datetime | None = None
    text: str = ""


class Recognized(NamedTuple):
    """What is known of one entry.

    Attributes:
        freshness: an entry that the document lists a second time is known by then.
        first_seen: when it was first seen, to the second.
        article_id: the id that its article is stored under: by the identity it had when it was new.
    """

    freshness: Freshness
    first_seen: datetime
    article_id: str


class SeenComparison(NamedTuple):
    """A document beside what is remembered of its feed.

    Attributes:
        entries: one for each mark, in order.
        after: what to remember once the document was taken in; the same object as before when there is
            nothing new to remember.
    """

    entries: list[Recognized]
    after: SeenEntries


class _Record(NamedTuple):
    content: bytes
    first_seen: int


class _Name(NamedTuple):
    article_id: str
    published: int
    """Seconds since 1970; 0 when unknown."""
    aliases: tuple[bytes, ...]


def article_id_of(identity: str) -> str:
    """Return the id of an entry with this identity: its own id or link, hashed if too long for a key."""
    identity = identity.removeprefix("id:").removeprefix("link:")
    encoded = identity.encode("utf-8", "surrogatepass")
    return identity if len(encoded) <= _ID_LIMIT else f"sha256-{sha256(encoded).hexdigest()}"


class SeenEntries:
    """The fingerprints of one feed, in the order of its document, those that left it last.

    Attributes:
        packed: the fingerprints as they are stored.
        packed_names: the names as they are stored; empty when there are none.
    """

    def __init__(self, packed: bytes = b"", packed_names: bytes = b"") -> None:
        self.packed = packed
        self.packed_names = packed_names
        whole = len(packed) - len(packed) % _RECORD.size
        self._known = {
            identity: _Record(content, first_seen)
            for identity, content, first_seen in _RECORD.iter_unpack(packed[:whole])
        }

    @cached_property
    def _names(self) -> dict[bytes, _Name]:
        """The names by the identity of their entry, unpacked when they are asked for."""
        return _unpack_names(self.packed_names, list(self._known))

    def compare(self, marks: Sequence[EntryMark], now: datetime) -> SeenComparison:
        """Return which entries of a document are known, and what to remember of it."""
        digests = [_digest(mark.identity) for mark in marks]
        former = self._former(marks, digests)
        records: dict[bytes, _Record] = {}
        names: dict[bytes, _Name] = {}
        entries = []
        for mark, digest in zip(marks, digests, strict=True):
            before = former.get(digest, digest)
            known = self._known.get(before)
            record = _Record(
                blake2b(mark.content.encode("utf-8", "surrogatepass"), digest_size=6).digest(),
                known.first_seen if known else epoch_seconds(now),
            )
            if digest in records or record == known:
                freshness = Freshness.KNOWN
            else:
                freshness = Freshness.EDITED if known else Freshness.NEW
            article_id = self._article_id(mark, before) if known else article_id_of(mark.identity)
            entries.append(Recognized(freshness, datetime.fromtimestamp(record.first_seen, UTC), article_id))
            if digest in records:
                continue
            records[digest] = record
            if record == self._known.get(digest) and digest in self._names:
                names[digest] = self._names[
                    digest
                ]  # what is no edit, such as the time of day, renames nothing
            else:
                aliases = tuple(_digest(alias)[:_ALIAS] for alias in mark.aliases)
                names[digest] = _Name(article_id, _second(mark.published), aliases)
        became_another = set(former.values())
        gone = [i for i in self._known if i not in records and i not in became_another][:_KEPT_WHEN_GONE]
        records |= {identity: self._known[identity] for identity in gone}
        names |= {identity: self._names[identity] for identity in gone if identity in self._names}
        return SeenComparison(entries, self._following(records, names, now))

    def _article_id(self, mark: EntryMark, before: bytes) -> str:
        """Return the id of the article of an entry that is remembered under `before`."""
        if before in self._names:
            return self._names[before].article_id
        identities = (mark.identity, *mark.aliases)
        return article_id_of(next(identity for identity in identities if _digest(identity) == before))

    def _former(self, marks: Sequence[EntryMark], digests: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return, for entries that came under a new identity, the one under which they are remembered.

        Only an entry that is not in the document any more can have become another one, and only one.
        """
        unknown = {d: mark for d, mark in zip(digests, marks, strict=True) if d not in self._known}
        absent = self._known.keys() - set(digests)
        if not unknown or not absent:
            return {}
        named = {identity: self._names[identity] for identity in absent if identity in self._names}
        by_alias = _unambiguous((alias, i) for i, name in named.items() for alias in name.aliases)
        by_second = _unambiguous((name.published, i) for i, name in named.items())
        seconds = Counter(_second(mark.published) for mark in marks)
        found: dict[bytes, bytes] = {}
        for digest, mark in unknown.items():
            second = _second(mark.published)
            match = _by_alias(mark, absent, named, by_alias)
            if match is None and second % 3600 and seconds[second] == 1:
                match = by_second.get(second)
                if match and not _are_edits(named[match].article_id, article_id_of(mark.identity)):
                    match = None
            if match is not None:
                found[digest] = match
                absent.discard(match)
        return found

    def _following(
        self, records: Mapping[bytes, _Record], names: Mapping[bytes, _Name], now: datetime
    ) -> SeenEntries:
        """Return what to remember: `self` when all of it is remembered already, and only names have aged."""
        kept = list(records.items())[:_RECORDS_KEPT]
        packed = b"".join(_RECORD.pack(identity, *record) for identity, record in kept)
        youngest = epoch_seconds(now - _NAMED_FOR)
        renamed, young = [], []
        for position, (identity, record) in enumerate(kept):
            name = names.get(identity)
            if name is None:
                continue
            if _is_renamed(identity, name):
                renamed.append((position, name))
            elif record.first_seen >= youngest and (name.aliases or name.published):
                young.append((position, name))
        worth = sorted([*renamed, *young][:_NAMES_KEPT])
        if packed == self.packed and all(self._names.get(kept[at][0]) == name for at, name in worth):
            return self
        return SeenEntries(packed, _pack_names(worth))


def _by_alias(
    mark: EntryMark, absent: set[bytes], named: Mapping[bytes, _Name], by_alias: Mapping[bytes, bytes]
) -> bytes | None:
    """Return the remembered entry that had one of these aliases, as its identity or beside it."""
    for alias in mark.aliases:
        digest = _digest(alias)
        if digest in absent:
            return digest
        match = by_alias.get(digest[:_ALIAS])
        if match is None or match not in absent:
            continue
        # A page that every story of a feed links to: the date distinguishes them.
        dates = {named[match].published, _second(mark.published)} - {0}
        if len(dates) < 2:
            return match
    return None


def _unambiguous(pairs: Iterable[tuple[Any, bytes]]) -> dict[Any, bytes]:
    """Return the identity that each key leads to, without the keys that lead to several."""
    pairs = set(pairs)
    leads = Counter(key for key, _ in pairs)
    return {key: identity for key, identity in pairs if leads[key] == 1}


def _are_edits(one: str, other: str) -> bool:
    """Return whether two ids can be the slugs of one headline before and after an edit.

    They share at least two words and half of those of the longer one, and all of their numbers: a number is
    mostly the story's own.
    """
    first, second = _slug(one), _slug(other)
    numbers = {word for word in first ^ second if word.isdigit()}
    shared = {word for word in first & second if not word.isdigit()}
    words = max(sum(not word.isdigit() for word in slug) for slug in (first, second))
    return not numbers and len(shared) >= 2 and 2 * len(shared) >= words


def _slug(article_id: str) -> set[str]:
    """Return the words of the part of an id or address that has most of them, without the host."""
    _, _, path = article_id.rpartition("://")
    parts = re.split(r"[/?&=#:,]", path.partition("/")[2] if path != article_id else article_id)
    return max((set(_SLUG_WORD.findall(part.casefold())) for part in parts), key=len)


def _is_renamed(identity: bytes, name: _Name) -> bool:
    """Return whether an entry's article is stored under another id than that of its identity."""
    return all(_digest(kind + name.article_id) != identity for kind in ("id:", "link:", ""))


def _second(moment: datetime | None) -> int:
    seconds = int(moment.timestamp()) if moment else 0
    return seconds if 0 < seconds < 2**32 else 0


def _pack_names(names: Sequence[tuple[int, _Name]]) -> bytes:
    if not names:
        return b""
    heads = b"".join(
        _NAME.pack(position, name.published, len(name.aliases)) + b"".join(name.aliases)
        for position, name in names
    )
    ids = json.dumps([name.article_id for _, name in names]).encode()
    return zlib.compress(len(names).to_bytes(2) + heads + ids)


def _unpack_names(packed: bytes, identities: Sequence[bytes]) -> dict[bytes, _Name]:
    """Return the names by the identity of their entry."""
    if not packed:
        return {}
    raw = zlib.decompress(packed)
    heads = []
    at = 2
    for _ in range(int.from_bytes(raw[:2])):
        position, published, count = _NAME.unpack_from(raw, at)
        at += _NAME.size
        aliases = tuple(raw[at + n * _ALIAS : at + (n + 1) * _ALIAS] for n in range(count))
        at += count * _ALIAS
        heads.append((identities[position], published, aliases))
    return {
        identity: _Name(article_id, published, aliases)
        for (identity, published, aliases), article_id in zip(heads, json.loads(raw[at:]), strict=True)
    }


def _digest(identity: str) -> bytes:
    return blake2b(identity.encode("utf-8", "surrogatepass"), digest_size=8).digest()
