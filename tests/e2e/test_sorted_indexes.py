"""The embedded cloud's indexes, kept in order, answer every query as they did before."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from sourcebook_local import launcher, sorted_indexes
from sourcebook_local.cloud import LocalCloud
from tests.e2e.conftest import VENV

DRIVER = Path(__file__).with_name("queries_compared.py")


@pytest.mark.parametrize("seed", [1, 2])
def test_queries_have_the_answers_that_they_had(new_cloud: Callable[[str], LocalCloud], seed: int) -> None:
    new_cloud("indexes").start()  # makes the cloud's own environment where there is none
    finished = subprocess.run(
        [str(VENV / "bin" / "python"), "-I", str(DRIVER), str(sorted_indexes.__file__), str(seed)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr[-3000:]
    found = json.loads(finished.stdout.splitlines()[-1])
    assert found["answers"] > 4_000
    assert found["items"] > 8_000
    plain, mended = found["pages"]
    assert mended < plain / 5, "a page costs as much as its partition"


def test_indexes_that_are_kept_in_another_way_are_refused() -> None:
    with pytest.raises(launcher.UnexpectedError, match="_query is not a function of"):
        launcher.sort_indexes(ModuleType("another_version"))
