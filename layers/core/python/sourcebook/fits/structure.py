"""Where each part of a FITS file begins and ends, found without believing it.

astropy allocates what a header asks for and follows as many headers as there are. So the mandatory
keywords are read here first, against the number of bytes that are really there; only a file whose
every part is present, and none of them too many, is opened (FITS standard 4.0, sections 3, 4.4 and 7).
The widths of a table's columns must add up to its row, so a column never asks for more than the file has.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sourcebook.errors import shorten
from sourcebook.fits.model import FailedDownload, Finding, QuarantineCode

BLOCK: Final = 2880
CARD: Final = 80
MOST_HDUS: Final = 256
MOST_CARDS: Final = 20_000
"""Cards of all headers together. ESO's longest have some thousand; an echelle's dispersion takes hundreds."""
MOST_CONTINUE: Final = 1_000
"""Cards CONTINUE of one header. astropy joins them to one value, at a cost that grows with its square."""
MOST_ROWS: Final = 4_000_000
"""Rows of one table. A row costs memory even where it holds no bytes."""

MOST_TEXT_ROWS: Final = 500_000
"""Rows of one ASCII table, whose numbers are read letter by letter."""
_ALL_ONES: Final = 0xFFFFFFFF
_INTEGER: Final = re.compile(rb"\s*([+-]?\d{1,19})\s*(?:/.*)?", re.DOTALL)
_STRING: Final = re.compile(rb"\s*'((?:[^']|'')*)'")
_WRITTEN: Final = re.compile(rb"(?:(?!END {5})[ -~]{80})*END {77} *")
"""A header with only what the standard allows: printable ASCII, blanks after END."""
_BITPIX: Final = frozenset({8, 16, 32, 64, -32, -64})
_EXTENSION: Final = b"XTENSION"
_BINARY_FORM: Final = re.compile(r"(\d{0,10})([LXBIJKAEDCMPQ])(.*)", re.DOTALL)
_BYTES: Final = {
    **dict.fromkeys("LBA", 1),
    "I": 2,
    **dict.fromkeys("JE", 4),
    **dict.fromkeys("KDCPQ", 8),
    "M": 16,
}
"""Of one element of a binary table's column (FITS standard 4.0, table 18); bits (X) share bytes."""
_TEXT_FORM: Final = re.compile(r"([AIFED])(\d{1,10})(?:\.\d{1,10})?")
_WIDEST_NUMBER: Final = 80
"""Characters of a number in an ASCII table."""
_DIMENSIONS: Final = re.compile(r"\(\s*(\d{1,10}(?:\s*,\s*\d{1,10}){0,31})\s*\)")


@dataclass(frozen=True, slots=True)
class Form:
    """What one cell of a column holds.

    Attributes:
        code: the letter of TFORM.
        repeat: elements of each cell; 1 in an ASCII table.
    """

    code: str
    repeat: int


@dataclass(frozen=True, slots=True)
class Extent:
    """One header with its data.

    Attributes:
        start: offset of its first byte in the file.
        data_start: offset of its data.
        data_end: offset after its data, without the filling.
        end: offset after the filling, which the last of a file may lack.
        cards: the header, without filling and END.
        lengths: NAXIS1, NAXIS2 and so on.
        columns: of a table, in order; empty for what is no table.
    """

    start: int
    data_start: int
    data_end: int
    end: int
    cards: tuple[bytes, ...]
    lengths: tuple[int, ...]
    columns: tuple[Form, ...]


class Checksums(IntEnum):
    """What the two checksums of an HDU say (FITS standard, appendix J), from good to bad."""

    ABSENT = 0
    HOLD = 1
    HEADER_EDITED = 2
    """CHECKSUM fails while DATASUM holds, or is not there.

    An edit changes many bytes and leaves a header that can be written.
    """
    HEADER_DAMAGED = 3
    """CHECKSUM fails, and one or two changed bytes explain it, or the header holds what no program writes."""
    DATA_CHANGED = 4


