"""Parameters of a query, each declared once: how its text is read, and how it is described."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Final, Generic, TypeVar

from sourcebook.api.requests import PAGE_DEFAULT, PAGE_LIMIT, Request
from sourcebook.errors import InvalidInput

T = TypeVar("T")

_DAY_EXPECTED: Final = "a day such as 2026-01-06"
_DEGREES_EXPECTED: Final = "decimal degrees such as 267.7254"


@dataclass(frozen=True, kw_only=True)
class Parameter(ABC, Generic[T]):
    """One parameter of a query.

    Attributes:
        name: as it stands in the query.
        description: one or two sentences for the reference.
        example: a value as it stands in the query.
        required: whether the operation needs it.
    """

    name: str
    description: str = ""
    example: str | None = None
    required: bool = False

    def of(self, request: Request) -> T | None:
        """Return the value that a request gives, or None if it gives none.

        Raises:
            InvalidInput: if it gives one that this parameter cannot have.
        """
        return self.read(request) if self.name in request.query else None

    def needed(self, request: Request) -> T:
        """Return the value that a request must give.

        Raises:
            InvalidInput: if it gives none, or one that this parameter cannot have.
        """
        value = self.of(request)
        if value is None:
            raise InvalidInput(self.name, None, f"{self.name}, which this operation needs")
        return value

    @abstractmethod
    def read(self, request: Request) -> T | None:
        """Read the text, which is there."""

    @abstractmethod
    def schema(self) -> dict[str, Any]:
        """Return what JSON Schema says of it."""


@dataclass(frozen=True, kw_only=True)
class Choice(Parameter[str]):
    """One of a few words."""

    values: tuple[str, ...]
    default: str | None = None

    def read(self, request: Request) -> str | None:
        """Read the word."""
        return request.choice(self.name, self.values)

    def schema(self) -> dict[str, Any]:
        """Return the words."""
        default = {} if self.default is None else {"default": self.default}
        return {"type": "string", "enum": list(self.values), **default}


@dataclass(frozen=True, kw_only=True)
class Several(Parameter[tuple[str, ...]]):
    """One or more values with commas between them, any of which will do.

    Attributes:
        values: those that there are, in any case; anything where there is none.
    """

    values: tuple[str, ...] = ()
    longest: int = 400

    def read(self, request: Request) -> tuple[str, ...]:
        """Read the values."""
        text = request.text(self.name, longest=self.longest) or ""
        parts = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
        known = {value.casefold(): value for value in self.values}
        if not all(parts) or (known and any(part.casefold() not in known for part in parts)):
            expected = f"one or more of {', '.join(self.values)}" if known else "one value, or more"
            raise InvalidInput(self.name, text, f"{expected} with commas between them")
        return tuple(known.get(part.casefold(), part) for part in parts)

    def schema(self) -> dict[str, Any]:
        """Return its form."""
        length = {"type": "string", "minLength": 1, "maxLength": self.longest}
        if not self.values:
            return {**length, "format": "values"}
        word = rf"\s*(?:{'|'.join(self.values)})\s*"
        return {**length, "pattern": f"^{word}(?:,{word})*$"}


@dataclass(frozen=True, kw_only=True)
class Text(Parameter[str]):
    """Free text, or text of a pattern.

    Attributes:
        pattern: of the whole text.
        expected: what the pattern means, in words.
    """

    longest: int = 200
    pattern: str | None = None
    expected: str = ""

    def read(self, request: Request) -> str | None:
        """Read the text."""
        text = request.text(self.name, longest=self.longest)
        if text is not None and self.pattern is not None and not re.fullmatch(self.pattern, text, re.ASCII):
            raise InvalidInput(self.name, text, self.expected)
        return text

    def schema(self) -> dict[str, Any]:
        """Return its length and pattern."""
        pattern = {} if self.pattern is None else {"pattern": f"^(?:{self.pattern})$"}
        return {"type": "string", "minLength": 1, "maxLength": self.longest, **pattern}


@dataclass(frozen=True, kw_only=True)
class Whole(Parameter[int]):
    """A whole number of decimal digits."""

    least: int
    most: int
    default: int | None = None

    def read(self, request: Request) -> int:
        """Read the number."""
        text = request.query[self.name]
        digits = len(str(self.most))
        if (
            not re.fullmatch(rf"[0-9]{{1,{digits}}}", text, re.ASCII)
            or not self.least <= int(text) <= self.most
        ):
            raise InvalidInput(self.name, text, f"a whole number from {self.least} to {self.most}")
        return int(text)

    def schema(self) -> dict[str, Any]:
        """Return its bounds."""
        default = {} if self.default is None else {"default": self.default}
        return {"type": "integer", "minimum": self.least, "maximum": self.most, **default}


@dataclass(frozen=True, kw_only=True)
class Degrees(Parameter[float]):
    """An angle in decimal degrees."""

    least: float
    most: float

    def read(self, request: Request) -> float:
        """Read the number; whether it is within bounds, the sky says."""
        text = request.query[self.name]
        try:
            # An unencoded plus sign arrives as a space.
            value = float(text.strip())
        except ValueError as error:
            raise InvalidInput(self.name, text, _DEGREES_EXPECTED) from error
        if not math.isfinite(value):
            raise InvalidInput(self.name, text, _DEGREES_EXPECTED)
        return value

    def schema(self) -> dict[str, Any]:
        """Return its bounds."""
        return {"type": "number", "minimum": self.least, "maximum": self.most}


@dataclass(frozen=True, kw_only=True)
class Moment(Parameter[datetime]):
    """A time with its zone, or a date, which is its first moment in UTC."""

    def read(self, request: Request) -> datetime | None:
        """Read the time."""
        return request.moment(self.name)

    def schema(self) -> dict[str, Any]:
        """Return both forms."""
        return {"type": "string", "anyOf": [{"format": "date-time"}, {"format": "date"}]}


@dataclass(frozen=True, kw_only=True)
class Day(Parameter[date]):
    """A day of the calendar."""

    def read(self, request: Request) -> date:
        """Read the day."""
        text = request.query[self.name]
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text, re.ASCII):
            raise InvalidInput(self.name, text, _DAY_EXPECTED)
        try:
            return date.fromisoformat(text)
        except ValueError as error:
            raise InvalidInput(self.name, text, _DAY_EXPECTED) from error

    def schema(self) -> dict[str, Any]:
        """Return its form."""
        return {"type": "string", "format": "date"}


@dataclass(frozen=True, kw_only=True)
class Cursor(Parameter[str]):
    """Where the page before ended; what it means, the list knows."""

    name: str = field(default="cursor")
    description: str = field(
        default="`next_cursor` of the page before, with the same filters. Opaque; it does not expire."
    )

    def read(self, request: Request) -> str:
        """Return it as it is."""
        return request.query[self.name]

    def schema(self) -> dict[str, Any]:
        """Return its form."""
        return {"type": "string", "format": "cursor", "minLength": 1, "maxLength": 4_096}


LIMIT: Final = Whole(
    name="limit",
    description="How many items a page has at most. A page may be shorter and still have a cursor.",
    least=1,
    most=PAGE_LIMIT,
    default=PAGE_DEFAULT,
)
CURSOR: Final = Cursor()


def page_size(request: Request) -> int:
    """Return how many items a page may have."""
    return LIMIT.of(request) or PAGE_DEFAULT
