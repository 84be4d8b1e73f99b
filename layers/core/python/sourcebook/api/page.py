"""The web page's files as served: few, small, compressed beforehand, with a Content-Security-Policy."""

from __future__ import annotations

import base64
import hashlib
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sourcebook.api.requests import accepts_gzip, header, within

INDEX: Final = "index.html"
COMPRESSED: Final = ".gz"
HASHED: Final = "app-"

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Content-Security-Policy: whatever a feed may have smuggled into the page, it can neither run nor report."""

_HEADERS: Final = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "vary": "accept-encoding",
}
_METHODS: Final = ("GET", "HEAD")
_YEAR: Final = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class _File:
    body: bytes
    compressed: bytes | None
    headers: Mapping[str, str]


class StaticFiles:
    """The files of a folder, read once: its ``index.html`` is ``/``, the others are ``/assets/<name>``.

    The bundles, ``app-<hash>``, carry a hash of their content in their names and may be kept for ever; the
    others are asked about each time, and are answered with 304 when they are known.

    `uploads` are the addresses, with blanks between them, that the page may send files to besides its own.
    """

    def __init__(self, folder: Path, uploads: str = "") -> None:
        policy = POLICY.replace("connect-src 'self'", f"connect-src 'self' {uploads}".rstrip())
        self._files = {
            path.name: _read(path, policy)
            for path in sorted(folder.iterdir())
            if path.is_file() and path.suffix not in {COMPRESSED, ".py"}
        }

    def answer(self, event: Mapping[str, Any]) -> dict[str, object]:
        """Answer one event of an HTTP API, payload format 2.0."""
        method = within(event, "requestContext", "http", "method") or "GET"
        if method not in _METHODS:
            headers = {**_HEADERS, "content-type": "text/plain; charset=utf-8", "allow": ", ".join(_METHODS)}
            return _written(204 if method == "OPTIONS" else 405, headers, b"")
        answer = self._file(event)
        return {**answer, "body": ""} if method == "HEAD" else answer

    def _file(self, event: Mapping[str, Any]) -> dict[str, object]:
        name = within(event, "pathParameters", "name")
        file = self._files.get(INDEX if name is None else str(name))
        if file is None:
            headers = {**_HEADERS, "content-type": "text/plain; charset=utf-8", "cache-control": "no-store"}
            return _written(404, headers, b"There is no such file: load the page again.\n")
        if file.headers["etag"] in header(event, "if-none-match"):
            return _written(304, file.headers, b"")
        if file.compressed is not None and accepts_gzip(event):
            return _written(200, {**file.headers, "content-encoding": "gzip"}, file.compressed)
        return _written(200, file.headers, file.body)


def _read(path: Path, policy: str) -> _File:
    body = path.read_bytes()
    compressed = path.with_name(path.name + COMPRESSED)
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    if kind.startswith("text/") or kind == "application/javascript":
        kind += "; charset=utf-8"
    headers = {
        **_HEADERS,
        "content-type": kind,
        "etag": f'"{hashlib.sha256(body).hexdigest()[:32]}"',
        "cache-control": _YEAR if path.name.startswith(HASHED) else "no-cache",
    }
    if path.name == INDEX:
        headers["content-security-policy"] = policy
    return _File(body, compressed.read_bytes() if compressed.exists() else None, headers)


def _written(status: int, headers: Mapping[str, str], body: bytes) -> dict[str, object]:
    return {
        "statusCode": status,
        "headers": dict(headers),
        "body": base64.b64encode(body).decode(),
        "isBase64Encoded": True,
    }
