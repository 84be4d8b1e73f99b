"""CSV in all its forms: what is good goes on, and each bad row says why it does not."""

from __future__ import annotations

import codecs

import pytest

from sourcebook.errors import InvalidInput
from sourcebook.lightcurves import parse as parse_module
from sourcebook.lightcurves.model import ERRORS_KEPT, Format
from sourcebook.lightcurves.parse import MOST_BYTES, file_id_of
from tests.unit.lightcurves.uploads import one, parse, refusal

PLAIN = "jd,mag,err,band,observer\n2456079.91234,11.135,0.003,V,Ada\n"


def test_a_row_has_all_that_was_said_of_it() -> None:
    found = one(PLAIN)
    assert (found.mjd, found.time_system, found.time_scale) == (56079.41234, "JD", None)
    assert found.time_raw == "2456079.91234"
    assert (found.magnitude, found.magnitude_error, found.upper_limit) == (11.135, 0.003, False)
    assert (found.band, found.band_raw, found.observer) == ("V", "V", "Ada")
    assert (found.flux, found.flux_unit) == (None, None)
    assert (found.file_id, found.row) == (file_id_of(PLAIN.encode()), 2)


@pytest.mark.parametrize(
    "upload",
    [
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("\n", "\r"),
        PLAIN.rstrip("\n"),
        f"\ufeff{PLAIN}",
        f"\n\n{PLAIN}\n,,,,\n",
        f"# measured by hand\n{PLAIN}# the end\n",
        PLAIN.replace(",", ";"),
        PLAIN.replace(",", "\t"),
        PLAIN.replace(",", " | ").replace(" | ", "|"),
        "#DELIM=;\n" + PLAIN.replace(",", ";"),
        "JD;Mag;Err;Filter;Observer\n2456079,91234;11,135;0,003;V;Ada\n",
        'JD,Mag,Err,Filter,Observer\n"2456079,91234","11,135","0,003",V,Ada\n',
        "Julian Date,Magnitude,Uncertainty,Passband,Observer Code\n2456079.91234,11.135,±0.003,V,Ada\n",
        "#OBSCODE=Ada\n#FILTER=V\n#TIME_SYSTEM=JD\ntime,mag,e_mag\n2456079.91234,11.135,0.003\n",
        "# jd mag err band observer\n2456079.91234 11.135 0.003 V Ada\n",
        "jd   mag    err   band observer\n2456079.91234   11.135  0.003  V  Ada\n",
        "jd,mag,err,band,observer,,\n2456079.91234,11.135,0.003,V,Ada,,\n",
        "observer,band,jd,time_system,err,airmass,mag\nAda,V,2456079.91234,,0.003,1.2,11.135\n",
        "date,time_system,mag,err,band,observer\n2456079.91234,JD,11.135,0.003,V,Ada\n",
    ],
    ids=str,
)
def test_one_measurement_is_the_same_however_it_is_written(upload: str) -> None:
    found = one(upload)
    assert (found.mjd, found.time_system, found.magnitude, found.magnitude_error) == (
        56079.41234,
        "JD",
        11.135,
        0.003,
    )
    assert (found.band, found.observer) == ("V", "Ada")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_the_encodings_of_spreadsheets_are_read(encoding: str) -> None:
    found = one(PLAIN.replace("Ada", "Åsa").replace(",", "\t").encode(encoding))
    assert found.observer == "Åsa"


def test_old_software_writes_windows_1252_and_a_warning_says_so() -> None:
    parsed = parse(PLAIN.replace("Ada", "Åsa").encode("cp1252"))
    assert parsed.measurements[0].observer == "Åsa"
    assert parsed.notes == ("The text is not UTF-8 and was read as Windows-1252.",)


