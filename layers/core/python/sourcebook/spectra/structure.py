"""Where each part of a FITS file begins and ends, found without believing it.

astropy allocates what a header asks for and follows as many headers as there are. So the mandatory
keywords are read here first, against the number of bytes that are really there; only a file whose
every part is present, and none of them too many, is opened (FITS standard 4.0, sections 3 and 4.4).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sourcebook.errors import shorten
from sourcebook.spectra.findings import failed_download, for_a_person
from sourcebook.spectra.model import FailedDownload, QuarantineCode

BLOCK: Final = 2880
CARD: Final = 80
MOST_HDUS: Final = 256
MOST_CARDS: Final = 20_000
"""Of one header. ESO's longest have some thousand; an echelle's dispersion takes a few hundred."""

_ALL_ONES: Final = 0xFFFFFFFF
_INTEGER: Final = re.compile(rb"\s*([+-]?\d{1,19})\s*(?:/.*)?", re.DOTALL)
_STRING: Final = re.compile(rb"\s*'((?:[^']|'')*)'")
_PRINTABLE: Final = re.compile(rb"(?:(?!END {5})[ -~]{80})*END {77} *")
_BITPIX: Final = frozenset({8, 16, 32, 64, -32, -64})
_EXTENSION: Final = b"XTENSION"


@dataclass(frozen=True, slots=True)
class Extent:
    """One header with its data.

    Attributes:
        start: offset of its first byte in the file.
        data_start: offset of its data.
        data_end: offset after its data, without the filling.
        end: offset after the filling, which the last of a file may lack.
        cards: the header, without filling and END.
    """

    start: int
    data_start: int
    data_end: int
    end: int
    cards: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Sums:
    """What the two checksums of an HDU say (FITS standard, appendix J).

    Attributes:
        data: whether DATASUM holds; None without one.
        whole: whether CHECKSUM holds; None without one.
        damage: CHECKSUM fails and the header looks damaged rather than edited: one or two changed bytes
            explain the difference, or it holds bytes that no program writes.
    """

    data: bool | None
    whole: bool | None
    damage: bool


def extents(body: bytes) -> tuple[Extent, ...]:
    """Return the parts of a file, in order. Blanks after the last are left out.

    Raises:
        Finding: if a part is cut short or its header makes no sense, there are too many, or something else
            follows the last.
    """
    found: list[Extent] = []
    offset = 0
    while offset < len(body) and (not found or body.startswith(_EXTENSION, offset)):
        if len(found) == MOST_HDUS:
            raise for_a_person(
                QuarantineCode.OTHER, f"more than {MOST_HDUS} HDUs; a spectrum has a few: look at the file"
            )
        found.append(_extent(body, offset, len(found)))
        offset = found[-1].end
    rest = body[offset:].strip(b" \0\r\n")
    if rest:
        raise failed_download(
            FailedDownload.CORRUPT,
            f"{len(rest)} bytes follow HDU {len(found) - 1} and are no extension: they start with "
            f"{shorten(rest[:16])}",
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


def sums_of(body: bytes, extent: Extent) -> Sums:
    """Return what the checksums of a part say about its bytes as they are."""
    values = _values(extent.cards)
    stated = _string(values, b"DATASUM")
    data = body[extent.data_start : extent.end]
    datasum = None
    if stated:
        datasum = stated.isdigit() and int(stated) % _ALL_ONES == _ones_sum(data) % _ALL_ONES
    if not _string(values, b"CHECKSUM"):
        return Sums(datasum, None, damage=False)
    off_by = _ones_sum(body[extent.start : extent.end]) % _ALL_ONES
    header = body[extent.start : extent.data_start]
    return Sums(
        datasum, off_by == 0, damage=off_by != 0 and (_is_two_bytes(off_by) or not _is_written(header))
    )


def _ones_sum(data: bytes) -> int:
    """Sum big-endian words of 32 bits in ones' complement; the filling that a file lacks is zero."""
    words = np.frombuffer(data + bytes(-len(data) % 4), dtype=">u4")
    total = int(words.sum(dtype=np.uint64))
    while total > _ALL_ONES:
        total = (total & _ALL_ONES) + (total >> 32)
    return total


