"""Each profile on a small file of its own: what it reads, and what it does not without being told."""

from __future__ import annotations

import dataclasses
import io
import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from astropy.io import fits

from sourcebook.fits.check import check
from sourcebook.fits.model import SpectrumOutcome, Verdict
from sourcebook.fits.profiles import PROFILES
from sourcebook.fits.reading import Checked
from tests.unit.fits import made


def valid(body: bytes, **overrides: str) -> Checked:
    checked = check(body, overrides=overrides)
    assert checked.verdict.outcome is SpectrumOutcome.VALID, checked.verdict.message
    assert checked.orders
    return checked


def held(body: bytes, reason: str, says: str, **overrides: str) -> Verdict:
    checked = check(body, overrides=overrides)
    verdict = checked.verdict
    assert (verdict.outcome, verdict.reason) == (SpectrumOutcome.QUARANTINED, reason), verdict
    assert says in verdict.message
    assert not checked.orders
    return verdict


def only(checked: Checked) -> Any:
    assert checked.orders
    (order,) = checked.orders
    return order


def test_every_profile_of_the_table_has_a_file_here() -> None:
    assert {profile.name for profile in PROFILES} == set(made.EVERY_PROFILE)


@pytest.mark.parametrize(("name", "make"), made.EVERY_PROFILE.items())
def test_a_whole_file_is_valid_by_its_own_profile(name: str, make: Callable[[], bytes]) -> None:
    verdict = valid(make()).verdict
    assert verdict.fits_profile_id == next(profile.id for profile in PROFILES if profile.name == name)
    assert verdict.reason == verdict.message == ""
    assert verdict.header_signature_hash is not None
    assert verdict.header_signature_hash.startswith("hsig:")
    assert verdict.profile_selection_inputs
    assert verdict.object_name in {"V0001 Tst", "V0001 TST"}
    assert verdict.observed_at_iso is not None


@pytest.mark.parametrize("make", made.EVERY_PROFILE.values())
def test_a_gzip_of_the_same_file_reads_the_same(make: Callable[[], bytes]) -> None:
    plain, packed = valid(make()), valid(made.gzipped(make()))
    assert plain.verdict == packed.verdict


# --- ESO ---


def test_eso_takes_the_flux_that_its_ucd_calls_the_main_one_and_its_error() -> None:
    checked = valid(made.eso())
    order = only(checked)
    np.testing.assert_allclose(order.wavelength, made.WAVE_NM * 1e-9, rtol=1e-12)
    np.testing.assert_array_equal(order.flux, made.FLUX)
    np.testing.assert_array_equal(order.error, made.FLUX / 50)
    verdict = checked.verdict
    assert (verdict.medium, verdict.frame, verdict.checksum) == ("air", "BARYCENT", "ok")
    assert verdict.observed_at == "56215.25"
    assert verdict.observed_at_iso == "2012-10-15T06:00:00.000Z"
    assert verdict.flux_unit == "erg cm**(-2) s**(-1) angstrom**(-1)"


def test_eso_without_obs_atmos_is_vacuum() -> None:
    assert valid(made.eso(columns={"TUCD1": "em.wl"})).verdict.medium == "vacuum"


def test_eso_columns_without_ucds_are_taken_by_their_names_and_say_no_medium() -> None:
    checked = valid(made.eso(columns={f"TUCD{number}": None for number in (1, 2, 3, 4)}))
    assert checked.verdict.medium is None
    np.testing.assert_array_equal(only(checked).flux, made.FLUX)
    np.testing.assert_array_equal(only(checked).error, made.FLUX / 50)


def test_eso_with_several_fluxes_and_no_main_one_is_for_a_person() -> None:
    held(made.eso(columns={"TUCD3": "phot.flux.density;em.wl"}), "UNKNOWN_PROFILE", "meta.main")


@pytest.mark.parametrize(
    ("keyword", "said"),
    [
        ("OBJECT", "an object"),
        ("INSTRUME", None),  # the telescope stands in
        ("RA", "RA"),
        ("DEC", "DEC"),
        ("MJD-OBS", "a date"),
        ("MJD-END", "MJD-END"),
        ("SPECSYS", "SPECSYS"),
        ("WAVELMIN", "WAVELMIN"),
        ("WAVELMAX", "WAVELMAX"),
    ],
)
def test_eso_must_say_what_its_standard_asks_for(keyword: str, said: str | None) -> None:
    body = made.eso({keyword: None})
    if said is None:
        assert valid(body).verdict.instrument == "ESO-VLT-U2"
    else:
        held(body, "MISSING_CRITICAL_METADATA", said)


