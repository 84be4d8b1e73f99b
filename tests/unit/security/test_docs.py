"""docs/security.md against the tests that it names."""

from __future__ import annotations

import re

from tests.templates import ROOT

PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")


def test_every_test_that_the_page_names_exists() -> None:
    file = ""
    named = 0
    for found in re.finditer(r"`(tests/[\w/]+\.py)?(?:::(test_\w+))?`", PAGE):
        path, function = found.groups()
        file = path or file
        text = (ROOT / file).read_text(encoding="utf-8")
        assert function is None or f"def {function}(" in text, f"{file} has no {function}"
        named += 1
    assert named > 50


def test_every_attack_has_a_defence_and_something_that_shows_it() -> None:
    rows = [line.strip("|").split("|") for line in PAGE.splitlines() if line.startswith("| ")]
    attacks = [row for row in rows if len(row) == 3 and row[0].strip() != "attack"]
    assert len(attacks) > 40
    unshown = [row[0].strip() for row in attacks if "`tests/" not in row[2]]
    assert unshown == ["A known hole in a package"]
