"""MAST, the archive of the space telescopes (HST, JWST, IUE, FUSE …): observations, then their files."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlencode

from sourcebook.errors import InvalidInput
from sourcebook.novae.coordinates import Position
from sourcebook.novae.resolvers.archive import ArchiveRejected, ArchiveStatus, ArchiveUnavailable
from sourcebook.records.spectrum import Locator, LocatorKind
from sourcebook.spectra.providers.provider import (
    PRODUCTS_AT_MOST,
    ArchiveProvider,
    FoundProduct,
    Search,
    hints_of,
    is_elsewhere,
    moment_of,
    number_of,
    text_of,
    wavelengths_of,
)

OBSERVATIONS_A_QUESTION: Final = 50
"""Observations whose files are asked for at once: the question travels in the address."""
LOOKS: Final = 5
"""How often a question that MAST is still working on is asked again."""
LOOK_EVERY: Final = 2.0

_ONE_DIMENSIONAL: Final = frozenset(
    {"X1D", "X1DSUM", "X1DINTS", "SX1", "C1D", "MXLO", "MXHI", "VO", "SPEC", "CSPEC", "ASPEC", "HLSP"}
)
"""MAST's productSubGroupDescription of files that hold extracted spectra, and not the frames before them."""
_FITS: Final = re.compile(r"\.(?:fits|fit|mxlo|mxhi)(?:\.gz)?$", re.IGNORECASE)
_NANOMETRES: Final = 1e-9


class Mast(ArchiveProvider):
    """MAST: the extracted spectra of the observations that point within the circle."""

    async def ask(self, url: str, position: Position, radius_deg: float) -> Search:
        """Ask the API at one address, ``…/invoke``."""
        found, truncated = await self._invoke(
            url,
            "Mast.Caom.Filtered.Position",
            {
                "columns": "*",
                "filters": [{"paramName": "dataproduct_type", "values": ["spectrum"]}],
                "position": f"{position.ra_deg:.7f}, {position.dec_deg:.7f}, {radius_deg:.7f}",
            },
        )
        left_out: Counter[str] = Counter()
        observations: dict[str, Mapping[str, Any]] = {}
        for row in found:
            number = text_of(row.get("obsid")) if isinstance(row, Mapping) else None
            if number is None:
                left_out["unreadable"] += 1
            elif is_elsewhere(row.get("s_ra"), row.get("s_dec"), position, radius_deg):
                left_out["elsewhere"] += 1
            else:
                observations.setdefault(number, row)
        products: list[FoundProduct] = []
        ids = sorted(observations)
        for start in range(0, len(ids), OBSERVATIONS_A_QUESTION):
            files, more = await self._invoke(
                url, "Mast.Caom.Products", {"obsid": ",".join(ids[start : start + OBSERVATIONS_A_QUESTION])}
            )
            truncated = truncated or more
            for row in files:
                if not isinstance(row, Mapping):
                    left_out["unreadable"] += 1
                elif not is_spectrum_file(row):
                    left_out["not_a_spectrum"] += 1
                else:
                    observation = observations.get(text_of(row.get("obsID")) or "", {})
                    try:
                        products.append(read_product(row, observation, self.files_url, self.archive.clock()))
                    except InvalidInput:
                        left_out["unreadable"] += 1
        return Search(
            ArchiveStatus.TRUNCATED if truncated or len(products) > PRODUCTS_AT_MOST else ArchiveStatus.OK,
            tuple(products[:PRODUCTS_AT_MOST]),
            left_out,
        )

    async def _invoke(self, url: str, service: str, params: Mapping[str, Any]) -> tuple[list[Any], bool]:
        """Return the rows of an answer, and whether there are more."""
        question = {
            "service": service,
            "params": params,
            "format": "json",
            "pagesize": PRODUCTS_AT_MOST * 10,
            "page": 1,
            "timeout": 20,
        }
        for look in range(LOOKS):
            if look:
                await self.archive.sleep(LOOK_EVERY)
            response = await self.archive.ask(
                url, params={"request": json.dumps(question, separators=(",", ":"))}
            )
            answer = _read(self.archive.name, response.body)
            match str(answer.get("status", "COMPLETE")).upper():
                case "COMPLETE":
                    return _rows(self.archive.name, answer)
                case "EXECUTING" | "PENDING":
                    continue
                case _:
                    reason = text_of(answer.get("msg")) or "no reason given"
                    raise ArchiveRejected(self.archive.name, f"{service}: {reason}")
        raise ArchiveUnavailable(self.archive.name, f"{service} was not done after {LOOKS} looks")


def read_product(
    row: Mapping[str, Any], observation: Mapping[str, Any], files_url: str, now: datetime
) -> FoundProduct:
    """Return the product that a row of ``Mast.Caom.Products`` describes, with what its observation says.

    Raises:
        InvalidInput: if it has no ``dataURI``, without which there is no file.
    """
    uri = text_of(row.get("dataURI"), 500)
    if uri is None:
        raise InvalidInput("dataURI", row.get("dataURI"), "the URI of a file")
    rights = (text_of(row.get("dataRights")) or text_of(observation.get("dataRights")) or "PUBLIC").upper()
    released = moment_of(observation.get("t_obs_release"))
    size = number_of(row.get("size"))
    span = wavelengths_of(observation.get("em_min"), observation.get("em_max"))
    instrument = text_of(observation.get("instrument_name"))
    return FoundProduct(
        locators=(Locator(kind=LocatorKind.URL, value=f"{files_url}?{urlencode({'uri': uri})}"),),
        provider_product_id=uri,
        title=text_of(observation.get("obs_title"), 500),
        collection=text_of(row.get("obs_collection")),
        instrument=instrument,
        format="application/fits",
        byte_length=int(size) if size is not None and size > 0 else None,
        release_date=released,
        auth_required=rights not in {"PUBLIC", "OPEN"} or (released is not None and released > now),
        observed_mjd=number_of(observation.get("t_min")),
        # MAST's CAOM gives nanometres where ObsCore has metres.
        wavelengths_m=None if span is None else (span[0] * _NANOMETRES, span[1] * _NANOMETRES),
        hints=hints_of(
            instrument=instrument,
            telescope=row.get("obs_collection"),
            target=observation.get("target_name"),
            proposal=observation.get("proposal_id"),
            observation=row.get("obs_id"),
            kind=row.get("productSubGroupDescription"),
        ),
    )


def is_spectrum_file(row: Mapping[str, Any]) -> bool:
    """Whether a file of an observation holds extracted spectra: SCIENCE, one-dimensional, FITS."""
    name = text_of(row.get("productFilename")) or text_of(row.get("dataURI")) or ""
    return (
        text_of(row.get("productType")) == "SCIENCE"
        and (text_of(row.get("productSubGroupDescription")) or "").upper() in _ONE_DIMENSIONAL
        and _FITS.search(name) is not None
    )


def _read(archive: str, body: bytes) -> Mapping[str, Any]:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ArchiveUnavailable(archive, "the answer is not MAST's JSON") from error
    if not isinstance(answer, dict):
        raise ArchiveUnavailable(archive, "the answer is not MAST's JSON: no object")
    return answer


def _rows(archive: str, answer: Mapping[str, Any]) -> tuple[list[Any], bool]:
    rows = answer.get("data")
    if not isinstance(rows, list):
        raise ArchiveUnavailable(archive, "the answer is not MAST's JSON: no data")
    paging = answer.get("paging")
    total = number_of(paging.get("rowsFiltered")) if isinstance(paging, dict) else None
    return rows, total is not None and total > len(rows)
