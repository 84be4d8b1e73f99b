"""A class name is used once, so that whoever reads it knows which class is meant."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
CORE: Final = "layers/core/python/sourcebook"
FOLDERS: Final = (CORE, "cli", "lambdas", "infra")

NAMED_FOR_SOMETHING_ELSE: Final = ("infra/",)
"""Constructs are named for what they deploy."""

FILES_AND_CATALOGUE: Final = frozenset(
    {
        "Checked",
        "Column",
        "Identity",
        "Moment",
        "Outcome",
        "Profile",
        "Record",
        "Upload",
    }
)
"""Names used twice by the rooms of files, of the catalogue and of grouping: none may be added."""


def test_a_class_name_is_used_once() -> None:
    places = defaultdict(list)
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*.py")):
            path = file.relative_to(ROOT).as_posix()
            if path.startswith(NAMED_FOR_SOMETHING_ELSE):
                continue
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    places[node.name].append(f"{path}:{node.lineno}")
    twice = {name: where for name, where in places.items() if len(where) > 1}
    assert {name: where for name, where in twice.items() if name not in FILES_AND_CATALOGUE} == {}
