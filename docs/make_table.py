"""Write the part of docs/table.md that says what each record has: ``python docs/make_table.py``.

A test compares the page with what this makes of the records in ``sourcebook.records``.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sourcebook import records
from sourcebook.records.base import Record, record_fields
from sourcebook.records.schema import Schema, of_type

PAGE: Final = Path(__file__).with_name("table.md")
_BEGIN: Final = "<!-- What follows is made by docs/make_table.py: `make docs`. -->\n"
_NAMES: Final = {
    "date-time": "time",
    "date": "day",
    "uuid": "id",
    "string": "text",
    "integer": "whole number",
    "boolean": "true or false",
    "array": "list",
}


def page(before: str) -> str:
    """Return the text of the page, given what it is now."""
    return before.partition(_BEGIN)[0] + _BEGIN + "".join(map(_section, all_records()))


def all_records() -> list[type[Record]]:
    """Return the records that are items, in the order of their modules and of their declaration."""
    found: list[type[Record]] = []
    for module in pkgutil.iter_modules(records.__path__):
        members = vars(importlib.import_module(f"{records.__name__}.{module.name}")).values()
        found += (
            one
            for one in members
            if inspect.isclass(one)
            and issubclass(one, Record)
            and "PLACE" in vars(one)
            and one.__module__.endswith(f".{module.name}")
        )
    return found


def _section(kind: type[Record]) -> str:
    return "\n".join(
        ["", f"### {kind.__name__}", "", *_about(kind), "", *_fields(kind), ""],
    )


def _about(kind: type[Record]) -> Iterator[str]:
    key = kind.PLACE.key(*(f"<{name}>" for name in inspect.signature(kind.PLACE.key).parameters))
    indexes = f", in {', '.join(kind.PLACE.indexes)}" if kind.PLACE.indexes else ""
    yield from (inspect.getdoc(kind) or "").splitlines()
    yield ""
    yield f"`{key['PK']}` / `{key['SK']}`{indexes}. Written by {kind.PLACE.written_by}."


def _fields(kind: type[Record]) -> Iterator[str]:
    yield "| field | type | what it means |"
    yield "|---|---|---|"
    for one in record_fields(kind):
        kept_back = "" if one.is_shown else " Not in the API."
        yield f"| `{one.name}` | {_type(of_type(one.kind))} | {one.meaning}{kept_back} |"


def _type(schema: Schema) -> str:
    kinds = schema.get("type", "anything")
    if "anyOf" in schema:
        return _type(schema["anyOf"][0])
    if "enum" in schema:
        return ", ".join(f"`{word}`" for word in schema["enum"] if word is not None)
    kind = kinds if isinstance(kinds, str) else kinds[0]
    return _NAMES.get(schema.get("format", kind), kind)


if __name__ == "__main__":
    text = page(PAGE.read_text("utf-8"))
    PAGE.write_text(text, "utf-8")
    sys.stdout.write(f"{PAGE}\n")