def extents(body: bytes) -> tuple[Extent, ...]:
    """Return the parts of a file, in order. Blanks after the last are left out.

    Raises:
        Finding: if a part is cut short or its header makes no sense, there are too many, or something else
            follows the last.
    """
    found: list[Extent] = []
    offset, taken = 0, 0
    while offset < len(body) and (not found or body.startswith(_EXTENSION, offset)):
        if len(found) == MOST_HDUS:
            raise Finding(f"more than {MOST_HDUS} HDUs; a spectrum has a few: look at the file")
        found.append(_extent(body, offset, len(found), MOST_CARDS - taken))
        offset, taken = found[-1].end, taken + len(found[-1].cards)
    rest = body[offset:].strip(b" \0\r\n")
    if rest:
        raise Finding(
            f"{len(rest)} bytes follow HDU {len(found) - 1} and are no extension: they start with "
            f"{shorten(rest[:16])}",
            FailedDownload.CORRUPT,
        )
    return tuple(found)


def sign_of_insertion(body: bytes, parts: tuple[Extent, ...]) -> str | None:
    """Return what shows that bytes were put into the data or taken out of them; None when nothing does.

    A checksum does not see that its words moved by whole words, nor zeros. But what was pushed out of the
    data lies in the filling, which is blank, or makes the file longer than whole blocks.
    """
    for index, part in enumerate(parts):
        filling = body[part.data_end : part.end]
        if filling.strip(b"\0") and filling.strip(b" "):
            return (
                f"the filling after the data of HDU {index} is not blank: bytes were put in or lost before it"
            )
    if (len(body) - parts[-1].end) % BLOCK:
        return f"{len(body) - parts[-1].end} bytes follow the last HDU, which are no whole blocks"
    return None


def checksums_of(body: bytes, extent: Extent) -> Checksums:
    """Return what the checksums of a part say about its bytes as they are."""
    values = _values(extent.cards)
    stated = _string(values, b"DATASUM")
    if stated:
        found = _ones_sum(body, extent.data_start, extent.end)
        if not (stated.isascii() and stated.isdigit() and int(stated) % _ALL_ONES == found % _ALL_ONES):
            return Checksums.DATA_CHANGED
    if not _string(values, b"CHECKSUM"):
        return Checksums.HOLD if stated else Checksums.ABSENT
    off_by = _ones_sum(body, extent.start, extent.end) % _ALL_ONES
    if off_by == 0:
        return Checksums.HOLD
    is_written = _WRITTEN.fullmatch(body, extent.start, extent.data_start) is not None
    return Checksums.HEADER_DAMAGED if _is_two_bytes(off_by) or not is_written else Checksums.HEADER_EDITED


def _ones_sum(body: bytes, start: int, end: int) -> int:
    """Sum big-endian words of 32 bits in ones' complement; the filling that a file lacks is zero."""
    whole = (end - start) // 4
    total = int(np.frombuffer(body, ">u4", whole, start).sum(dtype=np.uint64)) if whole else 0
    total += int.from_bytes(body[start + 4 * whole : end].ljust(4, b"\0"), "big")
    while total > _ALL_ONES:
        total = (total & _ALL_ONES) + (total >> 32)
    return total


def _is_two_bytes(off_by: int) -> bool:
    """Return whether one or two bytes that became others explain a sum: they add ±d · 256^k, modulo 2^32 − 1.

    Of all differences one in two thousand is such; an edit of several cards is seldom taken for damage.
    """
    of_one_byte = _differences_of_one_byte()
    return bool(np.isin((off_by - of_one_byte) % _ALL_ONES, of_one_byte).any())


@cache
def _differences_of_one_byte() -> NDArray[np.int64]:
    steps = np.arange(-255, 256, dtype=np.int64)
    return np.unique(np.concatenate([steps << (8 * place) for place in range(4)]) % _ALL_ONES)


