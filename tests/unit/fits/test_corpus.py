"""Real files of many origins against their right reading, where the folder of examples is there.

The reading is parsed from the folder's own README; what becomes of each file is decided here, by the
rules that docs/spectra.md tells.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from astropy.io import fits
from click.testing import CliRunner

from sourcebook.fits.check import check
from sourcebook.fits.model import Verdict
from sourcebook_cli.main import main

ROOT = Path(__file__).parents[3]
SPECTRA = Path(os.environ.get("SOURCEBOOK_SHARED", ROOT.parent / "shared")) / "data" / "spectra"

VALID = "VALID"
LACKS = "QUARANTINED MISSING_CRITICAL_METADATA"

OUTCOMES = {
    "astropy__checksum.fits": "TERMINAL_INVALID SKY_IMAGE",
    "astropy__checksum_false.fits": "QUARANTINED CHECKSUM_MISMATCH",
    "astroquery__alfalfa_sp.fits": "TERMINAL_INVALID NOT_OPTICAL",
    "astroquery__eso_testfile.fits.Z": "RETRYABLE NOT_FITS",
    "astroquery__sdss_emptyfile.fits": "TERMINAL_INVALID NO_DATA",
    "bopy__spec-55939-GAC_061N46_V3_sp07-078.fits": VALID,
    "ciboulette__Pn_R_hd8538_20231008_836.fits": VALID,
    "derived__bess_SIMPLE_F.fits": "RETRYABLE NOT_FITS",
    "derived__bess_all_nan.fits": "TERMINAL_INVALID ALL_NAN",
    "derived__bess_crpix_mid.fits": VALID,
    "derived__bess_latin1_header.fits": VALID,
    "derived__bess_missing_SIMPLE.fits": "RETRYABLE NOT_FITS",
    "derived__bess_nm.fits": VALID,
    "derived__bess_no_cunit_ctype.fits": LACKS,
    "derived__bess_no_date.fits": LACKS,
    "derived__bess_no_wcs.fits": "QUARANTINED UNKNOWN_PROFILE",
    "derived__bess_rqvh.fits": VALID,
    "derived__bess_truncated_in_header.fits": "RETRYABLE TRUNCATED",
    "derived__bess_unit_lie_nm.fits": "QUARANTINED OTHER",
    "derived__empty.fits": "RETRYABLE EMPTY",
    "derived__eso_bitflip_checksum.fits": "QUARANTINED CHECKSUM_MISMATCH",
    "derived__eso_truncated.fits": "RETRYABLE TRUNCATED",
    "derived__html_404.fits": "RETRYABLE HTML_BODY",
    "derived__json_error.fits": "RETRYABLE JSON_BODY",
    "derived__truncated_gzip.fits.gz": "RETRYABLE TRUNCATED",
    "derived__votable_error.fits": "RETRYABLE VOTABLE_ERROR",
    "linetools__NGC4151sic2a.fits": LACKS,
    "linetools__PH957_f.fits": VALID,
    "linetools__SDSSJ220248.31+123656.3.fits": VALID,
    "linetools__UM184_nF.fits": LACKS,
    "linetools__XShooter_XQ100.fits.gz": VALID,
    "linetools__specexample1.fits": LACKS,
    "muler__SDCK_spec_a0v.fits": LACKS,
    "pyspeckit__hr2421.fit": LACKS,
    "pyspeckit__sample_sdss.fits": VALID,
    "pyspeckit__sn2009ip_halpha.fits": LACKS,
    "skyportal__ZTF20abjwvae_DCT.fits": LACKS,
    "specreduce__science_spectrum.fits": LACKS,
    "specutils__1d.fits": "TERMINAL_INVALID NOT_OPTICAL",
    "specutils__L5g_0355+11_Cruz09.fits": VALID,
    "specutils__TRES.fits": VALID,
    "specutils__UVES.fits": VALID,
    "specutils__iue_swp02283.mxlo.fits": VALID,
    "specutils__multispec-linear-log.fits": VALID,
    "specutils__multispec_equispec.fits": LACKS,
    "synphot__grw_70d5824_stisnic_005.fits": LACKS,
}

UNREADABLE = {name for name, outcome in OUTCOMES.items() if outcome.startswith("RETRYABLE")}
NO_AXIS = {
    *(name for name, outcome in OUTCOMES.items() if outcome.startswith("TERMINAL_INVALID")),
    "astropy__checksum_false.fits",
    "derived__bess_no_wcs.fits",
} - {"derived__bess_all_nan.fits"}
"""Files whose reading has no wavelengths: there are none in them."""

ANGSTROM = 1e-10
METRES = {"ang": ANGSTROM, "angstrom": ANGSTROM, "angstroms": ANGSTROM, "nm": 1e-9}
UNIT_IN_CTYPE1 = {"specutils__UVES.fits": "ang"}
"""The README has no unit and says in words where it stands."""


@dataclass(frozen=True)
class Right:
    """One row of the README."""

    samples: str
    low: float
    high: float
    unit: str | None
    flux_unit: str | None
    object_name: str | None
    date: str | None
    instrument: str | None


@cache
def readings() -> dict[str, Right]:
    if not SPECTRA.is_dir():
        return {}
    rows: dict[str, Right] = {}
    for line in (SPECTRA / "README.md").read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 16 or not cells[1].isdigit():
            continue
        low, high = (float(cell) if cell[0].isdigit() else float("nan") for cell in cells[7:9])
        texts = [None if cell == "None" else cell for cell in cells[9:14]]
        unit = texts[0] and texts[0].replace("(WAT)", "").casefold()
        rows[cells[0]] = Right(cells[6], low, high, unit, *texts[1:])
    return rows


def right_of(name: str) -> Right:
    if not SPECTRA.is_dir():
        pytest.skip(f"the spectra to test with are not at {SPECTRA}; set SOURCEBOOK_SHARED to their folder")
    return readings()[name]


@cache
def verdict_of(name: str) -> Verdict:
    return check((SPECTRA / name).read_bytes(), name=name).verdict


def test_every_file_of_the_folder_has_its_outcome_here() -> None:
    if not SPECTRA.is_dir():
        pytest.skip(f"the spectra to test with are not at {SPECTRA}; set SOURCEBOOK_SHARED to their folder")
    assert set(readings()) == set(OUTCOMES)
    assert {path.name for path in SPECTRA.iterdir() if path.name != "README.md"} == set(OUTCOMES)


@pytest.mark.parametrize("name", OUTCOMES)
def test_the_outcome_is_right(name: str) -> None:
    right_of(name)
    verdict = verdict_of(name)
    outcome = verdict.outcome.value.replace("NOT_A_SPECTRUM_FILE", "RETRYABLE")
    assert f"{outcome} {verdict.reason}".strip() == OUTCOMES[name], verdict.message


@pytest.mark.parametrize("name", sorted(set(OUTCOMES) - UNREADABLE - NO_AXIS))
def test_the_reading_is_the_readmes(name: str) -> None:
    right, verdict = right_of(name), verdict_of(name)
    orders, samples = {
        "bopy__spec-55939-GAC_061N46_V3_sp07-078.fits": (1, 3894),  # five rows of one spectrum
        "pyspeckit__sample_sdss.fits": (1, 3853),
        "skyportal__ZTF20abjwvae_DCT.fits": (1, 2042),
        "muler__SDCK_spec_a0v.fits": (26, 2048),
        "linetools__specexample1.fits": (1, 181),
    }.get(name) or _counts(right.samples)
    assert (verdict.orders, verdict.samples) == (orders, samples)
    assert _singular(verdict.original_unit) == _singular(right.unit or UNIT_IN_CTYPE1.get(name))
    assert verdict.flux_unit == right.flux_unit
    assert verdict.object_name == right.object_name
    assert verdict.observed_at == right.date
    assert verdict.instrument == right.instrument


@pytest.mark.parametrize(
    "name", sorted(set(OUTCOMES) - UNREADABLE - NO_AXIS - {"derived__bess_all_nan.fits"})
)
def test_the_wavelengths_are_the_readmes(name: str) -> None:
    right, verdict = right_of(name), verdict_of(name)
    unit = right.unit or UNIT_IN_CTYPE1.get(name)
    if unit is None:  # then there are no metres; read it again as if a reviewer had said ångström
        assert verdict.wavelength_min_m is None
        assert "of no unit" in verdict.message
        unit = "angstrom"
        verdict = check((SPECTRA / name).read_bytes(), overrides={"wavelength_unit": unit}).verdict
    assert verdict.wavelength_min_m is not None
    assert verdict.wavelength_max_m is not None
    # The README rounds to three decimals, which is coarser than one in a million for short numbers.
    low, high = verdict.wavelength_min_m / METRES[unit], verdict.wavelength_max_m / METRES[unit]
    assert low == pytest.approx(right.low, rel=1e-6, abs=5.1e-4)
    assert high == pytest.approx(right.high, rel=1e-6, abs=5.1e-4)


def _singular(unit: str | None) -> str | None:
    """The README and the file may differ in case and number: Angstrom, angstroms."""
    return unit and unit.casefold().removesuffix("s")


def _counts(samples: str) -> tuple[int, int]:
    """Read "51 orders x 2304", "2 x 640", "1x9771" or "560"."""
    orders, times, count = samples.replace(" orders", "").replace(" ", "").partition("x")
    return (int(orders), int(count)) if times else (1, int(orders))


def test_iraf_wavelengths_agree_with_a_second_reader() -> None:
    """The 51 orders of TRES, by the formula of IRAF's manual written another way."""
    right_of("specutils__TRES.fits")
    body = (SPECTRA / "specutils__TRES.fits").read_bytes()
    orders = check(body).orders
    with fits.open(SPECTRA / "specutils__TRES.fits") as opened:
        header = opened[0].header
    text = "".join(str(header[key]).ljust(68) for key in header if key.startswith("WAT2_"))
    numbers = text.split('spec11 = "')[1].split('"')[0].split()
    terms = [float(number) for number in numbers[15:]]
    pixels = np.arange(1, 2305)
    x = (2 * pixels - 2305) / 2303
    polynomials = [np.ones_like(x), x]
    while len(polynomials) < len(terms):
        n = len(polynomials) - 1
        if float(numbers[11]) == 1:
            polynomials.append(2 * x * polynomials[-1] - polynomials[-2])
        else:
            polynomials.append(((2 * n + 1) * x * polynomials[-1] - n * polynomials[-2]) / (n + 1))
    expected = sum(term * polynomial for term, polynomial in zip(terms, polynomials, strict=True))
    assert np.abs(orders[10].wavelength / ANGSTROM - expected).max() < 1e-8


