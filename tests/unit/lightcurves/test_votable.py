"""VOTables: UCDs, units, TIMESYS; and hostile ones."""

from __future__ import annotations

import base64
import struct
import time

import pytest

from sourcebook.errors import InvalidInput
from sourcebook.lightcurves.model import Format
from tests.unit.lightcurves.uploads import one, parse, refusal, votable

ROW = "<TR><TD>56079.41234</TD><TD>11.135</TD><TD>0.003</TD></TR>"


FIELDS = (
    '<FIELD name="mjd" ucd="time.epoch" datatype="double"/><FIELD name="m" ucd="phot.mag" datatype="float"/>'
    '<FIELD name="band" datatype="char" arraysize="*"/>'
)


def binary(rows: bytes, kind: str = "BINARY", fields: str = FIELDS) -> str:
    """Return a VOTable with these rows, of time, magnitude and band."""
    stream = f'<STREAM encoding="base64">{base64.encodebytes(rows).decode()}</STREAM>'
    table = votable("", fields=fields).replace("<TABLEDATA></TABLEDATA>", f"<{kind}>{stream}</{kind}>")
    return table.replace("\n<", "<")


@pytest.mark.parametrize("kind", ["BINARY", "BINARY2"])
def test_binary_rows_are_read(kind: str) -> None:
    flags = b"\0" if kind == "BINARY2" else b""
    rows = flags + struct.pack(">dfI2s", 56079.41234, 11.135, 2, b"Rc")
    rows += flags + struct.pack(">dfI1s", 56080.5, float("nan"), 1, b"V")
    parsed = parse(binary(rows, kind))
    assert [(m.mjd, m.magnitude, m.band) for m in parsed.measurements] == [(56079.41234, 11.135, "R")]
    assert [(e.row, e.field) for e in parsed.errors] == [(2, "m")]


def test_flags_of_binary2_and_every_datatype() -> None:
    fields = FIELDS + "".join(
        f'<FIELD name="x{kind}" datatype="{kind}" arraysize="{size}"/>'
        for kind, size in (
            *(("bit", "10"), ("boolean", ""), ("unsignedByte", "2x2"), ("short", ""), ("int", "3*")),
            *(("long", ""), ("unicodeChar", "2"), ("floatComplex", ""), ("doubleComplex", "")),
        )
    )
    tail = struct.pack(">2sc4BhIiqHH2f2d", b"\xff\xc0", b"T", 1, 2, 3, 4, 5, 1, 6, 7, 97, 0, 1, 2, 3, 4)
    # The flag of the magnitude, the second of the columns, says that there is none.
    rows = b"\x40\0" + struct.pack(">dfI1s", 56079.4, 25.0, 1, b"V") + tail
    rows += b"\0\0" + struct.pack(">dfI1s", 56080.4, 11.5, 1, b"B") + tail
    parsed = parse(binary(rows, "BINARY2", fields))
    assert [(m.magnitude, m.band) for m in parsed.measurements] == [(11.5, "B")]
    assert [e.row for e in parsed.errors] == [1]


def test_a_filter_of_the_photometry_data_model_and_columns_of_several_bands() -> None:
    band = '<PARAM name="filterIdentifier" value="Palomar/ZTF.g" datatype="char" arraysize="*"/>'
    fields = f'{band}<FIELD name="mjd" ucd="time.epoch"/><FIELD name="m" ucd="phot.mag"/>'
    assert one(votable("<TR><TD>56079.4</TD><TD>11.1</TD></TR>", fields=fields)).band == "g"
    fields = '<FIELD name="mjd" ucd="time.epoch"/>' + "".join(
        f'<FIELD name="{name}" ucd="{ucd}phot.mag;em.opt.{name[-4]}"/>'
        for name, ucd in (("Bmag", ""), ("e_Bmag", "stat.error;"), ("Vmag", ""))
    )
    rows = "".join(f"<TD>{cell}</TD>" for cell in (56079.4, 12.1, 0.1, 11.1))
    found = parse(votable(f"<TR>{rows}</TR>", fields=fields)).measurements
    assert [(m.band, m.magnitude, m.magnitude_error) for m in found] == [("B", 12.1, 0.1), ("V", 11.1, None)]


def test_a_table_is_read_by_its_ucds() -> None:
    found = one(votable(ROW))
    assert (found.mjd, found.time_system, found.time_scale) == (56079.41234, "MJD", None)
    assert (found.magnitude, found.magnitude_error, found.band, found.row) == (11.135, 0.003, "V", 1)
    assert parse(votable(ROW)).format is Format.VOTABLE


