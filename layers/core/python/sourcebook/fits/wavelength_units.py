"""Units of a wavelength axis as files spell them.

astropy refuses many of these (`Angstroms`, `ANGSTROM`) and takes others for something else: a lone
`A` is an ampere to it. Here a unit is one of a closed list or it is not known; nothing is guessed.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final

_SPELLINGS: Final = {
    1e-10: "a ang angs angstrom angstroms angstroem angstroms. å ångström ångstrom ångströms aa 0.1nm "
    "1e-10m 10^-10m 10**-10m",
    1e-9: "nm nanometer nanometers nanometre nanometres",
    1e-6: "um µm μm micron microns micrometer micrometers micrometre micrometres",
    1e-3: "mm millimeter millimeters millimetre millimetres",
    1e-2: "cm centimeter centimeters centimetre centimetres",
    1.0: "m meter meters metre metres",
}
_METRES: Final = {spelling: metres for metres, line in _SPELLINGS.items() for spelling in line.split()}

_OTHER_QUANTITIES: Final = frozenset(
    # Frequency, velocity and energy: an axis of radio or X-ray astronomy.
    "hz khz mhz ghz thz km/s m/s kms-1 ms-1 km.s-1 m.s-1 km*s**-1 ev kev mev gev".split()
)
_LEFTOVERS: Final = frozenset("pixel pixels pix deg degree degrees channel channels none unknown".split())
"""Values of CUNIT1 that programs leave although the axis is a wavelength; they are no unit."""

_IN_BRACKETS: Final = re.compile(r"[\[(]([^\])]{1,200})[\])]")


class AxisUnit(Enum):
    """What a unit says that is none of a wavelength."""

    NOT_OPTICAL = "frequency, velocity or energy"
    UNSPECIFIED = "nothing"
    UNKNOWN = "not known"


def metres_per(unit: str | None) -> float | AxisUnit:
    """Return how many metres one of a unit is, or what else the unit says."""
    if unit is None:
        return AxisUnit.UNSPECIFIED
    bare = "".join(unit.split())
    folded = bare.casefold()
    if folded in _METRES:
        # "Nm" is a newton metre and "M" no metre; ångström and the names are written in any case.
        return (
            AxisUnit.UNKNOWN
            if bare in {"M", "Nm", "nM", "Um", "uM", "Mm", "mM", "Cm", "cM"}
            else _METRES[folded]
        )
    if folded in _OTHER_QUANTITIES:
        return AxisUnit.NOT_OPTICAL
    if not folded or folded in _LEFTOVERS:
        return AxisUnit.UNSPECIFIED
    return AxisUnit.UNKNOWN


def unit_within(text: str | None) -> str | None:
    """Return the unit that a text names in brackets, "Ang" of "WAVELENGTH [Ang]", or is itself."""
    if found := _IN_BRACKETS.search(text or ""):
        return found[1].strip()
    return None if isinstance(metres_per(text), AxisUnit) else text
