"""Novae, their names and places in the table.

Every write is a create or a conditional update that may be repeated: a task that is run again, or twice at
once, finds done what it was about to do. A nova's item is written last of all its rows, so that a nova that
can be seen has its name and its place; rows that point to a nova which is not there yet are passed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from boto3.dynamodb.conditions import Attr

from sourcebook.clock import Clock, isoformat, utc_now
from sourcebook.errors import InvalidInput, Terminal
from sourcebook.novae.coordinates import Position, cell_of
from sourcebook.novae.names import display_name, is_designation, normalize_name
from sourcebook.novae.whereabouts import distances
from sourcebook.records.nova import NAME_LIMIT, NameKind, NameMapping, NameSource, Nova, NovaStatus
from sourcebook.table import keys
from sourcebook.table.client import Table

if TYPE_CHECKING:
    from sourcebook.novae.resolvers.identity import Identity

MOST_NAMES: Final = 200
"""Names kept of one nova. SIMBAD's best-known stars have about a hundred."""


_SOURCES: Final = {"simbad": NameSource.SIMBAD, "tns": NameSource.TNS}


class NoSuchNova(Terminal):
    """There is no nova with this id, or it does not count any more."""


class Named(NamedTuple):
    """A name and its origin."""

    name: str
    source: NameSource


def named_by(identity: Identity) -> list[Named]:
    """Return an object's names, the main one first, with the archive that has it as their origin."""
    source = _SOURCES.get(identity.archive, NameSource.OTHER)
    return [Named(name, source) for name in identity.all_names]


