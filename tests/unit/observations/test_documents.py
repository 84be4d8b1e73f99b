from __future__ import annotations

import json
from typing import Any

import pytest

from sourcebook.observations.adapters.document import BadDocument, DocumentCause
from tests.unit.observations.pages import figures, parse

TABLE = "<table><tr><th>Bank<th>Term<th>Rate<tr><td>Bến Xuân<td>6 tháng<td>4,5%</table>"
CSV = "Bank;Term;Rate\nNordküste;6 Monate;4,5\nMühlbach;1 Jahr;4,7\n"


def cause_of(kind: str, page: str | bytes, **options: object) -> tuple[DocumentCause, str]:
    with pytest.raises(BadDocument) as caught:
        parse(kind, page, **options)  # type: ignore[arg-type]
    return caught.value.cause, caught.value.detail


def test_a_table_is_read_as_a_browser_shows_it() -> None:
    page = """<TABLE><thead><tr><th rowspan=2>Bank<th colspan=2>Term<tr><th>6M<th>12 months
    <tr><td rowspan=2>Lúa Vàng<td>4,<b>5</b><td>4,8<sup>1</sup></td></td>
    <tr><td>9<td>9
    <tr><td colspan=3>Digital banks
    <tr><td>Đom Đóm<br>Bank<td>5.0<td><p>5.1</p><p>5.3</p>
    <tr style='display: none'><td>Hidden<td>1<td>2</table>"""
    parsed = parse("html_table", page, header_rows=2, term_columns=True, term=None, value=None)
    assert figures(parsed) == [
        ("Lúa Vàng", "M0006", 4.5),
        ("Lúa Vàng", "M0012", 4.8),
        ("Đom Đóm Bank", "M0006", 5.0),
    ]
    assert parsed.rows[1].rate.raw == "4,8¹"
    assert parsed.rows[1].rate.warnings == ("footnote",)
    assert parsed.reasons() == {"repeated": 2, "section_heading": 1, "several_numbers": 1}


def test_cards_are_read_by_selectors() -> None:
    page = """<ul class=rates>
      <li data-bank="Hama"><h3>普通預金</h3><span class=r>０.２０％</span>
      <li data-bank="Minato"><h3>1年</h3><span class=r>年利 0.35%</span></ul>"""
    parsed = parse(
        "html_table",
        page,
        table="ul.rates",
        rows="li",
        bank={"selector": "h3", "map": {"普通預金": "浜銀行", "1年": "港銀行"}},
        term={"selector": "h3"},
        value={"selector": ".r"},
    )
    assert figures(parsed) == [("浜銀行", "M0000", 0.2), ("港銀行", "M0012", 0.35)]


def test_the_table_with_the_declared_headings_is_the_one_that_is_meant() -> None:
    assert figures(parse("html_table", f"<table><tr><td>Menu</table>{TABLE}")) == [("Bến Xuân", "M0006", 4.5)]


def test_a_row_with_a_cell_too_many_is_dropped_and_the_others_stay() -> None:
    parsed = parse("html_table", TABLE.replace("</table>", "<tr><td>B<td>Promo<td>6M<td>4.6</table>"))
    assert figures(parsed) == [("Bến Xuân", "M0006", 4.5)]
    assert parsed.reasons() == {"wrong_number_of_cells": 1}


def test_json_numbers_are_exact_and_paths_reach_into_records() -> None:
    page = json.dumps(
        {"d": [{"b": {"n": "A"}, "t": 6, "r": 4.35}, {"b": {"n": "B"}, "t": "1Y", "r": "4.5 - 4.7"}]}
    )
    parsed = parse("json_api", page, records="d", bank="b.n", term="t", value="r")
    assert [(str(r.rate.low), str(r.rate.high)) for r in parsed.rows] == [
        ("4.35", "4.35"),
        ("4.5", "4.7"),
    ]
    assert parsed.rows[0].rate.warnings == ()


def test_a_fraction_of_three_decimals_in_json_is_no_thousand() -> None:
    parsed = parse("json_api", '[{"b":"A","t":6,"r":4.125}]', bank="b", term="t", value="r")
    assert (str(parsed.rows[0].rate.value), parsed.rows[0].rate.warnings) == ("4.125", ())


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_csv_finds_its_delimiter_beside_decimal_commas(delimiter: str) -> None:
    assert figures(parse("csv", CSV.replace(";", delimiter))) == [
        ("Nordküste", "M0006", 4.5),
        ("Mühlbach", "M0012", 4.7),
    ]


def test_a_decimal_comma_in_a_file_that_is_cut_at_commas_costs_its_row_and_stores_nothing_wrong() -> None:
    parsed = parse("csv", "Bank,Term,Rate\nA,6M,4.5\nB,6M,4,7\nC,6M,4.9\n")
    assert figures(parsed) == [("A", "M0006", 4.5), ("C", "M0006", 4.9)]
    assert parsed.reasons() == {"wrong_number_of_cells": 1}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_csv_is_read_in_the_encoding_it_has(encoding: str) -> None:
    parsed = parse("csv", CSV.encode(encoding), encoding="windows-1252")
    assert [row.bank for row in parsed.rows] == ["Nordküste", "Mühlbach"]


