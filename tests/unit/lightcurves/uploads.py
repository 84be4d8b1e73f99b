"""Uploads as the tests write them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sourcebook.lightcurves.model import Measurement, Parsed
from sourcebook.lightcurves.parse import parse_upload

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
EXTENDED = """\
#TYPE=EXTENDED
#OBSCODE=TST01
#SOFTWARE=GCX 2.0
#DELIM=,
#DATE=JD
#OBSTYPE=CCD
#NAME,DATE,MAG,MERR,FILT,TRANS,MTYPE,CNAME,CMAG,KNAME,KMAG,AMASS,GROUP,CHART,NOTES
"""
VISUAL = """\
#TYPE=VISUAL
#OBSCODE=TST01
#SOFTWARE=by hand
#DELIM=,
#DATE=JD
#NAME,DATE,MAG,COMMENTCODE,COMP1,COMP2,CHART,NOTES
"""


def parse(upload: str | bytes) -> Parsed:
    """Read an upload for V1324 Sco, at noon of the 28th of November 2026."""
    body = upload.encode() if isinstance(upload, str) else upload
    return parse_upload(body, is_nova=lambda name: name.lower() == "v1324 sco", now=NOW)


def one(upload: str | bytes) -> Measurement:
    """Return the only measurement of an upload whose rows are all good."""
    parsed = parse(upload)
    assert parsed.errors == ()
    (measurement,) = parsed.measurements
    return measurement


def refusal(upload: str | bytes) -> tuple[str, str]:
    """Return field and message of the only row of an upload, which is refused."""
    parsed = parse(upload)
    assert parsed.measurements == ()
    (error,) = parsed.errors
    return error.field, error.message


def extended(**changed: Any) -> str:
    """Return an upload in the Extended format with one row, changed in these of its cells."""
    cells = {
        "NAME": "V1324 Sco",
        "DATE": "2456079.91234",
        "MAG": "11.135",
        "MERR": "0.003",
        "FILT": "V",
        "TRANS": "NO",
        "MTYPE": "STD",
        "CNAME": "105",
        "CMAG": "10.502",
        "KNAME": "110",
        "KMAG": "11.012",
        "AMASS": "1.2",
        "GROUP": "na",
        "CHART": "X16382L",
        "NOTES": "na",
    }
    return f"{EXTENDED}{','.join({**cells, **changed}.values())}\n"


def votable(rows: str, *, fields: str | None = None, before: str = "", root: str = "") -> str:
    """Return a VOTable with these rows, of time, magnitude and its error unless `fields` says otherwise."""
    fields = fields or (
        '<FIELD name="mjd" ucd="time.epoch" unit="d" datatype="double"/>'
        '<FIELD name="m" ucd="phot.mag;em.opt.V" unit="mag" datatype="float"/>'
        '<FIELD name="dm" ucd="stat.error;phot.mag" unit="mag" datatype="float"/>'
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>'
        f'{root}<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3"><RESOURCE type="results">'
        f"{before}<TABLE>{fields}<DATA><TABLEDATA>{rows}</TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>"
    )
