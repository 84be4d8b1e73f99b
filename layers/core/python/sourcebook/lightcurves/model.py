"""A measurement, and what reading an upload of them comes to."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any, Final

from sourcebook.errors import InvalidInput

TABLE_SCHEMA: Final = "1"
"""Version of the columns of the canonical table. Raise it when one is added, goes, or changes its meaning."""

ERRORS_KEPT: Final = 1_000
"""Refused rows that a report describes; it counts all of them."""
NOTES_LIMIT: Final = 200
WORD_LIMIT: Final = 80
"""Characters of a heading, a time, a band or a unit. What is longer is none, and no pattern looks at it."""
MOST_ROWS: Final = 40_000
"""Of one upload: what is read in five seconds of CPU. A longer light curve is split."""
OBSERVER_LIMIT: Final = 80
AAVSO_COLUMNS: Final = tuple(
    "NAME DATE MAG MERR FILT TRANS MTYPE CNAME CMAG KNAME KMAG AMASS GROUP CHART NOTES".split()
)
"""Of the extended format."""


class Format(StrEnum):
    """What an upload may be written in."""

    CSV = "csv"
    AAVSO_EXTENDED = "aavso_extended"
    AAVSO_VISUAL = "aavso_visual"
    VOTABLE = "votable"


class TimeSystem(StrEnum):
    """How an upload gives the time of a measurement.

    H and B stand for times corrected to the Sun's centre and to the solar system's barycentre. They are
    never converted into one another: that needs the position, and the one that the observer used.
    """

    JD = "JD"
    HJD = "HJD"
    BJD = "BJD"
    MJD = "MJD"
    HMJD = "HMJD"
    BMJD = "BMJD"
    DATE = "DATE"
    """A calendar date, with a time or a fraction of the day."""


class TimeScale(StrEnum):
    """Which clock a time is of; an upload that does not say has none."""

    UTC = "UTC"
    TT = "TT"
    TDB = "TDB"
    TCB = "TCB"
    TAI = "TAI"


@dataclass(frozen=True, slots=True)
class Measurement:
    """One row of the table; its fields are the table's columns, in their order.

    Attributes:
        mjd: the time as a Modified Julian Date of its own system and scale: an HJD minus 2400000.5 stays
            heliocentric.
        time_system: what the upload gave, of `TimeSystem`.
        time_scale: of `TimeScale`; None when the upload does not say.
        time_raw: as the upload wrote it.
        band: canonical name, of `sourcebook.lightcurves.bands`.
        band_raw: as the upload wrote it.
        magnitude: None when only a flux was given.
        magnitude_error: one sigma, mag.
        magnitude_system: "Vega" or "AB", when the upload says so.
        flux: in `flux_unit`; flux densities in janskys of any size are in Jy.
        flux_error: one sigma, in `flux_unit`.
        flux_unit: as `sourcebook.lightcurves.units` spells it.
        upper_limit: the source was not seen: it was fainter than this magnitude, or its flux below this.
        observer: name or code of whoever measured.
        instrument: what it was measured with.
        notes: of the observer, cut to 200 characters.
        file_id: SHA-256 of the upload that it came with first.
        row: line of that upload, or row of its table, from 1.
    """

    mjd: float
    time_system: str
    time_scale: str | None
    time_raw: str
    band: str
    band_raw: str
    magnitude: float | None = None
    magnitude_error: float | None = None
    magnitude_system: str | None = None
    flux: float | None = None
    flux_error: float | None = None
    flux_unit: str | None = None
    upper_limit: bool = False
    observer: str | None = None
    instrument: str | None = None
    notes: str | None = None
    file_id: str = ""
    row: int = 0

    def to_row(self) -> list[Any]:
        """Return its values in the order of `COLUMNS`."""
        return [getattr(self, name) for name in COLUMNS]


COLUMNS: Final = tuple(field.name for field in fields(Measurement))
"""Columns of the table, of its twin for the API, and of the rows between the steps of an ingestion."""


@dataclass(frozen=True, slots=True)
class RowError:
    """Why a row of an upload was refused."""

    row: int
    field: str
    value: str
    expected: str

    @property
    def message(self) -> str:
        """The same in one sentence."""
        return f"row {self.row}: {self.field}: {self.value} is not valid; expected {self.expected}"


@dataclass(frozen=True, slots=True)
class Parsed:
    """What an upload holds.

    Attributes:
        rows: data rows that were looked at; measurements, duplicates and refused ones together.
        duplicates: rows that say what another row of the same upload says.
        rejected: refused rows; `errors` describes the first 1,000 of them.
        notes: what was odd about the upload as a whole.
        reference: what it names as its publication, as it is written there.
    """

    file_id: str
    format: Format
    rows: int
    measurements: tuple[Measurement, ...]
    duplicates: int
    rejected: int
    errors: tuple[RowError, ...]
    notes: tuple[str, ...]
    reference: str | None = None

    def report(self) -> dict[str, Any]:
        """Return everything that the sender of the upload should know."""
        return {
            "file_id": self.file_id,
            "format": self.format.value,
            "rows": self.rows,
            "accepted": len(self.measurements),
            "duplicates": self.duplicates,
            "rejected": self.rejected,
            "errors": [{**asdict(error), "message": error.message} for error in self.errors],
            "errors_left_out": self.rejected - len(self.errors),
            "notes": list(self.notes),
            **({"reference": self.reference} if self.reference else {}),
        }


def too_many_rows() -> InvalidInput:
    """Return the error of an upload with more than `MOST_ROWS` rows."""
    return InvalidInput("file", f"more than {MOST_ROWS} rows", f"at most {MOST_ROWS} rows: split it")
