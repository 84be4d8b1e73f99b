"""The operations on data products: spectra, and the light curve of a nova."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from sourcebook.api.operations import Operation
from sourcebook.api.parameters import CURSOR, LIMIT, Choice, Parameter, Text, Whole, page_size
from sourcebook.api.parts import Means
from sourcebook.api.requests import Request
from sourcebook.api.responses import NotFound, Response, listed
from sourcebook.errors import InvalidInput, shorten
from sourcebook.novae.product_read import (
    PRODUCT_TYPES,
    VALIDATION_STATUSES,
    NothingToPlot,
    ProductReader,
)
from sourcebook.novae.read import NovaReader
from sourcebook.novae.reference_read import ROLES, ReferenceReader

if TYPE_CHECKING:
    from datetime import datetime

_BANDS_AT_MOST: Final = 30
_POINTS: Final = 2_000


@dataclass(frozen=True, kw_only=True)
class Epoch(Parameter[float]):
    """A moment as a Modified Julian Date, or as a time or a date, which becomes one."""

    def read(self, request: Request) -> float:
        """Read either form."""
        from sourcebook.lightcurves.times import mjd_of  # noqa: PLC0415 - 4 ms of each start, and seldom needed

        text = request.query[self.name]
        if re.fullmatch(r"[+-]?\d{1,7}(\.\d{1,12})?", text.strip(), re.ASCII):
            return float(text)
        try:
            moment = cast("datetime", request.moment(self.name))
        except InvalidInput as error:
            raise InvalidInput(
                self.name, text, f"a Modified Julian Date such as 56079.5, or {error.expected}"
            ) from error
        return float(mjd_of(moment))

    def schema(self) -> dict[str, Any]:
        """Return all three forms."""
        forms = [{"pattern": r"^[+-]?\d{1,7}(\.\d{1,12})?$"}, {"format": "date-time"}, {"format": "date"}]
        return {"type": "string", "anyOf": forms}


@dataclass(frozen=True, kw_only=True)
class Bands(Parameter[frozenset[str]]):
    """Pass bands with commas between them, in any spelling."""

    def read(self, request: Request) -> frozenset[str]:
        """Read them under their canonical names."""
        from sourcebook.lightcurves.bands import read_band  # noqa: PLC0415 - as above

        parts = request.query[self.name].split(",")
        if len(parts) > _BANDS_AT_MOST:
            raise InvalidInput(self.name, request.query[self.name], f"at most {_BANDS_AT_MOST} bands")
        return frozenset(read_band(self.name, part) for part in parts)

    def schema(self) -> dict[str, Any]:
        """Return its form."""
        return {"type": "string", "format": "bands", "minLength": 1, "maxLength": 300}


_TYPE: Final = Choice(name="product_type", description="Only products of this type.", values=PRODUCT_TYPES)
_PROVIDER: Final = Text(
    name="provider",
    description="Only spectra from there.",
    longest=30,
    pattern="[A-Z][A-Z0-9_-]{1,29}",
    expected="the name of a provider such as ESO",
    example="ESO",
)
_STATUS: Final = Choice(
    name="validation_status",
    description="Only spectra that have come so far.",
    values=VALIDATION_STATUSES,
)
_ROLE: Final = Choice(name="role", description="Only publications that are this to the nova.", values=ROLES)
_SPECTRUM_POINTS: Final = Whole(
    name="points",
    description="How many samples there are at most, in all orders together.",
    least=2,
    most=20_000,
    default=_POINTS,
)
_CURVE_POINTS: Final = Whole(
    name="points",
    description="How many points there are at most. When more match, each band gets its share, with its "
    "first and last point and the brightest and faintest of each stretch between.",
    least=10,
    most=10_000,
    default=_POINTS,
)
_BAND: Final = Bands(
    name="band",
    description="Only these bands, with commas between them, in any spelling; all without it.",
    example="V,B",
)
_SINCE: Final = Epoch(
    name="since",
    description="From this moment, included: a Modified Julian Date, or a time or date.",
    example="56079.5",
)
_UNTIL: Final = Epoch(
    name="until", description="Up to this moment, excluded: likewise.", example="2012-07-01"
)
_LIMITS: Final = Choice(
    name="include_upper_limits",
    description="Whether there are upper limits too.",
    values=("true", "false"),
    default="true",
)
CURVE_FILTERS: Final = (_BAND, _SINCE, _UNTIL, _LIMITS)


@dataclass(frozen=True, slots=True)
class ProductsApi:
    """What these operations read from."""

    novae: NovaReader
    products: ProductReader
    references: ReferenceReader


def make(means: Means) -> ProductsApi:
    """Make it."""
    return ProductsApi(
        NovaReader(means.table), ProductReader(means.table, means.objects), ReferenceReader(means.table)
    )


def list_products(api: ProductsApi, request: Request) -> Response:
    """GET /novae/{nova_id}/products."""
    page = api.products.page(
        nova_of(api, request),
        product_type=_TYPE.of(request),
        provider=_PROVIDER.of(request),
        validation_status=_STATUS.of(request),
        limit=page_size(request),
        cursor=CURSOR.of(request),
    )
    return listed(page)


def get_product(api: ProductsApi, request: Request) -> Response:
    """GET /novae/{nova_id}/products/{data_product_id}."""
    nova_id, product_id = nova_of(api, request), request.path.get("data_product_id", "")
    product = api.products.get(nova_id, product_id)
    if product is None:
        raise no_product(nova_id, product_id)
    return Response(product)


def get_spectrum(api: ProductsApi, request: Request) -> Response:
    """GET /novae/{nova_id}/products/{data_product_id}/spectrum."""
    nova_id, product_id = nova_of(api, request), request.path.get("data_product_id", "")
    try:
        spectrum = api.products.spectrum(nova_id, product_id, _SPECTRUM_POINTS.of(request) or _POINTS)
    except NothingToPlot as error:
        raise NotFound(str(error)) from error
    if spectrum is None:
        raise no_product(nova_id, product_id)
    return Response(spectrum)


def get_photometry(api: ProductsApi, request: Request) -> Response:
    """GET /novae/{nova_id}/photometry."""
    nova_id = nova_of(api, request)
    return Response(points_of(api, request, nova_id, most=_CURVE_POINTS.of(request) or _POINTS))


def list_references(api: ProductsApi, request: Request) -> Response:
    """GET /novae/{nova_id}/references."""
    page = api.references.page(
        nova_of(api, request),
        role=_ROLE.of(request),
        limit=page_size(request),
        cursor=CURSOR.of(request),
    )
    return listed(page)


def points_of(api: ProductsApi, request: Request, nova_id: str, *, most: int) -> dict[str, Any]:
    """Return the points of a light curve that `CURVE_FILTERS` let through, thinned out to `most`."""
    since, until = _SINCE.of(request), _UNTIL.of(request)
    if since is not None and until is not None and since >= until:
        raise InvalidInput("until", request.query["until"], "a moment after since")
    return api.products.photometry(
        nova_id,
        bands=_BAND.of(request),
        since=since,
        until=until,
        upper_limits=_LIMITS.of(request) != "false",
        most=most,
    )


def nova_of(api: ProductsApi, request: Request) -> str:
    """Return the id of the nova that is asked about, or that it was merged into.

    Raises:
        NotFound: if there is none.
    """
    nova_id = request.path.get("nova_id", "")
    found = api.novae.leads_to(nova_id)
    if found is None:
        raise NotFound(
            f"There is no nova {shorten(nova_id)}. GET /novae?name= finds one by any of its names."
        )
    return found


def no_product(nova_id: str, product_id: str) -> NotFound:
    """Return the problem that a nova has no such product."""
    return NotFound(
        f"The nova has no data product {shorten(product_id)}. GET /novae/{nova_id}/products lists them."
    )


TOPIC: Final = "Novae"

OPERATIONS: Final = (
    Operation(
        method="GET",
        path="/novae/{nova_id}/products",
        name="listProducts",
        topic=TOPIC,
        summary="The data products of a nova",
        description="Its photometry table, then its spectra by provider. docs/novae.md says what the states "
        "mean; fields that a product does not have are null.",
        act=list_products,
        parameters=(_TYPE, _PROVIDER, _STATUS, LIMIT, CURSOR),
        answers={200: "ProductPage"},
        problems=(404,),
    ),
    Operation(
        method="GET",
        path="/novae/{nova_id}/products/{data_product_id}",
        name="getProduct",
        topic=TOPIC,
        summary="One data product with its files",
        description="`files` are the objects in the bucket: the raw file, what was made of it, the context "
        "of a quarantine; of a photometry table its uploads too.",
        act=get_product,
        answers={200: "Product"},
        problems=(404,),
    ),
    Operation(
        method="GET",
        path="/novae/{nova_id}/products/{data_product_id}/spectrum",
        name="getSpectrum",
        topic=TOPIC,
        summary="The samples of a spectrum, for plotting",
        description="Each order is cut into equal pieces, and of each the lowest and the highest flux stay, "
        "so that a narrow line is as high as it was. Wavelengths are in metres, in `medium` and `frame` as "
        "the file has them. Only a VALID spectrum has samples.",
        act=get_spectrum,
        parameters=(_SPECTRUM_POINTS,),
        answers={200: "Spectrum"},
        problems=(404,),
    ),
    Operation(
        method="GET",
        path="/novae/{nova_id}/photometry",
        name="getPhotometry",
        topic=TOPIC,
        summary="The light curve of a nova",
        description="Points in the order of time; `mjd` is of the point's own `time_system` and "
        "`time_scale`, which docs/photometry.md explains. `matched` counts what the filters let through, by "
        "band in `bands`; `thinned` says that `points` are fewer.",
        act=get_photometry,
        parameters=(*CURVE_FILTERS, _CURVE_POINTS),
        answers={200: "Photometry"},
        problems=(404,),
    ),
    Operation(
        method="GET",
        path="/novae/{nova_id}/references",
        name="listReferences",
        topic=TOPIC,
        summary="The publications about a nova, newest first",
        description="`role` says what one is to the nova; `authors` are the first ten of `author_count`; "
        "`published_at` is as precise as is known; `link` leads to its page at ADS.",
        act=list_references,
        parameters=(_ROLE, LIMIT, CURSOR),
        answers={200: "ReferencePage"},
        problems=(404,),
    ),
)
