"""Upper limits: no way of writing one makes it a measured magnitude."""

from __future__ import annotations

import pytest

from sourcebook.errors import InvalidInput
from sourcebook.lightcurves.limits import LimitKind, limit_kind
from tests.unit.lightcurves.uploads import one, parse, refusal, votable

FLAGS = (
    *"""
    fainterthan fainter_than Fainter-Than FAINTER isFainterThan fainterThan? uplim ulim UpLim up_lim
    uplims is_limit isLimit limit_flag limitFlag lim_flag nondetection non-detection non_det NonDet
    is_nondetection upper_limit UpperLimit upperlim upper_lim is_upper_limit is_upper ul UL ul_flag
    l_mag lim limit limits flag_limit undetected not_detected notDetected no_detection mag_ul ulimit
    u_limit isUpperLim mag_upper_limit_flag censored is_ulim detection_limit invisible
    """.split(),
    "limit flag",
    "Upper Limit",
    "Fainter Than",
    "non detection",
    "Not Detected",
)
VALUES = (
    *"""
    limiting_mag LimitingMag limiting_magnitude maglim mag_lim diffmaglim mlim m_lim lim_mag limmag
    mag_limit limit lim 5sigma_depth depth mag_depth 5sigmaDepth 5-sigma-limit mag5sig m5 fiveSigmaDepth
    3sigma_limit limit_5sigma upper_limit limmag5 upper_limit_mag image_depth 5σ_depth
    """.split(),
    "Limiting Mag",
    "5 sigma depth",
    "Limiting Mag (5 sigma)",
    "limit (mag)",
    "5σ limit",
)
OTHERS = (
    *"""
    preliminary delimiter limit_err mag_limit_err eclipse_depth optical_depth bit_depth climate sublime
    n_det LT ra dec airmass transformed chart type seeing exptime detector saturation_limit elimination
    """.split(),
)


@pytest.mark.parametrize("heading", FLAGS)
@pytest.mark.parametrize(
    ("yes", "no"),
    [
        ("True", "False"),
        ("1", "0"),
        ("yes", "no"),
        ("T", "F"),
        ("Y", "N"),
        ("<", ""),
        (">", "-"),
        ("1.0", "0.0"),
    ],
)
def test_a_flag_is_read_under_every_heading_that_means_limit(heading: str, yes: str, no: str) -> None:
    parsed = parse(f"jd,mag,err,band,{heading}\n2456079.9,13.9,,V,{yes}\n2456080.9,9.7,0.1,V,{no}\n")
    assert parsed.errors == ()
    assert [(m.magnitude, m.upper_limit) for m in parsed.measurements] == [(13.9, True), (9.7, False)]


@pytest.mark.parametrize("heading", VALUES)
def test_a_limiting_magnitude_is_the_magnitude_of_no_detection(heading: str) -> None:
    parsed = parse(
        f"jd,{heading},mag,err,band\n"
        "2456079.9,15.5,14.8,0.1,V\n"
        "2456080.9,16.8,>16.8,99.99,V\n"
        "2456081.9,16.9,,,V\n"
        "2456082.9,17.1,99.99,99.99,V\n"
        "2456083.9,,14.7,0.1,V\n"
        "2456084.9,99.99,14.6,0.1,V\n"
    )
    assert parsed.errors == ()
    assert [(m.magnitude, m.magnitude_error, m.upper_limit) for m in parsed.measurements] == [
        (14.8, 0.1, False),
        (16.8, None, True),
        (16.9, None, True),
        (17.1, None, True),
        (14.7, 0.1, False),
        (14.6, 0.1, False),
    ]


@pytest.mark.parametrize("heading", OTHERS)
def test_other_headings_do_not_mean_limit(heading: str) -> None:
    assert limit_kind(heading) is None
    assert one(f"jd,mag,err,band,{heading}\n2456079.9,13.9,0.1,V,1\n").upper_limit is False


