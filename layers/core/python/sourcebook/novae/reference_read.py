"""The publications about a nova as they are served."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from sourcebook.records.base import View
from sourcebook.records.nova import Reference, ReferenceRole
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.pages import Listing, Page, fill_page

ROLES: Final = tuple(role.value for role in ReferenceRole)

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
    ) -> Page[View]:
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
        of_nova = self.table.items_of(nova_id, keys.NOVA_REFERENCE_PREFIX, most=_MOST)
        roles = {row["reference_id"]: row["role"] for row in of_nova}
        known = map(Reference.of_item, self.table.items_of(nova_id, keys.REFERENCE_PREFIX, most=_MOST))
        served = (served_reference(one, roles.get(one.reference_id, "OTHER")) for one in known)
        found = sorted(served, key=_place, reverse=True)
        rest = [
            one for one in found if (role in {None, one["role"]}) and (after is None or _place(one) < after)
        ]
        return fill_page(iter(rest), listing=listing, position=_place, load=lambda rows: rows, limit=limit)


def served_reference(reference: Reference, role: str) -> View:
    """Return a publication as the API shows it, `link` leading to its page at ADS."""
    bibcode = reference.source_identifier if reference.source == "ADS" else None
    # A bibcode may have an ampersand: 2012A&A...
    link = None if bibcode is None else f"{_ABSTRACTS}{quote(bibcode, safe='.')}"
    return reference.shown() | {"bibcode": bibcode, "role": role, "link": link}


def _place(reference: View) -> tuple[str, str]:
    return reference["published_at"] or _UNDATED, reference["reference_id"]
