"""The Parquet table and its twin: what is written is read, and what is thinned looks the same."""

from __future__ import annotations

import io
import json
import random
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sourcebook.lightcurves.model import COLUMNS, TABLE_SCHEMA, Measurement
from sourcebook.lightcurves.parquet import NotATable, PhotometryFile, StoredUpload, read_table, write_table
from sourcebook.lightcurves.series import POINT_FIELDS, NotASeries, Series, thin
from tests.unit.lightcurves.test_merge import ONE

NOVA = "b6c05a41-2227-5387-8f82-9085f39c71d6"
LIMIT = replace(ONE, magnitude=15.2, magnitude_error=None, upper_limit=True, observer=None, mjd=56080.5)
FLUX = replace(
    ONE, magnitude=None, magnitude_error=None, flux=0.1, flux_unit="Jy", band="5 GHz", mjd=56081.25, notes="ß"
)
ROWS = (ONE, LIMIT, FLUX)
TABLE = PhotometryFile(NOVA, ROWS, (StoredUpload("a" * 64, 3, 3), StoredUpload("b" * 64, 2, 0)), 7)


def test_a_table_is_read_as_it_was_written() -> None:
    found = read_table(write_table(TABLE))
    assert tuple(found.measurements) == ROWS
    assert (found.nova_id, found.uploads, found.schema_version) == (NOVA, TABLE.uploads, TABLE_SCHEMA)
    assert found.revision == 7
    assert found.has("b" * 64) == StoredUpload("b" * 64, 2, 0)
    assert found.has("c" * 64) is None


def test_the_same_table_has_the_same_bytes() -> None:
    assert write_table(TABLE) == write_table(TABLE)


def test_others_read_the_columns_with_their_types_and_units() -> None:
    table = pq.read_table(io.BytesIO(write_table(TABLE)))
    assert tuple(table.column_names) == COLUMNS
    assert table.schema.field("mjd").type == pa.float64()
    assert table.schema.field("mjd").metadata[b"unit"] == b"d"
    assert table.schema.field("upper_limit").type == pa.bool_()
    assert table.column("magnitude").to_pylist() == [11.135, 15.2, None]


def test_an_empty_table_is_a_table() -> None:
    assert read_table(write_table(PhotometryFile(NOVA))).measurements == []


def test_a_table_of_an_older_schema_is_read_without_what_it_lacks() -> None:
    old = pq.read_table(io.BytesIO(write_table(TABLE))).drop_columns(["notes", "instrument"])
    about = {"schema_version": "0", "nova_id": NOVA, "uploads": [], "revision": 3}
    sink = io.BytesIO()
    pq.write_table(old.replace_schema_metadata({b"sourcebook.photometry": json.dumps(about).encode()}), sink)
    found = read_table(sink.getvalue())
    assert found.schema_version == "0"
    assert found.measurements[2] == replace(FLUX, notes=None)


@pytest.mark.parametrize("body", [b"", b"PAR1", b"<html>", write_table(TABLE)[:-20]])
def test_what_is_no_table_of_ours_is_said_to_be_none(body: bytes) -> None:
    with pytest.raises(NotATable, match="photometry rebuild"):
        read_table(body)


def test_a_parquet_file_of_somebody_else_is_not_taken_for_the_table() -> None:
    sink = io.BytesIO()
    pq.write_table(pa.table({"mjd": [1.0]}), sink)
    with pytest.raises(NotATable):
        read_table(sink.getvalue())


def test_the_twin_has_what_is_served_of_the_table() -> None:
    found = Series.read(Series.of(ROWS).write()).select(most=10)
    assert list(found.points[0]) == list(POINT_FIELDS)
    assert found.points[0]["magnitude"] == 11.135
    assert found.points[2] == {name: getattr(FLUX, name) for name in POINT_FIELDS}
    assert (found.matched, found.thinned, found.bands) == (3, False, {"5 GHz": 1, "V": 2})


@pytest.mark.parametrize("body", [b"", b"{}", b"\x1f\x8b\x08", Series.of(ROWS).write()[:-10]])
def test_what_is_no_twin_is_said_to_be_none(body: bytes) -> None:
    with pytest.raises(NotASeries):
        Series.read(body)


def test_filters_are_applied() -> None:
    series = Series.of(ROWS)
    assert [p["mjd"] for p in series.select(bands={"V"}, most=10).points] == [56079.41234, 56080.5]
    assert [p["mjd"] for p in series.select(since=56080.5, most=10).points] == [56080.5, 56081.25]
    assert [p["mjd"] for p in series.select(until=56080.5, most=10).points] == [56079.41234]
    assert [p["upper_limit"] for p in series.select(upper_limits=False, most=10).points] == [False, False]
    assert series.select(bands={"B"}, most=10).points == ()


@pytest.mark.parametrize("most", [1, 2, 3, 5, 10, 100, 333, 2_000])
def test_a_thinned_light_curve_keeps_its_ends_and_its_extremes(most: int) -> None:
    rng = random.Random(1)
    rows: list[Measurement] = []
    for n in range(5_000):
        band = rng.choice("VVVB")
        rows.append(
            replace(ONE, mjd=56000 + n / 100, band=band, magnitude=10 + rng.random(), upper_limit=n % 50 == 0)
        )
    rows[1234] = replace(rows[1234], magnitude=3.0, band="V", upper_limit=False)
    rows[4321] = replace(rows[4321], magnitude=19.0, band="V", upper_limit=False)
    found = Series.of(rows).select(most=most)
    assert len(found.points) <= most
    assert found.matched == 5_000
    assert found.thinned
    times = [point["mjd"] for point in found.points]
    assert times == sorted(set(times))
    if most >= 10:
        kept = [p["magnitude"] for p in found.points if p["band"] == "V" and not p["upper_limit"]]
        assert {3.0, 19.0} <= set(kept)
        of_v = [row.mjd for row in rows if row.band == "V" and not row.upper_limit]
        own = [p["mjd"] for p in found.points if p["band"] == "V" and not p["upper_limit"]]
        assert (own[0], own[-1]) == (of_v[0], of_v[-1])
    assert len(found.points) >= most * 0.8 - 8


def test_more_bands_than_points_still_give_no_more_points() -> None:
    rows = [
        replace(ONE, band=f"{n} GHz", magnitude=None, flux=1.0, flux_unit="Jy", mjd=56000 + n)
        for n in range(50)
    ]
    points = Series.of(rows).points
    assert len(thin(points, 10)) == 10
