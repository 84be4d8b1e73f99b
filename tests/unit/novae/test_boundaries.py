"""Constellations by place, held against astropy's reading of the same boundaries."""

from __future__ import annotations

import random

import pytest
from astropy import units
from astropy.coordinates import SkyCoord, get_constellation

from sourcebook.novae.constellations import BY_NAME, constellation_of
from sourcebook.novae.coordinates import Position


@pytest.mark.parametrize(
    ("ra", "dec", "name"),
    [
        (267.72458, -32.62236, "Sco"),  # V1324 Sco
        (305.87779, 20.76786, "Del"),  # V339 Del
        (52.79908, 43.90428, "Per"),  # GK Per
        (0.0, 90.0, "UMi"),
        (0.0, -90.0, "Oct"),
    ],
)
def test_known_places(ra: float, dec: float, name: str) -> None:
    assert constellation_of(Position(ra, dec)) == name


def test_the_whole_sky_is_in_constellations_as_astropy_has_them() -> None:
    draw = random.Random(3)
    places = [(draw.uniform(0, 359.999), draw.uniform(-90, 90)) for _ in range(300)]
    sky = SkyCoord([ra for ra, _ in places] * units.deg, [dec for _, dec in places] * units.deg)
    theirs = [str(name) for name in get_constellation(sky, short_name=True)]
    ours = [constellation_of(Position(ra, dec)) for ra, dec in places]
    differ = [(place, a, b) for place, a, b in zip(places, ours, theirs, strict=True) if a != b]
    assert len(differ) <= 1, differ  # on an edge, an arcsecond decides
    assert {name.casefold() for name in ours} <= set(BY_NAME.values())
