"""What the examination of a spectrum file says, in words that need neither astropy nor numpy.

`sourcebook.fits.check` makes a `Verdict`; the catalogue stores it, the API and the command show
it. Whoever has no science layer imports this module and `sourcebook.fits.points`, and no other
of the package.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from sourcebook.errors import SourcebookError
from sourcebook.messages import Json, Message, field_names

OVERRIDES: Final = (
    *("wavelength_unit", "date", "object", "instrument", "flux_unit"),
    *("ignore_checksum", "accept_missing"),
)
"""What a reviewer may say in place of a file: see docs/spectra.md for each one's form."""

NOTE_LIMIT: Final = 40
_TEXT_LIMIT: Final = 300
_PLACEHOLDERS: Final = frozenset(
    ("", *"unknown none n/a na nan null undefined - ? arc comp comparison lamp thar flat dark bias".split())
)
"""What instruments write into headers in place of a value; a lamp and a flat field are no objects."""


class SpectrumOutcome(StrEnum):
    """What becomes of a file."""

    VALID = "VALID"
    QUARANTINED = "QUARANTINED"
    """A spectrum perhaps; a person must say."""
    TERMINAL_INVALID = "TERMINAL_INVALID"
    """Readable, and not a spectrum that the catalogue could hold. Fetching it again changes nothing."""
    NOT_A_SPECTRUM_FILE = "NOT_A_SPECTRUM_FILE"
    """The download failed: what came is not FITS, or not all of it. Fetching it again may help."""


class QuarantineCode(StrEnum):
    """Why a person must look."""

    UNKNOWN_PROFILE = "UNKNOWN_PROFILE"
    MISSING_CRITICAL_METADATA = "MISSING_CRITICAL_METADATA"
    CHECKSUM_MISMATCH = "CHECKSUM_MISMATCH"
    OTHER = "OTHER"


class TerminalCode(StrEnum):
    """Why a file that can be read holds nothing for the catalogue."""

    NO_DATA = "NO_DATA"
    ALL_NAN = "ALL_NAN"
    NOT_OPTICAL = "NOT_OPTICAL"
    SKY_IMAGE = "SKY_IMAGE"


class FailedDownload(StrEnum):
    """Why a body is not a FITS file."""

    EMPTY = "EMPTY"
    HTML_BODY = "HTML_BODY"
    JSON_BODY = "JSON_BODY"
    VOTABLE_ERROR = "VOTABLE_ERROR"
    NOT_FITS = "NOT_FITS"
    TRUNCATED = "TRUNCATED"
    TOO_LARGE = "TOO_LARGE"
    CORRUPT = "CORRUPT"


_OUTCOMES: Final = {
    QuarantineCode: SpectrumOutcome.QUARANTINED,
    TerminalCode: SpectrumOutcome.TERMINAL_INVALID,
    FailedDownload: SpectrumOutcome.NOT_A_SPECTRUM_FILE,
}


class Finding(SourcebookError):
    """The file's fate is known; the rest of it need not be looked at.

    Never leaves `sourcebook.fits.check`, which makes a `Verdict` of it.

    Attributes:
        outcome: what becomes of the file, by the kind of the code.
        code: the reason's code.
    """

    def __init__(
        self, message: str, code: QuarantineCode | TerminalCode | FailedDownload = QuarantineCode.OTHER
    ) -> None:
        self.code = code.value
        self.outcome = _OUTCOMES[type(code)]
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Verdict(Message):
    """What was found in one file.

    Attributes:
        outcome: what becomes of it.
        reason: the code that goes with the outcome; empty for VALID.
        message: what is wrong and what would be right, for a person.
        fits_profile_id: the profile that read it, with its version: "eso_sdp@1.0.0".
        profile_selection_inputs: the header's values that the choice of profile was made by.
        header_signature_hash: "hsig:…" over the structure and the origin of the file, the same for
            every file that one pipeline writes.
        normalization_notes: each step between the stored numbers and the normalized ones.
        orders: number of orders (or apertures), each with its own wavelengths.
        samples: number of samples of an order; of the longest when they differ.
        wavelength_min_m: the shortest wavelength in metres, as the file has it: before the change of
            frame that a note may tell of.
        wavelength_max_m: the longest, likewise.
        original_unit: the unit of the stored wavelengths, as the file spells it.
        flux_unit: of the flux, as the file spells it; None when it does not say.
        medium: "air" or "vacuum" where the file or its profile says so. Never converted.
        frame: the reference frame of the wavelengths, as SPECSYS names it, after normalization.
        object_name: as the file has it.
        observed_at: when it was taken, as the file writes it.
        observed_at_iso: the same in ISO 8601, when it can be read without a guess.
        instrument: as the file has it.
        checksum: "ok", "absent", "header edited", "mismatch", or "ignored".
        reference: what the file names as its publication (REFERENC), as it is written there.
    """

    outcome: SpectrumOutcome
    reason: str = ""
    message: str = ""
    fits_profile_id: str | None = None
    profile_selection_inputs: Mapping[str, str] = field(default_factory=dict)
    header_signature_hash: str | None = None
    normalization_notes: tuple[str, ...] = ()
    orders: int | None = None
    samples: int | None = None
    wavelength_min_m: float | None = None
    wavelength_max_m: float | None = None
    original_unit: str | None = None
    flux_unit: str | None = None
    medium: str | None = None
    frame: str | None = None
    object_name: str | None = None
    observed_at: str | None = None
    observed_at_iso: str | None = None
    instrument: str | None = None
    checksum: str | None = None
    reference: str | None = None

    def to_json(self) -> Mapping[str, Json]:
        """Return it as JSON knows it; what a file could blow up is cut, so that it stays below 20 kB."""
        notes = [_cut(note) for note in self.normalization_notes[:NOTE_LIMIT]]
        if len(self.normalization_notes) > NOTE_LIMIT:
            notes.append(f"{len(self.normalization_notes) - NOTE_LIMIT} more notes are left out")
        inputs = list(self.profile_selection_inputs.items())[:20]
        values = ((name, getattr(self, name)) for name in field_names(Verdict))
        return {
            **{name: _cut(value) if isinstance(value, str) else value for name, value in values},
            "outcome": self.outcome.value,
            "profile_selection_inputs": {name: _cut(value) for name, value in inputs},
            "normalization_notes": notes,
        }


def _cut(text: str) -> str:
    return text if len(text) <= _TEXT_LIMIT else f"{text[: _TEXT_LIMIT - 1]}…"


def has_value(text: str | None) -> bool:
    """Return whether a card's text is a value, and not empty or a placeholder such as UNKNOWN."""
    return text is not None and text.strip().casefold() not in _PLACEHOLDERS
