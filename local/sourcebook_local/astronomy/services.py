"""Answers of SIMBAD's TAP service, Sesame, ADS and the archives of spectra, for a handful of stars.

They are part of the sample server, under ``/astronomy``, so that trouble is staged for them as for any other
path: ``POST /_control``. The stars named LPBK do not exist; each tests how novae are distinguished.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from sourcebook_local.astronomy.spectra import archives
from sourcebook_local.webserver import Request, Response, json_response

PREFIX: Final = "/astronomy"
SAMPLE_NOVA: Final = "Nova Scorpii 2012"
"""The nova that `make up` initializes: V1324 Sco by the name of its constellation and year."""
ADS_TOKEN: Final = "sample-token"  # noqa: S105 - opens nothing
"""The token that the simulated ADS takes."""

_QUOTED = re.compile(r"'((?:[^']|'')*)'")
_PHRASE = re.compile(r'abs:"([^"]*)"')
_SURNAMES: Final = ("Okafor", "Lindqvist", "Haruna", "Moreau", "Castellanos", "Iyer", "Novotná")
_FIELDS: Final = ("oid", "main_id", "ra", "dec", "otype", "id")


def addresses(base_url: str) -> dict[str, list[str]]:
    """Return the address of each simulated archive, given the sample server's; SIMBAD with a mirror."""
    base = f"{base_url.rstrip('/')}{PREFIX}"
    return {
        "simbad": [f"{base}/simbad/sync", f"{base}/simbad-mirror/sync"],
        "sesame": [f"{base}/sesame"],
        "ads": [f"{base}/ads/v1"],
    }


def answer(request: Request) -> Response | None:
    """Answer a request under `PREFIX`; None if it is for none of the services."""
    path = request.path.removeprefix(PREFIX)
    if path in {"/simbad/sync", "/simbad-mirror/sync"}:
        return _simbad(request.query)
    if path.startswith("/sesame/"):
        return _sesame(next(iter(request.query), ""))
    if path == "/ads/v1/search/query":
        return _ads(request.query, request.headers)
    base = f"http://{request.headers.get('host', '')}{PREFIX}"
    return archives.answer(path, request, base, _stars())


def votable_error(words: str) -> str:
    """Return TAP's answer to a query that it cannot answer, often with status 200."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3">\n'
        f'<RESOURCE type="results"><INFO name="QUERY_STATUS" value="ERROR">{words}</INFO></RESOURCE>\n'
        "</VOTABLE>\n"
    )


@cache
def _stars() -> Sequence[Mapping[str, Any]]:
    text = Path(__file__).with_name("stars.json").read_text("utf-8")
    stars: list[dict[str, Any]] = json.loads(text)
    return [{"oid": 4_000 + number, **star} for number, star in enumerate(stars)]


def _known_as(names: set[str]) -> Iterator[Mapping[str, Any]]:
    """Yield the stars with one of these names; like SIMBAD, whatever the case and with or without V*."""
    wanted = {_plain(name) for name in names}
    for star in _stars():
        if wanted & {_plain(name) for name in (star["main_id"], *star["ids"])}:
            yield star


def _plain(name: str) -> str:
    return re.sub(r"^(?:v\*|name)\s+", "", " ".join(name.casefold().split()))


def _simbad(query: Mapping[str, str]) -> Response:
    if query.get("REQUEST") != "doQuery" or query.get("LANG") != "ADQL":
        return Response(
            400,
            votable_error("REQUEST=doQuery and LANG=ADQL expected").encode(),
            {"Content-Type": "text/xml"},
        )
    names = {name.replace("''", "'") for name in _QUOTED.findall(query.get("QUERY", ""))}
    rows = [
        [star["oid"], star["main_id"], star["ra"], star["dec"], star["otype"], name]
        for star in _known_as(names)
        for name in (star["main_id"], *star["ids"])
    ]
    return json_response(200, {"metadata": [{"name": name} for name in _FIELDS], "data": rows})


def _sesame(name: str) -> Response:
    lines = [f"# {name}\t#Q4711", "#=S=Simbad (CDS, via client/server):    1     0ms"]
    star = next(_known_as({name}), None)
    if star is None or star["ra"] is None:
        lines += ["#!Simbad: Nothing found", "#!*** Nothing found ***"]
    else:
        lines += [
            f"%@ {star['oid']}",
            f"%I.0 {star['main_id']}",
            f"%C.0 {star['otype']}",
            f"%J {star['ra']:.5f} {star['dec']:+.5f}",
            *(f"%I {alias}" for alias in star["ids"]),
        ]
    lines.append("#====Done====")
    return Response(200, "\n".join([*lines, ""]).encode(), {"Content-Type": "text/plain; charset=utf-8"})


def _ads(query: Mapping[str, str], headers: Mapping[str, str]) -> Response:
    if headers.get("authorization") != f"Bearer {ADS_TOKEN}":
        return json_response(401, {"error": "Unauthorized"})
    names = set(_PHRASE.findall(query.get("q", "")))
    found = [document for star in _known_as(names) for document in _publications(star)]
    found.sort(key=lambda document: document["bibcode"])
    start, rows = int(query.get("start", "0")), min(int(query.get("rows", "10")), 2_000)
    page = {"numFound": len(found), "start": start, "docs": found[start : start + rows]}
    reply = json_response(200, {"responseHeader": {"status": 0, "QTime": 5}, "response": page})
    limits = {"X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": "4999", "X-RateLimit-Reset": "1795910400"}
    return Response(reply.status, reply.body, {**reply.headers, **limits})


def _publications(star: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield made-up publications: the first a telegram of the month of discovery, then one a quarter."""
    if "first" not in star:
        return
    year, month = (int(part) for part in star["first"].split("-"))
    shown = re.sub(r"^V\* ", "", star["main_id"])
    for number in range(star["publications"]):
        months = (month - 1) + (0 if number == 0 else 2 + 3 * number)
        at = f"{year + months // 12}-{months % 12 + 1:02d}-00"
        initial = _SURNAMES[number % len(_SURNAMES)]
        journal = "ATel" if number == 0 else "Loopb"
        yield {
            "bibcode": f"{at[:4]}{journal:.<5}{number:.>4}....{star['oid'] % 10}{initial[0]}",
            "title": [
                f"Discovery of {shown}" if number == 0 else f"{shown}, quarter {number} after the outburst"
            ],
            "author": [f"{initial}, A. {number}", "Person, B."],
            "author_count": 2,
            "pubdate": at,
            "doctype": "article",
        }
    if star.get("spoiled"):
        yield {"bibcode": f"{year}Loopb.999....9Z", "title": ["No such month"], "pubdate": f"{year}-13-00"}
