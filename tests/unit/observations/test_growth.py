"""No page, JSON document or CSV file of figures takes more than 5 s or 600 MB, whatever it repeats."""

from __future__ import annotations

import pytest

from sourcebook.observations.adapters import parse_document
from sourcebook.sources.model import SourceSpec
from tests.growth import FULL, LARGEST, MOST_SECONDS, Growth, check_growth
from tests.unit.observations.pages import spec

SIZE = LARGEST if FULL else 100_000
SECONDS = MOST_SECONDS * 10_000_000 / SIZE
"""What is read of a document is bounded, so a small one may take what a large one may: 5 s."""

_SPECS: dict[str, SourceSpec] = {}


def _read(kind: str, body: bytes) -> object:
    if kind not in _SPECS:
        _SPECS[kind] = spec(kind)
    return parse_document(_SPECS[kind], body)


def read_page(body: bytes) -> object:
    return _read("html_table", body)


def read_json(body: bytes) -> object:
    return _read("json_api", body)


def read_csv(body: bytes) -> object:
    return _read("csv", body)


HEAD = "<table><tr><th>Bank<th>Term<th>Rate<tr><td>A<td>6M<td>4.5"
PAGES = (
    Growth("rows", HEAD, "<tr><td>A{n}<td>6M<td>4.5"),
    Growth("wide rows", HEAD, "<tr><td colspan=200>x"),
    Growth("tables side by side", "", f"{HEAD}</table>"),
    Growth("tables in tables", HEAD, "<table><tr><td>", closing="</td></tr></table>"),
    Growth("boxes in boxes", f"{HEAD}</table>", "<div>"),
    Growth("lists in lists", f"{HEAD}</table>", "<ul><li>", closing="</ul>"),
    Growth("bold, each its own", f"{HEAD}</table>", "<b id=b{n}>x"),
    Growth("bold and paragraphs", f"{HEAD}</table>", "<b id=b{n}>x<p>y"),
    Growth("attributes", f"{HEAD}</table><a ", "a{n} ", ">"),
    Growth("comments", HEAD, "<!---->"),
    Growth("options", f"{HEAD}</table><select>", "<option>x"),
    Growth("tags that do not end", f"{HEAD}</table>", "<input "),
    Growth("quotes that do not end", f"{HEAD}</table>", "<a b='"),
    Growth("a heading of marks", "<table><tr><th>Bank<th>Term<th>Rate<th>", "*", f"x{HEAD[7:]}"),
    Growth("a bank of marks", f"{HEAD}<tr><td>", "*", "x<td>6M<td>4.5"),
    Growth("a bank of combining marks", f"{HEAD}<tr><td>A", "\u0301\u0323", "<td>6M<td>4.5"),
    Growth("a term of digits", f"{HEAD}<tr><td>B<td>", "9", "<td>4.5"),
    Growth("a figure of digits", f"{HEAD}<tr><td>B<td>6M<td>", "9"),
    Growth("a span of digits", f"{HEAD}<tr><td rowspan=", "9", ">B<td>6M<td>4.5"),
    Growth("a picture in base64", f"{HEAD}<tr><td>é<td>6M<td>4.5</table><img src='data:", "A", "é'>"),
    Growth("rules of style", f"{HEAD}</table><style>", ".a{n}{{display:none}}", "</style>"),
    Growth("spaces", HEAD, " "),
)
JSON = (
    Growth("empty objects", "[", "{},", "{}]"),
    Growth("lists in lists", "", "["),
    Growth("records", "[", '{"Bank":"A{n}","Term":6,"Rate":4.5},', "{}]"),
    Growth("members", '[{"Bank":"A","Term":6,"Rate":4.5', ',"k{n}":1', "}]"),
    Growth("an integer", '[{"Bank":"A","Term":6,"Rate":', "9", "}]"),
    Growth("an exponent", '[{"Bank":"A","Term":6,"Rate":1e', "9", "}]"),
    Growth("a bank", '[{"Bank":"', "A\u0301\u0323", '","Term":6,"Rate":4.5}]'),
)
CSV = (
    Growth("rows", "Bank,Term,Rate\n", "A{n},6M,4.5\n"),
    Growth("columns", "Bank,Term,Rate", ",x", "\nA,6M,4.5\n"),
    Growth("a cell", 'Bank,Term,Rate\nA,6M,4.5\n"', "x", '",6M,4.5\n'),
    Growth("quotes", "Bank,Term,Rate\nA,6M,4.5\n", '"'),
    Growth("quotes that do not end", "Bank,Term,Rate\nA,6M,4.5\n", '"A,6M,4.5\n'),
    Growth("lines", "Bank,Term,Rate\nA,6M,4.5\n", "\n"),
)


@pytest.mark.parametrize("case", PAGES if FULL else PAGES[::3], ids=lambda case: case.name)
def test_a_page_that_grows(case: Growth) -> None:
    check_growth(read_page, case, largest=SIZE, seconds=SECONDS)


@pytest.mark.parametrize("case", JSON if FULL else JSON[::2], ids=lambda case: case.name)
def test_json_that_grows(case: Growth) -> None:
    check_growth(read_json, case, largest=SIZE, seconds=SECONDS)


@pytest.mark.parametrize("case", CSV if FULL else CSV[::2], ids=lambda case: case.name)
def test_csv_that_grows(case: Growth) -> None:
    check_growth(read_csv, case, largest=SIZE, seconds=SECONDS)


@pytest.mark.parametrize("number", ["1e99999999", "1e-99999999", "9" * 5_000, "-1e400"])
def test_a_number_that_would_fill_the_memory_costs_its_record(number: str) -> None:
    records = (f'"Bank":"A","Term":6,"Rate":{number}', f'"Bank":"B","Term":{number},"Rate":4')
    body = "[" + "".join(f"{{{record}}}," for record in records) + '{"Bank":"C","Term":6,"Rate":4.5}]'
    parsed = parse_document(spec("json_api"), body.encode())
    assert [row.bank for row in parsed.rows] == ["C"]
    assert len(parsed.dropped) == 2
