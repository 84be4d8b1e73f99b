"""Declarations and pages for the tests."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sourcebook.observations.adapters import parse_document
from sourcebook.observations.model import ParsedDocument
from sourcebook.sources.model import SourceSpec, parse_spec

NOW = datetime(2026, 11, 28, tzinfo=UTC)


def spec(kind: str, **options: Any) -> SourceSpec:
    declared: dict[str, Any] = {
        "series": "deposit_online",
        "bank": "Bank",
        "term": "Term",
        "value": "Rate",
    }
    declared |= options
    kept = {name: value for name, value in declared.items() if value is not None}
    return parse_spec({"source_id": "a", "kind": kind, "url": "https://a.example/rates", "options": kept})


def parse(kind: str, page: str | bytes, charset: str | None = None, **options: Any) -> ParsedDocument:
    body = page.encode() if isinstance(page, str) else page
    return parse_document(spec(kind, **options), body, charset=charset, now=NOW)


def figures(parsed: ParsedDocument) -> list[tuple[str, str, float]]:
    return [(row.bank, row.term, float(row.rate.value)) for row in parsed.rows]
