"""Asking an archive: its addresses, its wishes, and the many ways in which it says no."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

from sourcebook.clock import Clock, epoch_seconds, isoformat, parse_iso, utc_now
from sourcebook.errors import Retryable, Terminal
from sourcebook.http.client import HttpClient, Params
from sourcebook.http.errors import FetchError
from sourcebook.http.policy import HttpPolicy, parse_networks
from sourcebook.http.response import HttpResponse
from sourcebook.table import keys
from sourcebook.table.client import Table

PUBLIC_ADDRESSES: Final[Mapping[str, tuple[str, ...]]] = {
    "simbad": (
        "https://simbad.cds.unistra.fr/simbad/sim-tap/sync",
        "https://simbad.u-strasbg.fr/simbad/sim-tap/sync",
        "https://simbad.cfa.harvard.edu/simbad/sim-tap/sync",
    ),
    "sesame": ("https://cds.unistra.fr/cgi-bin/nph-sesame",),
    "ads": ("https://api.adsabs.harvard.edu/v1",),
    "tns": ("https://www.wis-tns.org/api/get",),
}
"""Where the archives are asked, the mirrors after the first; `addresses` may say otherwise."""

PAUSE_PER_HOST: Final = 0.2
"""Seconds between two requests to one host: SIMBAD answers at most eight a second and bars who asks more."""
LONGEST_WAIT: Final = timedelta(seconds=20)
"""How long a task waits for an archive that wants to be left alone; a longer wish is a failed attempt."""
LONGEST_PAUSE: Final = timedelta(hours=24)

_HTML = re.compile(rb"<!doctype html|<html[\s>]", re.IGNORECASE)
_VOTABLE = re.compile(rb"<(?:\w+:)?VOTABLE[\s>]")
# None of these goes back over what it has read, nor beyond the next "<": the time is that of reading once.
_INFO = re.compile(rb"""<(?:\w{1,40}+:)?+INFO\b((?:[^<>"']|"[^"<]*+"|'[^'<]*+')*+)>""")
_ATTRIBUTE = re.compile(rb"""(?<!\w)(\w++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)')""")
_LONGEST_REASON = 2_000
"""Bytes after an INFO that are looked at for the service's own words."""


class ArchiveStatus(StrEnum):
    """The status of an archive's answer."""

    OK = "OK"
    TRUNCATED = "TRUNCATED"
    RATE_LIMITED = "RATE_LIMITED"
    DOWN = "DOWN"
    REJECTED = "REJECTED"


class ArchiveUnavailable(Retryable):
    """An archive does not answer, answers something else, or wants to be left alone.

    Attributes:
        status: RATE_LIMITED or DOWN.
        retry_after: aware UTC time before which it does not want to be asked, if it says so.
    """

    def __init__(
        self,
        archive: str,
        detail: str,
        status: ArchiveStatus = ArchiveStatus.DOWN,
        retry_after: datetime | None = None,
    ) -> None:
        self.status = status
        self.retry_after = retry_after
        later = f"; not before {isoformat(retry_after)}" if retry_after else ""
        super().__init__(f"{archive} {status.value}: {detail}{later}")


class ArchiveRejected(Terminal):
    """An archive refused the question itself; asking it again is no use."""

    def __init__(self, archive: str, detail: str) -> None:
        super().__init__(f"{archive} REJECTED: {detail}")


@dataclass(frozen=True, slots=True)
class Archive:
    """One archive, asked politely.

    Attributes:
        name: one of `PUBLIC_ADDRESSES`.
        http: the project's client, made with `PAUSE_PER_HOST`.
        table: where the archive's wish to be left alone is kept, for all functions.
    """

    name: str
    http: HttpClient
    table: Table
    clock: Clock = utc_now
    sleep: Callable[[float], Awaitable[None]] = field(default=asyncio.sleep)

    async def ask(
        self,
        url: str,
        *,
        params: Params | None = None,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
    ) -> HttpResponse:
        """Return an answer with status 2xx that is no HTML page; with `content` it is sent, by POST.

        Waits when that address has asked for it, up to `LONGEST_WAIT`.

        Raises:
            ArchiveUnavailable: if it does not answer so now.
            ArchiveRejected: if it refused.
        """
        parts = urlsplit(url)
        address = f"{parts.netloc}{parts.path}"
        await self._wait(address)
        try:
            if content is None:
                response = await self.http.get(url, params=params, headers=headers)
            else:
                response = await self.http.post(url, content, headers=headers)
        except FetchError as error:
            if isinstance(error, Retryable):
                raise ArchiveUnavailable(self.name, str(error)) from error
            raise ArchiveRejected(self.name, str(error)) from error
        self._check(response, address)
        return response

    def _check(self, response: HttpResponse, address: str) -> None:
        answered = f"{address} answered status {response.status}"
        if response.status == 429 or (response.status == 503 and response.retry_after):
            until = response.retry_after or self._reset(response)
            if until is not None:
                self._remember(address, until)
            raise ArchiveUnavailable(self.name, answered, ArchiveStatus.RATE_LIMITED, until)
        if response.status in {408, 425} or response.status >= 500:
            raise ArchiveUnavailable(self.name, answered)
        if _HTML.search(response.body[:2_000]):
            # Who asks too often is shown a page; so is everybody during maintenance.
            raise ArchiveUnavailable(self.name, f"{address} answered an HTML page in place of data")
        if _VOTABLE.search(response.body[:2_000]):
            check_votable(self.name, response.body)
        elif not response.is_success:
            raise ArchiveRejected(self.name, answered)
        elif response.headers.get("x-rate-limit-remaining") == "0" and (until := self._reset(response)):
            # The last request of this minute: the next would be refused.
            self._remember(address, until)

    def _reset(self, response: HttpResponse) -> datetime | None:
        """Return when TNS's limit begins anew, which it says in seconds from now."""
        seconds = response.headers.get("x-rate-limit-reset", "")
        return self.clock() + timedelta(seconds=int(seconds)) if re.fullmatch("[0-9]{1,6}", seconds) else None

    async def _wait(self, address: str) -> None:
        item = self.table.get(keys.archive_pause(address))
        if item is None:
            return
        until = parse_iso(item["until"])
        left = until - self.clock()
        if left > LONGEST_WAIT:
            detail = f"{address} has asked to be left alone"
            raise ArchiveUnavailable(self.name, detail, ArchiveStatus.RATE_LIMITED, until)
        if left > timedelta(0):
            await self.sleep(left.total_seconds())

    def _remember(self, address: str, until: datetime) -> None:
        until = min(until, self.clock() + LONGEST_PAUSE)
        self.table.put(
            {
                **keys.archive_pause(address),
                "entity_type": "ArchivePause",
                "schema_version": "1",
                "until": isoformat(until + timedelta(seconds=0.999)),
                "ttl_timestamp": epoch_seconds(until) + 3600,
            }
        )


def archive_policy(environ: Mapping[str, str] = os.environ) -> HttpPolicy:
    """Return how archives are asked: slowly enough for SIMBAD, and patiently.

    Raises:
        InvalidInput: if HTTP_ALLOWED_NETWORKS or HTTP_CONTACT of the environment is not valid.
    """
    return HttpPolicy(
        contact=environ.get("HTTP_CONTACT", ""),
        allowed_networks=parse_networks(environ.get("HTTP_ALLOWED_NETWORKS", "")),
        pause_per_host=PAUSE_PER_HOST,
        max_concurrent_per_host=1,
        read_timeout=20,
        total_timeout=30,
    )


def check_votable(archive: str, body: bytes) -> ArchiveStatus:
    """Return what a VOTable says of itself: OK, or TRUNCATED when not all rows are in it.

    TAP and SSA report errors inside a VOTable, often with status 200 (DALI 1.1, section 4.4.1).

    Raises:
        ArchiveRejected: if it says ERROR, with the service's own words.
    """
    status = ArchiveStatus.OK
    for info in _INFO.finditer(body):
        values = {name.lower(): one or other for name, one, other in _ATTRIBUTE.findall(info[1])}
        if values.get(b"name", b"").upper() != b"QUERY_STATUS":
            continue
        match values.get(b"value", b"").upper():
            case b"ERROR":
                after = b"" if info[1].endswith(b"/") else body[info.end() : info.end() + _LONGEST_REASON]
                words = after.partition(b"</")[0]
                reason = " ".join(words.decode("utf-8", "replace").split())[:200]
                raise ArchiveRejected(archive, f"QUERY_STATUS ERROR: {reason or 'no reason given'}")
            case b"OVERFLOW":
                status = ArchiveStatus.TRUNCATED
    return status


def addresses(table: Table, archive: str) -> Sequence[str]:
    """Return where an archive is asked: as the table's settings say, or else its public addresses."""
    settings = table.get(keys.ARCHIVE_ADDRESSES) or {}
    chosen = settings.get(archive)
    return list(chosen) if chosen else PUBLIC_ADDRESSES[archive]


def set_addresses(table: Table, chosen: Mapping[str, Sequence[str]]) -> None:
    """Set the addresses of archives, such as a mirror or a service on this machine.

    Raises:
        KeyError: for an archive that is not one of `PUBLIC_ADDRESSES`.
    """
    if unknown := set(chosen) - set(PUBLIC_ADDRESSES):
        raise KeyError(
            f"no archive {', '.join(sorted(unknown))}; the archives are {', '.join(PUBLIC_ADDRESSES)}"
        )
    table.put(
        {
            **keys.ARCHIVE_ADDRESSES,
            "entity_type": "ArchiveAddresses",
            "schema_version": "1",
            **{name: list(urls) for name, urls in chosen.items()},
        }
    )
