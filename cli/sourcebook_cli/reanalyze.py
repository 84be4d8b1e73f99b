"""`sentiment reanalyze`: the articles of a subject are analyzed anew."""

from __future__ import annotations

import click

from sourcebook_cli.output import say


@click.command()
@click.argument("tool_id", metavar="TOOL")
@click.option(
    "--all-articles",
    is_flag=True,
    help="Look through every article, as a new name of TOOL asks for; takes longer.",
)
@click.option("--no-wait", is_flag=True, help="Start it and return.")
# Not `on_aws`: its module loads boto3, which `sentiment label`, in the same group, can do without.
@click.option(
    "--aws", is_flag=True, help="The stack on AWS, with your own credentials, instead of the local one."
)
def reanalyze(tool_id: str, all_articles: bool, no_wait: bool, aws: bool) -> None:
    """Analyze the articles of TOOL anew and forget its cached sentiment.

    For when the engine, the model or the names of a subject have changed. Doing it twice is harmless.
    """
    from sourcebook.errors import InvalidInput
    from sourcebook.table import keys
    from sourcebook_cli.executions import outcome, start
    from sourcebook_cli.stack import Stack

    stack = Stack.connect(aws=aws)
    if stack.table.get(keys.subject(tool_id)) is None:
        raise InvalidInput("TOOL", tool_id, "the id of a subject; `sourcebook subjects list` shows them")
    request = {"tool_id": tool_id, "scope": "all" if all_articles else "mentions"}
    execution = start(stack, "ReanalyzeSubjectArn", request)
    if no_wait:
        say(f"Started: {execution}")
        return
    counts = outcome(stack, execution)
    say(f"{counts['analyzed']} articles analyzed anew, {counts['failed']} could not be.")
    say(f"The run's record: sourcebook runs show {counts['job_run_id']}")
