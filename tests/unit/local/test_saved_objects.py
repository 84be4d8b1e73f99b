"""The files of S3 are compared with what was saved."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import pytest

from sourcebook_local.saved_objects import DESCRIPTION, Damage, damages, inventory, set_aside

if TYPE_CHECKING:
    from pathlib import Path


def put(folder: Path, name: str, content: bytes, etag: str | None = None) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
    said = {"size": len(content), "etag": f'"{etag or digest}"', "key": name}
    path.with_name(f"{path.name}{DESCRIPTION}").write_text(json.dumps(said))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("bucket/a", "bucket/b/c", "bucket/d"):
        put(tmp_path / "s3", name, f"content of {name}".encode())
    return tmp_path / "s3"


@pytest.mark.parametrize("stopped", [True, False])
def test_what_is_as_it_was_saved_is_not_damaged(folder: Path, stopped: bool) -> None:
    saved = inventory(folder, {})
    assert len(saved) == 6
    assert damages(folder, saved, stopped=stopped) == []


@pytest.mark.parametrize("stopped", [True, False])
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"conten", "has 6 of 19 bytes"),
        (b"", "has 0 of 19 bytes"),
        (b"content of bucket/X\0", "has 20 of 19 bytes"),
        (b"contEnt of bucket/b", "has 19 of 19 bytes"),
    ],
)
@pytest.mark.parametrize("name", ["bucket/b/c", f"bucket/b/c{DESCRIPTION}"])
def test_a_changed_file_is_damaged(
    folder: Path, name: str, content: bytes, reason: str, stopped: bool
) -> None:
    saved = inventory(folder, {})
    (folder / name).write_bytes(content)
    [found] = damages(folder, saved, stopped=stopped)
    assert found.path == name
    if name == "bucket/b/c":
        size = len(b"content of bucket/b/c")
        assert found.reason == (
            "is not what was saved" if len(content) == size else reason.replace("of 19", f"of {size}")
        )


def test_a_file_that_is_gone_was_lost_after_a_stop_and_may_have_been_deleted_before_a_kill(
    folder: Path,
) -> None:
    saved = inventory(folder, {})
    (folder / "bucket/a").unlink()
    (folder / f"bucket/a{DESCRIPTION}").unlink()
    assert damages(folder, saved, stopped=False) == []
    assert [found.path for found in damages(folder, saved, stopped=True)] == [
        "bucket/a",
        f"bucket/a{DESCRIPTION}",
    ]


def test_what_was_written_between_the_last_save_and_a_kill_is_compared_with_its_description(
    folder: Path,
) -> None:
    saved = inventory(folder, {})
    put(folder, "bucket/a", b"written again")
    put(folder, "bucket/new", b"new")
    put(folder, "bucket/parts", b"of two parts", etag="0123-2")
    (folder / "bucket/undescribed").write_bytes(b"the kill came between the two files")
    (folder / "bucket/half.tmp").write_bytes(b"unfinished")
    assert damages(folder, saved, stopped=False) == []
    (folder / "bucket/new").write_bytes(b"ne")
    (folder / "bucket/parts").write_bytes(b"of two")
    found = {damage.path for damage in damages(folder, saved, stopped=False)}
    assert (
        {"bucket/new", "bucket/parts"}
        <= found
        <= {f"{name}{end}" for name in ("bucket/new", "bucket/parts") for end in ("", DESCRIPTION)}
    )


def test_an_unchanged_file_is_not_read_again(folder: Path) -> None:
    before = {name: saved._replace(digest="known") for name, saved in inventory(folder, {}).items()}
    put(folder, "bucket/d", b"changed")
    after = inventory(folder, before)
    assert after["bucket/a"].digest == "known"
    assert after["bucket/d"].digest == hashlib.sha256(b"changed").hexdigest()


def test_what_is_damaged_is_moved_with_its_description_and_nothing_else(folder: Path, tmp_path: Path) -> None:
    set_aside(folder, [Damage("bucket/a", "x"), Damage(f"bucket/a{DESCRIPTION}", "x")], tmp_path / "aside")
    assert {path.name for path in (tmp_path / "aside" / "bucket").iterdir()} == {"a", f"a{DESCRIPTION}"}
    assert sorted(inventory(folder, {})) == [
        "bucket/b/c", f"bucket/b/c{DESCRIPTION}", "bucket/d", f"bucket/d{DESCRIPTION}",
    ]  # fmt: skip
