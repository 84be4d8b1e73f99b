"""Kind `html_table`: tables and card lists of web pages, found by CSS selectors.

Pages are read as browsers read them (the parsing algorithm of the HTML standard), so unclosed and badly
nested tags give what a visitor sees.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from sourcebook.observations.adapters.document import (
    BadDocument,
    DocumentCause,
    check_not_login,
    decode,
    layout_changed,
)
from sourcebook.observations.adapters.grid import Grid, Selected
from sourcebook.observations.model import Parsed
from sourcebook.observations.options import FieldRef, HtmlTableOptions

_NOT_SHOWN: Final = (
    "script, style, template, noscript, [hidden], [style*='display:none'], [style*='display: none']"
)
_INLINE: Final = ["b", "strong", "i", "em", "u", "font"]
_RAISED: Final = str.maketrans("0123456789()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁽⁾")
_FOOTNOTE = re.compile(r"[⁰¹²³⁴-⁹⁽⁾*]{1,6}")
_MOST_ROWS: Final = 5_000
_MOST_COLUMNS: Final = 200


def read(body: bytes, options: HtmlTableOptions, *, charset: str | None = None) -> Parsed:
    """Return what a page yields.

    Raises:
        BadDocument: if it is not the declared page.
    """
    document = decode(body, declared=options.encoding, charset=charset)
    page = LexborHTMLParser(document.text)
    for node in page.css(_NOT_SHOWN):
        node.decompose()
    # Figures are marked by raised digits: without a mark of their own they would become decimals.
    for node in page.css("sup"):
        raised = _text(node).translate(_RAISED)
        node.replace_with(raised if _FOOTNOTE.fullmatch(raised) else "†")
    for node in page.css("br"):
        node.replace_with(" ")
    # 4,<b>5</b> is one number, while two boxes side by side are two.
    page.unwrap_tags(_INLINE)
    page.merge_text_nodes()
    tables = page.css(options.table)
    if not tables:
        check_not_login(document.text)
        if page.body is None or not page.body.text(strip=True):
            raise BadDocument(
                DocumentCause.EMPTY_PAGE, "the page shows nothing; it may need a script to fill it"
            )
        raise layout_changed(f"table: nothing matches {options.table}", _outline(page))
    failures: list[BadDocument] = []
    for table in tables:
        try:
            return _grid(table, options).parsed(options, document.notes)
        except BadDocument as error:
            if error.cause is DocumentCause.IMPLAUSIBLE_VALUES:
                raise
            failures.append(error)
    check_not_login(document.text)
    # A table that has the headings and no figures is the one that was meant.
    raise min(failures, key=lambda error: error.cause is DocumentCause.LAYOUT_CHANGED)


def _grid(table: LexborNode, options: HtmlTableOptions) -> Grid:
    rows = [row for row in table.css(options.rows)[:_MOST_ROWS] if row != table and _is_own(row, table)]
    if not rows:
        raise layout_changed(f"rows: nothing matches {options.rows} in {options.table}", table.tag)
    cells = _cells(rows)
    by_column = any(
        where is not None and where.column is not None
        for where in (options.bank, options.series_field, options.term, *options.values)
    )
    headings = options.header_rows if by_column or options.term_columns else 0
    body = [(number, cells[number - 1]) for number in range(headings + 1, len(rows) + 1)]
    return Grid.of(cells[:headings], body, options, [_selecting(row) for row in rows[headings:]])


def _is_own(row: LexborNode, table: LexborNode) -> bool:
    """Whether a row belongs to this table, and not to one inside of it."""
    if row.tag != "tr" or table.tag != "table":
        return True
    node = row.parent
    while node is not None and node.tag != "table":
        node = node.parent
    return node is None or node.mem_id == table.mem_id


def _cells(rows: Sequence[LexborNode]) -> list[list[str]]:
    """Return the texts of the cells, those that span several rows or columns in each of them."""
    grid: list[list[str]] = []
    hanging: dict[int, tuple[int, str]] = {}
    for row in rows:
        texts: list[str] = []
        nodes = [node for node in row.iter() if node.tag in {"td", "th"}]
        while nodes or len(texts) in hanging:
            column = len(texts)
            if column >= _MOST_COLUMNS:
                break
            if column in hanging:
                left, text = hanging.pop(column)
                if left > 1:
                    hanging[column] = (left - 1, text)
                texts.append(text)
                continue
            node = nodes.pop(0)
            text, down = _text(node), _span(node, "rowspan")
            for _ in range(min(_span(node, "colspan"), _MOST_COLUMNS - column)):
                if down > 1:
                    hanging[len(texts)] = (down - 1, text)
                texts.append(text)
        grid.append(texts)
    return grid


def _span(node: LexborNode, name: str) -> int:
    value = (node.attributes.get(name) or "").strip()
    return min(max(int(value), 1), _MOST_ROWS) if value.isascii() and value.isdigit() else 1


def _text(node: LexborNode) -> str:
    return " ".join(node.text(deep=True, separator=" ").split())


def _selecting(row: LexborNode) -> Selected:
    def select(where: FieldRef) -> str | None:
        found = row.css_first(where.selector or "")
        if found is None:
            return None
        return found.attributes.get(where.attribute) if where.attribute else _text(found)

    return select


def _outline(page: LexborHTMLParser) -> str:
    """Return a few words on what is there instead."""
    tables = len(page.css("table"))
    title = page.css_first("title")
    named = f" under the title {_text(title)}" if title is not None else ""
    return f"{tables} tables{named}"
