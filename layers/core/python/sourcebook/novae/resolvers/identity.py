"""What an archive says an object is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, Final, TypeAlias

from sourcebook.messages import Json, Message, SchemaRule
from sourcebook.novae.coordinates import Position

_NOVA_TYPES: Final = frozenset({"No*", "Nova"})
_CANDIDATE_TYPES: Final = frozenset({"No?", "Nova_Candidate"})
_NAMES_AT_MOST: Final = 200
_NotEmpty: TypeAlias = Annotated[str, SchemaRule({"minLength": 1})]


class Kind(StrEnum):
    """Whether an object is what this catalogue is about."""

    NOVA = "NOVA"
    CANDIDATE = "CANDIDATE"
    OTHER = "OTHER"


@dataclass(frozen=True, slots=True)
class Identity(Message):
    """One object of an archive.

    Attributes:
        archive: who says so.
        key: what the nova's id is made from; one for one object, whatever name it was asked by.
        main_name: the archive's own name of it, without marks.
        ra_deg: ICRS, degrees; None when the archive has no position.
        dec_deg: ICRS, degrees.
        object_type: SIMBAD's short type, e.g. ``No*``.
        names: all its names.
    """

    archive: str
    key: _NotEmpty
    main_name: _NotEmpty
    ra_deg: float | None
    dec_deg: float | None
    object_type: str | None
    names: tuple[str, ...] = ()

    @property
    def all_names(self) -> tuple[str, ...]:
        """Its names, the main one first."""
        return self.main_name, *self.names

    @property
    def kind(self) -> Kind:
        """Whether it is a nova (SIMBAD type ``No*``), perhaps one (``No?``), or something else."""
        if self.object_type in _NOVA_TYPES:
            return Kind.NOVA
        return Kind.CANDIDATE if self.object_type in _CANDIDATE_TYPES else Kind.OTHER

    @property
    def position(self) -> Position | None:
        """Its position, if the archive gives one.

        Raises:
            InvalidInput: if what it says is no position.
        """
        return None if self.ra_deg is None or self.dec_deg is None else Position(self.ra_deg, self.dec_deg)

    def to_json(self) -> Mapping[str, Json]:
        """Return it as it travels between the states of a workflow, with at most 200 names."""
        return Message.to_json(replace(self, names=self.names[:_NAMES_AT_MOST]))