@pytest.mark.parametrize("heading", ["detected", "is_detection", "Detection", "det_flag"])
def test_what_was_not_detected_is_a_limit(heading: str) -> None:
    assert limit_kind(heading) is LimitKind.DETECTED
    parsed = parse(f"jd,mag,band,{heading}\n2456079.9,13.9,V,no\n2456080.9,9.7,V,yes\n2456081.9,9.8,V,\n")
    assert [m.upper_limit for m in parsed.measurements] == [True, False, False]
    assert refusal(f"jd,mag,band,{heading}\n2456079.9,13.9,V,5.3\n")[0] == heading


@pytest.mark.parametrize(
    ("written", "limit"),
    [
        *(
            (f"{sign}15.2", 15.2)
            for sign in ("<", ">", "<=", ">=", "≤", "≥", "≲", "[", "<<", "&lt;", "< ", "＞")
        ),
        ("[15.2]", 15.2),
        ("fainter than 15.2", 15.2),
        ("Limit: 15.2", 15.2),
        ("ul 15.2", 15.2),
        ("15.2 UL", 15.2),
        ("15.2 (limit)", 15.2),
        ("<15.2:", 15.2),
    ],
)
def test_a_limit_may_be_written_into_the_magnitude(written: str, limit: float) -> None:
    found = one(f"jd|mag|err|band\n2456079.9|{written}|99.99|V\n")
    assert (found.magnitude, found.magnitude_error, found.upper_limit) == (limit, None, True)


@pytest.mark.parametrize("word", ["nondetection", "Non-Detection", "not detected", "<", "UL", "fainter than"])
def test_a_word_in_the_place_of_a_magnitude_needs_a_limit(word: str) -> None:
    assert one(f"jd,mag,maglim,band\n2456079.9,{word},16.1,V\n").upper_limit is True
    assert refusal(f"jd,mag,band\n2456079.9,{word},V\n")[0] == "mag"


@pytest.mark.parametrize("word", ["<", ">", "Upper Limit", "non-detection", "UL", "limit", "fainter than"])
@pytest.mark.parametrize("heading", ["type", "qualifier", "comments", "", "obs_type"])
def test_a_cell_of_another_column_that_says_not_seen_counts_and_is_noted(heading: str, word: str) -> None:
    parsed = parse(f"jd,{heading},mag,band\n2456079.9,{word},13.9,V\n2456080.9,CCD,9.7,V\n")
    assert [(m.magnitude, m.upper_limit) for m in parsed.measurements] == [(13.9, True), (9.7, False)]
    assert any("not seen" in note and "(row 2)" in note for note in parsed.notes)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("13.9,,False,,nondetection", "no limit"),
        ("13.9,,True,15.5,", "marked as one"),
        (",,False,15.5,", "says that it is no limit"),
        ("13.9,,perhaps,,", "yes or no"),
        ("13.9,,,45.0,", "a limiting magnitude up to 30"),
        ("16.9,,,15.5,", "not fainter than its limit"),
        ("9.999,,,15.5,", "may stand for none"),
        ("13.9,,,deep,", "the limit itself"),
        ("13.9,,,1,", "a limiting magnitude, or yes or no"),
        ("<,,,,", "the magnitude of the limit"),
    ],
)
def test_a_row_that_contradicts_itself_is_refused(row: str, said: str) -> None:
    _, message = refusal(f"jd,band,mag,err,is_limit,maglim,type\n2456079.9,V,{row}\n")
    assert said in message


def test_two_limits_are_fine_beside_a_detection_and_refused_without_one() -> None:
    parsed = parse(
        "jd,mag,err,band,limit_3sigma,limit_5sigma\n2456079.9,13.9,0.1,V,16,15.5\n2456080.9,,,V,16,15.5\n"
    )
    assert [m.upper_limit for m in parsed.measurements] == [False]
    assert "one limit in a row" in parsed.errors[0].message


def test_a_magnitude_that_is_the_limiting_one_and_has_no_error_is_a_limit() -> None:
    parsed = parse("jd,mag,err,band,limit\n2456079.9,16.8,99.99,V,16.8\n2456080.9,16.8,0.2,V,16.8\n")
    assert [(m.magnitude, m.upper_limit) for m in parsed.measurements] == [(16.8, True), (16.8, False)]
    assert any("the limiting magnitude and has no error" in note for note in parsed.notes)


