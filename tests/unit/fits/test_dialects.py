"""Spectra in every dialect of FITS, their truth known: a right value or a hold, never another value.

Each file is built from wavelengths and a date that the test chose. Its header is written in a dialect drawn
at random; then, in half of them, a card is put beside it that contradicts it. A few hundred by default;
SOURCEBOOK_FUZZ sets how many, SOURCEBOOK_FUZZ_SEED which.
"""

from __future__ import annotations

import io
import os
import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from astropy.io import fits

from sourcebook.fits.check import check
from sourcebook.fits.model import SpectrumOutcome
from tests.unit.fits import made

FILES = int(os.environ.get("SOURCEBOOK_FUZZ", "300"))
SEED = os.environ.get("SOURCEBOOK_FUZZ_SEED", "")
NOW = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
MJD_ZERO = datetime(1858, 11, 17, tzinfo=UTC)
UNITS = {
    "Angstrom": 1e-10,
    "ANGSTROMS": 1e-10,
    "A": 1e-10,
    "nm": 1e-9,
    "um": 1e-6,
    "micron": 1e-6,
    "mm": 1e-3,
    "cm": 1e-2,
    "m": 1.0,
}


@dataclass
class Built:
    """A file and what is true of it.

    Attributes:
        body: the file.
        first, last: its wavelengths in metres, at both ends.
        day: of its observation.
        moment: the same with the time.
        flux: its fluxes.
        contradicts: whether a card speaks against the truth, so that the file must be held.
        said: what was drawn, for messages.
    """

    body: bytes
    first: float
    last: float
    day: str
    moment: datetime
    flux: Any
    contradicts: bool
    said: list[str] = field(default_factory=list)


def mjd(moment: datetime) -> float:
    return round((moment - MJD_ZERO) / timedelta(days=1), 6)


def axis(draw: random.Random, first: float, step: float, cards: dict[str, Any]) -> None:
    """Write an axis that begins at `first` with `step`, in one of the ways that the standard has."""
    pixel = draw.choice((1, 1, 51, 0.5, -20))
    cards |= {"CRPIX1": pixel, "CRVAL1": first + (pixel - 1) * step, "CDELT1": None, "CD1_1": None}
    way = draw.randrange(5)
    factor = draw.choice((0.5, 2.0, 1e-3))
    if way == 0:
        cards["CDELT1"] = step
    elif way == 1:
        cards["CD1_1"] = step
    elif way == 2:
        cards |= {"CDELT1": step / factor, "PC1_1": factor}
    elif way == 3:
        cards |= {"CDELT1": step, "CD1_1": step}
    else:
        cards |= {"CDELT1": 1.0, "PC1_1": step}
    if draw.random() < 0.3:
        cards |= {"LTV1": -100.0, "LTM1_1": 0.5}


def date(draw: random.Random, moment: datetime, cards: dict[str, Any]) -> None:
    """Write a date in one of the ways that files have."""
    text = moment.strftime("%Y-%m-%dT%H:%M:%S")
    way = draw.randrange(7)
    cards["DATE-OBS"] = text
    if way == 1:
        cards["DATE-OBS"] = text[:10]
    elif way == 2:
        cards |= {"DATE-OBS": text[:10], "TIME-OBS": text[11:]}
    elif way == 3:
        cards |= {"DATE-OBS": moment.strftime("%d/%m/%y"), "MJD-OBS": mjd(moment)}
    elif way == 4:
        cards |= {"DATE-OBS": None, "MJD-OBS": mjd(moment)}
    elif way == 5:
        cards |= {"JD": mjd(moment) + 2_400_000.5, "UT": text[11:]}
    elif way == 6:
        cards["DATE-OBS"] = text.replace("T", " ") + " UTC"


