"""CSV as spreadsheets, archives and observers' own software write it.

Every line is one row: a cell that spans lines does not occur in photometry, but a quotation mark that is
never closed does, and it must not swallow the rows after it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise, zip_longest
from typing import Final, NamedTuple

from sourcebook.errors import InvalidInput
from sourcebook.lightcurves.columns import (
    MOST_COLUMNS,
    NEEDED,
    Columns,
    Layout,
    Row,
    is_known,
    read_columns,
)
from sourcebook.lightcurves.figures import looks_like_a_number
from sourcebook.lightcurves.model import Format
from sourcebook.lightcurves.times import read_kind
from sourcebook.lightcurves.units import read_flux_unit

_DELIMITERS: Final = (",", ";", "\t", "|")
_SETTING: Final = re.compile(r"#?\s*(?P<key>[A-Za-z][A-Za-z_ -]{0,30}?) *[=:] *(?P<value>.*)")
_SETTINGS: Final = {
    key: field
    for field, keys in {
        "observer": "obscode observer",
        "time_system": "date time_system timesys",
        "time_scale": "time_scale timescale",
        "band": "band filter filt",
        "flux_unit": "unit flux_unit",
        "magnitude_system": "magsys magnitude_system mag_system",
        "instrument": "instrument telescope",
        "name": "name object star target variable",
    }.items()
    for key in keys.split()
}
"""Fields by what a setting may call them."""
_LOOKED_AT: Final = 200
"""Lines among which the headings must be."""
LONGEST_LINE: Final = 20_000
"""Characters of a line. A longer one has no headings, and no row."""
MOST_LINES: Final = 500_000
"""Of one upload, comments and empty ones included."""
_LONGEST_SETTING: Final = 1_000
_MOST_HEADINGS: Final = 200
"""Lines with headings in one upload: files that were joined bring theirs along."""
_SAMPLED: Final = 40
"""Rows by which the delimiter is recognized."""
_SAMPLED_FOR_WIDTHS: Final = 2_000
_FRAMED: Final = "||"
"""Bars between the cells and around the row."""
_WIDEST: Final = 2_000
_ENOUGH_KNOWN: Final = 3
_ANY_CONSTANTS: Final = {"band": "V"}
"""A band may be given once for all rows: headings without one may be complete."""
_STARTS_WITH_NUMBER: Final = re.compile(r"\s*[+-]?[\d.][\d.]*[\s,;|]")
_DATE: Final = re.compile(r"\d{4}[-/]\d{1,2}[-/]\d")
_RULER: Final = re.compile(r"[-=+|:;,\s]+")
_UNITS: Final = frozenset("d day days jd mjd hjd bjd mag mags magnitude mmag utc ut".split())
_TYPES: Final = frozenset(
    "double float float32 float64 real int int32 int64 long char str string text bool null".split()
)
"""What stands in a line below the headings, of which some archives have up to three."""
_BYTES: Final = re.compile(
    r" {0,20}(?:(?P<start>\d{1,4}) ?- {0,4})?(?P<end>\d{1,4}) +"
    r"[AIFE]\d[\d.]{0,6} +(?P<unit>\S{1,30}) +(?P<label>\S{1,40})"
)
_SINGLE_QUOTED: Final = re.compile(r"(?<!\S)'([^'\"]*)'(?!\S)")
_WORDS: Final = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}


def trimmed(cells: list[str], width: int = 0) -> list[str]:
    """Return the cells without empty ones at their end, as spreadsheets leave them; at least the width."""
    while len(cells) > width and not cells[-1].strip():
        cells.pop()
    return cells


def split(line: str, delimiter: str) -> list[str]:
    """Return the cells of one line; with an empty delimiter they are separated by blanks.

    Raises:
        InvalidInput: if the line is too long, or a quotation mark among blanks is never closed.
    """
    if len(line) > LONGEST_LINE:
        raise InvalidInput("row", line[:80], f"a line of at most {LONGEST_LINE} characters")
    if not delimiter:
        return _split_at_blanks(line)
    framed = delimiter == _FRAMED
    if framed:
        line, delimiter = line.strip().removeprefix("|").removesuffix("|"), "|"
    try:
        cells = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error as error:
        raise InvalidInput("row", line, f"cells separated by {delimiter!r} ({error})") from error
    return [cell.strip() for cell in cells] if framed else cells


def _split_at_blanks(line: str) -> list[str]:
    if '"' not in line and "'" not in line:
        return line.split()
    plain = _SINGLE_QUOTED.sub(r'"\1"', line) if '"' not in line else line
    try:
        return next(csv.reader([" ".join(plain.split())], delimiter=" ", strict=True), [])
    except csv.Error as error:
        expected = f"cells separated by blanks, each quotation mark closed ({error})"
        raise InvalidInput("row", line, expected) from error


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
    if len(line) > _LONGEST_SETTING:
        return None
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
    themselves stand in the last of them. Headings that come again hold from there:
    files are joined like that.

    Raises:
        InvalidInput: if there are no headings, or too few, or too many lines.
    """
    content = bounded_lines(text)
    described = _byte_by_byte(content)
    return _table(content, *described, {}, ()) if described else _below_headings(content)


