"""A table of texts under headings: what HTML tables and CSV files have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sourcebook.observations.adapters.document import layout_changed
from sourcebook.observations.adapters.records import (
    Cell,
    Column,
    declared_columns,
    heading_key,
    observe,
    unmarked,
)
from sourcebook.observations.model import Parsed
from sourcebook.observations.options import FieldRef, ObservationOptions, ValueRef
from sourcebook.observations.terms import parse_term
from sourcebook.observations.values import Reason, Unreadable

Selected = Callable[[FieldRef], str | None]
"""Finds the text of a field that is given by a selector."""


@dataclass(frozen=True, slots=True)
class _Row:
    position: int
    cells: Sequence[str]
    grid: Grid
    select: Selected | None

    def cell(self, where: FieldRef) -> Cell | None:
        if where.const is not None:
            return Cell(where.const)
        if where.selector is not None:
            text = self.select(where) if self.select else None
            return None if text is None else Cell(text)
        if len(self.cells) > 1 and len(set(self.cells)) == 1 and self.cells[0]:
            raise Unreadable(Reason.SECTION_HEADING, "one text across all columns is no record")
        width = self.grid.width
        if width and len(self.cells) > width and any(self.cells[width:]):
            # One cell too many moves all behind it: what stands under a heading is another thing.
            raise Unreadable(Reason.WRONG_NUMBER_OF_CELLS, f"{len(self.cells)} cells under {width} headings")
        number = self.grid.index(where)
        if number is None:
            raise Unreadable(Reason.MISSING_COLUMN, f"there is no column {where.column}")
        if number >= len(self.cells):
            raise Unreadable(
                Reason.WRONG_NUMBER_OF_CELLS, f"{len(self.cells)} cells, column {number + 1} wanted"
            )
        return Cell(self.cells[number])


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows of cells under headings.

    Attributes:
        headings: of each column all texts that stand over it, the joint one first.
        rows: position and cells of each row.
        selected: for each row, how a selector is applied to it.
    """

    headings: Sequence[Sequence[str]]
    rows: Sequence[tuple[int, Sequence[str]]]
    selected: Sequence[Selected | None] = ()

    @classmethod
    def of(
        cls,
        heading_rows: Sequence[Sequence[str]],
        rows: Sequence[tuple[int, Sequence[str]]],
        options: ObservationOptions,
        selected: Sequence[Selected | None] = (),
    ) -> Grid:
        """Make a grid and see whether it has the declared columns.

        Raises:
            BadDocument: if a declared column is missing.
        """
        width = max(map(len, heading_rows), default=0)
        headings = []
        for number in range(width):
            texts = [unmarked(row[number]) for row in heading_rows if number < len(row)]
            over = list(dict.fromkeys(filter(None, texts)))
            headings.append([" ".join(over), *over] if len(over) > 1 else over)
        grid = cls(headings, rows, selected)
        grid.check(options)
        return grid

    @property
    def width(self) -> int:
        """Columns that have a heading, 0 without headings."""
        return len(self.headings)

    def index(self, where: FieldRef) -> int | None:
        """Return the number, from 0, of the column of a field; None if there is none."""
        if isinstance(where.column, int):
            return where.column - 1
        wanted = heading_key(where.column or "")
        for number, texts in enumerate(self.headings):
            if wanted in map(heading_key, texts):
                return number
        return None

    def check(self, options: ObservationOptions) -> None:
        """Refuse a grid that lacks a declared column.

        Raises:
            BadDocument: naming the column, and the headings that are there.
        """
        fields = [("bank", options.bank), ("series_field", options.series_field), ("term", options.term)]
        fields += [("value", value) for value in options.values]
        shown = [texts[0] if texts else "" for texts in self.headings]
        widest = max((len(cells) for _, cells in self.rows), default=0)
        for name, where in fields:
            if where is None or where.column is None:
                continue
            number = self.index(where)
            if number is None:
                raise layout_changed(f"{name}: no heading {where.column}", shown)
            if number >= max(widest, self.width):
                raise layout_changed(f"{name}: no column {where.column}", f"{widest} columns")
        if options.term_columns and not self.columns(options):
            raise layout_changed("term_columns: no heading is a term", shown)

    def columns(self, options: ObservationOptions) -> list[Column]:
        """Return the columns of figures: those declared, or those whose headings are terms."""
        if not options.term_columns:
            return declared_columns(options)
        taken = {self.index(f) for f in (options.bank, options.series_field, options.term) if f and f.column}
        columns = []
        for number, texts in enumerate(self.headings):
            code = _term_among(texts, options)
            if code is not None and number not in taken:
                columns.append(Column(ValueRef(column=number + 1), code))
        return columns

    def parsed(self, options: ObservationOptions, notes: tuple[str, ...] = ()) -> Parsed:
        """Return the figures.

        Raises:
            BadDocument: if there is none.
        """
        selected = self.selected or [None] * len(self.rows)
        rows = [
            _Row(position, cells, self, select)
            for (position, cells), select in zip(self.rows, selected, strict=True)
        ]
        return observe(rows, options, self.columns(options), notes)


def _term_among(texts: Sequence[str], options: ObservationOptions) -> str | None:
    for text in texts:
        try:
            return parse_term(text, bare=options.bare_term).code
        except Unreadable:
            continue
    return None
