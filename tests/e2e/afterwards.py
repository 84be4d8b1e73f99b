"""What must hold of a cloud when its tests are over: the table is whole, and no secret is in a log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sourcebook.integrity.checks import all_checks
from sourcebook.integrity.verify import Verifier
from sourcebook.table.client import aws_config
from tests.e2e.stack import wait_until
from tests.leaks import secrets_in

if TYPE_CHECKING:
    from sourcebook_local.cloud import LocalCloud
    from tests.e2e.stack import Stack

SETTLED = 60.0
"""Seconds for what functions are still about when the last test is over."""


def broken_invariants(stack: Stack) -> list[str]:
    """Return what `sourcebook verify --objects` finds, a line each."""
    table = stack.items()
    verifier = Verifier(table, all_checks(table, objects=stack.session.client("s3", config=aws_config())))
    found = [report.finding for report in verifier.run(segments=2)]
    return [f"{one.check}: {one.key['PK']} {one.key['SK']}: {one.problem}" for one in found]


def check_the_table(stack: Stack) -> None:
    """Hold the table to every invariant, whichever tests have been at work on it.

    Raises:
        AssertionError: if something is wrong and stays so; it says what.
    """
    found: list[str] = []

    def whole() -> bool:
        found[:] = broken_invariants(stack)
        return not found

    try:
        wait_until(whole, SETTLED, "a table in which nothing is wrong", interval=5)
    except AssertionError as error:
        raise AssertionError(f"sourcebook verify finds {len(found)}:\n" + "\n".join(found[:40])) from error


def logged_secrets(cloud: LocalCloud) -> list[tuple[str, str, str]]:
    """Return what looks like a secret in the logs of a cloud and of its functions, with where it stands."""
    found = []
    if cloud.log_file.exists():
        found += [("cloud.log", *leak) for leak in secrets_in(cloud.log_file.read_text("utf-8", "replace"))]
    if cloud.running():
        logs = cloud.session().client("logs")
        groups = logs.get_paginator("describe_log_groups").paginate()
        for name in [group["logGroupName"] for page in groups for group in page["logGroups"]]:
            pages = logs.get_paginator("filter_log_events").paginate(logGroupName=name)
            text = "\n".join(event["message"] for page in pages for event in page["events"])
            found += [(name, *leak) for leak in secrets_in(text)]
    return found
