"""Wavelengths that stand in a header as a formula.

Linear and logarithmic axes as in FITS WCS and IRAF's `onedspec`, and IRAF's `multispec`, whose
formulas (`help specwcs`) give each order its own solution.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final

import numpy as np

from sourcebook.errors import shorten
from sourcebook.spectra.findings import Finding, for_a_person
from sourcebook.spectra.fitsfile import Floats, Header
from sourcebook.spectra.model import QuarantineCode

_WAT_WIDTH: Final = 68
"""Characters of a long text that IRAF puts into each card; FITS drops the blanks at the end."""
_SPEC: Final = re.compile(r'spec(\d+)\s*=\s*"([^"]*)"')
_PAIR: Final = re.compile(r'(\w+)\s*=\s*(?:"([^"]*)"|(\S+))')
_CHEBYSHEV, _LEGENDRE = 1, 2
_LARGEST_POWER: Final = 300.0


def ambiguous(what: str) -> Finding:
    """Return the finding that the axis could be read in more than one way, or in none."""
    return for_a_person(QuarantineCode.UNKNOWN_PROFILE, f"the wavelength axis is not clear: {what}")


def linear_axis(header: Header, samples: int, *, axis: int = 1, step: tuple[str, ...] = ()) -> Floats:
    """Return CRVAL + (i − CRPIX)·step for i from 1.

    Args:
        header: the image's.
        samples: how many there are.
        axis: which FITS axis says it.
        step: keywords of the step, the first that is there wins. CDELT and then CD by default.

    Raises:
        Finding: if a keyword is missing: the standard's defaults are not what the files' makers meant.
    """
    start, pixel = _needed(header, f"CRVAL{axis}"), _needed(header, f"CRPIX{axis}")
    delta = _needed(header, *(step or (f"CDELT{axis}", f"CD{axis}_{axis}")))
    if delta == 0:
        raise ambiguous("its step is 0")
    return start + (np.arange(1, samples + 1, dtype=np.float64) - pixel) * delta


def _needed(header: Header, *keywords: str) -> float:
    value = header.number(*keywords)
    if value is None:
        raise ambiguous(f"{' or '.join(keywords)} is missing")
    return value


def power_of_ten(exponents: Floats) -> Floats:
    """Return 10^x.

    Raises:
        Finding: if the exponents are none of wavelengths.
    """
    if not np.isfinite(exponents).all() or float(np.abs(exponents).max()) > _LARGEST_POWER:
        raise ambiguous("it is said to be logarithmic, and its exponents are beyond all numbers")
    return np.asarray(np.power(10.0, exponents), dtype=np.float64)


def wat_text(header: Header, axis: int) -> str:
    """Return the attributes of an axis that IRAF splits over the cards WATn_001, WATn_002 and so on."""
    parts: list[str] = []
    while (value := header.get(f"WAT{axis}_{len(parts) + 1:03d}")) is not None:
        parts.append(str(value).ljust(_WAT_WIDTH))
    return "".join(parts).strip()


def wat_attribute(header: Header, axis: int, name: str) -> str | None:
    """Return one attribute of an axis, such as `units`."""
    found = {key: quoted or bare for key, quoted, bare in _PAIR.findall(wat_text(header, axis))}
    return found.get(name)


@dataclass(frozen=True, slots=True)
class Dispersion:
    """The solution of one order.

    Attributes:
        aperture: its number in IRAF.
        kind: 0 linear, 1 logarithmic, 2 polynomials.
        start: wavelength (or its exponent) of the first sample.
        step: between samples.
        samples: how many are valid.
        doppler: z of the correction; wavelengths are divided by 1 + z.
        functions: the numbers of the polynomials.
    """

    aperture: int
    kind: int
    start: float
    step: float
    samples: int
    doppler: float
    functions: tuple[float, ...]

    def wavelengths(self) -> Floats:
        """Return the wavelength of each valid sample.

        Raises:
            Finding: if the solution is of a kind that is not known, or its numbers make no sense.
        """
        if self.kind == 2:
            values = self._sum_of_functions()
        elif self.kind in {0, 1}:
            values = self.start + self.step * np.arange(self.samples, dtype=np.float64)
            values = power_of_ten(values) if self.kind == 1 else values
        else:
            raise ambiguous(f"aperture {self.aperture} has the dispersion type {self.kind}, which says: none")
        if self.doppler <= -1:
            raise ambiguous(f"aperture {self.aperture} has the Doppler factor {self.doppler}")
        return np.asarray(values / (1 + self.doppler), dtype=np.float64)

    def _sum_of_functions(self) -> Floats:
        pixels = np.arange(1, self.samples + 1, dtype=np.float64)
        total = np.zeros(self.samples)
        rest = list(self.functions)
        if not rest:
            raise ambiguous(f"aperture {self.aperture} has no function")
        while rest:
            weight, offset, kind, order, first, last = self._take(rest, 6)
            if kind not in {_CHEBYSHEV, _LEGENDRE}:
                raise ambiguous(
                    f"aperture {self.aperture} has a function of type {kind:g}; "
                    "Chebyshev (1) and Legendre (2) polynomials are known"
                )
            if not 1 <= order <= 100 or last <= first:
                raise ambiguous(f"aperture {self.aperture} has a polynomial of {order:g} terms")
            terms = self._take(rest, int(order))
            reduced = (pixels - (last + first) / 2) / ((last - first) / 2)
            evaluate = (
                np.polynomial.chebyshev.chebval if kind == _CHEBYSHEV else np.polynomial.legendre.legval
            )
            total += weight * (offset + evaluate(reduced, np.array(terms)))
        return total

    def _take(self, rest: list[float], count: int) -> list[float]:
        if len(rest) < count:
            raise ambiguous(f"the numbers of aperture {self.aperture} are cut short")
        taken, rest[:] = rest[:count], rest[count:]
        return taken


def multispec(header: Header, samples: int) -> list[Dispersion]:
    """Return the solutions of an image of IRAF's format multispec, in the order of its rows.

    Args:
        header: the image's.
        samples: length of its first axis, beyond which no order can reach.

    Raises:
        Finding: if the solutions are not all there.
    """
    if (header.number("LTM1_1") or 1.0) != 1.0 or (header.number("LTV1") or 0.0) != 0.0:
        raise ambiguous("LTV1 and LTM1_1 say that the image was cut or binned after the solution was made")
    found = {int(number): numbers for number, numbers in _SPEC.findall(wat_text(header, 2))}
    if not found or sorted(found) != list(range(1, len(found) + 1)):
        raise ambiguous(f"WAT2 gives solutions for the rows {shorten(sorted(found))}; expected 1, 2, 3 …")
    return [_dispersion(number, found[number], samples) for number in sorted(found)]


def _dispersion(row: int, text: str, samples: int) -> Dispersion:
    numbers: list[float] = []
    for word in text.split():
        try:
            numbers.append(float(word))
        except ValueError as error:
            raise ambiguous(f"row {row} of WAT2 has {shorten(word)} among its numbers") from error
    if len(numbers) < 9 or not all(math.isfinite(number) for number in numbers):
        raise ambiguous(f"row {row} of WAT2 has {len(numbers)} numbers; expected at least 9, all finite")
    aperture, _beam, kind, start, step, count, doppler, _low, _high = numbers[:9]
    if not 1 <= count <= samples or not all(number.is_integer() for number in (aperture, kind, count)):
        raise ambiguous(f"row {row} of WAT2 has {count:g} samples; the image has {samples}")
    return Dispersion(int(aperture), int(kind), start, step, int(count), doppler, tuple(numbers[9:]))
