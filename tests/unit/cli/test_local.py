"""`sourcebook up`, twice at once."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from sourcebook_local import process

UP = """
import pathlib, sys
from sourcebook_cli import local
local.HOME = pathlib.Path(sys.argv[1])
local._up = lambda sources, timeout: print("at work", flush=True)
local.up.main([], standalone_mode=False)
"""


def test_a_second_make_up_waits_for_the_first_and_says_so(tmp_path: Path) -> None:
    with process.lock(tmp_path / "up.lock"):
        second = subprocess.Popen(
            [sys.executable, "-c", UP, str(tmp_path)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        assert second.stdout is not None
        assert "Another `make up` is at work here" in second.stdout.readline()
        time.sleep(0.3)
        assert second.poll() is None
    rest, _ = second.communicate(timeout=60)
    assert "at work" in rest
    assert second.returncode == 0