def _extent(body: bytes, start: int, index: int, most_cards: int) -> Extent:
    cards = _cards(body, start, index, most_cards)
    data_start = start + _padded((len(cards) + 1) * CARD)
    values = _values(cards)
    if index == 0 and values.get(b"SIMPLE", b"")[:1] != b"T":
        raise Finding(
            "SIMPLE is not T: the file says itself that it is not standard FITS", FailedDownload.NOT_FITS
        )
    lengths = _lengths(values, index)
    data_end = data_start + _data_bytes(values, lengths, index)
    if data_end > len(body):
        written = str(data_end) if data_end < 10**18 else "beyond all files"
        raise Finding(
            f"HDU {index} should end at byte {written}; the file has {len(body)}", FailedDownload.TRUNCATED
        )
    end = min(data_start + _padded(data_end - data_start), len(body))
    return Extent(start, data_start, data_end, end, cards, lengths, _columns(values, lengths, index))


def _cards(body: bytes, start: int, index: int, most: int) -> tuple[bytes, ...]:
    cards: list[bytes] = []
    continued = 0
    for at in range(start, min(len(body), start + (most + 1) * CARD), CARD):
        card = body[at : at + CARD]
        if card[:8] == b"END     ":
            return tuple(cards)
        if len(card) < CARD:
            break
        cards.append(card)
        continued += card.startswith(b"CONTINUE")
        if continued > MOST_CONTINUE:
            raise Finding(
                f"the header of HDU {index} has more than {MOST_CONTINUE} cards CONTINUE: look at the file"
            )
    if len(cards) > most:
        raise Finding(f"more than {MOST_CARDS} cards up to the header of HDU {index}: look at the file")
    raise Finding(f"the header of HDU {index} has no END; the file is cut short", FailedDownload.TRUNCATED)


def _lengths(values: Mapping[bytes, bytes], index: int) -> tuple[int, ...]:
    axes = _integer(values, b"NAXIS", index)
    if not 0 <= axes <= 999:
        raise _nonsense(index, "NAXIS", axes, "0 to 999")
    return tuple(_integer(values, b"NAXIS%d" % axis, index) for axis in range(1, axes + 1))


def _data_bytes(values: Mapping[bytes, bytes], lengths: tuple[int, ...], index: int) -> int:
    bitpix = _integer(values, b"BITPIX", index)
    if bitpix not in _BITPIX:
        raise _nonsense(index, "BITPIX", bitpix, "8, 16, 32, 64, -32 or -64")
    parameters = _integer(values, b"PCOUNT", index, default=0)
    groups = _integer(values, b"GCOUNT", index, default=1)
    fields = _integer(values, b"TFIELDS", index, default=0)
    if min([*lengths, parameters, groups]) < 0:
        raise _nonsense(index, "a length", min([*lengths, parameters, groups]), "0 or more")
    if not 0 <= fields <= 999:
        raise _nonsense(index, "TFIELDS", fields, "0 to 999")
    if not lengths:
        return 0
    if values.get(b"GROUPS", b"")[:1] == b"T" and index == 0:
        raise Finding(
            "GROUPS is T: random groups, a form of radio interferometers, hold no spectrum that is known",
            QuarantineCode.UNKNOWN_PROFILE,
        )
    if groups != 1:
        raise _nonsense(index, "GCOUNT", groups, "1")
    return abs(bitpix) // 8 * groups * (parameters + math.prod(lengths))


