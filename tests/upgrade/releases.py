"""The release before this one: `make upgrade` begins with it. Change it when a release is tagged."""

from typing import Final

PREVIOUS: Final = "c82ebc8"
"""v0.1.0, as it was landed on 2026-11-28; there is no tag of it."""
