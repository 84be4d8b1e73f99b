"""CSV that a spreadsheet opens runs nothing, and loses no number."""

from __future__ import annotations

import ast
import csv
import io
import time
from decimal import Decimal
from pathlib import Path

import pytest

from sourcebook.csv_text import Cell, safe_cell, write_csv

ROOT = Path(__file__).parents[2]
WRITERS = {"writer", "DictWriter", "to_csv", "write_csv"}


@pytest.mark.parametrize(
    "text",
    [
        "=cmd|'/C calc'!A0",
        "+1+cmd|' /C calc'!A0",
        "-2+3+cmd|' /C calc'!A0",
        '@SUM(1+9)*cmd|" /C calc"!A0',
        "-1.25",  # as a text it is what a source has sent
        "\tplain",
        "\rplain",
        "\nplain",
        " \tplain",
        "   =1+1",
        "\u00a0=1+1",
        "\u3000=1+1",
        "\ufeff=1+1",
        "\u200b=1+1",
        "\u202e=1+1",
        "\x00=1+1",
        "\x1b=1+1",
        "＝1+1",
        "＋1",
        "－1",
        "＠SUM(1)",
        " ＝1+1",
        "﹦1",
        "﹢1",
        "﹣1",
        "﹫x",
        "⁼1",
        "⁺1",
        "−1",
    ],
)
def test_a_text_that_would_run_is_marked(text: str) -> None:
    assert safe_cell(text) == f"'{text}"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Bank = Trust",
        "Deutsche Bank - Filiale",
        "a@b.example",
        "3-6",
        "4,-",
        "Vietcombank",
        "Ngân hàng",
        "'=1",
        "a; b",
        "a\nb",
        ";",
        "5 %",
    ],
)
def test_other_text_is_left_alone(text: str) -> None:
    assert safe_cell(text) == text


@pytest.mark.parametrize("number", [-1.25, Decimal("-1.25"), -3, 0, 4.5, None])
def test_a_number_stays_a_number(number: Cell) -> None:
    assert safe_cell(number) is number
    file = io.StringIO()
    write_csv(file, ["n"], [[number, "x"]])
    assert file.getvalue() == f"n\r\n{'' if number is None else number},x\r\n"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a;=1+1", "a;'=1+1"),
        ('a; "=1+1', "a;' \"=1+1"),
        ("a\n=1+1", "a\n'=1+1"),
        ("a\r\n@x", "a\r\n'@x"),
        ("a\t＝1", "a\t'＝1"),
        (";=1", ";'=1"),
        ("\t=1", "'\t'=1"),
        ("\r=1", "'\r'=1"),
        (" \n=1", "' \n'=1"),
    ],
)
def test_a_formula_behind_another_programs_separator_is_marked_there(text: str, written: str) -> None:
    assert safe_cell(text) == written


def test_headings_are_made_safe_too_and_everything_reads_back() -> None:
    file = io.StringIO()
    assert write_csv(file, ["=head", "rate"], [["=1+1", -1.25], ['a "b", c\nd', 2]]) == 2
    assert list(csv.reader(io.StringIO(file.getvalue(), newline=""))) == [
        ["'=head", "rate"],
        ["'=1+1", "-1.25"],
        ['a "b", c\nd', "2"],
    ]


def test_half_a_character_does_not_lose_the_file(tmp_path: Path) -> None:
    path = tmp_path / "rates.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        write_csv(file, ["name"], [["a\ud800b"], ["c"]])
    assert path.read_text("utf-8").splitlines() == ["name", "a?b", "c"]


@pytest.mark.parametrize("unit", ["\n", " ", ";", "=", '"', "\n=", "; ", "\u200b", "￼"])
def test_a_long_text_takes_no_time(unit: str) -> None:
    begun = time.process_time()
    safe_cell(unit * (100_000 // len(unit)))
    assert time.process_time() - begun < 1


def test_nothing_else_writes_csv() -> None:
    found = []
    for folder in ("layers", "lambdas", "client", "cli", "local", "infra", "bench", "training"):
        for path in (ROOT / folder).rglob("*.py"):
            if path.name == "csv_text.py" or "site-packages" in path.parts:
                continue
            text = path.read_text("utf-8")
            tree = ast.parse(text if "csv" in text else "")
            found += [f"{path.relative_to(ROOT)}:{line}" for line in _csv_written(tree)]
    assert not found, "sourcebook.csv_text writes CSV: its cells are safe"


@pytest.mark.parametrize(
    "code",
    [
        "import csv\ncsv.writer(f)",
        "import csv as c\nc.DictWriter(f, [])",
        "from csv import writer as w\nw(f)",
        "from csv import *",
        "import csv\nmake = csv.writer",
        "frame.to_csv(f)",
    ],
)
def test_every_way_to_write_csv_is_seen(code: str) -> None:
    assert _csv_written(ast.parse(code))


def _csv_written(tree: ast.AST) -> list[int]:
    modules = {
        name.asname or name.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for name in node.names
        if name.name in {"csv", "_csv", "unicodecsv", "pyarrow.csv"}
    }
    lines = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in {"csv", "_csv", "pyarrow.csv"}:
            lines += [node.lineno for name in node.names if name.name in {*WRITERS, "*"}]
        elif isinstance(node, ast.Attribute):
            of_csv = isinstance(node.value, ast.Name) and node.value.id in modules
            if node.attr == "to_csv" or (of_csv and node.attr in WRITERS):
                lines.append(node.lineno)
    return lines