def _columns(values: Mapping[bytes, bytes], lengths: tuple[int, ...], index: int) -> tuple[Form, ...]:
    """Return the columns of a table, whose widths add up to the length of its rows."""
    kind = _string(values, _EXTENSION) if index else ""
    if kind not in {"BINTABLE", "A3DTABLE", "TABLE"}:
        return ()
    if len(lengths) != 2 or _integer(values, b"BITPIX", index) != 8:
        raise _nonsense(index, "NAXIS", len(lengths), "2, with BITPIX 8, of a table")
    width, rows = lengths
    if rows > MOST_ROWS:
        raise Finding(f"HDU {index} has {rows} rows; expected at most {MOST_ROWS}: look at the file")
    count = _integer(values, b"TFIELDS", index)
    if kind == "TABLE":
        if rows > MOST_TEXT_ROWS:
            raise Finding(
                f"HDU {index} has {rows} rows of text; expected at most {MOST_TEXT_ROWS}: look at the file"
            )
        return tuple(_text_column(values, number, width, index) for number in range(1, count + 1))
    forms = [_binary_column(values, number, index) for number in range(1, count + 1)]
    total = sum(length for _, length in forms)
    if total != width:
        raise _nonsense(index, "NAXIS1", width, f"{total}, the sum of its {count} columns")
    return tuple(form for form, _ in forms)


def _binary_column(values: Mapping[bytes, bytes], number: int, index: int) -> tuple[Form, int]:
    """Return a column of a binary table and its width in bytes."""
    text = _string(values, b"TFORM%d" % number)
    found = _BINARY_FORM.fullmatch(text.upper())
    if not found:
        raise _nonsense(index, f"TFORM{number}", text, "a form such as 1D")
    repeat, code = int(found[1] or 1), found[2]
    if code in "PQ" and repeat > 1:
        raise _nonsense(index, f"TFORM{number}", text, "at most one array of variable length in each row")
    if b"TDIM%d" % number in values:
        dimensions = _string(values, b"TDIM%d" % number)
        shape = _DIMENSIONS.fullmatch(dimensions)
        inside = math.prod(int(length) for length in shape[1].split(",")) if shape else -1
        if code not in "PQ" and not 0 <= inside <= repeat:
            raise _nonsense(index, f"TDIM{number}", dimensions, f"a shape of at most {repeat} elements")
    return Form(code, repeat), -(-repeat // 8) if code == "X" else repeat * _BYTES[code]


def _text_column(values: Mapping[bytes, bytes], number: int, width: int, index: int) -> Form:
    """Return a column of an ASCII table."""
    text = _string(values, b"TFORM%d" % number)
    found = _TEXT_FORM.fullmatch(text.upper())
    first = _integer(values, b"TBCOL%d" % number, index)
    if not found or not 1 <= first <= width - int(found[2]) + 1:
        raise _nonsense(index, f"TFORM{number}", text, f"a form such as F8.3 within rows of {width} bytes")
    if found[1] != "A" and int(found[2]) > _WIDEST_NUMBER:
        raise _nonsense(index, f"TFORM{number}", text, f"a number of at most {_WIDEST_NUMBER} characters")
    return Form(found[1], 1)


def _nonsense(index: int, keyword: str, value: object, expected: str) -> Exception:
    return Finding(f"HDU {index}: {keyword} is {shorten(value)}; expected {expected}", FailedDownload.CORRUPT)


def _integer(values: Mapping[bytes, bytes], keyword: bytes, index: int, *, default: int | None = None) -> int:
    text = values.get(keyword, b"")
    if not text and default is not None:
        return default
    found = _INTEGER.fullmatch(text)
    if not found:
        raise _nonsense(index, keyword.decode(), text[:20], "an integer")
    return int(found[1])


def _values(cards: tuple[bytes, ...]) -> dict[bytes, bytes]:
    """Return what stands behind each keyword; of one that is there twice, the first."""
    values: dict[bytes, bytes] = {}
    for card in cards:
        if card[8:10] == b"= ":
            values.setdefault(card[:8].rstrip(), card[10:].strip())
    return values


def _string(values: Mapping[bytes, bytes], keyword: bytes) -> str:
    found = _STRING.match(values.get(keyword, b""))
    return found[1].decode("ascii", "replace").strip() if found else ""


def _padded(length: int) -> int:
    return -(-length // BLOCK) * BLOCK
