"""Angles on the sky, also where right ascension wraps and where it means nothing."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.errors import InvalidInput
from sourcebook.novae.coordinates import (
    WIDEST_SEARCH,
    Position,
    cell_of,
    cells_within,
    separation_arcsec,
)

positions = st.builds(
    Position,
    st.floats(0, 360, exclude_max=True),
    st.floats(-90, 90) | st.sampled_from([-90.0, 90.0, 89.9999, -89.9999, 0.0]),
)


def offset(start: Position, bearing: float, degrees: float) -> Position:
    """Return the position at a distance in a direction (spherical law of cosines for the destination)."""
    dec, ra, far = math.radians(start.dec_deg), math.radians(start.ra_deg), math.radians(degrees)
    up = math.asin(
        max(-1, min(1, math.sin(dec) * math.cos(far) + math.cos(dec) * math.sin(far) * math.cos(bearing)))
    )
    east = ra + math.atan2(
        math.sin(bearing) * math.sin(far) * math.cos(dec), math.cos(far) - math.sin(dec) * math.sin(up)
    )
    return Position(math.degrees(east) % 360 % 360, math.degrees(up))


@pytest.mark.parametrize(
    ("one", "other", "arcsec"),
    [
        (Position(10, 0), Position(10, 1), 3600),
        (Position(359.9995, 0), Position(0.0005, 0), 3.6),
        (Position(0, 90), Position(180, 90), 0),
        (Position(0, 89.9995), Position(180, 89.9995), 3.6),
        (Position(100, 60), Position(100 + 2 / 3600, 60), 1.0),
        (Position(0, -90), Position(123, 90), 180 * 3600),
    ],
)
def test_separations(one: Position, other: Position, arcsec: float) -> None:
    assert separation_arcsec(one, other) == pytest.approx(arcsec, abs=1e-4)


@given(positions, st.floats(0, 2 * math.pi), st.floats(1 / 36000, WIDEST_SEARCH), st.floats(0, 1))
def test_no_neighbour_lies_in_a_cell_that_is_not_looked_into(
    centre: Position, bearing: float, radius: float, share: float
) -> None:
    there = offset(centre, bearing, radius * share)
    if separation_arcsec(centre, there) <= radius * 3600:
        assert cell_of(there) in cells_within(centre, radius)


@given(positions)
def test_a_coordinate_check_reads_few_cells(centre: Position) -> None:
    assert len(cells_within(centre, 10 / 3600)) <= 6


def test_a_search_at_the_pole_goes_round_it() -> None:
    cells = cells_within(Position(12, 89.99), 0.5)
    assert cell_of(Position(200, 89.6)) in cells


@pytest.mark.parametrize(("ra", "dec"), [(360, 0), (-1, 0), (0, 91), (math.nan, 0), (0, math.inf)])
def test_impossible_positions_are_refused(ra: float, dec: float) -> None:
    with pytest.raises(InvalidInput):
        Position(ra, dec)


@pytest.mark.parametrize("radius", [0, -1, 2.01, math.nan])
def test_impossible_radii_are_refused(radius: float) -> None:
    with pytest.raises(InvalidInput, match="radius"):
        cells_within(Position(0, 0), radius)
