"""Zones are there whatever the image of the runtime has."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

LOCK = Path(__file__).parents[2] / "layers" / "core" / "requirements.txt"


def test_the_core_layer_brings_time_zones() -> None:
    assert "\ntzdata==" in f"\n{LOCK.read_text('utf-8')}"


@pytest.mark.skipif(importlib.util.find_spec("tzdata") is None, reason="tzdata is missing: `make install`")
def test_a_zone_is_found_on_a_machine_without_any() -> None:
    code = (
        "import zoneinfo; zoneinfo.reset_tzpath(to=()); "
        "print(zoneinfo.ZoneInfo('America/New_York').key, zoneinfo.ZoneInfo('Asia/Ho_Chi_Minh').key)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["America/New_York", "Asia/Ho_Chi_Minh"]