def _is_two_bytes(off_by: int) -> bool:
    """Say whether one or two bytes that became others explain a sum: they add ±d · 256^k, modulo 2^32 − 1.

    Of all differences one in two thousand is such; an edit of several cards is seldom taken for damage.
    """
    of_one_byte = _differences_of_one_byte()
    return bool(np.isin((off_by - of_one_byte) % _ALL_ONES, of_one_byte).any())


@cache
def _differences_of_one_byte() -> NDArray[np.int64]:
    steps = np.arange(-255, 256, dtype=np.int64)
    return np.unique(np.concatenate([steps << (8 * place) for place in range(4)]) % _ALL_ONES)


def _is_written(header: bytes) -> bool:
    """Say whether a header holds only what the standard allows: printable ASCII, blanks after END."""
    return _PRINTABLE.fullmatch(header) is not None


def _extent(body: bytes, start: int, index: int) -> Extent:
    cards = _cards(body, start, index)
    data_start = start + _padded((len(cards) + 1) * CARD)
    values = _values(cards)
    if index == 0 and values.get(b"SIMPLE", b"")[:1] != b"T":
        raise failed_download(
            FailedDownload.NOT_FITS, "SIMPLE is not T: the file says itself that it is not standard FITS"
        )
    data_end = data_start + _data_bytes(values, index)
    if data_end > len(body):
        end = str(data_end) if data_end < 10**18 else "beyond all files"
        raise failed_download(
            FailedDownload.TRUNCATED, f"HDU {index} should end at byte {end}; the file has {len(body)}"
        )
    return Extent(
        start, data_start, data_end, min(data_start + _padded(data_end - data_start), len(body)), cards
    )


def _cards(body: bytes, start: int, index: int) -> tuple[bytes, ...]:
    cards: list[bytes] = []
    for at in range(start, min(len(body), start + (MOST_CARDS + 1) * CARD), CARD):
        card = body[at : at + CARD]
        if card[:8] == b"END     ":
            return tuple(cards)
        if len(card) < CARD:
            break
        cards.append(card)
    if len(cards) > MOST_CARDS:
        raise for_a_person(
            QuarantineCode.OTHER,
            f"the header of HDU {index} has more than {MOST_CARDS} cards: look at the file",
        )
    raise failed_download(
        FailedDownload.TRUNCATED, f"the header of HDU {index} has no END; the file is cut short"
    )


def _data_bytes(values: Mapping[bytes, bytes], index: int) -> int:
    bitpix = _integer(values, b"BITPIX", index)
    if bitpix not in _BITPIX:
        raise _nonsense(index, "BITPIX", bitpix, "8, 16, 32, 64, -32 or -64")
    axes = _integer(values, b"NAXIS", index)
    if not 0 <= axes <= 999:
        raise _nonsense(index, "NAXIS", axes, "0 to 999")
    lengths = [_integer(values, b"NAXIS%d" % axis, index) for axis in range(1, axes + 1)]
    parameters = _integer(values, b"PCOUNT", index, default=0)
    groups = _integer(values, b"GCOUNT", index, default=1)
    fields = _integer(values, b"TFIELDS", index, default=0)
    if min([*lengths, parameters, groups]) < 0:
        raise _nonsense(index, "a length", min([*lengths, parameters, groups]), "0 or more")
    if not 0 <= fields <= 999:
        raise _nonsense(index, "TFIELDS", fields, "0 to 999")
    if not lengths:
        return 0
    if lengths[0] == 0 and values.get(b"GROUPS", b"")[:1] == b"T":
        lengths = lengths[1:]
    return abs(bitpix) // 8 * groups * (parameters + math.prod(lengths))


def _nonsense(index: int, keyword: str, value: object, expected: str) -> Exception:
    return failed_download(
        FailedDownload.CORRUPT, f"HDU {index}: {keyword} is {shorten(value)}; expected {expected}"
    )


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
