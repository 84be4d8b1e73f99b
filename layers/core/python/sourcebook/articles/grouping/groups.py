"""Deciding which articles are of one event: pure functions over the articles of the last two days.

An article joins the event of the nearest headline on the same event, if it contradicts none of the
event's other headlines. If that headline stands alone, the two found an event. What is decided is never
changed: two events that a later article connects stay two.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from sourcebook.articles.grouping.similarity import Comparison, HeadlineProfile, compare, profile
from sourcebook.clock import parse_iso
from sourcebook.records.article import Article

WINDOW: Final = timedelta(hours=48)
"""Articles further apart than this are of no common event."""
COLUMN: Final = timedelta(hours=12)
"""One publisher's headline, the same again after this long, is a column's next edition and no news."""
MOST_MEMBERS: Final = 200
"""Articles of one event; further ones stay alone."""

_HEADLINE_KEPT: Final = 300
_RARE: Final = 500
"""A word that stands in more headlines of the window than this finds no candidates."""
_CANDIDATES: Final = 60
"""Headlines that one article is compared with, those with the most words in common."""
_CHECKED: Final = 20
"""Headlines of an event that a newcomer must not contradict, the newest."""


@dataclass(slots=True)
class Entry:
    """An article as grouping remembers it.

    Attributes:
        timestamp: publication, ISO 8601.
        words: the words by which it is found.
        event_id: its event; None while it stands alone.
    """

    dedup_key: str
    timestamp: str
    headline: str
    words: tuple[str, ...]
    tickers: tuple[str, ...]
    publishers: tuple[str, ...]
    event_id: str | None = None
    _profile: HeadlineProfile | None = field(default=None, repr=False, compare=False)

    @property
    def profile(self) -> HeadlineProfile:
        """The facts of its headline, computed when it is first compared."""
        if self._profile is None:
            self._profile = profile(self.headline, tickers=self.tickers, publishers=self.publishers)
        return self._profile

    @property
    def place(self) -> tuple[str, str]:
        """Its place in the order of articles."""
        return (self.timestamp, self.dedup_key)

    @classmethod
    def of(cls, article: Article) -> Entry:
        """Return what grouping remembers of an article."""
        names = (attribution.source_name for attribution in article.source_attribution.values())
        publishers = tuple(sorted({name for name in names if name}))[:5]
        entry = cls(
            dedup_key=article.dedup_key,
            timestamp=article.timestamp,
            headline=article.headline[:_HEADLINE_KEPT],
            words=(),
            tickers=article.matched_tickers,
            publishers=publishers,
        )
        entry.words = entry.profile.words
        return entry

    def to_log(self) -> dict[str, Any]:
        """Return the form that grouping's log keeps."""
        kept: dict[str, Any] = {
            "k": self.dedup_key,
            "t": self.timestamp,
            "h": self.headline,
            "w": list(self.words),
            "x": list(self.tickers),
            "p": list(self.publishers),
            "e": self.event_id,
        }
        return {name: value for name, value in kept.items() if value}

    @classmethod
    def from_log(cls, kept: Mapping[str, Any]) -> Entry:
        """Read what grouping's log keeps."""
        return cls(
            dedup_key=kept["k"],
            timestamp=kept["t"],
            headline=kept["h"],
            words=tuple(kept.get("w", ())),
            tickers=tuple(kept.get("x", ())),
            publishers=tuple(kept.get("p", ())),
            event_id=kept.get("e"),
        )


def event_id_of(founder: str) -> str:
    """Return the id of the event that the article with this dedup key founds."""
    return hashlib.sha256(f"event|{founder}".encode()).hexdigest()[:32]


Compared = dict[tuple[str, str], Comparison]
"""What comparing two articles came to, by the dedup keys of the newcomer and of the other."""