@pytest.mark.parametrize(
    ("row", "field", "said"),
    [
        ("2456079.9,eleven,,V,", "mag", "a plain number"),
        ("2456079.9,,,V,", "mag", "a magnitude or a flux"),
        ("2456079.9,NaN,,V,", "mag", "a magnitude or a flux"),
        ("2456079.9,inf,,V,", "mag", "a magnitude or a flux"),
        ("2456079.9,99.99,,V,", "mag", "99 and the like stand for none"),
        ("2456079.9,-13,,V,", "mag", "from -12 to 30"),
        ("2456079.9,1.2.3,,V,", "mag", "a plain number"),
        ('2456079.9,"1,234.5",,V,', "mag", "a plain number"),
        ("2456079.9,11.1,-0.1,V,", "err", "an error from 0 to 5 mag"),
        ("2456079.9,11.1,5.1,V,", "err", "an error from 0 to 5 mag"),
        ("2456079.9,11.1,small,V,", "err", "a plain number"),
        ("2456079.9,11.1,0.1,,", "band", "a band such as"),
        ("2456079.9,11.1,0.1,X9,", "band", "a band such as"),
        (",11.1,0.1,V,", "jd", "a time"),
        ("56079.4,11.1,0.1,V,", "jd", "looks like a Modified Julian Date"),
        ("9999999.5,11.1,0.1,V,", "jd", "(tomorrow)"),
        ("2456079.9,11,1,0,1,V,", "row", "such as a decimal comma, must be in quotation marks"),
        ("2456079.9,11.1", "row", "5 cells as there are headings, not 2"),
        ('2456079.9,"11.1,0.1,V,', "row", "5 cells as there are headings, not 2"),
    ],
)
def test_a_bad_row_says_which_field_which_value_and_what_would_be_right(
    row: str, field: str, said: str
) -> None:
    parsed = parse(f"jd,mag,err,band,observer\n{row}\n2456080.5,11.2,,V,\n")
    (error,) = parsed.errors
    assert (error.row, error.field) == (2, field)
    assert said in error.message
    assert error.message.startswith(f"row 2: {field}: ")
    assert [good.magnitude for good in parsed.measurements] == [11.2], "the good row goes on"
    assert (parsed.rows, parsed.rejected) == (2, 1)


@pytest.mark.parametrize("sign", ["<", "< ", ">", "≤", "&lt;"])
def test_fainter_than_is_an_upper_limit_whichever_way_the_sign_points(sign: str) -> None:
    found = one(f"jd,mag,err,band\n2456079.9,{sign}15.2,na,V\n")
    assert (found.magnitude, found.upper_limit, found.magnitude_error) == (15.2, True, None)


@pytest.mark.parametrize(
    ("flag", "limit"),
    [("yes", True), ("TRUE", True), ("1", True), ("<", True), (">", True), ("0", False), ("", False)],
)
def test_a_column_may_say_that_it_is_a_limit(flag: str, limit: bool) -> None:
    assert one(f"jd,mag,upper_limit,band\n2456079.9,15.2,{flag},V\n").upper_limit is limit


def test_a_limit_that_is_neither_yes_nor_no_is_refused() -> None:
    assert refusal("jd,mag,limit,band\n2456079.9,15.2,perhaps,V\n")[0] == "limit"


def test_systems_may_be_mixed_in_one_file_and_stay_what_they_are() -> None:
    parsed = parse(
        "time,time_system,time_scale,mag,band\n"
        "2456079.9,JD,UTC,11.1,V\n"
        "56079.4,MJD,,11.2,V\n"
        "2456079.9,HJD,,11.3,V\n"
        "2456079.9,BJD_TDB,,11.4,V\n"
        "2012-06-01T09:36:00Z,,,11.5,V\n"
        "2456079.9,,,11.6,V\n"
        "2456079.9,XJD,,11.7,V\n"
        "2456079.9,JD,local,11.8,V\n"
    )
    assert [
        (m.magnitude, m.time_system, m.time_scale)
        for m in sorted(parsed.measurements, key=lambda m: m.magnitude or 0)
    ] == [
        (11.1, "JD", "UTC"),
        (11.2, "MJD", None),
        (11.3, "HJD", None),
        (11.4, "BJD", "TDB"),
        (11.5, "DATE", "UTC"),
    ]
    assert {m.mjd for m in parsed.measurements} == {56079.4}
    assert [(e.row, e.field) for e in parsed.errors] == [(7, "time"), (8, "time_system"), (9, "time_scale")]


