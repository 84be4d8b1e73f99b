"""The operations that give light curves and spectra as files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from sourcebook.api import products
from sourcebook.api.operations import Operation
from sourcebook.api.parts import Means
from sourcebook.api.requests import Request
from sourcebook.api.responses import Conflict, NotFound, Response, redirect
from sourcebook.catalog.product_read import NothingToPlot

if TYPE_CHECKING:
    from collections.abc import Callable

    from sourcebook.catalog.replacing import SignedLink

LARGEST_FILE: Final = 4_000_000
"""Bytes of a file that fit into an answer of Lambda, also where it cannot be compressed."""

T = TypeVar("T")

_ALL_POINTS: Final = 10_000_000
_CSV_TYPE: Final = "text/csv; charset=utf-8; header=present"


@dataclass(frozen=True, slots=True)
class Curve:
    """A light curve to be written."""

    points: list[dict[str, Any]]
    name: str


def make(means: Means) -> products.ProductsApi:
    """Return what these operations act by."""
    return products.make(means)


def curve_as_csv(api: products.ProductsApi, request: Request) -> Response:
    """GET /novae/{nova_id}/photometry.csv."""
    from sourcebook.photometry.written import as_csv  # noqa: PLC0415 - seldom needed, as all below

    return _file(as_csv(_curve(api, request).points), _CSV_TYPE, f"{request.path['nova_id']}.csv")


def curve_as_votable(api: products.ProductsApi, request: Request) -> Response:
    """GET /novae/{nova_id}/photometry.vot."""
    from sourcebook.photometry.written import as_votable  # noqa: PLC0415

    curve = _curve(api, request)
    text = as_votable(curve.points, curve.name)
    return _file(text, "application/x-votable+xml", f"{request.path['nova_id']}.vot")


def curve_as_aavso(api: products.ProductsApi, request: Request) -> Response:
    """GET /novae/{nova_id}/photometry.aavso."""
    from sourcebook.photometry.written import as_aavso  # noqa: PLC0415

    curve = _curve(api, request)
    text = as_aavso(curve.points, curve.name)
    return _file(text, "text/plain; charset=utf-8", f"{request.path['nova_id']}.aavso.txt")


def spectrum_as_csv(api: products.ProductsApi, request: Request) -> Response:
    """GET /novae/{nova_id}/products/{data_product_id}/spectrum.csv."""
    nova_id, product_id = products.nova_of(api, request), request.path.get("data_product_id", "")
    text = _found(lambda: api.products.spectrum_csv(nova_id, product_id), nova_id, product_id)
    return _file(text, _CSV_TYPE, f"{product_id}.csv")


def spectrum_as_ecsv(api: products.ProductsApi, request: Request) -> Response:
    """GET /novae/{nova_id}/products/{data_product_id}/spectrum.ecsv."""
    return _link(api, request, original=False)


def spectrum_as_fits(api: products.ProductsApi, request: Request) -> Response:
    """GET /novae/{nova_id}/products/{data_product_id}/spectrum.fits."""
    return _link(api, request, original=True)


def _curve(api: products.ProductsApi, request: Request) -> Curve:
    nova_id = products.nova_of(api, request)
    nova = api.novae.get(nova_id) or {}
    found = products.points_of(api, request, nova_id, most=_ALL_POINTS)
    return Curve(found["items"], str(nova.get("primary_name") or nova_id))


def _link(api: products.ProductsApi, request: Request, *, original: bool) -> Response:
    nova_id, product_id = products.nova_of(api, request), request.path.get("data_product_id", "")

    def read() -> SignedLink | None:
        return api.products.link(nova_id, product_id, original=original)

    return redirect(_found(read, nova_id, product_id))


def _found(read: Callable[[], T | None], nova_id: str, product_id: str) -> T:
    try:
        found = read()
    except NothingToPlot as error:
        raise NotFound(str(error)) from error
    if found is None:
        raise products.no_product(nova_id, product_id)
    return found


def _file(text: str, content_type: str, name: str) -> Response:
    if len(text.encode()) > LARGEST_FILE:
        raise Conflict(
            "The file is too large for one answer. Take a part of a light curve with band, since and until; "
            "of a spectrum take spectrum.ecsv, which may be of any size.",
            "since",
        )
    return Response(
        text,
        content_type=content_type,
        headers={"content-disposition": f'attachment; filename="{name}"'},
    )


_WHOLE: Final = (
    "All points that the filters let through, with the fields of `GET /novae/{nova_id}/photometry`; none is "
    "thinned out. More than 4 MB are refused with 409."
)
_LINKED: Final = (
    " The answer is a redirect to a signed link that holds for 300 seconds; follow it without the token."
)
_CURVE: Final = "/novae/{nova_id}/photometry"
_SPECTRUM: Final = "/novae/{nova_id}/products/{data_product_id}/spectrum"

OPERATIONS: Final = (
    Operation(
        method="GET",
        path=f"{_CURVE}.csv",
        name="downloadPhotometryCsv",
        topic=products.TOPIC,
        summary="The light curve of a nova as CSV",
        description=_WHOLE,
        act=curve_as_csv,
        parameters=products.CURVE_FILTERS,
        answers={200: "File"},
        problems=(404, 409),
        media_type="text/csv",
    ),
    Operation(
        method="GET",
        path=f"{_CURVE}.vot",
        name="downloadPhotometryVotable",
        topic=products.TOPIC,
        summary="The light curve of a nova as a VOTable",
        description=f"Version 1.4, with units and UCDs. {_WHOLE}",
        act=curve_as_votable,
        parameters=products.CURVE_FILTERS,
        answers={200: "File"},
        problems=(404, 409),
        media_type="application/x-votable+xml",
    ),
    Operation(
        method="GET",
        path=f"{_CURVE}.aavso",
        name="downloadPhotometryAavso",
        topic=products.TOPIC,
        summary="The light curve of a nova in AAVSO's extended format",
        description="Magnitudes in AAVSO's filters at Julian Dates. What the format cannot hold is left out, "
        "and a comment in the file counts it. More than 4 MB are refused with 409.",
        act=curve_as_aavso,
        parameters=products.CURVE_FILTERS,
        answers={200: "File"},
        problems=(404, 409),
        media_type="text/plain",
    ),
    Operation(
        method="GET",
        path=f"{_SPECTRUM}.csv",
        name="downloadSpectrumCsv",
        topic=products.TOPIC,
        summary="All samples of a spectrum as CSV",
        description="Wavelengths in metres; a flux without a value is `nan`. More than 4 MB are refused with "
        "409.",
        act=spectrum_as_csv,
        answers={200: "File"},
        problems=(404, 409),
        media_type="text/csv",
    ),
    Operation(
        method="GET",
        path=f"{_SPECTRUM}.ecsv",
        name="downloadSpectrumEcsv",
        topic=products.TOPIC,
        summary="All samples of a spectrum as ECSV, with units and UCDs",
        description=f"`astropy.table.Table.read` reads it.{_LINKED}",
        act=spectrum_as_ecsv,
        answers={302: "SignedLink"},
        problems=(404,),
        volatile=True,
    ),
    Operation(
        method="GET",
        path=f"{_SPECTRUM}.fits",
        name="downloadSpectrumFits",
        topic=products.TOPIC,
        summary="The original file of a spectrum, byte for byte",
        description=f"As it came from its archive.{_LINKED}",
        act=spectrum_as_fits,
        answers={302: "SignedLink"},
        problems=(404,),
        volatile=True,
    ),
)