def _below_headings(content: Sequence[str]) -> Layout:
    constants: dict[str, str] = {}
    delimiter: str | None = None
    commented: tuple[int, str] | None = None
    before: list[int] = []
    wrong: InvalidInput | None = None
    for place, line in enumerate(content):
        plain = line.strip()
        if not plain.strip(",;\t|") or _is_ruler(plain) or plain.startswith("\\"):
            continue
        if is_comment(line):
            key_and_value = setting(line)
            if key_and_value is None:
                commented = place, _without_mark(line)
            elif key_and_value[0] == "delim":
                delimiter = read_delimiter(key_and_value[1])
            else:
                constants |= _constant(*key_and_value)
            continue
        if place >= _LOOKED_AT:
            break
        found = _ipac(line, content, place + 1) or _headings(line, delimiter, content, place + 1)
        first = place + 1
        if found is None and commented is not None:
            found, first = _headings(commented[1], delimiter, content, place), place
        if found is not None:
            try:
                return _table(content, found, first, constants, before)
            except InvalidInput as error:
                wrong = wrong or error
        elif _is_row(line):
            break
        before.append(place)
    if wrong is not None:
        raise wrong
    shown = next((line for line in content if line.strip()), "")
    raise InvalidInput("columns", shown[:80], f"headings in the first line: {NEEDED}")


def _table(
    content: Sequence[str], found: Headings, first: int, constants: dict[str, str], before: Sequence[int]
) -> Layout:
    """Return the table under headings.

    Args:
        content: all lines.
        found: its headings.
        first: place of the line under them.
        constants: what the upload has said so far for all rows, by field.
        before: places of lines before the headings that are no comments.
    """
    notes = []
    if before:
        for place in before:
            if key_and_value := setting(re.sub(r"[\t,;]", "=", content[place].strip(), count=1)):
                constants |= _constant(*key_and_value)
        notes.append(
            f"Lines before the headings that are no comments: {', '.join(str(n + 1) for n in before[:20])}."
        )
    written = found.cells
    while first < len(content) and (units := _units(content[first], found)) is not None:
        found = found._replace(cells=units)
        first += 1
    reader = _Rows(read_columns(found.cells, constants), found, constants, written)
    return Layout(Format.CSV, reader.read(content, first), notes + reader.columns.remarks())


def _is_row(line: str) -> bool:
    """Whether a line seems to be a row: before the headings that would be one that is lost."""
    cells = re.split(r"[\s,;|]+", line[:LONGEST_LINE])
    numbers = [cell for cell in cells if looks_like_a_number(cell) or _DATE.match(cell)]
    precise = any(len(cell) > 4 or "." in cell for cell in numbers)
    return bool(_STARTS_WITH_NUMBER.match(line)) or (len(numbers) > 1 and precise)


