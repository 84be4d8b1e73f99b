"""Prints the output of the servers and scripts of this package."""

from __future__ import annotations

import sys

from sourcebook.printable import printable


def say(line: str, *, err: bool = False) -> None:
    """Print one line, made printable, at once."""
    print(printable(line), file=sys.stderr if err else sys.stdout, flush=True)
