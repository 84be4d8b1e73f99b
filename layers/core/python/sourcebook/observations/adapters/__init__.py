"""From a fetched document to observations: one module for each kind of document, and what they share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from importlib import import_module
from typing import Any, Final

from sourcebook.observations.adapters.document import decode
from sourcebook.observations.kinds import CSV, HTML_TABLE, JSON_API
from sourcebook.observations.model import ParsedDocument
from sourcebook.observations.options import read_observation_options
from sourcebook.records.source import Source
from sourcebook.sources.model import SourceSpec

_READERS: Final[Mapping[str, str]] = {
    HTML_TABLE: "sourcebook.observations.adapters.html_table",
    JSON_API: "sourcebook.observations.adapters.json_api",
    CSV: "sourcebook.observations.adapters.csv_file",
}


def parse_document(
    spec: SourceSpec | Source, body: bytes, *, charset: str | None = None, now: datetime | None = None
) -> ParsedDocument:
    """Return what a document of a source yields.

    `charset` is the one that the server named, if it did. What a record dates on a day after `now` is left
    out; None takes every day.

    Raises:
        InvalidInput: if the declaration is wrong.
        BadDocument: if the document is not what it should be; then nothing of it may be stored.
    """
    options = read_observation_options(spec)
    document = decode(body, declared=options.encoding, charset=charset)
    # Loaded when needed: a function that only fetches feeds must not pay for an HTML parser.
    read: Callable[..., Any] = import_module(_READERS[spec.kind]).read
    parsed: ParsedDocument = read(document, options, now and now.astimezone(options.zone).date())
    return parsed
