"""Spectrum files and archives that grow: no file of 10 MB takes more than 5 s or 600 MB.

Every kind grows to 10 MB under `make fuzz`. The everyday test grows a sixth of the kinds to 30 kB, where what
is quadratic, and what a header alone asks for, is seen already; and to 1 MB those that took too much once.
"""

from __future__ import annotations

import io
import os
from contextlib import ExitStack

from sourcebook.fits.check import UNEXPECTED, check
from sourcebook.spectra.unpack import unpack
from tests.growth import LARGEST, Growth, check_growth
from tests.unit.fits.growing import ARCHIVES, FILES, Make, cases

FULL = "SOURCEBOOK_FUZZ" in os.environ
SIZE = LARGEST if FULL else 30_000
SIZE_OF_FOUND = LARGEST if FULL else 1_000_000
LARGEST_UNPACKED = 64 * 1024 * 1024
FOUND = frozenset({"rows without bytes", "aliased heap", "wat words", "wat specs", "empty members"})
"""Kinds that took gigabytes or minutes once."""


def examine(body: bytes) -> None:
    checked = check(body)
    assert UNEXPECTED not in checked.verdict.message, checked.verdict.message


def take_out(body: bytes) -> None:
    with ExitStack() as files:
        unpack(io.BytesIO(body), files, largest=LARGEST_UNPACKED)


def chosen(makers: dict[str, Make], *, found: bool) -> list[Growth]:
    """Return the kinds that this run grows: those that took too much once, or some of the others."""
    return [
        case
        for number, case in enumerate(cases(makers))
        if (case.name in FOUND) is found
        and (FULL or found or (number % 6 == 0 and not case.name.startswith("packed")))
    ]


def test_no_spectrum_file_costs_more_than_it_may() -> None:
    check_growth(examine, *chosen(FILES, found=False), largest=SIZE)
    check_growth(examine, *chosen(FILES, found=True), largest=SIZE_OF_FOUND)


def test_no_archive_costs_more_than_it_may() -> None:
    check_growth(take_out, *chosen(ARCHIVES, found=False), largest=SIZE)
    check_growth(take_out, *chosen(ARCHIVES, found=True), largest=SIZE_OF_FOUND)
