"""From what came over the line to the bytes of a FITS file, or to why it is none.

An archive in trouble answers 200 with a page, an error in JSON, or a VOTable whose status is ERROR:
failed downloads all of them, which another attempt may mend.
"""

from __future__ import annotations

from contextlib import closing
from typing import Final

from sourcebook.errors import shorten
from sourcebook.fits.findings import failed_download
from sourcebook.fits.model import FailedDownload
from sourcebook.http.bodies import BodyReader
from sourcebook.http.errors import FetchCause, FetchError

LARGEST_BODY: Final = 64 * 1024 * 1024
"""Bytes, unpacked. The largest 1-D products of the archives have a quarter of it."""

_GZIP: Final = b"\x1f\x8b"
_STEP: Final = 64 * 1024
"""Bytes unpacked at a time: what follows a member is copied once for each member."""
_FAILURES: Final = {
    FetchCause.TOO_LARGE: FailedDownload.TOO_LARGE,
    FetchCause.TRUNCATED: FailedDownload.TRUNCATED,
}


def fits_bytes(body: bytes) -> bytes:
    """Return the bytes of a FITS file, unpacked if they came as gzip.

    Raises:
        Finding: if they are not the beginning of one.
    """
    if not body:
        raise failed_download(FailedDownload.EMPTY, "the body is empty; expected a FITS file")
    if body.startswith(_GZIP):
        body = _gunzip(body)
    if len(body) > LARGEST_BODY:
        raise failed_download(
            FailedDownload.TOO_LARGE, f"{len(body)} bytes; expected at most {LARGEST_BODY} unpacked"
        )
    _refuse_pages(body)
    if not body.startswith(b"SIMPLE  ="):
        raise failed_download(
            FailedDownload.NOT_FITS,
            f"the body starts with {shorten(body[:24], 60)}; expected FITS, which starts with SIMPLE  =",
        )
    return body


def _refuse_pages(body: bytes) -> None:
    start = body[:4096].lstrip(b"\xef\xbb\xbf \t\r\n\0").lower()
    if not start:
        raise failed_download(FailedDownload.EMPTY, "the body is blank; expected a FITS file")
    if start.startswith((b"<!doctype html", b"<html", b"<head", b"<body")):
        raise failed_download(FailedDownload.HTML_BODY, "the archive answered with a page of HTML, not FITS")
    if b"<votable" in start:
        status = b"an error" if b'value="error"' in start or b"value='error'" in start else b"no file"
        raise failed_download(
            FailedDownload.VOTABLE_ERROR, f"the archive answered with a VOTable that holds {status.decode()}"
        )
    if start.startswith((b"{", b"[")):
        raise failed_download(FailedDownload.JSON_BODY, "the archive answered with JSON, not FITS")
    if start.startswith((b"<?xml", b"<")):
        raise failed_download(FailedDownload.NOT_FITS, "the archive answered with XML, not FITS")


def _gunzip(body: bytes) -> bytes:
    """Unpack all members, no further than the limit: 64 kB of gzip can hold 64 MB of nothing."""
    with closing(BodyReader("", "gzip", LARGEST_BODY)) as reader:
        try:
            for start in range(0, len(body), _STEP):
                reader.feed(body[start : start + _STEP])
            unpacked = reader.finish()
        except FetchError as error:
            raise failed_download(
                _FAILURES.get(error.cause, FailedDownload.CORRUPT), f"the gzip is not whole: {error.detail}"
            ) from error
    if not unpacked:
        raise failed_download(FailedDownload.EMPTY, "the gzip holds nothing; expected a FITS file")
    return unpacked