def test_a_detection_fainter_than_its_limit_is_kept_with_a_warning() -> None:
    parsed = parse("jd,mag,err,band,limit\n2456079.9,17.1,0.3,V,16.8\n")
    assert [m.upper_limit for m in parsed.measurements] == [False]
    assert any("fainter than the limiting magnitude" in note for note in parsed.notes)


def test_a_lower_limit_is_no_measurement() -> None:
    parsed = parse("jd,mag,band,lower_limit\n2456079.9,13.9,V,yes\n2456080.9,9.7,V,no\n2456081.9,9.8,V,\n")
    assert [m.magnitude for m in parsed.measurements] == [9.7, 9.8]
    assert parsed.errors[0].field == "lower_limit"


@pytest.mark.parametrize(
    "error",
    ["99.99", "99.990", "99", "9.999", "9.99", "-1", "-1.0", "-99", "-999.0", "0", "0.0", "-", "--", "null"],
)
def test_an_error_that_means_not_known_is_none(error: str) -> None:
    parsed = parse(f"jd,mag,err,band\n2456079.9,14.1,{error},V\n2456080.9,<16.9,{error},V\n")
    assert parsed.errors == ()
    assert [(m.magnitude, m.magnitude_error, m.upper_limit) for m in parsed.measurements] == [
        (14.1, None, False),
        (16.9, None, True),
    ]


@pytest.mark.parametrize(
    "magnitude",
    [
        "99.99",
        "99.999",
        "99",
        "-99",
        "-999",
        "999.0",
        "-9.99",
        "inf",
        "-inf",
        "nan",
        "N/A",
        "n.a.",
        "null",
        "--",
        "INDEF",
    ],
)
def test_a_magnitude_that_means_none_is_none(magnitude: str) -> None:
    assert refusal(f"jd,mag,err,band\n2456079.9,{magnitude},0.1,V\n")[0] == "mag"
    found = one(f"jd,mag,err,band,limit\n2456079.9,{magnitude},,V,16.8\n")
    assert (found.magnitude, found.upper_limit) == (16.8, True)


@pytest.mark.parametrize(
    ("magnitude", "error"), [("9.999", "9.999"), ("0", "0"), ("-1", "-1"), ("0.0", "99.99")]
)
def test_a_possible_magnitude_beside_an_error_that_means_none_is_none(magnitude: str, error: str) -> None:
    assert refusal(f"jd,mag,err,band\n2456079.9,{magnitude},{error},V\n")[0] == "mag"
    assert one(f"jd,mag,err,band,limit\n2456079.9,{magnitude},{error},V,15.1\n").upper_limit is True


@pytest.mark.parametrize("magnitude", ["0", "-1", "9.999"])
def test_a_possible_magnitude_without_an_error_is_kept_with_a_warning(magnitude: str) -> None:
    parsed = parse(f"jd,mag,err,band\n2456079.9,{magnitude},,V\n2456080.9,{magnitude},0.1,V\n")
    assert len(parsed.measurements) == 2
    assert [note for note in parsed.notes if "may mean that there is none" in note and "(row 2)" in note]


def test_a_measured_flux_beside_a_limiting_magnitude_is_no_limit_of_the_flux() -> None:
    parsed = parse("jd,mag,mag_err,flux (mJy),flux_err,band\n2456079.9,>16.8,99.99,0.020,0.111,V\n")
    (found,) = parsed.measurements
    assert (found.magnitude, found.upper_limit, found.flux, found.flux_error) == (16.8, True, None, None)
    assert any("the flux is not kept" in note for note in parsed.notes)


def test_limits_of_fluxes() -> None:
    parsed = parse(
        "mjd,flux (mJy),flux_err,flux_limit,band\n"
        "56079.4,1.5,0.2,0.4,5 GHz\n"
        "56080.4,,,0.4,5 GHz\n"
        "56081.4,0.3,,yes,5 GHz\n"
        "56082.4,-0.3,,yes,5 GHz\n"
    )
    assert [(m.flux, m.upper_limit) for m in parsed.measurements] == [
        (0.0015, False),
        (0.0004, True),
        (0.0003, True),
    ]
    assert "above 0" in parsed.errors[0].message


