"""The Virtual Observatory: Simple Cone Search 1.03 and Simple Spectral Access 1.1 over the catalogue.

Errors of a query are in a VOTable with status 200, as both standards ask.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Annotated, Any, Final, TypeVar

from pydantic import Field

from sourcebook.api.operations import Operation, of_topic
from sourcebook.api.parameters import Parameters, Text, number
from sourcebook.api.parts import Services
from sourcebook.api.requests import Request
from sourcebook.api.responses import Response
from sourcebook.errors import InvalidInput
from sourcebook.inputs import ReadBy
from sourcebook.novae.coordinates import WIDEST_SEARCH, Position
from sourcebook.novae.product_read import ProductReader
from sourcebook.novae.read import NovaReader
from sourcebook.records.spectrum import SpectrumProduct
from sourcebook.votable_text import MEDIA_TYPE, Cell, Info, VotableField, votable

T = TypeVar("T")

_UNIX_MJD: Final = 40_587.0
_SPECTRA_AT_MOST: Final = 1_000
_NOVAE_AT_MOST: Final = 100

_CONE: Final = (
    VotableField("nova_id", "ID_MAIN", "char", description="The nova's id in this catalogue"),
    VotableField("ra", "POS_EQ_RA_MAIN", "double", "deg", description="Right ascension, ICRS"),
    VotableField("dec", "POS_EQ_DEC_MAIN", "double", "deg", description="Declination, ICRS"),
    VotableField("name", "ID_ALTERNATIVE", description="The primary name"),
    VotableField(
        "separation", "POS_ANG_DIST_GENERAL", "double", "arcsec", description="From the place asked for"
    ),
    VotableField("constellation", "ID_REGION", "char", description="That the place lies in"),
    VotableField("discovery_date", "TIME_DATE", "char", description="Day 00: only the month is known"),
)
_SPECTRA: Final = (
    VotableField("obs_publisher_did", "meta.ref.url;meta.curation", utype="ssa:Curation.PublisherDID"),
    VotableField("access_url", "meta.ref.url", utype="ssa:Access.Reference"),
    VotableField("access_format", "meta.code.mime", "char", utype="ssa:Access.Format"),
    VotableField("access_estsize", "phys.size;meta.file", "long", "kbyte", "ssa:Access.Size"),
    VotableField("dataproduct_type", "meta.code.class", "char", utype="ssa:Dataset.Type"),
    VotableField("obs_title", "meta.title;meta.dataset", utype="ssa:DataID.Title"),
    VotableField("obs_collection", "meta.id", utype="ssa:DataID.Collection"),
    VotableField("instrument_name", "meta.id;instr", utype="ssa:DataID.Instrument"),
    VotableField("target_name", "meta.id;src", utype="ssa:Target.Name"),
    VotableField("s_ra", "pos.eq.ra", "double", "deg"),
    VotableField("s_dec", "pos.eq.dec", "double", "deg"),
    VotableField("location", "pos.eq", "double", "deg", "ssa:Char.SpatialAxis.Coverage.Location.Value", "2"),
    VotableField(
        "t_min", "time.start;obs.exposure", "double", "d", "ssa:Char.TimeAxis.Coverage.Bounds.Start"
    ),
    VotableField("em_min", "em.wl;stat.min", "double", "m", "ssa:Char.SpectralAxis.Coverage.Bounds.Start"),
    VotableField("em_max", "em.wl;stat.max", "double", "m", "ssa:Char.SpectralAxis.Coverage.Bounds.Stop"),
)


Degrees = Annotated[
    float, ReadBy(float, {"type": "string", "minLength": 1}, "decimal degrees such as 267.7254")
]
Most = Annotated[
    int,
    number(0, 999_999_999),
    Field(alias="MAXREC", description="Rows at most; 0 gives the fields alone.", examples=["100"]),
]
Unused = Annotated[Text | None, Field(description="Taken, as the standard asks, and of no effect.")]


class ConeParameters(Parameters):
    """The parameters of Simple Cone Search."""

    ra: Degrees | None = Field(
        None, alias="RA", description="Right ascension, ICRS, decimal degrees.", examples=["267.72458"]
    )
    dec: Degrees | None = Field(
        None, alias="DEC", description="Declination, ICRS, decimal degrees.", examples=["-32.62236"]
    )
    sr: Degrees | None = Field(
        None,
        alias="SR",
        description=f"Radius in decimal degrees, at most {WIDEST_SEARCH:g}; 0 gives the fields alone.",
        examples=["0.1"],
    )
    verb: Unused = Field(None, alias="VERB")
    maxrec: Most = _NOVAE_AT_MOST


class SpectraParameters(Parameters):
    """The parameters of Simple Spectral Access."""

    request: Text = Field(
        "queryData", alias="REQUEST", description="Always `queryData`.", examples=["queryData"]
    )
    pos: Text | None = Field(
        None,
        alias="POS",
        description="Right ascension and declination, ICRS, decimal degrees, with a comma.",
        examples=["267.72458,-32.62236"],
    )
    size: Degrees = Field(
        0.2,
        alias="SIZE",
        description=f"Diameter in decimal degrees, at most {2 * WIDEST_SEARCH:g}; 0.2 without it.",
        examples=["0.2"],
    )
    format: Text = Field(
        "", alias="FORMAT", description="`METADATA` gives the fields alone; all spectra are FITS."
    )
    version: Unused = Field(None, alias="VERSION")
    band: Unused = Field(None, alias="BAND")
    time: Unused = Field(None, alias="TIME")
    maxrec: Most = _SPECTRA_AT_MOST
    responseformat: Unused = Field(None, alias="RESPONSEFORMAT")


def _cone_search(services: Services, request: Request) -> Response:
    try:
        text = _cone(services, request)
    except InvalidInput as error:
        infos = [Info("Error", str(error), ident="Error")]
        text = votable((), (), name="novae", about="", infos=infos, version="1.1")
    return Response(text, content_type=MEDIA_TYPE)


def _cone(services: Services, request: Request) -> str:
    asked = ConeParameters.of(request)
    position = Position(_needed("RA", asked.ra), _needed("DEC", asked.dec))
    radius = _needed("SR", asked.sr)
    found: list[dict[str, Any]] = []
    overflow = False
    if radius > 0:
        near = NovaReader(services.table).near(position, radius)
        found = near["items"]
        overflow = near["left_out"] > 0 or asked.maxrec < len(found)
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
        for nova in found[: asked.maxrec]
    )
    infos = [Info("QUERY_STATUS", "OVERFLOW")] if overflow else ()
    return votable(_CONE, rows, name="novae", about="Novae around a place", infos=infos, version="1.1")


def _spectral_access(services: Services, request: Request) -> Response:
    try:
        text = _ssa(services, request)
    except InvalidInput as error:
        infos = [Info("QUERY_STATUS", "ERROR", str(error))]
        text = votable((), (), name="spectra", about="", infos=infos)
    return Response(text, content_type=MEDIA_TYPE)


def _ssa(services: Services, request: Request) -> str:
    asked = SpectraParameters.of(request)
    if asked.request.casefold() != "querydata":
        raise InvalidInput("REQUEST", asked.request, "queryData")
    rows: list[Mapping[str, Cell]] = []
    most = min(asked.maxrec, _SPECTRA_AT_MOST)
    if asked.format.upper() != "METADATA":
        position = _position(_needed("POS", asked.pos))
        novae = NovaReader(services.table).near(position, asked.size / 2)["items"]
        rows = list(_spectra(services, novae, request.address.removesuffix("/vo/ssa")))
    overflow = len(rows) > most
    infos = [
        Info("SERVICE_PROTOCOL", "1.1", "SSAP"),
        Info("QUERY_STATUS", "OVERFLOW" if overflow else "OK"),
    ]
    shown = rows[:most]
    return votable(
        _SPECTRA, shown, name="spectra", about="Valid spectra of novae around a place", infos=infos
    )


def _spectra(services: Services, novae: list[dict[str, Any]], base: str) -> Iterator[Mapping[str, Cell]]:
    products = ProductReader(services.table, services.objects)
    for nova in novae:
        for product in products.valid_spectra(nova["nova_id"]):
            yield _spectrum(nova, product, base)


def _spectrum(nova: Mapping[str, Any], product: SpectrumProduct, base: str) -> Mapping[str, Cell]:
    own = f"{base}/novae/{nova['nova_id']}/products/{product.data_product_id}"
    verdict: Mapping[str, Any] = product.verdict or {}
    size = product.byte_length
    return {
        "obs_publisher_did": own,
        "access_url": f"{own}/spectrum.fits",
        "access_format": "application/fits",
        "access_estsize": None if size is None else -(-size // 1024),
        "dataproduct_type": "spectrum",
        "obs_title": product.title or product.data_product_id,
        "obs_collection": product.collection or product.provider,
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


def _needed(name: str, value: T | None) -> T:
    if value is None:
        raise InvalidInput(name, None, f"{name}, which this operation needs")
    return value


def _position(text: str) -> Position:
    ra, _, dec = text.partition(";")[0].partition(",")
    try:
        return Position(float(ra), float(dec))
    except ValueError as error:
        raise InvalidInput("POS", text, "two decimal degrees such as 267.72458,-32.62236") from error


OPERATIONS: Final = of_topic(
    "Virtual Observatory",
    Operation(
        route="GET /vo/cone",
        summary="Simple Cone Search 1.03",
        description="The novae around a place as a VOTable, the nearest first, at most 100. A wrong question "
        "is answered with status 200 and an INFO `Error`, as the standard asks.",
        handle=_cone_search,
        query=ConeParameters,
        answers={200: "File"},
        media_type=MEDIA_TYPE,
    ),
    Operation(
        route="GET /vo/ssa",
        summary="Simple Spectral Access 1.1",
        description="The valid spectra of the novae around a place as a VOTable, with columns of ObsCore. "
        "A wrong question is answered with status 200 and the `QUERY_STATUS` ERROR, as the standard asks.",
        handle=_spectral_access,
        query=SpectraParameters,
        answers={200: "File"},
        media_type=MEDIA_TYPE,
    ),
)
