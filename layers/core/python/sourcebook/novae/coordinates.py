"""Positions on the sky: how far apart, and which cells of it to look into.

All angles are degrees in ICRS unless a name says arcseconds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from sourcebook.errors import InvalidInput
from sourcebook.records.nova import Nova

SAME_WITHIN: Final = 2.0
"""Arcseconds below which two resolver positions are the same nova."""
UNSURE_WITHIN: Final = 10.0
"""Arcseconds up to which a person must say whether they are; beyond, they are two.

The nearest two known novae are 106 apart.
"""
WIDEST_SEARCH: Final = 2.0
"""Degrees of the widest search by position; wider ones are for a survey's own service."""

_BAND: Final = 1.0
_BANDS: Final = 180


@dataclass(frozen=True, slots=True)
class Position:
    """A position, checked: right ascension in [0, 360), declination in [-90, 90]."""

    ra_deg: float
    dec_deg: float

    @classmethod
    def of(cls, nova: Nova) -> Position | None:
        """Return where a nova is, if that is known."""
        return None if nova.ra_deg is None or nova.dec_deg is None else cls(nova.ra_deg, nova.dec_deg)

    def __post_init__(self) -> None:
        """Check both.

        Raises:
            InvalidInput: naming the one that is not a position.
        """
        if not (math.isfinite(self.ra_deg) and 0 <= self.ra_deg < 360):
            raise InvalidInput("ra", self.ra_deg, "degrees from 0 up to, not including, 360")
        if not (math.isfinite(self.dec_deg) and -90 <= self.dec_deg <= 90):
            raise InvalidInput("dec", self.dec_deg, "degrees from -90 to 90")


def separation_arcsec(one: Position, other: Position) -> float:
    """Return the angle between two positions in arcseconds.

    The haversine formula: exact to better than a microarcsecond for the small angles that matter here,
    where the cosine formula has lost all its digits, and right across 0°/360° and at the poles.
    """
    dec1, dec2 = math.radians(one.dec_deg), math.radians(other.dec_deg)
    half_ra = math.radians(other.ra_deg - one.ra_deg) / 2
    square = math.sin((dec2 - dec1) / 2) ** 2 + math.cos(dec1) * math.cos(dec2) * math.sin(half_ra) ** 2
    return math.degrees(2 * math.asin(min(1.0, math.sqrt(square)))) * 3600


def cell_of(position: Position) -> str:
    """Return the cell of the sky that a position lies in: about one square degree, ``<band>:<number>``."""
    band = _band(position.dec_deg)
    columns = _columns(band)
    return f"{band}:{min(int(position.ra_deg / 360 * columns), columns - 1)}"


def cells_within(position: Position, radius_deg: float) -> list[str]:
    """Return the cells that may hold anything within `radius_deg` of a position.

    Raises:
        InvalidInput: unless the radius is above 0 and at most `WIDEST_SEARCH`.
    """
    if not (math.isfinite(radius_deg) and 0 < radius_deg <= WIDEST_SEARCH):
        raise InvalidInput("radius", radius_deg, f"degrees above 0 and up to {WIDEST_SEARCH:g}")
    lowest = max(position.dec_deg - radius_deg, -90.0)
    highest = min(position.dec_deg + radius_deg, 90.0)
    reach = _reach_in_ra(position.dec_deg, radius_deg)
    cells: list[str] = []
    for band in range(_band(lowest), _band(highest) + 1):
        columns = _columns(band)
        if 2 * reach >= 360 - 360 / columns:
            cells.extend(f"{band}:{column}" for column in range(columns))
            continue
        first = math.floor((position.ra_deg - reach) / 360 * columns)
        last = math.floor((position.ra_deg + reach) / 360 * columns)
        cells.extend(dict.fromkeys(f"{band}:{column % columns}" for column in range(first, last + 1)))
    return cells


def _band(dec_deg: float) -> int:
    return min(int((dec_deg + 90) / _BAND), _BANDS - 1)


def _columns(band: int) -> int:
    """Return into how many cells a band of declination is cut: fewer towards the poles, one at each."""
    south = -90 + band * _BAND
    nearest_to_equator = 0.0 if south < 0 < south + _BAND else min(abs(south), abs(south + _BAND))
    return max(1, int(360 * math.cos(math.radians(nearest_to_equator))) if nearest_to_equator < 89 else 1)


def _reach_in_ra(dec_deg: float, radius_deg: float) -> float:
    """Return how far a circle reaches in right ascension; all the way round when it holds a pole."""
    if abs(dec_deg) + radius_deg >= 90:
        return 180.0
    ratio = math.sin(math.radians(radius_deg)) / math.cos(math.radians(dec_deg))
    # A hair more, so that rounding cannot leave out a nova on the very edge.
    return math.degrees(math.asin(min(1.0, ratio))) + 1e-9
