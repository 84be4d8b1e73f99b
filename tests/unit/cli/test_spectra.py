"""`sourcebook spectra check`: the examination of a workflow, on files, without a stack."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from sourcebook.fits.profiles import PROFILES
from sourcebook_cli.main import main
from tests.unit.fits import made

BESS = next(profile.id for profile in PROFILES if profile.name == "bess")


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    bodies = {
        "valid": made.bess(),
        "held": made.bess({"CUNIT1": None}),
        "page": b"<html>busy</html>",
    }
    paths = {name: tmp_path / f"{name}.fits" for name in bodies}
    for name, body in bodies.items():
        paths[name].write_bytes(body)
    return paths


def test_each_file_is_one_object_of_the_list(files: dict[str, Path]) -> None:
    finished = CliRunner().invoke(main, ["spectra", "check", *map(str, files.values()), "--json"])
    assert finished.exit_code == 0
    valid, held, page = json.loads(finished.stdout)
    assert valid == {
        "file": str(files["valid"]),
        "outcome": "VALID",
        "reason": "",
        "message": "",
        "profile": BESS,
        "orders": 1,
        "samples": made.SAMPLES,
        "wavelength_min": pytest.approx(4e-7),
        "wavelength_max": pytest.approx(4.995e-7),
        "original_unit": "Angstrom",
        "flux_unit": None,
        "medium": None,
        "frame": None,
        "object": "V0001 Tst",
        "date": "2024-03-05T21:30:00",
        "date_iso": "2024-03-05T21:30:00Z",
        "instrument": "LISA-C11",
        "checksum": "absent",
        "header_signature_hash": valid["header_signature_hash"],
        "notes": [
            "wavelengths from Angstrom to metres",
            "the file gives no unit of flux: values are relative",
        ],
    }
    assert (held["outcome"], held["reason"]) == ("QUARANTINED", "MISSING_CRITICAL_METADATA")
    assert (page["outcome"], page["reason"], page["profile"]) == ("RETRYABLE", "HTML_BODY", None)


def test_overrides_are_those_of_a_reviewer(files: dict[str, Path]) -> None:
    arguments = ["spectra", "check", str(files["held"]), "--override", "wavelength_unit=Angstrom", "--json"]
    (row,) = json.loads(CliRunner().invoke(main, arguments).stdout)
    assert row["outcome"] == "VALID"
    assert any("the reviewer says 'Angstrom'" in note for note in row["notes"])


@pytest.mark.parametrize("option", ["wavelength_unit", "colour=red", "date=soon"])
def test_an_override_that_cannot_be_used_is_refused(files: dict[str, Path], option: str) -> None:
    finished = CliRunner().invoke(main, ["spectra", "check", str(files["held"]), "--override", option])
    assert finished.exit_code == 1
    assert "not valid; expected" in finished.output


def test_artifacts_of_the_valid_ones_are_written(files: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "made"
    finished = CliRunner().invoke(
        main, ["spectra", "check", *map(str, files.values()), "--artifacts", str(folder)]
    )
    assert finished.exit_code == 0
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*.*") if path.is_file()} == {
        "valid.fits/spectrum.ecsv",
        "valid.fits/metadata.json",
        "valid.fits/preview.png",
    }
    assert f"valid.fits: VALID, {BESS}, 1 x 200, 400.000 to 499.500 nm" in finished.output
    assert "HTML_BODY" in finished.output