def test_eso_without_checksums_or_units_is_held() -> None:
    held(made.eso(checksums=False), "MISSING_CRITICAL_METADATA", "CHECKSUM, DATASUM")
    held(made.eso(unit=""), "MISSING_CRITICAL_METADATA", "a unit of wavelength")


def test_eso_whose_columns_contradict_its_limits_is_held() -> None:
    held(made.eso(unit="um"), "OTHER", "WAVELMIN says 400 nm")
    held(made.eso({"WAVELMAX": 950.0}), "OTHER", "WAVELMAX says 950 nm")
    held(made.eso(columns={"NELEM": 7}), "OTHER", "NELEM says 7")


# --- BeSS ---


def test_bess_is_linear_from_its_reference_pixel() -> None:
    order = only(valid(made.bess({"CRPIX1": 101, "CRVAL1": 4500.0})))
    np.testing.assert_allclose(order.wavelength, (4000 + 5 * np.arange(made.SAMPLES)) * 1e-10, rtol=1e-12)


def test_bess_applies_the_velocity_that_is_asked_for_and_not_one_that_was_applied() -> None:
    plain = only(valid(made.bess({"BSS_VHEL": -21.5})))
    checked = valid(made.bess({"BSS_RQVH": -21.5}))
    asked = only(checked)
    np.testing.assert_allclose(plain.wavelength[0], 4e-7, rtol=1e-15)
    np.testing.assert_allclose(asked.wavelength, plain.wavelength * (1 + 21.5 / 299_792.458), rtol=1e-14)
    assert checked.verdict.frame == "HELIOCEN"
    assert checked.verdict.wavelength_min_m == pytest.approx(4e-7, rel=1e-15)
    assert any("1 − v/c" in note for note in checked.verdict.normalization_notes)


@pytest.mark.parametrize(
    ("changes", "reason", "says"),
    [
        ({"CUNIT1": None}, "MISSING_CRITICAL_METADATA", "a unit of wavelength"),
        ({"CUNIT1": "pixel"}, "MISSING_CRITICAL_METADATA", "a unit of wavelength"),
        ({"CUNIT1": "furlong"}, "MISSING_CRITICAL_METADATA", "furlong"),
        ({"DATE-OBS": None}, "MISSING_CRITICAL_METADATA", "a date"),
        ({"DATE-OBS": "last Tuesday"}, "MISSING_CRITICAL_METADATA", "last Tuesday"),
        ({"DATE-OBS": "2024-02-30"}, "MISSING_CRITICAL_METADATA", "2024-02-30"),
        ({"OBJNAME": None}, "MISSING_CRITICAL_METADATA", "an object"),
        ({"OBJNAME": "UNKNOWN"}, "MISSING_CRITICAL_METADATA", "UNKNOWN"),
        ({"EXPTIME": None}, "MISSING_CRITICAL_METADATA", "EXPTIME"),
        ({"BSS_INST": None}, "MISSING_CRITICAL_METADATA", "an instrument"),
        ({"CRVAL1": None}, "UNKNOWN_PROFILE", "CRVAL1"),
        ({"CRPIX1": None}, "UNKNOWN_PROFILE", "CRPIX1"),
        ({"CDELT1": None}, "UNKNOWN_PROFILE", "CDELT1"),
        ({"CDELT1": 0.0}, "UNKNOWN_PROFILE", "step is 0"),
        ({"CUNIT1": "nm"}, "OTHER", "does the unit lie"),
        ({"CRVAL1": 400.0, "CDELT1": 0.5}, "OTHER", "does the unit lie"),
    ],
)
def test_bess_is_held_rather_than_completed(changes: dict[str, Any], reason: str, says: str) -> None:
    held(made.bess(changes), reason, says)


def test_a_spectrum_stored_from_long_to_short_is_turned_with_its_flux() -> None:
    checked = valid(made.bess({"CRVAL1": 5000.0, "CDELT1": -5.0}))
    order = only(checked)
    assert bool((np.diff(order.wavelength) > 0).all())
    np.testing.assert_array_equal(order.flux, made.FLUX.astype(np.float32)[::-1])
    assert any("turned" in note for note in checked.verdict.normalization_notes)


# --- IRAF ---


def test_iraf_takes_cd1_1_and_prefers_wat1_to_cunit1() -> None:
    checked = valid(made.iraf({"CUNIT1": "nm"}))
    np.testing.assert_allclose(only(checked).wavelength[[0, -1]], [4e-7, 4.398e-7], rtol=1e-12)
    assert checked.verdict.original_unit == "angstroms"
    assert any("CUNIT1 says 'nm'" in note for note in checked.verdict.normalization_notes)


