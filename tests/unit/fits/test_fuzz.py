"""Bytes changed at random: no crash, bounded time, and never other numbers under the word VALID.

A few hundred mutations by default; SOURCEBOOK_FUZZ sets how many. Files whose HDUs carry checksums are
held to the last rule: where nothing vouches for a byte, nobody can see that it changed.
"""

from __future__ import annotations

import os
import random
import time

import numpy as np
import pytest

from sourcebook.fits.artifacts import artifacts
from sourcebook.fits.check import UNEXPECTED, check
from sourcebook.fits.model import SpectrumOutcome
from tests.unit.fits import made

MUTATIONS = int(os.environ.get("SOURCEBOOK_FUZZ", "150"))
SLOWEST = 2.0
"""Seconds for one file of ten kilobytes, on a machine that does other things too."""

VOUCHED = {"bess": made.bess(checksums=True), "eso": made.eso(), "eso.gz": made.gzipped(made.eso())}


def mutated(body: bytes, draw: random.Random) -> bytes:
    """One change of a kind that networks, disks and programs make."""
    changed = bytearray(body)
    at = draw.randrange(len(changed))
    kind = draw.randrange(8)
    if kind <= 3:
        for _ in range(draw.choice((1, 1, 2, 3, 8, 64))):
            changed[draw.randrange(len(changed))] = draw.randrange(256)
    elif kind == 4:
        changed[at] ^= 1 << draw.randrange(8)
    elif kind == 5:
        del changed[at:]
    elif kind == 6:
        del changed[at : at + draw.randrange(1, 200)]
    else:
        changed[at:at] = draw.choice((bytes(80), b" " * 80, bytes(changed[at : at + 2880]), b"\r\n"))
    return bytes(changed)


def header_mutated(body: bytes, draw: random.Random) -> bytes:
    """A digit or letter of a header becomes another: what damages a file and leaves it readable."""
    changed = bytearray(body)
    for _ in range(draw.choice((1, 1, 2))):
        places = [at for at in range(2880) if 48 <= changed[at] <= 122]
        changed[draw.choice(places)] = draw.choice(b"0123456789ABDENTU.-+' ")
    return bytes(changed)


@pytest.mark.parametrize("name", VOUCHED)
def test_a_mutated_file_never_comes_out_valid_with_other_numbers(name: str) -> None:
    body = VOUCHED[name]
    original = check(body)
    assert original.orders
    draw = random.Random(f"sourcebook {name}")
    outcomes = dict.fromkeys(SpectrumOutcome, 0)
    for number in range(MUTATIONS):
        change = mutated if name.endswith(".gz") or number % 2 else header_mutated
        began = time.process_time()
        checked = check(change(body, draw))
        assert time.process_time() - began < SLOWEST
        outcomes[checked.verdict.outcome] += 1
        if not checked.orders:
            assert checked.verdict.reason
            assert UNEXPECTED not in checked.verdict.message
            continue
        assert len(checked.orders) == len(original.orders)
        for order, expected in zip(checked.orders, original.orders, strict=True):
            np.testing.assert_array_equal(order.wavelength, expected.wavelength)
            np.testing.assert_array_equal(order.flux, expected.flux)
        assert checked.verdict.flux_unit == original.verdict.flux_unit
    assert outcomes[SpectrumOutcome.NOT_A_SPECTRUM_FILE] > MUTATIONS // 20
    assert (
        outcomes[SpectrumOutcome.QUARANTINED] + outcomes[SpectrumOutcome.NOT_A_SPECTRUM_FILE] > MUTATIONS // 2
    )


@pytest.mark.parametrize("name", made.EVERY_PROFILE)
def test_a_mutated_file_of_any_profile_never_crashes_the_worker(name: str) -> None:
    body = made.EVERY_PROFILE[name]()
    draw = random.Random(f"any {name}")
    for number in range(max(MUTATIONS // 10, 20)):
        changed = (header_mutated if number % 2 else mutated)(body, draw)
        began = time.process_time()
        checked = check(changed)
        if checked.orders and number % 10 == 0:  # a picture takes longer than the reading
            artifacts(checked, source={})
        assert time.process_time() - began < SLOWEST
        assert checked.verdict.to_json()["outcome"] in set(SpectrumOutcome)
        assert UNEXPECTED not in checked.verdict.message
