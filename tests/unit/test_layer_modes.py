"""What is built under a strict umask can be read by the user that a function runs as."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.layer_builds import built_aside


@pytest.fixture(params=[0o077, 0o022, 0o002, 0o027])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.mark.usefixtures("umask")
def test_whatever_is_built_is_readable_by_everybody_and_has_the_same_modes(tmp_path: Path) -> None:
    place = tmp_path / "cache" / "layer"
    with built_aside(place) as unfinished:
        package = unfinished / "python" / "package"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("")
        program = unfinished / "bin"
        program.write_text("#!/bin/sh\n")
        program.chmod(0o700)
    modes = {path.relative_to(place).as_posix(): path.stat().st_mode & 0o777 for path in place.rglob("*")}
    assert modes == {
        "python": 0o755,
        "python/package": 0o755,
        "python/package/__init__.py": 0o644,
        "bin": 0o755,
    }
    assert place.stat().st_mode & 0o777 == 0o755
