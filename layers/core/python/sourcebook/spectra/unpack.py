"""Taking a FITS file out of what a provider wrapped it in, gzip or ZIP, within bounds.

Both formats can hold a thousand times what they weigh, and a ZIP's directory can name a million files that
are not there. Nothing here writes more than it was allowed to, and nothing is read into memory whole but a
directory of bounded size.
"""

from __future__ import annotations

import re
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from typing import IO, Final

from sourcebook.errors import Retryable, Terminal, shorten
from sourcebook.http.bodies import BodyReader
from sourcebook.http.errors import FetchCause, FetchError
from sourcebook.runs.errors import Held

MOST_LAYERS: Final = 3
"""A ZIP, in it a gzipped file, gzipped twice. What is wrapped deeper stays so, and is found unreadable."""
MOST_MEMBERS: Final = 10_000
LARGEST_DIRECTORY: Final = 4_000_000
"""Bytes of a ZIP's directory: some 400 for each of the members allowed."""

_PIECE: Final = 1 << 18
_GZIP: Final = b"\x1f\x8b"
_ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
_END: Final = b"PK\x05\x06"
_ZIP64_LOCATOR: Final = b"PK\x06\x07"
_END_SIZE: Final = 22
_FITS_NAME: Final = re.compile(r"(?:^|/)(?!\._)[^/]*\.(?:fits?|fts|mxlo)(?:\.gz)?$", re.IGNORECASE)
"""A file that begins with ._ is what macOS keeps beside the file of that name."""
_LONGEST_NAME: Final = 255
"""Characters of a file's name that is looked at; paths in archives are far shorter."""
# What archives call the extracted, one-dimensional product among its images and logs: HST and JWST
# (_x1d, _x1dsum, _c1d), ESO (_1d, s1d), SDSS (spec-), IUE (mxlo), and the plain word.
_ONE_DIMENSIONAL: Final = re.compile(
    r"(?:(?:_|\b)(?:x1d(?:sum)?|c1d|s1d|1d|mxlo|spec|spectrum)(?:_[^/.]{0,200}+)?+\.(?:fits?|fts)(?:\.gz)?$)|(?:(?:^|/)spec-)",
    re.IGNORECASE,
)


class DamagedArchive(Retryable):
    """A gzip or ZIP file did not come whole, or not as it was made."""


class ArchiveTooLarge(Terminal):
    """A file, unpacked, is longer than what is read."""


class ArchiveRefused(Terminal):
    """A ZIP file holds no spectrum that could be taken out of it."""


def unpack(
    body: IO[bytes], files: ExitStack, *, largest: int, member: str | None = None
) -> tuple[IO[bytes], tuple[str, ...]]:
    """Return the file that `body` holds: itself, or what is in its gzip or ZIP wrapping.

    With it comes what was taken off, e.g. ``("zip: a/b_x1d.fits", "gzip")``. Out of a ZIP the file called
    `member` is taken; without a name, the one spectrum in there. `files` closes the temporary files.

    Raises:
        DamagedArchive: if the wrapping is broken.
        ArchiveTooLarge: if there is more in it than `largest`.
        ArchiveRefused: if a ZIP holds no FITS file, or is made in a way that is not read.
        Held: if a ZIP holds several spectra and none was chosen.
    """
    steps: list[str] = []
    for _ in range(MOST_LAYERS):
        body.seek(0)
        magic = body.read(4)
        body.seek(0)
        if magic.startswith(_GZIP):
            body = _gunzip(body, scratch(files), largest)
            steps.append("gzip")
        elif magic in _ZIP:
            name, body = _take_out(body, scratch(files), largest, member)
            steps.append(f"zip: {name}")
        else:
            break
    body.seek(0)
    return body, tuple(steps)


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    """Yield a file from where it stands to its end, in pieces of 256 KiB."""
    while piece := file.read(_PIECE):
        yield piece


