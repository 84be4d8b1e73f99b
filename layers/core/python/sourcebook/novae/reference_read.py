"""The publications about a nova as they are served; without pydantic, for the API's cold start."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from boto3.dynamodb.conditions import Key as KeyCondition

from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item
from sourcebook.table.pages import Listing, Page, fill_page

ROLES: Final = ("DISCOVERY", "SPECTRA_SOURCE", "PHOTOMETRY_SOURCE", "OTHER")
FIELDS: Final = (
    "reference_id",
    "bibcode",
    "role",
    "title",
    "authors",
    "author_count",
    "published_at",
    "link",
    "source",
)
"""Fields of a publication as it is served; null when it has none."""

_MOST: Final = 5_000
"""Publications of a nova that are read; refresh_references stores at most 2,000 at a time."""
_UNDATED: Final = "0000"
_ABSTRACTS: Final = "https://ui.adsabs.harvard.edu/abs/"


@dataclass(frozen=True, slots=True)
class ReferenceReader:
    """Reads publications."""

    table: Table

    def page(
        self, nova_id: str, *, role: str | None = None, limit: int, cursor: str | None = None
    ) -> Page[dict[str, Any]]:
        """Return one page of the publications about a nova, the newest first.

        Args:
            nova_id: the nova.
            role: only those that are this to it, one of `ROLES`.
            limit: how many.
            cursor: of the page before.

        Raises:
            InvalidInput: if the cursor is not one of this list with this filter.
        """
        listing = Listing.of("references", {"nova_id": nova_id, "role": role})
        after = None if cursor is None else listing.position(cursor, parts=2)
        found = sorted(self._all(nova_id), key=_place, reverse=True)
        rest = [
            one for one in found if (role in {None, one["role"]}) and (after is None or _place(one) < after)
        ]
        return fill_page(iter(rest), listing=listing, position=_place, load=lambda rows: rows, limit=limit)

    def _all(self, nova_id: str) -> Iterator[dict[str, Any]]:
        roles = {row["reference_id"]: row["role"] for row in self._rows(nova_id, keys.NOVA_REFERENCE_PREFIX)}
        for row in self._rows(nova_id, keys.REFERENCE_PREFIX):
            yield served_reference(row, roles.get(row["reference_id"], "OTHER"))

    def _rows(self, nova_id: str, prefix: str) -> Iterator[Item]:
        own = KeyCondition("PK").eq(nova_id) & KeyCondition("SK").begins_with(prefix)
        return self.table.query_all(own, most=_MOST)


def served_reference(row: Item, role: str) -> dict[str, Any]:
    """Return a publication as it is served: its `FIELDS`, `link` leading to its page at ADS."""
    bibcode = row["source_identifier"] if row["source"] == "ADS" else None
    made = {
        "bibcode": bibcode,
        "role": role,
        # A bibcode may have an ampersand: 2012A&A...
        "link": None if bibcode is None else f"{_ABSTRACTS}{quote(bibcode, safe='.')}",
    }
    return {name: made[name] if name in made else row.get(name) for name in FIELDS}


def _place(reference: dict[str, Any]) -> tuple[str, str]:
    return reference["published_at"] or _UNDATED, reference["reference_id"]
