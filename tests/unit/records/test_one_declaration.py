"""A field is declared in one place: a line in a record's file, and it is stored, listed and described."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
PACKAGE = "layers/core/python/sourcebook"

FIELD = '    reading_minutes: Annotated[int, "How long its text takes to read."] = 3\n'
AFTER = re.compile(r"^    headline: .*\n", re.MULTILINE)
"""A field in one line; the article's headline is the first."""
STORED_AND_LISTED = """
import json, runpy, sys
from sourcebook.api.openapi import description
from sourcebook.api.parts import operations
from sourcebook.api.responses import listed
from sourcebook.articles.ingest import ArticleStore
from sourcebook.articles.read import ArticleFilter, ArticleReader
from sourcebook.exports.datasets import ARTICLES
from sourcebook.table import keys
from tests.incoming import incoming
from tests.unit.api.memory import MemoryTable


class Kept(MemoryTable):
    def create_many(self, items):
        return [self.put(item) for item in items]


table = Kept()
key = ArticleStore(table).store(incoming("tiingo")).dedup_key
[stored] = table.batch_get([keys.article(key)])
table.put({**stored, "status": "pending"})  # as one that waits is listed
page = ArticleReader(table).page(ArticleFilter(), limit=10)
answer = json.loads(listed(page).to_gateway(correlation_id="c", gzip_accepted=False)["body"])
made = runpy.run_path("docs/make_table.py")["page"]("")
print(json.dumps({
    "item": stored,
    "listed": answer["items"][0],
    "schema": description(operations(), names=())["components"]["schemas"]["MergedArticle"],
    "columns": [*ARTICLES.columns.items()],
    "page": made,
}))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what a copy of the package says whose article has one field more, declared in one line."""
    place = tmp_path_factory.mktemp("package") / "sourcebook"
    shutil.copytree(ROOT / PACKAGE, place, ignore=shutil.ignore_patterns("__pycache__"))
    module = place / "records/article.py"
    text = module.read_text("utf-8")
    declared = AFTER.findall(text)[0]
    module.write_text(text.replace(declared, declared + FIELD), "utf-8")
    answered = subprocess.run(
        [sys.executable, "-c", STORED_AND_LISTED],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(place.parent), str(ROOT)])},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert answered.returncode == 0, answered.stderr
    said: dict[str, Any] = json.loads(answered.stdout)
    return said


def test_a_new_field_is_stored(found: dict[str, Any]) -> None:
    assert found["item"]["reading_minutes"] == 3


def test_a_new_field_is_listed_after_the_one_before_it(found: dict[str, Any]) -> None:
    names = list(found["listed"])
    assert names[names.index("headline") + 1] == "reading_minutes"
    assert found["listed"]["reading_minutes"] == 3


def test_a_new_field_is_in_openapi(found: dict[str, Any]) -> None:
    assert found["schema"]["properties"]["reading_minutes"] == {
        "type": "integer",
        "description": "How long its text takes to read.",
    }
    assert "reading_minutes" in found["schema"]["required"]


def test_a_new_field_is_a_column_of_what_is_exported(found: dict[str, Any]) -> None:
    assert ["reading_minutes", "whole number"] in found["columns"]


def test_a_new_field_is_in_the_page_of_the_table(found: dict[str, Any]) -> None:
    assert "| `reading_minutes` | whole number | How long its text takes to read. |\n" in found["page"]


def test_the_page_of_the_table_is_the_one_that_is_made() -> None:
    spec = importlib.util.spec_from_file_location("make_table", ROOT / "docs/make_table.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    text = (ROOT / "docs/table.md").read_text("utf-8")
    assert made.page(text) == text, "make docs"
    assert "### Article\n" in text
