"""A FITS file as the profiles see it: headers that answer in plain values, and data as arrays."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from astropy.io import fits
from numpy.typing import NDArray

from sourcebook.errors import shorten
from sourcebook.spectra.findings import failed_download, for_a_person
from sourcebook.spectra.model import FailedDownload, QuarantineCode
from sourcebook.spectra.said import is_said
from sourcebook.spectra.structure import Extent

Floats = NDArray[np.float64]

MOST_SAMPLES: Final = 4_000_000
"""Of one array: an echelle of a hundred orders has a tenth of it."""


class Header:
    """The cards of one HDU."""

    def __init__(self, header: fits.Header) -> None:
        self._header = header

    def get(self, keyword: str) -> Any:  # noqa: ANN401 - a card can hold anything
        """Return a card's value as astropy reads it; None for none, a blank one, one that does not parse."""
        try:
            value = self._header.get(keyword)
        except (ValueError, fits.VerifyError):
            return None
        return None if isinstance(value, fits.card.Undefined) else value

    def text(self, *keywords: str) -> str | None:
        """Return the first of some values that is not blank, as text."""
        for keyword in keywords:
            value = self.get(keyword)
            if value is not None and not isinstance(value, bool) and str(value).strip():
                return str(value).strip()
        return None

    def number(self, *keywords: str) -> float | None:
        """Return the first of some values that is a finite number."""
        for keyword in keywords:
            value = self.get(keyword)
            if isinstance(value, bool):
                continue
            try:
                number = float(value)
            except (TypeError, ValueError, OverflowError):
                continue
            if math.isfinite(number):
                return number
        return None

    def flag(self, keyword: str) -> bool:
        """Say whether a logical keyword is T."""
        return self.get(keyword) is True

    def keywords(self) -> list[str]:
        """Return the keywords that stand in it, in order."""
        return [str(keyword) for keyword in self._header]


@dataclass(frozen=True)
class Part:
    """One HDU.

    Attributes:
        index: its place in the file.
        header: its cards.
    """

    index: int
    header: Header
    hdu: Any

    @property
    def name(self) -> str:
        """EXTNAME in capitals; empty without one."""
        return (self.header.text("EXTNAME") or "").upper()

    @cached_property
    def axes(self) -> tuple[int, ...]:
        """The lengths of an image's axes, the first FITS axis last; empty where there are no pixels."""
        if not isinstance(self.hdu, fits.PrimaryHDU | fits.ImageHDU) or self.hdu.data is None:
            return ()
        return () if self.hdu.data.size == 0 else tuple(self.hdu.data.shape)

    def pixels(self) -> Floats:
        """Return an image's pixels as float64.

        Raises:
            Finding: if there are more of them than a spectrum has.
        """
        if math.prod(self.axes) > MOST_SAMPLES:
            raise for_a_person(
                QuarantineCode.OTHER,
                f"HDU {self.index} has {math.prod(self.axes)} pixels; expected at most {MOST_SAMPLES}",
            )
        return np.asarray(self.hdu.data).astype(np.float64)

    @cached_property
    def columns(self) -> dict[str, Column]:
        """A table's columns by their names in capitals; empty where there is no table.

        A name that stands there twice is left out: which is meant, nobody can say.
        """
        if not isinstance(self.hdu, fits.BinTableHDU | fits.TableHDU) or self.hdu.data is None:
            return {}
        names = [str(name).strip().upper() for name in self.hdu.columns.names]
        return {
            name: Column(self, number)
            for number, name in enumerate(names, start=1)
            if name and names.count(name) == 1
        }

    @property
    def rows(self) -> int:
        """Number of rows of a table."""
        return 0 if not self.columns else len(self.hdu.data)


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    part: Part
    number: int

    @property
    def unit(self) -> str | None:
        """TUNIT as it is spelled."""
        return self.part.header.text(f"TUNIT{self.number}")

    @property
    def ucd(self) -> str:
        """TUCD, what the column means in IVOA terms; empty without one."""
        return (self.part.header.text(f"TUCD{self.number}") or "").lower()

    @cached_property
    def values(self) -> Floats | None:
        """All of it as float64, one row of the table along the first axis; None if it holds no numbers.

        Where TNULL says that an integer is no value, it is NaN.

        Raises:
            Finding: if there are more values than a spectrum has.
        """
        raw = np.asarray(self.part.hdu.data.field(self.number - 1))
        if raw.size > MOST_SAMPLES:
            raise for_a_person(
                QuarantineCode.OTHER,
                f"column {self.number} of HDU {self.part.index} has {raw.size} values; "
                f"expected at most {MOST_SAMPLES}",
            )
        if raw.dtype.kind not in "iufb":
            return None
        values = raw.astype(np.float64)
        null = self.part.header.number(f"TNULL{self.number}")
        if null is not None and raw.dtype.kind in "iu":
            values[raw == null] = np.nan
        return values

    def texts(self) -> list[str]:
        """All of it as text, one for each row."""
        return [str(value).strip() for value in self.part.hdu.data.field(self.number - 1)]


