"""Novae as they are served."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sourcebook.novae.constellations import constellation_of
from sourcebook.novae.coordinates import Position
from sourcebook.novae.names import normalize_name
from sourcebook.novae.store import NovaStore
from sourcebook.novae.whereabouts import distances
from sourcebook.records.base import View
from sourcebook.records.nova import Nova, NovaStatus
from sourcebook.table import keys
from sourcebook.table.client import Table

_MOST: Final = 100
_NAMES_AT_MOST: Final = 200


@dataclass(frozen=True, slots=True)
class NovaReader:
    """Reads novae by name, place and id; without pydantic, for the API's cold start."""

    table: Table

    def by_name(self, name: str) -> View:
        """Return the novae that a name may mean: `match` is NONE, ONE or AMBIGUOUS, `items` all of them.

        Raises:
            InvalidInput: if it is no name.
        """
        normalized = normalize_name(name)
        store = NovaStore(self.table, consistent=False)
        novae = store.find(normalized)[:_MOST]
        is_one = len(novae) == 1 and not store.is_shared(normalized)
        match = "NONE" if not novae else "ONE" if is_one else "AMBIGUOUS"
        items = [served(nova) for nova in novae]
        return {"match": match, "normalized": normalized, "items": items, "next_cursor": None}

    def near(self, position: Position, radius_deg: float) -> View:
        """Return the novae within `radius_deg` of a position, nearest first, each with `separation_arcsec`.

        At most 100 are given; `left_out` says how many are not.

        Raises:
            InvalidInput: if the radius is not one.
        """
        arcseconds = distances(self.table, position, radius_deg)
        nearest = list(arcseconds)[:_MOST]
        found_novae = map(Nova.of_item, self.table.batch_get(keys.nova(i) for i in nearest))
        items = {nova.nova_id: nova for nova in found_novae}
        return {
            "items": [
                served(items[i]) | {"separation_arcsec": round(arcseconds[i], 3)}
                for i in nearest
                if i in items and items[i].status == NovaStatus.ACTIVE
            ],
            "left_out": len(arcseconds) - len(nearest),
            "next_cursor": None,
        }

    def leads_to(self, nova_id: str) -> str | None:
        """Return the id of the nova under which a nova's data are now; None if there is no such nova."""
        found, at = None, nova_id if 0 < len(nova_id) <= 80 else None
        while at is not None and (nova := self.table.get(keys.nova(at))) is not None:
            found, at = at, nova.get("merged_into")
        return found

    def get(self, nova_id: str) -> View | None:
        """Return a nova with all its names, as it is (merged ones too); None if there is none."""
        if not nova_id or len(nova_id) > 80:
            return None
        nova = self.table.get(keys.nova(nova_id))
        if nova is None:
            return None
        names = [
            {"name": row["name_raw"], "kind": row["name_kind"], "source": row["source"]}
            for row in self.table.items_of(nova_id, keys.NOVA_NAME_PREFIX, most=_NAMES_AT_MOST)
        ]
        return served(Nova.of_item(nova)) | {
            "names": sorted(names, key=lambda name: (name["kind"] != "PRIMARY", name["name"]))
        }


def served(nova: Nova) -> View:
    """Return a nova as the API shows it, with the constellation that its place lies in."""
    position = Position.of(nova)
    return nova.shown() | {"constellation": None if position is None else constellation_of(position)}
