"""Whether a value of a header says something."""

from __future__ import annotations

from typing import Final

_PLACEHOLDERS: Final = frozenset({"", "unknown", "none", "n/a", "na", "nan", "null", "undefined", "-", "?"})
"""What instruments write for "I was not told"."""


def is_said(text: str | None) -> bool:
    """Say whether a value says something, and is not a placeholder such as UNKNOWN."""
    return text is not None and text.strip().casefold() not in _PLACEHOLDERS
