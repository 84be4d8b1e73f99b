"""No module needs, while it is imported, one that needs it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
FOLDERS: Final = {
    "sourcebook": ROOT / "layers/core/python/sourcebook",
    "sourcebook.integrity": ROOT / "cli/sourcebook/integrity",
    "sourcebook.migrations": ROOT / "cli/sourcebook/migrations",
    "sourcebook.releases": ROOT / "cli/sourcebook/releases",
    "sourcebook.client": ROOT / "client/sourcebook/client",
    "sourcebook_cli": ROOT / "cli/sourcebook_cli",
    "sourcebook_local": ROOT / "local/sourcebook_local",
    "infra": ROOT / "infra",
}


def at_import(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements that run when a module is imported, but for those for types."""
    for one in body:
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(one, ast.If) and "TYPE_CHECKING" in ast.unparse(one.test):
            yield from at_import(one.orelse)
            continue
        yield one
        for name in ("body", "orelse", "finalbody"):
            yield from at_import(getattr(one, name, []))


def test_there_is_no_import_circle() -> None:
    modules = {
        ".".join((package, *file.relative_to(folder).with_suffix("").parts)).removesuffix(".__init__"): file
        for package, folder in FOLDERS.items()
        for file in folder.rglob("*.py")
    }
    needs: dict[str, set[str]] = {}
    for name, file in modules.items():
        wanted: set[str] = set()
        for one in at_import(ast.parse(file.read_text("utf-8")).body):
            if isinstance(one, ast.Import):
                wanted |= {alias.name for alias in one.names}
            elif isinstance(one, ast.ImportFrom) and one.module and not one.level:
                wanted |= {
                    whole if (whole := f"{one.module}.{alias.name}") in modules else one.module
                    for alias in one.names
                }
        needs[name] = (wanted & modules.keys()) - {name}
    assert len(needs) > 300
    TopologicalSorter(needs).prepare()  # raises CycleError, which names the circle