def scratch(files: ExitStack) -> IO[bytes]:
    """Return a temporary file that `files` closes, and which is gone then."""
    return files.enter_context(tempfile.TemporaryFile())


def _gunzip(body: IO[bytes], target: IO[bytes], largest: int) -> IO[bytes]:
    try:
        with closing(BodyReader("", "gzip", largest, target)) as reader:
            for piece in _pieces(body):
                reader.feed(piece)
            reader.finish()
    except FetchError as error:
        if error.cause is FetchCause.TOO_LARGE:
            raise ArchiveTooLarge(
                f"the gzip file holds more than the {largest} bytes that are read"
            ) from error
        raise DamagedArchive(f"the gzip file is broken: {error.detail}") from error
    return target


def _take_out(body: IO[bytes], target: IO[bytes], largest: int, member: str | None) -> tuple[str, IO[bytes]]:
    _check_directory(body)
    try:
        with zipfile.ZipFile(body) as archive:
            found = _choose(archive.infolist(), member)
            if found.flag_bits & 0x1:
                raise ArchiveRefused(f"{shorten(found.filename)} in the ZIP file is encrypted")
            if found.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
                # The others cannot be unpacked up to a given size and no further.
                raise ArchiveRefused(
                    f"{shorten(found.filename)} in the ZIP file is compressed by method "
                    f"{found.compress_type}; stored and deflated files are read"
                )
            written = 0
            with archive.open(found) as source:
                for piece in _pieces(source):
                    written += len(piece)
                    if written > largest:
                        raise ArchiveTooLarge(
                            f"{shorten(found.filename)} in the ZIP file is longer than the {largest} bytes "
                            "that are read"
                        )
                    target.write(piece)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError) as error:
        raise DamagedArchive(f"the ZIP file is broken: {shorten(str(error))}") from error
    return found.filename, target


def _check_directory(body: IO[bytes]) -> None:
    """Raise ArchiveRefused for a directory that would fill the memory when it is read."""
    size = body.seek(0, 2)
    start = max(0, size - _END_SIZE - 65_535)
    body.seek(start)
    tail = body.read()
    body.seek(0)
    place = tail.rfind(_END)
    if place < 0 or len(tail) - place < _END_SIZE:
        raise DamagedArchive("the ZIP file has no directory: it was cut off")
    end = tail[place : place + _END_SIZE]
    entries, directory = int.from_bytes(end[10:12], "little"), int.from_bytes(end[12:16], "little")
    if _ZIP64_LOCATOR in tail[max(0, place - 20) : place]:
        raise ArchiveRefused("the ZIP file is in the form for more than 4 GB, which is not read")
    if entries > MOST_MEMBERS or directory > LARGEST_DIRECTORY:
        raise ArchiveRefused(
            f"the ZIP file names {entries} files in {directory} bytes; up to {MOST_MEMBERS} in "
            f"{LARGEST_DIRECTORY} are looked at"
        )


def _choose(members: Sequence[zipfile.ZipInfo], wanted: str | None) -> zipfile.ZipInfo:
    candidates = [
        info
        for info in members
        if not info.is_dir() and len(info.filename) <= _LONGEST_NAME and _FITS_NAME.search(info.filename)
    ]
    names = [info.filename[:200] for info in candidates]
    if wanted is not None:
        named = [info for info in candidates if info.filename == wanted]
        if len(named) == 1:
            return named[0]
        raise Held(
            "OTHER", f"member: {shorten(wanted)} is no FITS file of the ZIP file", {"members": names[:50]}
        )
    if not candidates:
        raise ArchiveRefused(f"none of the {len(members)} files in the ZIP file is named as FITS files are")
    for chosen in (candidates, [info for info in candidates if _ONE_DIMENSIONAL.search(info.filename)]):
        if len(chosen) == 1:
            return chosen[0]
    raise Held(
        "OTHER",
        f"the ZIP file holds {len(candidates)} FITS files, and their names do not say which one is the "
        "spectrum: say it by `member`",
        {"members": names[:50]},
    )