@pytest.mark.parametrize(
    "document",
    [
        votable(ROW).replace('xmlns="http://www.ivoa.net/xml/VOTable/v1.3"', ""),
        votable(ROW)
        .replace("<", "<v:")
        .replace("<v:/", "</v:")
        .replace("<v:?", "<?")
        .replace('xmlns="', 'xmlns:v="'),
        votable(ROW).replace("11.135", "<![CDATA[11.135]]>"),
        "\ufeff" + votable(ROW),
        "\n " + votable(ROW).partition("?>")[2],
        votable(ROW).replace("<TABLE>", '<TABLE><DESCRIPTION>a &lt;table&gt;</DESCRIPTION><GROUP name="g"/>'),
    ],
    ids=["1.1", "prefixed", "cdata", "byte order mark", "white space before", "described"],
)
def test_the_same_table_in_other_clothes_is_the_same(document: str) -> None:
    assert (one(document).mjd, one(document).magnitude) == (56079.41234, 11.135)


@pytest.mark.parametrize(
    ("attributes", "value", "system", "scale", "mjd"),
    [
        ('timeorigin="2400000.5" timescale="UTC" refposition="TOPOCENTER"', "56079.4", "MJD", "UTC", 56079.4),
        (
            'timeorigin="MJD-origin" timescale="TDB" refposition="BARYCENTER"',
            "56079.4",
            "BMJD",
            "TDB",
            56079.4,
        ),
        (
            'timeorigin="JD-origin" timescale="UTC" refposition="HELIOCENTER"',
            "2456079.9",
            "HJD",
            "UTC",
            56079.4,
        ),
        ('timeorigin="2450000" timescale="TT" refposition="GEOCENTER"', "6079.9", "JD", "TT", 56079.4),
        ('timescale="UNKNOWN" timeorigin="JD-origin"', "2456079.9", "JD", None, 56079.4),
    ],
)
def test_timesys_says_what_the_times_are(
    attributes: str, value: str, system: str, scale: str | None, mjd: float
) -> None:
    document = votable(ROW.replace("56079.41234", value), before=f'<TIMESYS ID="ts" {attributes}/>').replace(
        'name="mjd"', 'name="t" ref="ts"'
    )
    found = one(document)
    assert (found.time_system, found.time_scale, found.mjd) == (system, scale, mjd)


def test_a_time_scale_that_is_not_known_is_not_taken_for_another() -> None:
    document = votable(ROW, before='<TIMESYS ID="ts" timescale="GPS" timeorigin="MJD-origin"/>')
    with pytest.raises(InvalidInput, match="timescale"):
        parse(document.replace('name="mjd"', 'name="t" ref="ts"'))


def test_a_time_of_which_nothing_is_said_is_not_guessed() -> None:
    assert refusal(votable(ROW).replace('name="mjd"', 'name="t"'))[0] == "t"


def test_a_timestamp_is_in_utc() -> None:
    document = votable(ROW.replace("56079.41234", "2012-06-01T12:00:00")).replace(
        'name="mjd" ucd="time.epoch" unit="d" datatype="double"',
        'name="t" ucd="time.epoch" xtype="timestamp"',
    )
    assert (one(document).mjd, one(document).time_scale) == (56079.5, "UTC")


def test_fluxes_bands_observers_and_names_have_ucds_too() -> None:
    fields = (
        '<FIELD name="a" ucd="meta.id;src"/><FIELD name="b" ucd="time.epoch" xtype="mjd"/>'
        '<FIELD name="c" ucd="phot.flux.density;em.radio" unit="mJy"/>'
        '<FIELD name="d" ucd="stat.error;phot.flux.density;em.radio" unit="mJy"/>'
        '<FIELD name="e" ucd="instr.bandpass"/><FIELD name="f" ucd="obs.observer"/>'
    )

    def row(name: str) -> str:
        cells = (name, "56079.4", "1.5", "0.2", "5 GHz", "Ada")
        return f"<TR>{''.join(f'<TD>{cell}</TD>' for cell in cells)}</TR>"

    parsed = parse(votable(row("V1324 Sco") + row("SS Cyg"), fields=fields))
    (found,) = parsed.measurements
    assert (found.flux, found.flux_error, found.flux_unit) == (0.0015, 0.0002, "Jy")
    assert (found.band, found.observer) == ("5 GHz", "Ada")
    assert (parsed.errors[0].row, parsed.errors[0].field) == (2, "a")


def test_params_hold_for_all_rows() -> None:
    fields = (
        '<PARAM name="filter" ucd="instr.filter" value="Generic/Bessell.B"/>'
        '<PARAM name="observer" value="Ada"/>'
        '<FIELD name="jd"/><FIELD name="mag"/>'
    )
    found = one(votable("<TR><TD>2456079.9</TD><TD>11.1</TD></TR>", fields=fields))
    assert (found.band, found.observer, found.mjd) == ("B", "Ada", 56079.4)