def contradict(draw: random.Random, moment: datetime, cards: dict[str, Any]) -> str:
    """Put a card into the header that cannot be true beside the others."""
    later = moment + timedelta(days=draw.choice((-3, 3, 40, 366)))
    dated = cards.get("DATE-OBS") is not None
    kinds: list[dict[str, Any]] = [
        {"PC1_2": 0.1},
        {"CD2_1": 0.1},
        {"CROTA1": 5.0},
        {"CTYPE1": "WAVE-LOG"},
        {"CTYPE1": "AWAV", "AIRORVAC": "vacuum"},
        {"CTYPE1": "WAVE", "VACUUM": False},
        {"TIMESYS": "CET"},
        {"TIMESYS": "LOCAL"},
        {"JD-MID": mjd(later) + 2_400_000.5},
        {"DATE-OBS": "2027-02-03T04:05:06"},
        {"DATE-OBS": "1923-02-03"},
        {"DATE-OBS": f"{moment:%Y}-02-30"},
        # Of another year: a JD beside it may tell the right one.
        {"DATE-OBS": f"{moment:%d/%m}/{10 if moment.year != 2010 else 11}", "MJD-OBS": None},
        {"DATE-OBS": f"{moment:%d/%m/%Y}"},
        {"DC-FLAG": 2},
        {"CRPIX1": None},
    ]
    if dated:
        kinds += [{"MJD-OBS": mjd(later)}, {"MJD-OBS": mjd(later)}]
    if len(str(cards.get("DATE-OBS"))) > 10:
        far = moment + timedelta(hours=draw.choice((6, 9, -7)))
        kinds += [{"TIME-OBS": far.strftime("%H:%M:%S")}, {"UTC-OBS": far.strftime("%H:%M:%S")}]
    kind = draw.choice(kinds)
    for keyword in ("DATE-OBS", "MJD-OBS"):
        if keyword not in kind and keyword not in cards:
            cards[keyword] = None
    cards |= kind
    return str(kind)


def build(draw: random.Random) -> Built:
    unit = draw.choice(list(UNITS))
    first, step = draw.uniform(3800, 6000) * 1e-10, draw.uniform(0.5, 10) * 1e-10
    moment = datetime(2001, 1, 1, tzinfo=UTC) + timedelta(seconds=draw.randrange(24 * 365 * 86_400))
    flux = np.random.default_rng(draw.randrange(10**9)).uniform(1, 2, made.SAMPLES)
    make, data = draw.choice(((made.bess, "flux"), (made.wcs, "data"), (made.iraf, "data")))
    cards: dict[str, Any] = {"CUNIT1": unit, "EXPTIME": 60.0, "INSTRUME": "LISA"}
    said = [make.__name__, unit]
    stored: Any = flux
    if make is made.iraf:
        cards["WAT1_001"] = f"wtype=linear label=Wavelength units={unit}"
        if draw.random() < 0.5:
            rows = [("sigma - weights", flux / 9), ("spectrum - background", flux), ("raw - none", flux * 3)]
            draw.shuffle(rows)
            stored = np.array([[row] for _, row in rows])
            cards |= {f"BANDID{number}": word for number, (word, _) in enumerate(rows, start=1)}
            if draw.random() < 0.3:
                cards[f"BANDID{draw.randrange(1, 4)}"] = None
                said.append("a band without a word")
    else:
        cards["CTYPE1"] = draw.choice(("WAVELENGTH", "LAMBDA", "WAVE", "AWAV"))
    axis(draw, first / UNITS[unit], step / UNITS[unit], cards)
    date(draw, moment, cards)
    contradicts = "a band without a word" in said
    if draw.random() < 0.5:
        said.append(contradict(draw, moment, cards))
        contradicts = True
    if draw.random() < 0.3:
        cards = {keyword: cards[keyword] for keyword in draw.sample(list(cards), len(cards))}
    body = make(cards, **{data: stored})
    if draw.random() < 0.3:
        body = in_another_hand(body)
    last = first + (made.SAMPLES - 1) * step
    return Built(body, first, last, f"{moment:%Y-%m-%d}", moment, flux, contradicts, [*said, str(cards)])


def in_another_hand(body: bytes) -> bytes:
    """Write numbers with D for the exponent, and no blank before comments: both are FITS."""
    cards = [body[at : at + 80] for at in range(0, 2880, 80)]
    for at, card in enumerate(cards):
        if card[:8].strip() in {b"CRVAL1", b"CDELT1", b"CD1_1", b"PC1_1"}:
            cards[at] = card.replace(b"E-", b"D-").replace(b"E+", b"D+")
    return b"".join(cards) + body[2880:]