def _units(line: str, found: Headings) -> list[str] | None:
    """Return the headings with the units that a line under them gives; None if it is no such line."""
    if _is_ruler(line.strip()):
        return found.cells
    try:
        under_bars = line.replace("|", " ") if found.spans and line.startswith("|") else line
        cells = [cell.strip().strip("()[]") for cell in found.split(under_bars)]
    except InvalidInput:
        return None
    if len(cells) > len(found.cells) or any(looks_like_a_number(cell) or _DATE.match(cell) for cell in cells):
        return None
    if cells == found.cells or not any(
        cell.lower() in _UNITS | _TYPES or _reads(read_flux_unit, "unit", cell) for cell in cells
    ):
        return None
    return [
        f"{heading} [{cell}]" if cell and cell.lower() not in _TYPES and heading[-1:] not in ")]" else heading
        for heading, cell in zip_longest(found.cells, cells, fillvalue="")
    ]


def _reads(read: Callable[..., object], *given: object) -> bool:
    """Whether a reader takes what it is given."""
    try:
        read(*given)
    except InvalidInput:
        return False
    return True


def bounded_lines(text: str) -> list[str]:
    """Return the lines of a text.

    Raises:
        InvalidInput: if there are too many.
    """
    # Editors count lines so.
    content = re.split(r"\r\n|\n|\r", text, maxsplit=MOST_LINES)
    if len(content) > MOST_LINES:
        raise InvalidInput("file", f"more than {MOST_LINES} lines", f"at most {MOST_LINES} lines: split it")
    return content


def is_comment(line: str) -> bool:
    """Whether a line is a comment, which a spreadsheet may have put into quotation marks."""
    return line.lstrip().lstrip('"').startswith("#")


def _without_mark(line: str) -> str:
    return line.strip().lstrip('"#').strip() if "\t" not in line else line.lstrip().lstrip('"#').lstrip(" ")


def _is_ruler(plain: str) -> bool:
    """Whether a line only draws a line, as tables in Markdown and of terminals have them."""
    return (
        len(plain) > 2 and plain[0] in "-=+|" and len(plain) <= LONGEST_LINE and bool(_RULER.fullmatch(plain))
    )


def _constant(key: str, value: str) -> dict[str, str]:
    """Return the field that a setting gives for all rows, if it is one; comments often look like settings."""
    name = _SETTINGS.get(key)
    if name == "time_system" and read_kind(value) is None:
        name = "time_scale" if key == "timesys" else None
    return {name: value} if name else {}


class Headings(NamedTuple):
    """A line of headings.

    Attributes:
        cells: the headings.
        delimiter: what separates them; empty for blanks, and for columns of fixed width.
        spans: start and end of each column of fixed width.
    """

    cells: list[str]
    delimiter: str = ""
    spans: tuple[tuple[int, int], ...] = ()

    def split(self, line: str) -> list[str]:
        """Return the cells of a row under these headings.

        Raises:
            InvalidInput: if they cannot be distinguished.
        """
        if not self.spans:
            return split(line, self.delimiter)
        if len(line) > LONGEST_LINE:
            raise InvalidInput("row", line[:80], f"a line of at most {LONGEST_LINE} characters")
        ends = [*(start for start, _ in self.spans[1:]), len(line)]
        between = zip(self.spans[:-1], self.spans[1:], strict=True)
        if (
            any(line[end:start].strip() for (_, end), (start, _) in between)
            or line[: self.spans[0][0]].strip()
        ):
            raise InvalidInput("row", line, "cells that stand under their headings")
        return [line[start:end].strip() for (start, _), end in zip(self.spans, ends, strict=True)]

    def row(self, number: int, line: str, columns: Columns, wanted: str) -> Row:
        """Return the row of a line; `wanted` says which cells there should be."""
        width = len(self.cells)
        try:
            cells = trimmed(self.split(line), width)
        except InvalidInput as error:
            return Row(number, (), columns, error)
        if len(cells) == width:
            return Row(number, cells, columns)
        expected = f"{wanted}, not {len(cells)}"
        if len(cells) > width:
            expected += (
                "; a cell with the delimiter in it, such as a decimal comma, must be in quotation marks"
            )
        return Row(number, (), columns, InvalidInput("row", line, expected))


