"""A light curve as a file that other programs read: CSV, VOTable 1.4 and AAVSO's extended format.

The points are those of `sourcebook.lightcurves.series`. Nothing here needs more than the standard library.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import groupby
from typing import Any, Final

from sourcebook.csv_text import safe_cell, write_csv
from sourcebook.lightcurves.bands import AAVSO_CODES
from sourcebook.lightcurves.model import AAVSO_COLUMNS
from sourcebook.lightcurves.series import POINT_FIELDS
from sourcebook.lightcurves.times import MJD_ORIGIN
from sourcebook.lightcurves.units import VOUNITS
from sourcebook.votable_text import VotableField, VotableTimeSystem, votable

Point = Mapping[str, Any]

_COLUMNS: Final = (
    VotableField(
        "mjd",
        "time.epoch",
        "double",
        "d",
        description="Modified Julian Date of its own time_system and time_scale",
    ),
    VotableField("time_system", "meta.code", description="H: at the Sun's centre, B: at the barycentre"),
    VotableField("time_scale", "time.scale"),
    VotableField("band", "instr.bandpass"),
    VotableField("magnitude", "phot.mag", "double", "mag"),
    VotableField("magnitude_error", "stat.error;phot.mag", "double", "mag", description="One sigma"),
    VotableField("magnitude_system", "meta.code"),
    VotableField("flux", "phot.flux", "double", description="In flux_unit"),
    VotableField("flux_error", "stat.error;phot.flux", "double", description="One sigma, in flux_unit"),
    VotableField("flux_unit", "meta.unit"),
    VotableField("upper_limit", "meta.code.qual", "boolean", description="Not seen: fainter than this"),
    VotableField("observer", "obs.observer"),
)
_PLACES: Final = {"H": "HELIOCENTER", "B": "BARYCENTER"}
_NOT_KNOWN: Final = "na"


def as_csv(points: Sequence[Point]) -> str:
    """Return a light curve as CSV, with the columns of `GET /novae/{nova_id}/photometry`."""
    file = io.StringIO(newline="")
    write_csv(file, POINT_FIELDS, ([_plain(point[name]) for name in POINT_FIELDS] for point in points))
    return file.getvalue()


def as_votable(points: Sequence[Point], name: str) -> str:
    """Return a light curve as a VOTable 1.4, with units and UCDs.

    The fluxes have the unit of the table where all have one, and `flux_unit` in any case. The table has a
    TIMESYS where all times are of one system and scale.
    """
    times = _time_system(points)
    return votable(
        list(_columns(points, times)), points, name="light_curve", about=f"Light curve of {name}", times=times
    )


def as_aavso(points: Sequence[Point], name: str) -> str:
    """Return a light curve in AAVSO's extended format, and say in it how much the format cannot hold.

    It has magnitudes only, its own filters only, and Julian Dates in UT; those at the barycentre are of any
    scale. What has no form in it is left out and counted in a comment.
    """
    kept = [
        (date, code, point)
        for point in points
        if point["magnitude"] is not None
        and (code := AAVSO_CODES.get(point["band"]))
        and (date := _date_kind(point))
    ]
    lines = ["#TYPE=EXTENDED", "#SOFTWARE=Sourcebook", "#DELIM=,"]
    if left_out := len(points) - len(kept):
        lines.append(f"# {left_out} measurements left out: no magnitude, filter or date that AAVSO has")
    columns = f"#{','.join(AAVSO_COLUMNS)}"
    for (date, observer), rows in groupby(kept, key=lambda row: (row[0], row[2]["observer"])):
        # The headings hold for the rows below them, until they are given anew.
        lines += [f"#DATE={date}", f"#OBSCODE={_word(observer)}", columns]
        lines += [_aavso_row(name, code, point) for _, code, point in rows]
    return "\n".join([*lines, ""])


def _aavso_row(name: str, code: str, point: Point) -> str:
    magnitude = repr(point["magnitude"])
    error = point["magnitude_error"]
    row = {
        "NAME": _word(name),
        "DATE": str(Decimal(repr(point["mjd"])) + MJD_ORIGIN),
        "MAG": f"<{magnitude}" if point["upper_limit"] else magnitude,
        "MERR": _NOT_KNOWN if error is None else repr(error),
        "FILT": code,
        "TRANS": "NO",
        "MTYPE": "STD",
    }
    return ",".join(row.get(column, _NOT_KNOWN) for column in AAVSO_COLUMNS)


def _date_kind(point: Point) -> str | None:
    """Return what AAVSO calls this kind of date; None where it has none."""
    first = point["time_system"][:1]
    if first == "B":
        return "BJD"
    if point["time_scale"] not in {None, "UTC"}:
        return None
    return "HJD" if first == "H" else "JD"


def _word(text: str | None) -> str:
    """Return a text as a cell between commas."""
    cell = safe_cell(" ".join(re.sub(r"[,#]", " ", text or "").split()))
    return str(cell) or _NOT_KNOWN


def _time_system(points: Sequence[Point]) -> VotableTimeSystem | None:
    kinds = {(_PLACES.get(p["time_system"][:1], "TOPOCENTER"), p["time_scale"] or "UNKNOWN") for p in points}
    if len(kinds) != 1:
        return None
    ((place, scale),) = kinds
    return VotableTimeSystem("time", "MJD-origin", scale, place)


def _columns(points: Sequence[Point], times: VotableTimeSystem | None) -> Iterator[VotableField]:
    units = {point["flux_unit"] for point in points if point["flux"] is not None}
    flux_unit = VOUNITS.get(units.pop(), "") if len(units) == 1 else ""
    for column in _COLUMNS:
        if column.name in {"flux", "flux_error"}:
            yield replace(column, unit=flux_unit)
        else:
            yield replace(column, ref=times.ident) if column.name == "mjd" and times else column


def _plain(value: Any) -> str | int | float | None:  # noqa: ANN401 - one value of a point
    return ("true" if value else "false") if isinstance(value, bool) else value


FORMATS: Final[Mapping[str, Callable[[Sequence[Point], str], str]]] = {
    ".csv": lambda points, _name: as_csv(points),
    ".vot": as_votable,
    ".aavso": as_aavso,
}
"""What writes a light curve of a nova of this name, by the suffix of the file's address."""
