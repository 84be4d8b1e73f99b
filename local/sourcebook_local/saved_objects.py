"""The files of S3 objects in the embedded cloud, and checks that they are as saved.

MiniStack writes an object at once, into a file of its own with another one beside it that describes it. The
state is saved apart from these, so each save lists them with their digests, and the next start compares.

Runs in MiniStack's interpreter too: only the standard library is imported.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

DESCRIPTION = ".meta.json"
"""Suffix of the file that describes an object."""
_UNFINISHED = ".tmp"


class Saved(NamedTuple):
    """One file as it was saved."""

    size: int
    modified: int
    digest: str


@dataclass(frozen=True)
class Damage:
    """A file that is not as saved.

    Attributes:
        path: below the folder of S3.
        reason: what is wrong with it.
    """

    path: str
    reason: str


def inventory(folder: Path, before: Mapping[str, Saved]) -> dict[str, Saved]:
    """Return the list of files; only files that have changed since the last list are read."""
    found = {}
    for path in _files(folder):
        name = path.relative_to(folder).as_posix()
        try:
            with path.open("rb") as file:
                status = os.fstat(file.fileno())
                known = before.get(name)
                if known is None or (known.size, known.modified) != (status.st_size, status.st_mtime_ns):
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
                    known = Saved(status.st_size, status.st_mtime_ns, digest)
                found[name] = known
        except FileNotFoundError:
            continue  # deleted meanwhile
    return found


def damages(folder: Path, saved: Mapping[str, Saved], *, stopped: bool) -> list[Damage]:
    """Return what is wrong with the files.

    Args:
        folder: of S3.
        saved: the list of the last save.
        stopped: whether that was made as the cloud stopped. If not, it may have written, replaced and
            deleted objects since: what was written is compared with its own description.
    """
    found = []
    for name, known in sorted(saved.items()):
        path = folder / name
        try:
            size = path.stat().st_size
        except FileNotFoundError:
            if stopped:
                found.append(Damage(name, "is missing"))
            continue
        if size == known.size and _digest(path, "sha256") == known.digest:
            continue
        reason = f"has {size} of {known.size} bytes" if size != known.size else "is not what was saved"
        if stopped or not _is_as_described(path):
            found.append(Damage(name, reason))
    if not stopped:
        new = (path for path in _files(folder) if path.relative_to(folder).as_posix() not in saved)
        found += [
            Damage(path.relative_to(folder).as_posix(), "is not what its description says")
            for path in new
            if not _is_as_described(path)
        ]
    return found


def set_aside(folder: Path, damaged: list[Damage], aside: Path) -> None:
    """Move damaged files aside, each object with its description."""
    for damage in damaged:
        name = damage.path.removesuffix(DESCRIPTION)
        for part in (name, f"{name}{DESCRIPTION}"):
            if (folder / part).exists():
                (aside / part).parent.mkdir(parents=True, exist_ok=True)
                (folder / part).rename(aside / part)


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix != _UNFINISHED:
            yield path


def _is_as_described(path: Path) -> bool:
    """Return whether an object and its description fit each other; one without a description fits."""
    name = path.name.removesuffix(DESCRIPTION)
    content, description = path.with_name(name), path.with_name(f"{name}{DESCRIPTION}")
    try:
        metadata = json.loads(description.read_text())
        if metadata.get("is_delete_marker") or "size" not in metadata:
            return True
        etag = str(metadata.get("etag", "")).strip('"')
        whole = content.stat().st_size == metadata["size"]
        # An object of several parts has no digest of the whole.
        return whole and ("-" in etag or not etag or _digest(content, "md5") == etag)
    except FileNotFoundError:
        return content.exists()
    except (ValueError, AttributeError):
        return False


def _digest(path: Path, kind: str) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.new(kind, usedforsecurity=False)).hexdigest()
