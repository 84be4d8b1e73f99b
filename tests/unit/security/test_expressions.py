"""Every regular expression of the package takes time that grows with its input, whatever the input is.

They are found in the source, so a new one is tested without being listed. The inputs are made from the
expression itself: what it repeats, many times over, and then something that it does not want.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import re
import signal
import time
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, Final, NamedTuple

import pytest

from tests.templates import ROOT

PACKAGES: Final = tuple(ROOT / folder / "sourcebook" for folder in ("layers/core/python", "cli", "client"))
LENGTH: Final = 50_000
SECONDS: Final = 0.5
FUNCTIONS: Final = frozenset(
    {"compile", "match", "search", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
)
MISSES: Final = ("\0", "")


class Found(NamedTuple):
    """An expression, where it stands, and how it is applied."""

    where: str
    pattern: re.Pattern[Any]
    methods: tuple[str, ...]


@cache
def expressions() -> tuple[Found, ...]:
    """Return every expression of the package."""
    files = [path for package in PACKAGES for path in sorted(package.rglob("*.py"))]
    trees = {path: ast.parse(path.read_text("utf-8")) for path in files}
    used: dict[str, set[str]] = defaultdict(set)
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in FUNCTIONS:
                owner = node.value.id if isinstance(node.value, ast.Name) else getattr(node.value, "attr", "")
                used[name_of(owner, path)].add(node.attr)
    found = []
    for path, tree in trees.items():
        calls = [node for node in ast.walk(tree) if is_of_re(node)]
        declared = [found for node in ast.walk(tree) for found in patterns_in(node)]
        if not calls and not declared:
            continue
        module = importlib.import_module(
            ".".join(("sourcebook", *near(path).with_suffix("").parts)).removesuffix(".__init__")
        )
        for node, method in declared:
            where = f"{near(path)}:{node.lineno}"
            found.append(Found(where, re.compile(value(node, module, where)), (method,)))
        names = {
            id(node.value): target.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name)
        }
        for call in calls:
            assert isinstance(call, ast.Call)
            assert isinstance(call.func, ast.Attribute)
            where = f"{near(path)}:{call.lineno}"
            arguments = [value(call.args[0], module, where)]
            flags = [k.value for k in call.keywords if k.arg == "flags"]
            if call.func.attr == "compile" and len(call.args) > 1:
                flags.append(call.args[1])
            elif (
                call.func.attr in {"match", "search", "fullmatch", "findall", "finditer"}
                and len(call.args) > 2
            ):
                flags.append(call.args[2])
            arguments += [value(flag, module, where) for flag in flags]
            methods = (
                {call.func.attr}
                if call.func.attr != "compile"
                else used[name_of(names.get(id(call), ""), path)]
            )
            found.append(
                Found(
                    where,
                    re.compile(*arguments),
                    tuple(sorted(methods - {"compile"})) or ("search", "fullmatch"),
                )
            )
    return tuple(found)


def near(path: Path) -> Path:
    """Return where a file stands in the package."""
    return next(path.relative_to(package) for package in PACKAGES if path.is_relative_to(package))


def patterns_in(node: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """Yield the expressions that a node declares under the name `pattern`, and how each is applied.

    An argument is pydantic's, a key of a dictionary is a schema's. Names are of expressions found elsewhere.
    """
    if isinstance(node, ast.keyword) and node.arg == "pattern":
        declared = [(node.value, "fullmatch")]
    elif isinstance(node, ast.Dict):
        named = zip(node.keys, node.values, strict=True)
        declared = [(v, "search") for k, v in named if isinstance(k, ast.Constant) and k.value == "pattern"]
    else:
        return
    yield from ((v, m) for v, m in declared if is_text(v))


def is_text(node: ast.expr) -> bool:
    """Return whether a node is a text as it is written, or one with parts that are named."""
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def name_of(name: str, path: Path) -> str:
    """Return a name as it is known throughout the package: a private one only in its module."""
    return f"{path}:{name}" if name.startswith("_") else name


def is_of_re(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in FUNCTIONS
    )


def value(node: ast.expr, module: Any, where: str) -> Any:
    """Return what an expression of the module comes to; its variables are the module's, or one digit."""
    scope = dict(vars(module))
    for name in ast.walk(node):
        if isinstance(name, ast.Name) and name.id not in scope and not hasattr(builtins, name.id):
            scope[name.id] = "1"
    try:
        return eval(compile(ast.Expression(node), where, "eval"), scope)  # noqa: S307 - the project's own source
    except Exception as error:
        raise AssertionError(
            f"{where}: the expression cannot be worked out here; make it a constant"
        ) from error


# Inputs


