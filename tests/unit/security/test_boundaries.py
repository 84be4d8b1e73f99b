"""What the code may use to reach out and to unpack: a new place must be judged, and listed here with why."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.templates import ROOT

PACKAGE = ROOT / "layers" / "core" / "python" / "sourcebook"
LAYERS = ROOT / "layers"

UNPACKING = {
    "zlib.decompress",
    "zlib.decompressobj",
    "gzip.decompress",
    "gzip.open",
    "gzip.GzipFile",
    "zipfile.ZipFile",
    "tarfile.open",
    "bz2.decompress",
    "bz2.open",
    "lzma.decompress",
    "lzma.open",
    "shutil.unpack_archive",
}
UNPACKED = {
    (
        "http/bodies.py",
        "zlib.decompressobj",
    ): "answers of servers: up to the cap of the request and no further",
    ("spectra/unpack.py", "zipfile.ZipFile"): "donations and archives' wrappings: bounded directory and size",
    ("articles/grouping/log.py", "zlib.decompressobj"): "our own item, and bounded",
    ("search/day.py", "zlib.decompressobj"): "our own file, and bounded by what a function can hold",
    (
        "feeds/_document.py",
        "zlib.decompressobj",
    ): "a body once more compressed: up to a multiple of its length",
    ("feeds/seen.py", "zlib.decompress"): "our own item, at most 400 kB",
    ("api/idempotency.py", "gzip.decompress"): "our own item, at most 400 kB",
    ("photometry/upload.py", "gzip.decompress"): "our own object: a function of this stack wrote it",
    ("lightcurves/series.py", "gzip.decompress"): "our own object: a function of this stack wrote it",
    ("exports/days.py", "gzip.GzipFile"): "it packs and unpacks nothing",
}
"""Places where something is unpacked, and what bounds it."""

NETWORK = {
    "aiohttp",
    "ftplib",
    "http.client",
    "httpcore",
    "requests",
    "socket",
    "smtplib",
    "ssl",
    "telnetlib",
}
NETWORK |= {"urllib.request", "urllib3", "websockets", "httpx", "h11", "httptools"}
CONNECTING = {
    # The endpoint of a client of boto3, never an address from data.
    "direct.py": {"httptools", "socket", "ssl"},
    "http/bodies.py": set[str](),
    "http/client.py": {"httpx", "ssl"},  # URLs; the pool is our own
    "http/connection.py": {"h11", "httpx", "ssl"},
    "http/guard.py": {"socket"},
}
"""Modules of the one guarded client of HTTP, and what stands in for boto3. All else asks one of these."""

DANGEROUS = {"eval", "exec", "compile", "__import__", "os.system", "pickle.load", "pickle.loads", "yaml.load"}
DANGEROUS |= {"marshal.loads", "shelve.open", "subprocess.run", "subprocess.Popen", "tempfile.mktemp"}


class Module(NamedTuple):
    """What a module calls and imports, by a short name."""

    name: str
    calls: frozenset[str]
    imports: frozenset[str]


@cache
def modules() -> tuple[Module, ...]:
    """Return everything that runs in a Lambda."""
    return tuple(
        Module(name, frozenset(calls(tree)), frozenset(imported(tree))) for name, tree in parsed_modules()
    )


def parsed_modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted([*LAYERS.rglob("*.py"), *(ROOT / "lambdas").rglob("*.py")]):
        near = path.relative_to(PACKAGE) if path.is_relative_to(PACKAGE) else path.relative_to(ROOT)
        yield near.as_posix(), ast.parse(path.read_text("utf-8"))


def calls(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)


def imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module or ""


def test_every_place_that_unpacks_is_bounded_for_a_reason() -> None:
    found = {(module.name, call) for module in modules() for call in module.calls & UNPACKING}
    assert found == UNPACKED.keys()


def test_nothing_reaches_out_but_by_the_guarded_client() -> None:
    found = {module.name: module.imports & NETWORK for module in modules()}
    assert {name: used for name, used in found.items() if used} == {
        name: used for name, used in CONNECTING.items() if used
    }


def test_nothing_that_comes_from_outside_is_run() -> None:
    found = {(module.name, call) for module in modules() for call in module.calls & DANGEROUS}
    assert found == set()


def test_there_is_something_to_judge() -> None:
    assert Path(PACKAGE / "errors.py").exists()
    assert len(modules()) > 150
