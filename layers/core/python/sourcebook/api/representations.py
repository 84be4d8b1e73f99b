"""The forms that a list can be had in: JSON, and for taking away CSV and NDJSON.

Which one is asked for by the header ``Accept``, or by a suffix of the path: ``/articles.csv``,
``/articles.ndjson``. Nothing here knows any list: its columns are those of the schema of its answer.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from sourcebook.api.responses import Response, as_json

if TYPE_CHECKING:
    from sourcebook.api.operations import Operation
    from sourcebook.api.requests import Request
    from sourcebook.csv_text import Cell


@dataclass(frozen=True, slots=True)
class _Kind:
    suffix: str
    content_type: str
    accepted: tuple[str, ...]


class Representation(Enum):
    """A form that a list can be had in."""

    JSON = _Kind("", "application/json", ("application/json",))
    CSV = _Kind(".csv", "text/csv; charset=utf-8; header=present", ("text/csv",))
    NDJSON = _Kind(
        ".ndjson", "application/x-ndjson", ("application/x-ndjson", "application/ndjson", "application/jsonl")
    )


TAKEN_AWAY: Final = (Representation.CSV, Representation.NDJSON)

_WEIGHT: Final = re.compile(r"q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)", re.ASCII)


def accepted(header: str) -> Representation:
    """Return the form that a header ``Accept`` wants most (RFC 9110, section 12.5.1).

    JSON where it wants none of them, or several alike: a client that cannot read JSON sees so by the
    content type, and one that named no type at all gets what it always got.
    """
    weights: dict[str, float] = {}
    for part in header.lower().split(","):
        name, *parameters = (piece.strip() for piece in part.split(";"))
        found = [matched for one in parameters if (matched := _WEIGHT.fullmatch(one))]
        weights[name] = float(found[0][1]) if found else 1.0

    def weight(form: Representation) -> float:
        names = form.value.accepted
        exact = [weights[name] for name in names if name in weights]
        family = weights.get(f"{names[0].partition('/')[0]}/*", weights.get("*/*", 0.0))
        return max(exact, default=family)

    # Of two that weigh the same, `max` takes the first, which is JSON.
    return max(Representation, key=weight)


def by_suffix(path: str) -> tuple[str, Representation]:
    """Return the path without the suffix of a form, and the form; JSON where there is none."""
    for form in TAKEN_AWAY:
        stem = path.removesuffix(form.value.suffix)
        if stem not in {path, "", "/"} and not stem.endswith("/"):
            return stem, form
    return path, Representation.JSON


def columns(operation: Operation) -> tuple[str, ...]:
    """Return the fields of an item of an operation's list, in the order of its schema; none if it is no list.

    Where items are of several kinds, the fields of all of them.
    """
    from sourcebook.api.schemas import SCHEMAS  # noqa: PLC0415 - only who takes a list away waits for it

    answer = SCHEMAS.get(operation.answers.get(200, ""), {}).get("properties", {})
    if operation.method != "GET" or not {"items", "next_cursor"} <= set(answer):
        return ()
    return tuple(dict.fromkeys(_fields(answer["items"]["items"], SCHEMAS)))


def _fields(schema: Mapping[str, Any], schemas: Mapping[str, Mapping[str, object]]) -> list[str]:
    if "$ref" in schema:
        return _fields(schemas[schema["$ref"].rpartition("/")[2]], schemas)
    if "anyOf" in schema:
        return [field for one in schema["anyOf"] for field in _fields(one, schemas)]
    return list(schema.get("properties", ()))


def written(response: Response, form: Representation, operation: Operation, request: Request) -> Response:
    """Return the answer of a list in another form; any other answer as it is.

    The next page is in the header ``Link`` (RFC 8288). In CSV a list or an object is JSON in its cell, and
    null is an empty one.
    """
    body = response.body
    if (
        form is Representation.JSON
        or isinstance(body, str)
        or "items" not in body
        or "next_cursor" not in body
    ):
        return response
    items = body["items"]
    if form is Representation.CSV:
        from sourcebook.csv_text import write_csv  # noqa: PLC0415 - 2 ms of each start, and seldom needed

        names = columns(operation)
        file = io.StringIO(newline="")
        write_csv(file, names, ([_cell(item.get(name)) for name in names] for item in items))
        text = file.getvalue()
    else:
        text = "".join(f"{as_json(item)}\n" for item in items)
    name = re.findall(r"[^/{}]+", re.sub(r"\{[^{}]*\}", "", operation.path))[-1]
    headers = {**response.headers, "content-disposition": f'attachment; filename="{name}{form.value.suffix}"'}
    if body["next_cursor"] is not None:
        query = urlencode({**request.query, "cursor": body["next_cursor"]})
        headers["link"] = f'<{request.address}?{query}>; rel="next"'
    return replace(response, body=text, content_type=form.value.content_type, headers=headers)


def _cell(value: object) -> Cell:
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or isinstance(value, str | int | float):
        return value
    return as_json(value)
