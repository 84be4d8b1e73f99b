"""Light curves as archives, surveys and observers' programs write them."""

from __future__ import annotations

import pytest

from sourcebook.errors import InvalidInput
from sourcebook.lightcurves.model import Measurement
from sourcebook.lightcurves.rows import Warned
from tests.unit.lightcurves.uploads import EXTENDED, VISUAL, extended, one, parse, refusal

ATLAS = "###MJD          m      dm   uJy   duJy F err mag5sig Sky\n"
GAIA = "source_id,transit_id,band,time,mag,flux,flux_error,rejected_by_photometry\n"
IPAC = (
    "\\fixlen = T\n\\ ZTF light curve\n"
    "|      hjd      |      mjd       |   mag  | magerr |filtercode|\n"
    "|     double    |     double     |  float |  float |   char   |\n"
    "|      days     |     days       |   mag  |  mag   |          |\n"
    "|      null     |     null       |  null  |  null  |   null   |\n"
)
BYTES = (
    "Title: x\nByte-by-byte Description of file: t2.dat\n" + "-" * 60 + "\n"
    "   Bytes Format Units   Label     Explanations\n" + "-" * 60 + "\n"
    "   1- 12 F12.4  d       HJD       Heliocentric Julian date\n"
    "  14- 19 F6.3   mag     mag       Magnitude\n"
    "  21     A1     ---     Filter    Filter\n" + "-" * 60 + "\n"
)


def shown(found: Measurement) -> str:
    """Return a measurement as one line."""
    flux = found.flux if found.magnitude is None else None
    value, error = (found.magnitude, found.magnitude_error) if flux is None else (flux, found.flux_error)
    known = "" if error is None else f" ± {error:.6g}"
    unit = "" if flux is None else f" {found.flux_unit}"
    return f"{found.mjd:.5f} {found.band} {'<' if found.upper_limit else ''}{value:.6g}{known}{unit}"


