"""Commands of the runbooks are as the AWS command line, version 2, takes them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).parents[2] / "docs").glob("*.md"))
INVOKE = re.compile(r"aws lambda invoke[^`\n]*(?:\\\n[^`\n]*)*")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_payload_is_given_as_it_is(page: Path) -> None:
    """Version 2 takes a payload for base64 unless it is told otherwise."""
    for command in INVOKE.findall(page.read_text("utf-8")):
        assert "--payload" not in command or "--cli-binary-format raw-in-base64-out" in command, command


def test_there_are_such_commands() -> None:
    assert sum(len(INVOKE.findall(page.read_text("utf-8"))) for page in PAGES) >= 3
