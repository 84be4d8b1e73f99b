"""Bytes that are no FITS file, not all of one, or a trap: each ends quickly with a reason."""

from __future__ import annotations

import gzip
import io
import re
import time
import tracemalloc
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from astropy.io import fits

from sourcebook.bucket.stored import LARGEST_FILE
from sourcebook.errors import InvalidInput
from sourcebook.fits.check import check
from sourcebook.fits.model import SpectrumOutcome, Verdict
from sourcebook.fits.structure import MOST_CARDS, MOST_HDUS, Checksums, checksums_of, extents
from tests.unit.fits import made

FAILED = SpectrumOutcome.NOT_A_SPECTRUM_FILE
BLOCK = 2880


@contextmanager
def bounded(seconds: float = 5.0, megabytes: float = 150.0) -> Iterator[None]:
    tracemalloc.start()
    began = time.process_time()
    try:
        yield
        spent = time.process_time() - began
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert spent < seconds
    assert peak < megabytes * 1e6


def verdict_of(body: bytes) -> Verdict:
    checked = check(body)
    assert bool(checked.orders) == (checked.verdict.outcome is SpectrumOutcome.VALID)
    return checked.verdict


def header(*cards: str, simple: bool = True) -> bytes:
    first = ["SIMPLE  =                    T"] if simple else ["XTENSION= 'BINTABLE'"]
    text = "".join(card.ljust(80) for card in [*first, *cards, "END"])
    return text.ljust(-(-len(text) // BLOCK) * BLOCK).encode("latin-1")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "EMPTY"),
        (b" \r\n\0" * 900, "EMPTY"),
        (b"<!DOCTYPE html><html>404</html>", "HTML_BODY"),
        (b"\xef\xbb\xbf\n <HTML><body>busy</body></HTML>", "HTML_BODY"),
        (b'{"error": "unauthorized"}', "JSON_BODY"),
        (b"[]", "JSON_BODY"),
        (
            b'<?xml version="1.0"?><VOTABLE><INFO name="QUERY_STATUS" value="ERROR"/></VOTABLE>',
            "VOTABLE_ERROR",
        ),
        (b"<VOTABLE><RESOURCE/></VOTABLE>", "VOTABLE_ERROR"),
        (b"<?xml version='1.0'?><Error/>", "NOT_FITS"),
        (b"\x1f\x9d\x90S\x92", "NOT_FITS"),
        (b"PK\x03\x04 a ZIP", "NOT_FITS"),
        (b"SIMPLX  =                    T", "NOT_FITS"),
        (b"\x1f\x8b\x08broken", "CORRUPT"),
        (gzip.compress(b"", mtime=0), "EMPTY"),
        (gzip.compress(b"<html>", mtime=0), "HTML_BODY"),
        (gzip.compress(made.bess(), mtime=0)[:-200], "TRUNCATED"),
        (b"\x1f\x8b", "TRUNCATED"),
    ],
)
def test_what_is_no_fits_file_is_a_failed_download(body: bytes, reason: str) -> None:
    verdict = verdict_of(body)
    assert (verdict.outcome, verdict.reason) == (FAILED, reason)
    assert verdict.message


def test_simple_f_is_not_fits_by_its_own_word() -> None:
    body = made.bess().replace(b"SIMPLE  =                    T", b"SIMPLE  =                    F", 1)
    assert verdict_of(body).reason == "NOT_FITS"


@pytest.mark.parametrize("length", [80, 1500, 2880, 2881, 3600])
def test_a_file_cut_short_anywhere_is_truncated(length: int) -> None:
    assert (verdict_of(made.bess()[:length]).outcome, verdict_of(made.bess()[:length]).reason) == (
        FAILED,
        "TRUNCATED",
    )


def test_missing_filling_after_complete_data_is_not_truncation() -> None:
    body = made.bess()
    complete = body[: 2880 + 4 * made.SAMPLES]
    assert verdict_of(complete).outcome is SpectrumOutcome.VALID
    assert verdict_of(complete[:-1]).reason == "TRUNCATED"


def test_something_else_after_the_last_hdu_is_damage_and_blanks_are_not() -> None:
    body = made.eso()
    assert verdict_of(body + bytes(BLOCK)).outcome is SpectrumOutcome.VALID
    assert verdict_of(body + b"\r\n").reason == "OTHER"
    assert verdict_of(body + b"junk").reason == "CORRUPT"
    assert verdict_of(body.replace(b"XTENSION", b"XTENSIOM")).reason == "CORRUPT"


