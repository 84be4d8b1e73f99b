"""The operations that give light curves and spectra as files."""

from __future__ import annotations

import base64
from functools import partial
from typing import Final

from sourcebook.api import products
from sourcebook.api.operations import Operation, of_topic
from sourcebook.api.parts import Services
from sourcebook.api.requests import Request
from sourcebook.api.resources import CASE
from sourcebook.api.responses import Conflict, NotFound, Response, redirect
from sourcebook.novae.product_read import NothingToPlot
from sourcebook.novae.read import NovaReader

LARGEST_FILE: Final = 4_000_000
"""Bytes of a file that fit into an answer of Lambda, also where it cannot be compressed."""

LARGEST_HELD: Final = 3_000_000
"""Bytes of a quarantined file that fit into an answer as base64."""

_ALL_POINTS: Final = 10_000_000
_CSV_TYPE: Final = "text/csv; charset=utf-8; header=present"


def _download_spectrum_csv(services: Services, request: Request) -> Response:
    text = products.product_of(services, request, products.reader(services).spectrum_csv)
    return _file(text, _CSV_TYPE, f"{request.path['data_product_id']}.csv")


def _get_held_file(services: Services, request: Request) -> Response:
    reader = products.reader(services)
    try:
        file = CASE.of(request, lambda quarantine_id: reader.held_file(quarantine_id, LARGEST_HELD))
    except NothingToPlot as error:
        raise NotFound(str(error)) from error
    return Response(
        {
            "quarantine_id": CASE.name(request),
            "byte_length": file.whole,
            "is_whole": file.whole == len(file.body),
            "content": base64.b64encode(file.body).decode(),
        }
    )


def _file(text: str, content_type: str, name: str) -> Response:
    if len(text.encode()) > LARGEST_FILE:
        raise Conflict(
            "The file is too large for one answer. Take a part of a light curve with band, since and until; "
            "of a spectrum take spectrum.ecsv, which may be of any size.",
            "since",
        )
    return Response(
        text, content_type=content_type, headers={"content-disposition": f'attachment; filename="{name}"'}
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


def _curve_file(
    suffix: str,
    name: str,
    summary: str,
    description: str,
    *,
    media_type: str,
    saved_as: str = "",
) -> Operation:
    """Return the operation that gives a light curve as a file of a format."""

    def handle(services: Services, request: Request) -> Response:
        from sourcebook.lightcurves.written import FORMATS  # noqa: PLC0415 - seldom needed

        nova_id = products.nova_of(services, request)
        nova = NovaReader(services.table).get(nova_id) or {}
        asked = products.CurveParameters.of(request)
        found = products.points_of(services, request, nova_id, asked, most=_ALL_POINTS)
        text = FORMATS[suffix](found["items"], str(nova.get("primary_name") or nova_id))
        return _file(text, media_type, f"{request.path['nova_id']}{saved_as or suffix}")

    handle.__name__ = name
    return Operation(
        route=f"GET {_CURVE}{suffix}",
        summary=summary,
        description=description,
        handle=handle,
        query=products.CurveParameters,
        answers={200: "File"},
        more_problems=(409,),
        media_type=media_type.partition(";")[0],
    )


def _spectrum_link(suffix: str, name: str, summary: str, description: str, *, original: bool) -> Operation:
    """Return the operation that leads to a file of a spectrum."""

    def handle(services: Services, request: Request) -> Response:
        link = partial(products.reader(services).link, original=original)
        return redirect(products.product_of(services, request, link))

    handle.__name__ = name
    return Operation(
        route=f"GET {_SPECTRUM}{suffix}",
        summary=summary,
        description=f"{description}{_LINKED}",
        handle=handle,
        answers={302: "SignedLink"},
        volatile=True,
    )


_OF_NOVAE: Final = of_topic(
    "Novae",
    _curve_file(
        ".csv",
        "download_photometry_csv",
        "The light curve of a nova as CSV",
        _WHOLE,
        media_type=_CSV_TYPE,
    ),
    _curve_file(
        ".vot",
        "download_photometry_votable",
        "The light curve of a nova as a VOTable",
        f"Version 1.4, with units and UCDs. {_WHOLE}",
        media_type="application/x-votable+xml",
    ),
    _curve_file(
        ".aavso",
        "download_photometry_aavso",
        "The light curve of a nova in AAVSO's extended format",
        "Magnitudes in AAVSO's filters at Julian Dates. What the format cannot hold is left out, and a "
        "comment in the file counts it. More than 4 MB are refused with 409.",
        media_type="text/plain; charset=utf-8",
        saved_as=".aavso.txt",
    ),
    Operation(
        route=f"GET {_SPECTRUM}.csv",
        summary="All samples of a spectrum as CSV",
        description="Wavelengths in metres; a flux without a value is `nan`. More than 4 MB are refused with "
        "409.",
        handle=_download_spectrum_csv,
        answers={200: "File"},
        more_problems=(409,),
        media_type="text/csv",
    ),
    _spectrum_link(
        ".ecsv",
        "download_spectrum_ecsv",
        "All samples of a spectrum as ECSV, with units and UCDs",
        "`astropy.table.Table.read` reads it.",
        original=False,
    ),
    _spectrum_link(
        ".fits",
        "download_spectrum_fits",
        "The original file of a spectrum, byte for byte",
        "As it came from its archive.",
        original=True,
    ),
)
_OF_CASES: Final = of_topic(
    "Quarantine",
    Operation(
        route="GET /quarantine/{quarantine_id}/file",
        summary="The file of a quarantined spectrum",
        description="In base64: the header says what the reviewer decides by, the samples can be drawn in "
        "any unit. Of a file of more than 3 MB the first 3 MB; `is_whole` says so.",
        handle=_get_held_file,
        answers={200: "HeldFile"},
    ),
)
OPERATIONS: Final = (*_OF_NOVAE, *_OF_CASES)