def test_the_damaged_dct_file_is_seen_as_such_once_it_has_a_name() -> None:
    right_of("skyportal__ZTF20abjwvae_DCT.fits")
    body = (SPECTRA / "skyportal__ZTF20abjwvae_DCT.fits").read_bytes()
    verdict = check(body, overrides={"object": "ZTF20abjwvae"}).verdict
    assert (verdict.outcome, verdict.reason) == ("QUARANTINED", "OTHER")
    assert "damaged" in verdict.message


def test_the_checksum_of_uves_holds_although_astropy_says_it_does_not() -> None:
    """astropy counts data without a DATASUM as zero; the standard sums the whole HDU."""
    right_of("specutils__UVES.fits")
    assert verdict_of("specutils__UVES.fits").checksum == "ok"


def test_the_command_prints_all_of_them_as_a_list() -> None:
    right_of("derived__empty.fits")
    files = [str(SPECTRA / name) for name in OUTCOMES]
    finished = CliRunner().invoke(main, ["spectra", "check", *files, "--json"])
    assert finished.exit_code == 0, finished.output
    rows = json.loads(finished.stdout)
    assert [f"{row['outcome']} {row['reason']}".strip() for row in rows] == list(OUTCOMES.values())
    assert [row["file"] for row in rows] == files
