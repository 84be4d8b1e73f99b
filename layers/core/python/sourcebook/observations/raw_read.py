"""The raw layer as it is served: what each source had for a bank, a series and a term on a day."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Final

from boto3.dynamodb.conditions import Key as KeyCondition

from sourcebook.errors import InvalidInput
from sourcebook.observations.read import ObservationReader, Unknown
from sourcebook.observations.terms import months_of, term_code, term_name
from sourcebook.records.base import View
from sourcebook.records.observation import Observation
from sourcebook.table import keys
from sourcebook.table.pages import Listing, Page, Position, bad_cursor, fill_page

Target = tuple[str, str, str]
"""Bank, series and term that there are figures of."""

_SMALLEST: Final = "-"
"""Sort key before all targets of a series: that of a loan begins with it."""
_LARGEST: Final = "~"
"""Sort key behind all of them."""


def observed_row(target: Target, observation: Observation, priority: int | None) -> View:
    """Return what one source had on one day, as it is served and exported."""
    bank, series, term = target
    return {
        "bank_name": bank,
        "series_code": series,
        "term_months": months_of(term),
        "term": term_name(term),
        "observed_day": observation.observed_day,
        **observation.as_read(),
        "source_id": observation.source_id,
        "source_priority": priority,
        "first_seen_at": observation.first_seen_at,
        "scraped_at": observation.last_seen_at,
    }


@dataclass(frozen=True, slots=True)
class _Entry:
    """A place in the list: an observation, or where those of a target begin."""

    target: Target
    place: Position
    item: Observation | None


@dataclass(frozen=True, slots=True)
class RawReader(ObservationReader):
    """Reads the raw layer in pages."""

    def figures(
        self,
        *,
        bank_name: str | None = None,
        series_code: str | None = None,
        term_months: str | None = None,
        source_id: str | None = None,
        since: date | None = None,
        until: date | None = None,
        limit: int,
        cursor: str | None = None,
    ) -> Page[View]:
        """Return one page of what each source had on each day: by series, term and bank, oldest first.

        The days are those from `since` on to before `until`. A `source_id` that is registered no more may
        be asked for too. A full page has `limit` rows.

        Raises:
            InvalidInput: if a term is asked of a loan, the days are the wrong way round, or the cursor is
                not one of this list.
            Unknown: if there is no such series, or no such bank.
        """
        if since and until and since >= until:
            raise InvalidInput("until", until.isoformat(), f"a day after since, {since.isoformat()}")
        if series_code is not None:
            series = self._series(series_code)
            if term_months is not None:
                self._check_term(series, given=term_months)
        if bank_name is not None and not self._is_bank(bank_name):
            raise Unknown("bank_name", bank_name)
        term = None if term_months is None else term_code(term_months)
        days = (
            f"{keys.OBSERVATION_PREFIX}{since.isoformat() if since else ''}",
            f"{keys.OBSERVATION_PREFIX}{until.isoformat() if until else '~'}",
        )
        listing = Listing.of(
            "observations",
            {
                "bank": bank_name,
                "series": series_code,
                "term": term,
                "source": source_id,
                "from": days[0],
                "to": days[1],
            },
        )
        place = None if cursor is None else listing.position(cursor, parts=3)
        if place and not place[2].startswith(keys.OBSERVATION_PREFIX):
            raise bad_cursor(str(cursor))
        wanted = [series_code] if series_code else [str(s["series_code"]) for s in self.known_series()]
        priorities: dict[str, int | None] = {}

        def load(entries: list[_Entry]) -> list[View | None]:
            self.learn(priorities, {entry.item.source_id for entry in entries if entry.item})
            return [
                observed_row(entry.target, entry.item, priorities[entry.item.source_id])
                if entry.item
                else None
                for entry in entries
            ]

        return fill_page(
            self._entries(wanted, (bank_name, term, source_id), days, place, limit),
            listing=listing,
            position=lambda entry: entry.place,
            load=load,
            limit=limit,
        )

    def _entries(
        self,
        series: list[str],
        wanted: tuple[str | None, str | None, str | None],
        days: tuple[str, str],
        place: Position | None,
        limit: int,
    ) -> Iterator[_Entry]:
        """Yield the list after a place, of a bank, a term and a source; of all where one of them is None.

        A target is an entry too, and so is another source's figure: many of these end a page.
        """
        wanted_bank, wanted_term, wanted_source = wanted
        for code in series:
            if place and code < place[0]:
                continue
            _, begin, last_given = place if place and code == place[0] else ("", _SMALLEST, "")
            partition = KeyCondition("PK").eq(keys.latest_partition(code))
            for latest in self.table.query_all(partition & KeyCondition("SK").between(begin, _LARGEST)):
                target, sort_key = keys.read_latest(keys.key_of(latest)), latest["SK"]
                if wanted_bank not in {None, target[0]} or wanted_term not in {None, target[2]}:
                    continue
                last = last_given if sort_key == begin else ""
                if not last:
                    yield _Entry(target, (code, sort_key, keys.OBSERVATION_PREFIX), None)
                first = max(days[0], last)
                if first >= days[1]:
                    continue
                # Both ends are included.
                between = KeyCondition("SK").between(first, days[1])
                observed = KeyCondition("PK").eq(keys.observation_partition(*target))
                for item in self.table.query_all(observed & between, page_size=limit + 1):
                    if last < item["SK"] < days[1]:
                        found = Observation.of_item(item)
                        is_wanted = wanted_source in {None, found.source_id}
                        yield _Entry(target, (code, sort_key, item["SK"]), found if is_wanted else None)
