"""An observation: what one source says of one bank, series and term on one day."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Self

from sourcebook.records.base import Day, Place, Record, Time, View
from sourcebook.table import keys
from sourcebook.table.codec import Item

SCHEMA_VERSION: Final = "2"
"""Of the items of observations; `sourcebook.migrations.steps` brings older ones up to date."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure(Record):
    """What a source says on a day."""

    observed_day: Annotated[Day, "The day, of the source's own calendar."]
    first_seen_at: Annotated[Time, "When it was first read."]
    last_seen_at: Annotated[Time, "When it was last read; the API calls it `scraped_at`."]
    sequence: Annotated[int, "The order of arrival, the last tie-breaker."] = 0
    rate_pct: Annotated[float | None, "In percent."] = None
    rate_min_pct: Annotated[float | None, "Of a range, its lower end."] = None
    rate_max_pct: Annotated[float | None, "Of a range, its upper end."] = None
    raw_value: Annotated[str | None, "What stood on the page."] = None
    parse_warnings: Annotated[tuple[str, ...] | None, "What is in doubt about it."] = None

    @property
    def age(self) -> tuple[str, int]:
        """Return what orders the figures of a source: the later is the greater."""
        return self.last_seen_at, self.sequence

    def rates(self) -> View:
        """Return the figures, null where there is none."""
        return {
            "rate_pct": self.rate_pct,
            "rate_min_pct": self.rate_min_pct,
            "rate_max_pct": self.rate_max_pct,
        }

    def as_read(self) -> View:
        """Return the figures with what stood on the page."""
        warnings = list(self.parse_warnings or ())
        return {**self.rates(), "raw_value": self.raw_value or "", "parse_warnings": warnings}


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation(Figure):
    """What one source says of one bank, series and term on one day. The raw layer: it is kept."""

    PLACE: ClassVar = Place(keys.observation, "fetch", version=SCHEMA_VERSION)

    source_id: Annotated[str, "The source."]
    snapshot: Annotated[str | None, "Hash of the page, by which it is found in the bucket."] = None

    @classmethod
    def of_item(cls, item: Item) -> Self:
        """Return the observation that an item holds, of whatever version."""
        return super(Observation, cls).of_item(upgraded(item))


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot(Figure):
    """The newest figure of a source, in the item of the newest figures of a bank, a series and a term."""

    priority: Annotated[int, "The source's: the lower wins."]
    max_age_days: Annotated[int | None, "Age from which it steps back behind fresher ones."] = None


def upgraded(item: Item) -> Item:
    """Return the item of an observation in the present form; version 1 knew one time only."""
    if item.get("schema_version") != "1":
        return item
    moment = item["scraped_at"]
    kept = {name: value for name, value in item.items() if name != "scraped_at"}
    return {
        "first_seen_at": moment,
        "last_seen_at": moment,
        "sequence": 0,
        **kept,
        "schema_version": SCHEMA_VERSION,
    }
