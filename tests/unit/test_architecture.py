"""docs/architecture.md leads to functions that are there, and the layer holds what functions import."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Final

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


PACKAGE: Final = ROOT / "layers/core/python/sourcebook"
NOT_IMPORTED: Final = {"sourcebook.observations.registry"}
"""Modules that only the command line imports, and why they stay: docs/decisions/0475."""


def imported(file: Path, modules: dict[str, Path]) -> set[str]:
    """Return the modules that a file imports or names, also those within its functions."""
    text = file.read_text("utf-8")
    # Rooms that load a module with its first use name it in a text.
    found = {name for name in re.findall(r"\bsourcebook(?:\.\w+)+", text) if name in modules}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found & modules.keys()


def test_each_module_of_the_layer_is_imported_by_a_function() -> None:
    modules = {
        ".".join(("sourcebook", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(
            ".__init__"
        ): path
        for path in PACKAGE.rglob("*.py")
    }
    # Parts of the API, and what a room loads with its first use, are named by their file alone.
    named = {name for name in modules if name.startswith(("sourcebook.api.", "sourcebook.http."))}
    pending = [*named]
    for folder in ("lambdas", "statemachines", "layers/sentiment/python"):
        for file in (ROOT / folder).rglob("*.py"):
            pending += imported(file, modules)
    reached: set[str] = set()
    while pending:
        name = pending.pop()
        if name not in reached:
            reached.add(name)
            pending += imported(modules[name], modules)
            parent = name.rpartition(".")[0]
            pending += [parent] if parent in modules else []
    assert modules.keys() - reached == NOT_IMPORTED


def test_no_public_class_has_the_name_of_another() -> None:
    places: dict[str, list[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(str(path.relative_to(PACKAGE)))
    assert {name: files for name, files in places.items() if len(files) > 1} == {}
