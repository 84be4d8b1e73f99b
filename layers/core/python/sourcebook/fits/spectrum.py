"""A spectrum after normalization."""

from __future__ import annotations

from dataclasses import dataclass

from sourcebook.fits.fitsfile import Floats
from sourcebook.fits.model import Verdict


@dataclass(frozen=True)
class Order:
    """One order.

    Attributes:
        number: its number in the file, or its place from 1; several may share one.
        wavelength_m: in metres, rising.
        flux: in the spectrum's `flux_unit`, NaN where there is no value.
        error: of the flux, likewise; None when the file has none.
        label: what the file calls the order; empty when it is the only one.
    """

    number: int
    wavelength_m: Floats
    flux: Floats
    error: Floats | None
    label: str


@dataclass(frozen=True)
class Spectrum:
    """All of one.

    Attributes:
        orders: at least one.
        flux_unit: as the file spells it; None when it does not say.
    """

    orders: tuple[Order, ...]
    flux_unit: str | None


@dataclass(frozen=True)
class Checked:
    """What came of a file.

    Attributes:
        verdict: in words.
        spectrum: in numbers; only when the verdict is VALID.
    """

    verdict: Verdict
    spectrum: Spectrum | None
