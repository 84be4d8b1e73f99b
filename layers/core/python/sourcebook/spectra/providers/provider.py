"""What every provider of spectra is asked, and what it answers: products, and how it took the question."""

from __future__ import annotations

import hashlib
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple, Protocol
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from sourcebook.errors import InvalidInput
from sourcebook.novae.coordinates import Position, separation_arcsec
from sourcebook.novae.resolvers.archive import Archive, ArchiveRejected, ArchiveStatus, ArchiveUnavailable
from sourcebook.records.spectrum import IdentityKind, Locator, LocatorKind

PRODUCTS_AT_MOST: Final = 1_000
"""Products taken from one provider for one nova; the best observed nova has a few hundred."""

_IDENTITY_LIMIT: Final = 900
_MJD_ZERO: Final = datetime(1858, 11, 17, tzinfo=UTC)
_PORTS: Final = {"http": 80, "https": 443}


class ProductIdentity(NamedTuple):
    """The identity of a product among those of its provider."""

    kind: IdentityKind
    text: str


@dataclass(frozen=True, slots=True)
class FoundProduct:
    """One spectrum as a provider describes it.

    Attributes:
        locators: where its bytes are, the first the one to ask first.
        provider_product_id: the provider's own id; None if it gives none.
        format: media type, as the provider says it.
        byte_length: of the file, exactly; None when the provider gives an estimate or nothing.
        sha256: of the file, when whoever hands it in says so.
        release_date: when it becomes public, if it is not yet.
        auth_required: whether its bytes need a login today.
        observed_mjd: beginning of the observation, modified Julian date.
        wavelengths_m: from, to, in metres.
        hints: small facts for whoever chooses a profile or looks at the product.
        provenance: who gave it, and under what terms; a donation has it.
    """

    locators: tuple[Locator, ...]
    provider_product_id: str | None = None
    title: str | None = None
    collection: str | None = None
    instrument: str | None = None
    format: str | None = None
    byte_length: int | None = None
    sha256: str | None = None
    release_date: datetime | None = None
    auth_required: bool = False
    observed_mjd: float | None = None
    wavelengths_m: tuple[float, float] | None = None
    hints: Mapping[str, str] = field(default_factory=dict)
    provenance: Mapping[str, str] | None = None

    def identities(self) -> Sequence[ProductIdentity]:
        """Return what it can be recognized by, the best first; there is at least one."""
        found = []
        if self.provider_product_id:
            found.append(
                ProductIdentity(
                    IdentityKind.NATIVE_ID, _bounded("provider_product_id", self.provider_product_id)
                )
            )
        if self.instrument and self.observed_mjd is not None and self.wavelengths_m is not None:
            # Instrument and time alone are not enough: one exposure gives a file for each arm.
            key = "|".join(
                (
                    (self.collection or "").casefold(),
                    self.instrument.casefold(),
                    f"{self.observed_mjd:.5f}",
                    *(f"{wavelength * 1e9:.2f}" for wavelength in self.wavelengths_m),
                )
            )
            found.append(ProductIdentity(IdentityKind.METADATA_KEY, _bounded("metadata", key)))
        found += [
            ProductIdentity(IdentityKind.WEAK, _bounded("url", normalize_url(locator.value)))
            for locator in self.locators
            if locator.kind is LocatorKind.URL
        ]
        if not found:
            found.append(ProductIdentity(IdentityKind.WEAK, _bounded("s3", self.locators[0].value)))
        return found


