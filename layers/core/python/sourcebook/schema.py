"""What every item, message and request has in common. Without pydantic, for what only writes it."""

from __future__ import annotations

from typing import Final

SCHEMA_VERSION: Final = "1"
"""The version of everything that is stored or sent."""
UUID: Final = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
"""The form of an id."""
DIGEST: Final = r"[0-9a-f]{32}"
"""The form of a dedup key and of an event's id: half of a SHA-256."""
SHA256: Final = "[0-9a-f]{64}"
