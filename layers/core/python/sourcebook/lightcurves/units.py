"""Units of fluxes: each under one spelling, and janskys of every size as janskys."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import Final, NamedTuple

from sourcebook.errors import InvalidInput
from sourcebook.lightcurves.model import WORD_LIMIT


class FluxUnit(NamedTuple):
    """A unit as it is kept, and by what a value is multiplied to be in it."""

    name: str
    factor: Decimal


_JANSKYS: Final = {
    "jy": Decimal(1),
    "mjy": Decimal("1e-3"),
    "ujy": Decimal("1e-6"),
    "microjy": Decimal("1e-6"),
    "njy": Decimal("1e-9"),
}
VOUNITS: Final = {
    "Jy": "Jy",
    "erg s-1 cm-2 Hz-1": "10**-3W.m**-2.Hz**-1",
    "erg s-1 cm-2 Angstrom-1": "10**-2W.m**-2.nm**-1",
    "erg s-1 cm-2": "10**-3W.m**-2",
    "W m-2": "W.m**-2",
    "W m-2 Hz-1": "W.m**-2.Hz**-1",
    "W m-2 um-1": "W.m**-2.um**-1",
    "W m-2 nm-1": "W.m**-2.nm**-1",
    "count s-1": "count.s**-1",
    "electron s-1": "'electron'.s**-1",
}
"""Each unit that is kept, in VOUnits 1.0, where erg and Angstrom are deprecated and electron is unknown."""
_SPELLINGS: Final = {"a": "angstrom", "aa": "angstrom", "counts": "count", "ct": "count"}
_OF_VOUNITS: Final = {unit: name for name, unit in VOUNITS.items()}
_POWER: Final = re.compile(r"(?<![a-zA-Z])([a-zA-Z]+)\^?-([12])(?!\d)")
_EXPECTED: Final = "a unit of flux such as Jy, mJy, uJy, erg/s/cm2/Angstrom, erg/s/cm2/Hz, W/m2/um or count/s"


@lru_cache(maxsize=256)
def read_flux_unit(field: str, text: str) -> FluxUnit:
    """Read a unit of flux in the ways in which it is written: with slashes, or with powers.

    Raises:
        InvalidInput: if it is not known.
    """
    if name := _OF_VOUNITS.get(text.strip()):
        return FluxUnit(name, Decimal(1))
    plain = text.strip().replace("µ", "u").replace("μ", "u").replace("Å", "Angstrom").replace("⁻", "-")
    plain = plain.replace("²", "2").replace("¹", "1").replace("**", "^")
    if len(plain) > WORD_LIMIT or plain[:3] == "MJy":
        raise InvalidInput(field, text, _EXPECTED)  # MJy: a million janskys, and next to certainly not meant
    lowered = plain.lower().replace(" ", "") if "-" not in plain else _with_slashes(plain)
    lowered = lowered.replace("^", "").replace("*", "").replace("sec", "s")
    if lowered in _JANSKYS:
        return FluxUnit("Jy", _JANSKYS[lowered])
    if name := _BY_PARTS.get(_parts(lowered)):
        return FluxUnit(name, Decimal(1))
    raise InvalidInput(field, text, _EXPECTED)


def _with_slashes(text: str) -> str:
    """Turn ``erg s-1 cm-2 A-1`` into ``erg/s/cm2/a``."""
    turned = _POWER.sub(lambda found: f"/{found[1]}{'' if found[2] == '1' else found[2]}", text)
    return re.sub(r"[\s.]+", "", turned).lower()


def _parts(text: str) -> tuple[str, ...]:
    """Return the unit and, in any order, what it is divided by."""
    first, *rest = (_SPELLINGS.get(part, part) for part in text.split("/"))
    return (first, *sorted(rest))


_BY_PARTS: Final = {_parts(_with_slashes(name)): name for name in VOUNITS}
