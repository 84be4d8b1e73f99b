"""AAVSO's file formats: Extended (CCD, DSLR, photoelectric) and Visual.

Both have fixed columns and headings of the form ``#KEY=VALUE``, which hold until they are given anew.
Sources: AAVSO Extended File Format and AAVSO Visual File Format, as WebObs documents them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sourcebook.errors import InvalidInput
from sourcebook.lightcurves.columns import Column, Columns, Layout, Row, TimeColumn
from sourcebook.lightcurves.delimited import bounded_lines, read_delimiter, setting, split, trimmed
from sourcebook.lightcurves.model import AAVSO_COLUMNS, Format, TimeScale, TimeSystem
from sourcebook.lightcurves.times import TimeKind

_TYPE: Final = re.compile(r"^[^\S\n]*+\"?#\s*TYPE\s*=\s*(?P<type>[^\r\n,;\t]*)", re.IGNORECASE | re.MULTILINE)
_SNIFFED: Final = 4_000
_VISUAL: Final = ("NAME", "DATE", "MAG", "COMMENTCODE", "COMP1", "COMP2", "CHART", "NOTES")
_FIELDS: Final = {
    "NAME": "name",
    "MAG": "magnitude",
    "MERR": "magnitude_error",
    "FILT": "band",
    "MTYPE": "magnitude_type",
    "NOTES": "notes",
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
    if kind not in {"EXTENDED", "VISUAL"}:
        raise InvalidInput("TYPE", kind, "#TYPE=EXTENDED or #TYPE=VISUAL")
    extended = kind == "EXTENDED"
    content = bounded_lines(text)
    reader = _Reader(AAVSO_COLUMNS if extended else _VISUAL, extended)
    # The headings before the first row are read at once, so that a mistake is not reported for every row.
    first = next(
        (n for n, line in enumerate(content) if line.strip() and not _is_comment(line)), len(content)
    )
    for line in content[:first]:
        reader.take(line)
    reader.check()
    return Layout(Format.AAVSO_EXTENDED if extended else Format.AAVSO_VISUAL, reader.rows(content, first))


def _is_comment(line: str) -> bool:
    return line.lstrip().lstrip('"').startswith("#")


@dataclass(slots=True)
class _Reader:
    names: tuple[str, ...]
    extended: bool
    delimiter: str = ","
    date: str = ""
    observer: str = ""
    photographic: bool = False

    def take(self, line: str) -> None:
        match setting(line):
            case ("delim", value):
                self.delimiter = read_delimiter(value)
            case ("date", value):
                self.date = value.strip().upper()
            case ("obscode", value):
                self.observer = value
            case ("obstype", value):
                self.photographic = value.strip().upper() == "PTG"

    def check(self) -> None:
        if self.date not in _DATES:
            raise InvalidInput("DATE", self.date, f"the heading #DATE= with one of {', '.join(_DATES)}")

    def columns(self) -> Columns:
        headings = {field: name for name, field in _FIELDS.items() if name in self.names}
        visual = {"band": "pg" if self.photographic else "Vis."}
        constants = {"observer": self.observer} | ({} if self.extended else visual)
        position = self.names.index("DATE")
        return Columns(
            (TimeColumn(position, "DATE", _DATES[self.date]),),
            {field: Column(self.names.index(name), name) for field, name in headings.items()},
            constants,
        )

    def rows(self, content: list[str], first: int) -> Iterator[Row]:
        columns = self.columns()
        broken: InvalidInput | None = None
        for number, line in enumerate(content[first:], start=first + 1):
            if not line.strip():
                continue
            if _is_comment(line):
                try:
                    self.take(line)
                    self.check()
                    columns, broken = self.columns(), None
                except InvalidInput as error:
                    # What stands under it cannot be read until another heading mends it.
                    broken = error
                continue
            yield self._row(number, line, columns, broken)

    def _row(self, number: int, line: str, columns: Columns, broken: InvalidInput | None) -> Row:
        if broken is not None:
            return Row(number, (), columns, broken)
        try:
            cells = trimmed(split(line, self.delimiter), len(self.names))
        except InvalidInput as error:
            return Row(number, (), columns, error)
        if len(cells) != len(self.names):
            return Row(number, (), columns, self._wrong_number(line, len(cells)))
        return Row(number, cells, columns)

    def _wrong_number(self, line: str, cells: int) -> InvalidInput:
        return InvalidInput(
            "row",
            line,
            f"the {len(self.names)} cells {','.join(self.names)} parted by {self.delimiter!r}, not {cells}; "
            "the delimiter must not stand in a cell, also not as a decimal comma",
        )
