"""What the columns of an upload are, by their headings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from sourcebook.errors import InvalidInput
from sourcebook.lightcurves.limits import LimitColumn, joined, limit_column
from sourcebook.lightcurves.model import WORD_LIMIT, TimeScale, TimeSystem
from sourcebook.lightcurves.times import TimeKind, read_kind

MOST_COLUMNS: Final = 500
"""How many columns of a table are read."""

FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "magnitude": ("mag", "magnitude", "app_mag", "apparent_mag", "apparent_magnitude", "magpsf", "psf_mag"),
    "magnitude_error": tuple(
        "merr mag_err magerr e_mag magnitude_error mag_error mag_unc mag_uncertainty magnitude_err "
        "magnitude_unc magnitude_uncertainty mag_sigma err_mag error_mag dmag sigma_mag sigmapsf "
        "psf_mag_err".split()
    ),
    "flux": ("flux", "flux_density", "fnu", "f_nu", "flam", "f_lambda"),
    "flux_error": ("flux_err", "fluxerr", "e_flux", "flux_error", "flux_unc", "flux_density_error"),
    "error": ("err", "error", "uncertainty", "unc", "sigma"),
    "flux_unit": ("flux_unit", "fluxunit", "unit", "units"),
    "band": ("band", "filter", "filt", "passband", "bandpass", "filter_name", "filters"),
    "observer": ("observer", "obs", "obscode", "observer_code", "observer_name", "obs_code"),
    "name": tuple("name star star_name starid star_id object object_name target source_name".split()),
    "time_system": ("time_system", "timesys", "time_format", "date_format", "date_type"),
    "time_scale": ("time_scale", "timescale"),
    "magnitude_system": ("mag_system", "magsys", "magnitude_system"),
    "magnitude_type": ("mtype", "mag_type", "magnitude_type"),
    "instrument": ("instrument", "telescope", "facility", "camera"),
    "notes": ("notes", "note", "comment", "comments", "remarks"),
}
"""Headings by field; case and what separates their words do not matter. Others are named in a note.

What means "limit" has more spellings than a list can hold: `sourcebook.lightcurves.limits` recognizes them.
"""

NEEDED: Final = (
    "a column for the time (jd, mjd, hjd, bjd, date_utc), one for the magnitude or the flux, "
    "and one for the band"
)

_TIMES: Final = frozenset(
    {"time", "date", "datetime", "dateobs", "obsdate", "obstime", "epoch", "t", "isot", "timestamp"}
)
_UTC_TIMES: Final = frozenset(
    {
        *("utc", "ut", "dateutc", "utcdate", "utdate", "dateut", "datetimeutc", "utcdatetime", "timeutc"),
        *("uttime", "dateobsutc"),
    }
)
_TOM: Final = frozenset({"time", "filter", "magnitude", "error"})
_TOM_MORE: Final = frozenset({"limit", "source", "telescope", "instrument", "facility", "observer"})
_BY_HEADING: Final = {joined(heading): name for name, headings in FIELDS.items() for heading in headings}
_UNIT_IN_HEADING: Final = re.compile(r"^(?P<name>[^(\[]*[^(\[\s])\s*+[(\[](?P<unit>[^)\]]+)[)\]]$")
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
        limits: columns that mean "limit".
        unused: headings of columns that are not read.
        unread: where those stand. A cell of theirs may still say that the source was not seen.
        numeric_time: what a number in a column of times is that does not say so itself.
        notes: what was taken for granted.
    """

    times: tuple[TimeColumn, ...]
    positions: Mapping[str, int]
    headings: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    limits: tuple[LimitColumn, ...] = ()
    unused: tuple[str, ...] = ()
    unread: tuple[int, ...] = ()
    numeric_time: TimeKind | None = None
    notes: tuple[str, ...] = ()

    def cell(self, name: str, cells: Sequence[str]) -> str:
        """Return what a row says of a field, or what holds for all; empty if nobody says anything."""
        position = self.positions.get(name)
        cell = cells[position].strip() if position is not None else ""
        return cell or self.constants.get(name, "")

    def heading(self, name: str) -> str:
        """Return what the upload calls a field."""
        return self.headings.get(name, name)


@lru_cache(maxsize=4_096)
def is_known(heading: str) -> bool:
    """Whether a heading names a field, a time or a limit."""
    if len(heading) > WORD_LIMIT:
        return False
    bare = _split_unit(heading)[0]
    return joined(bare) in _BY_HEADING or _time_kind(heading) is not None or limit_column(0, bare) is not None


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
    if len(headings) > MOST_COLUMNS:
        raise InvalidInput("columns", f"{len(headings)} headings", f"at most {MOST_COLUMNS}")
    times: list[TimeColumn] = []
    positions: dict[str, int] = {}
    names: dict[str, str] = {}
    limits: list[LimitColumn] = []
    constants = dict(constants)
    unused: dict[int, str] = {}
    for position, heading in enumerate(headings):
        if (kind := _time_kind(heading)) is not None:
            times.append(TimeColumn(position, heading.strip(), kind))
            continue
        bare, unit = _split_unit(heading)
        found = _BY_HEADING.get(joined(bare)) if len(bare) <= WORD_LIMIT else None
        if found is None and (limit := limit_column(position, bare, unit)) is not None:
            limits.append(limit)
            continue
        if found is None:
            unused[position] = heading.strip()[:40]
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
    tom = _is_tom(headings)
    return Columns(
        by_preference(times),
        positions,
        names,
        constants,
        limits=tuple(limits),
        unused=tuple(name for name in unused.values() if name),
        unread=tuple(unused),
        numeric_time=TimeKind(TimeSystem.MJD, TimeScale.UTC) if tom else None,
        notes=(_TOM_NOTE,) if tom else (),
    )


_TOM_NOTE: Final = (
    "The headings are those of the TOM Toolkit: numbers in its column time are Modified Julian Dates in UTC."
)


def _is_tom(headings: Sequence[str]) -> bool:
    """Whether the headings are those that the TOM Toolkit defines for photometry."""
    names = {heading.strip().lower() for heading in headings if len(heading) <= WORD_LIMIT}
    return names >= _TOM and names <= _TOM | _TOM_MORE


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


_OF_DAYS: Final = frozenset({"", "d", "day", "days", "jd", "mjd", "date", "mid", "midpoint", "start", "obs"})
"""What stands in brackets behind the name of a time and changes nothing of it."""


def _time_kind(heading: str) -> TimeKind | None:
    if len(heading) > WORD_LIMIT:
        return None
    form = joined(heading)
    if form in _TIMES:
        return TimeKind()
    if form in _UTC_TIMES:
        return TimeKind(TimeSystem.DATE, TimeScale.UTC)
    bare = heading.strip().strip("#\"'").strip()
    name, unit = _split_unit(bare)
    # In brackets may stand what makes it another time: "JD (local)", "JD (PST)".
    return read_kind(bare) or (read_kind(name) if joined(unit) in _OF_DAYS else None)


def _split_unit(heading: str) -> tuple[str, str]:
    found = _UNIT_IN_HEADING.match(heading.strip()) if len(heading) <= WORD_LIMIT else None
    return (found["name"], found["unit"].strip()) if found else (heading, "")


def by_preference(times: Iterable[TimeColumn]) -> tuple[TimeColumn, ...]:
    """Return columns of times, the one to take first: as observed before corrected, numbers before dates."""

    def place(column: TimeColumn) -> tuple[int, int]:
        system = column.kind.system
        return (_PREFERRED.index(system) if system else len(_PREFERRED), column.position)

    return tuple(sorted(times, key=place))
