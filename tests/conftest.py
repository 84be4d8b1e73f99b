"""What holds for all tests."""

from __future__ import annotations

from hypothesis import settings

# How long an example takes says more of the machine than of the code; speed is measured in bench/.
settings.register_profile("sourcebook", deadline=None)
settings.load_profile("sourcebook")
