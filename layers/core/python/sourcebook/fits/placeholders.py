"""Placeholders that instruments write into headers in place of a value."""

from __future__ import annotations

from typing import Final

_PLACEHOLDERS: Final = frozenset({"", "unknown", "none", "n/a", "na", "nan", "null", "undefined", "-", "?"})


def has_value(text: str | None) -> bool:
    """Return whether a text is a value, and not empty or a placeholder such as UNKNOWN."""
    return text is not None and text.strip().casefold() not in _PLACEHOLDERS
