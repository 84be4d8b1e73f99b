"""A table of texts under headings: what HTML tables and CSV files have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from sourcebook.observations.adapters.document import BadDocument, DocumentCause, layout_changed
from sourcebook.observations.adapters.records import (
    Cell,
    FieldColumn,
    declared_columns,
    heading_key,
    observe,
    unmarked,
)
from sourcebook.observations.days import read_days
from sourcebook.observations.model import Heading, ParsedDocument
from sourcebook.observations.options import FieldRef, ObservationOptions, ValueRef
from sourcebook.observations.terms import parse_term
from sourcebook.observations.values import Reason, UnreadableValue

Selected = Callable[[FieldRef], str | None]
"""Finds the text of a field that is given by a selector."""


_MOST_HEADINGS: Final = 500


@dataclass(frozen=True, slots=True)
class GridRow:
    """A row of a table.

    Attributes:
        position: in the document, from 1.
        cells: the texts.
        wrong: why its cells cannot be distinguished, if they cannot.
    """

    position: int
    cells: Sequence[str]
    wrong: str = ""


@dataclass(frozen=True, slots=True)
class _Record:
    position: int
    cells: Sequence[str]
    grid: Grid
    select: Selected | None
    trouble: UnreadableValue | None

    @classmethod
    def of(cls, row: GridRow, grid: Grid, select: Selected | None) -> _Record:
        cells, width = row.cells, grid.width
        trouble: UnreadableValue | None = None
        if row.wrong:
            trouble = UnreadableValue(Reason.WRONG_NUMBER_OF_CELLS, row.wrong)
        elif len(cells) > 1 and len(set(cells)) == 1 and cells[0]:
            trouble = UnreadableValue(Reason.SECTION_HEADING, "one text across all columns is no record")
        elif width and len(cells) > width and any(cells[width:]):
            # One cell too many moves all behind it: what stands under a heading is another thing.
            trouble = UnreadableValue(
                Reason.WRONG_NUMBER_OF_CELLS, f"{len(cells)} cells under {width} headings"
            )
        return cls(row.position, cells, grid, select, trouble)

    def cell(self, where: FieldRef) -> Cell | None:
        if where.const is not None:
            return Cell(where.const)
        if where.selector is not None:
            text = self.select(where) if self.select else None
            return None if text is None else Cell(text)
        if self.trouble is not None:
            raise self.trouble
        number = self.grid.index(where)
        if number is None:
            raise UnreadableValue(Reason.MISSING_COLUMN, f"there is no column {where.column}")
        if number >= len(self.cells):
            raise UnreadableValue(
                Reason.WRONG_NUMBER_OF_CELLS, f"{len(self.cells)} cells, column {number + 1} wanted"
            )
        return Cell(self.cells[number])


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows of cells under headings.

    Attributes:
        headings: of each column all texts that stand over it, the joint one first.
        rows: the rows.
        selected: for each row, how a selector is applied to it.
        language: primary language of the document, if it says so.
        over_columns: the text of all cells over each column, as written.
    """

    headings: Sequence[Sequence[str]]
    rows: Sequence[GridRow]
    selected: Sequence[Selected | None] = ()
    language: str | None = None
    over_columns: Sequence[str] = ()
    _numbers: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        heading_rows: Sequence[Sequence[str]],
        rows: Sequence[GridRow],
        options: ObservationOptions,
        selected: Sequence[Selected | None] = (),
        language: str | None = None,
    ) -> Grid:
        """Return the grid of a table, which has the declared columns.

        Raises:
            BadDocument: if a declared column is missing or stands twice, or there are too many.
        """
        width = max(map(len, heading_rows), default=0)
        if width > _MOST_HEADINGS:
            raise BadDocument(
                DocumentCause.TOO_LARGE, f"{width} columns, where {_MOST_HEADINGS} are the most"
            )
        headings: list[Sequence[str]] = []
        over_columns = [
            " ".join(dict.fromkeys(row[number] for row in heading_rows if number < len(row)))
            for number in range(width)
        ]
        for number in range(width):
            texts = [unmarked(row[number]) for row in heading_rows if number < len(row)]
            over = list(dict.fromkeys(filter(None, texts)))
            headings.append([" ".join(over), *over] if len(over) > 1 else over)
        numbers: dict[str, int] = {}
        for number, stands in enumerate(headings):
            for text in stands:
                numbers.setdefault(heading_key(text), number)
        grid = cls(headings, rows, selected, language, over_columns, numbers)
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
        return self._numbers.get(heading_key(where.column or ""))

    def check(self, options: ObservationOptions) -> None:
        """Refuse a grid that lacks a declared column.

        Raises:
            BadDocument: naming the column, and the headings that are there.
        """
        shown = [texts[0] if texts else "" for texts in self.headings]
        widest = max((len(row.cells) for row in self.rows), default=0)
        for name, where in options.fields:
            if where.column is None:
                continue
            number = self.index(where)
            if number is None:
                raise layout_changed(f"{name}: no heading {where.column}", shown)
            if number >= max(widest, self.width):
                raise layout_changed(f"{name}: no column {where.column}", f"{widest} columns")
        if options.term_columns and not self.columns(options):
            raise layout_changed("term_columns: no heading is a term", shown)

    def columns(self, options: ObservationOptions) -> list[FieldColumn]:
        """Return the columns of figures: those declared, or those whose headings are terms."""
        if not options.term_columns:
            return declared_columns(options)
        taken = self._taken(options)
        columns = []
        for number, texts in enumerate(self.headings):
            found = _term_among(texts, options, self.language) if number not in taken else None
            if isinstance(found, str):
                columns.append(FieldColumn(ValueRef(column=number + 1), found))
        return columns

    def not_taken(self, options: ObservationOptions) -> tuple[Heading, ...]:
        """Return the headings whose columns are not read, each with the reason."""
        taken = self._taken(options)
        found: list[Heading] = []
        for number, texts in enumerate(self.headings):
            if number in taken or not texts:
                continue
            if not options.term_columns:
                found.append(Heading(number + 1, texts[0], "", "no field is declared to be there"))
                continue
            read = _term_among(texts, options, self.language)
            if isinstance(read, UnreadableValue):
                found.append(Heading(number + 1, texts[0], read.reason.value, read.detail))
        return tuple(found)

    def _taken(self, options: ObservationOptions) -> set[int | None]:
        return {self.index(where) for _, where in options.fields if where.column is not None}

    def _of_dates(self, options: ObservationOptions) -> FieldRef | None:
        """Return the one column that no field is in and that has a date in most of its cells."""
        taken = self._taken(options)
        found: list[int] = []
        for number in range(max((len(row.cells) for row in self.rows), default=0)):
            texts = [row.cells[number] for row in self.rows if number < len(row.cells)]
            if number not in taken and sum(map(bool, read_days(texts, options.date_order))) * 2 > len(
                self.rows
            ):
                found.append(number)
        return FieldRef(column=found[0] + 1) if len(found) == 1 else None

    def parsed(
        self, options: ObservationOptions, today: date | None, notes: tuple[str, ...] = ()
    ) -> ParsedDocument:
        """Return the figures of the grid's rows.

        Raises:
            BadDocument: if there is none.
        """
        columns = self.columns(options)
        selected = self.selected or [None] * len(self.rows)
        return observe(
            [_Record.of(row, self, select) for row, select in zip(self.rows, selected, strict=True)],
            options,
            columns,
            notes=notes,
            language=self.language,
            headings=self.not_taken(options),
            over=self.over,
            dates=options.date or self._of_dates(options),
            today=today,
        )

    def over(self, where: FieldRef) -> str:
        """Return all that stands over the column of a field, marks of footnotes included."""
        number = None if where.column is None else self.index(where)
        return (
            self.over_columns[number] if number is not None and 0 <= number < len(self.over_columns) else ""
        )


def _term_among(
    texts: Sequence[str], options: ObservationOptions, language: str | None
) -> str | UnreadableValue:
    """Return the term that one of the texts over a column is, or why none is."""
    why = UnreadableValue(Reason.NO_TERM, "the heading is empty")
    for text in texts:
        try:
            return parse_term(text, bare=options.bare_term or "months", language=language).code
        except UnreadableValue as error:
            why = error if why.reason in {Reason.NO_TERM, Reason.TERM_UNREADABLE} else why
    return why
