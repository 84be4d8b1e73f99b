"""gzip and ZIP files of strangers: what is in them, and never more than was asked for."""

from __future__ import annotations

import gzip
import io
import random
import time
import tracemalloc
import zipfile
from collections.abc import Mapping
from contextlib import ExitStack

import pytest

from sourcebook.errors import SourcebookError
from sourcebook.runs.errors import Held
from sourcebook.spectra.unpack import (
    LARGEST_DIRECTORY,
    MOST_MEMBERS,
    ArchiveRefused,
    ArchiveTooLarge,
    DamagedArchive,
    unpack,
)

FITS = b"SIMPLE  =                    T" + b" " * 50 + b"x" * 5_000
LARGEST = 1_000_000


def zipped(members: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", method) as archive:
        for name, content in members.items():
            # Without a time of its own, so that a case has one name whenever it is collected.
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=method)
    return body.getvalue()


def unpacked(
    body: bytes, *, largest: int = LARGEST, member: str | None = None
) -> tuple[bytes, tuple[str, ...]]:
    with ExitStack() as files:
        file, steps = unpack(io.BytesIO(body), files, largest=largest, member=member)
        return file.read(), steps


@pytest.mark.parametrize(
    ("body", "steps"),
    [
        (FITS, ()),
        (b"", ()),
        (b"<html>", ()),
        (gzip.compress(FITS, mtime=0), ("gzip",)),
        (gzip.compress(FITS[:100], mtime=0) + gzip.compress(FITS[100:], mtime=0), ("gzip",)),
        (zipped({"a/": b"", "a/readme.txt": b"hello", "a/b.fits": FITS}), ("zip: a/b.fits",)),
        (zipped({"b.FIT.gz": gzip.compress(FITS, mtime=0)}), ("zip: b.FIT.gz", "gzip")),
        (zipped({"b.fits": FITS}, zipfile.ZIP_STORED), ("zip: b.fits",)),
        (zipped({"__MACOSX/._b.fits": b"fork", "b.fits": FITS}), ("zip: b.fits",)),
        (zipped({"a/._b.fits": b"fork", "a/b.fits": FITS}), ("zip: a/b.fits",)),
        (zipped({"swp02283.mxlo.gz": gzip.compress(FITS, mtime=0)}), ("zip: swp02283.mxlo.gz", "gzip")),
    ],
    # Archives have the time in them: without names, each worker of pytest would name the tests otherwise.
    ids=[
        "plain",
        "empty",
        "page",
        "gzip",
        "members",
        "zip",
        "zip-gzip",
        "stored",
        "forks",
        "forks-beside",
        "iue",
    ],
)
def test_the_wrapping_is_taken_off(body: bytes, steps: tuple[str, ...]) -> None:
    content, found = unpacked(body)
    assert found == steps
    assert content == (FITS if steps or body == FITS else body)


@pytest.mark.parametrize(
    "name",
    [
        "o4di_x1d.fits",
        "jw01_c1000_x1dsum.fits",
        "lwp01234_mxlo.fits",
        "ADP_1d.fits",
        "s1d.fits",
        "spec-1-2.fits",
    ],
)
def test_among_images_and_logs_the_spectrum_is_found_by_how_archives_name_it(name: str) -> None:
    others = {"p/o4di_flt.fits": b"image", "p/o4di_x2d.fits": b"image", "p/o4di_raw.fits": b"raw"}
    content, (step,) = unpacked(zipped({**others, f"p/{name}": FITS}))
    assert (content, step) == (FITS, f"zip: p/{name}")


def test_which_of_several_spectra_is_meant_only_a_person_can_say() -> None:
    body = zipped({"a_x1d.fits": FITS, "b_x1d.fits": b"other"})
    with pytest.raises(Held, match="member") as held:
        unpacked(body)
    assert held.value.reason_code == "OTHER"
    assert held.value.context == {"members": ["a_x1d.fits", "b_x1d.fits"]}
    assert unpacked(body, member="a_x1d.fits") == (FITS, ("zip: a_x1d.fits",))
    with pytest.raises(Held, match=r"member: 'c\.fits'"):
        unpacked(body, member="c.fits")


