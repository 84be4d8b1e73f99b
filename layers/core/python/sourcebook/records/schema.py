"""JSON Schema 2020-12 of records, made of their declarations. Loaded only when somebody asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeAlias, Union, get_args, get_origin

from sourcebook.columns import ColumnKind, Columns
from sourcebook.messages import SchemaRule
from sourcebook.records.base import Record, record_fields

Schema: TypeAlias = dict[str, Any]

_PLAIN: Final[Mapping[object, Schema]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    object: {},
    Any: {},
    bytes: {"type": "string", "contentEncoding": "base64"},
    datetime: {"type": "string", "format": "date-time"},
}


def one_of(*words: str) -> Schema:
    """Return the schema of one of a few words."""
    return {"type": "string", "enum": list(words)}


def nullable(schema: Schema) -> Schema:
    """Return the schema of a value that may be null."""
    if isinstance(schema.get("type"), list):
        return schema
    if "enum" in schema:
        return {**schema, "type": [schema["type"], "null"], "enum": [*schema["enum"], None]}
    if "type" in schema:
        return {**schema, "type": [schema["type"], "null"]}
    return {"anyOf": [schema, {"type": "null"}]} if schema else schema


def object_of(**fields: Schema) -> Schema:
    """Return the schema of an object that always has these fields."""
    return {"type": "object", "properties": fields, "required": list(fields)}


def shown_fields(kind: type[Record]) -> dict[str, Schema]:
    """Return the schemas of the fields that the API shows of a record."""
    return {
        one.name: of_type(one.kind) | ({"description": one.meaning} if one.meaning else {})
        for one in record_fields(kind)
        if one.is_shown
    }


def shown(kind: type[Record], **more: Schema) -> Schema:
    """Return the schema of a record as the API shows it, with what it shows besides."""
    return object_of(**shown_fields(kind) | more)


def of_type(kind: Any) -> Schema:  # noqa: ANN401 - a type, as it is annotated
    """Return the schema of the values of a type that a record's field may have."""
    if hasattr(kind, "__metadata__"):
        rules = [one.words for one in kind.__metadata__ if isinstance(one, SchemaRule)]
        return of_type(kind.__origin__) | {word: value for rule in rules for word, value in rule.items()}
    origin, parts = get_origin(kind), get_args(kind)
    if origin in {Union, UnionType}:
        (one,) = (part for part in parts if part is not NoneType)
        return nullable(of_type(one))
    if origin is Literal:
        return one_of(*parts)
    if origin is tuple:
        return {"type": "array", "items": of_type(parts[0])}
    if origin is not None:
        values = of_type(parts[1])
        return {"type": "object", "additionalProperties": values} if values else {"type": "object"}
    if kind in _PLAIN:
        return dict(_PLAIN[kind])
    if issubclass(kind, Enum):
        return one_of(*(word.value for word in kind))
    # What stands within a record leaves out what it does not have.
    required = [one.name for one in record_fields(kind) if one.is_shown and one.is_required]
    return shown(kind) | {"required": required}


def columns_of(kind: type[Record]) -> Columns:
    """Return the columns of a file of records, as the API shows them."""
    return {name: _column(schema) for name, schema in shown_fields(kind).items()}


def _column(schema: Schema) -> ColumnKind:
    types = schema.get("type", "object")
    kind = types if isinstance(types, str) else types[0]
    if kind == "array":
        return ColumnKind.TEXTS if schema["items"] == {"type": "string"} else ColumnKind.JSON
    return _COLUMNS.get(schema.get("format", kind), ColumnKind.JSON if kind == "object" else ColumnKind.TEXT)


_COLUMNS: Final = {
    "date-time": ColumnKind.TIME,
    "date": ColumnKind.DAY,
    "integer": ColumnKind.INTEGER,
    "number": ColumnKind.NUMBER,
}
