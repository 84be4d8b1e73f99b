"""The raw layer: one item for each source, bank, series, term and day. No source overwrites another.

What an item holds depends only on the scrapes that were taken and not on their order: its figures are those
of the latest scrape of the day, its first and last time seen the earliest and the latest. Only `sequence`,
the last tie-breaker, has the order in which items were created.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from boto3.dynamodb.conditions import Attr

from sourcebook.observations.model import Observed, number
from sourcebook.records.observation import SCHEMA_VERSION, Observation
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed, Table

_OF_A_SCRAPE: Final = tuple(
    "rate_pct rate_min_pct rate_max_pct raw_value parse_warnings snapshot last_seen_at".split()
)
"""What the latest scrape of a day decides."""


class ObservationOutcome(StrEnum):
    """The outcome of one figure."""

    CREATED = "created"
    UPDATED = "updated"
    """The source had given a figure for this day before; this one is newer."""
    KNOWN = "known"
    """Stored already, or a newer one is."""


@dataclass(frozen=True, slots=True)
class Scrape:
    """One reading of a source's page.

    Attributes:
        source_id: of the source.
        scraped_at: when, ISO 8601 with milliseconds.
        day: the source's local date then.
        snapshot: hash of the page, by which it is found in the bucket.
    """

    source_id: str
    scraped_at: str
    day: str
    snapshot: str = ""


@dataclass(frozen=True, slots=True)
class RawStore:
    """Observations in the table."""

    table: Table

    def reserve(self, count: int) -> int:
        """Return the first of `count` numbers that nothing else gets: the order of arrival."""
        counter = self.table.update(
            keys.OBSERVATION_SEQUENCE,
            assign={"entity_type": "Sequence", "schema_version": SCHEMA_VERSION},
            increment={"value": count},
        )
        return int(counter["value"]) - count + 1

    def store(self, scrape: Scrape, row: Observed, sequence: int) -> tuple[ObservationOutcome, Observation]:
        """Store one figure of a scrape.

        Storing it again changes nothing, and neither does a scrape that arrives after a later one, except
        for the first time seen. Return what became of it, and the observation of the day as it is now.
        """
        made = Observation(
            source_id=scrape.source_id,
            observed_day=scrape.day,
            first_seen_at=scrape.scraped_at,
            last_seen_at=scrape.scraped_at,
            sequence=sequence,
            rate_pct=number(row.rate.value),
            rate_min_pct=number(row.rate.low),
            rate_max_pct=number(row.rate.high),
            raw_value=row.rate.raw,
            parse_warnings=row.rate.warnings or None,
            snapshot=scrape.snapshot or None,
        )
        key = keys.observation(*row.key, scrape.day, scrape.source_id)
        there = self.table.create(made.to_item(key))
        if there is None:
            return ObservationOutcome.CREATED, made
        existing = Observation.of_item(there)
        if existing.first_seen_at > scrape.scraped_at:
            existing = self._seen_earlier(key, scrape.scraped_at) or existing
        if existing.last_seen_at >= scrape.scraped_at:
            return ObservationOutcome.KNOWN, existing
        newer = Attr("last_seen_at").lt(scrape.scraped_at) | Attr("last_seen_at").not_exists()
        figures = made.to_json()
        try:
            # All of them, whatever was read: another scrape may have come in between.
            item = self.table.update(
                key, assign={name: figures.get(name) for name in _OF_A_SCRAPE}, condition=newer
            )
        except ConditionFailed as found:
            return ObservationOutcome.KNOWN, Observation.of_item(found.item) if found.item else existing
        return ObservationOutcome.UPDATED, Observation.of_item(item)

    def _seen_earlier(self, key: keys.Key, moment: str) -> Observation | None:
        try:
            item = self.table.update(
                key, assign={"first_seen_at": moment}, condition=Attr("first_seen_at").gt(moment)
            )
        except ConditionFailed as found:
            return Observation.of_item(found.item) if found.item else None
        return Observation.of_item(item)
