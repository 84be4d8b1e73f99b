"""The options of a source of observations: where its page has the bank, the series, the term and the figure.

A new source is a declaration of this form and no code; docs/observations.md shows one of each kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Final, Literal, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from sourcebook.errors import InvalidInput
from sourcebook.observations.days import DateOrder
from sourcebook.observations.kinds import CSV, HTML_TABLE, JSON_API, KINDS
from sourcebook.observations.terms import TermUnit, parse_term
from sourcebook.observations.values import DecimalMark, Unit, UnreadableValue
from sourcebook.records.source import Source
from sourcebook.sources.model import SourceSpec
from sourcebook.validation import first_wrong

SeriesKind = Literal["deposit", "loan"]

FOLLOWING: Final = "~"
"""Begins a selector that looks in what follows the row, up to the next one."""

BEFORE: Final = "^"
"""Begins a selector that takes the last that stands before the row, where the row has none."""


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError("a time zone of the IANA database such as Asia/Ho_Chi_Minh") from error
    return name


def _term(text: str) -> str:
    try:
        return parse_term(text).code
    except UnreadableValue as error:
        raise ValueError(f"a term such as 6M, 1Y or 2W ({error.detail})") from error


def _text_key(value: object) -> object:
    """YAML reads ``6: 6M`` as a number; on the page it is text."""
    if isinstance(value, Mapping):
        return {str(key): member for key, member in value.items()}
    return value


Code = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,62}$")]
"""Lower-case letters, digits and underscores, at most 63."""

Name = Annotated[str, Field(min_length=1, max_length=120)]
TermText = Annotated[
    str, BeforeValidator(lambda v: str(v) if isinstance(v, int) else v), AfterValidator(_term)
]
ColumnRef = Annotated[str, Field(min_length=1, max_length=300)] | Annotated[int, Field(ge=1, le=500)]
Mapped = Annotated[Mapping[str, Name], BeforeValidator(_text_key)]


class _Options(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)


class FieldRef(_Options):
    """The place of one field in a record. One of `column`, `selector` and `const` is given.

    Attributes:
        column: html_table and csv: the heading of a column, or its number from 1. json_api: a JMESPath
            expression on the record.
        selector: html_table: a CSS selector within the row, for pages that are no tables; with `FOLLOWING` or
            `BEFORE` before it also outside.
        attribute: html_table: of the selected element, instead of its text.
        const: the same for every record.
        map: what the page writes, and what it is called here; anything else stays as it is.
    """

    column: ColumnRef | None = None
    selector: str | None = Field(default=None, min_length=1, max_length=300)
    attribute: str | None = Field(default=None, min_length=1, max_length=100)
    const: str | None = Field(default=None, min_length=1, max_length=200)
    map: Mapped = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, value: object) -> object:
        """Take ``bank: "Ngân hàng"`` for ``bank: {column: "Ngân hàng"}``."""
        return {"column": value} if isinstance(value, str | int) and not isinstance(value, bool) else value

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        given = [name for name in ("column", "selector", "const") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError("exactly one of column, selector and const")
        if self.attribute and self.selector is None:
            raise ValueError("an attribute only beside a selector")
        return self

    @property
    def css(self) -> str:
        """Return the selector without what may begin it."""
        return (self.selector or "").lstrip(f"{FOLLOWING}{BEFORE} ")


class ValueRef(FieldRef):
    """The place of a figure in a record.

    Attributes:
        to: the place of the upper end, where the record has a range in two places.
        bank: name of the bank, where each has a column of its own.
        series: code of the series it belongs to, when the record does not say.
        term: code of its term, when the record does not say.
    """

    to: FieldRef | None = None
    bank: Name | None = None
    series: Code | None = None
    term: TermText | None = None


class SeriesDeclaration(_Options):
    """A series that a source brings figures of."""

    code: Code
    kind: SeriesKind = "deposit"
    name: str = Field(default="", max_length=120)


class ObservationOptions(_Options):
    """Options of every kind of observation source.

    Attributes:
        timezone: of the source; its local date is the day of an observation.
        max_age_days: after so many days without a figure the source steps back behind fresher ones.
        series: the series it brings; the first is that of every record that does not say.
        bank: where a record names the bank; left out if each of `values` says it.
        series_field: where a record names its series: by code, name, or through the field's `map`.
        term: where a record names its term.
        date: where a record names the day from which it holds. Of one bank, series and term the latest day
            counts that is not to come.
        date_order: what stands first in ``01/02/2026``, if no date of the column shows it.
        values: the figures of a record; in a wide table there are several.
        term_columns: html_table and csv: every column whose heading is a term is a figure of that term.
        unit: of numbers without a sign; without it what the heading says, else percent.
        decimal_mark: what stands before the decimals.
        bare_term: unit of a term that is a number only; without it what the heading says, else months.
        limits_pct: figures outside of these are dropped; `sourcebook.observations.values.PLAUSIBLE` without.
        language: primary language of the document (``vi``), for words that mean different units in different
            languages; the page's own where it says so.
        encoding: of the document, when the server does not say, or says wrong.
        warn_fewer_rows_pct: share of rows missing since the last scrape from which it is an anomaly.
    """

    timezone: Annotated[str, AfterValidator(_zone)] = "UTC"
    max_age_days: int | None = Field(default=None, ge=1, le=3660)
    series: tuple[SeriesDeclaration, ...] = Field(min_length=1, max_length=50)
    bank: FieldRef | None = None
    series_field: FieldRef | None = None
    term: FieldRef | None = None
    date: FieldRef | None = None
    date_order: DateOrder | None = None
    values: tuple[ValueRef, ...] = Field(default=(), max_length=100)
    term_columns: bool = False
    unit: Unit | None = None
    decimal_mark: DecimalMark = "auto"
    bare_term: TermUnit | None = None
    limits_pct: tuple[Decimal, Decimal] | None = None
    language: Annotated[str, Field(pattern=r"^[a-z]{2,3}$")] | None = None
    encoding: str | None = Field(default=None, pattern=r"^[A-Za-z0-9_.:-]{1,40}$")
    warn_fewer_rows_pct: int = Field(default=30, ge=1, le=100)

    @model_validator(mode="before")
    @classmethod
    def _short_forms(cls, value: object) -> object:
        """Take `value` for one of `values`, and one series for a list of one."""
        if not isinstance(value, Mapping):
            return value
        options = dict(value)
        if "value" in options:
            if "values" in options:
                raise ValueError("value or values, not both")
            options["values"] = [options.pop("value")]
        if isinstance(options.get("series"), str):
            options["series"] = [{"code": options["series"]}]
        elif isinstance(options.get("series"), Mapping):
            options["series"] = [options["series"]]
        return options

    @model_validator(mode="after")
    def _complete(self) -> Self:
        codes = [series.code for series in self.series]
        if len(set(codes)) != len(codes):
            raise ValueError("series: each code once")
        if not self.values and not self.term_columns:
            raise ValueError("value (or values, or term_columns: true): where the figures are")
        if self.values and self.term_columns:
            raise ValueError("values or term_columns, not both")
        if self.bank is None and (self.term_columns or not all(value.bank for value in self.values)):
            raise ValueError("bank: where a record names the bank, or a bank beside each of values")
        if unknown := [v.series for v in self.values if v.series is not None and v.series not in codes]:
            raise ValueError(f"values: series {unknown[0]} is not among the declared {', '.join(codes)}")
        kinds = {series.kind for series in self.series}
        declared = self.term is not None or self.term_columns
        if kinds == {"loan"} and (declared or any(v.term for v in self.values)):
            raise ValueError("a loan has no term_months: leave out term and term_columns")
        if "loan" not in kinds and not declared and not all(v.term for v in self.values):
            raise ValueError("term: where a deposit's record has its term, or a term beside each of values")
        return self

    @property
    def fields(self) -> list[tuple[str, FieldRef]]:
        """Return the places of fields that are declared, each with the name of its option."""
        found = [
            ("bank", self.bank),
            ("series_field", self.series_field),
            ("term", self.term),
            ("date", self.date),
        ]
        found += [("value", value) for value in self.values] + [("to", value.to) for value in self.values]
        return [(name, where) for name, where in found if where is not None]

    @property
    def zone(self) -> ZoneInfo:
        """Return the time zone."""
        return ZoneInfo(self.timezone)

    def declared(self, code: str) -> SeriesDeclaration | None:
        """Return the declared series of a code."""
        return next((series for series in self.series if series.code == code), None)


class HtmlTableOptions(ObservationOptions):
    """Options of kind `html_table`.

    Attributes:
        table: CSS selector of the table, or of the element that holds the rows.
        rows: CSS selector of the rows within it.
        header_rows: rows of headings at the beginning of a table; 0 for none.
    """

    table: str = Field(default="table", min_length=1, max_length=300)
    rows: str = Field(default="tr", min_length=1, max_length=300)
    header_rows: int = Field(default=1, ge=0, le=5)

    @model_validator(mode="after")
    def _selectors(self) -> Self:
        _check_selectors(self.table, self.rows, *(where.css for _, where in self.fields if where.selector))
        return self


def _check_selectors(*selectors: str) -> None:
    from selectolax.lexbor import LexborHTMLParser, SelectolaxError  # noqa: PLC0415 - only for some kinds

    empty = LexborHTMLParser("<p></p>")
    for selector in selectors:
        try:
            empty.css(selector)
        except (SelectolaxError, ValueError) as error:
            raise ValueError(f"{selector} is no CSS selector") from error


def climbing(column: str) -> tuple[str, int]:
    """Return the JMESPath expression of a field of `json_api`, and how many records up it is applied."""
    path = column.lstrip("^")
    ups = len(column) - len(path)
    return (path.removeprefix(".") or "@") if ups else column, ups


class JsonApiOptions(ObservationOptions):
    """Options of kind `json_api`.

    Attributes:
        records: JMESPath expression of the list of records, or a list of such steps: each is applied to the
            records of the one before. In a field ``^`` is the record that a record came from.
        script: CSS selector of the element that holds the JSON, where the document is a web page.
    """

    records: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=500)], ...],
        Field(min_length=1, max_length=5),
        BeforeValidator(lambda steps: [steps] if isinstance(steps, str) else steps),
    ] = ("@",)
    script: str | None = Field(default=None, min_length=1, max_length=300)
    term_columns: Literal[False] = False

    @model_validator(mode="after")
    def _paths(self) -> Self:
        import jmespath  # noqa: PLC0415 - only for this kind
        from jmespath.exceptions import JMESPathError  # noqa: PLC0415

        if self.script:
            _check_selectors(self.script)
        if any(where.selector for _, where in self.fields):
            raise ValueError("a selector is for html_table; give a JMESPath expression as column")
        columns = [str(where.column) for _, where in self.fields if where.column is not None]
        for column in columns:
            if climbing(column)[1] > len(self.records):
                raise ValueError(
                    f"{column} climbs higher than the document: records has {len(self.records)} steps"
                )
        for path in (*self.records, *(climbing(column)[0] for column in columns)):
            try:
                jmespath.compile(path)
            except JMESPathError as error:
                raise ValueError(f"{path} is no JMESPath expression") from error
        return self


class CsvOptions(ObservationOptions):
    """Options of kind `csv`.

    Attributes:
        delimiter: between the cells; found out when it is not given.
        quote: around cells that hold a delimiter.
        header: whether the first row has headings.
        skip_rows: rows to pass over before the headings.
    """

    delimiter: Literal[",", ";", "|", "tab"] | None = None
    quote: str = Field(default='"', min_length=1, max_length=1)
    header: bool = True
    skip_rows: int = Field(default=0, ge=0, le=100)

    @model_validator(mode="after")
    def _columns(self) -> Self:
        if any(where.selector for _, where in self.fields):
            raise ValueError("a selector is for html_table; give the heading or the number of a column")
        named = any(isinstance(where.column, str) for _, where in self.fields)
        if not self.header and (self.term_columns or named):
            raise ValueError("without a header, columns are given by number")
        return self


_MODELS: Final[Mapping[str, type[ObservationOptions]]] = {
    HTML_TABLE: HtmlTableOptions,
    JSON_API: JsonApiOptions,
    CSV: CsvOptions,
}


def read_observation_options(spec: SourceSpec | Source) -> ObservationOptions:
    """Check the options of a source of observations.

    Raises:
        InvalidInput: naming the kind if it is none of `KINDS`, otherwise the first option that is wrong.
    """
    model = _MODELS.get(spec.kind)
    if model is None:
        raise InvalidInput("kind", spec.kind, f"one of {', '.join(KINDS)}")
    try:
        return model.model_validate(dict(spec.options))
    except ValidationError as error:
        raise first_wrong(error, "options", within=("options",)) from error
