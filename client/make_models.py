"""Make ``sourcebook/client/models.py`` of the API's own description: ``python client/make_models.py``.

A test compares the file with what this makes.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from sourcebook.api.openapi import description
from sourcebook.api.parts import operations

PLACE: Final = Path(__file__).parent / "sourcebook/client/models.py"
_HEAD: Final = '''\
"""The records of the API. Made by client/make_models.py of the API's description; do not edit."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from pydantic import Field

from sourcebook.client._base import Record, RowTable
'''
_LONGEST: Final = 98
_SIMPLE: Final = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
_FORMATS: Final = {"date-time": "datetime", "date": "date"}
_ABSENT: Final = {"str": '""', "list": "Field(default_factory=list)", "dict": "Field(default_factory=dict)"}
"""What stands for a field that only some records of a list have: empty, rather than None, so that it can be
used without asking first."""
_FIELDS_OF_A_BASE: Final = 5
"""How many fields a record must have at least for one that begins with all of them to be made of it."""


class _Class(NamedTuple):
    name: str
    about: str
    fields: list[str]


def source() -> str:
    """Return the text of the module."""
    described = description(operations(), names=())
    schemas: dict[str, Any] = described["components"]["schemas"]
    wanted = [name for answer in _answers(described) for name in _reached(answer, schemas)]
    classes: dict[str, _Class] = {}
    # The kinds of a record are one class.
    kinds = {_named(one) for schema in schemas.values() for one in schema.get("anyOf", ())}
    for name in schemas:
        if name in wanted and name not in kinds and not name.endswith("Page"):
            _add(name, schemas, classes)
    text = "\n\n".join([_HEAD, *_written(classes)])
    command = [sys.executable, "-m", "ruff", "format", "--line-length", "110", "-"]
    made = subprocess.run(command, input=text, capture_output=True, text=True, check=True)  # noqa: S603
    return made.stdout


def _answers(described: Mapping[str, Any]) -> Iterator[str]:
    for methods in described["paths"].values():
        for operation in methods.values():
            for status, answer in operation["responses"].items():
                found = answer.get("content", {}).get("application/json", {}).get("schema", {})
                if status.startswith("2") and "$ref" in found:
                    yield _named(found)


def _reached(name: str, schemas: Mapping[str, Any]) -> Iterator[str]:
    """Yield a schema and those within it."""
    yield name
    pending: list[Any] = [schemas[name]]
    while pending:
        one = pending.pop()
        if isinstance(one, dict):
            if "$ref" in one:
                yield from _reached(_named(one), schemas)
            pending += [value for key, value in one.items() if key != "examples"]
        elif isinstance(one, list):
            pending += one


def _named(schema: Mapping[str, Any]) -> str:
    return str(schema["$ref"].rpartition("/")[2])


def _class(name: str) -> str:
    return f"{name.removesuffix('s')}" if name.endswith("Items") else name


def _kinds(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the objects that a record may be; several where records are of several kinds."""
    return [schemas[_named(one)] for one in schema.get("anyOf", ())] or [schema]


def _add(name: str, schemas: Mapping[str, Any], classes: dict[str, _Class]) -> None:
    """Add the class of a schema after those of what stands within it."""
    kinds = _kinds(schemas[name], schemas)
    fields = {field: value for kind in kinds for field, value in kind.get("properties", {}).items()}
    if not fields or _class(name) in classes:
        return
    for value in fields.values():
        for inner in _within(value):
            _add(inner, schemas, classes)
    always = set.intersection(*(set(kind.get("required", ())) for kind in kinds))
    lines = [_line(field, value, required=field in always) for field, value in fields.items()]
    classes[_class(name)] = _Class(_class(name), schemas[name].get("description", ""), lines)


def _written(classes: Mapping[str, _Class]) -> list[str]:
    """Return the text of each class, that of its base before it."""
    texts: dict[str, str] = {}

    def write(one: _Class) -> None:
        if one.name in texts:
            return
        base = _base(one, classes)
        if base is not None:
            write(base)
        is_table = any(line.startswith("    items: list[") for line in one.fields)
        lines = one.fields[len(base.fields) :] if base else one.fields
        of = base.name if base else "RowTable" if is_table else "Record"
        about = [f'    """{one.about}"""', ""] if one.about else []
        texts[one.name] = "\n".join([f"class {one.name}({of}):", *about, *lines])

    for one in classes.values():
        write(one)
    return list(texts.values())


def _base(one: _Class, classes: Mapping[str, _Class]) -> _Class | None:
    """Return the record whose fields are the first of another's; None if there is none."""
    found = [
        other
        for other in classes.values()
        if _FIELDS_OF_A_BASE <= len(other.fields) < len(one.fields)
        and one.fields[: len(other.fields)] == other.fields
    ]
    return max(found, key=lambda other: len(other.fields), default=None)


def _within(schema: Mapping[str, Any]) -> Iterator[str]:
    if "$ref" in schema:
        yield _named(schema)
    for one in (*schema.get("anyOf", ()), schema.get("items"), schema.get("additionalProperties")):
        if isinstance(one, dict):
            yield from _within(one)


def _line(field: str, schema: Mapping[str, Any], *, required: bool) -> str:
    kind = _type(schema)
    name = field.lstrip("_")
    settings = {}
    if not required:
        absent = None if kind.endswith("None") else _ABSENT.get(kind.partition("[")[0])
        kind = kind if absent or kind.endswith("None") else f"{kind} | None"
        settings["default"] = absent or "None"
    if name != field:
        settings["alias"] = f'"{field}"'
    words = [str(word) for word in schema.get("enum", ()) if word is not None]
    one_of = f"One of {', '.join(words)}." if words else ""
    about = " ".join(filter(None, (schema.get("description"), one_of)))
    about = about if len(about) < _LONGEST else schema["description"]
    given = ", ".join(f"{key}={value}" for key, value in settings.items())
    default = f" = Field({given})" if "alias" in settings else f" = {settings['default']}" if settings else ""
    docs = f'\n    """{about}"""' if about else ""
    return f"    {name}: {kind}{default}{docs}"


def _type(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return _class(_named(schema))
    if "anyOf" in schema:
        return " | ".join(
            dict.fromkeys("None" if one == {"type": "null"} else _type(one) for one in schema["anyOf"])
        )
    if "const" in schema:
        return type(schema["const"]).__name__
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    plain = [_plain(kind, schema) for kind in kinds if kind != "null"]
    return " | ".join([*plain, *(["None"] if "null" in kinds else [])]) or "Any"


def _plain(kind: str, schema: Mapping[str, Any]) -> str:
    if kind == "array":
        return f"list[{_type(schema['items'])}]"
    if kind == "object":
        values = schema.get("additionalProperties")
        return f"dict[str, {_type(values) if isinstance(values, dict) else 'Any'}]"
    return _FORMATS.get(schema.get("format", ""), _SIMPLE[kind])


if __name__ == "__main__":
    PLACE.write_text(source(), "utf-8")
