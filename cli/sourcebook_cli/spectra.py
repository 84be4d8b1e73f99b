"""Spectrum files: `spectra check` examines them as the stack would, without one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sourcebook.errors import InvalidInput
from sourcebook.fits.model import OVERRIDES, SpectrumOutcome
from sourcebook_cli.output import Styled, say, say_json

if TYPE_CHECKING:
    from sourcebook.fits.model import Verdict

_RETRYABLE = "RETRYABLE"


@click.group()
def spectra() -> None:
    """Spectrum files: their examination without a stack."""


@spectra.command()
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option(
    "--override",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    help=f"What a reviewer says in place of the files: {', '.join(OVERRIDES)}.",
)
@click.option(
    "--artifacts",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write spectrum.ecsv, metadata.json and preview.png of each VALID file below this folder.",
)
@click.option("--json", "as_json", is_flag=True, help="A list with an object for each file.")
def check(files: tuple[Path, ...], overrides: tuple[str, ...], folder: Path | None, *, as_json: bool) -> None:
    """Examine FILES as the workflow does: outcome, profile, wavelengths, reason. Needs no stack.

    The outcome is VALID, QUARANTINED, TERMINAL_INVALID, or RETRYABLE for what is no FITS file or not all
    of one: the stack would fetch it again.
    """
    from sourcebook.fits.check import check as examine

    given = _overrides(overrides)
    rows = []
    for file in files:
        checked = examine(file.read_bytes(), name=file.name, overrides=given)
        rows.append(_row(file, checked.verdict))
        if folder is not None and checked.orders:
            from sourcebook.fits.artifacts import artifacts

            place = folder / file.name
            place.mkdir(parents=True, exist_ok=True)
            for name, (content, _) in artifacts(checked, source={"file": file.name}).items():
                (place / name).write_bytes(content)
    if as_json:
        say_json(rows, indent=2)
    else:
        for row in rows:
            _show(row)


def _overrides(options: tuple[str, ...]) -> dict[str, str]:
    pairs = [option.partition("=") for option in options]
    for option, (_, equals, _) in zip(options, pairs, strict=True):
        if not equals:
            raise InvalidInput("--override", option, "KEY=VALUE")
    return {key: value for key, _, value in pairs}


def _row(file: Path, verdict: Verdict) -> dict[str, Any]:
    outcome = verdict.outcome.value
    return {
        "file": str(file),
        "outcome": _RETRYABLE if verdict.outcome is SpectrumOutcome.NOT_A_SPECTRUM_FILE else outcome,
        "reason": verdict.reason,
        "message": verdict.message,
        "profile": verdict.fits_profile_id,
        "orders": verdict.orders,
        "samples": verdict.samples,
        "wavelength_min": verdict.wavelength_min_m,
        "wavelength_max": verdict.wavelength_max_m,
        "original_unit": verdict.original_unit,
        "flux_unit": verdict.flux_unit,
        "medium": verdict.medium,
        "frame": verdict.frame,
        "object": verdict.object_name,
        "date": verdict.observed_at,
        "date_iso": verdict.observed_at_iso,
        "instrument": verdict.instrument,
        "checksum": verdict.checksum,
        "header_signature_hash": verdict.header_signature_hash,
        "notes": list(verdict.normalization_notes),
    }


def _show(row: dict[str, Any]) -> None:
    parts = [row["outcome"]]
    if row["profile"]:
        parts.append(row["profile"])
    if row["orders"]:
        parts.append(f"{row['orders']} x {row['samples']}")
    if row["wavelength_min"] is not None:
        parts.append(f"{row['wavelength_min'] * 1e9:.3f} to {row['wavelength_max'] * 1e9:.3f} nm")
    summary = ", ".join(parts)
    valid = row["outcome"] == SpectrumOutcome.VALID
    say(f"{row['file']}: ", Styled(summary, "green") if valid else Styled(summary, "yellow"))
    if row["reason"]:
        say(f"    {row['reason']}: {row['message']}")
    for note in row["notes"]:
        say(f"    - {note}")
