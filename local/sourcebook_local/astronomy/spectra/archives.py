"""ESO's TAP service, MAST and an SSA service of amateurs, with the spectra of ``observations.json``.

Shapes as theirs, a sky of our own. Trouble is staged for them as for any other path: ``POST /_control``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, unquote
from xml.sax.saxutils import escape

from sourcebook.novae.coordinates import Position, separation_arcsec
from sourcebook_local.webserver import Request, Response, json_response

FOLDER: Final = Path(__file__).parent
ESO_TAP, ESO_FILE = "/eso/tap/sync", "/eso/file/"
MAST_API, MAST_FILE = "/mast/invoke", "/mast/file"
SSA_QUERY, SSA_FILE = "/ssa/query", "/ssa/file/"

_CIRCLE = re.compile(r"CIRCLE\('ICRS', *([\d.]+), *(-?[\d.]+), *([\d.]+)\)")
_COLUMNS = re.compile(r"SELECT (.+?) FROM", re.DOTALL)
_EMBARGO: Final = "2090"
"""Release dates from this year on have not come."""
_SSA_FIELDS: Final = (
    ("AcRef", "ssa:Access.Reference"),
    ("Format", "ssa:Access.Format"),
    ("Size", "ssa:Access.Size"),
    ("PubDID", "ssa:Curation.PublisherDID"),
    ("Rights", "ssa:Curation.Rights"),
    ("Title", "ssa:DataID.Title"),
    ("Collection", "ssa:DataID.Collection"),
    ("Instrument", "ssa:DataID.Instrument"),
    ("Target", "ssa:Target.Name"),
    ("Place", "ssa:Char.SpatialAxis.Coverage.Location.Value"),
    ("Time", "ssa:Char.TimeAxis.Coverage.Location.Value"),
    ("From", "ssa:Char.SpectralAxis.Coverage.Bounds.Start"),
    ("To", "ssa:Char.SpectralAxis.Coverage.Bounds.Stop"),
)


def answer(path: str, request: Request, base: str, stars: Sequence[Mapping[str, Any]]) -> Response | None:
    """Answer a request for one of the archives; None if it is for none of them.

    Args:
        path: the request's path without the prefix of the archives.
        request: the request.
        base: the address under which the archives are, for links.
        stars: the sky.
    """
    query = request.query
    if path == ESO_TAP:
        return _eso(query, stars)
    if path == MAST_API:
        return _mast(query, stars)
    if path == SSA_QUERY:
        return _ssa(query, base, stars)
    if path.startswith(ESO_FILE):
        return _file("ESO", unquote(path.removeprefix(ESO_FILE)))
    if path == MAST_FILE:
        return _file("MAST", query.get("uri", ""))
    if path.startswith(SSA_FILE):
        return _file("BESS", unquote(path.removeprefix(SSA_FILE)))
    return None


@cache
def _observations() -> Sequence[Mapping[str, Any]]:
    observations: list[dict[str, Any]] = json.loads(FOLDER.joinpath("observations.json").read_text("utf-8"))
    return observations


def _within(
    provider: str, centre: Position, radius_deg: float, stars: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Yield the observations of a provider within a circle, each with its star; repeated ones twice."""
    for star in stars:
        if star["ra"] is None:
            continue
        if separation_arcsec(centre, Position(star["ra"], star["dec"])) > radius_deg * 3600:
            continue
        for observation in _observations():
            if observation["star"] == star["main_id"] and observation["provider"] == provider:
                yield observation, star
                if observation.get("repeated"):
                    yield observation, star


def _eso(query: Mapping[str, str], stars: Sequence[Mapping[str, Any]]) -> Response:
    adql = query.get("QUERY", "")
    circle, columns = _CIRCLE.search(adql), _COLUMNS.search(adql)
    if query.get("LANG") != "ADQL" or circle is None or columns is None:
        return _votable(400, '<INFO name="QUERY_STATUS" value="ERROR">not a question of ours</INFO>')
    names = [name.strip() for name in columns[1].split(",")]
    ra, dec, radius = (float(number) for number in circle.groups())
    rows = []
    for found, star in _within("ESO", Position(ra, dec), radius, stars):
        values = {
            "dp_id": found["id"],
            "obs_collection": found["collection"],
            "instrument_name": found["instrument"],
            "facility_name": found.get("telescope"),
            "target_name": star["main_id"],
            "obs_title": found["title"],
            "obs_release_date": found["released"],
            "access_estsize": _size(found) // 1000,
            "t_min": found["mjd"],
            "em_min": found["metres"][0],
            "em_max": found["metres"][1],
        }
        rows.append([values.get(name) for name in names])
    most = int(query.get("MAXREC", "1000"))
    return json_response(200, {"metadata": [{"name": name} for name in names], "data": rows[:most]})


