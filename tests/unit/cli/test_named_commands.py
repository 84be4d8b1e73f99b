"""Commands that the page, messages and help texts tell people to run are there, with their options."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from infra.page import PACKAGE, build
from sourcebook_cli.main import main

ROOT = Path(__file__).parents[3]
NAMED = re.compile(r"\bsourcebook(?P<words>(?: --?[a-z][\w-]*| [a-z][a-z-]*)+)(?P<rest>[^`<\n]*)")
NO_COMMAND = {"command"}
"""What may follow the name in a sentence."""


def named_in_sources() -> Iterator[tuple[str, str]]:
    for folder in ("cli", "local", "layers", "lambdas"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            source = path.read_text("utf-8")
            for node in ast.walk(ast.parse(source)) if "sourcebook " in source else ():
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    text = " ".join(node.value.split())
                    yield from ((f"{path.name}:{node.lineno}", found[0]) for found in NAMED.finditer(text))


def named_in_the_page() -> Iterator[tuple[str, str]]:
    for path in sorted((build() / "python" / PACKAGE).glob("*.js")):
        yield from (("page", found[0]) for found in NAMED.finditer(path.read_text("utf-8")))


@cache
def helps(path: tuple[str, ...]) -> bool:
    return CliRunner().invoke(main, [*path, "--help"]).exit_code == 0


def problem(text: str) -> str | None:
    """Return what is wrong with a text that names a command, or None."""
    words = text.split()[1:]
    command: click.Command = main
    path: list[str] = []
    for word in words:
        if not isinstance(command, click.Group) or not re.fullmatch(r"[a-z][a-z-]*", word):
            break
        found = command.get_command(click.Context(command), word)
        if found is None:
            return None if word in NO_COMMAND and not path else f"there is no {' '.join([*path, word])!r}"
        command, path = found, [*path, word]
    known = {
        option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)
    }
    options = {word for word in words if re.fullmatch(r"--[a-z][a-z-]*", word)}
    if missing := options - known - {"--help"}:
        return f"{' '.join(path)!r} has no {', '.join(sorted(missing))}"
    return None if helps(tuple(path)) else f"{' '.join(path)} --help fails"


def test_every_command_that_the_page_names_exists() -> None:
    named = list(named_in_the_page())
    assert len(named) >= 3
    assert [(text, wrong) for _, text in named if (wrong := problem(text))] == []


def test_every_command_that_a_message_names_exists() -> None:
    named = sorted(set(named_in_sources()))
    assert len(named) > 30
    assert [(where, text, wrong) for where, text in named if (wrong := problem(text))] == []


@pytest.mark.parametrize(
    "text",
    ["sourcebook nova init NAME", "sourcebook observations load FILE", "sourcebook feeds list --nothing"],
)
def test_a_command_that_is_not_there_is_noticed(text: str) -> None:
    assert problem(text)
