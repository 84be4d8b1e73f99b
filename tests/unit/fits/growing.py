"""FITS files of any size, each grown in another place: what a reader must bear or refuse.

`FILES` has a maker for each kind: given a size, it returns a body of about that size, or of its own size
where the header alone asks for the memory.
"""

from __future__ import annotations

import gzip
import io
import random
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from astropy.io import fits

from tests.growth import Growth
from tests.unit.fits import made

BLOCK = 2880
CARD = 80
Make = Callable[[int], bytes]

_ABOUT = (
    "OBJECT  = 'V0001 Tst'",
    "DATE-OBS= '2020-01-02T03:04:05'",
    "INSTRUME= 'FORS2'",
    "TARGNAME= 'V0001 TST'",
)


@dataclass(frozen=True, slots=True)
class Grown(Growth):
    """An input that a function makes.

    Attributes:
        make: returns a body of about so many bytes.
    """

    make: Make = bytes

    def of_size(self, size: int) -> bytes:
        return self.make(size)


def header(*cards: str, extension: str | None = None) -> bytes:
    first = "SIMPLE  =                    T" if extension is None else f"XTENSION= '{extension:8s}'"
    text = "".join(card.ljust(CARD) for card in (first, *cards, "END"))
    return text.ljust(-(-len(text) // BLOCK) * BLOCK).encode("ascii")


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % BLOCK)


def image(
    lengths: tuple[int, ...], *cards: str, bitpix: int = 8, data: bytes = b"", more: bytes = b""
) -> bytes:
    axes = [f"NAXIS{axis:<3d}= {length}" for axis, length in enumerate(lengths, start=1)]
    return (
        header(f"BITPIX  = {bitpix}", f"NAXIS   = {len(lengths)}", *axes, *_ABOUT, *cards)
        + padded(data)
        + more
    )


def extension(
    kind: str, lengths: tuple[int, ...], *cards: str, bitpix: int = 8, data: bytes = b"", heap: int = 0
) -> bytes:
    axes = [f"NAXIS{axis:<3d}= {length}" for axis, length in enumerate(lengths, start=1)]
    return header(
        *(
            f"BITPIX  = {bitpix}",
            f"NAXIS   = {len(lengths)}",
            *axes,
            f"PCOUNT  = {heap}",
            "GCOUNT  = 1",
            *cards,
        ),
        extension=kind,
    ) + padded(data)


def table(
    forms: dict[str, str], width: int, rows: int, *cards: str, data: bytes = b"", heap: int = 0
) -> bytes:
    """A binary table after a primary header, its sizes as they are said and not as they are."""
    columns = [f"TFIELDS = {len(forms)}"]
    for number, (name, form) in enumerate(forms.items(), start=1):
        columns += [
            f"TTYPE{number:<3d}= '{name}'",
            f"TFORM{number:<3d}= '{form}'",
            f"TUNIT{number:<3d}= 'nm'",
        ]
    return image(()) + extension("BINTABLE", (width, rows), *columns, *cards, data=data, heap=heap)


def cards(*units: str, most: int = 19_000) -> Make:
    """Cards repeated in the header of a spectrum that is otherwise whole; {n} counts, {w} is it in letters.

    Args:
        units: the cards.
        most: how many there are at most: a few less than are read.
    """
    body = made.wcs()
    end = body.index(b"END".ljust(CARD))

    def make(size: int) -> bytes:
        count = min(max(1, size // CARD), most)
        text = "".join(
            units[n % len(units)].replace("{n}", str(n)).replace("{w}", _word(n))[:CARD].ljust(CARD)
            for n in range(count)
        )
        head = body[:end] + text.encode("ascii") + b"END".ljust(CARD)
        return head.ljust(-(-len(head) // BLOCK) * BLOCK) + body[-(-(end + CARD) // BLOCK) * BLOCK :]

    return make


def _word(number: int) -> str:
    return "".join(chr(65 + number // 26**place % 26) for place in range(5))


def wat(axis: int, text: str) -> Make:
    """A text repeated in the cards WATn of a multispec image, as many as IRAF can number and more."""

    def make(size: int) -> bytes:
        whole = "wtype=multispec spec1 = " + text * (size // len(text) + 1)
        pieces = [whole[at : at + 66].replace("'", " ") for at in range(0, size, 66)][:1_200]
        lines = [f"WAT{axis}_{number:03d}= '{piece}'"[:CARD] for number, piece in enumerate(pieces, start=1)]
        return image((200, 2), "CTYPE1  = 'MULTISPE'", *lines, bitpix=-32, data=bytes(1_600))

    return make


def polynomials(size: int) -> bytes:
    """Solutions that take more terms, at more samples, than any echelle."""
    samples = size // 4
    spec = f"1 90 2 4000.0 0.5 {samples} 0. 1. 2. " + "1. 0. 1 1 1. 9. 1. " * 3_000
    text = f'wtype=multispec spec1 = "{spec}"'
    lines = [
        f"WAT2_{number:03d}= '{text[at : at + 66]}'"
        for number, at in enumerate(range(0, len(text), 66), start=1)
    ]
    return image((samples, 1), "CTYPE1  = 'MULTISPE'", *lines, bitpix=-32, data=bytes(4 * samples))


def overlapping_columns(size: int) -> bytes:
    """An ASCII table whose 999 columns all lie on the same bytes."""
    width = 1_000
    rows = max(1, size // width)
    columns = ["TFIELDS = 999"]
    for number in range(1, 1_000):
        name = {1: "WAVE", 2: "FLUX", 3: "ERR"}.get(number, f"C{number}")
        columns += [f"TTYPE{number:<3d}= '{name}'", f"TBCOL{number:<3d}= 1", f"TFORM{number:<3d}= 'E1000.0'"]
    return image(()) + extension("TABLE", (width, rows), *columns, data=b"1.5".ljust(width) * rows)


def narrow_text_table(size: int) -> bytes:
    rows = max(1, size // 4)
    columns = ["TFIELDS = 2", "TTYPE1  = 'WAVE'", "TBCOL1  = 1", "TFORM1  = 'F2.0'", "TUNIT1  = 'nm'"]
    columns += ["TTYPE2  = 'FLUX'", "TBCOL2  = 3", "TFORM2  = 'F2.0'", "TUNIT2  = 'adu'"]
    return image(()) + extension("TABLE", (4, rows), *columns, data=b"1 2 " * rows)


def aliased_heap(size: int) -> bytes:
    """Descriptors that all name the same bytes of the heap."""
    rows = max(1, size // 16)
    heap = size // 2
    entry = (heap // 8).to_bytes(4) + bytes(4)
    return table(
        {"WAVE": "1PD", "FLUX": "1QD"}, 24, rows, data=(entry + bytes(16)) * rows + bytes(heap), heap=heap
    )


def many_tables(size: int) -> bytes:
    columns = {f"C{number}": "1B" for number in range(1, 900)}
    one = table(columns, len(columns), 1, data=bytes(len(columns)))
    primary = image(())
    return primary + one[len(primary) :] * (size // len(one))


def vectors(form: str, width: int, name: str = "SCI") -> Make:
    def make(size: int) -> bytes:
        rows = max(1, size // (2 * width))
        data = bytes(2 * width * rows)
        return table({"WAVELENGTH": form, "FLUX": form}, 2 * width, rows, f"EXTNAME = '{name}'", data=data)

    return make


def rows_of_waves(size: int) -> bytes:
    rows = size // 2
    wave = extension("IMAGE", (1, rows), "EXTNAME = 'WAVELENGTH'", data=bytes(rows))
    return image((1, rows), data=bytes(rows), more=wave)


def iue(size: int) -> bytes:
    rows = max(1, size // 22)
    forms = {"NPOINTS": "I", "WAVELENGTH": "E", "DELTAW": "E", "SIGMA": "1E", "FLUX": "1E", "APERTURE": "4A"}
    cells = np.zeros(
        rows, dtype=[("n", ">i2"), ("w", ">f4"), ("d", ">f4"), ("s", ">f4"), ("f", ">f4"), ("a", "S4")]
    )
    cells["n"], cells["w"], cells["d"] = 1, 1150, 1
    body = table(forms, 22, rows, "EXTNAME = 'MELO'", data=cells.tobytes())
    return body.replace(b"TARGNAME= 'V0001 TST'", b"TELESCOP= 'IUE'".ljust(21), 1)


def spectrum(size: int) -> bytes:
    samples = size // 12
    wave = 400 + np.arange(samples) * (100 / samples)
    return made.table(wave=wave, flux=2 + np.sin(np.arange(samples)))


def noise(size: int) -> bytes:
    return b"SIMPLE  =" + random.Random(1).randbytes(size)


def packed(make: Make, times: int) -> Make:
    """The gzip of a file that is so many times larger, up to 64 MB."""

    @cache
    def compressed(size: int) -> bytes:
        return gzip.compress(make(size), 1, mtime=0)

    return lambda size: compressed(min(size * times, 66_000_000))


def members(unit: bytes) -> Make:
    return lambda size: unit * (size // len(unit))


def fixed(body: bytes) -> Make:
    return lambda _: body


def empty_extensions(size: int) -> bytes:
    one = header("BITPIX  = 8", "NAXIS   = 0", "PCOUNT  = 0", "GCOUNT  = 1", extension="IMAGE")
    return image(()) + one * (size // len(one))


def tiles(size: int) -> bytes:
    """A tile-compressed image that would be very much larger."""
    stream = io.BytesIO()
    side = max(8, int((size * 100) ** 0.5) // 4)
    fits.HDUList(
        [
            fits.PrimaryHDU(),
            fits.CompImageHDU(np.zeros((side, side), dtype=np.int16), compression_type="GZIP_1"),
        ]
    ).writeto(stream)
    return stream.getvalue()


def scaled(size: int) -> bytes:
    return image(
        (size,), "BSCALE  = 0.5", "BZERO   = 3.0", "BLANK   = 0", "CTYPE1  = 'WAVE'", data=bytes(size)
    )


def rows3(size: int) -> bytes:
    return image((size // 3, 3), "XUNITS  = 'nm'", data=bytes(size))


_EMPTY_MEMBER = gzip.compress(b"", mtime=0)
_SMALL_MEMBER = gzip.compress(b" " * 7, mtime=0)

FILES: dict[str, Make] = {
    "rows without bytes": fixed(table({}, 0, 10**9)),
    "rows of no width": fixed(table({"WAVE": "0E", "FLUX": "0E"}, 0, 10**9)),
    "rows of little width": fixed(table({"WAVE": "0E", "FLUX": "0E"}, 0, 4_000_000)),
    "a column as wide as memory": fixed(table({"WAVE": "1000000000E", "FLUX": "0E"}, 4_000_000_000, 0)),
    "a column wider than its row": fixed(table({"WAVE": "1000000000E"}, 8, 1, data=bytes(8))),
    "a shape larger than its cell": fixed(
        table({"WAVE": "1E"}, 4, 1, "TDIM1   = '(1000,1000,1000)'", data=bytes(4))
    ),
    "a shape of nothing and everything": fixed(
        table({"WAVE": "0E", "FLUX": "1E"}, 4, 1, "TDIM1   = '(1000000000,0)'", data=bytes(4))
    ),
    "an image of no width": fixed(image((0, 10**9), "CTYPE1  = 'WAVE'")),
    "random groups": fixed(image((0, 0), "GROUPS  = T", "GCOUNT  = 1000000000", "PCOUNT  = 0")),
    "groups of no bytes": fixed(
        image(())
        + header(
            *(
                "BITPIX  = 8",
                "NAXIS   = 2",
                "NAXIS1  = 0",
                "NAXIS2  = 1",
                "PCOUNT  = 0",
                "GCOUNT  = 1000000000",
            ),
            extension="IMAGE",
        )
    ),
    "as many axes as there can be": fixed(image((1,) * 999, data=bytes(1))),
    "aliased heap": aliased_heap,
    "bits": lambda size: table(
        {"WAVE": f"{size * 4}X", "FLUX": f"{size * 4}X"}, size // 2 * 2, 1, data=bytes(size)
    ),
    "letters": lambda size: table(
        {"WAVE": f"{size}A", "FLUX": "1E"}, size + 4, 1, data=b"a" * size + bytes(4)
    ),
    "short texts": lambda size: table({"WAVE": "1A", "FLUX": "1A"}, 2, size // 2, data=b"a" * size),
    "complex numbers": lambda size: table({"WAVE": "1C", "FLUX": "1M"}, 24, size // 24, data=bytes(size)),
    "overlapping columns": overlapping_columns,
    "narrow text table": narrow_text_table,
    "many tables": many_tables,
    "many orders": vectors("2E", 8),
    "many orders of bytes": vectors("2B", 2),
    "many rows": vectors("1E", 4),
    "many axes in a cell": lambda size: table(
        {"WAVELENGTH": "32E", "FLUX": "32E"},
        256,
        size // 256,
        *("EXTNAME = 'SCI'", "TDIM1   = '(2,2,2,2,2)'", "TDIM2   = '(2,2,2,2,2)'"),
        data=bytes(size),
    ),
    "rows of waves": rows_of_waves,
    "iue": iue,
    "three rows": rows3,
    "scaled pixels": scaled,
    "spectrum": spectrum,
    "noise": noise,
    "tiles": tiles,
    "empty extensions": empty_extensions,
    "history": cards("HISTORY one step of the reduction"),
    "comment": cards("COMMENT ".ljust(80, "x")),
    "blank": cards(""),
    "more cards than are read": cards("HISTORY one step of the reduction", most=10**9),
    "more pieces than are read": cards("LONG1   = 'a text&'", *["CONTINUE  'and a piece of it&'"] * 2_000),
    "continue": cards("CONTINUE  'a piece of a text&'", most=990),
    "one continued text": cards("LONG1   = 'a text&'", *["CONTINUE  'and a piece of it&'"] * 990, most=990),
    "a text of quotes": cards(
        "LONG1   = 'it" + "'" * 2 + "&'", *["CONTINUE  '" + "''" * 33 + "&'"] * 990, most=990
    ),
    "the object continued": cards("OBJECT  = 'a&'", *["CONTINUE  'and a piece of it&'"] * 990, most=990),
    "continued everywhere": cards("LONG{n} = 'a text&'", "CONTINUE  'and the rest of it'", most=1_900),
    "hierarch": cards("HIERARCH ESO {w} {n} NAME = 'a value' / a comment"),
    "same keyword": cards("OBJECT  = 'V0001 Tst'"),
    "record-valued": cards("DP1     = 'AXIS.{n}: {n}'"),
    "keywords": cards("K{w}= {n} / number"),
    "quotes": cards("K{w}= '" + "''" * 33 + "'"),
    "unclosed quotes": cards("K{w}= '" + "''" * 34),
    "digits": cards("K{w}= " + "9" * 70),
    "checksums": cards("CHECKSUM= 'abcdefghijklmnop'", "DATASUM = '1'"),
    "no equals": cards("K{w}  x" + "=" * 60),
    "wat words": wat(2, "a"),
    "wat blanks": wat(2, "a" + " " * 3_000),
    "wat quotes": wat(2, '"'),
    "wat specs": wat(2, 'spec1 = "1'),
    "wat numbers": wat(2, "1 "),
    "wat digits": wat(2, "spec1111111111"),
    "wat pairs": wat(1, "a=b "),
    "wat one word of attributes": wat(1, "a"),
    "wat equals": wat(1, "="),
    "polynomials": polynomials,
    "empty members": members(_EMPTY_MEMBER),
    "small members": members(_SMALL_MEMBER),
    "member and junk": lambda size: gzip.compress(made.wcs(), mtime=0) + bytes(size),
    "empty blocks": lambda size: b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + b"\0\0\0\xff\xff" * (size // 5),
    "long name in the gzip": lambda size: b"\x1f\x8b\x08\x08\0\0\0\0\0\xff" + b"a" * size,
    "packed nothing": packed(bytes, 1_000),
    "packed image": packed(scaled, 1_000),
    "packed bits": packed(
        lambda size: table({"WAVE": f"{size * 8}X", "FLUX": "1E"}, size + 4, 1, data=bytes(size + 4)), 1_000
    ),
    "packed heap": packed(aliased_heap, 6),
    "packed columns": packed(overlapping_columns, 32),
    "packed text table": packed(narrow_text_table, 32),
    "packed rows": packed(vectors("1E", 4), 32),
    "packed orders": packed(vectors("2B", 2), 32),
    "packed rows of waves": packed(rows_of_waves, 32),
    "packed three rows": packed(rows3, 4),
    "packed tables": packed(many_tables, 32),
    "packed extensions": packed(empty_extensions, 32),
    "packed history": packed(cards("HISTORY one step of the reduction"), 8),
    "packed spectrum": packed(spectrum, 6),
    "packed iue": packed(iue, 32),
}


def zipped(names: Callable[[int], str], content: bytes = b"") -> Make:
    """A ZIP of so many small members."""

    def make(size: int) -> bytes:
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for number in range(size // (150 + 2 * len(names(0)) + len(content))):
                archive.writestr(zipfile.ZipInfo(names(number)), content)
        return stream.getvalue()

    return make


def many_entries_that_one_is_said_of(size: int) -> bytes:
    body = bytearray(zipped(lambda number: f"{number}.fits")(size))
    end = body.rindex(b"PK\x05\x06")
    body[end + 8 : end + 12] = b"\1\0\1\0"
    return bytes(body)


def deflated(size: int) -> bytes:
    """A member of the ZIP that unpacks to a thousand times its size."""
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("a.fits", "w") as member,
    ):
        for _ in range(min(size // 1_000, 100)):
            member.write(bytes(1_000_000))
    return stream.getvalue()


def nested(size: int) -> bytes:
    body = made.wcs() + bytes(size // 2)
    for _ in range(6):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr("a.fits", body)
        body = stream.getvalue()
    return body


ARCHIVES: dict[str, Make] = {
    "many members": zipped(lambda number: f"{number}.txt"),
    "many spectra": zipped(lambda number: f"{number}_x1d.fits"),
    "many entries, one said": many_entries_that_one_is_said_of,
    "long names": zipped(lambda number: "_x1d" * 4_000 + f"{number}!/.fits"),
    "names of 250": zipped(lambda number: ("_x1d" * 80 + f"{number}!/a.fits")[-250:]),
    "deflated": deflated,
    "nested": nested,
    "empty members": FILES["empty members"],
    "small members": FILES["small members"],
    "empty blocks": FILES["empty blocks"],
    "packed nothing": FILES["packed nothing"],
    "gzip of gzip": lambda size: gzip.compress(_EMPTY_MEMBER * (size // 4), 1, mtime=0),
    "stored bytes": lambda size: b"PK\x03\x04" + bytes(size),
    "ends of a ZIP": lambda size: b"PK\x03\x04" + b"PK\x05\x06" * (size // 4),
}


def cases(makers: dict[str, Make]) -> list[Growth]:
    return [Grown(name, make=make) for name, make in makers.items()]
