"""What holds for all tests."""

from __future__ import annotations

import os
from functools import lru_cache

import botocore.loaders
import botocore.session
from hypothesis import settings

# How long an example takes says more of the machine than of the code; speed is measured in bench/.
settings.register_profile("sourcebook", deadline=None, derandomize=True)
# `make fuzz`: others each time, and more of them.
settings.register_profile("fuzz", deadline=None, max_examples=int(os.environ.get("SOURCEBOOK_FUZZ", "1")))
settings.load_profile("fuzz" if "SOURCEBOOK_FUZZ" in os.environ else "sourcebook")

# moto begins each test with a new default session, and a session reads botocore's models from its files:
# a third of the CPU of these tests, and always the same files.
botocore.session.create_loader = lru_cache(maxsize=None)(botocore.loaders.create_loader)
