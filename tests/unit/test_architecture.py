"""docs/architecture.md leads to functions that are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "architecture.md"
LINK = re.compile(r"\[(?P<name>[^\]]+\.py)\]\((?P<path>[^)]+)\)|`(?P<function>[A-Za-z_][\w.]*)`")


def named() -> list[tuple[Path, str]]:
    """Return each function of the table of decisions with the file before it, as the page links it."""
    section = (
        PAGE.read_text("utf-8").partition("## The way to the line that decides")[2].partition("\n## ")[0]
    )
    found: list[tuple[Path, str]] = []
    for row in section.splitlines():
        file: Path | None = None
        for match in LINK.finditer(row):
            if match["path"]:
                file = PAGE.parent / match["path"]
            elif file is not None:
                found.append((file, match["function"]))
    return found


def functions(file: Path) -> set[str]:
    """Return the functions and methods of a module by their names."""
    found = set()
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{one.name}" for one in node.body if isinstance(one, ast.FunctionDef)}
    return found


@pytest.mark.parametrize(("file", "name"), named(), ids=lambda one: getattr(one, "name", one))
def test_the_line_that_decides_is_where_the_page_says(file: Path, name: str) -> None:
    assert name in functions(file)


def test_the_page_leads_to_every_decision() -> None:
    assert len({file for file, _ in named()}) >= 8