def _headings(line: str, delimiter: str | None, content: Sequence[str], first: int) -> Headings | None:
    """Return the headings that a line holds; None if it holds fewer than two that are known.

    Args:
        line: without the mark of a comment.
        delimiter: if the upload says it.
        content: all lines.
        first: place of the first row, by whose cells the delimiter is recognized.
    """
    if len(line) > LONGEST_LINE:
        return None
    chosen = [delimiter] if delimiter is not None else [*(mark for mark in _DELIMITERS if mark in line), ""]
    if "|" in chosen and line.lstrip().startswith("|"):
        chosen = [_FRAMED if mark == "|" else mark for mark in chosen]
    candidates = []
    for mark in chosen:
        try:
            cells = trimmed(split(line, mark))
        except InvalidInput:
            continue
        if len(cells) <= MOST_COLUMNS and sum(map(is_known, cells)) >= 2:
            candidates.append(Headings(cells, mark))
    if not candidates:
        return None
    sample = _sample(content, first, _SAMPLED)
    best = max(candidates, key=lambda found: _fit(found, sample))
    if not best.delimiter and delimiter is None and not all(_fits(best, row) for row in sample):
        return _fixed_width(line, _sample(content, first, _SAMPLED_FOR_WIDTHS)) or best
    return best


def _ipac(line: str, content: Sequence[str], first: int) -> Headings | None:
    """Return the headings of a table of IPAC; None if it is none.

    They stand between bars, as do types, units and nulls below them; the rows have blanks under the bars.
    """
    if not line.startswith("|") or len(line) > LONGEST_LINE:
        return None
    row = next((one for one in _sample(content, first, _SAMPLED) if one[0] != "|"), "|")
    bars = [place for place, letter in enumerate(line) if letter == "|"]
    if "|" in row or not 2 < len(bars) <= MOST_COLUMNS:
        return None
    spans = tuple((start + 1, end) for start, end in pairwise(bars))
    return Headings([line[start:end].strip() for start, end in spans], spans=spans)


def _byte_by_byte(content: Sequence[str]) -> tuple[Headings, int] | None:
    """Return the headings, and the place of the first row, of a table that describes itself by its bytes.

    The machine-readable tables of journals and of the CDS do: the rows are below the last line of dashes.
    """
    begin = next((n for n, line in enumerate(content[:_LOOKED_AT]) if line.startswith("Byte-by-byte")), None)
    if begin is None:
        return None
    first = max(n for n, line in enumerate(content) if n == begin or line.startswith("-" * 20)) + 1
    columns = [found for line in content[begin:first] if (found := _BYTES.match(line[:LONGEST_LINE]))]
    if not 1 < len(columns) <= MOST_COLUMNS:
        return None
    spans = tuple((int(one["start"] or one["end"]) - 1, int(one["end"])) for one in columns)
    units = (one["unit"].strip("-") for one in columns)
    cells = [
        f"{one['label']} [{unit}]" if unit else one["label"] for one, unit in zip(columns, units, strict=True)
    ]
    return Headings(cells, spans=spans), first


def _fit(found: Headings, sample: Sequence[str]) -> tuple[bool, int, bool, int]:
    """Return how well a delimiter fits: complete headings, rows of their width, a mark rather than blanks."""
    complete = _reads(read_columns, found.cells, _ANY_CONSTANTS)
    fitting = sum(_fits(found, row) for row in sample)
    return complete, fitting, found.delimiter != "", sum(map(is_known, found.cells))


