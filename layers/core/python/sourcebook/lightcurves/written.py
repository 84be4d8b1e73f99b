"""A light curve as a file that other programs read: CSV, VOTable 1.4 and AAVSO's extended format.

The points are those of `sourcebook.lightcurves.series`. Nothing here needs more than the standard library.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

from sourcebook.csv_text import safe_cell, write_csv
from sourcebook.lightcurves.bands import aavso_code
from sourcebook.lightcurves.series import POINT_FIELDS
from sourcebook.lightcurves.times import MJD_ORIGIN

Point = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Column:
    ucd: str
    unit: str = ""
    datatype: str = "unicodeChar"
    description: str = ""


_COLUMNS: Final = {
    "mjd": _Column("time.epoch", "d", "double", "Modified Julian Date of its own time_system and time_scale"),
    "time_system": _Column("meta.code", description="H: at the Sun's centre, B: at the barycentre"),
    "time_scale": _Column("time.scale"),
    "band": _Column("instr.bandpass"),
    "magnitude": _Column("phot.mag", "mag", "double"),
    "magnitude_error": _Column("stat.error;phot.mag", "mag", "double", "One sigma"),
    "magnitude_system": _Column("meta.code"),
    "flux": _Column("phot.flux", "", "double", "In flux_unit"),
    "flux_error": _Column("stat.error;phot.flux", "", "double", "One sigma, in flux_unit"),
    "flux_unit": _Column("meta.unit"),
    "upper_limit": _Column("meta.code.qual", "", "boolean", "Not seen: fainter than this"),
    "observer": _Column("obs.observer"),
}
_PLACES: Final = {"H": "HELIOCENTER", "B": "BARYCENTER"}
_NOT_IN_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_AAVSO_COLUMNS: Final = (
    *("NAME", "DATE", "MAG", "MERR", "FILT", "TRANS", "MTYPE", "CNAME", "CMAG", "KNAME", "KMAG"),
    *("AMASS", "GROUP", "CHART", "NOTES"),
)
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
    time = _time_system(points)
    parts = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3">',
        '<RESOURCE type="results">',
        *([time] if time else []),
        f'<TABLE ID="light_curve" name="light_curve" nrows="{len(points)}">',
        f"<DESCRIPTION>Light curve of {_text(name)}</DESCRIPTION>",
        *_fields(points, has_time=bool(time)),
        "<DATA><TABLEDATA>",
        *(f"<TR>{''.join(_cells(point))}</TR>" for point in points),
        "</TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>\n",
    ]
    return "\n".join(parts)


def as_aavso(points: Sequence[Point], name: str) -> str:
    """Return a light curve in AAVSO's extended format, and say in it how much the format cannot hold.

    It has magnitudes only, its own filters only, and Julian Dates in UT; those at the barycentre are of any
    scale. What cannot be said in it is left out and counted in a comment.
    """
    kept = [
        (date, code, point) for point in points if (code := _filter(point)) and (date := _date_kind(point))
    ]
    lines = ["#TYPE=EXTENDED", "#SOFTWARE=Sourcebook", "#DELIM=,"]
    if left_out := len(points) - len(kept):
        lines.append(f"# {left_out} measurements left out: no magnitude, filter or date that AAVSO has")
    columns = f"#{','.join(_AAVSO_COLUMNS)}"
    for (date, observer), rows in groupby(kept, key=lambda row: (row[0], row[2]["observer"])):
        # The headings hold for the rows below them, until they are given anew.
        lines += [f"#DATE={date}", f"#OBSCODE={_word(observer)}", columns]
        lines += [_aavso_row(name, code, point) for _, code, point in rows]
    return "\n".join([*lines, ""])


def _aavso_row(name: str, code: str, point: Point) -> str:
    magnitude = repr(point["magnitude"])
    error = point["magnitude_error"]
    said = {
        "NAME": _word(name),
        "DATE": str(Decimal(repr(point["mjd"])) + MJD_ORIGIN),
        "MAG": f"<{magnitude}" if point["upper_limit"] else magnitude,
        "MERR": _NOT_KNOWN if error is None else repr(error),
        "FILT": code,
        "TRANS": "NO",
        "MTYPE": "STD",
    }
    return ",".join(said.get(column, _NOT_KNOWN) for column in _AAVSO_COLUMNS)


def _filter(point: Point) -> str | None:
    return None if point["magnitude"] is None else aavso_code(point["band"])


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


def _time_system(points: Sequence[Point]) -> str:
    kinds = {(_PLACES.get(p["time_system"][:1], "TOPOCENTER"), p["time_scale"] or "UNKNOWN") for p in points}
    if len(kinds) != 1:
        return ""
    ((place, scale),) = kinds
    return f'<TIMESYS ID="time" timeorigin="MJD-origin" timescale="{scale}" refposition="{place}"/>'


def _fields(points: Sequence[Point], *, has_time: bool) -> Iterator[str]:
    units = {point["flux_unit"] for point in points if point["flux"] is not None}
    flux_unit = str(next(iter(units))) if len(units) == 1 and None not in units else ""
    for name in POINT_FIELDS:
        column = _COLUMNS[name]
        unit = flux_unit if name in {"flux", "flux_error"} else column.unit
        attributes = {
            "name": name,
            "ID": name,
            "datatype": column.datatype,
            "ucd": column.ucd,
            **({"arraysize": "*"} if column.datatype == "unicodeChar" else {}),
            **({"unit": unit} if unit else {}),
            **({"ref": "time"} if name == "mjd" and has_time else {}),
        }
        written = " ".join(f"{key}={_quoted(value)}" for key, value in attributes.items())
        about = f"<DESCRIPTION>{_text(column.description)}</DESCRIPTION>" if column.description else ""
        yield f"<FIELD {written}>{about}</FIELD>"


def _cells(point: Point) -> Iterator[str]:
    for name in POINT_FIELDS:
        value = point[name]
        if value is None:
            yield "<TD/>"
        elif isinstance(value, bool):
            yield f"<TD>{'T' if value else 'F'}</TD>"
        else:
            yield f"<TD>{_text(value) if isinstance(value, str) else repr(value)}</TD>"


def _plain(value: Any) -> str | int | float | None:  # noqa: ANN401 - one value of a point
    return ("true" if value else "false") if isinstance(value, bool) else value


def _text(text: str) -> str:
    return escape(_NOT_IN_XML.sub("\ufffd", text))


def _quoted(text: str) -> str:
    return quoteattr(_NOT_IN_XML.sub("\ufffd", text))
