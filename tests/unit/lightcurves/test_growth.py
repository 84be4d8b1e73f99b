"""No upload of 10 MB costs more than 5 s of CPU or 600 MB, whatever it repeats."""

from __future__ import annotations

import os

import pytest

from tests.growth import LARGEST, MOST_SECONDS, Growth, check_growth
from tests.unit.lightcurves.uploads import parse

HEADINGS = "jd,mag,err,band,maglim\n"
EXTENDED = "#TYPE=EXTENDED\n#OBSCODE=X\n#DELIM=,\n#DATE=JD\n"
VOTABLE = "<VOTABLE><RESOURCE>"
FIELDS = '<TABLE><FIELD name="mjd"/><FIELD name="mag"/><FIELD name="band"/>'
CASES = (
    Growth("columns", "jd,mag,band", ",c{n}", "\n2456079.9,11.1,V\n"),
    Growth("limit columns", "jd,mag,band", ",limit_{n}", "\n2456079.9,11.1,V\n"),
    Growth("one line", "jd,mag,band\n", "2456079.9,11.1,V,"),
    Growth("quotes", HEADINGS, '"'),
    Growth("quotes in lines", "jd mag err band\n", '2456079.9 "a" "b\n'),
    Growth("single quotes", "jd mag err band\n", "2456079.9 ' ' '\n"),
    Growth("rows", HEADINGS, "2456{n},11.1,0.1,V,15.5\n"),
    Growth("limits", HEADINGS, "2456079.9,,99.99,V,15.{n}\n"),
    Growth("headings again", HEADINGS, HEADINGS),
    Growth("other headings", HEADINGS, "jd,mag,err,band,maglim,limit{n}\n"),
    Growth("headings in comments", HEADINGS, "# jd,err,mag,band,limit{n}\n2456079.9,0.1,11.1,V,\n"),
    Growth("settings", HEADINGS, "#BAND={n}\n2456079.9,11.1,,V,\n"),
    Growth("a long setting", "#BAND=", "V", "\njd,mag\n2456079.9,11.1\n"),
    Growth("empty lines", HEADINGS, "\n"),
    Growth("carriage returns", HEADINGS, "\r"),
    Growth("digits", HEADINGS + "2456079.9,", "9"),
    Growth("exponents", HEADINGS, "1e99999999,1e99999999,1e999,V,1e999\n"),
    Growth("large exponents", "mjd,flux (Jy),flux_err,band\n", "56079.4,1e999,1e999,V\n"),
    Growth("a long date", "date_utc,mag,band\n", "2012-06-01 ", ",11.1,V\n"),
    Growth("a long band", "jd,mag,band\n2456079.9,11.1,", "V "),
    Growth("long notes", "jd,mag,band,notes\n", "2456079.9,11.1,V," + "not detected " * 1_000 + "\n"),
    Growth("fixed width", "jd          mag   band\n", "2456079.{n}     V\n"),
    Growth("wide fixed width", "jd          mag   band\n", "2456079.9" + " " * 5_000 + "V\n"),
    Growth("rulers", HEADINGS, "-----\n"),
    Growth("bars", "|jd|mag|band|\n", "|"),
    Growth("blanks", "jd mag band\n", " "),
    Growth("aavso", EXTENDED, "V1324 Sco,2456079.9,11.1,0.1,V,NO,STD,1,2,3,4,5,6,7,8\n"),
    Growth("aavso headings", EXTENDED, "#DATE=HJD\n"),
    Growth("params", VOTABLE, '<PARAM name="p{n}" value="1"/>', "</RESOURCE></VOTABLE>"),
    Growth("fields", VOTABLE + "<TABLE>", '<FIELD name="f{n}"/>', "</TABLE></RESOURCE></VOTABLE>"),
    Growth("groups", VOTABLE, "<GROUP>", "</RESOURCE></VOTABLE>", "</GROUP>"),
    Growth("groups beside each other", VOTABLE, "<GROUP/>", "</RESOURCE></VOTABLE>"),
    Growth("tables", VOTABLE + '<PARAM name="band" value="V"/>' * 900, FIELDS + "</TABLE>"),
    Growth("values", VOTABLE + '<TABLE><FIELD name="m">', '<VALUES null="{n}"/>'),
    Growth("cells in a row", VOTABLE + FIELDS + "<DATA><TABLEDATA><TR>", "<TD/>"),
    Growth("cells in rows", VOTABLE + FIELDS + "<DATA><TABLEDATA>", "<TR>" + "<TD/>" * 40 + "</TR>"),
    Growth("small cells", VOTABLE + FIELDS + "<DATA><TABLEDATA>", "<TR><TD/></TR>"),
    Growth("elements of many names", VOTABLE, "<e{n}/>", "</RESOURCE></VOTABLE>"),
    Growth("rows among others", VOTABLE + FIELDS + "<DATA><TABLEDATA>", "<a/><TR/>"),
    Growth(
        "cells of many nulls",
        VOTABLE + FIELDS[:-2] + ">" + '<VALUES null="9"/>' * 5_000 + "</FIELD><DATA><TABLEDATA>",
        "<TR><TD>59000.5</TD><TD>11.1</TD><TD>V</TD></TR>",
        "</TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>",
    ),
    Growth("attributes", "<VOTABLE ", 'a{n}="1" ', "/>"),
    Growth("a long attribute", VOTABLE + '<TABLE><FIELD name="jd', "j", '"/></TABLE></RESOURCE></VOTABLE>'),
    Growth("a long cell", VOTABLE + FIELDS + "<DATA><TABLEDATA><TR><TD>", "9"),
)


def read(body: bytes) -> object:
    return parse(body)


TRIED = CASES if "SOURCEBOOK_FUZZ" in os.environ else CASES[::5]


@pytest.mark.parametrize("case", TRIED, ids=lambda case: case.name)
def test_the_cost_of_an_upload_is_bounded(case: Growth) -> None:
    # What bounds it is the number of rows and lines, so that a small one may cost as much as 10 MB.
    check_growth(read, case, seconds=MOST_SECONDS * 10_000_000 / LARGEST)
