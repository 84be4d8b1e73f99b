"""The sample spectra: small, made by the script beside them, and each with the outcome it is there for."""

from __future__ import annotations

import pytest

from sourcebook.fits.check import check
from sourcebook_local.astronomy.spectra import make_samples

WANTED = {
    "v1324-sco-complete.fits": ("VALID", "", make_samples.complete),
    "v1324-sco-without-unit.fits": (
        "QUARANTINED",
        "MISSING_CRITICAL_METADATA",
        make_samples.without_unit,
    ),
    "v1324-sco-without-flux.fits": ("TERMINAL_INVALID", "ALL_NAN", make_samples.without_flux),
}


def test_the_files_are_small_and_none_is_without_a_purpose() -> None:
    files = sorted(make_samples.FOLDER.glob("*.fits"))
    assert [file.name for file in files] == sorted(WANTED)
    assert sum(file.stat().st_size for file in files) < 100_000


@pytest.mark.parametrize("name", WANTED)
def test_a_sample_ends_as_it_should_and_is_what_the_script_makes(name: str) -> None:
    outcome, reason, make = WANTED[name]
    kept = check((make_samples.FOLDER / name).read_bytes(), name=name).verdict
    assert (kept.outcome.value, kept.reason) == (outcome, reason)
    # Not byte by byte: the last digit of an exponential differs from one processor to the next.
    assert check(make(), name=name).verdict.to_json() == kept.to_json()
