"""A FITS file as the profiles see it: headers that answer in plain values, and data as arrays."""

from __future__ import annotations

import io
import math
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from astropy.io import fits
from numpy.typing import NDArray

from sourcebook.errors import shorten
from sourcebook.fits.model import FailedDownload, Finding, has_value
from sourcebook.fits.structure import Extent, Form

Floats = NDArray[np.float64]

MOST_SAMPLES: Final = 4_000_000
"""Of one array: an echelle of a hundred orders has a tenth of it."""
ERROR_IMAGES: Final = ("ERROR", "ERR", "ERRS", "ERRORS", "SIGMA", "STD", "STDDEV", "UNCERTAINTY")
WAVELENGTH_IMAGES: Final = ("WAVELENGTH", "WAVE", "LAMBDA")
_BESIDE_A_SPECTRUM: Final = frozenset(
    (*ERROR_IMAGES, *WAVELENGTH_IMAGES, "VAR", "VARIANCE", "IVAR", "STAT", "DQ", "QUAL", "QUALITY", "MASK")
)
"""Names of images that say something of each sample of a spectrum."""
_NUMBERS: Final = frozenset("BIJKEDF")
"""TFORM of columns that hold numbers. Bits, texts and arrays of variable length are never unpacked."""


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

    def contradicts_itself(self, keyword: str) -> bool:
        """Return whether a card stands there more than once, with different values."""
        try:
            count = self._header.count(keyword) if keyword in self._header else 0
            return len({self._header[keyword, place] for place in range(count)}) > 1
        except (ValueError, KeyError, fits.VerifyError):
            return True

    def comment(self, keyword: str) -> str:
        """Return the comment of a card; empty without one."""
        try:
            return str(self._header.comments[keyword]) if keyword in self._header else ""
        except (ValueError, KeyError, fits.VerifyError):
            return ""

    def keywords(self) -> list[str]:
        """Return the keywords that stand in it, in order."""
        return [str(keyword) for keyword in self._header]