@pytest.mark.parametrize(
    ("upload", "rows"),
    [
        # A magnitude that is negative because the flux is: none, and what was the limit is one.
        (f"{ATLAS}57226.4133 17.123 0.023 512 11 o 0 19.44 20\n", ["57226.41330 o 17.123 ± 0.023"]),
        (f"{ATLAS}57226.4133 -18.9 0.5 -98 45 c 0 18.44 20\n", ["57226.41330 c <18.44"]),
        ("mjd,uJy,duJy,filter\n59000.5,-12,11,o\n", ["59000.50000 o -1.2e-05 ± 1.1e-05 Jy"]),
        (f"{GAIA}1,2,G,1705.9437,15.21,1234.5,1.2,false\n", ["56902.94370 Gaia G 15.21"]),
        (f"{GAIA}1,2,BP,1705.9437,15.61,1234.5,1.2,false\n", ["56902.94370 Gaia BP 15.61"]),
        (
            f"{IPAC}  2458204.8470   58204.3439352    18.9107  0.0789     zg    \n",
            ["58204.34394 g 18.9107 ± 0.0789"],
        ),
        ("oid,mjd,fid,magpsf,sigmapsf\nZTF18a,58204.5,2,18.9,0.07\n", ["58204.50000 r 18.9 ± 0.07"]),
        (
            f"{BYTES}2456079.9000 11.135 V\n2456080.9000 11.2   B\n",
            ["56079.40000 V 11.135", "56080.40000 B 11.2"],
        ),
        # A flux of no unit beside a magnitude does not cost the magnitude.
        (
            "jd,flux,flux_err,mag,mag_err,limit,quality,phot_filter\n2458000.5,4.4,0.4,14.8,0.1,15.5,G,V\n",
            ["58000.00000 V 14.8 ± 0.1"],
        ),
        ("JD,mag,flux (ADU),flux_err (ADU),Filter\n2456079.9,11.1,1000,10,V\n", ["56079.40000 V 11.1"]),
        (
            "mjd,filter,flux,fluxerr,zp,magsys\n59300.5,ztfr,512,11,23.9,ab\n",
            ["59300.50000 r 0.000512031 ± 1.10007e-05 Jy"],
        ),
        # What stands between the headings and the rows.
        (
            "JD;Filt;mag;e_mag\nd; ;mag;mag\n---;-;---;---\n2456079.9;V;11.1;0.1\n",
            ["56079.40000 V 11.1 ± 0.1"],
        ),
        ("MJD,flux,flux_err,band\nd,mJy,uJy,\n56079.4,1.5,100,V\n", ["56079.40000 V 0.0015 ± 0.0001 Jy"]),
        (
            "JD;mag;e_mag;Filt\nd;mag;mmag;\n2456079.9;11.1;3;V\nJD;mag;e_mag;Filt\n2456080.9;11.2;4;V\n",
            ["56079.40000 V 11.1 ± 0.003", "56080.40000 V 11.2 ± 0.004"],
        ),
        ("JD,mag,flux,Filter\nJD,mag,flux,Filter\n2456079.9,11.1,,V\n", ["56079.40000 V 11.1"]),
        # What stands before them.
        (
            "Variable\tV1324 Sco\nFilter\tV\n\nJulian Date\tMagnitude\n2456079.9\t<11.1\n",
            ["56079.40000 V <11.1"],
        ),
        ("sep=;\nJD;Mag;Filter\n2456079,9;11,1;V\n", ["56079.40000 V 11.1"]),
        ("Photometry of V1324 Sco, mag in band V\nJD,Mag,Filter\n2456079.9,11.1,V\n", ["56079.40000 V 11.1"]),
        # A column for each band.
        (
            "HJD  V  sigma_V  I  sigma_I\n2456079.9 11.1 0.01 10.1 0.02\n",
            ["56079.40000 I 10.1 ± 0.02", "56079.40000 V 11.1 ± 0.01"],
        ),
        ("JD,Vmag,e_Vmag,l_Vmag\n2456079.9,15.1,,>\n", ["56079.40000 V <15.1"]),
        ("JD,mag(V),err(V),mag(R),err(R)\n2456079.9,11.1,0.1,na,na\n", ["56079.40000 V 11.1 ± 0.1"]),
        (
            "HJD       V    eV   I\n2456079.9 11.1 0.01 10.1\n2456080.9 11.2\n2456081.9           10.3\n",
            [
                "56079.40000 I 10.1",
                "56079.40000 V 11.1 ± 0.01",
                "56080.40000 V 11.2",
                "56081.40000 I 10.3",
            ],
        ),
        (
            "JD,B,err,V,err\n2456079.9,12.1,0.1,11.1,0.2\n",
            ["56079.40000 B 12.1 ± 0.1", "56079.40000 V 11.1 ± 0.2"],
        ),
        ("JD,V,V_lim,B,B_lim\n2456079.9,,16.1,17,17.5\n", ["56079.40000 B 17", "56079.40000 V <16.1"]),
        ("JD,V,e_V (mmag)\n2456079.9,11.1,30\n", ["56079.40000 V 11.1 ± 0.03"]),
        ("JD,V mag,Unc\n2456079.9,11.1,0.1\n", ["56079.40000 V 11.1 ± 0.1"]),
        ("i,JD,mag,err,filter\n1,2456079.9,11.1,0.1,V\n", ["56079.40000 V 11.1 ± 0.1"]),
        ("JD,V,B-V\n2456079.9,11.1,0.5\n", ["56079.40000 V 11.1"]),
        (
            "JD,V,R,V_limit,R_limit\n2456079.9,15.1,14.0,yes,no\n",
            ["56079.40000 R 14", "56079.40000 V <15.1"],
        ),
        # Units that differ from the usual.
        ("MJD,mag,mag_err [mmag],band\n56079.4,11.1,3,V\n", ["56079.40000 V 11.1 ± 0.003"]),
        ("MJD,mag,mag_err [mmag],band\n56079.4,11.1,9,V\n", ["56079.40000 V 11.1 ± 0.009"]),
        ("MJD,mag,mag_err [mmag],band\n56079.4,11.1,99.99,V\n", ["56079.40000 V 11.1"]),
        ("MJD,mag [mmag],band\n56079.4,11100 ± 99,V\n", ["56079.40000 V 11.1 ± 0.099"]),
        ("MJD,flux_mJy,fluxerr_mJy,band\n56079.4,1.5,0.1,V\n", ["56079.40000 V 0.0015 ± 0.0001 Jy"]),
        ("Date (UT)|Filter|Mag\n2012-06-01.4|V|11.10 +/- 0.03\n", ["56079.40000 V 11.1 ± 0.03"]),
        ("MJD,Freq,Flux (mJy)\n56079.4,5 GHz,1.5±0.1\n", ["56079.40000 5 GHz 0.0015 ± 0.0001 Jy"]),
        ("obsJD,obsMag,obsUncert,bandName\n2456079.9,15.1,limit,V\n", ["56079.40000 V <15.1"]),
        ("midpointMjdTai,band,psfFlux [nJy]\n56079.4,r,1500\n\x1a", ["56079.40000 r 1.5e-06 Jy"]),
        ("JD,mag,band\n2456079.9,11.1 mag,V\n", ["56079.40000 V 11.1"]),
        # A date and the time of its day.
        ("Date (UT),Time (UT),Mag,Filter\n2012-06-01,12:00:00,11.1,V\n", ["56079.50000 V 11.1"]),
        ("Date,UT,Mag,Filter\n2012/6/1,12:00,11.1,V\n", ["56079.50000 V 11.1"]),
        ("JD,Date (UT),Mag,Filter\n2456079.9,2012-06-01,11.1,V\n", ["56079.40000 V 11.1"]),
        ("Time [MJD],Mag,Telescope,Camera,Filter\n56079.4,11.1,a,b,V\n", ["56079.40000 V 11.1"]),
        ("JD,Mag,Filter,Measurement Method\n2456079.9,11.1,V,STD\n", ["56079.40000 V 11.1"]),
        ("obsTime MJD,Mag,Filter\n56079.4,11.1,V\n", ["56079.40000 V 11.1"]),
        (
            "MJD-OBS,Rate (ct/s),Rate err,Band\n56079.4,0.1,0.01,0.3-10 keV\n",
            ["56079.40000 0.3-10 keV 0.1 ± 0.01 count s-1"],
        ),
        ("MJD,Freq (GHz),Flux (mJy),Err\n56079.4,5.0,1.5,0.1\n", ["56079.40000 5 GHz 0.0015 ± 0.0001 Jy"]),
        (
            "+----+----+---+\n| JD | Mag | Filter |\n+---+---+---+\n| 2456079.9 | 11.1 | V |\n",
            ["56079.40000 V 11.1"],
        ),
        ("MJD,Band,Freq (GHz),Flux (mJy)\n56079.4,C,5,1.5\n", ["56079.40000 5 GHz 0.0015 Jy"]),
        ("MJD,Filter,Wavelength (um),Flux (mJy)\n56079.4,V,0.55,1.5\n", ["56079.40000 V 0.0015 Jy"]),
        (extended(MTYPE="ABS"), ["56079.41234 V 11.135 ± 0.003"]),
        (
            VISUAL.replace("#DATE", "#OBSTYPE=PTG\n#DATE") + "V1324 Sco,2456079.9,11.1,na,110,113,0,na\n",
            ["56079.40000 pg 11.1"],
        ),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_what_archives_and_programs_write_is_read(upload: str, rows: list[str]) -> None:
    parsed = parse(upload)
    assert parsed.errors == ()
    assert [shown(found) for found in parsed.measurements] == rows


@pytest.mark.parametrize(
    ("upload", "field", "said"),
    [
        ("Date UT,Mag,Filter\n05/06/2012 09:52,11.2,V\n", "Date UT", "day and month may be either"),
        ("Date,Time (JST),Mag,Filter\n2012-06-01,21:52:46,11.1,V\n", "Date", "a date with Z"),
        ("MJD,flux [mJy],flux_err [W/m2],band\n56079.4,1.5,1,V\n", "flux_err [W/m2]", "the unit of the flux"),
        (
            "JD,Mag,Filter,Measurement Method\n2456079.9,1.1,V,DIFF\n",
            "Measurement Method",
            "no magnitude of the nova",
        ),
        ("Date (UT),Time (JST),Mag,Filter\n2012-06-01,21:52,11.1,V\n", "Date (UT)", "not said to be UT"),
        ("MJD,mag,band\n56079.4,11.1,c\n", "band", "ATLAS c"),
        # A column for one band is named as the upload names it.
        ("JD,Vmag,e_Vmag\n2456079.9,11.1,7\n", "e_Vmag", "from 0 to 5 mag"),
        ("JD,mag(V)\n2456079.9,faint\n", "mag(V)", "a plain number"),
        ("JD,mag(V)\n2456079.9,11.1 ± 7\n", "mag(V)", "an error from 0 to 5 mag"),
        ("MJD,Freq,Flux (mJy)\n56079.4,5 GHz,1.5 ± -3\n", "Flux (mJy)", "an error from 0,"),
        ("MJD,mag,band\n56079.4,11.1,rp\n", "band", "Gaia RP"),
    ],
)
def test_what_may_mean_two_things_is_refused(upload: str, field: str, said: str) -> None:
    found, message = refusal(upload)
    assert found == field
    assert said in message


@pytest.mark.parametrize("error", ["0", "-1", "-99"])
@pytest.mark.parametrize("written", ["mag,err\n11.1,{}", "mag\n11.1 ± {}", "flux (mJy)\n1.5 +/- {}"])
def test_what_stands_for_no_error_does_so_in_a_column_and_in_the_cell_of_the_value(
    written: str, error: str
) -> None:
    headings, cells = written.format(error).split("\n")
    parsed = parse(f"MJD,band,{headings}\n56079.4,V,{cells}\n")
    [found] = parsed.measurements
    assert (found.magnitude_error, found.flux_error) == (None, None)
    assert parsed.notes == (f"{Warned.NO_ERROR} (row 2).",)


@pytest.mark.parametrize("heading", ["limit", "mjd,err"])
def test_a_limit_or_an_error_of_no_band_beside_several_bands_is_refused(heading: str) -> None:
    with pytest.raises(InvalidInput, match="the band that it is of: V, R"):
        parse(f"JD,V,R,{heading}\n2456079.9,15.1,14.0,yes\n")


@pytest.mark.parametrize(
    "row", ["2456078.9,11.0,V", "V1324 Sco,2012-06-01T12:00:00Z,11.0,V", "B,2456079.9,11"]
)
def test_rows_before_the_headings_are_not_lost_in_silence(row: str) -> None:
    with pytest.raises(InvalidInput, match="headings in the first line"):
        parse(f"{row}\nJD,Mag,Filter\n2456079.9,11.1,V\n")


def test_variable_comparison_and_check_stars_are_no_bands() -> None:
    with pytest.raises(InvalidInput, match="none is for the magnitude or the flux"):
        parse("JD,V,C,K\n2456079.9,11.1,10.5,12.0\n")


def test_lines_before_the_headings_are_settings_or_named_in_a_note() -> None:
    upload = "Observer: Ada\nObject: SS Cyg\n\nJD,Mag,Filter\n2456079.9,11.1,V\n"
    assert refusal(upload)[0] == "name"
    parsed = parse(upload.replace("SS Cyg", "V1324 Sco"))
    assert [found.observer for found in parsed.measurements] == ["Ada"]
    assert parsed.notes == ("Lines before the headings that are no comments: 1, 2.",)


def test_times_of_gaia_keep_their_scale() -> None:
    found = one(f"{GAIA}1,2,RP,1705.9437,15.61,1234.5,1.2,false\n")
    assert (found.time_system, found.time_scale, found.flux_unit) == ("BJD", "TCB", "electron s-1")


def test_a_date_of_a_spreadsheet_is_american_where_the_format_says_so() -> None:
    row = extended(DATE="05/06/2012 12:00").splitlines()[-1]
    assert one(EXTENDED.replace("#DATE=JD", "#DATE=EXCEL") + row).mjd == 56053.5
