"""The sample nova that `up` initializes through the real state machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sourcebook_cli.nova import WorkflowFailed, ended, start
from sourcebook_cli.runs import find_run, print_run

if TYPE_CHECKING:
    from rich.console import Console

    from sourcebook_cli.stack import Stack


def show_sample_nova(stack: Stack, server_url: str, console: Console, timeout: float) -> None:
    """Initialize the sample nova from the archives that this machine plays, and print the run.

    What goes wrong is printed and no more: the rest of the stack is up.
    """
    from sourcebook_local.astronomy.sample import use_sample_archives
    from sourcebook_local.astronomy.services import SAMPLE_NOVA

    use_sample_archives(stack.table, stack.session, server_url)
    console.print(
        f"\n[dim]initialize_nova {SAMPLE_NOVA}: SIMBAD, Sesame and ADS are played by {server_url}[/]"
    )
    try:
        arn = start(stack, "InitializeNovaArn", {"candidate_name": SAMPLE_NOVA})
        run = find_run(stack, ended(stack, arn, timeout)["job_run_id"])
    except WorkflowFailed as error:
        console.print(f"[yellow]The sample nova is not there: {error}[/]", highlight=False)
        return
    print_run(run, console)
    console.print(f"  again     .venv/bin/sourcebook runs show {run['job_run_id']}")
