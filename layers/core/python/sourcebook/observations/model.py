"""An observation: what one source says of one bank, series and term on one day."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal

from sourcebook.observations.terms import months_of
from sourcebook.observations.values import Rate, Reason
from sourcebook.records.base import View


@dataclass(frozen=True, slots=True)
class Observed:
    """One figure as a page has it.

    Attributes:
        bank: its name, spaces collapsed.
        series: code of the series.
        term: code of the term, see `sourcebook.observations.terms.Term`.
        position: of the record in the document, from 1.
    """

    bank: str
    series: str
    term: str
    rate: Rate
    position: int = 0

    @property
    def key(self) -> tuple[str, str, str]:
        """Return what it is a figure of: bank, series and term."""
        return self.bank, self.series, self.term

    def shown(self) -> View:
        """Return it as `sourcebook observations parse` shows it."""
        return {
            "bank": self.bank,
            "series": self.series,
            "term_months": months_of(self.term),
            "rate_min_pct": number(self.rate.low),
            "rate_max_pct": number(self.rate.high),
            "rate_pct": number(self.rate.value),
            "raw_value": self.rate.raw,
            "parse_warnings": list(self.rate.warnings),
        }


@dataclass(frozen=True, slots=True)
class Dropped:
    """A figure or a record that could not be taken, as `sourcebook observations parse` shows it.

    Attributes:
        row: position of the record in the document, from 1.
        detail: the reason in words.
        raw: what stood there, shortened.
    """

    row: int
    reason: Reason
    detail: str
    raw: str = ""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading whose column is not read, as `sourcebook observations parse` shows it.

    Attributes:
        column: its number, from 1.
        reason: why, where every column was to be read.
        detail: the same in words.
    """

    column: int
    heading: str
    reason: Reason | None
    detail: str


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """The yield of a document.

    Attributes:
        rows: the figures.
        dropped: what could not be taken; a column that could not is in row 0.
        headings_not_taken: the headings whose columns are not read.
        notes: what was odd about the document as a whole, in words.
    """

    rows: list[Observed] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    headings_not_taken: tuple[Heading, ...] = ()
    notes: list[str] = field(default_factory=list)

    def reasons(self) -> dict[str, int]:
        """Return how many were dropped, by reason."""
        return dict(sorted(Counter(d.reason.value for d in self.dropped).items()))


def number(value: Decimal | None) -> int | float | None:
    """Return a figure as JSON has it."""
    if value is None:
        return None
    return int(value) if value == value.to_integral_value() else float(value)


def clean_name(text: str) -> str:
    """Return a bank's name as it is kept: spaces collapsed."""
    return " ".join(text.split())
