"""Serve the web page."""

from __future__ import annotations

from sourcebook.start import collect_garbage_from_now

import os
from pathlib import Path
from typing import Any

import sourcebook_page

from sourcebook.api.page import StaticFiles

files = StaticFiles(Path(sourcebook_page.__file__).parent, os.environ.get("UPLOAD_ADDRESSES", ""))


@collect_garbage_from_now
def handler(event: dict[str, Any], context: object) -> dict[str, Any]:  # noqa: ARG001 - Lambda's own signature
    """Answer one request."""
    return files.answer(event)
