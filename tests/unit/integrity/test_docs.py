"""docs/reliability.md against the code: what it names is there, and what is there it names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, cast

from sourcebook.integrity.checks import all_checks
from tests.named_tests import check_named_tests

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

    from sourcebook.table.client import Table

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")


def test_every_test_that_the_page_refers_to_exists() -> None:
    assert check_named_tests(PAGE) > 30


def test_the_page_lists_every_check_and_no_other() -> None:
    nothing = cast("Table", None)
    names = [check.name for check in all_checks(nothing, objects=cast("S3Client", object()))]
    assert re.findall(r"^\| `([a-z-]+)` \|", PAGE, re.MULTILINE) == names