def samples(pattern: re.Pattern[Any]) -> tuple[str, list[str], list[str]]:  # noqa: C901 - each kind of part
    """Return a text near to a match, the texts up to and with each repetition, and what it wants."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    flags = pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags
    parser = re._parser
    letters: dict[str, None] = {}
    repeated: list[str] = []

    def of(items: Any, before: str) -> str:
        text = ""
        for code, argument in items:
            text += one(str(code), argument, before + text)
        return text

    def one(code: str, argument: Any, before: str) -> str:
        match code:
            case "LITERAL":
                letters.setdefault(chr(argument))
                return chr(argument)
            case "NOT_LITERAL" | "ANY":
                return "x"
            case "IN":
                return a_member(argument)
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                least, most, inner = argument
                text = of(inner, before)
                if int(most) > 1 and text:
                    repeated.append(f"{before}\n{text}")
                return text * max(int(least), 1)
            case "SUBPATTERN":
                return of(argument[-1], before)
            case "ATOMIC_GROUP":
                return of(argument, before)
            case "BRANCH":
                texts = [of(branch, before) for branch in argument[1]]
                repeated.extend(f"\n{text}" for text in texts)
                return max(texts, key=len, default="")
            case _:
                return ""

    def a_member(members: Any) -> str:
        negated = any(str(code) == "NEGATE" for code, _ in members)
        chosen = ""
        for code, argument in members:
            match str(code):
                case "LITERAL":
                    found = chr(argument)
                case "RANGE":
                    found = chr(argument[0])
                case "CATEGORY":
                    found = {"SPACE": " ", "DIGIT": "1", "WORD": "a"}.get(
                        str(argument).rsplit("_", 1)[-1], "é"
                    )
                    found = found if "NOT" not in str(argument) else "x"
                case _:
                    continue
            letters.setdefault(found)
            chosen = chosen or found
        if not negated:
            return chosen or "x"
        return next((c for c in "x1 -é\0" if re.match(f"{source_of(members)}", c)), "x")

    def source_of(members: Any) -> str:
        taken = {chr(a) for c, a in members if str(c) == "LITERAL"}
        return f"[^{re.escape(''.join(taken))}]" if taken else "."

    whole = of(parser.parse(source, flags), "")
    return whole, repeated, [*list(letters)[:8], " ", "1", "a"]


def inputs(pattern: re.Pattern[Any], length: int) -> Iterator[str]:
    whole, repeated, letters = samples(pattern)
    seeds = [("", letter) for letter in letters] + [("", whole), ("", whole[:-1]), ("", f"{whole} ")]
    seeds += [("", letters[0] + letter) for letter in letters[1:3]]
    for text in list(dict.fromkeys(repeated))[:10]:
        before, _, again = text.partition("\n")
        seeds += [(before, again), ("", before + again)]
    for before, again in dict.fromkeys(seeds):
        if again:
            for miss in MISSES:
                yield before + again * (length // len(again)) + miss


# Time


class TooLong(Exception):
    """An expression did not end in time."""


def stop(_signal: int, _frame: FrameType | None) -> None:
    raise TooLong


def run(pattern: re.Pattern[Any], method: str, text: str) -> None:
    subject = text.encode("latin-1", "replace") if isinstance(pattern.pattern, bytes) else text
    act = getattr(pattern, method)
    if method in {"sub", "subn"}:
        act(b"" if isinstance(subject, bytes) else "", subject)
    elif method == "finditer":
        for _ in act(subject):
            pass
    else:
        act(subject)


def slowest(found: Found) -> tuple[float, str]:
    """Return the longest that it took, and with what."""
    worst = (0.0, "")
    before = signal.signal(signal.SIGVTALRM, stop)
    try:
        for length in (1_000, LENGTH):
            for text in inputs(found.pattern, length):
                for method in found.methods:
                    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
                    begun = time.process_time()
                    try:
                        run(found.pattern, method, text)
                    except TooLong:
                        return SECONDS, f"{method} of {text[:40]!r} … {text[-10:]!r} ({length})"
                    finally:
                        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
                    worst = max(worst, (time.process_time() - begun, f"{method} of {text[:40]!r}"))
    finally:
        signal.signal(signal.SIGVTALRM, before)
    return worst


@pytest.mark.parametrize("found", expressions(), ids=lambda found: found.where)
def test_every_expression_is_quick_with_fifty_kilobytes(found: Found) -> None:
    took, what = slowest(found)
    if took >= SECONDS:
        took, what = slowest(found)  # another process may have disturbed it
    assert took < SECONDS, f"{found.pattern.pattern!r}: {took:.2f} s or more for {what}"


def test_the_expressions_are_found() -> None:
    assert len(expressions()) > 150


@pytest.mark.parametrize(
    "slow", [r"[\s*]+$", r"(?:a|a?)+$", r"\s*,\s*$", r"\S*[^\x00-\x7f]\S*", r"(a+)+b", r"\d+x"]
)
def test_a_slow_expression_is_found_out(slow: str) -> None:
    found = Found("", re.compile(slow), ("search",))
    assert slowest(found)[0] >= SECONDS
