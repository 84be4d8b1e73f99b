"""The Virtual Observatory: Simple Cone Search 1.03 and Simple Spectral Access 1.1 over the catalogue.

What is wrong with a question is said in a VOTable with status 200, as both standards ask.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sourcebook.api.operations import Operation
from sourcebook.api.parameters import Text
from sourcebook.api.parts import Means
from sourcebook.api.requests import Request
from sourcebook.api.responses import Response
from sourcebook.errors import InvalidInput
from sourcebook.novae.coordinates import WIDEST_SEARCH, Position
from sourcebook.novae.product_read import ProductReader
from sourcebook.novae.read import NovaReader
from sourcebook.votable_text import MEDIA_TYPE, Cell, Column, Told, votable

_UNIX_MJD: Final = 40_587.0
_SPECTRA_AT_MOST: Final = 1_000

_CONE: Final = (
    Column("nova_id", "ID_MAIN", "char", description="The nova's id in this catalogue"),
    Column("ra", "POS_EQ_RA_MAIN", "double", "deg", description="Right ascension, ICRS"),
    Column("dec", "POS_EQ_DEC_MAIN", "double", "deg", description="Declination, ICRS"),
    Column("name", "ID_ALTERNATIVE", description="The primary name"),
    Column("separation", "POS_ANG_DIST_GENERAL", "double", "arcsec", description="From the place asked for"),
    Column("constellation", "ID_REGION", "char", description="That the place lies in"),
    Column("discovery_date", "TIME_DATE", "char", description="Day 00: only the month is known"),
)
_SPECTRA: Final = (
    Column("obs_publisher_did", "meta.ref.url;meta.curation", utype="ssa:Curation.PublisherDID"),
    Column("access_url", "meta.ref.url", utype="ssa:Access.Reference"),
    Column("access_format", "meta.code.mime", "char", utype="ssa:Access.Format"),
    Column("access_estsize", "phys.size;meta.file", "long", "kbyte", "ssa:Access.Size"),
    Column("dataproduct_type", "meta.code.class", "char", utype="ssa:Dataset.Type"),
    Column("obs_title", "meta.title;meta.dataset", utype="ssa:DataID.Title"),
    Column("obs_collection", "meta.id", utype="ssa:DataID.Collection"),
    Column("instrument_name", "meta.id;instr", utype="ssa:DataID.Instrument"),
    Column("target_name", "meta.id;src", utype="ssa:Target.Name"),
    Column("s_ra", "pos.eq.ra", "double", "deg"),
    Column("s_dec", "pos.eq.dec", "double", "deg"),
    Column("location", "pos.eq", "double", "deg", "ssa:Char.SpatialAxis.Coverage.Location.Value", "2"),
    Column("t_min", "time.start;obs.exposure", "double", "d", "ssa:Char.TimeAxis.Coverage.Bounds.Start"),
    Column("em_min", "em.wl;stat.min", "double", "m", "ssa:Char.SpectralAxis.Coverage.Bounds.Start"),
    Column("em_max", "em.wl;stat.max", "double", "m", "ssa:Char.SpectralAxis.Coverage.Bounds.Stop"),
)


def _as_sent(name: str, description: str, example: str | None = None) -> Text:
    return Text(name=name, description=description, longest=200, example=example)


_RA: Final = _as_sent("RA", "Right ascension, ICRS, decimal degrees.", "267.72458")
_DEC: Final = _as_sent("DEC", "Declination, ICRS, decimal degrees.", "-32.62236")
_SR: Final = _as_sent(
    "SR", f"Radius in decimal degrees, at most {WIDEST_SEARCH:g}; 0 gives the fields alone.", "0.1"
)
_POS: Final = _as_sent(
    "POS", "Right ascension and declination, ICRS, decimal degrees, with a comma.", "267.72458,-32.62236"
)
_SIZE: Final = _as_sent(
    "SIZE", f"Diameter in decimal degrees, at most {2 * WIDEST_SEARCH:g}; 0.2 without it.", "0.2"
)
_REQUEST: Final = _as_sent("REQUEST", "Always `queryData`.", "queryData")
_FORMAT: Final = _as_sent("FORMAT", "`METADATA` gives the fields alone; all spectra are FITS.")
_UNUSED: Final = tuple(
    _as_sent(name, "Taken, as the standard asks, and of no effect.")
    for name in ("VERSION", "BAND", "TIME", "MAXREC", "RESPONSEFORMAT")
)
_VERBOSITY: Final = _as_sent("VERB", "Taken, as the standard asks, and of no effect.")


@dataclass(frozen=True, slots=True)
class ObservatoryApi:
    """What these operations read from."""

    novae: NovaReader
    products: ProductReader


def make(means: Means) -> ObservatoryApi:
    """Return the part of the API that speaks the protocols of the Virtual Observatory."""
    return ObservatoryApi(NovaReader(means.table), ProductReader(means.table, means.objects))


def cone_search(api: ObservatoryApi, request: Request) -> Response:
    """GET /vo/cone."""

    def answer() -> str:
        position = Position(_number(_RA, request), _number(_DEC, request))
        radius = _number(_SR, request)
        found = api.novae.near(position, radius)["items"] if radius > 0 else []
        rows = (
            {
                "nova_id": nova["nova_id"],
                "ra": nova["ra_deg"],
                "dec": nova["dec_deg"],
                "name": nova["primary_name"],
                "separation": nova["separation_arcsec"],
                "constellation": nova["constellation"],
                "discovery_date": nova["discovery_date"],
            }
            for nova in found
        )
        return votable(_CONE, rows, name="novae", about="Novae around a place", version="1.1")

    return _said(
        answer,
        lambda error: votable(
            (), (), name="novae", about="", infos=[Told("Error", str(error), ident="Error")], version="1.1"
        ),
    )


def spectral_access(api: ObservatoryApi, request: Request) -> Response:
    """GET /vo/ssa."""
    base = request.address.removesuffix("/vo/ssa")

    def answer() -> str:
        asked = _REQUEST.of(request) or "queryData"
        if asked.casefold() != "querydata":
            raise InvalidInput("REQUEST", asked, "queryData")
        rows: list[Mapping[str, Cell]] = []
        if (_FORMAT.of(request) or "").upper() != "METADATA":
            ra, _, dec = _POS.needed(request).partition(";")[0].partition(",")
            position = Position(_value("POS", ra), _value("POS", dec))
            size = _SIZE.of(request)
            radius = 0.1 if size is None else _value("SIZE", size) / 2
            rows = list(_spectra(api, api.novae.near(position, radius)["items"], base))
        overflow = len(rows) > _SPECTRA_AT_MOST
        infos = [
            Told("SERVICE_PROTOCOL", "1.1", "SSAP"),
            Told("QUERY_STATUS", "OVERFLOW" if overflow else "OK"),
        ]
        shown = rows[:_SPECTRA_AT_MOST]
        return votable(
            _SPECTRA, shown, name="spectra", about="Valid spectra of novae around a place", infos=infos
        )

    return _said(
        answer,
        lambda error: votable(
            (), (), name="spectra", about="", infos=[Told("QUERY_STATUS", "ERROR", str(error))]
        ),
    )


def _spectra(api: ObservatoryApi, novae: list[dict[str, Any]], base: str) -> Iterator[Mapping[str, Cell]]:
    for nova in novae:
        for product in api.products.valid_spectra(nova["nova_id"]):
            yield _spectrum(nova, product, base)


def _spectrum(nova: Mapping[str, Any], product: Mapping[str, Any], base: str) -> Mapping[str, Cell]:
    own = f"{base}/novae/{nova['nova_id']}/products/{product['data_product_id']}"
    verdict = product.get("verdict") or {}
    size = product.get("byte_length")
    return {
        "obs_publisher_did": own,
        "access_url": f"{own}/spectrum.fits",
        "access_format": "application/fits",
        "access_estsize": None if size is None else -(-int(size) // 1024),
        "dataproduct_type": "spectrum",
        "obs_title": product.get("title") or product["data_product_id"],
        "obs_collection": product.get("collection") or product["provider"],
        "instrument_name": verdict.get("instrument"),
        "target_name": nova["primary_name"],
        "s_ra": nova["ra_deg"],
        "s_dec": nova["dec_deg"],
        "location": (nova["ra_deg"], nova["dec_deg"]),
        "t_min": _mjd(verdict.get("observed_at_iso")),
        "em_min": verdict.get("wavelength_min_m"),
        "em_max": verdict.get("wavelength_max_m"),
    }


def _mjd(moment: str | None) -> float | None:
    if moment is None:
        return None
    try:
        when = datetime.fromisoformat(moment)
    except ValueError:
        return None
    if when.tzinfo is None:
        return None
    return round(_UNIX_MJD + when.timestamp() / 86_400, 8)


def _number(parameter: Text, request: Request) -> float:
    return _value(parameter.name, parameter.needed(request))


def _value(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise InvalidInput(name, text, "decimal degrees such as 267.7254") from error


def _said(answer: Callable[[], str], refusal: Callable[[InvalidInput], str]) -> Response:
    try:
        text = answer()
    except InvalidInput as error:
        text = refusal(error)
    return Response(text, content_type=MEDIA_TYPE)


_TOPIC: Final = "Virtual Observatory"

OPERATIONS: Final = (
    Operation(
        method="GET",
        path="/vo/cone",
        name="coneSearch",
        topic=_TOPIC,
        summary="Simple Cone Search 1.03",
        description="The novae around a place as a VOTable, the nearest first, at most 100. A wrong question "
        "is answered with status 200 and an INFO `Error`, as the standard asks.",
        act=cone_search,
        parameters=(_RA, _DEC, _SR, _VERBOSITY),
        answers={200: "File"},
        media_type=MEDIA_TYPE,
    ),
    Operation(
        method="GET",
        path="/vo/ssa",
        name="spectralAccess",
        topic=_TOPIC,
        summary="Simple Spectral Access 1.1",
        description="The valid spectra of the novae around a place as a VOTable, with columns of ObsCore. "
        "A wrong question is answered with status 200 and the `QUERY_STATUS` ERROR, as the standard asks.",
        act=spectral_access,
        parameters=(_REQUEST, _POS, _SIZE, _FORMAT, *_UNUSED),
        answers={200: "File"},
        media_type=MEDIA_TYPE,
    ),
)
