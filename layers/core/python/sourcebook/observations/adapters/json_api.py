"""Kind `json_api`: records of a JSON document, found by JMESPath."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import jmespath
from jmespath.exceptions import JMESPathError

from sourcebook.errors import shorten
from sourcebook.observations.adapters.document import (
    BadDocument,
    DocumentCause,
    check_not_login,
    decode,
    is_html,
    layout_changed,
)
from sourcebook.observations.adapters.records import Cell, declared_columns, observe
from sourcebook.observations.model import Parsed
from sourcebook.observations.options import FieldRef, JsonApiOptions
from sourcebook.observations.values import Reason, Unreadable

_MOST_RECORDS: Final = 20_000


@dataclass(frozen=True, slots=True)
class _JsonRecord:
    position: int
    value: Any

    def cell(self, where: FieldRef) -> Cell | None:
        if where.const is not None:
            return Cell(where.const)
        try:
            found = jmespath.search(str(where.column), self.value)
        except JMESPathError as error:
            raise Unreadable(Reason.MISSING_COLUMN, f"{where.column} does not fit the record") from error
        match found:
            case None:
                return None
            case bool() | list() | dict():
                raise Unreadable(
                    Reason.NOT_A_NUMBER, f"{where.column} gives {shorten(found)}, neither text nor number"
                )
            case int() | Decimal():
                return Cell(f"{found:f}" if isinstance(found, Decimal) else str(found), is_number=True)
        return Cell(str(found))


def read(body: bytes, options: JsonApiOptions, *, charset: str | None = None) -> Parsed:
    """Return what a JSON document yields.

    Raises:
        BadDocument: if it is no JSON, or has not the declared form.
    """
    document = decode(body, declared=options.encoding, charset=charset)
    try:
        # Decimals as they are written: a float would turn 4.35 into something a hair beside it.
        content = json.loads(document.text, parse_float=Decimal, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        check_not_login(document.text)
        what = "a web page came in place of JSON" if is_html(document.text) else f"it is no JSON ({error})"
        raise BadDocument(DocumentCause.WRONG_FORMAT, f"{what}; look whether its address is right") from error
    try:
        records = jmespath.search(options.records, content)
    except JMESPathError as error:
        raise layout_changed(f"records: {options.records} does not fit the document", content) from error
    if not isinstance(records, list):
        names = sorted(content) if isinstance(content, dict) else content
        raise layout_changed(f"records: {options.records} gives no list", names)
    if not records:
        raise BadDocument(DocumentCause.EMPTY_PAGE, f"records: {options.records} gives an empty list")
    _check_fields(records, options)
    found = [_JsonRecord(number, record) for number, record in enumerate(records[:_MOST_RECORDS], 1)]
    return observe(found, options, declared_columns(options), document.notes)


def _check_fields(records: list[Any], options: JsonApiOptions) -> None:
    """Refuse a document in which no record has one of the declared fields."""
    fields = [("bank", options.bank), ("series_field", options.series_field), ("term", options.term)]
    fields += [("value", value) for value in options.values]
    for name, where in fields:
        if where is None or where.const is not None:
            continue
        path = jmespath.compile(str(where.column))
        if all(_absent(path, record) for record in records[:_MOST_RECORDS]):
            seen = sorted(records[0]) if isinstance(records[0], dict) else records[0]
            raise layout_changed(f"{name}: no record has {where.column}", seen)


def _absent(path: Any, record: Any) -> bool:  # noqa: ANN401 - jmespath's own, and JSON
    try:
        return path.search(record) is None
    except JMESPathError:
        return True


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number in JSON")
