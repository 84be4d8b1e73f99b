"""Reading observations: the newest of each bank and term, their history, and what there is at all.

As in `sourcebook.articles.read`, nothing here needs pydantic.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import Final

from boto3.dynamodb.conditions import ConditionBase
from boto3.dynamodb.conditions import Key as KeyCondition

from sourcebook.clock import Clock, utc_now
from sourcebook.errors import InvalidInput
from sourcebook.observations.canonical import Candidate, candidates_of, decided_by, ranked
from sourcebook.observations.terms import NO_TERM, months_of, term_code, term_name
from sourcebook.records.base import View
from sourcebook.records.observation import Observation
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item
from sourcebook.table.pages import Listing, Page, bad_cursor

LOAN: Final = "loan"

MOST_POINTS: Final = 4_000
"""Days of one answer of the history; ten years fit in."""

_PART_LIMIT: Final = 400
_END: Final = "~"
"""Place behind all of a series, in a cursor."""
_FIRST_DAY, _LAST_DAY = "0000-00-00", "9999-99-99"


class Unknown(Exception):
    """There is no series or bank of this name.

    Attributes:
        what: ``series_code`` or ``bank_name``.
        value: what was asked for.
    """

    def __init__(self, what: str, value: str) -> None:
        self.what = what
        self.value = value
        super().__init__(f"{what} {value!r} is not known")


@dataclass(frozen=True, slots=True)
class ObservationReader:
    """Observations in the table, as they are served.

    A list is of the bank that has a `bank_name` as `/banks` shows it, of the series of a `series_code` as
    `/series` has it, and of a term: `term_months` is a number of months, or a term such as ``2W``. What is
    None does not restrict it. A `cursor` is the `next_cursor` of the answer before.
    """

    table: Table
    clock: Clock = utc_now

    def latest(
        self,
        *,
        series_code: str | None = None,
        term_months: str | None = None,
        bank_name: str | None = None,
        max_age_days: int | None = None,
        cursor: str | None = None,
    ) -> Page[View]:
        """Return the newest figure of each bank, series and term.

        One series is one Query. An answer ends early, with a cursor, where DynamoDB's page of 1 MB ends.

        From an age of `max_age_days` a figure steps back behind fresher ones, whatever its source says.

        Raises:
            InvalidInput: if a term is asked of a loan, or the cursor is not one of this list.
            Unknown: if there is no such series.
        """
        term = None if term_months is None else term_code(term_months)
        if term is not None and series_code is not None:
            self._check_term(self._series(series_code), given=term_months)
        filters = {"series": series_code, "term": term, "bank": bank_name, "age": str(max_age_days or "")}
        listing = Listing.of("latest", filters)
        place = None if cursor is None else listing.position(cursor, parts=2)
        if place and (
            max(map(len, place)) > _PART_LIMIT
            or series_code not in {None, place[0]}
            or not (place[1] == _END or place[1].startswith(f"{term}#" if term else ""))
        ):
            raise bad_cursor(str(cursor))
        codes = [series_code] if series_code is not None else [s["series_code"] for s in self.known_series()]
        if place:
            codes = [code for code in codes if code > place[0] or (code == place[0] and place[1] != _END)]
        now = self.clock()
        rows: list[View] = []
        for number, code in enumerate(codes):
            condition: ConditionBase = KeyCondition("PK").eq(keys.latest_partition(code))
            if term is not None:
                condition = condition & KeyCondition("SK").begins_with(f"{term}#")
            start = (
                {"PK": keys.latest_partition(code), "SK": place[1]} if place and code == place[0] else None
            )
            page = self.table.query(condition, start=start)
            rows += [row for item in page.items if (row := _latest_row(item, now, max_age_days, bank_name))]
            if page.next_key is not None:
                return Page(rows, listing.cursor((code, page.next_key["SK"])))
            if len(rows) >= MOST_POINTS and number + 1 < len(codes):
                return Page(rows, listing.cursor((code, _END)))
        if not rows and series_code is not None and not place:
            self._series(series_code)
        return Page(rows, None)

    def history(
        self,
        *,
        bank_name: str,
        series_code: str,
        term_months: str | None = None,
        first: date | None = None,
        last: date | None = None,
        cursor: str | None = None,
    ) -> View:
        """Return one point a day of a bank, a series and a term, oldest first, from `first` to `last`.

        Both days are included. A loan has no term.

        Raises:
            InvalidInput: if the term is missing, or given for a loan, or the days are the wrong way round.
            Unknown: if there is no such series, or no such bank.
        """
        if first and last and last < first:
            raise InvalidInput("to", last.isoformat(), f"a day not before from, {first.isoformat()}")
        series = self._series(series_code)
        self._check_term(series, given=term_months)
        if series["kind"] != LOAN and term_months is None:
            raise InvalidInput(
                "term_months", None, f"a term, since {series_code} is a {series['kind']} series"
            )
        term = NO_TERM if term_months is None else term_code(term_months)
        days = (first.isoformat() if first else _FIRST_DAY, last.isoformat() if last else _LAST_DAY)
        listing = Listing.of(
            "history", {"b": bank_name, "s": series_code, "t": term, "f": days[0], "l": days[1]}
        )
        begin = days[0]
        if cursor is not None:
            (after,) = listing.position(cursor, parts=1)
            begin = _next_day(after, cursor)
        points, more = self._points((bank_name, series_code, term), begin, days[1])
        if not points and not self._is_bank(bank_name):
            raise Unknown("bank_name", bank_name)
        last_day = points[-1]["observed_day"] if points else ""
        return {
            "bank_name": bank_name,
            "series_code": series_code,
            "term_months": months_of(term),
            "items": sorted(points, key=lambda point: (point["scraped_at"], point["observed_day"])),
            "next_cursor": listing.cursor((last_day,)) if more else None,
        }

    def _points(self, target: tuple[str, str, str], begin: str, end: str) -> tuple[list[View], bool]:
        if begin > end:
            return [], False
        priorities: dict[str, int | None] = {}
        points: list[View] = []
        for _, items in groupby(self.observations(target, begin, end), key=lambda one: one.observed_day):
            observations_of_day = list(items)
            self.learn(priorities, {one.source_id for one in observations_of_day})
            order = ranked(
                Candidate(one.source_id, priority, stale=False, item=one)
                for one in observations_of_day
                if (priority := priorities[one.source_id]) is not None
            )
            if not order:
                continue
            if len(points) == MOST_POINTS:
                return points, True
            best = order[0]
            points.append(
                {
                    "observed_day": best.item.observed_day,
                    "scraped_at": best.item.last_seen_at,
                    **best.item.rates(),
                    "source_id": best.source_id,
                    "source_priority": best.priority,
                }
            )
        return points, False

    def learn(self, priorities: dict[str, int | None], source_ids: Iterable[str]) -> None:
        """Find out the priority of the sources that were not met before; None for one not registered."""
        if new := [source_id for source_id in source_ids if source_id not in priorities]:
            states = self.table.batch_get(
                [keys.source(source_id) for source_id in new], attributes=["source_id", "priority"]
            )
            found = {str(state["source_id"]): int(state["priority"]) for state in states}
            priorities |= {source_id: found.get(source_id) for source_id in new}

    def observations(
        self, target: tuple[str, str, str], begin: str = _FIRST_DAY, end: str = _LAST_DAY
    ) -> Iterator[Observation]:
        """Yield the raw layer of a bank, a series and a term from day to day, both included."""
        days = KeyCondition("SK").between(
            f"{keys.OBSERVATION_PREFIX}{begin}", f"{keys.OBSERVATION_PREFIX}{end}~"
        )
        partition = KeyCondition("PK").eq(keys.observation_partition(*target))
        yield from map(Observation.of_item, self.table.query_all(partition & days))

    def targets(self) -> Iterator[tuple[str, str, str]]:
        """Yield every bank, series and term of which there is anything."""
        return (keys.read_latest(keys.key_of(item)) for item in self._latest())

    def _latest(self) -> Iterator[Item]:
        for series in self.known_series():
            yield from self.table.items_of(keys.latest_partition(series["series_code"]))

    def banks(self) -> list[View]:
        """Return the banks of which a registered source has figures, by name."""
        return [{"bank_name": bank} for bank in sorted(self._served()[0])]

    def series(self) -> list[View]:
        """Return the series of which a registered source has figures, by code."""
        served = self._served()[1]
        return [series for series in self.known_series() if series["series_code"] in served]

    def known_series(self) -> list[View]:
        """Return all series that there ever were, by code."""
        return [
            {"series_code": item["series_code"], "kind": item["kind"], "name": item["name"]}
            for item in self._about(keys.SERIES_PREFIX)
        ]

    def _served(self) -> tuple[set[str], set[str]]:
        """Return the banks and series of which a registered source has figures.

        Read off the newest figures: a source that was removed has no slot in them any more.
        """
        served = [keys.read_latest(keys.key_of(item)) for item in self._latest() if item["sources"]]
        return {bank for bank, _, _ in served}, {code for _, code, _ in served}

    def meta(self) -> View:
        """Return how fresh everything is, and how the last scrape of each source went."""
        banks, codes = self._served()
        sources = [_scrape(i) for i in self._about(keys.SCRAPE_PREFIX) if "removed_at" not in i]
        return {
            "scraped_at": max((s["scraped_at"] for s in sources), default=None),
            "observed_day": max((s["observed_day"] for s in sources), default=None),
            "banks": len(banks),
            "series": len(codes),
            "sources": sources,
        }

    def _about(self, prefix: str) -> list[Item]:
        return list(self.table.items_of(keys.OBSERVATIONS, prefix))

    def _series(self, code: str) -> Item:
        item = self.table.get(keys.observed_series(code)) if 0 < len(code) <= _PART_LIMIT else None
        if item is None:
            raise Unknown("series_code", code)
        return item

    def _is_bank(self, name: str) -> bool:
        return 0 < len(name) <= _PART_LIMIT and self.table.get(keys.observed_bank(name)) is not None

    def _check_term(self, series: View, *, given: str | None) -> None:
        if series["kind"] == LOAN and given is not None:
            raise InvalidInput(
                "term_months", given, f"no term_months, since {series['series_code']} is a loan series"
            )


def _latest_row(item: Item, now: datetime, max_age_days: int | None, bank_name: str | None) -> View | None:
    """Return the row of one LATEST item; None if no source stands behind it, or it is another bank's."""
    bank, series, term = keys.read_latest(keys.key_of(item))
    if bank_name is not None and bank != bank_name:
        return None
    order = ranked(candidates_of(item, now, max_age_days))
    if not order:
        return None
    best = order[0]
    return {
        "bank_name": bank,
        "series_code": series,
        "term_months": months_of(term),
        "term": term_name(term),
        **best.item.as_read(),
        "observed_day": best.item.observed_day,
        "scraped_at": best.item.last_seen_at,
        "source_id": best.source_id,
        "source_priority": best.priority,
        "stale": best.stale,
        "decided_by": decided_by(order),
        "sources_considered": [
            {
                "source_id": candidate.source_id,
                "source_priority": candidate.priority,
                "rate_pct": candidate.item.rate_pct,
                "observed_day": candidate.item.observed_day,
                "scraped_at": candidate.item.last_seen_at,
                "stale": candidate.stale,
            }
            for candidate in order
        ],
    }


def _scrape(item: Item) -> View:
    names = "source_id name series scraped_at observed_day rows dropped notes anomaly snapshot"
    return {name: item.get(name) for name in names.split()}


def _next_day(day: str, cursor: str) -> str:
    try:
        return (date.fromisoformat(day) + timedelta(days=1)).isoformat()
    except (ValueError, OverflowError) as error:
        raise bad_cursor(cursor) from error
