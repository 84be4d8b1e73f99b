"""From what came over the line to the bytes of a FITS file, or to why it is none.

An archive in trouble answers 200 with a page, an error in JSON, or a VOTable whose status is ERROR:
failed downloads all of them, which another attempt may mend.
"""

from __future__ import annotations

from contextlib import closing
from typing import Final

from sourcebook.bucket.stored import LARGEST_FILE
from sourcebook.errors import shorten
from sourcebook.fits.model import FailedDownload, Finding
from sourcebook.http.bodies import BodyReader
from sourcebook.http.errors import FetchCause, FetchError

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
        raise Finding("the body is empty; expected a FITS file", FailedDownload.EMPTY)
    if body.startswith(_GZIP):
        body = _gunzip(body)
    if len(body) > LARGEST_FILE:
        raise Finding(
            f"{len(body)} bytes; expected at most {LARGEST_FILE} unpacked", FailedDownload.TOO_LARGE
        )
    _refuse_pages(body)
    if not body.startswith(b"SIMPLE  ="):
        raise Finding(
            f"the body starts with {shorten(body[:24], 60)}; expected FITS, which starts with SIMPLE  =",
            FailedDownload.NOT_FITS,
        )
    return body


def _refuse_pages(body: bytes) -> None:
    start = body[:4096].lstrip(b"\xef\xbb\xbf \t\r\n\0").lower()
    if not start:
        raise Finding("the body is blank; expected a FITS file", FailedDownload.EMPTY)
    if start.startswith((b"<!doctype html", b"<html", b"<head", b"<body")):
        raise Finding("the archive answered with a page of HTML, not FITS", FailedDownload.HTML_BODY)
    if b"<votable" in start:
        status = b"an error" if b'value="error"' in start or b"value='error'" in start else b"no file"
        raise Finding(
            f"the archive answered with a VOTable that holds {status.decode()}", FailedDownload.VOTABLE_ERROR
        )
    if start.startswith((b"{", b"[")):
        raise Finding("the archive answered with JSON, not FITS", FailedDownload.JSON_BODY)
    if start.startswith((b"<?xml", b"<")):
        raise Finding("the archive answered with XML, not FITS", FailedDownload.NOT_FITS)


def _gunzip(body: bytes) -> bytes:
    """Unpack all members, no further than the limit: 64 kB of gzip can hold 64 MB of nothing."""
    with closing(BodyReader("", "gzip", LARGEST_FILE)) as reader:
        try:
            for start in range(0, len(body), _STEP):
                reader.feed(body[start : start + _STEP])
            unpacked = reader.finish()
        except FetchError as error:
            raise Finding(
                f"the gzip is not whole: {error.detail}", _FAILURES.get(error.cause, FailedDownload.CORRUPT)
            ) from error
    if not unpacked:
        raise Finding("the gzip holds nothing; expected a FITS file", FailedDownload.EMPTY)
    return unpacked