@pytest.mark.parametrize("left", ["pixel", "deg"])
def test_iraf_leftovers_in_cunit1_say_no_unit(left: str) -> None:
    assert valid(made.iraf({"CUNIT1": left})).verdict.original_unit == "angstroms"
    bare = {"WAT1_001": "wtype=linear label=Wavelength"}
    held(made.iraf({"CUNIT1": left, **bare}), "MISSING_CRITICAL_METADATA", "a unit of wavelength")
    declared = {"CTYPE1": "LAMBDA [nm]", "CRVAL1": 400.0, "CD1_1": 0.2, **bare}
    assert valid(made.iraf({"CUNIT1": left, **declared})).verdict.original_unit == "nm"


@pytest.mark.parametrize("said", [{"DC-FLAG": 1}, {"DC-FLAG": None, "CTYPE1": "LOGLIN"}])
def test_iraf_logarithmic_axes_are_powers_of_ten(said: dict[str, Any]) -> None:
    order = only(valid(made.iraf({"CRVAL1": 3.6, "CD1_1": 1e-4, **said})))
    expected = 10 ** (3.6 + 1e-4 * np.arange(made.SAMPLES)) * 1e-10
    np.testing.assert_allclose(order.wavelength, expected, rtol=1e-12)


def test_iraf_uncalibrated_and_impossible_axes_are_for_a_person() -> None:
    held(made.iraf({"DC-FLAG": -1}), "UNKNOWN_PROFILE", "DC-FLAG is -1")
    held(made.iraf({"DC-FLAG": 1}), "UNKNOWN_PROFILE", "beyond all numbers")


def test_iraf_bands_give_flux_and_sigma_also_transposed() -> None:
    bands = np.array([[made.FLUX], [made.FLUX * 2], [made.FLUX / 7]])
    named = {"BANDID1": "spectrum - clean", "BANDID2": "raw", "BANDID3": "sigma - clean"}
    order = only(valid(made.iraf(named, data=bands)))
    np.testing.assert_array_equal(order.flux, made.FLUX)
    np.testing.assert_array_equal(order.error, made.FLUX / 7)
    turned = valid(made.iraf(named, data=np.ascontiguousarray(bands[:, 0].T)))
    np.testing.assert_array_equal(only(turned).flux, made.FLUX)
    np.testing.assert_array_equal(only(turned).error, made.FLUX / 7)
    assert any("transposed" in note for note in turned.verdict.normalization_notes)


def test_iraf_bands_that_nothing_describes_are_for_a_person() -> None:
    bands = np.array([[made.FLUX], [made.FLUX * 2], [made.FLUX / 7]])
    held(made.iraf({"BANDID1": "spectrum", "BANDID2": "raw"}, data=bands), "OTHER", "which is the flux")


def test_a_two_dimensional_image_is_no_iraf_spectrum() -> None:
    held(made.iraf(data=np.ones((60, 200))), "UNKNOWN_PROFILE", "no 1-D spectrum")


def test_multispec_gives_each_order_its_own_solution() -> None:
    checked = valid(made.multispec())
    assert checked.orders
    linear, logarithmic, legendre, chebyshev = checked.orders
    pixels = np.arange(1, 201, dtype=float)
    reduced = (pixels - 100.5) / 99.5
    angstrom = 1e-10
    np.testing.assert_allclose(linear.wavelength, (4000 + 0.5 * (pixels - 1)) * angstrom, rtol=1e-12)
    np.testing.assert_allclose(
        logarithmic.wavelength, 10 ** (3.65 + 1e-5 * (pixels - 1)) * angstrom, rtol=1e-12
    )
    # P2(x) = (3x² − 1)/2 and T2(x) = 2x² − 1
    np.testing.assert_allclose(
        legendre.wavelength, (5000 + 250 * reduced - 1.5 * (3 * reduced**2 - 1) / 2) * angstrom, rtol=1e-12
    )
    np.testing.assert_allclose(
        chebyshev.wavelength,
        (6000 + 250 * reduced - 1.5 * (2 * reduced**2 - 1))[:180] / 1.0001 * angstrom,
        rtol=1e-12,
    )
    assert [order.number for order in checked.orders] == [1, 2, 3, 4]
    assert [float(order.flux[0]) for order in checked.orders] == [1, 2, 3, 4]
    assert (checked.verdict.orders, checked.verdict.samples) == (4, 200)


