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
from sourcebook.fits.fitsfile import Floats, Header
from sourcebook.fits.model import Finding, QuarantineCode

_WAT_WIDTH: Final = 68
"""Characters of a long text that IRAF puts into each card; FITS drops the blanks at the end."""
_WAT_CARDS: Final = 999
"""IRAF numbers the cards of one axis by three digits."""
# Neither goes back over what it has read: a text of 68 kB costs milliseconds, whatever is in it.
_SPEC: Final = re.compile(r'spec(\d{1,5}+)\s*+=\s*+"([^"]*+)"')
_PAIR: Final = re.compile(r'(?<!\w)(\w++)\s*+=\s*+(?:"([^"]*+)"|(\S++))')
_MOST_TERMS: Final = 20_000_000
"""Terms of polynomials, times samples: an echelle of a hundred orders has two million."""
_CHEBYSHEV, _LEGENDRE = 1, 2
_LARGEST_POWER: Final = 300.0
_EDGES: Final = (7, 8)
"""Places of an aperture's edges, which IRAF may leave undefined and which have no part in its solution."""


def ambiguous(what: str) -> Finding:
    """Return the finding that the axis could be read in more than one way, or in none."""
    return Finding(f"the wavelength axis is not clear: {what}", QuarantineCode.UNKNOWN_PROFILE)


def linear_axis(header: Header, samples: int, *, exponents: bool = False) -> Floats:
    """Return CRVAL1 + (i − CRPIX1)·step for i from 1, where the step is CD1_1, or CDELT1 × PC1_1.

    LTV1 and LTM1_1 of IRAF have no part in it: they lead back to the image that this one was cut out of.
    With `exponents` the caller takes the result as powers of ten, as IRAF means them by DC-FLAG 1.

    Raises:
        Finding: if a keyword is missing (the standard's defaults are not what the files' makers meant), if
            CD1_1 and CDELT1 disagree, if another axis has a part in this one, or if it is not linear.
    """
    start, pixel, delta = _needed(header, "CRVAL1"), _needed(header, "CRPIX1"), _step(header)
    if delta == 0:
        raise ambiguous("its step is 0")
    kind = (header.text("CTYPE1") or "").upper()
    flag = header.number("DC-FLAG")
    if not exponents and flag not in {None, 0.0, -1.0}:
        raise ambiguous(f"DC-FLAG is {flag:g}: its values are logarithms, or of no known kind")
    if re.match(r"(?:WAVE|AWAV)-", kind) or ("LOG" in kind and not exponents):
        raise ambiguous(f"CTYPE1 {kind!r} is an axis that is not linear")
    return start + (np.arange(1, samples + 1, dtype=np.float64) - pixel) * delta


def _step(header: Header) -> float:
    """Return the step from one pixel to the next (FITS standard 4.0, section 8.2)."""
    for other in range(2, 5):
        for keyword in (f"PC1_{other}", f"PC{other}_1", f"CD1_{other}", f"CD{other}_1"):
            if header.number(keyword):
                raise ambiguous(f"{keyword} is {header.number(keyword):g}: two axes are mixed, or turned")
    for keyword in ("CROTA1", "CROTA2"):
        if header.number(keyword):
            raise ambiguous(f"{keyword} is {header.number(keyword):g}: the axes are turned")
    full, plain, factor = header.number("CD1_1"), header.number("CDELT1"), header.number("PC1_1")
    if full is None:
        return _needed(header, "CDELT1", "CD1_1") * (1.0 if factor is None else factor)
    if plain is None and factor is None:
        return full
    product = (1.0 if plain is None else plain) * (1.0 if factor is None else factor)
    if not math.isclose(full, product, rel_tol=1e-6):
        raise ambiguous(
            f"CD1_1 is {full:g}, and CDELT1 and PC1_1 make {product:g}: the FITS standard forbids both"
        )
    return full


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
        raise ambiguous("it is declared logarithmic, and its exponents are beyond all numbers")
    return np.asarray(np.power(10.0, exponents), dtype=np.float64)


def wat_text(header: Header, axis: int) -> str:
    """Return the attributes of an axis that IRAF splits over the cards WATn_001, WATn_002 and so on."""
    parts: list[str] = []
    while len(parts) < _WAT_CARDS and (value := header.get(f"WAT{axis}_{len(parts) + 1:03d}")) is not None:
        parts.append(str(value).ljust(_WAT_WIDTH))
    return "".join(parts).strip()


def wat_units(header: Header) -> str | None:
    """Return the attribute `units` of the first axis."""
    found = {key: quoted or bare for key, quoted, bare in _PAIR.findall(wat_text(header, 1))}
    return found.get("units")


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

    No order can reach beyond `samples`, the length of its first axis.

    Raises:
        Finding: if the solutions are not all there.
    """
    if (header.number("LTM1_1") or 1.0) != 1.0 or (header.number("LTV1") or 0.0) != 0.0:
        raise ambiguous("LTV1 and LTM1_1 say that the image was cut or binned after the solution was made")
    found = {int(number): numbers for number, numbers in _SPEC.findall(wat_text(header, 2))}
    if not found or sorted(found) != list(range(1, len(found) + 1)):
        raise ambiguous(f"WAT2 gives solutions for the rows {shorten(sorted(found))}; expected 1, 2, 3 …")
    solutions = [_dispersion(number, found[number], samples) for number in sorted(found)]
    terms = sum(solution.samples * len(solution.functions) for solution in solutions)
    if terms > _MOST_TERMS:
        raise ambiguous(f"the solutions of WAT2 take {terms} terms; expected at most {_MOST_TERMS}")
    return solutions


def _dispersion(row: int, text: str, samples: int) -> Dispersion:
    numbers: list[float] = []
    for place, word in enumerate(text.split()):
        try:
            numbers.append(0.0 if word == "INDEF" and place in _EDGES else float(word))
        except ValueError as error:
            raise ambiguous(f"row {row} of WAT2 has {shorten(word)} among its numbers") from error
    if len(numbers) < 9 or not all(math.isfinite(number) for number in numbers):
        raise ambiguous(f"row {row} of WAT2 has {len(numbers)} numbers; expected at least 9, all finite")
    aperture, _beam, kind, start, step, count, doppler, _low, _high = numbers[:9]
    if not 1 <= count <= samples or not all(number.is_integer() for number in (aperture, kind, count)):
        raise ambiguous(f"row {row} of WAT2 has {count:g} samples; the image has {samples}")
    return Dispersion(int(aperture), int(kind), start, step, int(count), doppler, tuple(numbers[9:]))
