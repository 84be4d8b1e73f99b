"""What is documented of the bus is what is told there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import jsonschema_rs

from sourcebook.events import AlertFired, schemas
from sourcebook.records.alert import FIELDS, KINDS

DOCS = Path(__file__).parents[2] / "docs"


def test_the_schemas_of_the_bus_are_those_of_the_events() -> None:
    assert json.loads((DOCS / "events.json").read_text("utf-8")) == json.loads(json.dumps(schemas())), (
        "make docs"
    )
    assert set(schemas()) == {
        "alert.fired",
        "articles.new",
        "processing.generate_ideas",
        "processing.group_headlines",
    }


def test_an_alert_that_fires_is_as_described() -> None:
    event = AlertFired.model_validate(
        {
            "correlation_id": "evt_" + "0" * 32,
            "alert_id": "5f3a9c1e77d0b264",
            "alert_name": "Strikes",
            "event_id": "evt_" + "0" * 32,
            "kind": "article",
            "at": "2026-11-27T22:01:10Z",
            "facts": {
                "headline": "A strike",
                "score": 0.5,
                "sources": ["wire"],
                "url": None,
                "disabled": True,
            },
        }
    )
    jsonschema_rs.validate(schemas()["alert.fired"], json.loads(event.model_dump_json()))
    assert set(get_args(AlertFired.model_fields["kind"].annotation)) == {*KINDS, "test"}


def test_the_page_documents_every_kind_and_field() -> None:
    page = (DOCS / "alerts.md").read_text("utf-8")
    rows = {
        kind: next(line for line in page.splitlines() if line.startswith(f"| `{kind}` |")) for kind in KINDS
    }
    for name, spec in FIELDS.items():
        assert all(f"`{name}`" in rows[kind] for kind in spec.kinds), name
