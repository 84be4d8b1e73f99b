"""What the commands print: strangers' text moves no cursor and styles nothing, and no cell is cut."""

from __future__ import annotations

import ast
import io
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from rich.console import Console

from sourcebook.printable import as_json_escape, as_xml_reference, is_printable, printable
from sourcebook_cli import output
from sourcebook_cli.output import Styled, fitted, say, say_error, say_json, say_row, say_xml, show_table

ROOT = Path(__file__).parents[3]
PLACES = {
    "cli/sourcebook_cli/output.py",
    "local/sourcebook_local/output.py",
    "local/sourcebook_local/launcher.py",
}
"""The one place of each package that prints. The launcher runs in the cloud and writes the log of that."""

ACTING = [
    *map(chr, range(0x20)),
    *map(chr, range(0x7F, 0xA0)),
    *"\xad\u034f\u061c\u115f\u1160\u180e\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e",
    *"\u2060\u2061\u2066\u2067\u2068\u2069\u3164\ufeff\uffa0\ufff9\U000e0001\U000e0041\ud800\udfff",
]


@pytest.mark.parametrize("character", ACTING, ids=lambda c: f"U+{ord(c):04X}")
def test_a_character_that_does_something_is_spelled_out(character: str) -> None:
    assert not is_printable(character)
    shown = printable(f"a{character}b")
    assert shown.isascii()
    assert shown.isprintable()
    assert json.loads(f'"a{as_json_escape(character)}b"') == f"a{character}b"


@pytest.mark.parametrize(
    "text",
    [
        "Zażółć gęślą",
        "Ngân hàng",
        "東京　銀行",
        "الراجحي",
        "नमस्ते",
        "é",
        "👍🏽",
        "1\u00a0000 €",
        "[red]x[/]",
        "\\x",
    ],
)
def test_what_people_write_is_shown_as_it_is(text: str) -> None:
    assert printable(text) == text


HOSTILE = "\x1b[2J\x1b]0;owned\x07 \x9b31m\r\u202egnirts\u2066\u200b\u2028\x7f\ud800 [red]loud[/red] :smile:"


def only_printed(text: str) -> bool:
    return all(is_printable(character) or character == "\n" for character in text)


def test_a_line_is_one_line_and_a_style_is_ours(capsys: pytest.CaptureFixture[str]) -> None:
    say(f"a {HOSTILE}\nb", Styled(HOSTILE, "red"), err=True)
    say_error(ValueError(f"one\n  two {HOSTILE}"))
    say_row(["a\tb", HOSTILE])
    printed = capsys.readouterr()
    assert only_printed(printed.out.replace("\t", "", 1))
    assert only_printed(printed.err)
    assert printed.err.count("\n") == 2
    assert printed.out.count("\t") == printed.out.count("\n") == 1
    assert "[red]loud[/red] :smile:" in printed.out
    assert "sourcebook: one two" in printed.err


def test_json_and_xml_say_the_same_and_act_on_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    say_json({"name": HOSTILE, "list": ["\U000e0041", "ż"]}, indent=1)
    printed = capsys.readouterr().out
    assert only_printed(printed)
    assert json.loads(printed) == {"name": HOSTILE, "list": ["\U000e0041", "ż"]}
    text = "a\x7f\x9b\u202e\u200bż"
    say_xml(f'<opml>\n\t<outline text="{text}"/></opml>\n')
    printed = capsys.readouterr().out
    assert only_printed(printed.replace("\t", ""))
    assert ET.fromstring(printed)[0].get("text") == text  # noqa: S314 - written by this test
    assert as_xml_reference("\x9b") == "&#x9b;"


def test_an_unexpected_error_prints_its_trace_line_by_line(capsys: pytest.CaptureFixture[str]) -> None:
    error = ValueError(f"what a server sent: {HOSTILE}")
    output.print_traceback(ValueError, error, None)
    printed = capsys.readouterr().err
    assert only_printed(printed)
    assert "what a server sent" in printed


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """A terminal of 60 columns."""
    screen = io.StringIO()
    monkeypatch.setattr(
        output,
        "_console",
        lambda: Console(
            file=screen,
            width=60,
            force_terminal=True,
            color_system=None,
            highlight=False,
            markup=False,
            emoji=False,
        ),
    )
    return screen


ID = "a1b2c3d4-e5f6-4a7b-8c9d-0e1f2a3b4c5d"
DATE = "2026-11-28T19:30:00Z"


