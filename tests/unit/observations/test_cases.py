"""What the world sends, in kinds: each input stands for its siblings."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sourcebook.errors import InvalidInput
from sourcebook.observations.adapters import parse_document
from sourcebook.observations.adapters.document import BadDocument, DocumentCause
from sourcebook.observations.canonical import Candidate, decided_by, ranked
from sourcebook.observations.options import read_observation_options
from sourcebook.observations.terms import Term, months_of, parse_term, term_name
from sourcebook.observations.values import Reason, UnreadableValue, parse_rate
from sourcebook.observations.words import units
from sourcebook.records.observation import Figure
from sourcebook_cli.declarations import read_sources
from tests.templates import ROOT
from tests.unit.observations.pages import figures, parse, spec

CASES = ROOT.parent / "shared" / "cases"
NOW = datetime(2026, 11, 28, tzinfo=UTC)


def row(cell: str, *, bank: str = "A", term: str = "6M", style: str = "") -> str:
    return f"{style}<table><tr><th>Bank<th>Term<th>Rate<tr><td>{bank}<td>{term}<td>{cell}</table>"


def value_of(cell: str, **options: Any) -> float:
    ((_, _, value),) = figures(parse("html_table", row(cell, **options)))
    return value


@pytest.mark.parametrize(
    "hidden",
    [
        '<span style="display:none">9</span>',
        '<span style="DISPLAY : NONE">9</span>',
        '<span style="color:red;display:none!important">9</span>',
        '<span style="dis\\70 lay:none">9</span>',
        '<span style="/*x*/display/**/:none">9</span>',
        '<b style="visibility:hidden">9</b>',
        '<b style="Visibility: Collapse">9</b>',
        "<i hidden>9</i>",
        '<i hidden="until-found">9</i>',
        "<template>9</template>",
        "<script>9</script>",
        "<style>9{}</style>",
        "<noscript>9</noscript>",
        "<dialog>9</dialog>",
        "<div popover>9</div>",
        "<span class=sr-only>9</span>",
        "<span class=show-for-sr>9</span>",
        "<span class='Table_visuallyHidden__x1'>9</span>",
        "<span class=hid>9</span>",
        "<!-- 9 -->",
        '<input type=hidden value="9">',
        "<select><option>4.5<option>9</select><span hidden>",
        "<svg><title>9</title></svg>",
        "<div style='display:none'><div style='display:block'>9</div></div>",
        '<b style="opacity:0">1</b>',
        '<b style="OPACITY: .0">1</b>',
        '<b style="font-size:0px">1</b>',
        '<b style="color:transparent">1</b>',
        '<b style="color: rgba(0, 0, 0, 0)">1</b>',
        '<b style="position:absolute;left:-9999px">1</b>',
        '<b style="text-indent:-999em">1</b>',
        '<b style="position:absolute;clip:rect(1px, 1px, 1px, 1px)">1</b>',
        '<b style="clip-path:inset(50%)">1</b>',
        '<b style="width:1px;height:1px;overflow:hidden">1</b>',
        '<b style="content-visibility:hidden">1</b>',
        '<b style="transform:scale(0)">1</b>',
        "<b class=d-none>1</b>",
        '<b class="cell hidden">1</b>',
        "<b class=onscreen>1</b>",
        "<b class=nested>1</b>",
        "<b class=faint>1</b>",
    ],
)
def test_what_a_visitor_cannot_see_is_no_text(hidden: str) -> None:
    style = (
        "<style>@import 'a.css'; /* .x{} */ p{color:red} .a, .hid { color:red; display:\tnone }"
        "@media only screen { p{color:red} .onscreen {display:none} } "
        "@layer a {@layer b {.nested{display:none}}}"
        ".faint{opacity:0"
        "</style>"
    )
    figure = "" if "<select>" in hidden else "4.5"
    assert value_of(f"{hidden}{figure}", style=style) == 4.5


def test_what_is_shown_again_within_the_invisible_is_text_and_so_is_what_a_click_opens() -> None:
    shown = "<div style='visibility:hidden'>9<span style='visibility:visible'>4.5</span></div>"
    assert value_of(shown) == 4.5
    assert value_of("<details><summary></summary>4.5</details>") == 4.5
    assert value_of("<style>@media print{.a{display:none}}</style><span class=a>4.5</span>") == 4.5


@pytest.mark.parametrize(
    "shown",
    [
        "<style>@media print{p{color:red}.x{display:none}}</style><b class=x>4</b>.5",
        "<style>@media (max-width:600px){p{color:red}.x{display:none}}</style><b class=x>4</b>.5",
        "<style>@supports (x:y){p{color:red}.x{display:none}}</style><b class=x>4</b>.5",
        "<style>@keyframes a{from{opacity:0}to{opacity:1}}</style><b class=x>4</b>.5",
        "<style>.y{p{color:red}.x{display:none}}</style><b class=x>4</b>.5",
        "<style>.x{opacity:0}.x{opacity:1}</style><b class=x>4</b>.5",
        '<b class="hidden md:block">4</b>.5',
        '<b class="d-none d-md-inline">4</b>.5',
        '<b style="opacity:0.5">4</b>.5',
        '<b style="font-size:0.9em">4</b>.5',
        '<b style="font-size:0"><i style="font-size:1rem">4</i></b>.5',
        '<b style="color:transparent;background-clip:text">4</b>.5',
        '<b style="color:transparent"><i style="color:#000">4</i></b>.5',
        '<b style="position:relative;left:-1px">4</b>.5',
        '<b style="max-width:100px;overflow:hidden">4</b>.5',
        '<b style="transform:scale(0.9)">4</b>.5',
        "<b aria-hidden=true>4</b>.5",
    ],
)
def test_what_a_visitor_can_see_is_text(shown: str) -> None:
    assert value_of(shown) == 4.5


def test_a_table_in_a_tab_that_a_click_opens_is_read() -> None:
    assert value_of("4.5", style="<div class=hidden>") == 4.5


def test_what_a_rule_strikes_out_is_left_out_with_a_warning() -> None:
    page = row("<b class=old>9</b> 4.5", style="<style>.old{text-decoration:line-through}</style>")
    (found,) = parse("html_table", page).rows
    assert (float(found.rate.value), found.rate.warnings) == (4.5, ("struck_out",))


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("4.<span>2</span>5", 4.25),
        ("4<small>,25</small> %", 4.25),
        ("<b>4</b><i>.</i><u>25</u>", 4.25),
        ("4.<wbr>25", 4.25),
        ("4.&shy;25&#8203;&#8288;", 4.25),
        ("<font>4</font><a href=x>.25</a>", 4.25),
        ("<div style='display:inline'>4.</div>25", 4.25),
        ("4<sup>.25</sup>", 4.25),
        ("4<sup>.25%</sup>", 4.25),
        ("4.25<sup>% p.a.</sup>", 4.25),
        ("0.5 %<sup>p.m.</sup>", 6.0),
        ("4<sup>1</sup>/<sub>4</sub> %", 4.25),
        ("<ruby>4.25<rt>9</rt></ruby>", 4.25),
    ],
)
def test_inline_elements_break_no_number(cell: str, value: float) -> None:
    assert value_of(cell) == value


@pytest.mark.parametrize(
    "cell",
    [
        "4.2<br>5",
        "4.2<div>5</div>",
        "4.2<p>5",
        "<span style='display:block'>4.2</span>5",
        "4<sup>50</sup>",
        "4<sup>50%</sup>",
        "4.<sup>1</sup>",
    ],
)
def test_what_is_broken_or_may_mean_two_things_gives_no_figure(cell: str) -> None:
    with pytest.raises(BadDocument) as caught:
        parse("html_table", row(cell))
    assert caught.value.cause is DocumentCause.NO_ROWS


@pytest.mark.parametrize(
    ("bank", "name"),
    [
        ("Tech<b>combank</b>", "Techcombank"),
        ("Nord<wbr>küste", "Nordküste"),
        ("A<br>B", "A B"),
        ("Birch [b]", "Birch"),
        ("Birch [12] *", "Birch"),
        ("Birch<sup>®</sup>", "Birch"),
        ("Birch<sup>2)</sup>", "Birch"),
        ("<s>Old</s> New", "New"),
    ],
)
def test_a_banks_name_is_what_is_read_aloud(bank: str, name: str) -> None:
    assert [r.bank for r in parse("html_table", row("4.5", bank=bank)).rows] == [name]


def test_what_is_struck_out_is_left_out_and_said() -> None:
    (found,) = parse("html_table", row("<del>4.0</del> 4.5")).rows
    assert (float(found.rate.value), found.rate.warnings) == (4.5, ("struck_out",))


def test_rows_that_a_cell_reaches_down_to_end_with_their_group() -> None:
    page = """<table><thead><tr><th>Bank<th>Term<th>Rate</thead>
      <tbody><tr><td rowspan=0>Elm<td>6M<td>4.1<tr><td>1Y<td>4.4</tbody>
      <tbody><tr><td rowspan=99999999999999999999>Oak<td>6M<td>4.2</tbody>
      <tbody><tr><td>Ash<td>6M<td>4.3</tbody></table>"""
    assert figures(parse("html_table", page)) == [
        ("Elm", "M0006", 4.1),
        ("Elm", "M0012", 4.4),
        ("Oak", "M0006", 4.2),
        ("Ash", "M0006", 4.3),
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4.25 per cent", 4.25),
        (".95 %", 0.95),
        (",85", 0.85),
        ("-.25%", -0.25),
        ("4,5 pct", 4.5),
        ("4.5 p.c.", 4.5),
        ("4,5 процента", 4.5),
        ("4.5 por ciento", 4.5),
        ("45 basis points", 0.45),
        ("4½ %", 4.5),
        ("¾", 0.75),
        ("4 1/4", 4.25),
        ("4⅜ %", 4.375),
        ("٤٫٥٪", 4.5),
        ("४.५ प्रतिशत", 4.5),
        ("%4,5", 4.5),
        ("4\u202f\u2009%", 4.0),
        ("0,5 % pro Monat", 6.0),
        ("1.5% a month", 18.0),
        ("2,50 % l'an", 2.5),
        ("2,50 % annuo", 2.5),
        ("年利0.35％（税引前）", 0.35),
        ("4.50% AER/gross", 4.5),
        ("APY 4.50%", 4.5),
        ("4.50% p.a. (variable)", 4.5),
        ("5,99 % p.a. eff.", 5.99),
        ("gebundener Sollzins 5,99 % p.a.", 5.99),
        ("5,99 % effektiver Jahreszins", 5.99),
        ("5,99 % T.A.E.", 5.99),
        ("taux nominal 5,99 %", 5.99),
        ("NEW! 4.50%", 4.5),
        ("Interest rate 4.50%", 4.5),
        ("4·25%", 4.25),
        ("minus 0.25%", -0.25),
        ("**4.50%", 4.5),
        ("4.0999999999999996", 4.1),
        ("4.50%^", 4.5),
        ("4.5*1", 4.5),
        ("4.50% ▲", 4.5),
        ("⭐ 4.50% ⓘ", 4.5),
        ("4.50% ①", 4.5),
        ("4,5 % par an", 4.5),
    ],
)
def test_a_figure_in_the_ways_of_the_world(text: str, value: float) -> None:
    assert float(parse_rate(text).value) == value


@pytest.mark.parametrize(
    "text",
    [
        *(
            "4.5 %/week",
            "0.1 % per day",
            "4-1/2%",
            "1/2 %",
            "4.5 % + 50 bps",
            "1e5",
            "9" * 50,
            "4⁵⁰",
            "4.5 4.6",
        ),
        *("▲ 4.50%", "4.50% AER - 4.41% gross", "5.99% (6.12% APRC)", "base rate + 1.5%", "4.50% (+0.10)"),
    ],
)
def test_a_figure_that_could_mean_several_is_none(text: str) -> None:
    with pytest.raises(UnreadableValue):
        parse_rate(text)


@pytest.mark.parametrize(("rate", "taken"), [("95", True), ("101", False), ("-26", False), ("4500", False)])
def test_without_declared_limits_what_no_rate_is_is_dropped_and_what_is_rare_says_so(
    rate: str, taken: bool
) -> None:
    parsed = parse("csv", f"Bank;Term;Rate\nA;6M;4.5\nB;6M;{rate}\n")
    assert [r.rate.warnings for r in parsed.rows] == [()] + [("unusual",)] * taken
    assert parsed.reasons() == ({} if taken else {"value_out_of_range": 1})


@pytest.mark.parametrize(
    ("text", "code", "language"),
    [
        ("1.5 Month", "M0001.5", None),
        ("1½ years", "M0018", None),
        ("6 мес.", "M0006", None),
        ("1 año", "M0012", None),
        ("12 miesięcy", "M0012", None),
        ("5 лет", "M0060", None),
        ("6 kuukautta", "M0006", None),
        ("٦ أشهر", "M0006", None),
        ("6 महीने", "M0006", None),
        ("６个月", "M0006", None),
        ("6ヶ月", "M0006", None),
        ("miezi 6", "M0006", None),
        ("3 Mo", "M0003", None),
        ("6T", "M0006", "vi"),
        ("6T", "D00006", "de"),
        ("1 J", "M0012", "de"),
        ("30 j", "D00030", "fr"),
        ("6¹ Monate", "M0006", None),
        ("6 month(s)", "M0006", None),
        ("six months", "M0006", None),
        ("One year", "M0012", None),
        ("ein Jahr", "M0012", None),
        ("un an", "M0012", None),
        ("三个月", "M0003", None),
        ("二十四個月", "M0024", None),
        ("十年", "M0120", None),
        ("1年期", "M0012", None),
        ("半年", "M0006", None),
        ("两年", "M0024", None),
        ("一年半", "M0018", None),
        ("P1Y6M", "M0018", None),
        ("P90D", "D00090", None),
        ("24 Month CD", "M0024", None),
        ("6-Monats-Festgeld", "M0006", "de"),
        ("12 Mte.", "M0012", "de"),
        ("On call", "M0000", None),
    ],
)
def test_terms_in_many_languages(text: str, code: str, language: str | None) -> None:
    assert parse_term(text, language=language).code == code


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("6T", Reason.TERM_AMBIGUOUS),
        ("6 j", Reason.TERM_AMBIGUOUS),
        ("12 M (promo)", Reason.TERM_UNREADABLE),
        ("6 months 12 months", Reason.TERM_UNREADABLE),
        ("1.000 days", Reason.TERM_UNREADABLE),
        ("12 months (24 months)", Reason.TERM_UNREADABLE),
        ("9" * 10_000, Reason.TERM_UNREADABLE),
        ("12+ months", Reason.TERM_IS_A_RANGE),
        ("6m-12m", Reason.TERM_IS_A_RANGE),
        ("a month or two", Reason.TERM_UNREADABLE),
        ("P", Reason.TERM_UNREADABLE),
        ("十", Reason.TERM_UNREADABLE),
    ],
)
def test_what_is_not_one_term_for_sure_says_why(text: str, reason: Reason) -> None:
    with pytest.raises(UnreadableValue) as caught:
        parse_term(text)
    assert caught.value.reason is reason


def test_half_a_month_has_a_code_of_its_own() -> None:
    code = parse_term("1.5M").code
    assert (months_of(code), term_name(code)) == (1.5, "1.5M")
    assert Term(months=1).code < code < Term(months=2).code
    assert parse_term(str(term_name(code))).code == code


def test_the_page_says_its_language_and_the_declaration_rules() -> None:
    page = row("4.5", term="6T")
    assert figures(parse("html_table", f"<html lang=vi-VN>{page}")) == [("A", "M0006", 4.5)]
    assert figures(parse("html_table", f"<html lang=vi>{page}", language="de")) == [("A", "D00006", 4.5)]
    assert units("M", "lt") == {"Y"}


def test_every_heading_is_read_or_reported() -> None:
    page = "Bank,O/N,1.5 Month,6-12 months,12 M (promo),Notes,6M\nA,3.1,3.2,3.3,3.4,x,3.5\n"
    parsed = parse("csv", page, term_columns=True, term=None, value=None)
    assert [r.term for r in parsed.rows] == ["M0000", "M0001.5", "M0006"]
    assert [h.heading for h in parsed.headings_not_taken] == ["6-12 months", "12 M (promo)", "Notes"]
    assert parsed.reasons() == {"term_is_a_range": 1, "term_unreadable": 2}


BANKS = {
    "as_of": "2026-11-28",
    "banks": [
        {"name": "A", "products": [{"series": "x", "rates": [{"t": 6, "r": 4.5}, {"t": 12, "r": 4.7}]}]},
        {"name": "B"},
        {"name": "C", "products": [{"series": "x", "rates": [{"t": "6M", "r": 4.1, "r2": 1}]}]},
    ],
}


def test_records_are_found_step_by_step_and_fields_climb() -> None:
    options: dict[str, Any] = {
        "records": ["banks", "products", "rates"],
        "bank": "^^.name",
        "term": "t",
        "value": "r",
    }
    parsed = parse("json_api", json.dumps(BANKS), **options)
    assert figures(parsed) == [("A", "M0006", 4.5), ("A", "M0012", 4.7), ("C", "M0006", 4.1)]
    assert parsed.reasons() == {"no_records": 1}
    parsed = parse("json_api", json.dumps(BANKS), **options | {"bank": "^^^.as_of"})
    assert {r.bank for r in parsed.rows} == {"2026-11-28"}


@pytest.mark.parametrize(
    "options", [{"bank": "^^^^.name"}, {"records": []}, {"records": ["a["]}, {"records": ["a"] * 6}]
)
def test_a_climb_above_the_document_and_a_wrong_step_are_refused(options: dict[str, Any]) -> None:
    declared = {"records": ["banks", "products", "rates"], "bank": "^^.name", "term": "t", "value": "r"}
    with pytest.raises(InvalidInput):
        read_observation_options(spec("json_api", **declared | options))


IN_A_PAGE = json.dumps({"rates": [{"b": "A", "t": "P6M", "r": 4.5}, {"b": "B", "t": 6, "r": None}]})


@pytest.mark.parametrize(
    "script",
    [
        f'<script id=x type="application/json">{IN_A_PAGE}</script>',
        f"<script id=x>\nwindow.__STATE__ = {IN_A_PAGE};\n</script>",
        f"<script id=x>const a = {IN_A_PAGE.replace('null', 'NaN')}</script>",
    ],
)
def test_a_script_of_a_page_holds_the_records(script: str) -> None:
    options = {"script": "#x", "records": "rates", "bank": "b", "term": "t", "value": "r"}
    parsed = parse("json_api", f"<!doctype html><div id=root></div>{script}", **options)
    assert figures(parsed) == [("A", "M0006", 4.5)]
    assert parsed.reasons() == {"no_value": 1}
    with pytest.raises(BadDocument, match="nothing matches #x"):
        parse("json_api", "<p>Back soon", **options)
    with pytest.raises(InvalidInput, match="no CSS selector"):
        read_observation_options(spec("json_api", **options | {"script": "#"}))


@pytest.mark.parametrize(
    ("page", "rows", "selectors"),
    [
        ("<dl><dt>6M<dd>4.5 %<dt>1 year<dd hidden>9<dd>4.7 %<dt>2Y</dl>", "dt", ("dt", "~ dd")),
        ("<dl><h3>6M</h3><p>a<div><b>4.5</b></div><h3>One year</h3><b>4.7</b></dl>", "h3", ("h3", "~b")),
    ],
)
def test_a_field_stands_behind_its_row(page: str, rows: str, selectors: tuple[str, str]) -> None:
    term, value = ({"selector": selector} for selector in selectors)
    parsed = parse("html_table", page, table="dl", rows=rows, bank={"const": "A"}, term=term, value=value)
    assert figures(parsed) == [("A", "M0006", 4.5), ("A", "M0012", 4.7)]


SECTIONS = """<main><h3>Elm</h3><table><tr><th>Term<th>Rate<tr><td>6M<td>4.1</table><h3 hidden>Oak</h3>
  <h3>Ash</h3><table><tr><th>Term<th>Rate<tr><td>6M<td>4.2<tr><td>1Y<td>4.3</table></main>"""
ROWS = """<table><tr><th>Term<th>Rate<tr><th colspan=2>Elm<tr><td>6M<td>4.1<tr><th colspan=2>Ash
  <tr><td>6M<td>4.2<tr><td>1Y<td>4.3</table>"""
BLANKS = """<table><tr><th>Bank<th>Term<th>Rate<tr><td>Elm<td>6M<td>4.1<tr><td>Ash<td>6M<td>4.2
  <tr><td>&nbsp;<td>1Y<td>4.3</table>"""


@pytest.mark.parametrize(
    ("page", "table", "bank"),
    [
        (SECTIONS, "main", "^ h3"),
        (ROWS, "table", "^th[colspan]"),
        (BLANKS, "table", "^ td:first-child"),
    ],
)
def test_a_field_stands_before_its_row(page: str, table: str, bank: str) -> None:
    parsed = parse("html_table", page, table=table, bank={"selector": bank})
    assert figures(parsed) == [("Elm", "M0006", 4.1), ("Ash", "M0006", 4.2), ("Ash", "M0012", 4.3)]


def test_banks_are_columns_where_terms_are_rows() -> None:
    page = "Term,Elm,Ash\n6 months,4.1,4.2\n1 year,n/a,4.3\n"
    values = [{"column": "Elm", "bank": "Elm"}, {"column": "Ash", "bank": "Ash Bank"}]
    parsed = parse("csv", page, bank=None, value=None, values=values)
    assert figures(parsed) == [("Elm", "M0006", 4.1), ("Ash Bank", "M0006", 4.2), ("Ash Bank", "M0012", 4.3)]
    with pytest.raises(InvalidInput, match="bank: where a record names the bank"):
        read_observation_options(spec("csv", bank=None, value=None, values=[{"column": "Elm"}]))


def test_a_range_in_two_places_is_one_figure() -> None:
    page = "Bank,Term,Rate,To\nA,6M,5.99%,6.49%\nB,6M,-0.5,-0.25\nC,6M,5,\nD,6M,n/a,6\n"
    parsed = parse("csv", page, value={"column": "Rate", "to": "To"})
    ends = [(float(r.rate.low or 0), float(r.rate.high or 0)) for r in parsed.rows]
    assert ends == [(5.99, 6.49), (-0.5, -0.25), (5.0, 5.0)]
    assert parsed.reasons() == {"not_a_number": 1}


def test_a_file_that_says_its_delimiter_is_cut_there() -> None:
    assert figures(parse("csv", "sep=|\r\nBank|Term|Rate\r\nA;B, C|6M|4,5\r\n")) == [("A;B, C", "M0006", 4.5)]


def test_a_heading_is_known_by_its_words_whatever_marks_are_in_it() -> None:
    page = "Bank ▲▼,Term,Rate¹ (% p.a.)\nA,6M,4.5\n"
    assert figures(parse("csv", page, value="Rate (% p.a.)")) == [("A", "M0006", 4.5)]


def test_a_member_that_stands_twice_is_not_chosen_from() -> None:
    page = '[{"b":"A","t":6,"r":4.5,"r":9.5},{"b":"B","t":6,"r":4.5,"r":4.5}]'
    parsed = parse("json_api", page, bank="b", term="t", value="r")
    assert figures(parsed) == [("B", "M0006", 4.5)]
    assert parsed.reasons() == {"said_twice": 1}


def test_a_quotation_mark_that_is_not_closed_costs_its_row() -> None:
    parsed = parse("csv", 'Bank;Term;Rate\nA;"6M;4.5\nB;6M;4.7\nC;6M";4.8\nD;6M;4.9\n')
    assert figures(parsed) == [("B", "M0006", 4.7), ("D", "M0006", 4.9)]
    assert sum(parsed.reasons().values()) >= 2


def test_a_stale_first_source_is_passed_over_for_its_age() -> None:
    def candidate(source_id: str, priority: int, stale: bool) -> Candidate:
        seen = {"last_seen_at": "2026-01-01T00:00:00.000Z", "sequence": 1}
        return Candidate(source_id, priority, stale, Figure.of_item(seen))

    order = ranked([candidate("a", 1, True), candidate("b", 2, False), candidate("c", 3, False)])
    assert [c.source_id for c in order] == ["b", "c", "a"]
    assert decided_by(order) == "freshness"
    order = ranked([candidate("a", 1, False), candidate("b", 2, False), candidate("c", 3, True)])
    assert decided_by(order) == "priority"


@pytest.mark.parametrize(
    ("case", "declaration", "expected"),
    [
        (
            "rates-hidden",
            "rates-hidden",
            [4.6, 4.5, 4.5, 4.7, 4.8, 4.9, 4.25, 4.35, 4.45, 4.55, 4.65, 4.75, 4.85],
        ),
        ("rates-inline", "rates-inline", [4.5, 4.6, 4.7, 4.8, 4.9, 5.0, 5.1]),
        ("rates-term-headings", "rates-term-headings", [3.1, 3.2, 3.3, 3.7]),
        ("rates-words", "rates-inline", [4.25, 0.95, 0.85, 4.1, 4.4]),
    ],
)
def test_the_cases_of_the_workplace(case: str, declaration: str, expected: list[float]) -> None:
    if not CASES.is_dir():
        pytest.skip("the folder of cases is not beside this checkout")
    (declared,) = read_sources(Path(CASES / declaration / "src.yaml"))
    parsed = parse_document(declared, (CASES / case / "page.html").read_bytes())
    assert [float(r.rate.value) for r in parsed.rows] == expected


@pytest.mark.parametrize(
    ("heading", "code"),
    [
        ("Term", "M0003"),
        ("Term (months)", "M0003"),
        ("Term (years)", "M0036"),
        ("Laufzeit in Jahren", "M0036"),
        ("Срок, лет", "M0036"),
        ("期限(年)", "M0036"),
        ("Kỳ hạn (ngày)", "D00003"),
        ("Term [d]", "D00003"),
        ("Weeks", "D00021"),
        ("Term (b)", "M0003"),
        ("Kỳ hạn (30 ngày)", "M0003"),
    ],
)
def test_a_bare_term_is_in_the_unit_of_its_heading(heading: str, code: str) -> None:
    page = f"<table><tr><th>Bank<th>{heading}<th>Rate<tr><td>A<td>3<td>4.25</table>"
    (found,) = parse("html_table", page, term=heading).rows
    assert found.term == code
    (found,) = parse("csv", f"Bank;{heading};Rate\nA;3;4.25\n", term=heading).rows
    assert found.term == code
    (found,) = parse("html_table", page, term=heading, bare_term="weeks").rows
    assert found.term == "D00021"


def test_a_bare_term_under_a_heading_of_two_units_is_dropped() -> None:
    page = (
        "<table><tr><th>Bank<th>Term (days or months)<th>Rate<tr><td>A<td>3<td>4<tr><td>A<td>3M<td>5</table>"
    )
    parsed = parse("html_table", page, term="Term (days or months)")
    assert figures(parsed) == [("A", "M0003", 5.0)]
    assert parsed.reasons() == {"term_unreadable": 1}


@pytest.mark.parametrize(
    ("heading", "cell", "rate", "warnings"),
    [
        ("Rate", "45", 45.0, ("unusual",)),
        ("Rate %", "4.5", 4.5, ()),
        ("Rate (bp)", "45", 0.45, ()),
        ("Zinssatz (Basispunkte)", "45", 0.45, ()),
        ("Rate (‰)", "45", 4.5, ()),
        ("Rate (bp)", "4.5 %", 4.5, ()),
        ("Rate (% p.m.)", "0.35", 4.2, ("monthly_rate",)),
        ("Lãi suất (%/tháng)", "0,35", 4.2, ("monthly_rate",)),
        ("Ставка, % в месяц", "0,35 %", 4.2, ("monthly_rate",)),
        ("Rate per month", "4.2 % p.a.", 4.2, ()),
        ("Taux mensuel", "0,35", 0.35, ("maybe_monthly",)),
        ("Monthly", "4.25", 4.25, ("maybe_monthly",)),
        ("Monthly interest (% p.a.)", "4.25", 4.25, ()),
        ("Lãi suất tháng 11", "4,25", 4.25, ()),
        ("Rate this month", "4.25", 4.25, ()),
        ("Lãi suất (%/năm)", "4,25", 4.25, ()),
    ],
)
def test_a_bare_figure_is_in_the_unit_of_its_heading(
    heading: str, cell: str, rate: float, warnings: tuple[str, ...]
) -> None:
    page = f"<table><tr><th>Bank<th>Term<th>{heading}<tr><td>A<td>6M<td>{cell}</table>"
    (found,) = parse("html_table", page, value=heading).rows
    assert (float(found.rate.value), found.rate.warnings) == (rate, warnings)
    declared = {"value": heading, "unit": "percent"}
    if heading == "Rate (bp)" and cell == "45":
        assert figures(parse("html_table", page, **declared)) == [("A", "M0006", 45.0)]


def test_a_bare_figure_under_a_heading_of_two_units_is_dropped() -> None:
    page = "<table><tr><th>Bank<th>Term<th>Rate (%, ‰)<tr><td>A<td>6M<td>4<tr><td>B<td>6M<td>5 %</table>"
    parsed = parse("html_table", page, value="Rate (%, ‰)")
    assert figures(parsed) == [("B", "M0006", 5.0)]


def test_the_names_of_json_say_units_as_headings_do() -> None:
    content = json.dumps([{"bank": "A", "termDays": 30, "rate_bps": 425}])
    found = parse("json_api", content, records="@", bank="bank", term="termDays", value="rate_bps")
    assert figures(found) == [("A", "D00030", 4.25)]


def test_small_figures_that_nothing_calls_per_cent_may_be_fractions() -> None:
    rows = [{"bank": "A", "term": term, "rate": 0.045} for term in ("3M", "6M", "12M")]
    fields = {"records": "@", "bank": "bank", "term": "term"}
    assert "fraction" in parse("json_api", json.dumps(rows), value="rate", **fields).notes[0]
    assert parse("json_api", json.dumps(rows), value="rate", unit="percent", **fields).notes == []
    named = json.dumps([{**row, "rate_pct": row["rate"]} for row in rows])
    assert parse("json_api", named, value="rate_pct", **fields).notes == []
