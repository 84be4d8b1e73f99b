"""The client says what the API says, and is whole by itself."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, get_args, get_type_hints

import pytest

from sourcebook.api.openapi import description
from sourcebook.api.parts import operations
from sourcebook.api.workflows import INPUTS
from sourcebook.client import AsyncClient, Client, calls
from sourcebook.client._asking import Ask, Many, One

ROOT = Path(__file__).parents[3]
CALLS = {
    name: call
    for name, call in vars(calls).items()
    if isinstance(call, FunctionType) and call.__module__ == calls.__name__
}
OPERATIONS = {operation.name: operation for operation in operations()}


def asked(name: str) -> Ask[Any]:
    """Return what a call asks for, each of its parameters given."""
    parameters = inspect.signature(CALLS[name]).parameters.values()
    given = {one.name: f"x{one.name}" for one in parameters if one.kind is not one.VAR_KEYWORD}
    made = CALLS[name](**given)
    assert isinstance(made, Ask)
    return made


@pytest.mark.parametrize("name", ["client/make_models", "client/make_sync", "web/make_upload_limits"])
def test_what_is_made_is_as_its_maker_makes_it(name: str) -> None:
    spec = importlib.util.spec_from_file_location(Path(name).name, ROOT / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made: str = module.source()
    assert module.PLACE.read_text("utf-8") == made, f"run .venv/bin/python {name}.py"


@pytest.mark.parametrize("name", sorted(CALLS))
def test_a_call_is_an_operation_with_its_path_parameters_and_answer(name: str) -> None:
    ask = asked(name)
    operation = OPERATIONS[ask.operation]
    assert (ask.method, ask.path) == (operation.method, operation.path.replace("+}", "}"))
    assert set(ask.variables) <= set(ask.given)
    shared = [asked(other) for other in CALLS if asked(other).operation == ask.operation]
    # One operation may be two calls: one that finds, and one that lists what its filters let through.
    queried = {name for one in shared for name in one.given if name not in one.variables}
    assert queried == set(operation.parameters) - {"cursor"}
    media = "application/json" if operation.body is None else operation.body.media_type
    assert ask.media_type == media
    answer = operation.answers[min(operation.answers)]
    (model,) = get_args(get_type_hints(CALLS[name])["return"])
    if isinstance(ask, Many):
        (page,) = set(operation.answers.values())
        items = schema(page)["properties"]["items"]["items"]["$ref"].rpartition("/")[2]
        assert ask.model.__name__ == re.sub("Items$", "Item", items)
    else:
        assert isinstance(ask, One)
        assert ask.model.__name__ == answer
        cursor = "cursor" in operation.parameters
        assert not cursor or any(isinstance(one, Many) for one in shared), f"{name} has more pages than one"
    assert model is ask.model
    also = {status for status in operation.answers if status >= 400}
    assert set(ask.also) == also


def test_every_operation_with_a_record_is_a_call_of_both_clients() -> None:
    about_itself = {"getDescription", "followArticlesAtom", "followArticlesJson"}
    records = {
        operation.name
        for operation in OPERATIONS.values()
        if operation.media_type == "application/json"
        and not {"File", "SignedLink"} & set(operation.answers.values())
    }
    assert {asked(name).operation for name in CALLS} == records - about_itself
    for client in (Client, AsyncClient):
        for name, call in CALLS.items():
            assert getattr(client, name).__doc__ == call.__doc__


@cache
def schema(name: str) -> Any:
    return description(operations(), names=INPUTS)["components"]["schemas"][name]


def test_the_distribution_is_the_client_and_needs_only_httpx_and_pydantic(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT / "client",
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("sourcebook_client-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if ".dist-info/" not in name]
        assert all(name.startswith("sourcebook/client/") for name in names)
        assert "sourcebook/client/py.typed" in names
        assert not [name for name in names if "__pycache__" in name]
        (metadata,) = (name for name in archive.namelist() if name.endswith("METADATA"))
        needed = re.findall(
            r"^Requires-Dist: (\w+)(?!.*extra)", archive.read(metadata).decode(), re.MULTILINE
        )
        assert sorted(needed) == ["httpx", "pydantic"]
        archive.extractall(tmp_path / "alone")
    imported = {
        alias.name if isinstance(node, ast.Import) else node.module or ""
        for name in names
        if name.endswith(".py")
        for node in ast.walk(ast.parse((tmp_path / "alone" / name).read_text("utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    foreign = {name.partition(".")[0] for name in imported} - set(sys.stdlib_module_names)
    assert foreign == {"sourcebook", "httpx", "pydantic", "pandas", "polars"}
    assert all(n.startswith("sourcebook.client") for n in imported if n.startswith("sourcebook"))
    # Without the checkout, whose package would be found before a namespace.
    script = f"""
import sys
outside = [p for p in sys.path if "site-packages" in p or not p.startswith({str(ROOT)!r})]
sys.path = [{str(tmp_path / "alone")!r}, *outside]
import sourcebook.client
print(sourcebook.client.__file__, "pandas" in sys.modules)
"""
    found = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    assert found.split() == [str(tmp_path / "alone/sourcebook/client/__init__.py"), "False"]
