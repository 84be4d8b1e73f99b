"""AAVSO's two formats."""

from __future__ import annotations

import pytest

from sourcebook.errors import InvalidInput
from sourcebook.lightcurves.model import Format
from tests.unit.lightcurves.uploads import EXTENDED, VISUAL, extended, one, parse, refusal

ROW = "V1324 Sco,2456079.91234,10.9,na,110,113,070613,na\n"


def test_a_row_of_the_extended_format_is_read() -> None:
    found = one(extended())
    assert (found.mjd, found.time_system, found.time_scale) == (56079.41234, "JD", "UTC")
    assert (found.magnitude, found.magnitude_error, found.band, found.observer) == (
        11.135,
        0.003,
        "V",
        "TST01",
    )
    assert found.notes is None
    assert found.row == 8
    assert parse(extended()).format is Format.AAVSO_EXTENDED


def test_the_comparison_and_check_stars_of_a_row_are_not_the_nova() -> None:
    parsed = parse(extended(CNAME="105", CMAG="10.502", KNAME="110", KMAG="11.012"))
    assert [m.magnitude for m in parsed.measurements] == [11.135]


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"NAME": "SS CYG"}, "NAME"),
        ({"NAME": "105"}, "NAME"),
        ({"MTYPE": "DIF"}, "MTYPE"),
        ({"DATE": "56079.4"}, "DATE"),
        ({"DATE": "2012-06-01"}, "DATE"),
        ({"MAG": "na"}, "MAG"),
        ({"MERR": "-0.1"}, "MERR"),
        ({"FILT": "na"}, "FILT"),
        ({"FILT": "Q"}, "FILT"),
        ({"NOTES": "one, two"}, "row"),
        ({"MAG": "11,135"}, "row"),
    ],
)
def test_a_row_that_is_wrong_is_named_as_the_format_names_it(changed: dict[str, str], field: str) -> None:
    assert refusal(extended(**changed))[0] == field


def test_na_is_nothing_and_a_limit_is_fainter_than() -> None:
    found = one(extended(MAG="<15.2", MERR="na", MTYPE="na", FILT="TG", NOTES="thin clouds"))
    assert (found.magnitude, found.upper_limit, found.magnitude_error) == (15.2, True, None)
    assert (found.band, found.notes) == ("TG", "thin clouds")


@pytest.mark.parametrize(
    ("declared", "delimiter"),
    [
        (",", ","),
        ("comma", ","),
        (";", ";"),
        ("semicolon", ";"),
        ("tab", "\t"),
        ("\t", "\t"),
        ("|", "|"),
        ("TAB", "\t"),
    ],
)
def test_the_delimiter_is_the_declared_one(declared: str, delimiter: str) -> None:
    row = extended().splitlines()[-1].replace(",", delimiter)
    found = one(EXTENDED.replace("#DELIM=,", f"#DELIM={declared}") + row)
    assert found.magnitude == 11.135


def test_a_decimal_comma_is_read_where_the_comma_parts_no_cells() -> None:
    row = extended().splitlines()[-1].replace(",", ";").replace(".", ",")
    assert one(EXTENDED.replace("#DELIM=,", "#DELIM=;") + row).mjd == 56079.41234


@pytest.mark.parametrize(
    "headings",
    [
        EXTENDED.replace("#", "# ").replace("=", " = "),
        EXTENDED.lower(),
        EXTENDED.replace("\n", ",,,,,,,,,,,,,,\n"),
        "\ufeff" + EXTENDED,
        '"' + EXTENDED.replace("\n", '"\n"').removesuffix('"'),
        "\r\n".join(EXTENDED.splitlines()) + "\r\n",
    ],
    ids=["spaces", "lower case", "saved by a spreadsheet", "byte order mark", "quoted", "windows"],
)
def test_headings_are_read_as_software_leaves_them(headings: str) -> None:
    found = one(headings + extended().splitlines()[-1])
    assert (found.magnitude, (found.observer or "").upper()) == (11.135, "TST01")


def test_a_heading_holds_until_it_is_given_anew() -> None:
    row = extended().splitlines()[-1]
    parsed = parse(
        f"{EXTENDED}{row}\n#OBSCODE=TST02\n#DATE=HJD\n{row}\n#DATE=BJD\n{row.replace('11.135', '11.136')}\n"
    )
    assert sorted((m.observer, m.time_system, m.time_scale) for m in parsed.measurements) == [
        ("TST01", "JD", "UTC"),
        ("TST02", "BJD", None),
        ("TST02", "HJD", "UTC"),
    ]


def test_rows_under_a_heading_that_is_wrong_are_refused_until_another_mends_it() -> None:
    row = extended().splitlines()[-1]
    parsed = parse(f"{EXTENDED}{row}\n#DATE=LOCAL\n{row}\n{row}\n#DATE=JD\n{row.replace('11.135', '11.2')}\n")
    assert [m.magnitude for m in parsed.measurements] == [11.135, 11.2]
    assert [(e.row, e.field) for e in parsed.errors] == [(10, "DATE"), (11, "DATE")]


def test_a_wrong_delimiter_holds_until_another_is_given_and_no_comment_mends_it() -> None:
    row = extended().splitlines()[-1]
    later = row.replace("11.135", "11.2")
    parsed = parse(f"{EXTENDED}{row}\n#DELIM=five\n# clouds\n{row}\n#DELIM=,\n{later}\n")
    assert [m.magnitude for m in parsed.measurements] == [11.135, 11.2]
    assert [(e.row, e.field) for e in parsed.errors] == [(11, "DELIM")]


def test_dates_of_a_spreadsheet_are_in_ut() -> None:
    found = one(extended(DATE="6/1/2012 9:36:00 PM").replace("#DATE=JD", "#DATE=EXCEL"))
    assert (found.mjd, found.time_system, found.time_scale) == (56079.9, "DATE", "UTC")


@pytest.mark.parametrize(
    ("upload", "field"),
    [
        (EXTENDED.replace("#TYPE=EXTENDED", "#TYPE=OTHER") + ROW, "TYPE"),
        (EXTENDED.replace("#DATE=JD\n", ""), "DATE"),
        (EXTENDED.replace("#DATE=JD", "#DATE=MJD"), "DATE"),
        (EXTENDED.replace("#DELIM=,", "#DELIM=five"), "DELIM"),
    ],
)
def test_headings_that_no_row_can_do_without_are_asked_for_once(upload: str, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse(upload)
    assert refused.value.field == field


def test_a_row_of_the_visual_format_is_read() -> None:
    found = one(VISUAL + ROW)
    assert (found.magnitude, found.band, found.band_raw, found.observer) == (10.9, "Visual", "Vis.", "TST01")
    assert found.magnitude_error is None
    assert parse(VISUAL + ROW).format is Format.AAVSO_VISUAL


def test_limits_and_doubts_of_visual_observers_are_kept() -> None:
    parsed = parse(VISUAL + ROW.replace("10.9", "<12.4") + ROW.replace("10.9", "11.0:"))
    assert [(m.magnitude, m.upper_limit, m.notes) for m in parsed.measurements] == [
        (11.0, False, "uncertain"),
        (12.4, True, None),
    ]


def test_a_row_of_the_wrong_length_says_what_the_cells_are() -> None:
    field, message = refusal(VISUAL + "V1324 Sco,2456079.9,10.9\n")
    assert field == "row"
    assert "NAME,DATE,MAG,COMMENTCODE,COMP1,COMP2,CHART,NOTES" in message