@dataclass(frozen=True, eq=False)
class Part:
    """One HDU.

    Attributes:
        index: its place in the file.
        header: its cards.
        extent: where it lies, and the sizes that its header gives.
    """

    file: FitsFile
    index: int
    header: Header
    hdu: Any
    extent: Extent

    @property
    def primary(self) -> Header:
        """The cards of the file's first HDU."""
        return self.file.primary.header

    def text(self, *keywords: str) -> str | None:
        """Return the first value that says something, looked for here and then in the primary header."""
        texts = [header.text(keyword) for keyword in keywords for header in (self.header, self.primary)]
        return next((text for text in texts if has_value(text)), next((text for text in texts if text), None))

    def comment(self, keyword: str) -> str:
        """Return the first comment of a card, looked for in the same places."""
        return self.header.comment(keyword) or self.primary.comment(keyword)

    def number(self, *keywords: str) -> float | None:
        """Return the first number, looked for in the same places."""
        found = (header.number(keyword) for keyword in keywords for header in (self.header, self.primary))
        return next((number for number in found if number is not None), None)

    @property
    def name(self) -> str:
        """EXTNAME in capitals; empty without one."""
        return (self.header.text("EXTNAME") or "").upper()

    @cached_property
    def axes(self) -> tuple[int, ...]:
        """The lengths of an image's axes, the first FITS axis last; empty where there are no pixels."""
        if not isinstance(self.hdu, fits.PrimaryHDU | fits.ImageHDU):
            return ()
        return () if 0 in self.extent.lengths else tuple(reversed(self.extent.lengths))

    def pixels(self) -> Floats:
        """Return an image's pixels as float64.

        Raises:
            Finding: if there are more of them than a spectrum has, or they cannot be read.
        """
        if math.prod(self.axes) > MOST_SAMPLES:
            raise Finding(
                f"HDU {self.index} has {math.prod(self.axes)} pixels; expected at most {MOST_SAMPLES}"
            )
        if self.header.number("BSCALE") == 0:
            raise Finding(f"BSCALE of HDU {self.index} is 0: no pixel keeps its value")
        with _damage_reported():
            return np.asarray(self.hdu.data).astype(np.float64).reshape(self.axes)

    @cached_property
    def columns(self) -> dict[str, Column]:
        """A table's columns by their names in capitals; empty where there is no table.

        A name that stands there twice is left out: which is meant, nobody can say.
        """
        names = [
            (self.header.text(f"TTYPE{number}") or "").upper()
            for number in range(1, len(self.extent.columns) + 1)
        ]
        times = Counter(names)
        return {
            name: Column(self, number)
            for number, name in enumerate(names, start=1)
            if name and times[name] == 1
        }

    @property
    def rows(self) -> int:
        """Number of rows of a table."""
        return self.extent.lengths[1] if self.columns else 0


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    part: Part
    number: int

    @property
    def form(self) -> Form:
        """What each of its cells holds."""
        return self.part.extent.columns[self.number - 1]

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
            Finding: if there are more values than a spectrum has, or they cannot be read.
        """
        if self.form.code not in _NUMBERS:
            return None
        count = self.form.repeat * self.part.rows
        if count > MOST_SAMPLES:
            raise Finding(
                f"column {self.number} of HDU {self.part.index} has {count} values; "
                f"expected at most {MOST_SAMPLES}"
            )
        scale = self.part.header.number(f"TSCAL{self.number}")
        if scale == 0:
            raise Finding(f"TSCAL{self.number} of HDU {self.part.index} is 0: no cell keeps its value")
        with _damage_reported():
            values = np.asarray(self.part.hdu.data.field(self.number - 1)).astype(np.float64)
        null = self.part.header.number(f"TNULL{self.number}")
        if null is not None and self.form.code in "BIJK":
            # TNULL is a number as it is stored; astropy has scaled the values by now.
            scale = 1.0 if scale is None else scale
            null = null * scale + (self.part.header.number(f"TZERO{self.number}") or 0.0)
            values[np.abs(values - null) <= abs(scale) / 4] = np.nan
        return values

    def texts(self) -> list[str]:
        """All of it as text, one for each row; empty texts where it holds none."""
        if self.form.code != "A":
            return [""] * self.part.rows
        with _damage_reported():
            return [str(value).strip() for value in self.part.hdu.data.field(self.number - 1)]


@dataclass(frozen=True, eq=False)
class FitsFile:
    """A whole file."""

    parts: list[Part]

    @property
    def primary(self) -> Part:
        """The first HDU."""
        return self.parts[0]

    @cached_property
    def image(self) -> Part:
        """The HDU with the pixels of the spectrum: the primary, or else the only extension that may be it."""
        images = [part for part in self.images() if part.name not in _BESIDE_A_SPECTRUM]
        return images[0] if not self.primary.axes and len(images) == 1 else self.primary

    def named(self, *names: str) -> Part | None:
        """Return the first HDU with one of some names."""
        return next((part for part in self.parts if part.name in names), None)

    def images(self) -> list[Part]:
        """Return the HDUs that hold pixels."""
        return [part for part in self.parts if part.axes]

    def tables(self) -> list[Part]:
        """Return the HDUs that hold columns."""
        return [part for part in self.parts if part.columns]

    def anywhere(self, *keywords: str) -> str | None:
        """Return the first value that stands in any header, for the record of a file that nobody can read."""
        found = (part.header.text(keyword) for keyword in keywords for part in self.parts)
        return next((text for text in found if text), None)


def open_fits(body: bytes, parts: tuple[Extent, ...]) -> FitsFile:
    """Return the file that some bytes are. Data are read when they are asked for.

    Nothing beyond the last of `parts` is looked at.

    Raises:
        Finding: if astropy cannot make sense of it.
    """
    end = parts[-1].end
    whole = body[:end] + bytes(-end % 2880)  # the last filling may be missing; what it fills is there
    with _damage_reported():
        # Compressed images would be unpacked to whatever size their header asks for.
        opened = fits.open(
            io.BytesIO(whole), memmap=False, lazy_load_hdus=False, disable_image_compression=True
        )
        hdus = list(opened)
    if len(hdus) != len(parts):
        raise Finding(f"{len(parts)} HDUs are there and {len(hdus)} can be read: the file is damaged")
    file = FitsFile([])
    for index, (hdu, extent) in enumerate(zip(hdus, parts, strict=True)):
        file.parts.append(Part(file, index, Header(hdu.header), hdu, extent))
    return file


@contextmanager
def _damage_reported() -> Iterator[None]:
    """Report what astropy raises as damage of the file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # all that matters of what they say is judged elsewhere
        try:
            yield
        except Exception as error:  # damaged bytes raise anything in astropy; it is reported
            raise Finding(
                f"the FITS is damaged: {type(error).__name__}: {shorten(str(error))}", FailedDownload.CORRUPT
            ) from error
