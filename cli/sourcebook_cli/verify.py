"""`verify`: checks the invariants of the table, and repairs what it can."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import click

from sourcebook.integrity.checks import all_checks, chosen
from sourcebook.integrity.verify import PATIENCE, Mended, Report, Verifier
from sourcebook.table.client import Table, aws_config
from sourcebook_cli.output import Styled, bar, clear_line, say, say_json
from sourcebook_cli.stack import Stack, on_aws

if TYPE_CHECKING:
    from collections.abc import Callable

_OUTCOMES: Final = {
    Mended.NOT_TRIED: "",
    Mended.MENDED: "mended",
    Mended.NOT_POSSIBLE: "cannot be mended from the table",
    Mended.CHANGED: "has been changed meanwhile: verify again",
}


@click.command()
@click.option("--repair", is_flag=True, help="Repair what can be derived from other items.")
@click.option("--objects", is_flag=True, help="Check each file in the bucket too.")
@click.option("--table", "name", metavar="TABLE", help="Another table, such as one that was restored.")
@click.option("--only", "names", multiple=True, metavar="CHECK", help="Only this check; may be repeated.")
@click.option(
    "--segments",
    default=4,
    show_default=True,
    type=click.IntRange(1, 64),
    help="Parts of the table that are read at the same time.",
)
@click.option(
    "--patience",
    default=PATIENCE,
    show_default=True,
    type=click.FloatRange(0, 600),
    help="Seconds between the two looks at what seems wrong.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line: the findings, then a summary.")
@on_aws
def verify(
    *,
    repair: bool,
    objects: bool,
    name: str | None,
    names: tuple[str, ...],
    segments: int,
    patience: float,
    as_json: bool,
    aws: bool,
) -> None:
    """Read the whole table and report every broken invariant; exit with 1 if one stays broken.

    Nothing is changed without --repair, and all repairs are derived: mentions from their article, hours from
    mentions, canonical figures from the raw layer, index keys from their item. It may run beside
    everything else. docs/reliability.md lists the checks.
    """
    stack = Stack.connect(aws=aws)
    table = Table(name, stack.table.client, shards=stack.shards) if name else stack.table
    s3 = stack.session.client("s3", config=aws_config()) if objects else None
    checks = chosen(all_checks(table, objects=s3), names)
    verifier = Verifier(table, checks, patience)
    begun = time.monotonic()
    found = left = 0
    on_screen = not as_json and sys.stderr.isatty()
    with _progress(table, shown=on_screen) as watch:
        for report in verifier.run(segments=segments, repair=repair, watch=watch):
            found += 1
            left += report.mended is not Mended.MENDED
            if on_screen:
                clear_line()
            _print(report, as_json=as_json)
    seconds = round(time.monotonic() - begun, 1)
    summary = {"items": verifier.items, "findings": found, "mended": found - left, "seconds": seconds}
    if as_json:
        say_json({"summary": summary})
    else:
        say(_summary(summary, [check.name for check in checks], repair=repair))
    sys.exit(1 if left else 0)


def _print(report: Report, *, as_json: bool) -> None:
    finding = report.finding
    if as_json:
        say_json({**finding.public(), "outcome": report.mended.value})
        return
    outcome = _OUTCOMES[report.mended]
    say(Styled(f"{finding.key['PK']}  {finding.key['SK']}", "bold"))
    say(f"  {finding.check}: {finding.problem}{f' — {outcome}' if outcome else ''}")


def _summary(summary: dict[str, Any], names: Sequence[str], *, repair: bool) -> str:
    looked = f"{summary['items']} items in {summary['seconds']} s, held to {len(names)} checks"
    if not summary["findings"]:
        return f"{looked}: nothing is wrong."
    findings = "1 item is" if summary["findings"] == 1 else f"{summary['findings']} items are"
    mended = f", {summary['mended']} of them mended" if repair else "; --repair mends what can be"
    return f"{looked}: {findings} wrong{mended}."


@contextmanager
def _progress(table: Table, *, shown: bool) -> Iterator[Callable[[int], None]]:
    """Show the progress of reading on a terminal, and nothing in pipes.

    The total is DynamoDB's last count of items, which may be hours old.
    """
    if not shown:
        yield lambda _: None
        return
    items = int(table.client.describe_table(TableName=table.name)["Table"].get("ItemCount", 0))
    with bar("Verifying", max(items, 1)) as reading:
        yield reading.update