def test_a_pipe_gets_every_cell_whole(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    name = "A long name " * 20
    show_table(
        ("id", "name", "when"), [(ID, name, DATE), ("x", HOSTILE, None)], whole=("id", "when"), title=HOSTILE
    )
    printed = capsys.readouterr().out
    assert only_printed(printed)
    line = next(line for line in printed.splitlines() if ID in line)
    assert name.strip() in line
    assert DATE in line
    assert "…" not in printed
    assert "[red]loud[/red] :smile:" in printed


def test_a_narrow_terminal_folds_prose_and_no_id_or_date(terminal: io.StringIO) -> None:
    show_table(("id", "prose"), [(ID, "word " * 30)], whole=("id",))
    printed = terminal.getvalue()
    assert ID in printed
    assert printed.count("word") == 30
    assert max(map(len, printed.splitlines())) <= 60


def test_what_does_not_fit_at_all_is_folded_and_loses_no_character(terminal: io.StringIO) -> None:
    show_table(("id", "also", "when"), [(ID, ID[::-1], DATE)], whole=("id", "also", "when"))
    printed = terminal.getvalue()
    assert "…" not in printed
    rows = [line.split("│")[1:-1] for line in printed.splitlines() if line.startswith("│")]
    assert ["".join(cell.strip() for cell in column) for column in zip(*rows, strict=True)] == [
        ID,
        ID[::-1],
        DATE,
    ]


def test_a_column_that_may_be_folded_gives_way_first() -> None:
    assert fitted([36, 50, 20], [True, False, True], 80) == [36, 24, 20]
    assert fitted([36, 8], [True, True], 100) == [36, 8]
    assert sum(fitted([36, 50, 20], [True, False, True], 40)) == 40


def test_everything_is_printed_in_one_place() -> None:
    found = []
    for folder in ("client", "cli", "local"):
        for path in (ROOT / folder).rglob("*.py"):
            name = path.relative_to(ROOT).as_posix()
            if name not in PLACES:
                found += [
                    f"{name}:{line} {what}" for line, what in _prints(ast.parse(path.read_text("utf-8")))
                ]
    assert not found, "sourcebook_cli.output and sourcebook_local.output print: they make text printable"


@pytest.mark.parametrize(
    "code",
    [
        "print(x)",
        "import click\nclick.echo(x)",
        "import click as c\nc.secho(x)",
        "from click import echo\necho(x)",
        "import click\nsay = click.echo",
        "import click\nclick.confirm(x)",
        "from rich.console import Console",
        "import rich",
        "import sys\nsys.stdout.write(x)",
        "import sys\nsys.stderr.buffer.write(x)",
        "import os\nos.write(1, x)",
        "from sys import stdout",
    ],
)
def test_every_way_to_print_is_seen(code: str) -> None:
    assert _prints(ast.parse(code))


_CLICK = {
    *(
        "echo",
        "secho",
        "style",
        "confirm",
        "prompt",
        "pause",
        "progressbar",
        "echo_via_pager",
        "clear",
        "edit",
    ),
    "getchar",
}


def _prints(tree: ast.AST) -> list[tuple[int, str]]:
    clicks = {
        name.asname or name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for name in node.names
        if name.name == "click"
    }
    found: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        match node:
            case ast.Name(id="print" | "rprint" | "pprint"):
                found.append((node.lineno, node.id))
            case ast.Import():
                found += [
                    (node.lineno, n.name) for n in node.names if n.name.split(".")[0] in {"rich", "pprint"}
                ]
            case ast.ImportFrom(module=str() as module):
                root = module.split(".")[0]
                bad = {
                    "click": _CLICK,
                    "sys": {"stdout", "stderr", "__stdout__", "__stderr__"},
                    "os": {"write"},
                }
                names = [n.name for n in node.names]
                found += [(node.lineno, module)] if root in {"rich", "pprint"} else []
                found += [(node.lineno, n) for n in names if n in bad.get(root, set())]
            case ast.Attribute(value=ast.Name(id=owner), attr=attribute):
                if owner in clicks and attribute in _CLICK:
                    found.append((node.lineno, f"click.{attribute}"))
                if owner == "os" and attribute == "write":
                    found.append((node.lineno, "os.write"))
            case ast.Call(func=ast.Attribute(attr="write" | "writelines", value=ast.Attribute() as stream)):
                if any(name in ast.unparse(stream) for name in ("sys.stdout", "sys.stderr", "__std")):
                    found.append((node.lineno, "sys"))
    return found
