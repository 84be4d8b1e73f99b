"""The parameters of a query: what their models are made of."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from typing import Annotated, ClassVar, Final, Self

from pydantic import Field

from sourcebook.api.requests import PAGE_DEFAULT, PAGE_LIMIT, Request
from sourcebook.clock import parse_iso
from sourcebook.errors import InvalidInput
from sourcebook.inputs import Input, ReadBy, expected, word_of

DAY_EXPECTED: Final = "a day such as 2026-01-06"
MOMENT_EXPECTED: Final = (
    "an ISO 8601 time with its zone such as 2026-11-27T21:56:00Z, or a date such as 2026-11-27"
)
_SPACE_FOR_PLUS: Final = re.compile(r"(T[0-9:.,]+) (\d\d(?::?\d\d)?)", re.ASCII)
_DIGITS: Final = re.compile(r"[0-9]{1,9}", re.ASCII)
_ISO_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_EARLIEST: Final = datetime(2, 1, 1, tzinfo=UTC)
_LATEST: Final = datetime(9999, 12, 31, tzinfo=UTC)


class Parameters(Input):
    """The parameters of an operation's query."""

    NOUN: ClassVar[str] = "parameters"

    @classmethod
    def of(cls, request: Request) -> Self:
        """Return the parameters of a request.

        Raises:
            InvalidInput: naming the first parameter that is wrong.
        """
        return cls.read(request.query)


def one_of(values: Sequence[str]) -> ReadBy:
    """Return the metadata of a parameter that is one of these words, in any case."""
    return word_of(tuple(values), any_case=True)


def several(values: Sequence[str] = (), *, longest: int = 400) -> ReadBy:
    """Return the metadata of one or more values with commas between them, any of which will do.

    Args:
        values: those that there are, in any case; anything where there is none.
        longest: how many characters all of them may have.
    """
    known = {value.casefold(): value for value in values}
    right = f"one or more of {', '.join(values)}" if known else "one value, or more"

    def read(text: str) -> tuple[str, ...]:
        if not 1 <= len(text) <= longest:
            raise InvalidInput("", text, f"1 to {longest} characters")
        parts = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
        if not all(parts) or (known and any(part.casefold() not in known for part in parts)):
            raise ValueError("a value that is not known")
        return tuple(known.get(part.casefold(), part) for part in parts)

    word = rf"\s*(?:{'|'.join(values)})\s*"
    form = {"pattern": f"^{word}(?:,{word})*$"} if values else {"format": "values"}
    described = {"type": "string", "minLength": 1, "maxLength": longest, **form}
    return ReadBy(read, described, f"{right} with commas between them")


def read_moment(text: str) -> datetime:
    """Return the moment of an ISO 8601 time with its zone, or the first one of a date in UTC.

    Raises:
        ValueError: if it is neither.
    """
    try:
        if _ISO_DATE.fullmatch(text):
            moment = datetime.combine(date.fromisoformat(text), time.min, tzinfo=UTC)
        else:
            # A plus sign that the client did not encode arrives as a space.
            moment = parse_iso(_SPACE_FOR_PLUS.sub(r"\1+\2", text))
    except OverflowError as error:
        raise ValueError("no moment") from error
    # Nothing is stored from beyond these, and a second more or less cannot overflow within them.
    return min(max(moment, _EARLIEST), _LATEST)


def _read_day(text: str) -> date:
    if not _ISO_DATE.fullmatch(text):
        raise ValueError("no day")
    return date.fromisoformat(text)


def _read_degrees(text: str) -> float:
    # An unencoded plus sign arrives as a space.
    value = float(text.strip())
    if not math.isfinite(value):
        raise ValueError("no angle")
    return value


def degrees(least: float, most: float) -> ReadBy:
    """Return the metadata of an angle in decimal degrees; `Position` refuses what is out of bounds."""
    described = {"type": "number", "minimum": least, "maximum": most}
    return ReadBy(_read_degrees, described, "decimal degrees such as 267.7254")


def number(least: int, most: int) -> ReadBy:
    """Return the metadata of a whole number of decimal digits within bounds."""

    def read(text: str) -> int:
        if not _DIGITS.fullmatch(text) or not least <= int(text) <= most:
            raise ValueError("no such number")
        return int(text)

    described = {"type": "integer", "minimum": least, "maximum": most}
    return ReadBy(read, described, f"a whole number from {least} to {most}")


Text = Annotated[str, Field(min_length=1, max_length=200)]
"""Free text."""
YesOrNo = Annotated[str, one_of(("true", "false"))]
Day = Annotated[date, ReadBy(_read_day, {"type": "string", "format": "date"}, DAY_EXPECTED)]
Moment = Annotated[
    datetime,
    ReadBy(
        read_moment,
        {"type": "string", "anyOf": [{"format": "date-time"}, {"format": "date"}]},
        MOMENT_EXPECTED,
    ),
]
Cursor = Annotated[
    str,
    Field(min_length=1, max_length=4_096, json_schema_extra={"format": "cursor"}),
    expected("the next_cursor of an answer to the same question, or none for the first page"),
]


class PageParameters(Parameters):
    """The parameters of a list that is given in pages."""

    limit: Annotated[int, number(1, PAGE_LIMIT)] = Field(
        PAGE_DEFAULT,
        description="How many items a page has at most. A page may be shorter and still have a cursor.",
    )
    cursor: Cursor | None = Field(
        None,
        description="`next_cursor` of the page before, with the same filters. Opaque; it does not expire.",
    )
