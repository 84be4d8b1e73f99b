"""The description as programs read it that make clients of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sourcebook.api.openapi import description
from sourcebook.api.parts import operations
from sourcebook.api.schemas import EXAMPLES, SCHEMAS
from sourcebook.api.workflows import INPUTS

DESCRIPTION = description(operations(), names=INPUTS, base="https://api.example")
COMPONENTS = DESCRIPTION["components"]["schemas"]


def inside(schema: Any, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema that stands within another one, and where."""
    if isinstance(schema, list):
        for number, one in enumerate(schema):
            yield from inside(one, f"{path}/{number}")
    elif isinstance(schema, dict):
        yield path, schema
        for name, one in schema.items():
            if name not in {"examples", "example", "default", "enum", "oneOf"}:
                yield from inside(one, f"{path}/{name}")


def test_every_object_with_fields_has_a_name_of_its_own() -> None:
    found = [
        path
        for name, schema in COMPONENTS.items()
        for path, one in inside(schema, name)
        if path != name and one.get("type") in ("object", ["object", "null"]) and "properties" in one
    ]
    found += [
        path
        for path, one in inside(DESCRIPTION["paths"], "paths")
        if one.get("type") == "object" and "properties" in one
    ]
    assert found == []


def test_every_reference_leads_to_a_schema_and_every_schema_is_used() -> None:
    references = {
        one["$ref"].rpartition("/")[2]
        for _, one in inside([DESCRIPTION["paths"], DESCRIPTION["components"]], "")
        if str(one.get("$ref", "")).startswith("#/components/schemas/")
    }
    assert references <= set(COMPONENTS)
    assert set(COMPONENTS) - references <= {"Problem"}
    assert set(SCHEMAS) | set(EXAMPLES) <= set(COMPONENTS)


def test_names_are_words_in_capitals() -> None:
    assert all(name.isalnum() and name[0].isupper() for name in COMPONENTS)


def test_an_object_that_may_be_null_is_a_reference_or_null() -> None:
    idea = COMPONENTS["EventSummary"]["properties"]["idea"]
    assert idea == {"anyOf": [{"$ref": "#/components/schemas/EventIdea"}, {"type": "null"}]}


def test_lists_have_one_envelope() -> None:
    lists = [schema for schema in COMPONENTS.values() if "items" in schema.get("properties", {})]
    assert len(lists) > 12
    for schema in lists:
        assert "next_cursor" in schema["properties"] or "version" in schema["properties"]