@pytest.mark.parametrize(
    ("specs", "says"),
    [
        (("1 90 0 4000.0 0.5 200 0.0 1.0",), "8 numbers"),
        (("1 90 0 4000.0 0.5 900 0.0 1.0 2.0",), "900 samples"),
        (("1 90 0 INDEF 0.5 200 0.0 1.0 2.0",), "INDEF"),
        (("1 90 7 4000.0 0.5 200 0.0 1.0 2.0",), "dispersion type 7"),
        (("1 90 2 4000.0 0.5 200 0.0 1.0 2.0 1. 0. 3 3 1. 200. 1. 2. 3.",), "type 3"),
        (("1 90 2 4000.0 0.5 200 0.0 1.0 2.0 1. 0. 1 9 1. 200. 1. 2. 3.",), "cut short"),
        (("1 90 2 4000.0 0.5 200 0.0 1.0 2.0",), "no function"),
    ],
)
def test_multispec_that_cannot_be_followed_is_for_a_person(specs: tuple[str, ...], says: str) -> None:
    held(made.multispec(specs=specs), "UNKNOWN_PROFILE", says)


def test_multispec_with_another_number_of_rows_is_for_a_person() -> None:
    held(made.multispec(data=np.ones((3, 200))), "UNKNOWN_PROFILE", "4 solutions for 3 rows")
    held(made.multispec({"LTV1": -20.0}), "UNKNOWN_PROFILE", "LTV1")


# --- SDSS and LAMOST ---


def test_sdss_tables_are_vacuum_named_by_plate_mjd_and_fibre() -> None:
    checked = valid(made.sdss_table())
    verdict = checked.verdict
    assert verdict.fits_profile_id == "sdss_lamost@1.0.0"
    assert (verdict.medium, verdict.frame) == ("vacuum", "HELIOCEN")
    assert verdict.object_name == "5063-55831-323"
    assert verdict.observed_at_iso == "2011-09-27"
    assert verdict.flux_unit == "1E-17 erg/cm^2/s/Ang"
    order = only(checked)
    np.testing.assert_allclose(order.wavelength[0], 10**3.6 * 1e-10, rtol=1e-6)
    assert float(order.error[0]) == 0.5
    assert np.isnan(order.error[3])
    assert valid(made.sdss_table({"NAME": "5063-55831-01"})).verdict.object_name == "5063-55831-323"
    held(made.sdss_table({"FIBERID": None}), "MISSING_CRITICAL_METADATA", "fibre")


def test_lamost_takes_its_error_from_the_inverse_variance() -> None:
    checked = valid(made.lamost())
    assert float(only(checked).error[0]) == 2.0
    assert checked.verdict.flux_unit is None
    assert checked.verdict.instrument == "LAMOST"


def test_lamost_that_contradicts_itself_is_held() -> None:
    held(made.lamost({"CRVAL1": 3.7}), "OTHER", "COEFF0 and COEFF1")
    held(made.lamost(third_row=np.linspace(4000, 4100, made.SAMPLES)), "OTHER", "third row")
    held(made.lamost({"VACUUM": False}), "OTHER", "VACUUM is F")


# --- HST, JWST, IUE ---


def test_hst_orders_keep_their_numbers() -> None:
    checked = valid(made.hst())
    assert checked.orders
    assert [order.number for order in checked.orders] == [330, 329]
    assert checked.verdict.wavelength_min_m == pytest.approx(1.2e-7, rel=1e-12)
    assert checked.verdict.observed_at_iso == "1999-11-05"
    held(made.hst(scale=10.0), "OTHER", "does the unit lie")


def test_jwst_rows_are_samples_and_sources_are_not_mixed() -> None:
    checked = valid(made.jwst())
    assert only(checked).wavelength[0] == pytest.approx(5.1e-6, rel=1e-12)
    assert checked.verdict.flux_unit == "Jy"
    held(made.jwst(sources=(1, 2)), "UNKNOWN_PROFILE", "2 sources")


def test_iue_counts_from_a_scalar_in_each_aperture() -> None:
    checked = valid(made.iue())
    assert checked.orders
    large, small = checked.orders
    assert (large.label, small.label) == ("LARGE", "SMALL")
    assert (len(large.flux), len(small.flux)) == (200, 190)
    np.testing.assert_allclose(large.wavelength[-1], (1150 + 1.5 * 199) * 1e-10, rtol=1e-6)
    assert checked.verdict.instrument == "IUE SWP"
    assert (checked.verdict.observed_at, checked.verdict.observed_at_iso) == ("13/08/78", "1978-08-13")


# --- Tables and images that name or carry their wavelengths ---


@pytest.mark.parametrize("names", [("WAVE", "FLUX", "ERR"), ("Lambda", "flux", "Uncertainty")])
def test_a_table_is_read_by_the_names_of_its_columns(names: tuple[str, str, str]) -> None:
    checked = valid(made.table(names=names))
    np.testing.assert_allclose(only(checked).wavelength, made.WAVE_NM * 1e-9, rtol=1e-12)
    assert only(checked).error is not None


