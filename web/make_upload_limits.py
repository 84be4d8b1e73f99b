"""Make what the page knows of uploads before it sends one: ``python web/make_upload_limits.py``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from sourcebook.uploads.model import CONTENT_TYPES, LARGEST, MOST_FILES

PLACE: Final = Path(__file__).parent / "src/views/upload-limits.ts"
_HEAD: Final = "/** What uploads take. Made by web/make_upload_limits.py: `make docs`. */\n"


def source() -> str:
    """Return the text of the file."""
    kinds = {
        kind.value: {"suffixes": list(types), "largest": LARGEST[kind]}
        for kind, types in CONTENT_TYPES.items()
    }
    return (
        f"{_HEAD}\nexport const MOST_FILES = {MOST_FILES};\n\n"
        f"export const KINDS = {json.dumps(kinds, indent=2)} as const;\n"
    )


if __name__ == "__main__":
    PLACE.write_text(source(), "utf-8")