@dataclass(frozen=True)
class FitsFile:
    """A whole file."""

    parts: tuple[Part, ...]

    @property
    def primary(self) -> Part:
        """The first HDU."""
        return self.parts[0]

    def named(self, *names: str) -> Part | None:
        """Return the first HDU with one of some names."""
        return next((part for part in self.parts if part.name in names), None)

    def images(self) -> Iterator[Part]:
        """Yield the HDUs that hold pixels."""
        return (part for part in self.parts if part.axes)

    def tables(self) -> Iterator[Part]:
        """Yield the HDUs that hold columns."""
        return (part for part in self.parts if part.columns)

    def text(self, *keywords: str, at: Part | None = None) -> str | None:
        """Return the first value that says something, looked for in `at` and then in the primary header."""
        headers = [part.header for part in (at, self.primary) if part is not None]
        said = [header.text(keyword) for keyword in keywords for header in headers]
        return next((text for text in said if is_said(text)), next((text for text in said if text), None))

    def anywhere(self, *keywords: str) -> str | None:
        """Return the first value that stands in any header, for the record of a file that nobody can read."""
        found = (part.header.text(keyword) for keyword in keywords for part in self.parts)
        return next((text for text in found if text), None)

    def number(self, *keywords: str, at: Part | None = None) -> float | None:
        """Return the first number, looked for in the same places."""
        headers = [part.header for part in (at, self.primary) if part is not None]
        found = (header.number(keyword) for keyword in keywords for header in headers)
        return next((number for number in found if number is not None), None)


def open_fits(body: bytes, parts: tuple[Extent, ...]) -> FitsFile:
    """Return the file that some bytes are, all its data read.

    Args:
        body: the bytes, unpacked.
        parts: where its HDUs lie: nothing beyond the last is looked at.

    Raises:
        Finding: if astropy cannot make sense of it.
    """
    end = parts[-1].end
    whole = body[:end] + bytes(-end % 2880)  # the last filling may be missing; what it fills is there
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what they tell, all that matters is judged here
        try:
            # Compressed images would be unpacked to whatever size their header asks for.
            opened = fits.open(
                io.BytesIO(whole), memmap=False, lazy_load_hdus=False, disable_image_compression=True
            )
            read = tuple(Part(index, Header(hdu.header), hdu) for index, hdu in enumerate(opened))
            for part in read:
                _touch(part)
        except Exception as error:  # damaged bytes raise anything in astropy; it is reported
            raise failed_download(
                FailedDownload.CORRUPT, f"the FITS is damaged: {type(error).__name__}: {shorten(str(error))}"
            ) from error
    if len(read) != len(parts):
        raise for_a_person(
            QuarantineCode.OTHER,
            f"{len(parts)} HDUs are there and {len(read)} can be read: the file is damaged",
        )
    return FitsFile(read)


def _touch(part: Part) -> None:
    """Read the data and keep it: a header that contradicts it is noticed only now."""
    if not part.axes:
        for column in part.columns.values():
            len(column.part.hdu.data.field(column.number - 1))
