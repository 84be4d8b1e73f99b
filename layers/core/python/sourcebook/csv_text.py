"""Writing CSV. Spreadsheets run cells that look like formulas, so all CSV of this project is written here."""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

Cell = str | int | float | Decimal | None

_FORMULA_STARTS: Final = frozenset("=+-@\u2212")
"""First characters of a formula, after NFKC, which makes full-width, small and raised forms the same."""

_CELL_ENDS: Final = re.compile("([;\t\r\n\x0b\x0c\x85\u2028\u2029])")
"""Where a program that was set to another separator, or to other line ends, begins a new cell."""

_MARK: Final = "'"
_QUOTES: Final = "\"'"


def write_csv(file: SupportsWrite[str], columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> int:
    """Write a line of headings and one line for each row; return how many rows there were.

    Open the file with ``newline=""``. Numbers are written as they are. Text is made safe by `safe_cell`.
    """
    out = csv.writer(file)
    out.writerow([safe_cell(column) for column in columns])
    count = 0
    for row in rows:
        out.writerow([safe_cell(cell) for cell in row])
        count += 1
    return count


def safe_cell(value: Cell) -> Cell:
    """Return what is written for a cell: text that a spreadsheet would run gets an apostrophe before it.

    A number of ours, such as -1.25, stays a number. A text is marked if it begins with a tab or the end of a
    line, or if the first character that can be seen starts a formula, in any width. A formula behind a
    semicolon, a tab or the end of a line inside of the text is marked there. Halves of characters, which
    UTF-8 cannot hold, become question marks.
    """
    if not isinstance(value, str):
        return value
    text = value.encode("utf-8", "replace").decode("utf-8")
    first, *others = _CELL_ENDS.split(text)
    begins_with_a_line_end = others and others[0] != ";" and not _seen(first)
    marked = _MARK if begins_with_a_line_end or _is_formula(first) else ""
    # The quotes around a cell do not hold in a program that splits it here.
    return marked + first + "".join(f"{_MARK * _is_formula(part, but=_QUOTES)}{part}" for part in others)


def _is_formula(text: str, *, but: str = "") -> bool:
    return unicodedata.normalize("NFKC", _seen(text, but=but))[:1] in _FORMULA_STARTS


def _seen(text: str, *, but: str = "") -> str:
    """Return the first character that no program skips: no blank, no control, nothing without a width."""
    skipped = ("Cc", "Cf")
    shown = (c for c in text if not (c.isspace() or c in but or unicodedata.category(c) in skipped))
    return next(shown, "")
