"""docs/security.md against the tests that it names."""

from __future__ import annotations

from tests.named_tests import check_named_tests
from tests.templates import ROOT

PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")


def test_every_test_that_the_page_names_exists() -> None:
    assert check_named_tests(PAGE) > 50


def test_every_attack_has_a_defence_and_something_that_shows_it() -> None:
    rows = [line.strip("|").split("|") for line in PAGE.splitlines() if line.startswith("| ")]
    attacks = [row for row in rows if len(row) == 3 and row[0].strip() != "attack"]
    assert len(attacks) > 40
    unshown = [row[0].strip() for row in attacks if "`tests/" not in row[2]]
    assert unshown == ["A known hole in a package"]
