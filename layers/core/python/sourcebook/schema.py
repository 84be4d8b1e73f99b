"""The version of everything that is stored or sent. Without pydantic, for what only writes it."""

from __future__ import annotations

from typing import Final

SCHEMA_VERSION: Final = "1"
