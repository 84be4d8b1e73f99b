"""The invented light curve of the sample nova, in AAVSO's Extended format."""

from __future__ import annotations

from pathlib import Path
from typing import Final

SAMPLE_LIGHT_CURVE: Final = Path(__file__).with_name("v1324-sco-light-curve.txt")
"""Made by `sourcebook_local.astronomy.make_light_curve`."""
