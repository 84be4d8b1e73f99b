"""From the records of a document to its figures: what all kinds of documents share."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Final, Protocol

from sourcebook.errors import shorten
from sourcebook.observations.adapters.document import BadDocument, DocumentCause
from sourcebook.observations.days import read_days
from sourcebook.observations.headings import RateHeading, rate_heading, term_units
from sourcebook.observations.model import Dropped, Observed, ParsedDocument, clean_name
from sourcebook.observations.options import FieldRef, ObservationOptions, SeriesDeclaration, ValueRef
from sourcebook.observations.plain import STRUCK
from sourcebook.observations.terms import NO_TERM, TermUnit, parse_term
from sourcebook.observations.values import (
    PLAUSIBLE,
    USUAL,
    Rate,
    Reason,
    UnreadableValue,
    Warn,
    parse_rate,
)

_FRACTIONS_BELOW: Final = Decimal("0.2")
_FRACTIONS_AT_LEAST: Final = 3
_MOST_FIGURES: Final = 25_000
_BANK_LIMIT: Final = 120
_LONGEST_NAME: Final = 1_000
_MARKS: Final = " \t\r\n\u00a0*†‡§¹²³⁰⁴⁵⁶⁷⁸⁹⁽⁾:™®©\u0336▲▼△▽↑↓⇅↕⬍"
_MARK_WITHIN = re.compile("[*†‡§¹²³⁰⁴-⁹]+")
_NOTE = re.compile(r"(?<=\S)[ \u00a0]?(?:\[(?:\d{1,2}|[a-zA-Z*])\]|\((?:\d{1,2}|[a-z*])\))$")


@dataclass(frozen=True, slots=True)
class Cell:
    """The content of one place.

    Attributes:
        text: as it is written.
        is_number: whether the document itself says that it is a number, so that ``.`` is its decimal mark.
    """

    text: str
    is_number: bool = False


class SourceRecord(Protocol):
    """One row, card or object of a document."""

    @property
    def position(self) -> int:
        """Its place in the document, from 1."""

    def cell(self, where: FieldRef) -> Cell | None:
        """Return what stands in a place, None if this record has no such place.

        Raise UnreadableValue if the record as a whole cannot be trusted.
        """


_BARE_UNITS: Final[dict[str, TermUnit]] = {"D": "days", "W": "weeks", "M": "months", "Y": "years"}

Over = Callable[[FieldRef], str]
"""Returns the heading over a field, or its name; "" where it has none."""


def observe(
    parsed: ParsedDocument,
    records: Sequence[SourceRecord],
    options: ObservationOptions,
    columns: Sequence[ValueRef],
    *,
    language: str | None,
    over: Over,
    dates: FieldRef | None,
    today: date | None,
) -> ParsedDocument:
    """Add the figures of a document's records; of one bank, series and term that of the latest day.

    Args:
        parsed: what is known of the document so far; it is returned.
        records: what is read, in the order of the document.
        options: of the source.
        columns: where each record has figures.
        language: primary language of the document, if it is known.
        over: finds what stands over a field.
        dates: where a record has its date, if it has one.
        today: what is declared to be of a later day is left out.

    Raises:
        BadDocument: if there is none, or what is there is no rates for the most part.
    """
    reader = _FigureReader(options, columns, over, language)
    dated = _newest_first(records, options, dates, today, parsed.dropped)
    # Each figure is kept, taken or not: so many are the most that one document may cost.
    most = max(1, _MOST_FIGURES // max(len(columns), 1))
    if len(dated) > most:
        parsed.notes.append(f"{len(dated) - most} records after the first {most} were not read")
    seen: dict[tuple[str, str, str], date | None] = {}
    earlier = 0
    for record, day in dated[:most]:
        for found in reader.figures(record):
            if isinstance(found, Dropped):
                parsed.dropped.append(found)
            elif found.key not in seen:
                seen[found.key] = day
                parsed.rows.append(found)
            elif seen[found.key] != day:
                earlier += 1
            else:
                problem = (
                    f"{found.bank}, {found.series} and its term stand in the document before; that counts"
                )
                parsed.dropped.append(Dropped(found.position, Reason.REPEATED, problem, found.rate.raw))
    parsed.rows.sort(key=lambda row: row.position)
    _check(parsed)
    if earlier:
        parsed.notes.append(f"{earlier} figures of earlier days were passed over")
    if _may_be_fractions(parsed, options, reader.headings):
        parsed.notes.append(
            f"every figure is below {_FRACTIONS_BELOW} %: if they are fractions, say `unit: fraction`"
        )
    return parsed


def _newest_first(
    records: Sequence[SourceRecord],
    options: ObservationOptions,
    dates: FieldRef | None,
    today: date | None,
    dropped: list[Dropped],
) -> list[tuple[SourceRecord, date | None]]:
    """Return the records with their days, the latest first; what has none, or is yet to come, last.

    Where the date is declared, these are dropped.
    """
    if dates is None:
        return [(record, None) for record in records]
    texts = [_written(record, dates) for record in records]
    kept: list[tuple[SourceRecord, date | None]] = []
    for record, text, day in zip(records, texts, read_days(texts, options.date_order), strict=True):
        to_come = day is not None and today is not None and day > today
        if options.date is None or (day is not None and not to_come):
            kept.append((record, day))
        elif to_come:
            dropped.append(Dropped(record.position, Reason.NOT_YET, f"{day} is yet to come", text))
        else:
            problem = f"{shorten(text)} is no date such as 2026-11-28, or may be two: set date_order"
            dropped.append(Dropped(record.position, Reason.NO_DATE, problem, text))

    def order(dated: tuple[SourceRecord, date | None]) -> tuple[bool, date]:
        day = dated[1] or date.min
        return today is None or day <= today, day

    return sorted(kept, key=order, reverse=True)


def _written(record: SourceRecord, where: FieldRef) -> str:
    """Return what stands in a place, shortened; nothing if the record cannot be trusted."""
    try:
        return " ".join(_text(record, where)[:1_000].split())[:100]
    except UnreadableValue:
        return ""


def _may_be_fractions(
    parsed: ParsedDocument, options: ObservationOptions, headings: Sequence[RateHeading]
) -> bool:
    """Return whether figures that nothing calls per cent are as small as 0.045 for 4.5 %."""
    rates = [row.rate.value for row in parsed.rows]
    return (
        options.unit is None
        and not any(heading.unit for heading in headings)
        and len(rates) >= _FRACTIONS_AT_LEAST
        and all(0 < rate < _FRACTIONS_BELOW for rate in rates)
        and not any(set(row.rate.raw) & set("%‰‱٪") for row in parsed.rows)
    )


class _FigureReader:
    """Reads the figures of the records of one document."""

    def __init__(
        self, options: ObservationOptions, columns: Sequence[ValueRef], over: Over, language: str | None
    ) -> None:
        self.options = options
        self.columns = columns
        self.language = language
        self.headings = [rate_heading(over(column), language) for column in columns]
        self.bare_term: TermUnit | None = options.bare_term
        if self.bare_term is None:
            found = term_units(over(options.term), language) if options.term else frozenset()
            self.bare_term = "months" if not found else _BARE_UNITS[min(found)] if len(found) == 1 else None

    def figures(self, record: SourceRecord) -> Iterator[Observed | Dropped]:
        """Yield each figure of a record, or why there is none."""
        try:
            bank, series = self._bank(record), self._series(record)
        except UnreadableValue as error:
            yield Dropped(record.position, error.reason, error.detail)
            return
        for column, heading in zip(self.columns, self.headings, strict=True):
            try:
                yield self._figure(record, bank, series, column, heading)
            except UnreadableValue as error:
                raw = _written(record, column)
                yield Dropped(record.position, error.reason, error.detail, raw)

    def _figure(
        self,
        record: SourceRecord,
        bank: str,
        series: SeriesDeclaration | None,
        column: ValueRef,
        heading: RateHeading,
    ) -> Observed:
        cell = record.cell(column)
        if cell is None:
            raise UnreadableValue(Reason.NO_VALUE, "the record has no figure there")
        chosen = self.options.declared(column.series) if column.series else series
        if chosen is None:
            raise UnreadableValue(Reason.NO_SERIES, "the record does not say its series")
        term = self._term(record, column, chosen)
        rate = self._rate(record, column, cell, heading)
        return Observed(column.bank or bank, chosen.code, term, rate, record.position)

    def _rate(self, record: SourceRecord, column: ValueRef, cell: Cell, heading: RateHeading) -> Rate:
        options = self.options
        text, upper = cell.text, column.to and record.cell(column.to)
        if upper and upper.text.strip() and upper.text != text:
            text = f"{text} - {upper.text}"
        rate = parse_rate(
            text,
            unit=options.unit,
            decimal_mark="point" if cell.is_number else options.decimal_mark,
            language=self.language,
            heading=heading,
        )
        low, high = options.limits_pct or PLAUSIBLE
        ends = [end for end in (rate.low, rate.high) if end is not None]
        if not all(low <= end <= high for end in ends):
            raise UnreadableValue(Reason.VALUE_OUT_OF_RANGE, f"{rate.value} % is outside of {low} to {high}")
        if options.limits_pct is None and not all(USUAL[0] <= end <= USUAL[1] for end in ends):
            return replace(rate, warnings=(*rate.warnings, Warn.UNUSUAL.value))
        return rate

    def _bank(self, record: SourceRecord) -> str:
        """Return the bank of a record; "" if only its columns know."""
        where = self.options.bank
        if where is None:
            return ""
        text = _text(record, where)
        name = unmarked(text)
        name = where.map.get(name, name)
        if not any(char.isalnum() for char in name):
            raise UnreadableValue(Reason.NO_BANK, "the record names no bank")
        if max(len(name), len(text) // 4) > _BANK_LIMIT:
            raise UnreadableValue(Reason.NO_BANK, "is too long for a bank's name", name)
        return name

    def _series(self, record: SourceRecord) -> SeriesDeclaration | None:
        """Return the series of a record; None if only its columns know."""
        options, where = self.options, self.options.series_field
        if where is None:
            return options.series[0] if len(options.series) == 1 or not options.values else None
        text = unmarked(_text(record, where)[: 4 * _BANK_LIMIT])
        wanted = heading_key(where.map.get(text, text))
        if not wanted:
            raise UnreadableValue(Reason.NO_SERIES, "the record names no series")
        for series in options.series:
            if wanted in {series.code, heading_key(series.name)}:
                return series
        known = ", ".join(series.code for series in options.series)
        raise UnreadableValue(Reason.UNKNOWN_SERIES, f"is none of the declared series {known}", text)

    def _term(self, record: SourceRecord, column: ValueRef, series: SeriesDeclaration) -> str:
        if series.kind == "loan":
            if column.term is not None:
                raise UnreadableValue(
                    Reason.TERM_OF_A_LOAN, f"{series.code} is a loan and has no term_months"
                )
            return NO_TERM
        if column.term is not None:
            return column.term
        where = self.options.term
        if where is None:
            raise UnreadableValue(Reason.NO_TERM, "neither the record nor the declaration says the term")
        text = _text(record, where)
        mapped = where.map.get(unmarked(text), text)
        return parse_term(mapped, bare=self.bare_term, language=self.language).code


def _text(record: SourceRecord, where: FieldRef) -> str:
    cell = record.cell(where)
    return "" if cell is None else cell.text


def unmarked(text: str) -> str:
    """Return a name or heading without the footnote marks behind it and without invisible characters."""
    plain = unicodedata.normalize("NFC", text[:_LONGEST_NAME].replace(STRUCK, ""))
    plain = "".join(c for c in plain if unicodedata.category(c) != "Cf").rstrip(_MARKS)
    while (shorter := _NOTE.sub("", plain).rstrip(_MARKS)) != plain:
        plain = shorter
    return clean_name(plain)


def heading_key(text: str) -> str:
    """Return what two headings that mean the same have in common."""
    return clean_name(_MARK_WITHIN.sub("", unmarked(text))).casefold()


def _check(parsed: ParsedDocument) -> None:
    odd = [d.raw for d in parsed.dropped if d.reason == Reason.VALUE_OUT_OF_RANGE]
    odd += [row.rate.raw for row in parsed.rows if Warn.IMPLAUSIBLE.value in row.rate.warnings]
    count = sum(d.reason == Reason.VALUE_OUT_OF_RANGE for d in parsed.dropped) + len(parsed.rows)
    if len(odd) > 1 and len(odd) * 2 > count:
        raise BadDocument(
            DocumentCause.IMPLAUSIBLE_VALUES,
            f"{len(odd)} of {count} figures can be no rates, such as {shorten(odd[0])}: another column "
            "stands where the rates stood, or unit or decimal_mark is wrong",
        )
    if not parsed.rows:
        reasons = Counter(dropped.reason for dropped in parsed.dropped).most_common(3)
        counts = ", ".join(f"{count} × {reason}" for reason, count in reasons) or "no records"
        first = f"; the first: {parsed.dropped[0].detail}" if parsed.dropped else ""
        raise BadDocument(
            DocumentCause.NO_ROWS,
            f"nothing could be taken ({counts}{first}). Look at the page and mend the source's declaration",
        )