def test_a_table_must_say_units_object_date_and_instrument() -> None:
    held(made.table(wave_unit=None), "MISSING_CRITICAL_METADATA", "a unit of wavelength")
    held(made.table(flux_unit=None), "MISSING_CRITICAL_METADATA", "(flux)")
    for keyword, said in (("OBJECT", "an object"), ("DATE-OBS", "a date"), ("INSTRUME", "an instrument")):
        held(made.table({keyword: None}), "MISSING_CRITICAL_METADATA", said)


def test_a_table_with_two_candidates_is_for_a_person() -> None:
    held(made.table(names=("WAVE", "FLUX", "LAMBDA")), "UNKNOWN_PROFILE", "2 columns could be the wavelength")


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("arrangement", [(0, 1, 2), (2, 0, 1)])
def test_three_rows_are_distinguished_by_what_goes_one_way(
    transposed: bool, arrangement: tuple[int, ...]
) -> None:
    rows = np.array([made.FLUX, made.FLUX / 20, made.WAVE_NM * 10])[list(arrangement)]
    order = only(valid(made.three_rows(transposed=transposed, rows=rows)))
    np.testing.assert_allclose(order.wavelength, made.WAVE_NM * 1e-9, rtol=1e-12)
    np.testing.assert_array_equal(order.flux, made.FLUX)
    np.testing.assert_array_equal(order.error, made.FLUX / 20)


def test_three_rows_that_could_be_anything_are_for_a_person() -> None:
    rising = np.array([made.WAVE_NM, made.WAVE_NM * 2, made.FLUX])
    held(made.three_rows(rows=rising), "UNKNOWN_PROFILE", "2 of three rows")
    negative = np.array([made.FLUX, -made.FLUX, made.WAVE_NM * 10])
    held(made.three_rows(rows=negative), "UNKNOWN_PROFILE", "negative")


def test_wavelengths_in_an_extension_need_a_unit_of_their_own() -> None:
    checked = valid(made.image_extensions())
    assert checked.verdict.orders == 2
    assert checked.verdict.observed_at_iso == "2014-11-26T10:15:21.927Z"
    verdict = held(
        made.image_extensions(unit=None), "MISSING_CRITICAL_METADATA", "wavelengths from 1.6 to 1.6299"
    )
    assert any("angstroms" in note for note in verdict.normalization_notes)
    assert valid(made.image_extensions(unit=None), wavelength_unit="um").verdict.original_unit == "um"


def test_the_standards_own_axes_say_air_or_vacuum() -> None:
    assert valid(made.wcs()).verdict.original_unit == "Ang"
    assert valid(made.wcs({"CTYPE1": "AWAV", "CUNIT1": "Angstrom"})).verdict.medium == "air"
    assert valid(made.wcs({"CTYPE1": "WAVE", "CUNIT1": "Angstrom"})).verdict.medium == "vacuum"
    held(made.wcs({"CTYPE1": "WAVE-LOG", "CUNIT1": "Angstrom"}), "UNKNOWN_PROFILE", "not linear")


def test_an_object_that_names_a_template_is_noted() -> None:
    verdict = valid(made.wcs({"HIERARCH ESO OBS TARG NAME": "V0002 Tst"})).verdict
    assert verdict.object_name == "V0001 Tst"
    assert any("V0002 Tst" in note for note in verdict.normalization_notes)


# --- What no profile knows ---


def test_one_dimensional_data_without_a_rule_are_for_a_person() -> None:
    held(made.wcs({"CTYPE1": None}), "UNKNOWN_PROFILE", "no profile knows")
    held(made.file_of(fits.PrimaryHDU(made.FLUX)), "UNKNOWN_PROFILE", "no profile knows")
    light = fits.BinTableHDU.from_columns([fits.Column("TIME", "D", unit="d", array=[1.0, 2.0])])
    held(made.file_of(light), "UNKNOWN_PROFILE", "TIME")


# --- Flux ---


def test_fluxes_of_no_size_that_any_unit_has_are_damage() -> None:
    broken = made.FLUX.copy()
    broken[7] = 1e188
    held(made.iraf(data=broken), "OTHER", "the data are damaged")
    broken[7] = 1e-310
    held(made.iraf(data=broken), "OTHER", "the data are damaged")


def test_no_flux_but_zero_and_a_single_sample_are_for_a_person() -> None:
    held(made.bess(flux=np.zeros(20)), "OTHER", "every flux is 0")
    held(made.bess(flux=[1.0]), "OTHER", "1 sample")


