"""The kinds of sources of observations, without what reading their options takes."""

from __future__ import annotations

from typing import Final

HTML_TABLE: Final = "html_table"
JSON_API: Final = "json_api"
CSV: Final = "csv"
KINDS: Final = (HTML_TABLE, JSON_API, CSV)
