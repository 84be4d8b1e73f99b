"""Units of a flux as files spell them.

A flux is stored in the file's unit and never converted: nothing later depends on reading these. They
are read to tell a person when a unit is none, or not that of a flux.
"""

from __future__ import annotations

import re
import warnings
from typing import Final

from astropy import units

from sourcebook.errors import shorten

_SPELLINGS: Final = (
    # What astropy refuses or, such as A for an ampere, misunderstands.
    (re.compile(r"\bFLAM\b", re.IGNORECASE), "erg s-1 cm-2 Angstrom-1"),
    (re.compile(r"\bFNU\b", re.IGNORECASE), "erg s-1 cm-2 Hz-1"),
    (re.compile(r"\bDU\b", re.IGNORECASE), "adu"),
    (re.compile(r"\bADUs?\b", re.IGNORECASE), "adu"),
    (re.compile(r"\bergs?\b", re.IGNORECASE), "erg"),
    (re.compile(r"\b(?:Angstroms?|Ang|A)(?=\b|[-*^\d])", re.IGNORECASE), "Angstrom"),
    (re.compile(r"(?<![A-Za-z])cm(?=2)", re.IGNORECASE), "cm"),
    (re.compile(r"(?<=/)s(?=/|$)", re.IGNORECASE), "s"),
    (re.compile(r"\bsec\b", re.IGNORECASE), "s"),
    (re.compile(r"\bpixels?\b", re.IGNORECASE), "pixel"),
    (re.compile(r"\bcounts?\b", re.IGNORECASE), "count"),
)
_LONGEST: Final = 80


def astropy_unit(text: str) -> units.UnitBase | None:
    """Return a flux unit as astropy knows it, or None when it cannot be read."""
    if len(text) > _LONGEST:
        return None
    for pattern, spelling in _SPELLINGS:
        text = pattern.sub(spelling, text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            unit = units.Unit(text)
        except (ValueError, TypeError):
            return None
    return unit if isinstance(unit, units.UnitBase) else None


def flux_unit_note(text: str | None) -> str | None:
    """Return the note on a flux unit; None if there is none."""
    if text is None:
        return "the file gives no unit of flux: values are relative"
    unit = astropy_unit(text)
    if unit is None:
        return f"the unit of flux {shorten(text)} cannot be read; it is kept as it is"
    densities = (units.W / units.m**3, units.W / units.m**2 / units.Hz)
    counts = {"adu", "ct", "electron", "ph", "pix"}
    if any(unit.is_equivalent(density) for density in densities) or unit.physical_type == "dimensionless":
        return None
    if counts & {base.to_string() for base in unit.bases}:
        return f"the flux is in {text}: counts, not calibrated"
    return f"the unit of flux {shorten(text)} is none of a flux density; it is kept as it is"