def test_of_two_columns_of_times_the_observed_one_counts_and_they_must_agree() -> None:
    parsed = parse(
        "HJD,JD,mag,band\n"
        "2456079.905,2456079.9,11.1,V\n"
        ",2456080.9,11.2,V\n"
        "2456081.9,,11.3,V\n"
        "2456083.9,2456082.9,11.4,V\n"
    )
    assert [(m.magnitude, m.time_system, m.mjd) for m in parsed.measurements] == [
        (11.1, "JD", 56079.4),
        (11.2, "JD", 56080.4),
        (11.3, "HJD", 56081.4),
    ]
    assert parsed.errors[0].field == "HJD"
    assert "the same moment as JD" in parsed.errors[0].message


def test_a_column_that_says_its_system_makes_vaguer_ones_needless() -> None:
    parsed = parse("epoch,jd,mag,band\nJ2000,2456079.9,11.1,V\n2012-06-02T09:36:00Z,,11.2,V\nJ2000,,11.3,V\n")
    assert [(m.magnitude, m.time_system) for m in parsed.measurements] == [(11.1, "JD"), (11.2, "DATE")]
    assert [(e.row, e.field) for e in parsed.errors] == [(4, "epoch")]


def test_rows_of_other_stars_are_refused_by_name() -> None:
    parsed = parse(
        "star,jd,mag,band\nV1324 Sco,2456079.9,11.1,V\nComp 105,2456079.9,10.5,V\n,2456080.9,11.2,V\n"
    )
    assert [m.magnitude for m in parsed.measurements] == [11.1, 11.2]
    assert (parsed.errors[0].row, parsed.errors[0].field) == (3, "star")
    assert "a name of the nova" in parsed.errors[0].message


def test_a_flux_has_its_unit_and_is_kept_in_one() -> None:
    parsed = parse(
        "mjd,flux (mJy),flux_err,band\n"
        "56079.4,1.5,0.2,5 GHz\n"
        "56079.4,<0.3,,36.5 GHz\n"
        "56080.4,-0.1,0.2,5 GHz\n"
        "56081.4,>1.0,0.2,5 GHz\n"
        "56081.4,1.0,-0.2,5 GHz\n"
    )
    found = {(m.mjd, m.band): (m.flux, m.flux_error, m.flux_unit, m.upper_limit) for m in parsed.measurements}
    assert found == {
        (56079.4, "5 GHz"): (0.0015, 0.0002, "Jy", False),
        (56079.4, "36.5 GHz"): (0.0003, None, "Jy", True),
        (56080.4, "5 GHz"): (-0.0001, 0.0002, "Jy", False),
    }
    assert [(e.row, e.field) for e in parsed.errors] == [(5, "flux (mJy)"), (6, "flux_err")]
    assert "a lower limit is neither" in parsed.errors[0].message


def test_a_flux_without_a_unit_is_none() -> None:
    field, message = refusal("mjd,flux,band\n56079.4,1.5,5 GHz\n")
    assert field == "flux_unit"
    assert "a heading such as flux (mJy)" in message
    assert refusal("mjd,flux,unit,band\n56079.4,1.5,furlongs,5 GHz\n")[0] == "unit"


def test_an_error_belongs_to_the_magnitude_or_else_to_the_flux() -> None:
    found = one("mjd,mag,flux,flux_unit,err,band\n56079.4,11.1,1.5,mJy,0.1,V\n")
    assert (found.magnitude_error, found.flux_error) == (0.1, None)
    found = one("mjd,mag,flux,flux_unit,err,band\n56079.4,,1.5,mJy,0.1,V\n")
    assert (found.magnitude_error, found.flux_error) == (None, 0.0001)


def test_the_magnitude_system_is_kept_when_it_is_said() -> None:
    assert one("mjd,mag,magsys,band\n56079.4,11.1,ab,g\n").magnitude_system == "AB"
    assert one("mjd,mag (Vega),band\n56079.4,11.1,V\n").magnitude_system == "Vega"
    assert refusal("mjd,mag,magsys,band\n56079.4,11.1,ST,g\n")[0] == "magsys"


def test_a_setting_within_the_file_holds_for_what_follows() -> None:
    parsed = parse("mjd,mag\n56079.4,11.1\n".replace("mjd", "#BAND=V\nmjd") + "#BAND=B\n56079.4,11.9\n")
    assert {(m.band, m.magnitude) for m in parsed.measurements} == {("V", 11.1), ("B", 11.9)}


def test_a_comment_that_only_looks_like_a_setting_changes_nothing() -> None:
    assert one(f"# Date: 2012-06-05\n# timesys: UTC\n{PLAIN}").time_scale == "UTC"