def _mast(query: Mapping[str, str], stars: Sequence[Mapping[str, Any]]) -> Response:
    try:
        question = json.loads(query.get("request", ""))
        service, params = question["service"], question["params"]
    except (ValueError, KeyError, TypeError):
        return json_response(200, {"status": "ERROR", "msg": "not a request", "data": []})
    if service == "Mast.Caom.Filtered.Position":
        ra, dec, radius = (float(part) for part in params["position"].split(","))
        rows: dict[int, dict[str, Any]] = {}
        for found, star in _within("MAST", Position(ra, dec), radius, stars):
            rows[found["observation"]] = {
                "obsid": found["observation"],
                "obs_id": found["id"].rpartition("/")[2].partition("_")[0],
                "dataproduct_type": "spectrum",
                "obs_collection": found["collection"],
                "instrument_name": found["instrument"],
                "obs_title": found["title"],
                "target_name": star["main_id"],
                "s_ra": star["ra"],
                "s_dec": star["dec"],
                "t_min": found["mjd"],
                # CAOM has nanometres here, and the release as a modified Julian date.
                "em_min": found["metres"][0] * 1e9,
                "em_max": found["metres"][1] * 1e9,
                "t_obs_release": 56460.0,
                "dataRights": "PUBLIC",
            }
        return _mast_rows(list(rows.values()))
    wanted = set(str(params.get("obsid", "")).split(","))
    return _mast_rows(
        [
            {
                "obsID": str(found["observation"]),
                "obs_collection": found["collection"],
                "obs_id": found["id"].rpartition("/")[2].partition("_")[0],
                "dataproduct_type": "spectrum",
                "dataURI": found["id"],
                "productFilename": found["id"].rpartition("/")[2],
                "productType": "SCIENCE",
                "productSubGroupDescription": found["kind"],
                "size": _size(found),
            }
            for found in _observations()
            if found["provider"] == "MAST" and str(found["observation"]) in wanted
        ]
    )


def _mast_rows(rows: list[dict[str, Any]]) -> Response:
    paging = {"page": 1, "pageSize": 10_000, "rows": len(rows), "rowsFiltered": len(rows)}
    return json_response(200, {"status": "COMPLETE", "msg": "", "data": rows, "paging": paging})


def _ssa(query: Mapping[str, str], base: str, stars: Sequence[Mapping[str, Any]]) -> Response:
    try:
        ra, dec = (float(part) for part in query["POS"].split(","))
        radius = float(query["SIZE"]) / 2
    except (KeyError, ValueError):
        return _votable(200, '<INFO name="QUERY_STATUS" value="ERROR">POS and SIZE expected</INFO>')
    rows = []
    for found, star in _within("BESS", Position(ra, dec), radius, stars):
        metres = found.get("metres", (None, None))
        values = (
            f"{base}{SSA_FILE}{quote(found['title'])}",
            found.get("format", "application/fits"),
            _size(found) // 1000,
            found["id"],
            found.get("rights", "public"),
            found["title"],
            found.get("collection"),
            found.get("instrument"),
            star["main_id"],
            f"{star['ra']} {star['dec']}",
            found.get("mjd"),
            *metres,
        )
        cells = "".join("<TD/>" if value is None else f"<TD>{escape(str(value))}</TD>" for value in values)
        rows.append(f"<TR>{cells}</TR>")
    fields = "".join(
        f'<FIELD name="{name}" datatype="char" arraysize="*" utype="{utype}"/>' for name, utype in _SSA_FIELDS
    )
    table = f"<TABLE>{fields}<DATA><TABLEDATA>{''.join(rows)}</TABLEDATA></DATA></TABLE>"
    return _votable(200, f'<INFO name="QUERY_STATUS" value="OK"/>{table}')


def _votable(status: int, content: str) -> Response:
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3">'
        f'<RESOURCE type="results">{content}</RESOURCE></VOTABLE>\n'
    )
    return Response(status, text.encode(), {"Content-Type": "application/x-votable+xml"})


def _file(provider: str, name: str) -> Response:
    for found in _observations():
        if found["provider"] == provider and name in {found["id"], found["title"]}:
            if str(found.get("released", "")) >= _EMBARGO or found.get("rights") == "proprietary":
                return json_response(401, {"error": "This file is not public; log in."})
            return Response(200, (FOLDER / found["file"]).read_bytes(), {"Content-Type": "application/fits"})
    return json_response(404, {"error": f"no file {name}"})


def _size(found: Mapping[str, Any]) -> int:
    return FOLDER.joinpath(str(found["file"])).stat().st_size
