"""AAVSO's file formats: Extended (CCD, DSLR, photoelectric) and Visual.

Both have fixed columns and headings of the form ``#KEY=VALUE``, which hold until they are given anew.
Sources: AAVSO Extended File Format and AAVSO Visual File Format, as WebObs documents them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from sourcebook.errors import InvalidInput
from sourcebook.lightcurves.columns import Columns, Layout, Row, find_columns
from sourcebook.lightcurves.delimited import Headings, bounded_lines, is_comment, read_delimiter, setting
from sourcebook.lightcurves.model import AAVSO_COLUMNS, Format, TimeScale, TimeSystem
from sourcebook.lightcurves.times import TimeKind

_TYPE: Final = re.compile(r"^[^\S\n]*+\"?#\s*TYPE\s*=\s*(?P<type>[^\r\n,;\t]*)", re.IGNORECASE | re.MULTILINE)
_SNIFFED: Final = 4_000
_VISUAL: Final = ("NAME", "DATE", "MAG", "COMMENTCODE", "COMP1", "COMP2", "CHART", "NOTES")
_FORMATS: Final = {
    "EXTENDED": (Format.AAVSO_EXTENDED, AAVSO_COLUMNS),
    "VISUAL": (Format.AAVSO_VISUAL, _VISUAL),
}
# The dates of observations are in UT, by the definition of both formats.
_DATES: Final = {
    "JD": TimeKind(TimeSystem.JD, TimeScale.UTC),
    "HJD": TimeKind(TimeSystem.HJD, TimeScale.UTC),
    "BJD": TimeKind(TimeSystem.BJD),
    "EXCEL": TimeKind(TimeSystem.DATE, TimeScale.UTC, month_first=True),
}


def aavso_type(text: str) -> str | None:
    """Return what the heading ``#TYPE=`` says; None if there is none among the first lines."""
    found = _TYPE.search(text[:_SNIFFED])
    return found["type"].strip().strip('"').upper() if found else None


def read_aavso(text: str) -> Layout:
    """Read an upload in one of the two formats.

    Comparison and check stars (CNAME, CMAG, KNAME, KMAG, COMP1, COMP2) are not measurements of the nova and
    stay where they are.

    Raises:
        InvalidInput: if it is of another type, or a heading that every row needs is missing or wrong.
    """
    kind = aavso_type(text)
    if kind not in _FORMATS:
        raise InvalidInput("TYPE", kind, "#TYPE=EXTENDED or #TYPE=VISUAL")
    form, names = _FORMATS[kind]
    content = bounded_lines(text)
    # The headings before the first row are read at once, so that a mistake is not reported for every row.
    first = next((n for n, line in enumerate(content) if line.strip() and not is_comment(line)), len(content))
    said = dict(filter(None, map(setting, content[:first])))
    headings, columns = _declared(Headings(list(names), ","), find_columns(names, {}), said)
    return Layout(form, _rows(content, first, headings, columns, said))


def _declared(headings: Headings, columns: Columns, said: Mapping[str, str]) -> tuple[Headings, Columns]:
    """Return the headings and columns of the rows below what `said` has, the value of each key.

    Raises:
        InvalidInput: if a delimiter or a kind of date is none.
    """
    delimiter = read_delimiter(said.get("delim", ","))
    date = said.get("date", "").strip().upper()
    if date not in _DATES:
        raise InvalidInput("DATE", date, f"the heading #DATE= with one of {', '.join(_DATES)}")
    constants = {"observer": said.get("obscode", "")}
    if "band" not in columns.fields:
        constants["band"] = "pg" if said.get("obstype", "").strip().upper() == "PTG" else "Vis."
    times = (columns.times[0]._replace(kind=_DATES[date]),)
    columns = replace(columns, times=times, constants=constants, unread={})
    return headings._replace(delimiter=delimiter), columns


def _rows(
    content: Sequence[str], first: int, headings: Headings, columns: Columns, said: dict[str, str]
) -> Iterator[Row]:
    broken: InvalidInput | None = None
    for number, line in enumerate(content[first:], start=first + 1):
        if not line.strip():
            continue
        if is_comment(line):
            if key_and_value := setting(line):
                said.update([key_and_value])
            try:
                headings, columns = _declared(headings, columns, said)
                broken = None
            except InvalidInput as error:
                # What stands under it cannot be read until another heading mends it.
                broken = error
        elif broken is not None:
            yield Row(number, (), columns, broken)
        else:
            names = f"the {len(headings.cells)} cells {','.join(headings.cells)}"
            yield headings.row(number, line, columns, f"{names} parted by {headings.delimiter!r}")
