"""From an upload to its measurements, with a reason for every row that is none."""

from __future__ import annotations

import codecs
import hashlib
import html
import re
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from itertools import chain
from typing import Final

from sourcebook.errors import InvalidInput, shorten
from sourcebook.lightcurves.aavso import aavso_type, read_aavso
from sourcebook.lightcurves.columns import Layout
from sourcebook.lightcurves.delimited import read_csv
from sourcebook.lightcurves.merge import merge
from sourcebook.lightcurves.model import ERRORS_KEPT, MOST_ROWS, Measurement, Parsed, RowError, too_many_rows
from sourcebook.lightcurves.rows import RowReader
from sourcebook.lightcurves.times import mjd_of
from sourcebook.lightcurves.votable import read_votable

_HEAD: Final = 100_000
"""Bytes in which the publication is looked for: what holds for all rows stands before them."""
_TERMS: Final = "(?:bibcode|reference|publication)"
_NAMED: Final = (
    re.compile(rf"^#[ \t]{{0,20}}{_TERMS}[ \t]{{0,20}}[:=]([^\r\n]{{1,200}})", re.IGNORECASE | re.MULTILINE),
    re.compile(
        rf"<(?:INFO|PARAM)\b(?=[^<>]{{0,400}}\b(?:name|ID)=[\"']{_TERMS}[\"'])"
        r"[^<>]{0,400}\bvalue=[\"']([^\"'<>]{1,200})[\"']",
        re.IGNORECASE,
    ),
)
_OTHER_KINDS: Final = (
    (b"SIMPLE  =", "a FITS file; spectra are handed in with `sourcebook donate`"),
    (b"PK\x03\x04", "a ZIP archive or a spreadsheet; save it as CSV"),
    (b"\xd0\xcf\x11\xe0", "a spreadsheet; save it as CSV"),
    (b"\x1f\x8b", "compressed; unpack it first"),
    (b"PAR1", "a Parquet file; export it as CSV"),
    (b"%PDF", "a PDF file; export the table as CSV"),
    (b"{", "JSON; export it as CSV"),
    (b"[", "JSON; export it as CSV"),
)
_CONTROL: Final = re.compile("[\x00-\x08\x0e-\x1f]")
_EXPECTED: Final = "a text file: CSV, AAVSO's formats, or a VOTable"
MOST_BYTES: Final = 20_000_000


def file_id_of(body: bytes) -> str:
    """Return the id of an upload: the SHA-256 of its bytes."""
    return hashlib.sha256(body).hexdigest()


def parse_upload(body: bytes, *, is_nova: Callable[[str], bool], now: datetime) -> Parsed:
    """Read an upload in whichever of the formats it is.

    Args:
        body: its bytes.
        is_nova: whether a name in it means the nova that it is for.
        now: aware; no measurement is from after tomorrow.

    Raises:
        InvalidInput: if it cannot be read as a whole. A row that cannot is in the result, with its reason.
    """
    if len(body) > MOST_BYTES:
        raise InvalidInput("file", f"{len(body)} bytes", f"at most {MOST_BYTES} bytes: split it")
    file_id = file_id_of(body)
    layout, notes = _layout(body)
    reader = RowReader(file_id, lru_cache(maxsize=4_096)(is_nova), mjd_of(now) + 1)
    good: list[Measurement] = []
    errors: list[RowError] = []
    rows = rejected = 0
    for row in chain.from_iterable(one.of_each_band() for one in layout.rows):
        rows += 1
        if rows > MOST_ROWS:
            raise too_many_rows()
        try:
            good.append(reader.read(row))
        except InvalidInput as error:
            rejected += 1
            if len(errors) < ERRORS_KEPT:
                errors.append(RowError(row.number, error.field, shorten(error.value), error.expected))
    merged = merge((), good)
    return Parsed(
        file_id=file_id,
        format=layout.format,
        rows=rows,
        measurements=merged.rows,
        duplicates=merged.duplicates,
        rejected=rejected,
        errors=tuple(errors),
        notes=(*notes, *layout.notes, *reader.warnings()),
        reference=_reference(body),
    )


def _reference(body: bytes) -> str | None:
    """Return what an upload names as its publication, in a comment or a VOTable's INFO or PARAM.

    None if it names none, or several.
    """
    text = body[:_HEAD].decode("utf-8", "replace")
    named = {html.unescape(one).strip() for pattern in _NAMED for one in pattern.findall(text)}
    return named.pop()[:200] if len(named) == 1 else None


def _layout(body: bytes) -> tuple[Layout, list[str]]:
    _refuse_other_kinds(body)
    if body.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"<" or body[:4] in {b"\xff\xfe<\x00", b"\xfe\xff\x00<"}:
        return read_votable(body.lstrip(b" \t\r\n") if body[:1].isspace() else body), []
    text, notes = _decode(body)
    return (read_csv(text) if aavso_type(text) is None else read_aavso(text)), notes


def _refuse_other_kinds(body: bytes) -> None:
    """Refuse what is no table of text.

    Raises:
        InvalidInput: saying what it is.
    """
    if not body.strip():
        raise InvalidInput("file", "(empty)", _EXPECTED)
    start = body[:64].lstrip()
    for magic, kind in _OTHER_KINDS:
        if start.startswith(magic):
            raise InvalidInput("file", start[:16], f"{_EXPECTED}; this is {kind}")


def _decode(body: bytes) -> tuple[str, list[str]]:
    """Return the text of an upload without its byte order mark, and what was odd about its encoding.

    UTF-8, or UTF-16 with its mark as spreadsheets write it; else Windows-1252, which old software writes.
    What is in doubt then are accents, never a digit.

    Raises:
        InvalidInput: if it is no text.
    """
    wide = body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    notes = []
    try:
        text = body.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        if wide:
            expected = f"{_EXPECTED}; its UTF-16 breaks at byte {error.start}"
            raise InvalidInput("file", body[:16], expected) from error
        text = body.decode("cp1252", "replace")
        notes.append("The text is not UTF-8 and was read as Windows-1252.")
    text = text.rstrip("\x1a\0")  # which ended files once
    if found := _CONTROL.search(text):
        near = text[max(0, found.start() - 8) : found.start() + 8]
        raise InvalidInput("file", near, f"{_EXPECTED}; this is binary data")
    return text.lstrip("\ufeff"), notes