def test_columns_that_are_not_used_are_named() -> None:
    assert parse("jd,mag,band,sky,fwhm\n2456079.9,11.1,V,1,2\n").notes == (
        "Columns that are not used: sky, fwhm.",
    )


@pytest.mark.parametrize(
    ("upload", "field", "said"),
    [
        ("", "file", "a text file"),
        ("  \n\n", "file", "a text file"),
        (b"SIMPLE  =                    T", "file", "a FITS file"),
        (b"PK\x03\x04....", "file", "a spreadsheet"),
        (b"\x1f\x8b\x08....", "file", "compressed"),
        (b"PAR1....", "file", "Parquet"),
        ('{"jd": 1}', "file", "JSON"),
        ("<html><body>503</body></html>", "file", "a well-formed VOTable"),
        (b"jd,mag,band\n\x00\x01\x02\n", "file", "binary data"),
        (codecs.BOM_UTF16_LE + b"j", "file", "UTF-16"),
        ("hello\nworld\n", "columns", "headings in the first line"),
        ("2456079.9,11.1,V\n", "columns", "headings in the first line"),
        ("jd,mag,sky\n1,2,3\n", "columns", "none is for the band"),
        ("jd,band,sky\n1,2,3\n", "columns", "none is for the magnitude or the flux"),
        ("mag,band,sky\n1,2,3\n", "columns", "none is for the time"),
        ("jd,mag,magnitude,band\n1,2,3,V\n", "magnitude", "a row of its own"),
        ("#DELIM=x\njd,mag,band\n", "DELIM", "comma, semicolon or tab"),
    ],
)
def test_a_file_that_is_no_table_of_measurements_is_refused_as_a_whole(
    upload: str | bytes, field: str, said: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse(upload)
    assert refused.value.field == field
    assert said in str(refused.value)


def test_what_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="split it"):
        parse(b"x" * (MOST_BYTES + 1))
    monkeypatch.setattr(parse_module, "MOST_ROWS", 100)
    row = "1,2,3\n"
    assert parse(f"jd,mag,band\n{row * 100}").rejected == 100
    with pytest.raises(InvalidInput, match="split it"):
        parse(f"jd,mag,band\n{row * 101}")


def test_all_refused_rows_are_counted_and_the_first_thousand_described() -> None:
    parsed = parse("jd,mag,band\n" + "x,11,V\n" * (ERRORS_KEPT + 5))
    report = parsed.report()
    assert (parsed.rejected, len(parsed.errors), report["errors_left_out"]) == (
        ERRORS_KEPT + 5,
        ERRORS_KEPT,
        5,
    )
    assert report["errors"][0] == {
        "row": 2,
        "field": "jd",
        "value": "'x'",
        "expected": report["errors"][0]["expected"],
        "message": parsed.errors[0].message,
    }


def test_a_long_value_is_shortened() -> None:
    field, message = refusal(f"jd,mag,band\n{'9' * 5_000},11,V\n")
    assert field == "jd"
    assert len(message) < 250


def test_a_formula_or_a_link_in_a_cell_is_text_and_nothing_else() -> None:
    found = one("jd,mag,band,observer,notes\n2456079.9,11.1,V,=HYPERLINK(1),'; DROP TABLE\n")
    assert (found.observer, found.notes) == ("=HYPERLINK(1)", "'; DROP TABLE")


def test_the_download_of_aavso_s_own_archive_is_read() -> None:
    headings = (
        "JD,Magnitude,Uncertainty,HQuncertainty,Band,Observer Code,Comment Code(s),Comp Star 1,Comp Star 2,"
        "Charts,Comments,Transfomed,Airmass,Validation Flag,Cmag,Kmag,HJD,Star Name,Observer Affiliation,"
        "Measurement Method,Grouping Method,ADS Reference,Digitizer,Credit"
    )
    row = "2456079.91234,<15.2,,,Vis.,TST,,110,113,X1,,0,,V,,,,V1324 Sco,AAVSO,STD,,,,"
    found = one(f"{headings}\n{row}\n")
    assert (found.band, found.magnitude, found.upper_limit, found.observer) == ("Visual", 15.2, True, "TST")
    assert parse(f"{headings}\n{row}\n").format is Format.CSV
