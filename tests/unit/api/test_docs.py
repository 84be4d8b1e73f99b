"""The description of the API, its examples and docs/api.md say what is so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import schemathesis

from sourcebook.api import schemas
from sourcebook.api.openapi import description
from sourcebook.api.operations import Access
from sourcebook.api.parts import operations
from sourcebook.api.reference import page
from sourcebook.api.schemas import EXAMPLES, SCHEMAS
from sourcebook.api.workflows import INPUTS
from sourcebook.records.article import Article
from sourcebook.records.base import shown_names
from sourcebook.records.decision import DecisionAction
from sourcebook.records.source import Fetch

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "api.md").read_text("utf-8")
OPERATIONS = operations()
DESCRIPTION = description(OPERATIONS, names=INPUTS)


def properties(name: str) -> list[str]:
    """Return the fields of a schema in their order."""
    return list(SCHEMAS[name]["properties"])


def test_the_description_is_openapi() -> None:
    schemathesis.openapi.from_dict(DESCRIPTION).validate()


def test_every_operation_is_described_and_named_once() -> None:
    described = {
        (path, method.upper()) for path, methods in DESCRIPTION["paths"].items() for method in methods
    }
    plain = {(o.path.replace("+}", "}"), o.method) for o in OPERATIONS if not (o.body and o.body.forms)}
    starts = {(f"/workflows/{name}/executions", "POST") for name in INPUTS}
    decisions = {(f"/decisions/{action.value}", "POST") for action in DecisionAction}
    assert described == plain | starts | decisions
    assert len({operation.name for operation in OPERATIONS}) == len(OPERATIONS)


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_the_examples_are_as_described(name: str) -> None:
    schema = {"$ref": f"#/components/schemas/{name}", "components": DESCRIPTION["components"]}
    jsonschema_rs.validate(schema, EXAMPLES[name])


def test_every_form_takes_its_own_example() -> None:
    bodies = [operation.body for operation in OPERATIONS if operation.body]
    forms = [form for body in bodies for form in (body.form, *body.forms.values()) if form]
    for form in forms:
        assert form.read(form.example()).given() == form.example()
        jsonschema_rs.validate(form.json_schema(), form.example())


def test_every_body_and_answer_has_a_schema_and_json_an_example() -> None:
    for operation in OPERATIONS:
        named = {*operation.answers.values(), *([operation.body.schema] if operation.body else [])} - {""}
        assert named <= set(SCHEMAS)
        if operation.name not in {"getDescription", "getReference"}:
            assert named <= set(EXAMPLES), operation.name


def test_the_schemas_have_the_fields_that_are_served() -> None:
    assert properties("MergedArticle") == [*shown_names(Article), "mentions"] == list(EXAMPLES["Article"])
    assert properties("Feed") == list(EXAMPLES["Feed"])
    assert properties("Source") == list(EXAMPLES["SourcePage"]["items"][0])
    assert properties("Fetch") == ["due_at", *shown_names(Fetch)]


def test_the_reference_describes_everything_and_loads_nothing() -> None:
    text = page(DESCRIPTION)
    for operation in OPERATIONS:
        assert operation.summary.partition(" ")[0] in text
        for name in operation.parameters:
            assert f"<code>{name}</code>" in text
    assert not re.search(r"<script|<link|<img|src=|@import|url\(", text)
    assert "prefers-color-scheme:dark" in text
    assert 'name="viewport"' in text
    # Whatever comes from outside of the page's own markup is escaped.
    assert "<source>" not in text
    assert "&lt;source&gt;" in text


def test_a_text_with_markup_in_it_stays_text() -> None:
    made: dict[str, Any] = {**DESCRIPTION, "info": {"description": "<b>x</b> & `a<b`"}}
    assert "<p>&lt;b&gt;x&lt;/b&gt; &amp; <code>a&lt;b</code></p>" in page(made)


def test_the_page_of_the_docs_repeats_no_operation() -> None:
    assert "`GET /docs`" in PAGE
    assert not re.findall(r"^#+ .*(?:GET|POST|PATCH|DELETE) /", PAGE, re.MULTILINE)
    assert all(access.value in {"open", "read", "write"} for access in Access)
    assert schemas.SCHEMAS["Problem"]["properties"].keys() == EXAMPLES["Problem"].keys()