def test_a_limiting_magnitude_beside_a_flux_alone_changes_nothing() -> None:
    found = one("mjd,flux (uJy),flux_err,mag5sig,band\n56079.4,150,20,19.5,V\n")
    assert (found.flux, found.magnitude, found.upper_limit) == (0.00015, None, False)


def test_a_table_that_has_only_limits_is_refused() -> None:
    with pytest.raises(InvalidInput, match="none is for the magnitude or the flux"):
        parse("mjd,vmag,err,limit,band\n56079.4,12.1,0.1,16.5,V\n")


def test_notes_that_mention_a_limit_are_a_warning() -> None:
    parsed = parse("jd,mag,band,notes\n2456079.9,13.9,V,probably an upper limit\n")
    assert any("mention a limit" in note for note in parsed.notes)


@pytest.mark.parametrize("more", ["", ",limit", ",limit,source", ",source"])
def test_the_headings_of_the_tom_toolkit_say_what_its_times_are(more: str) -> None:
    cells = "," * more.count(",")
    parsed = parse(f"time,filter,magnitude,error{more}\n59300.07,r,15.582,0.005{cells}\n")
    (found,) = parsed.measurements
    assert (found.mjd, found.time_system, found.time_scale) == (59300.07, "MJD", "UTC")
    assert any("TOM Toolkit" in note for note in parsed.notes)
    assert refusal("time,filter,magnitude,error\n2459300.57,r,15.5,0.1\n")[0] == "time"
    assert refusal("time,filter,magnitude,error,airmass\n59300.07,r,15.5,0.1,1.2\n")[0] == "time"


def test_a_limit_without_a_magnitude_is_an_upper_limit() -> None:
    found = one("mjd,filter,magnitude,error,limit\n59301.07,B,,,18.0\n")
    assert (found.magnitude, found.magnitude_error, found.upper_limit) == (18.0, None, True)


MJD = '<FIELD name="mjd" ucd="time.epoch" unit="d" datatype="double"/>'


@pytest.mark.parametrize("name", ["maglim", "diffmaglim", "limiting_mag", "depth_5sigma", "mlim"])
@pytest.mark.parametrize("first", [True, False])
def test_a_limiting_magnitude_of_a_votable_is_no_magnitude(name: str, first: bool) -> None:
    limit = f'<FIELD name="{name}" ucd="phot.mag;em.opt.V" unit="mag" datatype="float"/>'
    magnitude = '<FIELD name="mag" ucd="phot.mag;em.opt.V" unit="mag" datatype="float"/>'
    fields = MJD + (limit + magnitude if first else magnitude + limit)
    rows = "".join(
        f"<TR><TD>{mjd}</TD>{''.join(f'<TD>{c}</TD>' for c in ((lim, mag) if first else (mag, lim)))}</TR>"
        for mjd, mag, lim in ((56079.4, "11.1", "16.5"), (56080.4, "", "16.6"))
    )
    parsed = parse(votable(rows, fields=fields))
    assert [(m.magnitude, m.upper_limit) for m in parsed.measurements] == [(11.1, False), (16.6, True)]


@pytest.mark.parametrize(
    "ucd", ["phot.mag;stat.error", "stat.error;phot.mag", "stat.error;phot.mag;em.opt.V"]
)
def test_an_error_of_a_votable_is_no_magnitude(ucd: str) -> None:
    fields = MJD + f'<FIELD name="s" ucd="{ucd}"/><FIELD name="m" ucd="phot.mag;em.opt.V"/>'
    found = one(votable("<TR><TD>56079.4</TD><TD>0.1</TD><TD>11.1</TD></TR>", fields=fields))
    assert (found.magnitude, found.magnitude_error) == (11.1, 0.1)


def test_a_votable_with_two_magnitudes_of_one_band_is_refused() -> None:
    fields = MJD + '<FIELD name="a" ucd="phot.mag;em.opt.V"/><FIELD name="b" ucd="phot.mag;em.opt.V"/>'
    with pytest.raises(InvalidInput, match="one column for the magnitude"):
        parse(votable("<TR><TD>56079.4</TD><TD>10.1</TD><TD>11.1</TD></TR>", fields=fields))


