"""Folders, messages and errors that the modules of this package share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from sourcebook.errors import Terminal

ROOT = Path(__file__).resolve().parents[2]
"""The project's folder: the one with app.py and cdk.json."""

HOME = ROOT / ".sourcebook"
"""The default folder of all local state."""

Say: TypeAlias = Callable[[str], None]
"""A function that takes one line for a person; this package itself prints nothing."""


def quiet(_line: str) -> None:
    """Ignore a line."""


class LocalCloudError(Terminal):
    """The embedded cloud did not do what was asked; the message says why and what to do."""


def tail(path: Path, lines: int = 25) -> str:
    """Return the last lines of a log file, or a note that there are none."""
    try:
        with path.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - 64 * 1024))
            text = file.read().decode(errors="replace")
    except FileNotFoundError:
        text = ""
    return "\n".join(text.splitlines()[-lines:]) or f"({path} is empty)"