def test_utf_8_that_is_declared_as_something_else_is_utf_8() -> None:
    parsed = parse("csv", CSV.encode(), charset="iso-8859-1")
    assert [row.bank for row in parsed.rows] == ["Nordküste", "Mühlbach"]
    assert parsed.notes == ["declared as iso-8859-1, but it is UTF-8"]


@pytest.mark.parametrize(
    ("page", "charset"),
    [
        (CSV.encode("cp1252"), "utf-8"),
        (CSV.encode("cp1252"), None),
        ((CSV + "Süßbach;6M;4,0\nGrün;6M;4\n").encode().decode("cp1252").encode(), "utf-8"),
    ],
)
def test_a_wrong_charset_is_a_cause_and_makes_no_new_banks(page: bytes, charset: str | None) -> None:
    assert cause_of("csv", page, charset=charset)[0] is DocumentCause.WRONG_CHARSET


@pytest.mark.parametrize(
    ("kind", "page", "cause"),
    [
        ("html_table", "", DocumentCause.EMPTY_PAGE),
        (
            "html_table",
            "<html><body><div id=app></div><script>1</script></body></html>",
            DocumentCause.EMPTY_PAGE,
        ),
        ("csv", " \r\n", DocumentCause.EMPTY_PAGE),
        ("json_api", "[]", DocumentCause.EMPTY_PAGE),
        ("html_table", "<form><input type='password'></form>", DocumentCause.LOGIN_PAGE),
        ("html_table", "<title>Đăng nhập</title><p>x", DocumentCause.LOGIN_PAGE),
        ("json_api", "<html><form><input type=password></form>", DocumentCause.LOGIN_PAGE),
        ("csv", "<!doctype html><input name=p type=password>", DocumentCause.LOGIN_PAGE),
        ("json_api", "<html><p>Moved</html>", DocumentCause.WRONG_FORMAT),
        ("json_api", '{"a": ', DocumentCause.WRONG_FORMAT),
        ("json_api", '[{"Bank": undefined}]', DocumentCause.WRONG_FORMAT),
        ("json_api", '[{"Bank": NaN}]', DocumentCause.LAYOUT_CHANGED),
        ("csv", "<html><p>Moved</html>", DocumentCause.WRONG_FORMAT),
        ("html_table", "<p>We have moved", DocumentCause.LAYOUT_CHANGED),
        ("html_table", TABLE.replace("Rate", "Zins"), DocumentCause.LAYOUT_CHANGED),
        ("csv", CSV.replace("Rate", "Zins"), DocumentCause.LAYOUT_CHANGED),
        ("json_api", '{"error": "gone"}', DocumentCause.LAYOUT_CHANGED),
        ("json_api", '[{"Bank": "A", "Term": "6M", "rate": 4}]', DocumentCause.LAYOUT_CHANGED),
        ("html_table", TABLE.replace("4,5%", "soon"), DocumentCause.NO_ROWS),
        (
            "csv",
            "Bank;Term;Rate\nA;6M;100.000.000\nB;6M;50.000.000\nC;6M;4.5\n",
            DocumentCause.IMPLAUSIBLE_VALUES,
        ),
    ],
)
def test_a_document_that_is_not_the_wanted_one_has_a_cause(
    kind: str, page: str, cause: DocumentCause
) -> None:
    found, detail = cause_of(kind, page)
    assert found is cause
    assert detail


def test_a_changed_layout_names_what_is_missing_and_what_is_there() -> None:
    _, detail = cause_of("html_table", TABLE.replace("Rate", "Zins"))
    assert "no heading Rate" in detail
    assert "'Zins'" in detail


def test_figures_outside_of_the_declared_limits_are_dropped() -> None:
    parsed = parse("csv", "Bank;Term;Rate\nA;6M;4,5\nB;6M;45\n", limits_pct=[0, 20])
    assert figures(parsed) == [("A", "M0006", 4.5)]
    assert parsed.reasons() == {"value_out_of_range": 1}


def test_a_column_names_the_series_and_loans_have_no_term() -> None:
    options: dict[str, Any] = {
        "series": [{"code": "deposit_online"}, {"code": "home_loan", "kind": "loan", "name": "Home loan"}],
        "series_field": {"column": "Kind", "map": {"Online": "deposit_online"}},
    }
    page = "Bank;Kind;Term;Rate\nA;Online;6M;4,5\nA;Home loan;;7,9\nA;Card;;18\n;Online;6M;4\n"
    parsed = parse("csv", page, **options)
    assert [(r.series, r.term) for r in parsed.rows] == [("deposit_online", "M0006"), ("home_loan", "-")]
    assert parsed.reasons() == {"no_bank": 1, "unknown_series": 1}


def test_several_figures_of_one_record_have_series_and_terms_of_their_own() -> None:
    parsed = parse(
        "csv",
        "Bank;Online;Counter\nA;4,5;4,2\n",
        series=[{"code": "online"}, {"code": "branch"}],
        term=None,
        value=None,
        values=[
            {"column": "Online", "series": "online", "term": "6M"},
            {"column": 3, "series": "branch", "term": "6M"},
        ],
    )
    assert [(r.series, r.term, str(r.rate.value)) for r in parsed.rows] == [
        ("online", "M0006", "4.5"),
        ("branch", "M0006", "4.2"),
    ]