NULLS = (
    ("float", "25.0", "25.0"),
    ("float", "25.0", "2.5E1"),
    ("float", "25", "25.000"),
    ("double", "-1", "-1.0"),
    ("int", "-99", "-99"),
    ("short", "0x19", "25"),
    ("char", "none given", "none given"),
    ("float", None, "NaN"),
    ("float", None, ""),
    ("float", None, "-Inf"),
)


@pytest.mark.parametrize(("datatype", "null", "cell"), NULLS)
def test_a_declared_null_is_no_value(datatype: str, null: str | None, cell: str) -> None:
    values = f'<VALUES null="{null}"/>' if null is not None else ""
    fields = (
        f'{MJD}<FIELD name="m" ucd="phot.mag;em.opt.V" datatype="{datatype}">{values}</FIELD>'
        f'<FIELD name="e" ucd="stat.error;phot.mag" datatype="{datatype}">{values}</FIELD>'
    )
    rows = "".join(
        f"<TR>{''.join(f'<TD>{one}</TD>' for one in row)}</TR>"
        for row in (("56079.4", cell, "0.1"), ("56080.4", "11", cell))
    )
    parsed = parse(votable(rows, fields=fields))
    assert [(m.mjd, m.magnitude, m.magnitude_error) for m in parsed.measurements] == [(56080.4, 11.0, None)]
    assert [(e.row, e.field) for e in parsed.errors] == [(1, "m")]


def test_a_null_of_a_double_is_exact_and_every_values_element_counts() -> None:
    fields = (
        '<FIELD name="mjd" ucd="time.epoch" datatype="double"><VALUES null="56079.0"/></FIELD>'
        '<FIELD name="m" ucd="phot.mag;em.opt.V"><VALUES null="25"><MIN value="1"/></VALUES>'
        '<VALUES type="actual" null="26"/></FIELD>'
    )
    rows = "".join(
        f"<TR><TD>{mjd}</TD><TD>{mag}</TD></TR>"
        for mjd, mag in (("56079.001", 11), ("56079", 12), ("56080", 25), ("56081", 26), ("56082", 13))
    )
    parsed = parse(votable(rows, fields=fields))
    assert [m.magnitude for m in parsed.measurements] == [11, 13]


def test_a_null_param_says_nothing_and_arrays_and_base64_are_refused() -> None:
    fields = (
        '<PARAM name="filter" value="?x" datatype="char"><VALUES null="?x"/></PARAM>'
        f'{MJD}<FIELD name="m" ucd="phot.mag" arraysize="2"/>'
    )
    with pytest.raises(InvalidInput, match="the band"):
        parse(votable("<TR><TD>56079.4</TD><TD>11 12</TD></TR>", fields=fields))
    fields = f'{MJD}<FIELD name="m" ucd="phot.mag;em.opt.V" arraysize="2"/>'
    rows = '<TR><TD>56079.4</TD><TD>11 12</TD></TR><TR><TD>56079.4</TD><TD encoding="base64">1234</TD></TR>'
    assert [e.row for e in parse(votable(rows, fields=fields)).errors] == [1, 2]


@pytest.mark.parametrize(
    ("heading", "yes", "no"),
    [
        ("Obergrenze", "ja", "nein"),
        ("schwächer als", "ja", "nein"),
        ("límite superior", "sí", "no"),
        ("Limite supérieure", "oui", "non"),
        ("plus faible que", "oui", "non"),
        ("limite superiore", "sì", "no"),
        ("верхний предел", "да", "нет"),
        ("слабее", "да", "нет"),
        ("上限", "是", "否"),
        ("限界等級", "はい", "いいえ"),
    ],
)
def test_a_limit_is_a_limit_in_other_languages(heading: str, yes: str, no: str) -> None:
    table = f"mjd,mag,err,band,{heading}\n56079.4,13.9,0.1,V,{{}}\n"
    assert one(table.format(yes)).upper_limit
    assert not one(table.format(no)).upper_limit
    assert refusal(table.format("perhaps"))