@dataclass(slots=True)
class Window:
    """The articles that a newcomer is compared with, found by their rare words.

    Attributes:
        entries: the articles by their dedup keys.
        undone: decisions of people that were taken back before it was read.
        merged: events that people have merged, by the event that was merged into another. Newcomers are still
            compared with each by itself, since its headlines alone need not contradict one another.
    """

    entries: dict[str, Entry] = field(default_factory=dict)
    undone: frozenset[str] = frozenset()
    merged: dict[str, str] = field(default_factory=dict)
    _by_word: dict[str, list[Entry]] = field(default_factory=lambda: defaultdict(list))
    _members: dict[str, list[Entry]] = field(default_factory=lambda: defaultdict(list))
    _journal: list[tuple[Entry, bool]] = field(default_factory=list)
    """Changes of the last `decide`, in their order: entries, and whether each was new."""

    def add(self, entry: Entry) -> None:
        """Take in an article, or what became of one that is known."""
        known = self.entries.get(entry.dedup_key)
        if known is None:
            self.entries[entry.dedup_key] = entry
            for word in entry.words:
                self._by_word[word].append(entry)
            if entry.event_id:
                self._members[entry.event_id].append(entry)
        elif known.event_id is None and entry.event_id:
            known.event_id = entry.event_id
            self._members[entry.event_id].append(known)

    def leave(self, dedup_key: str) -> None:
        """Exclude an article from grouping, as a person has decided."""
        entry = self.entries.get(dedup_key)
        if entry is None:
            return
        if entry.event_id:
            self._members[entry.event_id] = [one for one in self._members[entry.event_id] if one is not entry]
        for word in entry.words:
            self._by_word[word] = [one for one in self._by_word[word] if one is not entry]
        entry.event_id, entry.words = None, ()

    def members(self, event_id: str) -> list[Entry]:
        """Return the articles of an event that are in the window."""
        return list(self._members.get(event_id, ()))

    def decide(self, articles: Iterable[Entry], compared: Compared | None = None) -> list[Entry]:
        """Decide on newcomers, in the order of their publication, and take them in.

        Args:
            articles: newcomers; those that are known already are passed over.
            compared: comparisons of an earlier attempt, to which this one adds its own.

        Returns:
            The newcomers, and the articles that were alone and now have an event through one of them.
        """
        compared = {} if compared is None else compared
        self._journal.clear()
        decided: dict[str, Entry] = {}
        for entry in sorted(articles, key=lambda one: one.place):
            if entry.dedup_key in self.entries:
                continue
            match = self._match(entry, compared)
            if match is not None and match.event_id is None:
                founder = min(match, entry, key=lambda one: one.place)
                match.event_id = event_id_of(founder.dedup_key)
                self._members[match.event_id].append(match)
                self._journal.append((match, False))
                decided[match.dedup_key] = match
            entry.event_id = match.event_id if match is not None else None
            self.add(entry)
            self._journal.append((entry, True))
            decided[entry.dedup_key] = entry
        return list(decided.values())

    def take_back(self) -> None:
        """Undo the last `decide`, after which nothing else may have been taken in."""
        # Whatever was added last stands last in each of its lists.
        for entry, is_new in reversed(self._journal):
            if entry.event_id:
                self._members[entry.event_id].pop()
                entry.event_id = None
            if is_new:
                del self.entries[entry.dedup_key]
                for word in entry.words:
                    self._by_word[word].pop()
        self._journal.clear()

    def _match(self, entry: Entry, compared: Compared) -> Entry | None:
        """Return the nearest headline whose event the article belongs to."""
        found = [
            (-comparison.likeness, other.place, other)
            for other, comparison in self._candidates(entry, compared)
            if comparison.same_event
        ]
        for _, _, other in sorted(found, key=lambda one: one[:2]):
            members = self.members(other.event_id) if other.event_id else [other]
            newest = sorted(members, key=lambda one: one.place)[-_CHECKED:]
            if len(members) < MOST_MEMBERS and all(
                _comparison(entry, member, compared).compatible for member in newest
            ):
                return other
        return None

    def _candidates(self, entry: Entry, compared: Compared) -> Iterator[tuple[Entry, Comparison]]:
        shared: Counter[str] = Counter()
        for word in entry.words:
            holders = self._by_word.get(word, ())
            if len(holders) <= _RARE:
                shared.update(holder.dedup_key for holder in holders)
        moment = parse_iso(entry.timestamp)
        # Equal counts are put in order, so that the same window always gives the same candidates.
        for key, count in sorted(shared.items(), key=lambda one: (-one[1], one[0]))[:_CANDIDATES]:
            other = self.entries[key]
            near = abs(parse_iso(other.timestamp) - moment) <= WINDOW
            if count >= min(2, len(entry.words)) and near and not _is_column(entry, other):
                yield other, _comparison(entry, other, compared)


def _comparison(entry: Entry, other: Entry, compared: Compared) -> Comparison:
    pair = (entry.dedup_key, other.dedup_key)
    if pair not in compared:
        compared[pair] = compare(entry.profile, other.profile)
    return compared[pair]


def _is_column(one: Entry, other: Entry) -> bool:
    """Whether two articles are editions of one column, such as "What to watch before the bell"."""
    return (
        one.words == other.words
        and bool(set(one.publishers) & set(other.publishers))
        and abs(parse_iso(one.timestamp) - parse_iso(other.timestamp)) >= COLUMN
    )
