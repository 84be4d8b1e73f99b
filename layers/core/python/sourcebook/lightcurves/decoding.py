"""From the bytes of an upload to text, or to the reason why it is none."""

from __future__ import annotations

import codecs
import re
from typing import Final

from sourcebook.errors import InvalidInput

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
EXPECTED: Final = "a text file: CSV, AAVSO's formats, or a VOTable"


def refuse_other_kinds(body: bytes) -> None:
    """Refuse what is no table of text.

    Raises:
        InvalidInput: saying what it is.
    """
    if not body.strip():
        raise InvalidInput("file", "(empty)", EXPECTED)
    start = body[:64].lstrip()
    for magic, kind in _OTHER_KINDS:
        if start.startswith(magic):
            raise InvalidInput("file", start[:16], f"{EXPECTED}; this is {kind}")


def decode(body: bytes) -> tuple[str, list[str]]:
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
            expected = f"{EXPECTED}; its UTF-16 breaks at byte {error.start}"
            raise InvalidInput("file", body[:16], expected) from error
        text = body.decode("cp1252", "replace")
        notes.append("The text is not UTF-8 and was read as Windows-1252.")
    text = text.rstrip("\x1a\0")  # which ended files once
    if found := _CONTROL.search(text):
        raise InvalidInput(
            "file", text[max(0, found.start() - 8) : found.start() + 8], f"{EXPECTED}; this is binary data"
        )
    return text.lstrip("\ufeff"), notes
