"""Novae as they are served."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from boto3.dynamodb.conditions import Key as KeyCondition

from sourcebook.novae.boundaries import constellation_of
from sourcebook.novae.coordinates import Position, cells_within, separation_arcsec
from sourcebook.novae.names import is_designation, normalize_name
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item

FIELDS: Final = (
    "nova_id",
    "primary_name",
    "ra_deg",
    "dec_deg",
    "coord_frame",
    "coord_epoch",
    "constellation",
    "discovery_date",
    "status",
    "merged_into",
    "status_reason",
    "object_type",
    "created_at",
    "updated_at",
)
"""Fields of a nova as it is served; null when it has none."""

_MOST: Final = 100
_NAMES_AT_MOST: Final = 200


@dataclass(frozen=True, slots=True)
class NovaReader:
    """Reads novae by name, place and id; without pydantic, for the API's cold start."""

    table: Table

    def by_name(self, name: str) -> dict[str, Any]:
        """Return the novae that a name may mean: `match` is NONE, ONE or AMBIGUOUS, `items` all of them.

        Raises:
            InvalidInput: if it is no name.
        """
        normalized = normalize_name(name)
        rows = list(self.table.query_all(KeyCondition("PK").eq(keys.nova_names(normalized)), most=_MOST))
        novae = self._active([row["nova_id"] for row in rows])
        # "Nova Sgr 2012" when only "Nova Sgr 2012 No. 1" is known: that is one of several, not the one.
        shared = is_designation(normalized) and all(
            normalize_name(r["name_raw"]).startswith(f"{normalized} #") for r in rows
        )
        match = "NONE" if not novae else "ONE" if len(novae) == 1 and not shared else "AMBIGUOUS"
        items = [served(nova) for nova in novae]
        return {"match": match, "normalized": normalized, "items": items, "next_cursor": None}

    def near(self, position: Position, radius_deg: float) -> dict[str, Any]:
        """Return the novae within `radius_deg` of a position, nearest first, each with `separation_arcsec`.

        At most 100 are given; `left_out` says how many are not.

        Raises:
            InvalidInput: if the radius is not one.
        """
        found: list[tuple[float, str]] = []
        for cell in cells_within(position, radius_deg):
            for row in self.table.query_all(KeyCondition("PK").eq(keys.sky_cell(cell))):
                arcsec = separation_arcsec(position, Position(row["ra_deg"], row["dec_deg"]))
                if arcsec <= radius_deg * 3600:
                    found.append((arcsec, row["nova_id"]))
        distances = {nova_id: arcsec for arcsec, nova_id in sorted(found, reverse=True)}
        nearest = sorted(distances, key=distances.__getitem__)[:_MOST]
        items = {item["nova_id"]: item for item in self.table.batch_get(keys.nova(i) for i in nearest)}
        return {
            "items": [
                served(items[i]) | {"separation_arcsec": round(distances[i], 3)}
                for i in nearest
                if i in items and items[i]["status"] == "ACTIVE"
            ],
            "left_out": len(distances) - len(nearest),
            "next_cursor": None,
        }

    def leads_to(self, nova_id: str) -> str | None:
        """Return the id of the nova under which a nova's data are now; None if there is no such nova."""
        found, at = None, nova_id if 0 < len(nova_id) <= 80 else None
        while at is not None and (nova := self.table.get(keys.nova(at))) is not None:
            found, at = at, nova.get("merged_into")
        return found

    def get(self, nova_id: str) -> dict[str, Any] | None:
        """Return a nova with all its names, as it is (merged ones too); None if there is none."""
        if not nova_id or len(nova_id) > 80:
            return None
        nova = self.table.get(keys.nova(nova_id))
        if nova is None:
            return None
        own = KeyCondition("PK").eq(nova_id) & KeyCondition("SK").begins_with(keys.NOVA_NAME_PREFIX)
        names = [
            {"name": row["name_raw"], "kind": row["name_kind"], "source": row["source"]}
            for row in self.table.query_all(own, most=_NAMES_AT_MOST)
        ]
        return served(nova) | {
            "names": sorted(names, key=lambda name: (name["kind"] != "PRIMARY", name["name"]))
        }

    def _active(self, nova_ids: list[str]) -> list[Item]:
        found: dict[str, Item] = {}
        for nova_id in nova_ids:
            nova = self.table.get(keys.nova(nova_id))
            while nova is not None and nova.get("merged_into"):
                nova = self.table.get(keys.nova(nova["merged_into"]))
            if nova is not None and nova["status"] == "ACTIVE":
                found[nova["nova_id"]] = nova
        return [found[nova_id] for nova_id in sorted(found)]


def served(nova: Mapping[str, Any]) -> dict[str, Any]:
    """Return a nova as it is served: its `FIELDS`, the constellation being the one that its place lies in."""
    placed = nova.get("ra_deg") is not None
    place = constellation_of(Position(nova["ra_deg"], nova["dec_deg"])) if placed else None
    return {name: place if name == "constellation" else nova.get(name) for name in FIELDS}
