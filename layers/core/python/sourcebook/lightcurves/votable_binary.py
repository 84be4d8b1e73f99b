"""The rows of a VOTable in BINARY or BINARY2 (VOTable 1.4, sections 5.3 and 5.4) as the text of its cells."""

from __future__ import annotations

import base64
import binascii
import re
import struct
from collections.abc import Iterator, Sequence
from math import isnan
from typing import Final, NamedTuple

from sourcebook.errors import InvalidInput

_CODES: Final = {
    "bit": "bit",
    "boolean": "c",
    "unsignedByte": "B",
    "short": "h",
    "int": "i",
    "long": "q",
    "char": "c",
    "unicodeChar": "H",
    "float": "f",
    "double": "d",
    "floatComplex": "ff",
    "doubleComplex": "dd",
}
"""Types by what `struct` calls them."""
_KEPT: Final = 2_000
"""Values of a cell: letters of a text, or numbers of an array that is no measurement."""
_SIZE: Final = re.compile(r"(?P<fixed>(?:\d{1,6}x)*)(?P<last>\d{0,9})(?P<open>\*?)", re.ASCII)
_EXPECTED: Final = "a VOTable whose binary data are whole, in base64 and within the file"


class BinaryType(NamedTuple):
    """The type of a column.

    Attributes:
        code: one value, for `struct`.
        length: how many values a cell has; None if each cell says it.
        text: whether they are the letters of a text.
    """

    code: str
    length: int | None
    text: bool

    @classmethod
    def of(cls, datatype: str, arraysize: str) -> BinaryType:
        """Return the type that a FIELD declares.

        Raises:
            InvalidInput: if it is none.
        """
        size = _SIZE.fullmatch(arraysize.strip())
        if datatype not in _CODES or size is None:
            shown = f"{datatype} {arraysize}"
            raise InvalidInput("FIELD", shown, f"a datatype that is one of {', '.join(_CODES)}")
        count = int(size["last"] or 1)
        for length in size["fixed"].split("x")[:-1]:
            count *= int(length)
        return cls(_CODES[datatype], None if size["open"] else count, datatype.endswith(("har", "Char")))


def read_binary(stream: str, types: Sequence[BinaryType], *, nulls: bool) -> Iterator[list[str]]:
    """Yield the cells of each row.

    Args:
        stream: what stands in STREAM, in base64.
        types: of the columns.
        nulls: whether each row begins with flags for the cells that are null, as in BINARY2.

    Raises:
        InvalidInput: if it is no base64, or ends within a row.
    """
    try:
        data = base64.b64decode("".join(stream.split()), validate=True)
    except binascii.Error as error:
        raise InvalidInput("STREAM", stream[:40].strip(), f"{_EXPECTED} ({error})") from error
    place = row = 0
    while place < len(data):
        row += 1
        flags = data[place : place + (len(types) + 7) // 8] if nulls else b""
        place += len(flags)
        cells = []
        try:
            for number, one in enumerate(types):
                text, place = _cell(data, place, one)
                null = nulls and flags[number // 8] & (0x80 >> number % 8)
                cells.append("" if null else text)
        except (struct.error, IndexError) as error:
            raise InvalidInput("STREAM", f"row {row}", f"{_EXPECTED}; it ends within a row") from error
        yield cells


def _cell(data: bytes, place: int, one: BinaryType) -> tuple[str, int]:
    """Return the text of a cell, and the place behind it.

    Raises:
        struct.error or IndexError: if the data end before it.
    """
    count = one.length
    if count is None:
        (count,) = struct.unpack_from(">I", data, place)
        place += 4
    if one.code == "bit":
        end = place + (count + 7) // 8
        bits = "".join(f"{byte:08b}" for byte in data[place:end][:_KEPT])[:count]
        return " ".join(bits), end
    end = place + struct.calcsize(f">{one.code}") * count
    if end > len(data):
        raise IndexError(end)
    values = struct.unpack_from(f">{one.code * min(count, _KEPT)}", data, place)
    if one.text:
        wide = one.code == "H"
        letters = "".join(map(chr, values)) if wide else b"".join(values).decode("utf-8", "replace")
        return letters.partition("\0")[0].strip(), end
    return " ".join(map(_single if one.code == "f" else _number, values)), end


def _number(value: float | bytes) -> str:
    if isinstance(value, bytes):
        return value.decode("latin-1").strip("\0 ?")
    return "" if isnan(value) else repr(value)


def _single(value: float) -> str:
    """Return the shortest text of a number of single precision."""
    if isnan(value):
        return ""
    texts = (f"{value:.{digits}g}" for digits in range(6, 10))
    return next(text for text in texts if struct.unpack("f", struct.pack("f", float(text)))[0] == value)
