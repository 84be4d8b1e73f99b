"""Tests that a page of the documentation names, against the tests that there are."""

from __future__ import annotations

import re

from tests.templates import ROOT


def check_named_tests(page: str) -> int:
    """Return how many times a page names a test; a function without a file is in the file named before it.

    Raises:
        AssertionError: if a test that it names is not there.
    """
    file, count = "", 0
    for found in re.finditer(r"`(tests/[\w/]+\.py)?(?:::(test_\w+))?`", page):
        named, function = found.groups()
        file = named or file
        text = (ROOT / file).read_text(encoding="utf-8")
        assert function is None or f"def {function}(" in text, f"{file} has no {function}"
        count += 1
    return count
