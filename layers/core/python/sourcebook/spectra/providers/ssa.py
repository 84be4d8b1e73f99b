"""Any service that speaks the Simple Spectral Access Protocol (SSA 1.1), amateurs' archives among them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from sourcebook.errors import InvalidInput
from sourcebook.novae.coordinates import Position
from sourcebook.records.spectrum import Locator, LocatorKind
from sourcebook.spectra.providers.provider import (
    PRODUCTS_AT_MOST,
    ArchiveProvider,
    FoundProduct,
    Search,
    hints_of,
    is_elsewhere,
    is_fits,
    moment_of,
    normalize_url,
    number_of,
    text_of,
    wavelengths_of,
)
from sourcebook.spectra.providers.votable import TableAnswer, read_table

_UTYPES: Final[Mapping[str, tuple[str, ...]]] = {
    "url": ("access.reference",),
    "format": ("access.format",),
    "size": ("access.size",),
    "id": ("curation.publisherdid", "dataid.datasetid", "dataid.creatordid"),
    "rights": ("curation.rights",),
    "title": ("dataid.title",),
    "collection": ("dataid.collection",),
    "instrument": ("dataid.instrument",),
    "creator": ("dataid.creator",),
    "target": ("target.name",),
    "place": ("char.spatialaxis.coverage.location.value", "target.pos"),
    "time": ("char.timeaxis.coverage.bounds.start", "char.timeaxis.coverage.location.value"),
    "wavelength_min": ("char.spectralaxis.coverage.bounds.start",),
    "wavelength_max": ("char.spectralaxis.coverage.bounds.stop",),
}
"""What we read of a row, by the utypes of SSA 1.1 (section 4.2), the best first."""
_PROPRIETARY: Final = frozenset({"proprietary", "secure", "private"})


class Ssa(ArchiveProvider):
    """One SSA service: the FITS spectra that it has within the circle.

    Rows that say they lie elsewhere are left out: many services answer with a wider circle than asked.
    """

    async def ask(self, url: str, position: Position, radius_deg: float) -> Search:
        """Ask the service at one address."""
        response = await self.archive.ask(
            url,
            params={
                "REQUEST": "queryData",
                "POS": f"{position.ra_deg:.7f},{position.dec_deg:.7f}",
                # SIZE is the diameter.
                "SIZE": f"{radius_deg * 2:.7f}",
                "MAXREC": PRODUCTS_AT_MOST,
            },
        )
        answer = read_table(self.archive.name, response.body, PRODUCTS_AT_MOST)
        columns = _columns(answer)
        products: list[FoundProduct] = []
        left_out = Counter({"unreadable": answer.unreadable})
        for row in answer.rows:
            values = {name: row.get(column) for name, column in columns.items()}
            place = re.split(r"[\s,]+", text_of(values.get("place")) or "")
            if not is_fits(text_of(values.get("format"))):
                left_out["not_fits"] += 1
            elif len(place) == 2 and is_elsewhere(place[0], place[1], position, radius_deg):
                left_out["elsewhere"] += 1
            else:
                try:
                    products.append(read_product(values))
                except InvalidInput:
                    left_out["unreadable"] += 1
        return Search(answer.status, tuple(products), +left_out)


def read_product(values: Mapping[str, Any]) -> FoundProduct:
    """Return the product that a row describes; the keys are those of our reading, not the service's.

    Raises:
        InvalidInput: if it has no http(s) address.
    """
    url = text_of(values.get("url"), 2_000) or ""
    normalize_url(url)
    time = number_of(values.get("time"))
    rights = (text_of(values.get("rights")) or "public").lower()
    return FoundProduct(
        locators=(Locator(kind=LocatorKind.URL, value=url),),
        provider_product_id=text_of(values.get("id"), 500),
        title=text_of(values.get("title"), 500),
        collection=text_of(values.get("collection")),
        instrument=text_of(values.get("instrument")),
        format=text_of(values.get("format")),
        release_date=None,
        auth_required=rights in _PROPRIETARY,
        observed_mjd=time if time is not None else _mjd(moment_of(values.get("time"))),
        wavelengths_m=wavelengths_of(values.get("wavelength_min"), values.get("wavelength_max")),
        hints=hints_of(
            instrument=values.get("instrument"),
            target=values.get("target"),
            creator=values.get("creator"),
            # SSA's estimate, in kilobytes: good for a list, not for a check.
            estimated_kilobytes=values.get("size"),
        ),
    )


def _columns(answer: TableAnswer) -> dict[str, str]:
    """Return which column holds what; a service that gives no utypes is read by the UCD of its address."""
    found: dict[str, str] = {}
    for name, utypes in _UTYPES.items():
        column = next((c for utype in utypes if (c := answer.named(utype=utype)) is not None), None)
        if column is not None:
            found[name] = column
    for name, ucd in (("url", "meta.ref.url"), ("format", "meta.code.mime")):
        if name not in found and (column := answer.named(ucd=ucd)) is not None:
            found[name] = column
    return found


def _mjd(moment: datetime | None) -> float | None:
    if moment is None:
        return None
    return moment.timestamp() / 86_400 + 40_587