def test_of_several_tables_those_with_measurements_count_and_each_has_its_own_params() -> None:
    first = '<TABLE><FIELD name="ra"/><DATA><TABLEDATA><TR><TD>1</TD></TR></TABLEDATA></DATA></TABLE>'
    assert one(votable(ROW, before=first)).magnitude == 11.135
    table = (
        '<RESOURCE><PARAM name="filter" value="{}"/><TABLE><FIELD name="mjd"/><FIELD name="mag"/><DATA>'
        "<TABLEDATA><TR><TD>56079.4</TD><TD>{}</TD></TR></TABLEDATA></DATA></TABLE></RESOURCE>"
    )
    both = f"<VOTABLE>{table.format('B', 12.1)}{table.format('V', '')}{table.format('V', 11.1)}</VOTABLE>"
    parsed = parse(both)
    assert [(m.band, m.magnitude, m.row) for m in parsed.measurements] == [("B", 12.1, 1), ("V", 11.1, 3)]
    assert [e.row for e in parsed.errors] == [2]


def test_what_a_service_has_cut_off_is_noted() -> None:
    parsed = parse(votable(ROW, before='<INFO name="QUERY_STATUS" value="OVERFLOW"/>'))
    assert any("there was more" in note for note in parsed.notes)


def test_a_bad_row_does_not_lose_the_others() -> None:
    parsed = parse(votable("<TR><TD>56079.4</TD><TD/><TD/></TR><TR><TD>1</TD></TR>" + ROW))
    assert [m.row for m in parsed.measurements] == [3]
    assert [(e.row, e.field) for e in parsed.errors] == [(1, "m"), (2, "TR")]


BOMB = (
    "<!DOCTYPE v [<!ENTITY a 'ha'>"
    + "".join(f"<!ENTITY {chr(98 + n)} '{f'&{chr(97 + n)};' * 10}'>" for n in range(12))
    + "]>"
)


@pytest.mark.parametrize(
    "root",
    [
        '<!DOCTYPE VOTABLE SYSTEM "http://us-vo.org/xml/VOTable.dtd">',
        '<!DOCTYPE v [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE v [<!ENTITY % x SYSTEM "http://169.254.169.254/latest/"> %x;]>',
        BOMB,
    ],
    ids=["dtd", "external entity", "parameter entity", "billion laughs"],
)
def test_a_document_type_is_refused_before_anything_is_expanded_or_fetched(root: str) -> None:
    begun = time.process_time()
    with pytest.raises(InvalidInput, match="without a document type and entities"):
        parse(votable("<TR><TD>&x;</TD><TD>&m;</TD><TD>1</TD></TR>", root=root))
    assert time.process_time() - begun < 1


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (votable(ROW)[:-40], "a well-formed VOTable"),
        (votable("<TR><TD>&nbsp;</TD></TR>"), "a well-formed VOTable"),
        (votable(ROW).replace("UTF-8", "EBCDIC-X"), "a well-formed VOTable"),
        (votable(ROW).replace("TABLEDATA>", "FITS>"), "FITS is not read"),
        (binary(b"\0" * 30), "it ends within a row"),
        (binary(b"").replace("></STREAM>", ">!!</STREAM>"), "in base64"),
        (binary(b"").replace("base64", "gzip"), "in base64 within the file"),
        (binary(b"").replace("<STREAM", '<STREAM href="http://169.254.169.254/"'), "within the file"),
        (binary(b"\0").replace('"float"', '"quad"'), "a datatype"),
        (votable(ROW).replace("VOTABLE", "KML"), "a well-formed VOTable"),
        (votable(ROW, fields='<FIELD name="ra"/>'), "none is for the time"),
        (
            '<VOTABLE><RESOURCE><INFO name="QUERY_STATUS" value="ERROR">too much</INFO></RESOURCE></VOTABLE>',
            "too much",
        ),
        ("<VOTABLE/>", "no TABLE"),
        ("<VOTABLE>" + "<GROUP>" * 100 + "</GROUP>" * 100 + "</VOTABLE>", "nested deeper"),
        (votable(ROW, fields='<FIELD name="a"/>' * 501), "at most 500 columns"),
    ],
)
def test_a_document_that_is_no_table_of_measurements_is_refused(document: str, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse(document)
    assert said in str(refused.value)


def test_an_endless_cell_is_cut() -> None:
    field, message = refusal(votable(ROW.replace("11.135", "1" * 3_000_000)))
    assert field == "m"
    assert len(message) < 250
