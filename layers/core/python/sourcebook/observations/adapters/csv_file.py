"""Kind `csv`: rows of a text file, whatever its delimiter."""

from __future__ import annotations

import csv
import io
from collections import Counter
from typing import Final

from sourcebook.observations.adapters.document import (
    BadDocument,
    DocumentCause,
    check_not_login,
    decode,
    is_html,
)
from sourcebook.observations.adapters.grid import Grid
from sourcebook.observations.model import Parsed
from sourcebook.observations.options import CsvOptions

_DELIMITERS: Final = (";", "\t", ",", "|")
_LOOKED_AT: Final = 50
_MOST_ROWS: Final = 20_000


def read(body: bytes, options: CsvOptions, *, charset: str | None = None) -> Parsed:
    """Return what a CSV file yields.

    Raises:
        BadDocument: if it is none, or has not the declared columns.
    """
    document = decode(body, declared=options.encoding, charset=charset)
    if is_html(document.text):
        check_not_login(document.text)
        raise BadDocument(
            DocumentCause.WRONG_FORMAT, "a web page came in place of CSV; look whether its address is right"
        )
    lines = document.text.splitlines(keepends=True)[options.skip_rows :]
    text = "".join(lines)
    delimiter = "\t" if options.delimiter == "tab" else options.delimiter or _delimiter(text, options.quote)
    rows = _rows(text, delimiter, options.quote)
    if not rows:
        raise BadDocument(DocumentCause.EMPTY_PAGE, "there is no row in the file")
    heading = [rows[0][1]] if options.header else []
    grid = Grid.of(heading, rows[len(heading) :], options)
    return grid.parsed(options, document.notes)


def _rows(text: str, delimiter: str, quote: str) -> list[tuple[int, list[str]]]:
    """Return the rows that are not empty, each with its number from 1."""
    # QUOTE_MINIMAL, and not strict: a stray quote must cost its own cell and not the rest of the file.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quotechar=quote)
    rows: list[tuple[int, list[str]]] = []
    try:
        for number, row in enumerate(reader, 1):
            if any(cell.strip() for cell in row):
                rows.append((number, [cell.strip() for cell in row]))
            if len(rows) >= _MOST_ROWS:
                break
    except csv.Error as error:
        raise BadDocument(DocumentCause.WRONG_FORMAT, f"it is no CSV ({error})") from error
    return rows


def _delimiter(text: str, quote: str) -> str:
    """Return the delimiter that cuts most rows into the same number of cells, two at least.

    Between equals, the one before in `_DELIMITERS`: where figures have a decimal comma, a comma too cuts
    all rows alike.
    """
    best, score = ",", (0.0, 0)
    head = "".join(text.splitlines(keepends=True)[:_LOOKED_AT])
    for delimiter in _DELIMITERS:
        widths = Counter(len(row) for _, row in _rows(head, delimiter, quote))
        if not widths:
            continue
        width, count = widths.most_common(1)[0]
        found = (count / widths.total(), 1) if width > 1 else (0.0, 0)
        if found > score:
            best, score = delimiter, found
    return best
