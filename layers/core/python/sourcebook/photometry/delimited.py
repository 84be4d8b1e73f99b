"""CSV as spreadsheets, archives and observers' own software write it.

Every line is one row: a cell that spans lines does not occur in photometry, but a quotation mark that is
never closed does, and it must not swallow the rows after it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from sourcebook.errors import InvalidInput
from sourcebook.photometry.columns import NEEDED, Columns, is_known, read_columns
from sourcebook.photometry.decoding import lines
from sourcebook.photometry.layout import Layout, Row
from sourcebook.photometry.model import Format
from sourcebook.photometry.times import read_kind

_DELIMITERS: Final = (",", ";", "\t", "|")
_SETTING: Final = re.compile(r"#\s*(?P<key>[A-Za-z][A-Za-z_ -]{0,30}?) *[=:] *(?P<value>.*)")
_SETTINGS: Final = {
    "obscode": "observer",
    "observer": "observer",
    "date": "time_system",
    "time_system": "time_system",
    "timesys": "time_system",
    "time_scale": "time_scale",
    "timescale": "time_scale",
    "band": "band",
    "filter": "band",
    "filt": "band",
    "unit": "flux_unit",
    "flux_unit": "flux_unit",
    "magsys": "magnitude_system",
    "magnitude_system": "magnitude_system",
    "mag_system": "magnitude_system",
    "instrument": "instrument",
    "telescope": "instrument",
    "name": "name",
    "object": "name",
    "star": "name",
    "target": "name",
}
_LOOKED_AT: Final = 200
"""Lines among which the headings must be."""
_LONGEST: Final = 20_000
"""Characters of the line with the headings."""
_WORDS: Final = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}


def split(line: str, delimiter: str) -> list[str]:
    """Return the cells of one line; with an empty delimiter they are parted by white space.

    Raises:
        InvalidInput: if the csv module refuses it.
    """
    if not delimiter:
        return line.split()
    try:
        return next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error as error:
        raise InvalidInput("row", line, f"cells parted by {delimiter!r} ({error})") from error


def read_delimiter(value: str) -> str:
    """Return the delimiter that a ``#DELIM=`` line names: a character, or a word such as ``tab``.

    Raises:
        InvalidInput: if it is neither.
    """
    if value.startswith("\t"):
        return "\t"
    plain = value.strip().strip("\"'")
    word = re.match(r"[A-Za-z]+|\\t", plain)
    if word is not None:
        found = _WORDS.get(word[0].lower())
    else:
        found = plain[0] if plain and not plain[0].isalnum() and plain[0] not in "#.-+<" else None
    if found is None:
        raise InvalidInput("DELIM", value, "a character such as , ; or | or the word comma, semicolon or tab")
    return found


def setting(line: str) -> tuple[str, str] | None:
    """Return key, in lower case, and value of a line such as ``#OBSCODE=ABC``; None if it is none.

    A spreadsheet that has saved the file may have put the line into quotation marks, and commas to its end.
    """
    plain = line.lstrip().rstrip(" \r\n").strip('"')
    found = _SETTING.fullmatch(plain)
    if found is None:
        return None
    key, value = re.sub(r"[ -]+", "_", found["key"].lower()), found["value"]
    if key in {"delim", "delimiter"}:
        return "delim", value
    return key, value.strip().rstrip(",;\t ").strip().strip('"')


def read_csv(text: str) -> Layout:
    """Read CSV: headings, and rows under them.

    Lines that begin with ``#`` are comments; ``#BAND=V`` and the like hold for all rows; the headings may
    themselves stand in the last of them.

    Raises:
        InvalidInput: if there are no headings, or too few.
    """
    content = lines(text)
    constants: dict[str, str] = {}
    delimiter: str | None = None
    commented = ""
    for number, line in enumerate(content, start=1):
        plain = line.strip()
        if not plain.strip(",;\t|"):
            continue
        if plain.lstrip('"').startswith("#"):
            told = setting(line)
            if told is None:
                commented = plain.lstrip('"#').strip()
            elif told[0] == "delim":
                delimiter = read_delimiter(told[1])
            else:
                constants |= _constant(*told)
            continue
        if number > _LOOKED_AT:
            break
        found = _headings(commented, delimiter) if commented else None
        first = number
        if found is None or _headings(line, found.delimiter) is not None:
            found, first = _headings(line, delimiter), number + 1
        if found is None:
            break
        columns = read_columns(found.cells, constants)
        notes = []
        if columns.unused:
            notes.append(f"Columns that are not used: {', '.join(columns.unused[:40])}.")
        return Layout(Format.CSV, _rows(content, first, found, columns), notes)
    shown = next((line for line in content if line.strip()), "")
    raise InvalidInput("columns", shown, f"headings in the first line: {NEEDED}")


def _constant(key: str, value: str) -> dict[str, str]:
    """Return the field that a setting gives for all rows, if it is one; comments often look like settings."""
    name = _SETTINGS.get(key)
    if name == "time_system" and read_kind(value) is None:
        name = "time_scale" if key == "timesys" else None
    return {name: value} if name else {}


class _Headings(NamedTuple):
    cells: list[str]
    delimiter: str


def _headings(line: str, delimiter: str | None) -> _Headings | None:
    """Return the headings that a line holds; None if it holds fewer than two that we know."""
    if len(line) > _LONGEST:
        return None
    chosen = delimiter if delimiter is not None else _delimiter(line)
    cells = split(line, chosen)
    while cells and not cells[-1].strip():
        cells.pop()
    return _Headings(cells, chosen) if sum(map(is_known, cells)) >= 2 else None


def _delimiter(line: str) -> str:
    """Return the delimiter under which most of a line's cells are headings that we know."""
    best, most = "", sum(map(is_known, line.split()))
    for delimiter in _DELIMITERS:
        if delimiter in line and (known := sum(map(is_known, split(line, delimiter)))) >= max(most, 1):
            best, most = delimiter, known
    return best


def _rows(content: list[str], first: int, headings: _Headings, columns: Columns) -> Iterator[Row]:
    width = len(headings.cells)
    for number in range(first, len(content) + 1):
        line = content[number - 1]
        plain = line.strip()
        if not plain.strip(',;\t|"'):
            continue
        if plain.lstrip('"').startswith("#"):
            if (told := setting(line)) is not None and (constant := _constant(*told)):
                columns = replace(columns, constants={**columns.constants, **constant})
            continue
        try:
            cells = split(line, headings.delimiter)
        except InvalidInput as error:
            yield Row(number, (), columns, error)
            continue
        while len(cells) > width and not cells[-1].strip():
            cells.pop()
        if len(cells) != width:
            hint = (
                "; a decimal comma needs another delimiter, or quotation marks" if len(cells) > width else ""
            )
            expected = f"{width} cells as there are headings, not {len(cells)}{hint}"
            yield Row(number, (), columns, InvalidInput("row", line, expected))
            continue
        yield Row(number, cells, columns)
