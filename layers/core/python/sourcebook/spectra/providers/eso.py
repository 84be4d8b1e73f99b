"""ESO's archive by its TAP service: the reduced spectra (Phase 3) whose field of view holds a position."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote

from sourcebook.errors import InvalidInput
from sourcebook.novae.coordinates import Position
from sourcebook.records.spectrum import Locator, LocatorKind
from sourcebook.spectra.providers.provider import (
    PRODUCTS_AT_MOST,
    ArchiveProvider,
    FoundProduct,
    Search,
    hints_of,
    moment_of,
    number_of,
    text_of,
    wavelengths_of,
)
from sourcebook.spectra.providers.votable import read_table

_COLUMNS: Final = tuple(
    "dp_id obs_collection instrument_name facility_name target_name obs_title obs_release_date "
    "proposal_id access_estsize t_min em_min em_max".split()
)
_QUESTION: Final = (
    "SELECT {columns} FROM ivoa.ObsCore WHERE dataproduct_type = 'spectrum' "
    "AND INTERSECTS(s_region, CIRCLE('ICRS', {ra:.7f}, {dec:.7f}, {radius:.7f})) = 1 ORDER BY dp_id"
)


class Eso(ArchiveProvider):
    """ESO's archive: the reduced spectra whose field of view touches the circle.

    A product that is not public yet has its release date; until then ESO answers 401 for its file.
    """

    async def ask(self, url: str, position: Position, radius_deg: float) -> Search:
        """Ask the TAP service at one address."""
        response = await self.archive.ask(
            url,
            params={
                "REQUEST": "doQuery",
                "LANG": "ADQL",
                "FORMAT": "json",
                "MAXREC": PRODUCTS_AT_MOST,
                "QUERY": question(position, radius_deg),
            },
        )
        answer = read_table(self.archive.name, response.body, PRODUCTS_AT_MOST)
        products, left_out = [], Counter({"unreadable": answer.unreadable})
        for row in answer.rows:
            try:
                products.append(read_product(row, self.files_url, self.archive.clock()))
            except InvalidInput:
                left_out["unreadable"] += 1
        return Search(answer.status, tuple(products), +left_out)


def question(position: Position, radius_deg: float) -> str:
    """Return the ADQL that asks for the spectra at a position."""
    return _QUESTION.format(
        columns=", ".join(_COLUMNS), ra=position.ra_deg, dec=position.dec_deg, radius=radius_deg
    )


def read_product(row: Mapping[str, Any], files_url: str, now: datetime) -> FoundProduct:
    """Return the product that a row of ObsCore describes.

    Raises:
        InvalidInput: if it has no ``dp_id``, without which there is no file.
    """
    dp_id = text_of(row.get("dp_id"), 500)
    if dp_id is None:
        raise InvalidInput("dp_id", row.get("dp_id"), "the id of a data product")
    released = moment_of(row.get("obs_release_date"))
    return FoundProduct(
        locators=(Locator(kind=LocatorKind.URL, value=f"{files_url.rstrip('/')}/{quote(dp_id, safe=':+')}"),),
        provider_product_id=dp_id,
        title=text_of(row.get("obs_title"), 500),
        collection=text_of(row.get("obs_collection")),
        instrument=text_of(row.get("instrument_name")),
        format="application/fits",
        release_date=released,
        auth_required=released is not None and released > now,
        observed_mjd=number_of(row.get("t_min")),
        wavelengths_m=wavelengths_of(row.get("em_min"), row.get("em_max")),
        hints=hints_of(
            instrument=row.get("instrument_name"),
            telescope=row.get("facility_name"),
            target=row.get("target_name"),
            proposal=row.get("proposal_id"),
            # ObsCore's estimate, in thousands of bytes: good for a list, not for a check.
            estimated_kilobytes=row.get("access_estsize"),
        ),
    )
