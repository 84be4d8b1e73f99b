"""What the columns of an upload are, by their headings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from sourcebook.errors import InvalidInput
from sourcebook.photometry.model import WORD_LIMIT, TimeScale, TimeSystem
from sourcebook.photometry.times import TimeKind, read_kind

FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "magnitude": ("mag", "magnitude", "app_mag", "apparent_magnitude"),
    "magnitude_error": (
        "merr",
        "mag_err",
        "magerr",
        "e_mag",
        "magnitude_error",
        "mag_error",
        "mag_unc",
        "dmag",
        "sigma_mag",
    ),
    "flux": ("flux", "flux_density", "fnu", "f_nu", "flam", "f_lambda"),
    "flux_error": ("flux_err", "fluxerr", "e_flux", "flux_error", "flux_unc", "flux_density_error"),
    "error": ("err", "error", "uncertainty", "unc", "sigma"),
    "flux_unit": ("flux_unit", "fluxunit", "unit", "units"),
    "band": ("band", "filter", "filt", "passband", "bandpass", "filter_name", "filters"),
    "upper_limit": (
        "upper_limit",
        "is_upper_limit",
        "upperlimit",
        "limit",
        "limit_flag",
        "fainter_than",
        "ul",
        "l_mag",
        "l_flux",
    ),
    "observer": ("observer", "obs", "obscode", "observer_code", "observer_name", "obs_code"),
    "name": (
        "name",
        "star",
        "star_name",
        "starid",
        "star_id",
        "object",
        "object_name",
        "target",
        "source_name",
    ),
    "time_system": ("time_system", "timesys", "time_format", "date_format", "date_type"),
    "time_scale": ("time_scale", "timescale"),
    "magnitude_system": ("mag_system", "magsys", "magnitude_system"),
    "magnitude_type": ("mtype", "mag_type", "magnitude_type"),
    "instrument": ("instrument", "telescope", "facility", "camera"),
    "notes": ("notes", "note", "comment", "comments", "remarks"),
}
"""Headings by field, in lower case with ``_`` for what parts words. Others are left out, and said to be."""

NEEDED: Final = (
    "a column for the time (jd, mjd, hjd, bjd, date_utc), one for the magnitude or the flux, "
    "and one for the band"
)

_TIMES: Final = frozenset(
    {
        "time",
        "date",
        "datetime",
        "date_obs",
        "obs_date",
        "obsdate",
        "obstime",
        "obs_time",
        "epoch",
        "t",
        "isot",
        "timestamp",
    }
)
_UTC_TIMES: Final = frozenset(
    {
        "utc",
        "ut",
        "date_utc",
        "utc_date",
        "ut_date",
        "date_ut",
        "datetime_utc",
        "utc_datetime",
        "time_utc",
        "ut_time",
        "date_obs_utc",
    }
)
_BY_HEADING: Final = {heading: name for name, headings in FIELDS.items() for heading in headings}
_UNIT_IN_HEADING: Final = re.compile(r"^(?P<name>[^(\[]+?)\s*[(\[](?P<unit>[^)\]]+)[)\]]$")
_PREFERRED: Final = (
    *(
        TimeSystem.JD,
        TimeSystem.MJD,
        TimeSystem.BJD,
        TimeSystem.BMJD,
        TimeSystem.HJD,
        TimeSystem.HMJD,
        TimeSystem.DATE,
    ),
)


@dataclass(frozen=True, slots=True)
class TimeColumn:
    """A column of times."""

    position: int
    heading: str
    kind: TimeKind


@dataclass(frozen=True, slots=True)
class Columns:
    """Where each field stands.

    Attributes:
        times: columns of times, the one to prefer first.
        positions: column by field.
        headings: what the upload calls a field, for messages.
        constants: what holds for every row, by field.
        unused: headings that are none of ours.
    """

    times: tuple[TimeColumn, ...]
    positions: Mapping[str, int]
    headings: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    unused: tuple[str, ...] = ()

    def cell(self, name: str, cells: Sequence[str]) -> str:
        """Return what a row says of a field, or what holds for all; empty if nobody says anything."""
        position = self.positions.get(name)
        said = cells[position].strip() if position is not None else ""
        return said or self.constants.get(name, "")

    def heading(self, name: str) -> str:
        """Return what the upload calls a field."""
        return self.headings.get(name, name)


def normalized(heading: str) -> str:
    """Return a heading in lower case, with ``_`` for what parts its words."""
    return re.sub(r"[\s.\-/:]+", "_", heading.strip().strip("#\"'").strip().lower()).strip("_")


def is_known(heading: str) -> bool:
    """Whether a heading is one of ours."""
    bare = _split_unit(heading)[0]
    return normalized(bare) in _BY_HEADING or _time_kind(heading) is not None


def read_columns(headings: Sequence[str], constants: Mapping[str, str]) -> Columns:
    """Find the fields among the headings of an upload, all that a measurement needs.

    Args:
        headings: of the columns, in their order.
        constants: what the upload says once for all rows, by field.

    Raises:
        InvalidInput: if there is no time, no value or no band, or if two columns claim one field.
    """
    return checked(find_columns(headings, constants), headings)


def find_columns(headings: Sequence[str], constants: Mapping[str, str]) -> Columns:
    """Find the fields that there are among the headings.

    Raises:
        InvalidInput: if two columns claim one field.
    """
    times: list[TimeColumn] = []
    positions: dict[str, int] = {}
    names: dict[str, str] = {}
    constants = dict(constants)
    unused: list[str] = []
    for position, heading in enumerate(headings):
        if (kind := _time_kind(heading)) is not None:
            times.append(TimeColumn(position, heading.strip(), kind))
            continue
        bare, unit = _split_unit(heading)
        found = _BY_HEADING.get(normalized(bare))
        if found is None:
            unused.append(heading.strip()[:40])
            continue
        if found in positions:
            raise InvalidInput(
                heading.strip(),
                heading,
                f"one column for the {found}, and there is {names[found]} besides; "
                "each measurement needs a row of its own",
            )
        positions[found] = position
        names[found] = heading.strip()
        if unit and found == "flux":
            constants.setdefault("flux_unit", unit)
        if unit and found == "magnitude" and unit.lower() in {"ab", "vega"}:
            constants.setdefault("magnitude_system", unit)
    return Columns(by_preference(times), positions, names, constants, tuple(unused))


def checked(columns: Columns, headings: Iterable[str]) -> Columns:
    """Return the columns, if there is all that a measurement needs among them.

    Raises:
        InvalidInput: if not.
    """
    missing = []
    if not columns.times:
        missing.append("the time")
    if not {"magnitude", "flux"} & set(columns.positions):
        missing.append("the magnitude or the flux")
    if "band" not in columns.positions and not columns.constants.get("band"):
        missing.append("the band")
    if missing:
        raise InvalidInput(
            "columns", ", ".join(headings), f"{NEEDED}; none is for {' and for '.join(missing)}"
        )
    return columns


def _time_kind(heading: str) -> TimeKind | None:
    form = normalized(heading)
    if form in _TIMES:
        return TimeKind()
    if form in _UTC_TIMES:
        return TimeKind(TimeSystem.DATE, TimeScale.UTC)
    bare = heading.strip().strip("#\"'").strip()
    return read_kind(bare) or read_kind(_split_unit(bare)[0])


def _split_unit(heading: str) -> tuple[str, str]:
    found = _UNIT_IN_HEADING.match(heading.strip()) if len(heading) <= WORD_LIMIT else None
    return (found["name"], found["unit"].strip()) if found else (heading, "")


def by_preference(times: Iterable[TimeColumn]) -> tuple[TimeColumn, ...]:
    """Return columns of times, the one to take first: as observed before corrected, numbers before dates."""

    def place(column: TimeColumn) -> tuple[int, int]:
        system = column.kind.system
        return (_PREFERRED.index(system) if system else len(_PREFERRED), column.position)

    return tuple(sorted(times, key=place))
