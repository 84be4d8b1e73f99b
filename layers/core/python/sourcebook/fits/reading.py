"""What a profile reads out of a file, and what the examination makes of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from sourcebook.fits.dates import TimeCards
from sourcebook.fits.fitsfile import Floats
from sourcebook.fits.model import Verdict


@dataclass(frozen=True)
class Order:
    """One order (or aperture, or detector) of a spectrum.

    Attributes:
        number: its number in the file, or its place from 1; several may share one.
        wavelength: of each sample: in a `Reading` as the file has it, in a `Checked` in metres, rising.
        flux: of each sample, NaN where there is none.
        error: of the flux, one standard deviation; None when the file has none.
        label: what the file calls it; empty when it is the only one.
    """

    number: int
    wavelength: Floats
    flux: Floats
    error: Floats | None = None
    label: str = ""


@dataclass
class Reading:
    """One spectrum as the file has it, before anything is judged or converted.

    Attributes:
        orders: all of them.
        wavelength_unit: as the file spells it; None when it does not say.
        flux_unit: likewise.
        object_name: the target.
        observed_at: when, as the file writes it.
        time_cards: what else the file says of its time.
        telescope: what the instrument was on.
        instrument: what took it.
        medium: "air" or "vacuum", where the file or the profile's definition says so.
        frame: reference frame of the wavelengths, likewise.
        velocity_to_apply: v in km/s of λ·(1 − v/c), when the file asks for it; it leads to HELIOCEN.
        notes: how values were found where that is not plain.
        missing: critical metadata of the profile that the file lacks.
        doubts: what contradicts itself: for a person.
    """

    orders: list[Order]
    wavelength_unit: str | None = None
    flux_unit: str | None = None
    object_name: str | None = None
    observed_at: str | None = None
    time_cards: TimeCards = field(default_factory=TimeCards)
    telescope: str | None = None
    instrument: str | None = None
    medium: str | None = None
    frame: str | None = None
    velocity_to_apply: float | None = None
    notes: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Checked:
    """What came of a file.

    Attributes:
        verdict: in words.
        orders: the spectrum in numbers, after normalization; empty unless the verdict is VALID.
    """

    verdict: Verdict
    orders: tuple[Order, ...] = ()
