"""Kind `csv`: rows of a text file, whatever its delimiter."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from datetime import date
from itertools import count
from typing import Final, Literal

from sourcebook.observations.adapters.document import BadDocument, DocumentCause, Text, refuse_page
from sourcebook.observations.adapters.grid import Grid, GridRow
from sourcebook.observations.model import ParsedDocument
from sourcebook.observations.options import CsvOptions

_DELIMITERS: Final = (";", "\t", ",", "|")
# What spreadsheets write before a file to tell each other.
_SAID_DELIMITER = re.compile(r"sep=([;,|\t])[ ;,|\t]*\r?\n", re.IGNORECASE)
_LOOKED_AT: Final = 50
_LOOKED_AT_CHARACTERS: Final = 100_000
_MOST_LINES: Final = 100_000
_MOST_ROWS: Final = 50_000
_MOST_CELLS: Final = 500_000
_LONGEST_CELL: Final = 2_000
_MOST_STRAY_QUOTES: Final = 50


def read(document: Text, options: CsvOptions, today: date | None) -> ParsedDocument:
    """Return what a CSV file yields.

    Raises:
        BadDocument: if it is none, or has not the declared columns.
    """
    refuse_page(document.text, "CSV")
    text, said = document.text, _SAID_DELIMITER.match(document.text)
    if said:
        text = text[said.end() :]
    lines = io.StringIO(text, newline="")
    for _ in range(options.skip_rows):
        lines.readline()
    text = lines.read()
    declared = "\t" if options.delimiter == "tab" else options.delimiter or (said and said[1])
    delimiter = declared or _delimiter(text, options.quote)
    rows, unread = _rows(text, delimiter, options.quote)
    if not rows:
        raise BadDocument(DocumentCause.EMPTY_PAGE, "there is no row in the file")
    heading = [rows[0].cells] if options.header else []
    grid = Grid(heading, rows[len(heading) :], options.language)
    return grid.parsed(options, today, document.notes, unread)


def _rows(text: str, delimiter: str, quote: str) -> tuple[list[GridRow], str]:
    """Return the rows that are not empty, each with its number from 1, and what was left out.

    A quotation mark that is not closed makes one cell of the lines behind it. Such a row is wrong, and they
    are read as if the mark did not stand there. Raise BadDocument if it cannot be read as CSV.
    """
    rows: list[GridRow] = []
    cells = number = 0
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL
    lines = io.StringIO(text, newline="")
    for attempt in count():
        if attempt == _MOST_STRAY_QUOTES:
            quoting = csv.QUOTE_NONE
        begun = lines.tell()
        # QUOTE_MINIMAL, and not strict: a stray quote must cost its own cell and not the rest of the file.
        reader = csv.reader(lines, delimiter=delimiter, quotechar=quote, quoting=quoting)
        again: int | None = None
        try:
            for row in reader:
                number += 1
                if number > _MOST_LINES or len(rows) >= _MOST_ROWS or cells > _MOST_CELLS:
                    return rows, f"rows after row {number - 1} were not read"
                swallowed = _swallows(row, delimiter)
                if any(row) and any(cell.strip() for cell in row):
                    cells += len(row)
                    wrong = "a quotation mark is opened and not closed in its row" if swallowed else ""
                    rows.append(GridRow(number, [cell[:_LONGEST_CELL].strip() for cell in row], wrong))
                if swallowed:
                    again = begun
                    break
                begun = lines.tell()
        except csv.Error as error:
            if rows:
                rows.append(GridRow(number + 1, [""], f"it cannot be read ({error})"))
                again = begun
            else:
                raise BadDocument(DocumentCause.WRONG_FORMAT, f"it is no CSV ({error})") from error
        if again is None:
            return rows, ""
        lines.seek(again)
        lines.readline()
    raise AssertionError("a count has no end")


def _swallows(row: list[str], delimiter: str) -> bool:
    """Whether a cell holds what looks like the end of its row and the next."""
    return any(("\n" in cell or "\r" in cell) and delimiter in cell for cell in row)


def _delimiter(text: str, quote: str) -> str:
    """Return the delimiter that cuts most rows into the same number of cells, two at least.

    Between equals, the one before in `_DELIMITERS`: where figures have a decimal comma, a comma too cuts
    all rows alike.
    """
    best, score = ",", (0.0, 0)
    head = "".join(text[:_LOOKED_AT_CHARACTERS].splitlines(keepends=True)[:_LOOKED_AT])
    for delimiter in _DELIMITERS:
        try:
            widths = Counter(len(row.cells) for row in _rows(head, delimiter, quote)[0])
        except BadDocument:
            continue
        if not widths:
            continue
        width, count = widths.most_common(1)[0]
        found = (count / widths.total(), 1) if width > 1 else (0.0, 0)
        if found > score:
            best, score = delimiter, found
    return best