@dataclass(frozen=True, slots=True)
class NovaStore:
    """The catalogue's rows of one table.

    Attributes:
        consistent: whether novae are read as they are at this moment, for twice the units.
    """

    table: Table
    clock: Clock = utc_now
    consistent: bool = True

    def get(self, nova_id: str) -> Nova | None:
        """Return a nova as it is, merged or not; None if there is none."""
        item = self.table.get(keys.nova(nova_id), consistent=self.consistent)
        return Nova.of_item(item) if item else None

    def active(self, nova_id: str) -> Nova:
        """Return the nova that this id leads to.

        Raises:
            NoSuchNova: if there is none, or it is deprecated.
        """
        nova = self._followed(nova_id)
        if nova is None or nova.status is not NovaStatus.ACTIVE:
            state = "there is none" if nova is None else f"it is {nova.status.value}"
            raise NoSuchNova(f"nova_id {nova_id}: {state}; look it up with GET /novae?name=")
        return nova

    def is_shared(self, normalized: str) -> bool:
        """Whether a name is known only as what the novae of one year are called together.

        That ``Nova Sgr 2012 No. 1`` is in the catalogue does not make it "the" nova of Sgr 2012.
        """
        if not is_designation(normalized):
            return False
        rows = list(self.table.items_of(keys.nova_names(normalized)))
        return bool(rows) and all(_is_shared(row["name_raw"], normalized) for row in rows)

    def find(self, normalized: str) -> list[Nova]:
        """Return the active novae that a normalized name may mean, by id: none, one, or all candidates."""
        rows = self.table.items_of(keys.nova_names(normalized))
        found = {nova.nova_id: nova for row in rows if (nova := self._followed(row["nova_id"])) is not None}
        return [nova for _, nova in sorted(found.items()) if nova.status is NovaStatus.ACTIVE]

    def bearers(self, names: Iterable[str]) -> Iterator[tuple[str, list[Nova]]]:
        """Yield each name that is one nova's own, and the active novae that it may mean.

        "Nova Sgr 2012" is the name of five: that one of them is in the catalogue says nothing.
        """
        for name in names:
            try:
                normalized = normalize_name(display_name(name))
            except InvalidInput:
                continue
            if not is_designation(normalized):
                yield name, self.find(normalized)

    def names(self, nova_id: str) -> list[NameMapping]:
        """Return a nova's names, the primary one first, then by their normalized form."""
        rows = self.table.items_of(nova_id, keys.NOVA_NAME_PREFIX, most=MOST_NAMES)
        found = map(NameMapping.of_item, rows)
        return sorted(found, key=lambda name: (name.name_kind is not NameKind.PRIMARY, name.name_normalized))

    def near(self, position: Position, radius_deg: float) -> list[tuple[Nova, float]]:
        """Return the active novae within `radius_deg` of a position, the nearest first, with the arcseconds.

        Reads the cells of the sky that the circle touches, not the catalogue.
        """
        found: dict[str, tuple[Nova, float]] = {}
        for nova_id, arcsec in distances(self.table, position, radius_deg).items():
            nova = self._followed(nova_id)
            if nova is not None and nova.status is NovaStatus.ACTIVE:
                found.setdefault(nova.nova_id, (nova, arcsec))
        return list(found.values())

    def create(self, nova: Nova, names: Iterable[Named]) -> bool:
        """Write a nova with its place and names, unless it is there.

        Returns:
            Whether this call made it; of several at once, one has.
        """
        if (position := Position.of(nova)) is not None:
            row = keys.nova_position(cell_of(position), nova.nova_id)
            about = {"entity_type": "NovaPosition", "schema_version": "1", "nova_id": nova.nova_id}
            self.table.create({**row, **about, "ra_deg": nova.ra_deg, "dec_deg": nova.dec_deg})
        self.add_names(nova, [Named(nova.primary_name, NameSource.INGESTION), *names])
        place = keys.listed_nova(nova.primary_name_normalized, nova.nova_id)
        return self.table.create(nova.to_item(keys.nova(nova.nova_id), place)) is None

    def add_names(self, nova: Nova, names: Iterable[Named]) -> int:
        """Add names to a nova.

        A name that cannot be one (SIMBAD has empty and endless ones) is left out; the others are kept. The
        name of one of several novae of a year, ``Nova Sgr 2012 No. 2``, also becomes one of the meanings of
        ``Nova Sgr 2012``.

        Returns:
            How many are new.
        """
        rows = {row.name_normalized: row for row in self.names(nova.nova_id)}
        has = {form for form, row in rows.items() if not _is_shared(row.name_raw, form)}
        wanted: dict[str, Named] = {}
        shared: dict[str, Named] = {}
        for name, source in names:
            shown = display_name(name)[:NAME_LIMIT]
            try:
                normalized = normalize_name(shown)
            except InvalidInput:
                continue
            wanted.setdefault(normalized, Named(shown, source))
            one_of = normalized.partition(" #")[0]
            if one_of != normalized and is_designation(one_of):
                shared.setdefault(one_of, Named(shown, source))
        fresh = {form: named for form, named in wanted.items() if form not in has}
        fresh |= {form: named for form, named in shared.items() if form not in {*wanted, *rows}}
        added = 0
        for form, named in list(fresh.items())[: max(0, MOST_NAMES - len(rows))]:
            primary = form == nova.primary_name_normalized
            kind = NameKind.PRIMARY if primary else NameKind.ALIAS
            added += self._write_name(nova.nova_id, named, form, kind, replace=form in rows)
        return added

    def rename(self, nova: Nova, name: str, source: NameSource) -> bool:
        """Set another primary name; the old one stays as an alias.

        Returns:
            Whether anything changed.
        """
        shown = display_name(name)
        normalized = normalize_name(shown)
        if normalized == nova.primary_name_normalized:
            return False
        self._write_name(nova.nova_id, Named(shown, source), normalized, NameKind.ALIAS)
        now = isoformat(self.clock())
        renamed = self.table.change_if(
            Attr("primary_name_normalized").eq(nova.primary_name_normalized),
            keys.nova(nova.nova_id),
            assign={
                "primary_name": shown,
                "primary_name_normalized": normalized,
                **keys.listed_nova(normalized, nova.nova_id),
                "updated_at": now,
            },
        )
        if not renamed:
            return False  # another run has renamed it meanwhile; the next check compares again
        for form, kind in ((nova.primary_name_normalized, NameKind.ALIAS), (normalized, NameKind.PRIMARY)):
            for key in (keys.nova_name(form, nova.nova_id), keys.nova_own_name(nova.nova_id, form)):
                self.table.update(
                    key, assign={"name_kind": kind.value, "updated_at": now}, condition=Attr("PK").exists()
                )
        return True

    def _write_name(
        self, nova_id: str, named: Named, form: str, kind: NameKind, *, replace: bool = False
    ) -> bool:
        now = self.clock()
        row = NameMapping(
            name_raw=named.name,
            name_normalized=form,
            name_kind=kind,
            nova_id=nova_id,
            source=named.source,
            created_at=now,
            updated_at=now,
        )
        # The nova's own row last: where it stands, the other does too.
        places = (keys.nova_name(form, nova_id), keys.nova_own_name(nova_id, form))
        if replace:
            for place in places:
                self.table.put(row.to_item(place))
            return True
        self.table.create(row.to_item(places[0]))
        return self.table.create(row.to_item(places[1])) is None

    def _followed(self, nova_id: str) -> Nova | None:
        nova = self.get(nova_id)
        # A nova is only ever merged into an active one, so that there is no circle to go round in.
        while nova is not None and nova.merged_into is not None:
            nova = self.get(nova.merged_into)
        return nova


def _is_shared(name: str, form: str) -> bool:
    return normalize_name(name).startswith(f"{form} #")
