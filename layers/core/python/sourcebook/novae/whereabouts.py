"""Where a product is now: what points to it names the nova under which it was found, which may be merged.

A product stands under the nova at the end of the chain of merges that begins at the nova under which it was
found: merging moves it on, splitting moves it back. So nothing that points to a product is ever rewritten:
locators, digests, cases in quarantine and runs under way are followed. Which novae are near a position is
found here too. Without pydantic, for the API.
"""

from __future__ import annotations

from sourcebook.novae.coordinates import Position, cells_within, separation_arcsec
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item


def merged_into(table: Table, nova_id: str) -> str | None:
    """Return the id of the nova that a nova was merged into, None if it was not, or is not there."""
    nova = table.get(keys.nova(nova_id), consistent=True)
    return None if nova is None else nova.get("merged_into")


def root_of(table: Table, nova_id: str) -> str:
    """Return the id of the nova at the end of the chain of merges; of one that was not merged, its own."""
    # A nova is only ever merged into an active one, so that there is no circle to go round in.
    while (further := merged_into(table, nova_id)) is not None:
        nova_id = further
    return nova_id


def find_product(table: Table, nova_id: str, provider: str, data_product_id: str) -> Item | None:
    """Return the item of a spectrum under a nova, those that it was merged into, or one split from these."""
    passed: list[str] = []
    at: str | None = nova_id
    while at is not None:
        item = table.get(keys.spectrum(at, provider, data_product_id), consistent=True)
        if item is not None:
            return item
        passed.append(at)
        at = merged_into(table, at)
    for nova in passed:
        for record in table.items_of(nova, keys.MERGED_PREFIX, consistent=True):
            item = table.get(
                keys.spectrum(record["merged_nova_id"], provider, data_product_id), consistent=True
            )
            if item is not None:
                return item
    return None


def distances(table: Table, position: Position, radius_deg: float) -> dict[str, float]:
    """Return how many arcseconds each nova within `radius_deg` of a position is away, the nearest first.

    Raises:
        InvalidInput: if the radius is not one.
    """
    found: dict[str, float] = {}
    for cell in cells_within(position, radius_deg):
        for row in table.items_of(keys.sky_cell(cell)):
            arcsec = separation_arcsec(position, Position(row["ra_deg"], row["dec_deg"]))
            if arcsec <= radius_deg * 3600:
                found[row["nova_id"]] = min(arcsec, found.get(row["nova_id"], arcsec))
    return dict(sorted(found.items(), key=lambda entry: entry[1]))
