"""What is asked of the API and how its answers are judged; nothing here sends anything."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final, Generic, TypeAlias, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel, JsonValue, ValidationError

from sourcebook.client.errors import (
    Busy,
    Conflict,
    Refused,
    SourcebookError,
    Unreachable,
    Unreadable,
    kind_of,
)

T = TypeVar("T", bound=BaseModel)
R = TypeVar("R")

When: TypeAlias = datetime | date | str
"""A time with its zone, a day, or the text of one in ISO 8601."""
Value: TypeAlias = When | int | float | bool | Sequence[str] | None
"""A parameter of a query; None is left out, and several words are joined with commas."""

LARGEST: Final = 32 * 1024 * 1024
"""Bytes of an answer; the API's own are at most 6 MB."""


@dataclass(frozen=True)
class Ask(Generic[T]):
    """One operation with its parameters.

    Attributes:
        operation: its name in the API's description.
        path: template of the path, as the description has it.
        model: of the record that is answered, or of each item of a list.
        given: what stands in the path, and the parameters of the query, by their names.
        body: what is sent: an object as JSON, a text as it is.
        also: statuses of errors that have the record all the same.
    """

    operation: str
    path: str
    model: type[T]
    given: Mapping[str, Value] = field(default_factory=dict)
    _: KW_ONLY
    method: str = "GET"
    body: Mapping[str, JsonValue] | str | None = None
    media_type: str = "application/json"
    also: tuple[int, ...] = ()

    @property
    def variables(self) -> list[str]:
        """The names of what stands in the path."""
        return re.findall(r"\{(\w+)\}", self.path)

    @property
    def address(self) -> str:
        """The path with what stands in it.

        Raises:
            ValueError: if a part is one that a path cannot have.
        """
        path = self.path
        for name in self.variables:
            value = str(self.given[name])
            if value in {"", ".", ".."}:
                raise ValueError(f"{name} cannot be {value!r}")
            # The key of an article may be a URL, whose slashes stay.
            path = path.replace(f"{{{name}}}", quote(value, safe="/:" if name == "key" else ""))
        return path

    def parameters(self, cursor: str | None = None) -> dict[str, str]:
        """Return the query as text."""
        query = {
            name: _text(name, value)
            for name, value in self.given.items()
            if value is not None and name not in self.variables
        }
        return query if cursor is None else {**query, "cursor": cursor}

    def content(self) -> bytes | None:
        """Return the body of the request; None if it has none."""
        if self.body is None:
            return None
        text = self.body if isinstance(self.body, str) else json.dumps(dict(self.body))
        return text.encode()


class One(Ask[T]):
    """An operation that answers one record."""


class Many(Ask[T]):
    """An operation that answers a list, page by page."""


def _text(name: str, value: Value) -> str:
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError(f"{name} needs a time zone: {value.isoformat()}")
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    return ",".join(value or ())


@dataclass(frozen=True)
class Retries:
    """How often and when something is sent again.

    What reads is sent again after trouble of the network, 429 and 5xx. What changes something is too: each
    carries an ``Idempotency-Key``, so that the API does it once. A wait that the API names is kept.

    Attributes:
        most: times that it is sent again; 0 never.
        first: seconds of the first wait at most; each further one may be twice as long.
        longest: seconds of a wait. If the API asks for a longer one, its error is raised.
        random: returns a number from 0 to 1, so that many clients do not come back at once.
    """

    most: int = 4
    first: float = 0.5
    longest: float = 30.0
    random: Callable[[], float] = random.random

    def wait(self, trouble: SourcebookError, attempt: int) -> float | None:
        """Return the seconds to wait after an attempt, counted from 1; None to give up."""
        again = isinstance(trouble, Busy | Unreachable) or (
            isinstance(trouble, Conflict) and trouble.retry_after is not None
        )
        if not again or attempt > self.most:
            return None
        asked = trouble.retry_after if isinstance(trouble, Refused) else None
        if asked is not None:
            return asked if asked <= self.longest else None
        return min(self.longest, self.first * 2.0 ** (attempt - 1)) * self.random()


def trouble_of(
    ask: Ask[Any], status: int, headers: httpx.Headers, content: bytes, now: datetime
) -> SourcebookError | None:
    """Return the error that an answer is; None if it is none."""
    fine = httpx.codes.is_success(status) or status in ask.also
    if fine and headers.get("content-type", "").startswith("application/json"):
        return None
    if not httpx.codes.is_error(status):
        kind = headers.get("content-type", "no content type")
        return Unreadable(f"an answer of status {status} and {kind}: is this the address of the API?")
    problem = _problem(content)
    return kind_of(status)(
        status,
        str(problem.get("detail") or problem.get("message") or httpx.codes.get_reason_phrase(status)),
        parameter=str(problem["parameter"]) if problem.get("parameter") else None,
        correlation_id=headers.get("x-correlation-id"),
        retry_after=_seconds(headers.get("retry-after"), now),
    )


def _problem(content: bytes) -> Mapping[str, object]:
    try:
        body = json.loads(content)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _seconds(text: str | None, now: datetime) -> float | None:
    """Return the seconds of a header ``Retry-After``, which may be a number or a date."""
    if text is None:
        return None
    if text.strip().isascii() and text.strip().isdigit():
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds())


def record_of(content: bytes, model: type[T]) -> T:
    """Return the record of an answer.

    Raises:
        Unreachable: if the answer was cut short.
        Unreadable: if it is not one.
    """
    return _read(content, model.model_validate, model.__name__)


def page_of(content: bytes, model: type[T]) -> tuple[list[T], str | None]:
    """Return the items of a page, and the cursor of the next one; None at the end.

    Raises:
        Unreachable: if the answer was cut short.
        Unreadable: if it is no page of these.
    """

    def read(page: dict[str, Any]) -> tuple[list[T], str | None]:
        return [model.model_validate(item) for item in page["items"]], page["next_cursor"]

    return _read(content, read, f"page of {model.__name__}")


def _read(content: bytes, read: Callable[[Any], R], what: str) -> R:
    try:
        return read(json.loads(content))
    except ValidationError as error:
        raise Unreadable(f"not a {what} as this version knows it: {error}") from error
    except (KeyError, TypeError) as error:
        raise Unreadable(f"not a {what}: {error!r}") from error
    except ValueError as error:
        raise Unreachable(f"the answer was cut short: {error}") from error
