"""The operations on data products: spectra, and the light curve of a nova."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, Final, TypeVar

from pydantic import Field

from sourcebook.api.operations import Operation, of_topic
from sourcebook.api.parameters import (
    MOMENT_EXPECTED,
    PageParameters,
    Parameters,
    YesOrNo,
    number,
    one_of,
    read_moment,
)
from sourcebook.api.parts import Services
from sourcebook.api.requests import Request
from sourcebook.api.resources import NOVA
from sourcebook.api.responses import NotFound, Response, listed
from sourcebook.errors import InvalidInput, shorten
from sourcebook.inputs import ReadBy, expected, matching
from sourcebook.novae.product_read import NothingToPlot, ProductReader
from sourcebook.novae.read import NovaReader
from sourcebook.novae.reference_read import ROLES, ReferenceReader
from sourcebook.records.product import ProductType
from sourcebook.records.spectrum import ValidationStatus

T = TypeVar("T")

_BANDS_AT_MOST: Final = 30
_POINTS: Final = 2_000
_MJD: Final = re.compile(r"[+-]?\d{1,7}(\.\d{1,12})?", re.ASCII)


def _read_epoch(text: str) -> float:
    """Return the Modified Julian Date that a text is, or that a time or a date in it becomes."""
    if _MJD.fullmatch(text.strip()):
        return float(text)
    from sourcebook.lightcurves.times import mjd_of  # noqa: PLC0415 - 4 ms of each start, and seldom needed

    return float(mjd_of(read_moment(text)))


def _read_bands(text: str) -> frozenset[str]:
    """Return pass bands with commas between them, in any spelling, under their canonical names."""
    from sourcebook.lightcurves.bands import read_band  # noqa: PLC0415 - as above

    parts = text.split(",")
    if len(parts) > _BANDS_AT_MOST:
        raise InvalidInput("band", text, f"at most {_BANDS_AT_MOST} bands")
    return frozenset(read_band("band", part) for part in parts)


Epoch = Annotated[
    float,
    ReadBy(
        _read_epoch,
        {
            "type": "string",
            "anyOf": [
                {"pattern": r"^[+-]?\d{1,7}(\.\d{1,12})?$"},
                {"format": "date-time"},
                {"format": "date"},
            ],
        },
        f"a Modified Julian Date such as 56079.5, or {MOMENT_EXPECTED}",
    ),
]
Bands = Annotated[
    frozenset[str],
    ReadBy(_read_bands, {"type": "string", "format": "bands", "minLength": 1, "maxLength": 300}),
]


class ProductParameters(PageParameters):
    """Which data products are asked for."""

    product_type: Annotated[str, one_of(tuple(ProductType))] | None = Field(
        None, description="Only products of this type."
    )
    provider: (
        Annotated[str, matching("[A-Z][A-Z0-9_-]{1,29}", 30), expected("the name of a provider such as ESO")]
        | None
    ) = Field(None, description="Only spectra from there.", examples=["ESO"])
    validation_status: Annotated[str, one_of(tuple(ValidationStatus))] | None = Field(
        None, description="Only spectra that have come so far."
    )


class SpectrumParameters(Parameters):
    """How many samples of a spectrum are asked for."""

    points: Annotated[int, number(2, 20_000)] = Field(
        _POINTS, description="How many samples there are at most, in all orders together."
    )


class CurveParameters(Parameters):
    """Which points of a light curve are asked for."""

    band: Bands | None = Field(
        None,
        description="Only these bands, with commas between them, in any spelling; all without it.",
        examples=["V,B"],
    )
    since: Epoch | None = Field(
        None,
        description="From this moment, included: a Modified Julian Date, or a time or date.",
        examples=["56079.5"],
    )
    until: Epoch | None = Field(
        None, description="Up to this moment, excluded: likewise.", examples=["2012-07-01"]
    )
    include_upper_limits: YesOrNo = Field("true", description="Whether there are upper limits too.")


class PhotometryParameters(CurveParameters):
    """Which points of a light curve are asked for, and how many."""

    points: Annotated[int, number(10, 10_000)] = Field(
        _POINTS,
        description="How many points there are at most. When more match, each band gets its share, with its "
        "first and last point and the brightest and faintest of each stretch between.",
    )


class ReferenceParameters(PageParameters):
    """Which publications are asked for."""

    role: Annotated[str, one_of(ROLES)] | None = Field(
        None, description="Only publications that are this to the nova."
    )


def reader(services: Services) -> ProductReader:
    """Return what reads data products."""
    return ProductReader(services.table, services.objects)


def _list_products(services: Services, request: Request) -> Response:
    return listed(reader(services).page(nova_of(services, request), **dict(ProductParameters.of(request))))


def _get_product(services: Services, request: Request) -> Response:
    return Response(product_of(services, request, reader(services).get))


def _get_spectrum(services: Services, request: Request) -> Response:
    def read(nova_id: str, product_id: str) -> dict[str, Any] | None:
        return reader(services).spectrum(nova_id, product_id, SpectrumParameters.of(request).points)

    return Response(product_of(services, request, read))


def _get_photometry(services: Services, request: Request) -> Response:
    nova_id = nova_of(services, request)
    asked = PhotometryParameters.of(request)
    return Response(points_of(services, request, nova_id, asked, most=asked.points))


def _list_references(services: Services, request: Request) -> Response:
    nova_id = nova_of(services, request)
    return listed(ReferenceReader(services.table).page(nova_id, **dict(ReferenceParameters.of(request))))


def points_of(
    services: Services, request: Request, nova_id: str, asked: CurveParameters, *, most: int
) -> dict[str, Any]:
    """Return the points of a light curve that are asked for, thinned out to `most`.

    Raises:
        InvalidInput: if `until` is not after `since`.
    """
    if asked.since is not None and asked.until is not None and asked.since >= asked.until:
        raise InvalidInput("until", request.query["until"], "a moment after since")
    return reader(services).photometry(
        nova_id,
        bands=asked.band,
        since=asked.since,
        until=asked.until,
        upper_limits=asked.include_upper_limits == "true",
        most=most,
    )


def nova_of(services: Services, request: Request) -> str:
    """Return the id of the nova that is asked about, or that it was merged into.

    Raises:
        NotFound: if there is none.
    """
    return NOVA.of(request, NovaReader(services.table).leads_to)


def product_of(services: Services, request: Request, read: Callable[[str, str], T | None]) -> T:
    """Return what `read` finds of a nova's data product, which are those of the request's path.

    Raises:
        NotFound: if there is no such nova or product, or the product has nothing to plot.
    """
    nova_id, product_id = nova_of(services, request), request.path.get("data_product_id", "")
    try:
        product = read(nova_id, product_id)
    except NothingToPlot as error:
        raise NotFound(str(error)) from error
    if product is None:
        raise NotFound(
            f"The nova has no data product {shorten(product_id)}. GET /novae/{nova_id}/products lists them."
        )
    return product


OPERATIONS: Final = of_topic(
    "Novae",
    Operation(
        route="GET /novae/{nova_id}/products",
        summary="The data products of a nova",
        description="Its photometry table, then its spectra by provider. docs/novae.md says what the states "
        "mean; fields that a product does not have are null.",
        handle=_list_products,
        query=ProductParameters,
        answers={200: "ProductPage"},
    ),
    Operation(
        route="GET /novae/{nova_id}/products/{data_product_id}",
        summary="One data product with its files",
        description="`files` are the objects in the bucket: the raw file, what was made of it, the context "
        "of a quarantine; of a photometry table its uploads too.",
        handle=_get_product,
        answers={200: "Product"},
    ),
    Operation(
        route="GET /novae/{nova_id}/products/{data_product_id}/spectrum",
        summary="The samples of a spectrum, for plotting",
        description="Each order is cut into equal pieces, and of each the lowest and the highest flux stay, "
        "so that a narrow line is as high as it was. Wavelengths are in metres, in `medium` and `frame` as "
        "the file has them. Only a VALID spectrum has samples.",
        handle=_get_spectrum,
        query=SpectrumParameters,
        answers={200: "Spectrum"},
    ),
    Operation(
        route="GET /novae/{nova_id}/photometry",
        summary="The light curve of a nova",
        description="Points in the order of time; `mjd` is of the point's own `time_system` and "
        "`time_scale`, which docs/photometry.md explains. `matched` counts what the filters let through, by "
        "band in `bands`; `thinned` says that `points` are fewer.",
        handle=_get_photometry,
        query=PhotometryParameters,
        answers={200: "Photometry"},
    ),
    Operation(
        route="GET /novae/{nova_id}/references",
        summary="The publications about a nova, newest first",
        description="`role` says what one is to the nova; `authors` are the first ten of `author_count`; "
        "`published_at` is as precise as is known; `link` leads to its page at ADS.",
        handle=_list_references,
        query=ReferenceParameters,
        answers={200: "ReferencePage"},
    ),
)
