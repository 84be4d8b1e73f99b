"""What is the same is in the table once, whichever way and however often it came."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.lightcurves.merge import merge
from sourcebook.lightcurves.model import Measurement
from tests.unit.lightcurves.uploads import extended, parse, votable

ONE = Measurement(
    mjd=56079.41234,
    time_system="JD",
    time_scale="UTC",
    time_raw="2456079.91234",
    band="V",
    band_raw="V",
    magnitude=11.135,
    magnitude_error=0.003,
    observer="TST01",
    file_id="a",
    row=1,
)


def test_rows_of_one_upload_that_say_the_same_are_one() -> None:
    parsed = parse(
        "jd,mag,band\n2456079.9,11.1,V\n2456079.9000,11.10,V\n2456079.9,11.2,V\n2456079.9,11.1,B\n"
    )
    assert (parsed.rows, len(parsed.measurements), parsed.duplicates, parsed.rejected) == (4, 3, 1, 0)


def test_the_same_measurement_in_three_formats_is_one() -> None:
    uploads = (
        extended(),
        "mjd,magnitude,error,filter,observer\n56079.41234,11.135,0.003,Johnson V,tst01\n",
        votable("<TR><TD>56079.41234</TD><TD>11.135</TD><TD>0.003</TD></TR>"),
    )
    table: tuple[Measurement, ...] = ()
    for upload in uploads:
        table = merge(table, parse(upload).measurements).rows
    (found,) = table
    assert (found.observer, found.time_scale, found.magnitude_error) == ("TST01", "UTC", 0.003)


@pytest.mark.parametrize(
    "changed",
    [
        {"mjd": 56079.41236},
        {"time_system": "HJD"},
        {"time_scale": "TDB"},
        {"band": "B"},
        {"magnitude": 11.136},
        {"upper_limit": True},
        {"observer": "TST02"},
        {"magnitude": None, "flux": 0.1, "flux_unit": "Jy"},
    ],
)
def test_what_differs_in_what_matters_stays_twice(changed: dict[str, object]) -> None:
    merged = merge([ONE], [replace(ONE, **changed)])  # type: ignore[arg-type]
    assert (len(merged.rows), merged.added, merged.duplicates) == (2, 1, 0)


@pytest.mark.parametrize(
    "changed",
    [
        {"mjd": 56079.412340000001},
        {"time_system": "MJD"},
        {"time_scale": None},
        {"observer": None},
        {"observer": "tst01"},
        {"magnitude_error": None},
        {"magnitude_error": 0.01},
        {"notes": "clouds"},
        {"file_id": "b", "row": 7},
    ],
)
def test_what_does_not_matter_makes_no_second_measurement(changed: dict[str, object]) -> None:
    merged = merge([ONE], [replace(ONE, **changed)])  # type: ignore[arg-type]
    assert (len(merged.rows), merged.added, merged.duplicates) == (1, 0, 1)
    assert (merged.rows[0].file_id, merged.rows[0].row) == ("a", 1), "what came first stays"
    assert merged.rows[0].magnitude_error == 0.003


def test_a_repetition_fills_what_the_first_did_not_say() -> None:
    bare = replace(ONE, observer=None, magnitude_error=None, time_scale=None)
    (found,) = merge([bare], [replace(ONE, flux=0.1, flux_error=0.01, flux_unit="Jy")]).rows
    assert (found.observer, found.magnitude_error, found.time_scale) == ("TST01", 0.003, "UTC")
    assert (found.flux, found.flux_error, found.flux_unit) == (0.1, 0.01, "Jy")
    (found,) = merge(
        [replace(ONE, flux=0.1, flux_unit="Jy")], [replace(ONE, flux=2.0, flux_error=0.5, flux_unit="W m-2")]
    ).rows
    assert (found.flux, found.flux_error, found.flux_unit) == (0.1, None, "Jy"), (
        "an error goes with its own value"
    )


def test_an_unnamed_observer_does_not_join_two_that_are_named() -> None:
    two = merge([ONE], [replace(ONE, observer="TST02")]).rows
    assert len(merge(two, [replace(ONE, observer=None)]).rows) == 2


def test_the_table_is_in_the_order_of_time() -> None:
    rows = [replace(ONE, mjd=56079.0 + n) for n in range(50)]
    shuffled = random.Random(7).sample(rows, len(rows))
    assert list(merge((), shuffled).rows) == rows


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.sampled_from(["V", "B"])), max_size=20),
    st.data(),
)
def test_the_order_of_uploads_does_not_change_what_is_in_the_table(
    drawn: list[tuple[int, int, str]], data: st.DataObject
) -> None:
    rows = [replace(ONE, mjd=float(day), magnitude=float(mag), band=band) for day, mag, band in drawn]
    cut = data.draw(st.integers(0, len(rows)))
    first = merge(merge((), rows[:cut]).rows, rows[cut:]).rows
    other = merge(merge((), rows[cut:]).rows, rows[:cut]).rows
    assert first == other
    assert merge(first, rows).added == 0