def test_gzip_bombs_and_giants_are_refused_at_the_limit() -> None:
    with bounded(megabytes=250):
        bomb = verdict_of(gzip.compress(bytes(LARGEST_FILE + 1), 9))
    assert (bomb.outcome, bomb.reason) == (FAILED, "TOO_LARGE")
    packer = zlib.compressobj(9, wbits=31)
    member = packer.compress(bytes(1_000_000)) + packer.flush()
    assert verdict_of(member * (LARGEST_FILE // 1_000_000 + 1)).reason == "TOO_LARGE"
    assert verdict_of(b"S" * (LARGEST_FILE + 1)).reason == "TOO_LARGE"


HOSTILE = {
    "a billion samples": (header("BITPIX  = -32", "NAXIS   = 1", "NAXIS1  = 1000000000"), "TRUNCATED"),
    "more than there are atoms": (
        header(
            "BITPIX  = -64",
            "NAXIS   = 900",
            *(f"NAXIS{axis:<3d}= 9223372036854775807" for axis in range(1, 901)),
        ),
        "TRUNCATED",
    ),
    "negative length": (header("BITPIX  = -32", "NAXIS   = 1", "NAXIS1  = -560"), "CORRUPT"),
    "bitpix of nonsense": (header("BITPIX  = 13", "NAXIS   = 1", "NAXIS1  = 10"), "CORRUPT"),
    "bitpix that is text": (header("BITPIX  = 'many'", "NAXIS   = 1", "NAXIS1  = 10"), "CORRUPT"),
    "no bitpix": (header("NAXIS   = 0"), "CORRUPT"),
    "a thousand axes": (header("BITPIX  = 8", "NAXIS   = 1000"), "CORRUPT"),
    "an axis that is not there": (header("BITPIX  = 8", "NAXIS   = 2", "NAXIS1  = 1"), "CORRUPT"),
    "a heap beyond the file": (
        header("BITPIX  = 8", "NAXIS   = 0")
        + header(
            "BITPIX  = 8",
            "NAXIS   = 2",
            "NAXIS1  = 8",
            "NAXIS2  = 1",
            "PCOUNT  = 9000000000",
            "GCOUNT  = 1",
            "TFIELDS = 1",
            "TFORM1  = '1PD(9)'",
            simple=False,
        )
        + bytes(BLOCK),
        "TRUNCATED",
    ),
    "a million columns": (
        header("BITPIX  = 8", "NAXIS   = 0")
        + header(
            "BITPIX  = 8",
            "NAXIS   = 2",
            "NAXIS1  = 8",
            "NAXIS2  = 1",
            "PCOUNT  = 0",
            "GCOUNT  = 1",
            "TFIELDS = 1000000",
            simple=False,
        )
        + bytes(BLOCK),
        "CORRUPT",
    ),
    "no end": (b"SIMPLE  =                    T".ljust(80) + b"COMMENT  ".ljust(80) * 100, "TRUNCATED"),
}


@pytest.mark.parametrize(("body", "reason"), HOSTILE.values(), ids=HOSTILE.keys())
def test_a_header_that_asks_for_too_much_is_refused_before_anything_is_allocated(
    body: bytes, reason: str
) -> None:
    with bounded(seconds=1.0, megabytes=20):
        verdict = verdict_of(body)
    assert (verdict.outcome, verdict.reason) == (FAILED, reason)


def test_a_million_cards_and_thousands_of_hdus_are_for_a_person() -> None:
    cards = b"SIMPLE  =                    T".ljust(80) + b"COMMENT ".ljust(80) * 800_000
    with bounded(seconds=2.0, megabytes=60):
        verdict = verdict_of(cards)
    assert (verdict.outcome, verdict.reason) == (SpectrumOutcome.QUARANTINED, "OTHER")
    assert str(MOST_CARDS) in verdict.message
    empty = header("BITPIX  = 8", "NAXIS   = 0")
    extension = header("BITPIX  = 8", "NAXIS   = 0", "PCOUNT  = 0", "GCOUNT  = 1").replace(
        b"SIMPLE  =                    T", b"XTENSION= 'IMAGE   '          ", 1
    )
    with bounded(seconds=2.0, megabytes=60):
        verdict = verdict_of(empty + extension * 5_000)
    assert (verdict.outcome, verdict.reason) == (SpectrumOutcome.QUARANTINED, "OTHER")
    assert str(MOST_HDUS) in verdict.message


def test_tables_whose_columns_lie_about_their_width_are_damage() -> None:
    for form in (b"9999999D", b"0D      ", b"1PD(99) ", b"1Z      "):
        body = made.table().replace(b"'D       '", b"'" + form.ljust(8) + b"'", 1)
        with bounded():
            assert verdict_of(body).outcome is not SpectrumOutcome.VALID, form


def test_a_compressed_image_is_not_unpacked_to_the_size_that_it_claims() -> None:
    stream = io.BytesIO()
    fits.HDUList(
        [fits.PrimaryHDU(), fits.CompImageHDU(np.ones((64, 64), dtype=np.int16), compression_type="GZIP_1")]
    ).writeto(stream)
    body, changed = re.subn(rb"ZNAXIS([12])  ?= +64", rb"ZNAXIS\1 =          20000000", stream.getvalue())
    assert changed == 2
    body = re.sub(rb"(ZNAXIS[12] =          20000000) +/", rb"\1 /", body)
    with bounded():
        assert verdict_of(body).outcome is not SpectrumOutcome.VALID


def test_more_samples_than_a_spectrum_has_are_for_a_person() -> None:
    stream = io.BytesIO()
    data = np.zeros(5_000_000, dtype=np.uint8)
    hdu = made.with_cards(fits.PrimaryHDU(data), {"CTYPE1": "WAVE", "CUNIT1": "nm", "CRVAL1": 1.0})
    made.with_cards(hdu, {"CRPIX1": 1, "CDELT1": 1.0}).writeto(stream)
    verdict = verdict_of(stream.getvalue())
    assert (verdict.outcome, verdict.reason) == (SpectrumOutcome.QUARANTINED, "OTHER")


# --- Terminal ---


def test_a_whole_file_without_a_spectrum_is_terminal() -> None:
    def terminal(body: bytes) -> str:
        verdict = verdict_of(body)
        assert verdict.outcome is SpectrumOutcome.TERMINAL_INVALID
        return verdict.reason

    sky = made.with_cards(fits.PrimaryHDU(np.ones((20, 30))), {"CTYPE1": "RA---TAN", "CTYPE2": "DEC--TAN"})
    radio = made.with_cards(fits.PrimaryHDU(np.ones(30)), {"CTYPE1": "VRAD", "CUNIT1": "km/s"})
    columns = [
        fits.Column("FREQ", "3D", unit="MHz", array=[[1, 2, 3]]),
        fits.Column("FLUX", "3D", array=[[1, 2, 3]]),
    ]
    assert terminal(made.file_of(fits.PrimaryHDU())) == "NO_DATA"
    assert terminal(made.file_of(sky)) == "SKY_IMAGE"
    assert terminal(made.file_of(radio)) == "NOT_OPTICAL"
    assert terminal(made.file_of(fits.BinTableHDU.from_columns(columns))) == "NOT_OPTICAL"
    assert terminal(made.table(wave_unit="GHz")) == "NOT_OPTICAL"
    assert terminal(made.bess(flux=np.full(50, np.nan))) == "ALL_NAN"


def test_no_flux_at_all_is_terminal_even_when_the_date_is_missing_too() -> None:
    assert verdict_of(made.bess({"DATE-OBS": None}, flux=np.full(50, np.nan))).reason == "ALL_NAN"


# --- Wavelengths ---


@pytest.mark.parametrize(
    "wave",
    [
        np.where(np.arange(made.SAMPLES) == 5, np.nan, made.WAVE_NM),
        np.where(np.arange(made.SAMPLES) == 5, 0.0, made.WAVE_NM),
        np.where(np.arange(made.SAMPLES) == 5, 400.0, made.WAVE_NM),
        np.where(np.arange(made.SAMPLES) == 5, np.inf, made.WAVE_NM),
        -made.WAVE_NM,
        np.full(made.SAMPLES, 500.0),
    ],
)
def test_wavelengths_must_be_finite_and_go_one_way(wave: object) -> None:
    verdict = verdict_of(made.table(wave=wave))
    assert (verdict.outcome, verdict.reason) == (SpectrumOutcome.QUARANTINED, "OTHER")


# --- Checksums ---


def flipped(body: bytes, at: int, byte: int | None = None) -> bytes:
    changed = bytearray(body)
    changed[at] = changed[at] ^ 0x40 if byte is None else byte
    return bytes(changed)


@pytest.mark.parametrize("make", [made.bess, made.eso])
def test_the_sums_agree_with_astropy(make: object) -> None:
    body = make(checksums=True)  # type: ignore[operator]
    with fits.open(io.BytesIO(body), checksum=True) as opened:
        for hdu, extent in zip(opened, extents(body), strict=True):
            assert hdu._datasum_valid
            assert hdu._checksum_valid
            assert checksums_of(body, extent) is Checksums.HOLD


def test_changed_data_are_a_checksum_mismatch_and_the_reading_stays_for_the_reviewer() -> None:
    body = made.eso()
    broken = flipped(body, len(body) - BLOCK)
    verdict = verdict_of(broken)
    assert (verdict.outcome, verdict.reason) == (SpectrumOutcome.QUARANTINED, "CHECKSUM_MISMATCH")
    assert verdict.checksum == "mismatch"
    assert verdict.wavelength_min_m == pytest.approx(4e-7)
    assert verdict.object_name == "V0001 Tst"
    accepted = check(broken, overrides={"ignore_checksum": "true"}).verdict
    assert (accepted.outcome, accepted.checksum) == (SpectrumOutcome.VALID, "ignored")
    assert any("the reviewer accepts" in note for note in accepted.normalization_notes)


def test_an_edited_header_is_noted_and_no_obstacle() -> None:
    edited = made.eso().replace(b"OBJECT  = 'V0001 Tst'", b"OBJECT  = 'Nova Tst '", 1)
    verdict = verdict_of(edited)
    assert (verdict.outcome, verdict.checksum) == (SpectrumOutcome.VALID, "header edited")
    assert verdict.object_name == "Nova Tst"


@pytest.mark.parametrize("new", [b"9", b"\x84", b"\x03"])
def test_one_changed_byte_in_a_header_is_damage_and_not_an_edit(new: bytes) -> None:
    body = made.bess(checksums=True)
    broken = flipped(body, body.index(b"4000.0"), new[0])
    verdict = verdict_of(broken)
    assert verdict.outcome is not SpectrumOutcome.VALID
    if new == b"9":
        assert verdict.reason == "CHECKSUM_MISMATCH"


def test_without_checksums_a_foreign_byte_in_a_header_is_noted() -> None:
    body = made.bess().replace(b"'V0001 Tst'", b"'V0001 Ts\xe9'", 1)
    verdict = verdict_of(body)
    assert (verdict.outcome, verdict.object_name) == (SpectrumOutcome.VALID, "V0001 Ts?")
    assert any("bytes that FITS does not allow" in note for note in verdict.normalization_notes)


def test_data_that_moved_by_whole_words_are_found_by_what_they_pushed_out() -> None:
    body = made.bess(checksums=True)
    moved = body[:3000] + bytes(80) + body[3000:]
    sums = {checksums_of(moved, part) for part in extents(moved)}
    assert Checksums.DATA_CHANGED not in sums  # the sum does not see it
    for broken in (moved, moved[:-80]):
        verdict = verdict_of(broken)
        assert (verdict.outcome, verdict.reason) == (SpectrumOutcome.QUARANTINED, "OTHER")


# --- Overrides ---


@pytest.mark.parametrize(
    ("overrides", "field"),
    [
        ({"colour": "red"}, "overrides"),
        ({"wavelength_unit": "furlong"}, "overrides.wavelength_unit"),
        ({"wavelength_unit": "GHz"}, "overrides.wavelength_unit"),
        ({"date": "yesterday"}, "overrides.date"),
        ({"object": "UNKNOWN"}, "overrides.object"),
        ({"object": " "}, "overrides.object"),
        ({"instrument": "x" * 201}, "overrides.instrument"),
        ({"ignore_checksum": "maybe"}, "overrides.ignore_checksum"),
    ],
)
def test_an_override_that_cannot_be_used_is_named(overrides: dict[str, str], field: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        check(made.bess(), overrides=overrides)
    assert raised.value.field == field
