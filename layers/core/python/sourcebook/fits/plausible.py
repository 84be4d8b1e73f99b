"""Where the wavelengths of an instrument lie.

A unit that lies is off by a power of ten, so coarse limits find it: an amateur's camera sees nothing
at 6 µm. Limits are of the instruments' manuals, widened by some per cent for the ends that
reductions keep.
"""

from __future__ import annotations

import math
import re
from typing import Final, TypeVar

import numpy as np

from sourcebook.fits.fitsfile import Floats

Range = tuple[float, float]
ValueT = TypeVar("ValueT")

ANY_INSTRUMENT: Final[Range] = (9.0e-8, 2.7e-6)
"""Metres: from the Lyman limit, where interstellar hydrogen ends all spectra, to the end of K."""

_INSTRUMENTS: Final[tuple[tuple[str, Range], ...]] = (
    # Part of the instrument's name, metres.
    ("XSHOOTER|X-SHOOTER", (2.9e-7, 2.6e-6)),
    ("UVES|HARPS|FEROS|ESPRESSO|FORS|EFOSC|MUSE|GIRAFFE|FLAMES|VIMOS", (2.9e-7, 1.15e-6)),
    ("SOFI|SINFONI|ISAAC|KMOS|NACO", (8.0e-7, 5.6e-6)),
    ("CRIRES", (9.0e-7, 5.6e-6)),
    ("VISIR", (7.0e-6, 2.8e-5)),
    ("SDSS|BOSS|LAMOST", (3.0e-7, 1.15e-6)),
    ("APOGEE", (1.4e-6, 1.8e-6)),
    ("GMOS|ESI|DEVENY|MAGE|LRIS|HIRES|DEIMOS|KAST|ALFOSC|GOODMAN|TRES|CHIRON", (2.9e-7, 1.15e-6)),
    ("IGRINS", (1.4e-6, 2.6e-6)),
    ("IUE SWP", (1.0e-7, 2.2e-7)),
    ("IUE LW", (1.7e-7, 3.5e-7)),
    ("COS", (8.0e-8, 3.3e-7)),
    ("STIS", (1.1e-7, 1.1e-6)),
    ("GHRS|HRS", (1.0e-7, 3.5e-7)),
    ("FOS", (1.1e-7, 9.0e-7)),
    ("WFC3|ACS", (1.1e-7, 1.8e-6)),
    ("NICMOS", (7.0e-7, 2.6e-6)),
    ("FUSE|FUV", (8.9e-8, 1.2e-7)),
    ("NIRSPEC|NIRISS|NIRCAM", (5.0e-7, 5.6e-6)),
    ("MIRI", (4.5e-6, 2.9e-5)),
)
FIRST_DIGITAL_YEAR: Final = 1970
"""No detector wrote numbers before."""
_NO_LAST_YEAR: Final = 9999

_YEARS: Final[tuple[tuple[str, tuple[int, int]], ...]] = (
    # Part of the name of an instrument or telescope, the years in which it took spectra.
    ("IUE", (1978, 1996)),
    ("JWST", (2021, _NO_LAST_YEAR)),
    ("MIRI|NIRCAM|NIRISS", (2021, _NO_LAST_YEAR)),
    ("LAMOST", (2008, _NO_LAST_YEAR)),
    ("FUSE", (1999, 2007)),
    ("XSHOOTER|X-SHOOTER", (2008, _NO_LAST_YEAR)),
    ("UVES", (1999, _NO_LAST_YEAR)),
    ("HARPS", (2002, _NO_LAST_YEAR)),
    ("ESPRESSO", (2017, _NO_LAST_YEAR)),
    ("MUSE", (2013, _NO_LAST_YEAR)),
    ("FORS|FORS1|FORS2|FEROS", (1998, _NO_LAST_YEAR)),
    ("SDSS|BOSS", (1998, _NO_LAST_YEAR)),
    ("APOGEE", (2010, _NO_LAST_YEAR)),
    ("COS|WFC3", (2009, _NO_LAST_YEAR)),
    ("STIS", (1997, _NO_LAST_YEAR)),
    ("HST", (1990, _NO_LAST_YEAR)),
)
_LEAST_EXPONENT, _LARGEST_EXPONENT = 1e-3, 300.0
"""Of logarithms of wavelengths, whatever their unit and base."""
_SHARE_INSIDE: Final = 0.95
"""Of the samples: a unit that lies moves them all; a bad order of an echelle is one of a hundred."""


_UNITS: Final = {"Angstrom": 1e-10, "nm": 1e-9, "um": 1e-6, "m": 1.0}
"""Units of wavelengths in tables, with their metres."""


def only_unit(instrument: str | None, wavelengths: Floats) -> str | None:
    """Return the one unit in which an instrument sees these wavelengths, if nothing else could be meant.

    None where the table does not have the instrument, where another unit would put a part of them where it
    sees, or where they could be logarithms of wavelengths.
    """
    limits = _of_name(_INSTRUMENTS, instrument or "")
    if limits is None or not np.isfinite(wavelengths).all():
        return None
    shares = {unit: share_inside([wavelengths * metres], limits) for unit, metres in _UNITS.items()}
    possible = [unit for unit, share in shares.items() if share > 0]
    if len(possible) != 1 or shares[possible[0]] < _SHARE_INSIDE or _may_be_logarithms(wavelengths, limits):
        return None
    return possible[0]


def _may_be_logarithms(values: Floats, limits: Range) -> bool:
    if not _LEAST_EXPONENT < float(np.abs(values).max()) < _LARGEST_EXPONENT:
        return False
    meanings = [(10.0, metres) for metres in _UNITS.values()] + [(math.e, 1e-10), (math.e, 1e-9)]
    return any(share_inside([np.power(base, values) * metres], limits) > 0 for base, metres in meanings)


def range_of(instrument: str | None, profile_sees: Range | None) -> Range:
    """Return where the wavelengths of an instrument lie, in metres."""
    return _of_name(_INSTRUMENTS, instrument or "") or profile_sees or ANY_INSTRUMENT


def _of_name(table: tuple[tuple[str, ValueT], ...], name: str) -> ValueT | None:
    """Return the value of the first row one of whose words is a part of a name."""
    found = (value for words, value in table if re.search(rf"(?<![A-Z])(?:{words})(?![A-Z])", name.upper()))
    return next(found, None)


def years_of(*names: str | None) -> tuple[int, int]:
    """Return the first and the last year in which an instrument, or else its telescope, took spectra."""
    found = _of_name(_YEARS, " ".join(name for name in names if name))
    return found or (FIRST_DIGITAL_YEAR, _NO_LAST_YEAR)


def share_inside(orders: list[Floats], limits: Range) -> float:
    """Return which part of all samples lies within the limits."""
    values = np.concatenate([order.ravel() for order in orders])
    return float(((values >= limits[0]) & (values <= limits[1])).mean())


def is_plausible(orders: list[Floats], limits: Range) -> bool:
    """Return whether wavelengths in metres are those of an instrument."""
    return share_inside(orders, limits) >= _SHARE_INSIDE
