"""docs/reliability.md against the code: what it names is there, and what is there it names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, cast

from sourcebook.integrity.checks import all_checks

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

    from sourcebook.table.client import Table

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")


def test_every_test_that_the_page_refers_to_exists() -> None:
    file = ""
    referred = 0
    for found in re.finditer(r"`(tests/[\w/]+\.py)?(?:::(test_\w+))?`", PAGE):
        named, function = found.groups()
        file = named or file
        text = (ROOT / file).read_text(encoding="utf-8")
        assert function is None or f"def {function}(" in text, f"{file} has no {function}"
        referred += 1
    assert referred > 30


def test_the_page_lists_every_check_and_no_other() -> None:
    nothing = cast("Table", None)
    names = [check.name for check in all_checks(nothing, objects=cast("S3Client", object()))]
    assert re.findall(r"^\| `([a-z-]+)` \|", PAGE, re.MULTILINE) == names