def _fits(found: Headings, row: str) -> bool:
    try:
        return len(trimmed(found.split(row), len(found.cells))) == len(found.cells)
    except InvalidInput:
        return False


def _sample(content: Sequence[str], first: int, most: int) -> list[str]:
    """Return some of the rows that follow, without comments and empty lines."""
    near = ((line, line.strip(",;\t| \x0b\x0c")) for line in content[first : first + 2 * most])
    rows = (line for line, plain in near if plain and not is_comment(plain) and not _is_ruler(line.strip()))
    return [line[:LONGEST_LINE] for line in islice(rows, most)]


def _fixed_width(line: str, sample: Sequence[str]) -> Headings | None:
    """Return headings of fixed width, if the same places are blank in the headings and in all rows."""
    rows = [line.rstrip(), *(row.rstrip() for row in sample)]
    width = max(map(len, rows))
    if any("\t" in row for row in rows) or len(rows) < 3 or width > _WIDEST:
        return None
    used = bytearray(width)
    for row in rows:
        for word in re.finditer(r"\S+", row):
            used[word.start() : word.end()] = b"\1" * (word.end() - word.start())
    spans = tuple((word.start(), word.end()) for word in re.finditer(b"\1+", bytes(used)))
    cells = [line[start:end].strip() for start, end in spans]
    if len(spans) > MOST_COLUMNS or not all(cells) or not _reads(read_columns, cells, _ANY_CONSTANTS):
        return None
    return Headings(cells, spans=spans)


@dataclass(slots=True)
class _Rows:
    """Reads the rows of a table, under the headings that hold for them."""

    columns: Columns
    headings: Headings
    settings: dict[str, str]
    written: list[str]
    """The headings without the units that stand in a line of their own."""
    changes: int = 0
    broken: InvalidInput | None = None

    def read(self, content: Sequence[str], first: int) -> Iterator[Row]:
        """Yield the rows from a place on."""
        for number, line in enumerate(content[first:], start=first + 1):
            plain = line.strip()
            if not plain.strip(',;\t|"') or _is_ruler(plain):
                continue
            if is_comment(line):
                self._comment(line)
            elif self._is_headings_again(line):
                continue
            elif self.broken:
                yield Row(number, (), self.columns, self.broken)
            else:
                width = len(self.headings.cells)
                yield self.headings.row(number, line, self.columns, f"{width} cells as there are headings")

    def _comment(self, line: str) -> None:
        """Take a setting, or headings, from a comment between the rows."""
        key_and_value = setting(line)
        if key_and_value is None:
            self._is_headings_again(_without_mark(line))
        elif constant := _constant(*key_and_value):
            self.settings |= constant
            self.columns = replace(self.columns, constants={**self.columns.constants, **constant})

    def _is_headings_again(self, line: str) -> bool:
        """Whether a line has headings; they hold from here on, also where their order is another."""
        if len(line) > _LONGEST_SETTING or _STARTS_WITH_NUMBER.match(line):
            return False
        try:
            cells = trimmed(self.headings.split(line))
        except InvalidInput:
            return False
        if cells in (self.headings.cells, self.written):
            self.broken = None
            return True
        if (
            len(cells) < 3
            or any(map(looks_like_a_number, cells))
            or sum(map(is_known, cells)) < _ENOUGH_KNOWN
        ):
            return False
        self.changes += 1
        if self.changes > _MOST_HEADINGS:
            expected = f"at most {_MOST_HEADINGS} lines of headings: split the file"
            raise InvalidInput("columns", line[:80], expected)
        try:
            self.columns = read_columns(cells, self.settings)
            self.headings = self.headings._replace(cells=cells)
            self.broken = None
        except InvalidInput as error:
            self.broken = error
        return True