@dataclass(frozen=True, slots=True)
class Search:
    """A provider's answer.

    Attributes:
        status: TRUNCATED when it has more than it gave; RATE_LIMITED and DOWN may be asked again later,
            REJECTED not.
        products: what it has, also when only part of it could be read.
        left_out: how many entries were no product for us, by the reason: ``unreadable``, ``not_fits``,
            ``elsewhere`` on the sky, and so on.
        detail: why it did not answer, in words.
        retry_after: aware UTC time before which it does not want to be asked again.
    """

    status: ArchiveStatus
    products: tuple[FoundProduct, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    detail: str = ""
    retry_after: datetime | None = None


class Provider(Protocol):
    """A place that has spectra."""

    async def search(self, position: Position, radius_deg: float) -> Search:
        """Return what it has within `radius_deg` of a position. Never raises for what the provider does."""


@dataclass(frozen=True, slots=True)
class ArchiveProvider(ABC):
    """An archive whose service has spectra.

    Attributes:
        urls: addresses of the service, the mirrors after the first.
        files_url: where its files are; empty if it gives whole addresses.
    """

    archive: Archive
    urls: Sequence[str]
    files_url: str = ""

    async def search(self, position: Position, radius_deg: float) -> Search:
        """Ask one address after the other until one is able to answer.

        A refusal is final: the mirrors hold the same and would refuse the same question.
        """
        last = Search(ArchiveStatus.DOWN, detail="no address is configured")
        for url in self.urls:
            try:
                return await self.ask(url, position, radius_deg)
            except ArchiveUnavailable as error:
                last = Search(error.status, detail=str(error), retry_after=error.retry_after)
            except ArchiveRejected as error:
                return Search(ArchiveStatus.REJECTED, detail=str(error))
        return last

    @abstractmethod
    async def ask(self, url: str, position: Position, radius_deg: float) -> Search:
        """Return what the service at one address has.

        Raises:
            ArchiveUnavailable: if it does not answer now.
            ArchiveRejected: if it refused the question.
        """


def is_elsewhere(ra: object, dec: object, position: Position, radius_deg: float) -> bool:
    """Whether an entry says that it lies outside the circle; one that says nothing is taken."""
    longitude, latitude = number_of(ra), number_of(dec)
    if longitude is None or latitude is None or not -90 <= latitude <= 90:
        return False
    return separation_arcsec(position, Position(longitude % 360, latitude)) > radius_deg * 3600


def normalize_url(url: str) -> str:
    """Return one text for the addresses that mean the same resource.

    Host in lower case, no default port, no fragment, one way of escaping, query parameters in order, and
    http written as https: archives move from one to the other and keep their files.

    Raises:
        InvalidInput: if it is no http(s) address.
    """
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, urlsplit("")
    if parts.scheme.lower() not in _PORTS or not host:
        raise InvalidInput("access_url", url, "an http or https address")
    shown_port = "" if port in {None, _PORTS[parts.scheme.lower()]} else f":{port}"
    path = quote(unquote(parts.path), safe="/:@!$&'()*+,;=~") or "/"
    query = urlencode(sorted(parse_qsl(parts.query, keep_blank_values=True)))
    return f"https://{host}{shown_port}{path}" + (f"?{query}" if query else "")


def text_of(value: object, limit: int = 200) -> str | None:
    """Return a provider's value as a text without edges; None for nothing and for what says nothing."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    text = " ".join(str(value).split())
    return text[:limit] if text and text.lower() not in {"nan", "null", "none", "--", "n/a"} else None


def number_of(value: object) -> float | None:
    """Return a provider's value as a finite number; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def moment_of(value: object) -> datetime | None:
    """Return a provider's date as aware UTC time; archives write ISO 8601 in UTC, mostly without a zone.

    A number is a modified Julian date. None for nothing and for what is no date.
    """
    number = number_of(value)
    if number is not None:
        return _MJD_ZERO + timedelta(days=number) if 0 < number < 100_000 else None
    text = text_of(value)
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(re.sub(r"\s+", "T", text))
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def wavelengths_of(low: object, high: object) -> tuple[float, float] | None:
    """Return a range in metres if both ends are one and in order."""
    start, stop = number_of(low), number_of(high)
    if start is None or stop is None or not 0 < start <= stop:
        return None
    return start, stop


def hints_of(**values: Any) -> dict[str, str]:  # noqa: ANN401 - an archive's values
    """Return those facts that say something, as short texts."""
    return {name: text for name, value in values.items() if (text := text_of(value)) is not None}


def is_fits(*texts: str | None) -> bool:
    """Whether a media type, or else a file name, is that of a FITS file, compressed or not.

    A provider that gives neither leaves it open, and the file is looked at.
    """
    given = [text.lower() for text in texts if text]
    return not given or any(re.search(r"fits|\bfit\b|\.f(?:it|ts|z)\b", text) for text in given)


def _bounded(prefix: str, text: str) -> str:
    """Return an identity that fits into a key, whatever a provider calls its products."""
    identity = f"{prefix}:{text.strip()}"
    if len(identity.encode()) <= _IDENTITY_LIMIT:
        return identity
    return f"{prefix}:sha256:{hashlib.sha256(text.strip().encode()).hexdigest()}"
