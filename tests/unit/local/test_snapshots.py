"""The saved state of the embedded cloud, as files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from sourcebook_local import saving
from sourcebook_local.snapshots import MANIFEST, DamagedError, Snapshots

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def save(folder: Path, text: str) -> Path:
    return Snapshots(folder).write({"a.json": lambda: [text, "!"], "b.json": lambda: ["{}"]})


def test_the_newest_is_found_and_the_one_before_it_is_kept(tmp_path: Path) -> None:
    assert Snapshots(tmp_path).newest() == (None, [])
    made = [save(tmp_path, text) for text in ("one", "two", "three")]
    assert Snapshots(tmp_path).newest() == (made[2], [])
    assert (made[2] / "a.json").read_text() == "three!"
    assert [path.exists() for path in made] == [False, True, True]


@pytest.mark.parametrize("name", ["a.json", MANIFEST])
@pytest.mark.parametrize("damage", ["truncated", "emptied", "changed", "removed"])
def test_what_is_damaged_is_named_and_not_used(tmp_path: Path, name: str, damage: str) -> None:
    first, second = save(tmp_path, "one"), save(tmp_path, "two")
    for path in (second, first):
        file = path / name
        content = file.read_bytes()
        if damage == "removed":
            file.unlink()
        else:
            changes = {"truncated": content[:-2], "emptied": b"", "changed": content.replace(b"o", b"0")}
            file.write_bytes(changes[damage])
        if path is second:
            found, damaged = Snapshots(tmp_path).newest()
            assert found == first
            assert [str(second) in line for line in damaged] == [True]
    with pytest.raises(DamagedError):
        Snapshots(tmp_path).newest()


def test_a_save_that_fails_leaves_those_before_it(tmp_path: Path) -> None:
    def full() -> Iterator[str]:
        yield "x" * 3_000_000
        raise OSError(28, "No space left on device")

    made = save(tmp_path, "one")
    with pytest.raises(OSError, match="No space left"):
        Snapshots(tmp_path).write({"a.json": full})
    assert Snapshots(tmp_path).newest() == (made, [])
    assert [path.name for path in tmp_path.iterdir()] == [made.name]


def test_a_text_is_replaced_in_one_file_only(tmp_path: Path) -> None:
    save(tmp_path, "http://localhost:1/")
    Snapshots(tmp_path).replace_text("a.json", ":1/", ":2/")
    newest, damaged = Snapshots(tmp_path).newest()
    assert newest
    assert damaged == []
    assert (newest / "a.json").read_text() == "http://localhost:2/!"


@pytest.mark.parametrize(
    "value",
    [{}, [], None, {"a": {"b": {}}, "c": [1, {"d": "é"}]}, {"x": {1: 2}}, {"t": (1, 2)}, {"s": {3}}, "text"],
)
def test_pieces_are_the_json_of_the_whole(value: object) -> None:
    def encode(found: object) -> object:
        if isinstance(found, set):
            return {"set": sorted(found)}
        raise TypeError

    whole = json.loads(json.dumps(value, default=encode))
    assert json.loads("".join(saving.pieces(value, encode))) == whole
