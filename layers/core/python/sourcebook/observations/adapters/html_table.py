"""Kind `html_table`: tables and card lists of web pages, found by CSS selectors.

Pages are read as browsers read them (the parsing algorithm of the HTML standard), so unclosed and badly
nested tags give what a visitor sees.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from sourcebook.observations.adapters.document import (
    BadDocument,
    DocumentCause,
    Text,
    check_not_login,
    layout_changed,
)
from sourcebook.observations.adapters.grid import Grid, GridRow
from sourcebook.observations.adapters.markup import check_markup
from sourcebook.observations.adapters.shown import ShownPage
from sourcebook.observations.model import ParsedDocument
from sourcebook.observations.options import BEFORE, FOLLOWING, FieldRef, HtmlTableOptions
from sourcebook.observations.words import language_of

_MOST_TABLES: Final = 50
_MOST_ROWS: Final = 5_000
_MOST_COLUMNS: Final = 200
_TO_THE_END: Final = 1_000_000
"""Rows that a cell with ``rowspan=0`` reaches down: to the end of its group."""


def read(document: Text, options: HtmlTableOptions, today: date | None) -> ParsedDocument:
    """Return what a page yields.

    Raises:
        BadDocument: if it is not the declared page, or too large.
    """
    check_markup(document.text)
    page = LexborHTMLParser(document.text)
    shown = ShownPage(page)
    tables = [table for table in page.css(options.table) if shown.is_shown(table)]
    if not tables:
        check_not_login(document.text)
        if shown.is_empty():
            raise BadDocument(
                DocumentCause.EMPTY_PAGE, "the page shows nothing; it may need a script to fill it"
            )
        raise layout_changed(f"table: nothing matches {options.table}", _outline(page))
    root = page.css_first("html")
    language = options.language or language_of(root.attributes.get("lang") if root else None)
    finder = _Finder(page, shown)
    failures: list[BadDocument] = []
    for table in tables[:_MOST_TABLES]:
        try:
            grid, unread = _grid(table, options, finder, language)
            return grid.parsed(options, today, document.notes, unread)
        except BadDocument as error:
            if error.cause in {DocumentCause.IMPLAUSIBLE_VALUES, DocumentCause.TOO_LARGE}:
                raise
            failures.append(error)
    check_not_login(document.text)
    # A table that has the headings and no figures is the one that was meant.
    raise min(failures, key=lambda error: error.cause is DocumentCause.LAYOUT_CHANGED)


def _grid(
    table: LexborNode, options: HtmlTableOptions, finder: _Finder, language: str | None
) -> tuple[Grid, str]:
    found = [
        row
        for row in table.css(options.rows)
        if row.mem_id != table.mem_id and finder.shown.is_shown(row) and _is_own(row, table)
    ]
    if not found:
        raise layout_changed(f"rows: nothing matches {options.rows} in {options.table}", table.tag)
    nodes = found[:_MOST_ROWS]
    by_column = any(where.column is not None for _, where in options.fields)
    headings = options.header_rows if by_column or options.term_columns else 0
    ends = {node.mem_id for node in found}
    rows = [
        replace(row, select=partial(finder.text, node, ends))
        for row, node in zip(_rows(nodes, finder.shown), nodes, strict=True)
    ]
    grid = Grid([row.cells for row in rows[:headings]], rows[headings:], language)
    unread = len(found) - len(nodes)
    return grid, f"{unread} rows after the first {_MOST_ROWS} were not read" if unread else ""


def _is_own(row: LexborNode, table: LexborNode) -> bool:
    """Whether a row belongs to this table, and not to one inside of it."""
    if row.tag != "tr" or table.tag != "table":
        return True
    node = row.parent
    while node is not None and node.tag != "table":
        node = node.parent
    return node is None or node.mem_id == table.mem_id


def _rows(nodes: Sequence[LexborNode], shown: ShownPage) -> list[GridRow]:
    """Return the texts of the cells, those that span several rows or columns in each of them.

    As in the table model of HTML, a cell reaches down to the end of its group of rows at most.
    """
    rows: list[GridRow] = []
    hanging: dict[int, tuple[int, str]] = {}
    group = 0
    for position, node in enumerate(nodes, 1):
        parent = node.parent
        if parent is None or parent.mem_id != group:
            hanging.clear()
            group = 0 if parent is None else parent.mem_id
        cells = [cell for cell in node.iter() if cell.tag in {"td", "th"} and shown.is_shown(cell)]
        rows.append(_row(position, cells, hanging, shown))
    return rows


def _row(
    position: int, cells: Sequence[LexborNode], hanging: dict[int, tuple[int, str]], shown: ShownPage
) -> GridRow:
    texts: list[str] = []
    wrong = ""
    for cell in (*cells, None):
        while len(texts) in hanging:
            left, text = hanging.pop(len(texts))
            if left > 1:
                hanging[len(texts)] = (left - 1, text)
            texts.append(text)
        if cell is None:
            break
        if len(texts) >= _MOST_COLUMNS:
            wrong = f"more than {_MOST_COLUMNS} columns"
            break
        text, down, across = shown.text(cell), _span(cell, "rowspan"), _span(cell, "colspan")
        for _ in range(min(max(across, 1), _MOST_COLUMNS - len(texts))):
            if len(texts) in hanging:
                wrong = "a cell lies over one that reaches down from a row above"
            if down != 1:
                hanging[len(texts)] = ((down or _TO_THE_END) - 1, text)
            texts.append(text)
    return GridRow(position, texts, wrong)


def _span(node: LexborNode, name: str) -> int:
    value = (node.attributes.get(name) or "").strip()
    # Read as browsers do: up to what is no digit; anything else is 1.
    digits = value[: len(value) - len(value.lstrip("0123456789"))]
    if not digits:
        return 1
    return int(digits) if len(digits.lstrip("0")) <= 4 else _MOST_ROWS


class _Finder:
    """Finds what selectors mean: within a row, in what follows it, or before it.

    Before a row stands a heading, or the cell of a row above that is not repeated.
    """

    def __init__(self, page: LexborHTMLParser, shown: ShownPage) -> None:
        self.page = page
        self.shown = shown
        self.places: dict[int, int] = {}
        self.found: dict[str, tuple[list[int], list[LexborNode]]] = {}

    def text(self, row: LexborNode, ends: Container[int], where: FieldRef) -> str | None:
        """Return the text of a field, None if there is none; what follows a row ends before one of `ends`."""
        selector = where.selector or ""
        within = _following(row, ends) if selector.startswith(FOLLOWING) else [row]
        nodes = (node for outer in within for node in outer.css(where.css))
        found = next(filter(self.shown.is_shown, nodes), None)
        if selector.startswith(BEFORE) and (found is None or not self.shown.text(found)):
            found = self.last(row, where.css)
        if found is None:
            return None
        return found.attributes.get(where.attribute) if where.attribute else self.shown.text(found)

    def last(self, row: LexborNode, selector: str) -> LexborNode | None:
        """Return the last element that a selector finds before a row, of those that show a text."""
        if not self.places and self.page.root is not None:
            self.places = {node.mem_id: place for place, node in enumerate(self.page.root.traverse())}
        if selector not in self.found:
            nodes = [n for n in self.page.css(selector) if self.shown.is_shown(n) and self.shown.text(n)]
            nodes.sort(key=lambda node: self.places[node.mem_id])
            self.found[selector] = [self.places[node.mem_id] for node in nodes], nodes
        places, nodes = self.found[selector]
        at = bisect_left(places, self.places[row.mem_id])
        return nodes[at - 1] if at else None


def _following(row: LexborNode, ends: Container[int]) -> Iterator[LexborNode]:
    node = row.next
    while node is not None and node.mem_id not in ends:
        if not node.is_text_node:
            yield node
        node = node.next


def _outline(page: LexborHTMLParser) -> str:
    """Return a few words on what is there instead."""
    tables = len(page.css("table"))
    title = page.css_first("title")
    named = f" under the title {' '.join(title.text().split())[:100]}" if title is not None else ""
    return f"{tables} tables{named}"
