"""What an archive says an object is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final

from sourcebook.catalog.coordinates import Position
from sourcebook.errors import InvalidInput

_NOVA_TYPES: Final = frozenset({"No*", "Nova"})
_CANDIDATE_TYPES: Final = frozenset({"No?", "Nova_Candidate"})
_NAMES_AT_MOST: Final = 200


class Kind(StrEnum):
    """Whether an object is what this catalogue is about."""

    NOVA = "NOVA"
    CANDIDATE = "CANDIDATE"
    OTHER = "OTHER"


@dataclass(frozen=True, slots=True)
class Identity:
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
    key: str
    main_name: str
    ra_deg: float | None
    dec_deg: float | None
    object_type: str | None
    names: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind:
        """Whether it is a nova (SIMBAD type ``No*``), perhaps one (``No?``), or something else."""
        if self.object_type in _NOVA_TYPES:
            return Kind.NOVA
        return Kind.CANDIDATE if self.object_type in _CANDIDATE_TYPES else Kind.OTHER

    @property
    def position(self) -> Position | None:
        """Where it is, if the archive says.

        Raises:
            InvalidInput: if what it says is no position.
        """
        return None if self.ra_deg is None or self.dec_deg is None else Position(self.ra_deg, self.dec_deg)

    def to_dict(self) -> dict[str, Any]:
        """Return it as it travels between the states of a workflow."""
        return asdict(self) | {"names": list(self.names[:_NAMES_AT_MOST])}

    @classmethod
    def of(cls, values: object) -> Identity:
        """Read what `to_dict` gave.

        Raises:
            InvalidInput: if it is something else.
        """
        if not isinstance(values, Mapping):
            raise InvalidInput("identity", values, "an object as resolve_name returns it")
        try:
            found = cls(**dict(values) | {"names": tuple(values.get("names", ()))})
        except TypeError as error:
            raise InvalidInput("identity", sorted(values), "the fields that resolve_name returns") from error
        if not found.key or not found.main_name:
            raise InvalidInput("identity", found.key, "an object with a key and a main_name")
        return found