@pytest.mark.parametrize(
    ("body", "error", "words"),
    [
        (zipped({"readme.txt": b"hello"}), ArchiveRefused, "none of the 1 files"),
        (zipped({}), ArchiveRefused, "none of the 0 files"),
        (zipped({"a.fits": FITS}, zipfile.ZIP_LZMA), ArchiveRefused, "method 14"),
        (zipped({"a.fits": FITS}, zipfile.ZIP_BZIP2), ArchiveRefused, "method 12"),
        (zipped({"a.fits": FITS})[:-30], DamagedArchive, "no directory"),
        (gzip.compress(FITS, mtime=0)[:-9], DamagedArchive, "stops early"),
        (b"\x1f\x8b\x08" + b"\xff" * 200, DamagedArchive, "broken"),
        (b"PK\x03\x04" + b"\0" * 500, DamagedArchive, "no directory"),
    ],
    ids=["no-fits", "empty", "lzma", "bzip2", "cut-zip", "cut-gzip", "broken-gzip", "broken-zip"],
)
def test_what_cannot_be_unpacked_says_why(body: bytes, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        unpacked(body)


def test_an_encrypted_file_is_refused() -> None:
    body = bytearray(zipped({"a.fits": FITS}))
    for place in (6, body.index(b"PK\x01\x02") + 8):
        body[place] |= 1
    with pytest.raises(ArchiveRefused, match="encrypted"):
        unpacked(bytes(body))


def test_a_file_whose_content_was_damaged_is_noticed_by_its_checksum() -> None:
    body = bytearray(zipped({"a.fits": FITS}, zipfile.ZIP_STORED))
    body[body.index(b"x" * 100)] ^= 1
    with pytest.raises(DamagedArchive, match="Bad CRC"):
        unpacked(bytes(body))


ZEROS = b"\0" * 200_000_000


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: gzip.compress(ZEROS, 1), "gzip"),
        (lambda: gzip.compress(gzip.compress(ZEROS, 1)), "gzip"),
        (lambda: zipped({"a.fits": ZEROS}), "ZIP"),
        (lambda: zipped({"a.fits.gz": gzip.compress(ZEROS, 1)}), "gzip"),
    ],
    ids=["gzip", "gzip-gzip", "zip", "zip-gzip"],
)
def test_a_bomb_is_left_when_it_has_grown_too_large(make: object, words: str) -> None:
    body = make()  # type: ignore[operator]
    assert len(body) < LARGEST
    tracemalloc.start()
    begun = time.monotonic()
    with pytest.raises(ArchiveTooLarge, match=words):
        unpacked(body)
    took, (_, peak) = time.monotonic() - begun, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000_000
    assert took < 5


def test_a_directory_that_would_fill_the_memory_is_not_read() -> None:
    body = bytearray(zipped({"a.fits": FITS}))
    end = body.rindex(b"PK\x05\x06")
    many = bytearray(body)
    many[end + 10 : end + 12] = (MOST_MEMBERS + 1).to_bytes(2, "little")
    long = bytearray(body)
    long[end + 12 : end + 16] = (LARGEST_DIRECTORY + 1).to_bytes(4, "little")
    for crafted in (many, long):
        with pytest.raises(ArchiveRefused, match="are looked at"):
            unpacked(bytes(crafted))
    with pytest.raises(ArchiveRefused, match="4 GB"):
        unpacked(bytes(body[:end]) + b"PK\x06\x07" + b"\0" * 16 + bytes(body[end:]))


def test_no_mutation_escapes_the_errors_of_this_project_or_its_bounds() -> None:
    chance = random.Random(8)
    seeds = [
        gzip.compress(FITS, mtime=0),
        zipped({"a.fits": FITS, "b_x1d.fits": FITS}),
        zipped({"a.fits.gz": gzip.compress(FITS, mtime=0)}, zipfile.ZIP_STORED),
    ]
    for _ in range(600):
        body = bytearray(chance.choice(seeds))
        for _ in range(chance.randint(1, 8)):
            body[chance.randrange(len(body))] = chance.randrange(256)
        if chance.random() < 0.3:
            del body[chance.randrange(len(body)) :]
        try:
            content, _ = unpacked(bytes(body), largest=20_000)
        except SourcebookError:
            continue
        assert len(content) <= max(20_000, len(body))