def test_a_file_of_known_truth_is_read_right_or_held() -> None:
    draw = random.Random(f"dialects of FITS{SEED}")
    valid = 0
    for _ in range(FILES):
        built = build(draw)
        checked = check(built.body, now=NOW)
        verdict = checked.verdict
        if not checked.orders:
            assert verdict.outcome is SpectrumOutcome.QUARANTINED, (verdict, built.said)
            assert built.contradicts, (verdict.message, built.said)
            continue
        valid += 1
        assert not built.contradicts, built.said
        (order,) = checked.orders
        np.testing.assert_allclose(
            order.wavelength[[0, -1]], [built.first, built.last], rtol=1e-9, err_msg=str(built.said)
        )
        np.testing.assert_allclose(order.flux, built.flux, rtol=1e-6, err_msg=str(built.said))
        assert verdict.observed_at_iso is not None
        assert verdict.observed_at_iso[:10] == built.day, built.said
        if len(verdict.observed_at_iso) > 10:
            found = datetime.fromisoformat(verdict.observed_at_iso)
            assert abs(found - built.moment) < timedelta(seconds=1), built.said
    assert FILES // 4 < valid < FILES * 3 // 4


@pytest.mark.parametrize("make", [made.bess, made.wcs, made.iraf])
@pytest.mark.parametrize(
    ("cards", "says"),
    [
        ({"DATE-OBS": "2026-06-03T00:00:00"}, "in the future"),
        ({"DATE-OBS": "2020-01-02T03:04:05", "MJD-OBS": 58850.5}, "MJD-OBS says"),
        ({"DATE-OBS": "2020-01-02", "JD": 2458860.5}, "JD says"),
        ({"DATE-OBS": "2020-01-02T03:04:05", "TIME-OBS": "11:04:05"}, "TIME-OBS says"),
        ({"DATE-OBS": "2020-01-02T03:04:05", "DATE-END": "2020-01-02T02:00:00"}, "before"),
        ({"DATE-OBS": "2020-01-02T03:04:05", "TIMESYS": "MST"}, "no time scale"),
        ({"DATE-OBS": "2020-01-02T03:04:05", "LT": "03:04:05"}, "local time"),
        ({"DATE-OBS": "2020-01-02T03:04:05", "TIMEZONE": -7}, "TIMEZONE is -7"),
        ({"DATE-OBS": ("2020-01-02T03:04:05", "local time of start")}, "local time"),
        ({"BSCALE": 0.0}, "BSCALE"),
    ],
)
def test_what_contradicts_itself_is_held(make: Any, cards: dict[str, Any], says: str) -> None:
    verdict = check(with_scale(make, cards), now=NOW).verdict
    assert (verdict.outcome, verdict.reason) == (SpectrumOutcome.QUARANTINED, "OTHER"), verdict
    assert says in verdict.message


def with_scale(make: Any, cards: dict[str, Any]) -> bytes:
    """Make a file; BSCALE is a card that astropy would take away when it writes."""
    if "BSCALE" not in cards:
        return bytes(make(cards))
    return bytes(make({"XSCALE": cards["BSCALE"]})).replace(b"XSCALE  =", b"BSCALE  =", 1)


@pytest.mark.parametrize(
    ("make", "cards", "says"),
    [
        (made.wcs, {"DATE-OBS": "1995-03-04"}, "before 1999"),
        (made.iue, {"LDATEOBS": "1999-08-13"}, "after 1996"),
        (made.jwst, {"DATE-OBS": "2012-02-03"}, "before 2021"),
    ],
)
def test_a_date_when_the_instrument_took_no_spectra_is_held(
    make: Any, cards: dict[str, Any], says: str
) -> None:
    verdict = check(make(cards), now=NOW).verdict
    assert verdict.outcome is SpectrumOutcome.QUARANTINED
    assert says in verdict.message


