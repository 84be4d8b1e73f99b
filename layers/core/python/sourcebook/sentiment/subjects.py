"""Subjects: what sentiment is kept for, such as a coding tool or a company. The data model calls them tools.

Nothing here needs pydantic, which would lengthen the API's cold start.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from importlib.resources import files
from typing import Final

from boto3.dynamodb.conditions import Key as KeyCondition

from sourcebook.clock import Clock, isoformat, parse_iso, utc_now
from sourcebook.errors import InvalidInput
from sourcebook.messages import field_names
from sourcebook.records.subject import Subject
from sourcebook.schema import SCHEMA_VERSION
from sourcebook.sentiment.rollups import DirtyHours
from sourcebook.sentiment.windows import hour_of
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item

KINDS: Final = ("tool", "company", "topic")
ALIASES_AT_MOST: Final = 50
TOOL_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}", re.ASCII)

_TICKER: Final = re.compile(r"[A-Z0-9]{1,10}(?:[.-][A-Z0-9]{1,3})?", re.ASCII)
_TEXT_LIMIT: Final = 100
_INDEX_SETTLES: Final = timedelta(minutes=1)
"""An index shows what was written a moment ago, not at once."""


def parse_subject(values: object) -> Subject:
    """Check a declared subject.

    Raises:
        InvalidInput: naming the first field that is wrong.
    """
    if not isinstance(values, Mapping):
        raise InvalidInput("subject", values, "a mapping with tool_id, name and, if it has some, aliases")
    fields = field_names(Subject)
    if unknown := sorted(set(map(str, values)) - set(fields)):
        raise InvalidInput(unknown[0], values[unknown[0]], f"only the fields {', '.join(fields)}")
    tool_id = values.get("tool_id")
    if not isinstance(tool_id, str) or not TOOL_ID.fullmatch(tool_id):
        raise InvalidInput("tool_id", tool_id, "1 to 80 letters, digits, dots, hyphens or underscores")
    kind = values.get("kind", "topic")
    if kind not in KINDS:
        raise InvalidInput("kind", kind, f"one of {', '.join(KINDS)}")
    ticker = values.get("ticker")
    if ticker is not None and not (isinstance(ticker, str) and _TICKER.fullmatch(ticker)):
        raise InvalidInput("ticker", ticker, "an upper-case symbol such as MSFT, BRK.B or 0700.HK")
    active = values.get("active", True)
    if not isinstance(active, bool):
        raise InvalidInput("active", active, "true or false")
    return Subject(
        tool_id=tool_id,
        name=_text("name", values.get("name")),
        kind=str(kind),
        ticker=ticker,
        active=active,
        aliases=_texts("aliases", values.get("aliases", ())),
        ambiguous=_texts("ambiguous", values.get("ambiguous", ())),
        cues=_texts("cues", values.get("cues", ())),
        excluded=_texts("excluded", values.get("excluded", ())),
    )


def _text(field: str, value: object) -> str:
    if not isinstance(value, str) or not 1 <= len(value.strip()) <= _TEXT_LIMIT:
        raise InvalidInput(field, value, f"1 to {_TEXT_LIMIT} characters")
    return value.strip()


def _texts(field: str, values: object) -> tuple[str, ...]:
    if not isinstance(values, list | tuple) or len(values) > ALIASES_AT_MOST:
        raise InvalidInput(field, values, f"a list of up to {ALIASES_AT_MOST} texts")
    return tuple(dict.fromkeys(_text(f"{field}[{n}]", value) for n, value in enumerate(values)))


def parse_subjects(values: object) -> list[Subject]:
    """Check a list of declared subjects, or a mapping with a list `subjects`.

    Raises:
        InvalidInput: naming the entry and its field that is wrong.
    """
    entries = values.get("subjects") if isinstance(values, Mapping) else values
    if not isinstance(entries, list) or not entries:
        raise InvalidInput("subjects", entries, "a list of at least one subject, each with tool_id and name")
    found: dict[str, Subject] = {}
    for number, entry in enumerate(entries):
        try:
            subject = parse_subject(entry)
        except InvalidInput as error:
            value = entry.get(error.field) if isinstance(entry, Mapping) else entry
            raise InvalidInput(f"subjects[{number}].{error.field}", value, error.expected) from error
        if subject.tool_id in found:
            raise InvalidInput(
                f"subjects[{number}].tool_id", subject.tool_id, "an id that stands in the list once"
            )
        found[subject.tool_id] = subject
    return list(found.values())


def default_subjects() -> list[Subject]:
    """Return the subjects that every installation starts with: AI coding tools and large US companies."""
    text = files(__package__).joinpath("default_subjects.json").read_text("utf-8")
    return parse_subjects(json.loads(text))


class RegistrationOutcome(StrEnum):
    """The outcome of declaring a subject."""

    ADDED = "added"
    CHANGED = "changed"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class SubjectRegistry:
    """Subjects in the table."""

    table: Table
    clock: Clock = utc_now

    def register(self, subjects: Iterable[Subject]) -> dict[str, RegistrationOutcome]:
        """Add subjects, or bring those that are known up to date; others stay as they are.

        The version of the list changes last, and always: whoever reads the list reads it again, also after
        a run that died on the way. Articles may have had the id of a new subject as a tag before: the hours
        of those mentions are marked first, so that they are counted.

        Raises:
            TableBusy: if the table is not able to answer now.
        """
        declared = {subject.tool_id: subject for subject in subjects}
        known = self.get_many(declared)
        outcome: dict[str, RegistrationOutcome] = {}
        written: list[Item] = []
        dirty = DirtyHours(self.table, self.clock)
        for tool_id, subject in declared.items():
            before = known.get(tool_id)
            if before == subject:
                outcome[tool_id] = RegistrationOutcome.UNCHANGED
                continue
            outcome[tool_id] = RegistrationOutcome.CHANGED if before else RegistrationOutcome.ADDED
            written.append(subject.item())
            if subject.active and not (before and before.active):
                mentions = self.table.query_all(KeyCondition("tag").eq(tool_id), index=keys.TAG_INDEX)
                dirty.mark((tool_id, hour_of(item["timestamp"])) for item in mentions)
        self.table.put_many(written)
        self.table.update(
            keys.SUBJECT_CATALOG,
            assign={
                "entity_type": "SubjectCatalog",
                "schema_version": SCHEMA_VERSION,
                "changed_at": isoformat(self.clock()),
            },
            increment={"version": 1},
        )
        return outcome

    def get_many(self, tool_ids: Iterable[str]) -> dict[str, Subject]:
        """Return those among these subjects that there are, by id."""
        items = self.table.batch_get((keys.subject(id_) for id_ in tool_ids), consistent=True)
        return {item["tool_id"]: Subject.of_item(item) for item in items}

    def list_ids(self, *, active: bool = True) -> Iterator[str]:
        """Yield the ids of the active subjects, or of the retired ones, in their order."""
        partition = keys.ACTIVE_SUBJECTS if active else keys.RETIRED_SUBJECTS
        for item in self.table.query_all(KeyCondition("GSI1PK").eq(partition), index=keys.ELIGIBILITY_INDEX):
            yield item["GSI1SK"]

    def version(self) -> tuple[int, bool]:
        """Return the version of the list, and whether the index shows all of it by now."""
        item = self.table.get(keys.SUBJECT_CATALOG, consistent=True)
        if item is None:
            return 0, True
        return item["version"], self.clock() >= parse_iso(item["changed_at"]) + _INDEX_SETTLES
