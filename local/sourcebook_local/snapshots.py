"""The saved state of the embedded cloud: whole folders of files, each with its digest.

A snapshot is written beside the last one and renamed when it is whole and on the disk. The last two are kept.
What is read is compared with its digest first: a truncated file is noticed and never taken for a state.

Runs in MiniStack's interpreter too: only the standard library is imported.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

KEPT = 2
MANIFEST = "manifest.json"
CONTENT = "saved.json"
"""The file of a snapshot with the number of items and the list of S3's files."""
_PREFIX = "saved-"
_PIECE = 1024 * 1024


class DamagedError(Exception):
    """No snapshot is complete; the message has what is wrong with each."""


class Snapshots:
    """The snapshots in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.unfinished = folder / "saving"
        """The folder of the next snapshot, whose size shows the progress."""

    def progress(self) -> tuple[int, int]:
        """Return how many files, and bytes, of the next snapshot are written."""
        try:
            sizes = [path.stat().st_size for path in self.unfinished.iterdir()]
        except FileNotFoundError:
            return 0, 0
        return len(sizes), sum(sizes)

    def newest(self) -> tuple[Path | None, list[str]]:
        """Return the newest whole snapshot, None if there never was one, and what is wrong with newer ones.

        Raises:
            DamagedError: if there are snapshots and none is whole.
        """
        damaged: list[str] = []
        for path in self._all():
            trouble = _trouble(path)
            if not trouble:
                return path, damaged
            damaged.append(f"{path}: {trouble}")
        if damaged:
            raise DamagedError("; ".join(damaged))
        return None, []

    def write(self, files: Mapping[str, Callable[[], Iterable[str]]]) -> Path:
        """Write a snapshot of these files, given in pieces of text; return its folder.

        Raises:
            OSError: if it cannot be written; the snapshots before it are as they were.
        """
        last = self._all()
        shutil.rmtree(self.unfinished, ignore_errors=True)
        self.unfinished.mkdir(parents=True)
        try:
            digests = {name: _write(self.unfinished / name, pieces()) for name, pieces in files.items()}
            _write(self.unfinished / MANIFEST, [json.dumps(digests, indent=1)])
            _sync(self.unfinished)
        except BaseException:
            shutil.rmtree(self.unfinished, ignore_errors=True)
            raise
        number = int(last[0].name.removeprefix(_PREFIX)) + 1 if last else 1
        made = self._folder / f"{_PREFIX}{number:08}"
        self.unfinished.rename(made)
        _sync(self._folder)
        for old in self._all()[KEPT:]:
            shutil.rmtree(old, ignore_errors=True)
        return made

    def last_text(self, name: str) -> str:
        """Return a file of the snapshot that was made last, damaged or not; "" without one."""
        last = self._all()
        return (last[0] / name).read_text() if last else ""

    def replace_text(self, name: str, old: str, new: str) -> None:
        """Replace a text in a file of the newest snapshot, which becomes a new one."""
        newest, _ = self.newest()
        if newest is None or not (newest / name).exists():
            return
        texts = {path.name: path.read_text() for path in newest.iterdir() if path.name != MANIFEST}
        texts[name] = texts[name].replace(old, new)
        self.write({file: lambda text=text: [text] for file, text in texts.items()})  # type: ignore[misc]

    def _all(self) -> list[Path]:
        return sorted(self._folder.glob(f"{_PREFIX}*"), reverse=True)


def _trouble(snapshot: Path) -> str:
    """Return what is wrong with a snapshot, or ""."""
    try:
        digests = json.loads((snapshot / MANIFEST).read_text())
        for name, (size, digest) in digests.items():
            found = (snapshot / name).stat().st_size
            if found != size:
                return f"{name} has {found} of {size} bytes"
            with (snapshot / name).open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != digest:
                    return f"{name} is not what was saved"
    except (OSError, ValueError, TypeError, AttributeError) as error:
        return str(error) or type(error).__name__
    return ""


def _write(path: Path, pieces: Iterable[str]) -> tuple[int, str]:
    digest, size, buffer = hashlib.sha256(), 0, bytearray()
    with path.open("wb") as file:
        for piece in pieces:
            buffer += piece.encode()
            if len(buffer) >= _PIECE:
                digest.update(buffer)
                size += file.write(buffer)
                buffer.clear()
        digest.update(buffer)
        size += file.write(buffer)
        file.flush()
        os.fsync(file.fileno())
    return size, digest.hexdigest()


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