@pytest.mark.parametrize(
    ("cards", "iso"),
    [
        ({"DATE-OBS": "08/10/23", "MJD-OBS": 60225.5}, "2023-10-08"),
        ({"DATE-OBS": "08/10/23", "MJD-OBS": 60225.5, "TIME-OBS": "12:00:00"}, "2023-10-08T12:00:00Z"),
        ({"DATE-OBS": "08/10/23", "DATE-END": "2023-10-09T00:10:00"}, "2023-10-08"),
        ({"DATE-OBS": "2020-01-02", "UT": "3:04:05.5"}, "2020-01-02T03:04:05.5Z"),
        ({"DATE-OBS": "2020-01-02T03:04:05", "TIMESYS": "TAI"}, "2020-01-02T03:04:05"),
        ({"DATE-OBS": "2020-01-02T03:04:05", "TIMESYS": "UTC", "TIMEZONE": -7}, "2020-01-02T03:04:05Z"),
        ({"DATE-OBS": "2020-01-02T03:04:05", "MJD-END": 58851.0}, "2020-01-02T03:04:05Z"),
    ],
)
def test_cards_that_agree_say_when(cards: dict[str, Any], iso: str) -> None:
    verdict = check(made.bess(cards), now=NOW).verdict
    assert verdict.outcome is SpectrumOutcome.VALID, verdict.message
    assert verdict.observed_at_iso == iso


@pytest.mark.parametrize("text", ["08/10/23", "2020-02-30", "2019-01-01T00:00:00"])
def test_a_reviewers_date_holds_whatever_the_cards_say(text: str) -> None:
    body = made.wcs({"DATE-OBS": text, "MJD-OBS": 58850.5, "TIMESYS": "CET", "TIMEZONE": 1})
    assert check(body, now=NOW).verdict.outcome is SpectrumOutcome.QUARANTINED
    verdict = check(body, overrides={"date": "1997-10-08"}, now=NOW).verdict
    assert verdict.outcome is SpectrumOutcome.VALID, verdict.message
    assert verdict.observed_at_iso == "1997-10-08"


@pytest.mark.parametrize("words", [(None, None), ("sigma - a", None), ("spectrum", "flux"), ("raw", "sigma")])
def test_bands_whose_words_do_not_name_one_flux_are_held(words: tuple[str | None, str | None]) -> None:
    bands = np.array([[made.FLUX], [made.FLUX / 7]])
    verdict = check(made.iraf({"BANDID1": words[0], "BANDID2": words[1]}, data=bands), now=NOW).verdict
    assert verdict.outcome is SpectrumOutcome.QUARANTINED
    assert "which is the flux" in verdict.message


@pytest.mark.parametrize("keyword", ["BANDID", "ARRAY"])
@pytest.mark.parametrize("flux", [0, 1])
def test_two_rows_are_flux_and_error_by_the_headers_own_words(keyword: str, flux: int) -> None:
    rows = np.empty((2, made.SAMPLES))
    rows[flux], rows[1 - flux] = made.FLUX, made.FLUX / 7
    cards = {f"{keyword}{flux + 1}": "Flux", f"{keyword}{2 - flux}": "Error"}
    checked = check(made.iraf(cards, data=rows), now=NOW)
    assert checked.orders, checked.verdict.message
    (order,) = checked.orders
    assert order.error is not None
    np.testing.assert_array_equal(order.flux, made.FLUX)
    np.testing.assert_array_equal(order.error, made.FLUX / 7)


def test_units_that_contradict_each_other_are_held_where_both_could_be() -> None:
    verdict = check(made.wcs({"CUNIT1": "nm"}), now=NOW).verdict
    assert "CTYPE1" in verdict.message
    long = {"CRVAL1": 1000.0, "CD1_1": 0.1, "CUNIT1": "nm"}
    assert "which is right" in check(made.iraf(long), now=NOW).verdict.message


def test_samples_along_an_axis_that_has_its_own_numbers_are_held() -> None:
    rows = np.array([made.FLUX, made.FLUX / 7]).T
    words = {"BANDID1": "spectrum", "BANDID2": "sigma"}
    assert check(made.iraf(words, data=rows), now=NOW).orders
    verdict = check(made.iraf({**words, "CRVAL2": 5000.0, "CDELT2": 1.0}, data=rows), now=NOW).verdict
    assert "second axis" in verdict.message


