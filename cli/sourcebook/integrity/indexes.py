"""What stands in an index, and by what right: a stray item is a wrong answer to the index's question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from boto3.dynamodb.conditions import Attr, ConditionBase

from sourcebook.integrity.model import IntegrityFinding, ItemCheck, is_of
from sourcebook.migrations import relist
from sourcebook.records.article import Sentiment, Status
from sourcebook.records.event import ACTIVE, DISSOLVED, MERGED
from sourcebook.records.quarantine import PENDING, REVIEWED
from sourcebook.records.subject import Subject
from sourcebook.runs.read import STATUSES
from sourcebook.spectra.products import SPECTRA
from sourcebook.table import keys
from sourcebook.table.client import in_any_shard
from sourcebook.table.codec import Item

_SPECTRUM: Final = f"DataProduct {SPECTRA}"
_ANY: Final[AbstractSet[str]] = frozenset()
_RIGHTS: Final[Mapping[str, tuple[tuple[str, str], Mapping[str, AbstractSet[str]]]]] = {
    keys.STATUS_INDEX: (
        ("status", "timestamp"),
        {
            "Article": frozenset(Status),
            "Event": frozenset({ACTIVE, MERGED, DISSOLVED}),
            "JobRun": frozenset(STATUSES),
            "Quarantine": frozenset({PENDING, REVIEWED}),
            _SPECTRUM: _ANY,
        },
    ),
    keys.SENTIMENT_INDEX: (("sentiment", "timestamp"), {"Article": frozenset(Sentiment)}),
    keys.TAG_INDEX: (("tag", "timestamp"), {"Mention": _ANY}),
    keys.ELIGIBILITY_INDEX: (
        ("GSI1PK", "GSI1SK"),
        {
            "Source": _ANY,
            "Tool": _ANY,
            "JobRun": _ANY,
            "AlertDelivery": frozenset({keys.DUE_DELIVERIES}),
            "Nova": _ANY,
            _SPECTRUM: _ANY,
        },
    ),
}
"""For each index its two attributes, and which values of the first each kind of item may stand under.

Those that may stand under any have a check of their own that says when."""

_STATUS_OF_THEIR_OWN: Final = frozenset({"Nova", "Attempt", "StartedRun"})
"""Kinds that have a `status` which is no place in an index, having no `timestamp` beside it."""


@dataclass(frozen=True, slots=True)
class IndexesHoldWhatTheyAreFor(ItemCheck):
    """Only what an index is for has both of its attributes."""

    name = "indexes"

    def examine(self, items: Sequence[Item]) -> Iterator[IntegrityFinding]:
        """Yield items that stand in an index without a right to."""
        for item in items:
            if problem := self._problem(item):
                # Under which value of an index it belongs in an item should stand, only its history can tell.
                repairable = all(_kind(item) not in _RIGHTS[index][1] for index in _wrong(item))
                yield self.found(item, problem, repairable=repairable)

    def _problem(self, item: Item) -> str:
        return "; ".join(
            f"{index} does not list {_kind(item)} under {item[_RIGHTS[index][0][0]]!r}"
            for index in _wrong(item)
        )

    def _mend(self, key: keys.Key, item: Item) -> bool:
        """Take the item out of the indexes; nothing else of it changes."""
        stray: set[str] = set()
        for index in _wrong(item):
            first, second = _RIGHTS[index][0]
            if index == keys.ELIGIBILITY_INDEX:
                stray |= {first, second}
            else:
                stray.add(second if first == "status" and _kind(item) in _STATUS_OF_THEIR_OWN else first)
        unchanged: ConditionBase = Attr("PK").exists()
        for name in sorted(stray):
            unchanged = unchanged & in_any_shard(name, item[name])
        self.table.change(key, remove=sorted(stray), condition=unchanged)
        return True


def _wrong(item: Item) -> list[str]:
    """Return the indexes in which an item stands without a right to."""
    return [index for index in _RIGHTS if _is_stray(item, index)]


def _kind(item: Item) -> str:
    # Articles of the older key format have no entity_type.
    default = "Article" if item["SK"] == keys.ARTICLE_SORT_KEY else "an unknown kind"
    kind = str(item.get("entity_type") or default)
    return f"{kind} {item['product_type']}" if kind == "DataProduct" else kind


def _is_stray(item: Item, index: str) -> bool:
    (first, second), rights = _RIGHTS[index]
    if first not in item or second not in item:
        return False
    allowed = rights.get(_kind(item))
    return allowed is None or (bool(allowed) and item[first] not in allowed)


@dataclass(frozen=True, slots=True)
class SourcesStandWhereTheyAreDue(ItemCheck):
    """A source stands in EligibilityIndex where it is due: among those polled, or the disabled ones.

    One that is polled stands at its day, or at the second, where an earlier version has put it; dispatch
    finds both, and the next poll replaces the second.
    """

    name = "due-sources"

    def _problem(self, item: Item) -> str:
        if not is_of(item, "Source") or _is_due_to_the_second(item):
            return ""
        return _misplaced(item, _place_of_source(item))

    def _mend(self, key: keys.Key, item: Item) -> bool:
        unchanged = Attr("next_fetch_time").eq(item["next_fetch_time"]) & Attr("enabled").eq(item["enabled"])
        self.table.change(key, assign=dict(_place_of_source(item)), condition=unchanged)
        return True


def _place_of_source(item: Item) -> keys.EligibilityKey:
    place = keys.due if item["enabled"] else keys.disabled
    return place(item["source_id"], item["next_fetch_time"])


def _is_due_to_the_second(item: Item) -> bool:
    place = keys.due_to_the_second(item["source_id"], item["next_fetch_time"])
    return bool(item["enabled"]) and not _misplaced(item, place)


@dataclass(frozen=True, slots=True)
class SubjectsStandInTheirList(ItemCheck):
    """A subject stands in EligibilityIndex among those looked for, or among the retired ones."""

    name = "listed-subjects"

    def _problem(self, item: Item) -> str:
        return _misplaced(item, Subject.of_item(item).place) if is_of(item, "Tool") else ""

    def _mend(self, key: keys.Key, item: Item) -> bool:
        unchanged = Attr("active").eq(item["active"])
        self.table.change(key, assign=dict(Subject.of_item(item).place), condition=unchanged)
        return True


@dataclass(frozen=True, slots=True)
class NovaeStandInTheirList(ItemCheck):
    """A nova stands in EligibilityIndex under its primary name, whatever its status."""

    name = "listed-novae"

    def _problem(self, item: Item) -> str:
        return _misplaced(item, relist.place_of(item)) if is_of(item, "Nova") else ""

    def _mend(self, key: keys.Key, item: Item) -> bool:  # noqa: ARG002 - as every check of items
        return relist.relist(self.table, item)


def _misplaced(item: Item, place: keys.EligibilityKey) -> str:
    there = item.get("GSI1PK"), item.get("GSI1SK")
    if there == (place["GSI1PK"], place["GSI1SK"]):
        return ""
    at = "nowhere" if there == (None, None) else f"at {there[0]}, {there[1]}"
    return f"it stands {at} in EligibilityIndex and should at {place['GSI1PK']}, {place['GSI1SK']}"