def test_a_modified_julian_date_stands_in_for_a_missing_date() -> None:
    verdict = valid(made.iraf({"DATE-OBS": None, "MJD-OBS": 53701.5})).verdict
    assert (verdict.observed_at, verdict.observed_at_iso) == ("53701.5", "2005-11-27T12:00:00.000Z")
    impossible = {"MJD-OBS": 2965661.58}
    assert any("2965661.58" in note for note in valid(made.iraf(impossible)).verdict.normalization_notes)
    held(made.iraf({"DATE-OBS": None, **impossible}), "MISSING_CRITICAL_METADATA", "a date")


def test_samples_without_a_flux_stay_as_nan() -> None:
    gaps = made.FLUX.copy()
    gaps[10:20] = np.nan
    gaps[20] = np.inf
    order = only(valid(made.iraf(data=gaps)))
    assert int(np.isnan(order.flux).sum()) == 11


@pytest.mark.parametrize(
    ("unit", "says"),
    [
        ("erg/cm2/s/A", None),
        ("FLAM", None),
        ("1E-17 erg/cm^2/s/Ang", None),
        ("ergs s-1 cm-2 A-1", None),
        ("Jy", None),
        ("ADU", "counts"),
        ("DU/PIXEL", "counts"),
        ("1.0E-17 erg/cm/s/Ang", "none of a flux density"),
        ("parrots", "cannot be read"),
        (None, "values are relative"),
    ],
)
def test_units_of_flux_are_kept_and_judged(unit: str | None, says: str | None) -> None:
    verdict = valid(made.iraf({"BUNIT": unit})).verdict
    assert verdict.flux_unit == unit
    notes = [note for note in verdict.normalization_notes if "flux" in note]
    assert [note for note in notes if says and says in note] if says else notes == []


# --- Overrides ---


def test_what_a_reviewer_says_is_used_and_recorded() -> None:
    body = made.bess({"CUNIT1": None, "DATE-OBS": None, "OBJNAME": "UNKNOWN", "BSS_INST": None})
    verdict = valid(
        body,
        wavelength_unit="Angstrom",
        date="2024-03-05T21:30:00",
        object="V0009 Tst",
        instrument="Lhires",
        flux_unit="erg/s/cm2/A",
    ).verdict
    assert verdict.object_name == "V0009 Tst"
    assert verdict.flux_unit == "erg/s/cm2/A"
    assert verdict.observed_at_iso == "2024-03-05T21:30:00Z"
    for key in ("wavelength_unit", "date", "object", "instrument", "flux_unit"):
        assert any(note.startswith(f"{key}: the reviewer says") for note in verdict.normalization_notes)


def test_a_reviewer_who_names_the_unit_overrules_the_limits_of_the_instrument() -> None:
    body = made.bess({"CUNIT1": "nm"})
    assert valid(body, wavelength_unit="Angstrom").verdict.wavelength_min_m == pytest.approx(4e-7)
    trusted = valid(body, wavelength_unit="nm").verdict
    assert trusted.wavelength_min_m == pytest.approx(4e-6)
    assert any("lie outside" in note for note in trusted.normalization_notes)


def test_a_reviewer_can_do_without_a_keyword_but_not_without_a_unit_date_or_object() -> None:
    body = made.eso({"MJD-END": None, "SPECSYS": None})
    held(body, "MISSING_CRITICAL_METADATA", "SPECSYS", accept_missing="MJD-END")
    verdict = valid(body, accept_missing="mjd-end, SPECSYS").verdict
    assert "SPECSYS is missing and the reviewer accepts that" in verdict.normalization_notes
    assert valid(made.eso(checksums=False), ignore_checksum="true").verdict.checksum == "absent"
    assert valid(made.table(flux_unit=None), flux_unit="Jy").verdict.flux_unit == "Jy"
    nameless = made.bess({"OBJNAME": None})
    held(nameless, "MISSING_CRITICAL_METADATA", "an object", accept_missing="object, an object, OBJNAME")


def test_the_signature_is_one_for_all_files_of_a_pipeline() -> None:
    signature = check(made.bess()).verdict.header_signature_hash
    same = made.bess({"OBJNAME": "Another", "CRVAL1": 4100.0}, flux=made.FLUX[:50])
    assert check(same).verdict.header_signature_hash == signature
    assert check(made.bess({"CUNIT1": "nm"})).verdict.header_signature_hash != signature


def test_a_verdict_is_small_whatever_the_file_holds() -> None:
    verdict = valid(made.bess({"OBJNAME": "x" * 68, "COMMENT": "y" * 50})).verdict
    many = dataclasses.replace(verdict, normalization_notes=("n" * 10_000,) * 1_000)
    assert len(json.dumps(many.to_json())) < 20_000


