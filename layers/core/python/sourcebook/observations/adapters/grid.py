"""A table of texts under headings: what HTML tables and CSV files have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from sourcebook.observations.adapters.document import BadDocument, DocumentCause, layout_changed
from sourcebook.observations.adapters.records import Cell, heading_key, observe, unmarked
from sourcebook.observations.days import read_days
from sourcebook.observations.model import Dropped, Heading, ParsedDocument
from sourcebook.observations.options import FieldRef, ObservationOptions, ValueRef
from sourcebook.observations.terms import parse_term
from sourcebook.observations.values import Reason, UnreadableValue

_MOST_HEADINGS: Final = 500


@dataclass(frozen=True, slots=True)
class GridRow:
    """A row of a table.

    Attributes:
        position: in the document, from 1.
        cells: the texts.
        wrong: why its cells cannot be distinguished, if they cannot.
        select: finds the text of a field that is given by a selector.
    """

    position: int
    cells: Sequence[str]
    wrong: str = ""
    select: Callable[[FieldRef], str | None] = lambda _: None


@dataclass(frozen=True, slots=True)
class _Record:
    row: GridRow
    grid: Grid
    trouble: UnreadableValue | None

    @property
    def position(self) -> int:
        return self.row.position

    def cell(self, where: FieldRef) -> Cell | None:
        if where.const is not None:
            return Cell(where.const)
        if where.selector is not None:
            text = self.row.select(where)
            return None if text is None else Cell(text)
        if self.trouble is not None:
            raise self.trouble
        number, cells = self.grid.index(where), self.row.cells
        if number is None:
            raise UnreadableValue(Reason.MISSING_COLUMN, f"there is no column {where.column}")
        if number >= len(cells):
            raise UnreadableValue(
                Reason.WRONG_NUMBER_OF_CELLS, f"{len(cells)} cells, column {number + 1} wanted"
            )
        return Cell(cells[number])


class Grid:
    """Rows of cells under headings.

    Attributes:
        headings: of each column all texts that stand over it, the joint one first.
        over_columns: the text of all cells over each column, as written.
        numbers: of the columns, from 0, by what stands over them.
    """

    def __init__(
        self, heading_rows: Sequence[Sequence[str]], rows: Sequence[GridRow], language: str | None
    ) -> None:
        """Read the headings. Raise BadDocument if there are too many columns."""
        width = max(map(len, heading_rows), default=0)
        if width > _MOST_HEADINGS:
            raise BadDocument(
                DocumentCause.TOO_LARGE, f"{width} columns, where {_MOST_HEADINGS} are the most"
            )
        self.rows = rows
        self.language = language
        self.headings: list[Sequence[str]] = []
        self.over_columns: list[str] = []
        self.numbers: dict[str, int] = {}
        for number in range(width):
            written = [row[number] for row in heading_rows if number < len(row)]
            self.over_columns.append(" ".join(dict.fromkeys(written)))
            over = list(dict.fromkeys(filter(None, map(unmarked, written))))
            self.headings.append([" ".join(over), *over] if len(over) > 1 else over)
            for text in self.headings[-1]:
                self.numbers.setdefault(heading_key(text), number)

    def index(self, where: FieldRef) -> int | None:
        """Return the number, from 0, of the column of a field; None if there is none."""
        if isinstance(where.column, int):
            return where.column - 1
        return self.numbers.get(heading_key(where.column or ""))

    def _shown(self) -> list[str]:
        return [texts[0] if texts else "" for texts in self.headings]

    def _check(self, options: ObservationOptions) -> None:
        """Refuse a grid that lacks a declared column, naming it and the headings that are there."""
        widest = max((len(row.cells) for row in self.rows), default=0)
        for name, where in options.fields:
            if where.column is None:
                continue
            number = self.index(where)
            if number is None:
                raise layout_changed(f"{name}: no heading {where.column}", self._shown())
            if number >= max(widest, len(self.headings)):
                raise layout_changed(f"{name}: no column {where.column}", f"{widest} columns")

    def _columns(self, options: ObservationOptions) -> tuple[list[ValueRef], list[Heading]]:
        """Return the columns of figures, declared or under terms, and the headings of those not read."""
        taken = self._taken(options)
        columns = list(options.values)
        rest: list[Heading] = []
        for number, texts in enumerate(self.headings):
            if number in taken:
                continue
            found: str | UnreadableValue | None = None
            if options.term_columns:
                found = _term_among(texts, options, self.language)
            if isinstance(found, str):
                columns.append(ValueRef.model_construct(column=number + 1, term=found))
            elif texts and found:
                rest.append(Heading(number + 1, texts[0], found.reason, found.detail))
            elif texts:
                rest.append(Heading(number + 1, texts[0], None, "no field is declared to be there"))
        if not columns:
            raise layout_changed("term_columns: no heading is a term", self._shown())
        return columns, rest

    def _taken(self, options: ObservationOptions) -> set[int | None]:
        return {self.index(where) for _, where in options.fields if where.column is not None}

    def _of_dates(self, options: ObservationOptions) -> FieldRef | None:
        """Return the one column that no field is in and that has a date in most of its cells."""
        taken, found = self._taken(options), []
        for number in range(max((len(row.cells) for row in self.rows), default=0)):
            texts = [row.cells[number] for row in self.rows if number < len(row.cells)]
            dates = sum(day is not None for day in read_days(texts, options.date_order))
            if number not in taken and dates * 2 > len(self.rows):
                found.append(number)
        return FieldRef(column=found[0] + 1) if len(found) == 1 else None

    def parsed(
        self, options: ObservationOptions, today: date | None, notes: tuple[str, ...], unread: str
    ) -> ParsedDocument:
        """Return the figures of the grid's rows; `unread` says which were not read, if there are any.

        Raises:
            BadDocument: if there is none, or a declared column is missing, or the latest may not be read.
        """
        if unread and options.date:
            raise BadDocument(DocumentCause.TOO_LARGE, f"{unread}, and the latest may be among them")
        self._check(options)
        columns, rest = self._columns(options)
        wrong = [Dropped(0, h.reason, f"column {h.column}: {h.detail}", h.heading) for h in rest if h.reason]
        return observe(
            ParsedDocument([], wrong, tuple(rest), [*notes, unread] if unread else [*notes]),
            [_Record(row, self, self._trouble(row)) for row in self.rows],
            options,
            columns,
            language=self.language,
            over=self.over,
            dates=options.date or self._of_dates(options),
            today=today,
        )

    def _trouble(self, row: GridRow) -> UnreadableValue | None:
        """Return why the cells of a row are not those of a record, if they are not."""
        cells, width = row.cells, len(self.headings)
        if row.wrong:
            return UnreadableValue(Reason.WRONG_NUMBER_OF_CELLS, row.wrong)
        if len(cells) > 1 and cells[0] and len(set(cells)) == 1:
            return UnreadableValue(Reason.SECTION_HEADING, "one text across all columns is no record")
        if width and len(cells) > width and any(cells[width:]):
            # One cell too many moves all behind it: what stands under a heading is another thing.
            problem = f"{len(cells)} cells under {width} headings"
            return UnreadableValue(Reason.WRONG_NUMBER_OF_CELLS, problem)
        return None

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
