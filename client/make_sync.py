"""Make ``sourcebook/client/_sync.py`` of ``_async.py``: ``python client/make_sync.py``.

The client that waits is the client of asyncio without ``async`` and ``await``. A test compares the file with
what this makes.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

_CLIENT: Final = Path(__file__).parent / "sourcebook/client"
SOURCE: Final = _CLIENT / "_async.py"
PLACE: Final = _CLIENT / "_sync.py"
_HEAD: Final = '"""The client that waits. Made by client/make_sync.py of `_async`; do not edit."""\n'
_CHANGES: Final = (
    (r'\A"""[^"]*"""\n', _HEAD),
    (r"^import asyncio\n", ""),
    (r"AsyncIterator, Awaitable, Callable, Coroutine$", "Callable, Iterator"),
    (r"Coroutine\[Any, Any, (\w+)\]", r"\1"),
    (r"Awaitable\[(\w+)\]", r"\1"),
    (r"asyncio\.sleep", "time.sleep"),
    (r"\[item async for item in self\]", "list(self)"),
    (r"for item in page:\n +yield item$", "yield from page"),
    (r"\basync |\bawait ", ""),
    (r"Async(Client|Pages|Iterator)", r"\1"),
    (r"__a(iter|enter|exit)__", r"__\1__"),
    (r"\.a(close|iter_bytes)\(", r".\1("),
)
"""What is replaced, one after the other."""


def source() -> str:
    """Return the text of the module that is made."""
    text = SOURCE.read_text("utf-8")
    for pattern, replacement in _CHANGES:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    command = [sys.executable, "-m", "ruff", "format", "--line-length", "110", "-"]
    made = subprocess.run(command, input=text, capture_output=True, text=True, check=True)  # noqa: S603
    return made.stdout


if __name__ == "__main__":
    PLACE.write_text(source(), "utf-8")
