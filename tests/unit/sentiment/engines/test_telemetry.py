"""onnxruntime reports to its maker unless it is told not to before it is loaded."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sourcebook.sentiment.engines.model import NO_TELEMETRY

pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: `make install`")

ROOT = Path(__file__).parents[4]
LABEL = """
import os, sys
asked = []
sys.addaudithook(lambda event, args: asked.append((event, args)) if event in {
    "socket.getaddrinfo", "socket.gethostbyname", "socket.connect", "socket.sendto"} else None)
class Watch:
    def find_spec(self, name, path=None, target=None):
        if name == "onnxruntime":
            print("loaded with", os.environ.get("ORT_DISABLE_TELEMETRY"))
        return None
sys.meta_path.insert(0, Watch())
from sourcebook.sentiment.engines.model import ModelEngine
engine = ModelEngine()
for _ in range(20):
    engine.label(["Aurora shares jump after record quarter", "Rival sinks"])
print("asked", asked)
"""


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != NO_TELEMETRY}


def test_the_switch_is_off_before_the_library_is_loaded_and_no_name_is_looked_up() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LABEL],
        capture_output=True,
        text=True,
        check=True,
        env=environment(),
        timeout=120,
    )
    assert done.stdout.splitlines() == ["loaded with 1", "asked []"]


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed: it sees native look-ups")
def test_no_thread_of_the_library_looks_a_name_up_either() -> None:
    command = [
        "strace",
        "-f",
        "-qq",
        "-e",
        "trace=connect,sendto,sendmmsg,openat",
        sys.executable,
        "-c",
        LABEL,
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment(), timeout=300
    )
    if "loaded with" not in done.stdout:
        pytest.skip(f"strace may trace nothing here: {done.stderr[-200:]}")
    assert not re.findall(r".*(?:AF_INET|resolv\.conf|nscd/socket).*", done.stderr)


def test_nothing_else_loads_the_library() -> None:
    """Whoever loads it first decides: one place, which sets the switch before."""
    found = []
    for folder in ("layers", "lambdas", "cli", "local"):
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_text("utf-8")
            for node in ast.walk(ast.parse(text)) if "onnxruntime" in text else ():
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                if any(name.split(".")[0] == "onnxruntime" for name in names):
                    found.append(path.name)
    assert found == ["model.py"]
