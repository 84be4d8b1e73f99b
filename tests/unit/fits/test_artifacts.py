"""What is kept of a spectrum, and the few points of it that a plot needs."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import subprocess
import sys
import time

import numpy as np
import pytest
from astropy.table import Table
from PIL import Image

from sourcebook.errors import InvalidInput
from sourcebook.fits.artifacts import artifacts, ecsv
from sourcebook.fits.check import check
from sourcebook.fits.points import downsample
from sourcebook.fits.preview import preview_png
from tests.unit.fits import made

SOURCE = {"provider": "ESO", "sha256": "ab" * 32}


def test_the_numbers_read_back_to_the_bit_with_astropy_and_with_csv() -> None:
    checked = check(made.multispec())
    assert checked.orders
    text = ecsv(checked)
    table = Table.read(text, format="ascii.ecsv")
    wavelengths = np.concatenate([order.wavelength for order in checked.orders])
    fluxes = np.concatenate([order.flux for order in checked.orders])
    np.testing.assert_array_equal(np.asarray(table["wavelength"]), wavelengths)
    np.testing.assert_array_equal(np.asarray(table["flux"]), fluxes)
    assert str(table["wavelength"].unit) == "m"
    assert table["wavelength"].meta["ucd"] == "em.wl"
    assert sorted(set(table["order"])) == [1, 2, 3, 4]
    assert table.meta["spec:Target.Name"] == "V0001 Tst"
    rows = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
    assert [float(row["wavelength"]) for row in rows] == wavelengths.tolist()


@pytest.mark.parametrize("start", ["=", "+", "-", "@", " =", "＝"])
@pytest.mark.parametrize("separator", [",", ";"])
def test_a_name_in_the_header_runs_in_no_spreadsheet(separator: str, start: str) -> None:
    checked = check(made.multispec())
    name = f"V0001 Tst{separator}{start}cmd|' /C calc'!A0"
    text = ecsv(dataclasses.replace(checked, verdict=dataclasses.replace(checked.verdict, object_name=name)))
    cells = [cell for line in text.splitlines() if "cmd" in line for cell in line.split(separator)]
    assert cells
    assert not [cell for cell in cells if cell.strip().startswith(("=", "+", "-", "@", "＝"))]
    assert Table.read(text, format="ascii.ecsv").meta["spec:Target.Name"] == name


def test_an_error_column_is_there_when_the_file_has_errors() -> None:
    table = Table.read(ecsv(check(made.eso())), format="ascii.ecsv")
    np.testing.assert_array_equal(np.asarray(table["flux_error"]), made.FLUX / 50)
    assert "flux_error" not in Table.read(ecsv(check(made.bess())), format="ascii.ecsv").colnames


def test_the_artifacts_are_three_and_say_where_they_are_from() -> None:
    made_of = artifacts(check(made.eso()), source=SOURCE)
    assert {name: kind for name, (_, kind) in made_of.items()} == {
        "spectrum.ecsv": "text/plain; charset=utf-8",
        "metadata.json": "application/json",
        "preview.png": "image/png",
    }
    metadata = json.loads(made_of["metadata.json"][0])
    assert metadata["source"] == SOURCE
    assert metadata["verdict"]["fits_profile_id"] == "eso_sdp@1.0.0"
    assert metadata["orders"][0]["samples"] == made.SAMPLES


def test_the_same_file_gives_the_same_artifacts() -> None:
    first, second = (artifacts(check(made.eso()), source=SOURCE) for _ in range(2))
    assert first == second


def test_what_is_not_valid_has_no_artifacts() -> None:
    with pytest.raises(ValueError, match="QUARANTINED"):
        artifacts(check(made.bess({"CUNIT1": None})), source={})


@pytest.mark.parametrize(
    "body",
    [
        made.eso(),
        made.multispec(),
        made.bess({"OBJNAME": "V0001 Tst " + "x" * 50}),
        made.bess(flux=np.full(made.SAMPLES, 3.0)),
        made.bess(flux=np.where(np.arange(made.SAMPLES) == 7, 1.0, np.nan)),
        made.bess(flux=[0.0, 1.0]),
        made.iraf(data=np.where(np.arange(made.SAMPLES) == 3, -5e40, 2e-30)),
    ],
)
def test_a_preview_is_a_small_picture_of_any_spectrum(body: bytes) -> None:
    png = preview_png(check(body))
    with Image.open(io.BytesIO(png)) as image:
        assert image.format == "PNG"
        assert image.size == (960, 480)
        colours = image.convert("RGB").getcolors(1_000)
    assert len(png) < 60_000
    assert colours is not None
    assert len(colours) > 3  # paper, ink, grid, curve


def test_a_preview_draws_the_curve_where_the_flux_is() -> None:
    """A step from low to high: blue below on the left, above on the right."""
    step = np.where(np.arange(made.SAMPLES) < made.SAMPLES // 2, 1.0, 2.0)
    with Image.open(io.BytesIO(preview_png(check(made.bess(flux=step))))) as image:
        pixels = np.asarray(image.convert("RGB")).astype(int)
    blue = (pixels[:, :, 2] > pixels[:, :, 0] + 60).nonzero()
    left, right = blue[0][blue[1] < 400], blue[0][blue[1] > 600]
    assert left.mean() > right.mean() + 150


# --- Points ---


def text_of(body: bytes) -> str:
    return artifacts(check(body), source={})["spectrum.ecsv"][0].decode()


def test_few_samples_come_whole() -> None:
    points = downsample(text_of(made.eso()), 1_000)
    assert points["orders"][0]["flux"] == made.FLUX.tolist()
    assert (points["samples"], points["points"], points["downsampled"]) == (200, 200, False)
    assert points["flux_unit"] == "erg cm**(-2) s**(-1) angstrom**(-1)"
    assert points["medium"] == "air"


@pytest.mark.parametrize("points", [2, 3, 10, 51, 199])
def test_peaks_and_dips_survive_at_their_own_wavelengths(points: int) -> None:
    flux = made.FLUX.copy()
    flux[77], flux[123] = 9e-13, -9e-13
    found = downsample(text_of(made.iraf(data=flux)), points)
    (order,) = found["orders"]
    assert found["points"] == len(order["flux"]) <= points
    by_flux = dict(zip(order["flux"], order["wavelength_m"], strict=True))
    assert by_flux[9e-13] == pytest.approx((4000 + 2 * 77) * 1e-10)
    assert by_flux[-9e-13] == pytest.approx((4000 + 2 * 123) * 1e-10)
    assert order["wavelength_m"] == sorted(order["wavelength_m"])


@pytest.mark.parametrize(("points", "orders"), [(780, 4), (100, 4), (8, 4), (7, 3), (4, 2), (2, 1)])
def test_orders_share_the_points_and_never_exceed_them(points: int, orders: int) -> None:
    found = downsample(text_of(made.multispec()), points)
    assert len(found["orders"]) == orders
    assert sum(len(order["flux"]) for order in found["orders"]) == found["points"] <= points
    assert found["orders_left_out"] == 4 - orders


def test_samples_without_a_flux_are_left_out_of_the_points() -> None:
    flux = np.where(np.arange(made.SAMPLES) % 2 == 0, np.nan, made.FLUX)
    found = downsample(text_of(made.iraf(data=flux)), 500)
    assert found["samples"] == 100
    json.dumps(found, allow_nan=False)


def test_two_apertures_of_one_number_stay_apart() -> None:
    specs = ("1 90 0 4000.0 0.5 200 0.0 1.0 2.0", "1 90 0 4000.0 0.5 200 0.0 1.0 2.0")
    assert len(downsample(text_of(made.multispec(specs=specs)), 1_000)["orders"]) == 2


@pytest.mark.parametrize("points", [-1, 0, 1, 20_001])
def test_a_number_of_points_that_makes_no_plot_is_refused(points: int) -> None:
    with pytest.raises(InvalidInput):
        downsample(text_of(made.bess()), points)


@pytest.mark.parametrize("text", ["", "order,flux\n", "# %ECSV 1.0\norder,flux\n1,2\n"])
def test_another_table_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        downsample(text, 100)


def test_points_of_a_long_spectrum_come_in_time_for_an_answer() -> None:
    body = made.iraf({"CD1_1": 0.01}, data=np.tile(made.FLUX, 1_000))
    text = text_of(body)
    began = time.process_time()
    found = downsample(text, 2_000)
    assert time.process_time() - began < 5
    assert found["samples"] == 200_000


# --- Who needs astropy ---


def test_verdicts_overrides_and_points_load_neither_astropy_nor_numpy() -> None:
    code = (
        "import sys, sourcebook.fits.model, sourcebook.fits.overrides, sourcebook.fits.points\n"
        "print(sorted({'astropy', 'numpy', 'PIL'} & sys.modules.keys()))"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert finished.stdout == "[]\n"