# --- The matrix of the FITS standard ---


@pytest.mark.parametrize("make", [made.bess, made.wcs, made.iraf])
def test_the_step_is_cdelt1_times_pc1_1(make: Callable[[dict[str, Any]], bytes]) -> None:
    cards = {"CRVAL1": 4000.0, "CDELT1": 1.0, "CD1_1": None, "PC1_1": 2.0}
    np.testing.assert_allclose(only(valid(make(cards))).wavelength[[0, -1]], [4e-7, 4.398e-7], rtol=1e-12)


def test_an_axis_in_metres_with_its_step_in_pc1_1_is_read() -> None:
    cards = {"CTYPE1": "AWAV", "CUNIT1": "m", "CRVAL1": 4e-7, "CDELT1": 1.0, "PC1_1": 2e-10}
    np.testing.assert_allclose(only(valid(made.wcs(cards))).wavelength[[0, -1]], [4e-7, 4.398e-7], rtol=1e-12)


@pytest.mark.parametrize("make", [made.bess, made.wcs, made.iraf])
def test_cd1_1_beside_cdelt1_must_agree(make: Callable[[dict[str, Any]], bytes]) -> None:
    held(make({"CDELT1": 1.0, "CD1_1": 2.0}), "UNKNOWN_PROFILE", "forbids")
    held(make({"CDELT1": 1.0, "PC1_1": 3.0, "CD1_1": 2.0}), "UNKNOWN_PROFILE", "forbids")
    agreed = only(valid(make({"CRVAL1": 4000.0, "CDELT1": 1.0, "PC1_1": 2.0, "CD1_1": 2.0})))
    np.testing.assert_allclose(agreed.wavelength[-1], 4.398e-7, rtol=1e-12)


@pytest.mark.parametrize("keyword", ["PC1_2", "PC2_1", "CD1_2", "CD2_1", "CROTA1", "CROTA2"])
def test_axes_that_are_mixed_or_turned_are_for_a_person(keyword: str) -> None:
    held(made.wcs({keyword: 0.5}), "UNKNOWN_PROFILE", keyword)
    valid(made.wcs({keyword: 0.0}))


@pytest.mark.parametrize("make", [made.bess, made.wcs, made.iraf])
@pytest.mark.parametrize("kind", ["WAVE-LOG", "AWAV-TAB", "WAVE-GRI"])
def test_an_axis_that_is_not_linear_is_not_read_as_linear(make: Any, kind: str) -> None:
    held(make({"CTYPE1": kind, "CUNIT1": "Angstrom"}), "UNKNOWN_PROFILE", "not linear")


# --- Dates that cannot be ---


@pytest.mark.parametrize("text", ["08/10/23", "01/01/00", "31/12/69", "08-10-23", "8/10/23", "08/10/2023"])
def test_two_digits_of_a_year_without_a_plain_century_are_held(text: str) -> None:
    verdict = held(made.bess({"DATE-OBS": text}), "MISSING_CRITICAL_METADATA", "a date")
    assert verdict.observed_at_iso is None
    assert valid(made.bess({"DATE-OBS": text}), date="2023-10-08").verdict.observed_at_iso == "2023-10-08"


def test_a_date_before_digital_detectors_is_held() -> None:
    held(made.bess({"DATE-OBS": "1923-10-08"}), "OTHER", "before 1970")
    assert valid(made.iraf({"DATE-OBS": "08/10/95"})).verdict.observed_at_iso == "1995-10-08"


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2024-03-05T21:30", "2024-03-05T21:30:00Z"),
        ("2024-03-05T21:30:00.", "2024-03-05T21:30:00Z"),
        ("2024-03-05T21:30:00,25", "2024-03-05T21:30:00.25Z"),
        ("2024/03/05 21:30:00", "2024-03-05T21:30:00Z"),
        ("2024-3-5T9:30:00", "2024-03-05T09:30:00Z"),
        ("20240305T213000", "2024-03-05T21:30:00Z"),
        ("20240305", "2024-03-05"),
        ("2024-03-05T21:30:00+00:00", "2024-03-05T21:30:00Z"),
        ("2024-03-06T01:30:07.5+04:00", "2024-03-05T21:30:07.5Z"),
        ("2024-03-05T18:00:00-0330", "2024-03-05T21:30:00Z"),
    ],
)
def test_a_date_that_begins_with_the_year_is_read_in_every_writing(text: str, iso: str) -> None:
    assert valid(made.bess({"DATE-OBS": text})).verdict.observed_at_iso == iso


