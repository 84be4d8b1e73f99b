"""Kind `json_api`: records of a JSON document, found by JMESPath."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import islice
from typing import Any, Final

import jmespath
from jmespath.exceptions import JMESPathError

from sourcebook.observations.adapters.document import (
    BadDocument,
    DocumentCause,
    Text,
    check_not_login,
    layout_changed,
    refuse_page,
)
from sourcebook.observations.adapters.markup import check_markup
from sourcebook.observations.adapters.records import Cell, observe
from sourcebook.observations.headings import words_of_name
from sourcebook.observations.model import Dropped, ParsedDocument
from sourcebook.observations.options import FieldRef, JsonApiOptions, climbing
from sourcebook.observations.values import Reason, UnreadableValue

_MOST_VALUES: Final = 1_000_000
"""Objects, lists and members of a document: each takes memory many times its text."""
_LONGEST_NUMBER: Final = 30
_ASSIGNED = re.compile(r"(?:(?:var|let|const) )?[\w$.\[\]\"']{1,200}\s*=\s*(?=[{\[])")
_SHOWN_NAMES: Final = 20


class _Twice:
    """Stands for a member that an object has twice, with different values."""


@dataclass(frozen=True, slots=True)
class _JsonRecord:
    """A record, and those that it came from.

    Attributes:
        position: in the document, from 1.
        value: the record.
        parents: the record that it came from, the one that this came from, and so on up to the document.
    """

    position: int
    value: Any
    parents: tuple[Any, ...] = ()

    def cell(self, where: FieldRef) -> Cell | None:
        if where.const is not None:
            return Cell(where.const)
        try:
            found = self.find(str(where.column))
        except (JMESPathError, IndexError) as error:
            raise UnreadableValue(Reason.MISSING_COLUMN, f"{where.column} does not fit the record") from error
        match found:
            case None:
                return None
            case _Twice():
                raise UnreadableValue(
                    Reason.AMBIGUOUS_MEMBER, f"{where.column} stands twice in the record, not alike"
                )
            case bool() | list() | dict():
                raise UnreadableValue(
                    Reason.NOT_A_NUMBER, f"{where.column} gives {_outline(found)}, neither text nor number"
                )
            case int() | Decimal():
                return Cell(f"{found:f}" if isinstance(found, Decimal) else str(found), is_number=True)
        return Cell(str(found))

    def find(self, column: str) -> Any:  # noqa: ANN401 - JSON
        """Return what a field gives: a JMESPath expression, with ``^`` before it for each step up."""
        path, ups = climbing(column)
        return jmespath.search(path, self.parents[ups - 1] if ups else self.value)


def read(document: Text, options: JsonApiOptions, today: date | None) -> ParsedDocument:
    """Return what a JSON document yields.

    Raises:
        BadDocument: if it is no JSON, or has not the declared form, or is too large.
    """
    if options.script:
        text = _script(document.text, options.script)
    else:
        text = document.text
        refuse_page(text, "JSON")
    if sum(map(text.count, "{[,")) > _MOST_VALUES:
        raise BadDocument(
            DocumentCause.TOO_LARGE, f"more than {_MOST_VALUES} values: too many for a document of figures"
        )
    try:
        # Decimals as they are written: a float would turn 4.35 into something a hair beside it.
        content = json.loads(
            text,
            parse_float=_decimal,
            parse_int=_integer,
            parse_constant=lambda _: None,  # NaN is how some write that there is no value
            object_pairs_hook=_object,
        )
    except (ValueError, RecursionError) as error:
        check_not_login(text)
        what = f"it is no JSON ({error}); look whether its address is right"
        raise BadDocument(DocumentCause.WRONG_FORMAT, what) from error
    found, dropped = _records(content, options)
    _check_fields(found, options)
    return observe(
        ParsedDocument(dropped=dropped, notes=[*document.notes]),
        found,
        options,
        options.values,
        language=options.language,
        over=lambda where: words_of_name(str(where.column or "")),
        dates=options.date,
        today=today,
    )


def _script(page: str, selector: str) -> str:
    """Return the JSON that an element of a page holds: all of it, or what a script assigns.

    Raise BadDocument if there is no such element, or the page is too large.
    """
    from selectolax.lexbor import LexborHTMLParser  # noqa: PLC0415 - only for a page

    check_markup(page)
    found = LexborHTMLParser(page).css_first(selector)
    if found is None:
        check_not_login(page)
        raise layout_changed(f"script: nothing matches {selector}", page[:200])
    text = found.text().strip()
    assigned = _ASSIGNED.match(text)
    return text[assigned.end() :].rstrip("; \n") if assigned else text


def _records(content: Any, options: JsonApiOptions) -> tuple[list[_JsonRecord], list[Dropped]]:  # noqa: ANN401 - JSON
    """Return the records: each step is applied to those of the one before.

    Raise BadDocument if a step gives no list for any of them, or there is no record.
    """
    found = [_JsonRecord(1, content)]
    dropped: list[Dropped] = []
    for number, step in enumerate(options.records):
        following: list[_JsonRecord] = []
        lists = 0
        for record in found:
            try:
                members = jmespath.search(step, record.value)
            except JMESPathError as error:
                if number == 0:
                    raise layout_changed(
                        f"records: {step} does not fit the document", _outline(content)
                    ) from error
                members = None
            if not isinstance(members, list):
                if number:
                    problem = f"records: {step} gives no list in record {record.position} of the step before"
                    dropped.append(Dropped(record.position, Reason.NO_RECORDS, problem))
                continue
            lists += 1
            parents = (record.value, *record.parents)
            following += [
                _JsonRecord(len(following) + place, member, parents)
                for place, member in enumerate(members, 1)
            ]
        if not lists:
            raise layout_changed(f"records: {step} gives no list", _outline(found[0].value))
        if not following:
            raise BadDocument(DocumentCause.EMPTY_PAGE, f"records: {step} gives an empty list")
        found = following
    return found, dropped


def _check_fields(records: list[_JsonRecord], options: JsonApiOptions) -> None:
    """Refuse a document in which no record has one of the declared fields."""
    for name, where in options.fields:
        if where.const is None and all(_absent(str(where.column), record) for record in records):
            raise layout_changed(f"{name}: no record has {where.column}", _outline(records[0].value))


def _absent(column: str, record: _JsonRecord) -> bool:
    try:
        return record.find(column) is None
    except (JMESPathError, IndexError):
        return True


def _outline(value: Any) -> object:  # noqa: ANN401 - JSON
    """Return of a JSON value what fits into a message."""
    match value:
        case dict():
            return [str(name)[:80] for name in islice(value, _SHOWN_NAMES)]
        case list():
            return f"a list of {len(value)}"
        case str():
            return value[:200]
    return value


def _object(members: list[tuple[str, Any]]) -> dict[str, object]:
    found = dict(members)
    if len(found) != len(members):
        first: dict[str, object] = {}
        for name, value in members:
            if first.setdefault(name, value) != value:
                found[name] = _Twice()
    return found


def _decimal(text: str) -> Decimal | str:
    """Return a number as it is written; as text, which no figure is read from, if no rate is written so."""
    if len(text) > _LONGEST_NUMBER:
        return text
    number = Decimal(text)
    return number if abs(number.adjusted()) <= _LONGEST_NUMBER else text


def _integer(text: str) -> int | str:
    return int(text) if len(text) <= _LONGEST_NUMBER else text
