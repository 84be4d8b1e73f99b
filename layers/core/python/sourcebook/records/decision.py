"""A person's decision on articles or events that deduplication or grouping had decided otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, ClassVar, Final

from sourcebook.clock import isoformat
from sourcebook.records.base import NOT_SHOWN, EpochSeconds, Place, Record, Time
from sourcebook.table import keys

KEPT: Final = timedelta(days=365)
"""Decisions expire long after what they are about, so that they can be looked up."""

_NO_PUNCTUATION: Final = str.maketrans("", "", "-:.")


def id_begins(at: datetime) -> str:
    """Return what the ids of decisions of a time begin with."""
    return isoformat(at, "milliseconds").translate(_NO_PUNCTUATION)


class DecisionAction(StrEnum):
    """What a person may decide."""

    JOIN_ARTICLES = "join_articles"
    SPLIT_ARTICLE = "split_article"
    TAKE_OUT = "take_out"
    MERGE_EVENTS = "merge_events"
    UNDO = "undo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision(Record):
    """What a person has decided, with what is needed to take it back."""

    PLACE: ClassVar = Place(keys.decision, "a person's decision; a year")

    decision_id: Annotated[str, "Its id; ids are in the order of time."]
    action: Annotated[DecisionAction, "What was decided."]
    about: Annotated[
        tuple[str, ...],
        "Articles or events; the one that stays or was split is first, an article before its event.",
    ]
    source: Annotated[str | None, "The source whose word was split off."] = None
    reason: Annotated[str, "The reason that was given."]
    decided_by: Annotated[str, "The name of the person who decided."]
    caller: Annotated[str | None, "The token or signature that it came with."] = None
    decided_at: Annotated[Time, "When it was decided."]
    undoes: Annotated[str | None, "The decision that this one took back."] = None
    undone_by: Annotated[str | None, "The decision by which it was taken back."] = None
    before: Annotated[Mapping[str, object] | None, "What taking it back needs.", NOT_SHOWN] = None
    ttl_timestamp: Annotated[EpochSeconds, "When it expires.", NOT_SHOWN]
