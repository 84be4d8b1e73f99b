"""The sample nova that `up` initializes through the real state machines, its spectra and its light curve."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

from boto3.dynamodb.conditions import Key

from sourcebook.runs.read import RunReader
from sourcebook.table import keys
from sourcebook_cli.nova import WorkflowFailed, ended, start
from sourcebook_cli.output import Styled, say, show_table, working
from sourcebook_cli.runs import find_run, print_run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sourcebook_cli.stack import Stack

_LOOK_EVERY: Final = 0.5
_RUNS_LOOKED_AT: Final = 100


def begin_sample_nova(stack: Stack, server_url: str) -> str:
    """Start the sample nova's initialization from the archives that this machine plays.

    Returns:
        The execution's ARN, for `show_sample_nova`.
    """
    from sourcebook_local.astronomy.sample import use_sample_archives
    from sourcebook_local.astronomy.services import SAMPLE_NOVA

    use_sample_archives(stack.table, stack.session, server_url)
    return start(stack, "InitializeNovaArn", {"candidate_name": SAMPLE_NOVA})


def show_sample_nova(stack: Stack, arn: str, server_url: str, timeout: float) -> None:
    """Print what comes of the sample nova, its spectra and its light curve.

    What goes wrong is printed and no more: the rest of the stack is up.

    Args:
        stack: where.
        arn: what `begin_sample_nova` has returned.
        server_url: of the archives that this machine plays.
        timeout: seconds to wait for each of the three.
    """
    from sourcebook_local.astronomy.services import SAMPLE_NOVA

    say()
    say(
        Styled(
            f"initialize_nova {SAMPLE_NOVA}: SIMBAD, Sesame, ADS and the archives of spectra are played "
            f"by {server_url}",
            "dim",
        )
    )
    try:
        run = find_run(stack, ended(stack, arn, timeout)["job_run_id"])
        print_run(run)
        say(f"  again     .venv/bin/sourcebook runs show {run['job_run_id']}")
        # Measurements need nothing of spectra: both are worked on at the same time.
        light_curve = _hand_in_light_curve(stack, run["nova_id"])
        _show_spectra(stack, run, timeout)
        _show_light_curve(stack, run["nova_id"], light_curve, timeout)
    except WorkflowFailed as error:
        say(Styled(f"The sample nova is not there: {error}", "yellow"))


def _show_spectra(stack: Stack, run: Mapping[str, Any], timeout: float) -> None:
    """Wait until the nova's spectra are discovered and each has come to its end, and print them.

    Raises:
        WorkflowFailed: if that takes longer than `timeout` seconds, or discovery fails.
    """
    nova_id = run["nova_id"]
    deadline = time.monotonic() + timeout
    with working("The archives are asked for spectra …"):
        while not (
            _is_discovered(stack, nova_id, run["correlation_id"])
            and all(spectrum["eligibility"] == "NONE" for spectrum in _spectra(stack, nova_id))
        ):
            if time.monotonic() > deadline:
                raise WorkflowFailed(
                    f"its spectra are not all acquired after {timeout:g} s; look again with "
                    "`sourcebook runs list --workflow acquire_and_validate_spectra`"
                )
            time.sleep(_LOOK_EVERY)
    show_table(
        ("provider", "spectrum", "outcome", ""),
        [
            (
                spectrum["provider"],
                spectrum.get("title") or spectrum["locator_identity"],
                spectrum["validation_status"],
                _remark(spectrum),
            )
            for spectrum in _spectra(stack, nova_id)
        ],
        whole=("provider", "outcome"),
        title="Its spectra",
    )
    say("  a person may say what a file does not: POST /quarantine/{id}/review, see docs/acquisition.md")


def _hand_in_light_curve(stack: Stack, nova_id: str) -> str:
    """Hand in the sample measurements; return the ARN of their ingestion.

    Raises:
        WorkflowFailed: if they cannot be read.
    """
    from sourcebook_cli.photometry import hand_in
    from sourcebook_local.astronomy.light_curve import SAMPLE_LIGHT_CURVE

    (result,) = hand_in(stack, nova_id, [SAMPLE_LIGHT_CURVE], timeout=None)
    if "error" in result:
        raise WorkflowFailed(f"its light curve: {result['error']}")
    return str(result["execution_arn"])


def _show_light_curve(stack: Stack, nova_id: str, arn: str, timeout: float) -> None:
    """Print what came of the measurements that are ingested by an execution.

    Raises:
        WorkflowFailed: if their ingestion fails, or takes longer than `timeout` seconds.
    """
    with working("Its light curve is ingested …"):
        result = ended(stack, arn, timeout)
    if result["outcome"] == "SKIPPED_DUPLICATE":
        say("Its light curve is there already")
    else:
        say(
            f"Its light curve: {result['accepted']} measurements of {result['rows']} rows, "
            f"{result['rejected']} of another star, {result['duplicates']} sent twice"
        )
    say(f"  plotted   GET /novae/{nova_id}/photometry?band=V, see docs/photometry.md")


def _is_discovered(stack: Stack, nova_id: str, correlation_id: str) -> bool:
    reader = RunReader(stack.table)
    runs = reader.of_nova(nova_id, limit=_RUNS_LOOKED_AT).items
    for found in runs:
        if (found["workflow_name"], found["correlation_id"]) != (
            "discover_spectra_products",
            correlation_id,
        ):
            continue
        if found["status"] == "FAILED":
            raise WorkflowFailed(
                f"discover_spectra_products: {found['error_type']}: {found['error_message']}"
            )
        if found["status"] == "SUCCEEDED":
            return True
    return False


def _spectra(stack: Stack, nova_id: str) -> list[dict[str, Any]]:
    own = Key("PK").eq(nova_id) & Key("SK").begins_with(keys.SPECTRA_PREFIX)
    return list(stack.table.query_all(own, consistent=True))


def _remark(spectrum: Mapping[str, Any]) -> str:
    match spectrum["validation_status"]:
        case "VALID":
            verdict = spectrum["verdict"]
            least, most = (verdict[name] * 1e9 for name in ("wavelength_min_m", "wavelength_max_m"))
            return f"{spectrum['fits_profile_id']}, {least:.1f} to {most:.1f} nm, with a preview"
        case "QUARANTINED":
            return f"{spectrum['quarantine_reason_code']}, waits for a person"
        case "TERMINAL_INVALID":
            return str(spectrum["terminal_reason"])
    return f"the same bytes as {spectrum['duplicate_of']}" if spectrum.get("duplicate_of") else ""