@pytest.mark.parametrize("text", ["2024305", "2024-03-05T25:00:00+02:00", "2024-03-05T21:30+99", "2024-3/5"])
def test_a_date_that_could_be_two_or_none_is_held(text: str) -> None:
    held(made.bess({"DATE-OBS": text}), "MISSING_CRITICAL_METADATA", "a date")


@pytest.mark.parametrize(
    ("kind", "unit"),
    [
        (None, "Angstrom"),
        ("LINEAR", "Angstrom"),
        ("Angstrom", None),
        ("ANGSTROM", "pixel"),
        ("Wavelength (A)", None),
        ("WAVE", "10**-10 m"),
    ],
)
def test_an_axis_is_wavelengths_by_its_unit_where_ctype1_names_nothing_else(
    kind: str | None, unit: str | None
) -> None:
    verdict = valid(made.wcs({"CTYPE1": kind, "CUNIT1": unit})).verdict
    assert verdict.wavelength_min_m == pytest.approx(4000e-10)


def test_an_axis_of_two_units_or_of_logarithms_is_not_wavelengths_by_its_unit() -> None:
    held(made.wcs({"CTYPE1": "Angstrom", "CUNIT1": "nm"}), "OTHER", "CUNIT1 says 'nm'")
    held(made.wcs({"CTYPE1": "LINEAR", "CUNIT1": "Angstrom", "CRVAL1": 3.6, "CDELT1": 1e-4}), "OTHER", "lie")
    held(made.wcs({"CTYPE1": "PIXEL", "CUNIT1": "Angstrom"}), "UNKNOWN_PROFILE", "PIXEL")


@pytest.mark.parametrize("make", [made.bess, made.wcs])
def test_axes_of_one_pixel_make_no_image_of_a_spectrum(make: Any) -> None:
    name = "flux" if make is made.bess else "data"
    flat, deep = (make(**{name: made.FLUX[(None,) * more]}) for more in (1, 2))
    for body in (flat, deep):
        np.testing.assert_array_equal(only(valid(body)).flux, only(valid(make())).flux)


def _in_extensions(**images: Any) -> bytes:
    """A file whose images are in extensions, with its date and object in the primary header."""
    with fits.open(io.BytesIO(made.wcs())) as hdus:
        cards = hdus[0].header
        primary, axis = fits.PrimaryHDU(), fits.Header()
        for card in cards.cards[4:]:
            (axis if card.keyword.endswith("1") else primary.header).append(card)
        extensions = [fits.ImageHDU(data, axis, name=name) for name, data in images.items()]
        return made.file_of(primary, *extensions)


def test_a_spectrum_in_an_extension_has_its_error_beside_it() -> None:
    checked = valid(_in_extensions(SCI=made.FLUX, ERRS=made.FLUX / 10, QUAL=made.FLUX * 0))
    np.testing.assert_array_equal(only(checked).flux, made.FLUX)
    np.testing.assert_array_equal(only(checked).error, made.FLUX / 10)
    held(_in_extensions(SCI=made.FLUX, SKYSUB=made.FLUX), "UNKNOWN_PROFILE", "no profile knows")


def test_iraf_leaves_the_edges_of_an_aperture_undefined() -> None:
    orders = tuple(re.sub(r"^((?:\S+ ){7})\S+ \S+", r"\1INDEF INDEF", spec) for spec in made.MULTISPEC)
    assert valid(made.multispec(specs=orders)).verdict == valid(made.multispec()).verdict


@pytest.mark.parametrize(
    ("name", "medium"), [("WL", None), ("AWAV", "air"), ("WAVE_AIR", "air"), ("LAMBDA_VAC", "vacuum")]
)
def test_a_column_of_wavelengths_may_say_where(name: str, medium: str | None) -> None:
    assert valid(made.table(names=(name, "F_LAMBDA", "ERR"))).verdict.medium == medium


def test_a_card_that_stands_there_twice_with_two_values_is_for_a_person() -> None:
    again = made.bess().replace(b"BSS_VHEL=                    0", b"CRVAL1  =               4100.0")
    held(again, "OTHER", "CRVAL1 stands there more than once")
    same = made.bess().replace(b"BSS_VHEL=                    0", b"CRVAL1  =               4000.0")
    assert valid(same).verdict.wavelength_min_m == pytest.approx(4000e-10)


@pytest.mark.parametrize("name", ["ThAr", "flat", "DARK", "Comp"])
def test_a_calibration_is_no_spectrum_of_a_star(name: str) -> None:
    held(made.bess({"OBJNAME": name}), "MISSING_CRITICAL_METADATA", f"an object ({name!r} names none)")
    assert valid(made.bess({"OBJNAME": name}), object="V339 Del").verdict.object_name == "V339 Del"