def test_a_flux_table_of_known_truth_is_read_right_or_held() -> None:
    draw = random.Random(f"flux tables{SEED}")
    valid = 0
    for _ in range(FILES // 3):
        unit = draw.choice(list(UNITS))
        first, step = draw.uniform(3800, 6000) * 1e-10, draw.uniform(0.5, 10) * 1e-10
        moment = datetime(2001, 1, 1, tzinfo=UTC) + timedelta(seconds=draw.randrange(24 * 365 * 86_400))
        cards: dict[str, Any] = {
            "CUNIT1": unit,
            "INSTRUME": "LISA",
            "CTYPE1": draw.choice(("WAVE", "LAMBDA")),
        }
        axis(draw, first / UNITS[unit], step / UNITS[unit], cards)
        date(draw, moment, cards)
        said = [contradict(draw, moment, cards)] if draw.random() < 0.5 else []
        beside = draw.choice(({}, {"SKY": made.FLUX}, {"QUALITY": made.FLUX * 0}))
        checked = check(made.flux_table(cards, more=beside), now=NOW)
        if not checked.orders:
            assert said, (checked.verdict.message, cards)
            continue
        valid += 1
        assert not said, (said, cards)
        assert checked.verdict.fits_profile_id == "flux_table@1.0.0"
        (order,) = checked.orders
        ends = [first, first + (made.SAMPLES - 1) * step]
        np.testing.assert_allclose(order.wavelength[[0, -1]], ends, rtol=1e-9)
        np.testing.assert_array_equal(order.flux, made.FLUX)
        assert order.error is not None
    assert valid > FILES // 9


@pytest.mark.parametrize(
    ("more", "table", "cards"),
    [
        ({"WAVELEN": made.WAVE_NM}, {}, {}),
        ({"LINE": made.WAVE_NM}, {}, {}),
        ({"RA": made.WAVE_NM}, {}, {}),
        ({"MJD": made.WAVE_NM}, {}, {}),
        ({}, {"CRVAL1": 5000.0}, {}),
        ({}, {"1CRVL1": 5000.0}, {}),
        ({}, {"TCRVL1": 5000.0}, {}),
        ({}, {"NELEM": 100}, {}),
        ({}, {}, {"CTYPE1": "LINEAR"}),
        ({}, {}, {"CTYPE1": None}),
        ({}, {}, {"CUNIT1": None}),
        ({}, {}, {"CUNIT1": "nm"}),
        ({}, {}, {"CRPIX1": None}),
        ({}, {}, {"DC-FLAG": 1}),
        ({}, {}, {"INSTRUME": None}),
        ({}, {}, {"CTYPE1": "WAVE", "AIRORVAC": "air"}),
    ],
)
def test_a_flux_table_whose_axis_is_not_proven_is_held(
    more: dict[str, Any], table: dict[str, Any], cards: dict[str, Any]
) -> None:
    verdict = check(made.flux_table(cards, more=more, table=table), now=NOW).verdict
    assert verdict.outcome is SpectrumOutcome.QUARANTINED, verdict


@pytest.mark.parametrize(
    ("instrument", "wave", "unit"),
    [
        ("MagE", made.WAVE_NM * 10, "Angstrom"),
        ("MagE", made.WAVE_NM, "nm"),
        ("GMOS-N", made.WAVE_NM / 1000, "um"),
        ("XSHOOTER", made.WAVE_NM * 1e-9, "m"),
        ("NIRSPEC", 1 + made.WAVE_NM / 400, "um"),
        # Held: unknown, of another instrument, of another meaning, or of two.
        ("LISA", made.WAVE_NM * 10, None),
        (None, made.WAVE_NM * 10, None),
        ("MIRI", made.WAVE_NM * 10, None),
        ("MagE", np.log10(made.WAVE_NM * 10), None),
        ("CRIRES", np.log10(made.WAVE_NM * 40), None),
        ("SINFONI", np.log10(made.WAVE_NM * 20), None),
        ("MagE", np.arange(made.SAMPLES), None),
        ("MagE", 10_000 + made.WAVE_NM * 10, None),
        ("MagE", 2450 + made.WAVE_NM, None),
    ],
)
def test_the_unit_of_a_spec_table_is_what_its_instrument_can_see(
    instrument: str | None, wave: Any, unit: str | None
) -> None:
    cards = {"INSTRUME": instrument, "DATE-OBS": "2023-01-02T03:04:05"}
    checked = check(made.spec_table(cards, wave=wave), now=NOW)
    assert bool(checked.orders) == (unit is not None), checked.verdict
    assert checked.verdict.original_unit == unit
    if checked.orders and unit is not None:
        (order,) = checked.orders
        np.testing.assert_allclose(order.wavelength, wave * UNITS[unit], rtol=1e-12)


def test_a_table_of_spec_whose_unit_is_said_keeps_it() -> None:
    assert check(made.spec_table(unit="Angstrom"), now=NOW).verdict.original_unit == "Angstrom"
    verdict = check(made.spec_table(unit="pixel"), now=NOW).verdict
    assert (verdict.outcome, verdict.original_unit) == (SpectrumOutcome.QUARANTINED, "pixel")


@pytest.mark.parametrize("make", [made.table, made.spec_table, made.flux_table])
def test_two_tables_that_hold_a_spectrum_are_held(make: Any) -> None:
    with fits.open(io.BytesIO(make())) as parts:
        stream = io.BytesIO()
        fits.HDUList([parts[0], parts[1], parts[1].copy()]).writeto(stream)
    verdict = check(stream.getvalue(), now=NOW).verdict
    assert verdict.outcome is SpectrumOutcome.QUARANTINED
    assert "2 tables" in verdict.message


@pytest.mark.parametrize("keyword", ["BANDID", "ARRAY", "ROW", "APID"])
@pytest.mark.parametrize(
    ("flux", "error"),
    [
        ("flux", "flux error"),
        ("spectrum - background fit, weights variance, clean no", "sigma - background fit"),
        ("Object spectrum", "error spectrum"),
        ("FLUX (erg/s/cm2/A)", "1-sigma uncertainty"),
    ],
)
def test_what_a_row_is_stands_in_the_words_before_how_it_was_made(
    keyword: str, flux: str, error: str
) -> None:
    rows = np.array([made.FLUX / 7, made.FLUX])
    cards = {f"{keyword}1": error, f"{keyword}2": flux, "APNUM1": "1 1", "APNUM2": "2 2"}
    checked = check(made.iraf(cards, data=rows), now=NOW)
    assert checked.orders, checked.verdict.message
    (order,) = checked.orders
    np.testing.assert_array_equal(order.flux, made.FLUX)
    np.testing.assert_array_equal(order.error, made.FLUX / 7)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("flux variance", "data"),
        ("sky flux", "sigma"),
        ("flux", "variance of flux"),
        ("flux", "relative error"),
        ("flux", ""),
        ("flux", "object"),
        ("normalized continuum flux", "error"),
    ],
)
def test_words_for_something_else_make_no_flux_and_no_error(first: str, second: str) -> None:
    rows = np.array([made.FLUX, made.FLUX / 7])
    checked = check(made.iraf({"BANDID1": first, "BANDID2": second}, data=rows), now=NOW)
    assert not checked.orders or checked.orders[0].error is None
    if checked.orders:
        assert first == "flux"
        np.testing.assert_array_equal(checked.orders[0].flux, made.FLUX)


def test_an_error_that_is_negative_is_none() -> None:
    rows = np.array([made.FLUX, made.FLUX - 1e-14 * 2])
    verdict = check(made.iraf({"BANDID1": "flux", "BANDID2": "error"}, data=rows), now=NOW).verdict
    assert "negative" in verdict.message


def test_what_the_primary_header_says_of_air_counts_for_a_table_too() -> None:
    verdict = check(made.flux_table({"VACUUM": False}), now=NOW).verdict
    assert "air or vacuum" in verdict.message
    assert check(made.table({"VACUUM": False}), now=NOW).verdict.medium == "air"
