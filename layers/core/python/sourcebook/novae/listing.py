"""All novae in one list, and those of it that a reader asks for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

from boto3.dynamodb.conditions import Key as KeyCondition

from sourcebook.errors import InvalidInput
from sourcebook.novae.constellations import BY_NAME, DISPLAYED
from sourcebook.novae.read import served
from sourcebook.records.base import View
from sourcebook.records.nova import Nova, NovaStatus
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item
from sourcebook.table.pages import Listing, Page, fill_page, in_partition

STATUSES: Final = tuple(status.value for status in NovaStatus)

_LOOKED_AT: Final = 200
"""Novae looked at for one page when their spectra are asked after, each with a query of its own."""
_SPECTRA_READ: Final = 25
_YEAR: Final = re.compile(r"nova \S+ (\d{4})\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Filters of a list of novae; None is no filter.

    Attributes:
        status: one of `STATUSES`; None for all of them.
        year: of the discovery.
        constellation: its abbreviation, nominative or genitive.
        prefix: what the normalized primary name begins with.
        since: the first day of discovery.
        spectra: whether there is a valid spectrum.
        photometry: whether there is a measurement.
    """

    status: str | None = "ACTIVE"
    year: int | None = None
    constellation: str | None = None
    prefix: str | None = None
    since: str | None = None
    spectra: bool | None = None
    photometry: bool | None = None


@dataclass(frozen=True, slots=True)
class NovaList:
    """Reads the list of novae, in the order of their primary names."""

    table: Table

    def page(self, wanted: Wanted, *, limit: int, cursor: str | None = None) -> Page[View]:
        """Return one page.

        Raises:
            InvalidInput: if the cursor is not one of this list with these filters, or there is no such
                constellation.
        """
        filters = {name: None if value is None else str(value) for name, value in asdict(wanted).items()}
        listing = Listing.of("novae", filters)
        place = None if wanted.constellation is None else abbreviation(wanted.constellation)
        start = None
        if cursor is not None:
            order, nova_id = listing.position(cursor, parts=2)
            start = {**keys.nova(nova_id), "GSI1PK": keys.LISTED_NOVAE, "GSI1SK": order}
        beginning = None
        if wanted.prefix is not None:
            beginning = KeyCondition("GSI1SK").begins_with(" ".join(wanted.prefix.casefold().split()))
        condition = in_partition("GSI1PK", keys.LISTED_NOVAE, beginning)
        return fill_page(
            self.table.query_all(condition, index=keys.ELIGIBILITY_INDEX, start=start, page_size=limit + 1),
            listing=listing,
            position=lambda row: (row["GSI1SK"], row["PK"]),
            load=lambda rows: self._load(rows, wanted, place),
            limit=limit,
            looked_at_most=None if wanted.spectra is None else _LOOKED_AT,
        )

    def _load(self, rows: Sequence[Item], wanted: Wanted, constellation: str | None) -> list[View | None]:
        ids = [row["PK"] for row in rows]
        novae = {item["nova_id"]: Nova.of_item(item) for item in self.table.batch_get(map(keys.nova, ids))}
        fitting = {
            nova_id: made
            for nova_id, nova in novae.items()
            if _fits(nova, made := served(nova), wanted, constellation)
        }
        if wanted.photometry is not None:
            tables = self.table.batch_get(map(keys.photometry_table, fitting), attributes=("row_count",))
            measured = {item["PK"] for item in tables if item.get("row_count")}
            fitting = {i: made for i, made in fitting.items() if (i in measured) == wanted.photometry}
        if wanted.spectra is not None:
            fitting = {i: made for i, made in fitting.items() if self._has_spectra(i) == wanted.spectra}
        return [fitting.get(nova_id) for nova_id in ids]

    def _has_spectra(self, nova_id: str) -> bool:
        own = KeyCondition("PK").eq(nova_id) & KeyCondition("SK").begins_with(keys.SPECTRA_PREFIX)
        found = self.table.query_all(own, page_size=_SPECTRA_READ)
        return any(item.get("validation_status") == "VALID" for item in found)


def abbreviation(constellation: str) -> str:
    """Return the IAU's abbreviation of a constellation by that, its nominative or its genitive.

    Raises:
        InvalidInput: if there is none.
    """
    short = BY_NAME.get(" ".join(constellation.casefold().split()))
    if short is None:
        raise InvalidInput("constellation", constellation, "one of the 88, such as Sco or Scorpius")
    return DISPLAYED[short]


def discovery_year(nova: Nova) -> int | None:
    """Return the year of a nova's discovery, by its date or else by its name; None if neither says one."""
    if date := nova.discovery_date:
        return int(date[:4])
    found = _YEAR.match(nova.primary_name_normalized)
    return int(found[1]) if found else None


def _fits(nova: Nova, made: View, wanted: Wanted, constellation: str | None) -> bool:
    if wanted.status is not None and nova.status != wanted.status:
        return False
    if constellation is not None and made["constellation"] != constellation:
        return False
    if wanted.year is not None and discovery_year(nova) != wanted.year:
        return False
    # Day 00 says that only the month is known: then the month decides.
    date = nova.discovery_date or ""
    known = 7 if date.endswith("-00") else 10
    return wanted.since is None or date[:known] >= wanted.since[:known]
