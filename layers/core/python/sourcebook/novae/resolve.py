"""Resolve a name by asking the archives in turn; nothing is guessed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final

from sourcebook.clock import Clock, epoch_seconds, isoformat, parse_iso, utc_now
from sourcebook.errors import InvalidInput
from sourcebook.http.client import HttpClient
from sourcebook.novae.names import display_name, normalize_name, spellings
from sourcebook.novae.resolvers.archive import Archive, ArchiveRejected, ArchiveUnavailable, addresses
from sourcebook.novae.resolvers.identity import Identity
from sourcebook.novae.resolvers.sesame import Sesame
from sourcebook.novae.resolvers.simbad import Simbad
from sourcebook.novae.resolvers.tns import Tns, TnsBot
from sourcebook.runs.errors import Held
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item

AUTHORITIES: Final = ("simbad", "sesame")
KEPT_FOUND: Final = timedelta(hours=24)
KEPT_UNKNOWN: Final = timedelta(hours=1)
"""Short, since a new nova gets its name within hours."""


@dataclass(frozen=True, slots=True)
class NameResolver:
    """Asks SIMBAD, its mirrors, then Sesame, and TNS where there is a key for it.

    Attributes:
        http: an open client, made with `PAUSE_PER_HOST` of the archives.
        table: keeps the answers, and the archives' wishes to be left alone.
        tns: returns who asks TNS; None, and it is not asked.
    """

    http: HttpClient
    table: Table
    clock: Clock = utc_now
    sleep: Callable[[float], Awaitable[None]] = field(default=asyncio.sleep)
    tns: Callable[[], TnsBot] | None = None

    async def resolve(
        self, name: str, *, authority: str | None = None, fresh: bool = False
    ) -> Identity | None:
        """Return the object that a name means, or None when every archive that was to be asked knows none.

        An archive that is down is passed over only if another knows the object: "unknown" needs an answer
        from each of them.

        Args:
            name: as somebody wrote it.
            authority: ask this one alone.
            fresh: ask even when an answer is kept.

        Raises:
            ArchiveUnavailable: if an archive could not be asked and no other knows the name.
            ArchiveRejected: if one refused the question and no other knows the name.
            Held: if SIMBAD has several objects under this name.
            InvalidInput: if it is no name, or there is no such authority.
        """
        normalized = normalize_name(name)
        if authority is not None and authority not in AUTHORITIES:
            raise InvalidInput("authority", authority, f"one of {', '.join(AUTHORITIES)}")
        asked = authority or "all"
        if not fresh and (kept := self._kept(asked, normalized)) is not None:
            return Identity.of_json(kept["identity"]) if kept.get("identity") else None
        troubles: list[ArchiveUnavailable | ArchiveRejected] = []
        found = None
        if authority in {None, "simbad"}:
            found = await self._ask_simbad(name, normalized, troubles)
        if found is None and authority in {None, "sesame"}:
            found = await self._ask_sesame(name, normalized, troubles)
        if found is None and authority is None and self.tns is not None:
            found = await self._ask_tns(name, self.tns(), troubles)
        if found is None and troubles:
            raise min(troubles, key=lambda trouble: isinstance(trouble, ArchiveRejected))
        self._keep(asked, normalized, found)
        return found

    async def _ask_simbad(
        self, name: str, normalized: str, troubles: list[ArchiveUnavailable | ArchiveRejected]
    ) -> Identity | None:
        wanted = list(dict.fromkeys((name.strip(), display_name(name), *spellings(normalized))))
        failed: list[ArchiveUnavailable | ArchiveRejected] = []
        for url in addresses(self.table, "simbad"):
            try:
                objects = await Simbad(self._archive("simbad"), url).identify(wanted)
            except (ArchiveUnavailable, ArchiveRejected) as error:
                failed.append(error)
                continue
            if len(objects) > 1:
                raise Held(
                    "AMBIGUOUS_NAME",
                    f"SIMBAD has {len(objects)} objects under the name {name!r}: say which one is meant",
                    {"candidates": [replace(found, names=()).to_json() for found in objects[:10]]},
                )
            return objects[0] if objects else None
        troubles.extend(failed)
        return None

    async def _ask_sesame(
        self, name: str, normalized: str, troubles: list[ArchiveUnavailable | ArchiveRejected]
    ) -> Identity | None:
        likeliest = next((form for form in spellings(normalized) if form != normalized.upper()), name)
        failed: list[ArchiveUnavailable | ArchiveRejected] = []
        for url in addresses(self.table, "sesame"):
            try:
                for form in dict.fromkeys((display_name(name), display_name(likeliest))):
                    if found := await Sesame(self._archive("sesame"), url).identify(form):
                        return found
            except (ArchiveUnavailable, ArchiveRejected) as error:
                failed.append(error)
                continue
            return None
        troubles.extend(failed)
        return None

    async def _ask_tns(
        self, name: str, bot: TnsBot, troubles: list[ArchiveUnavailable | ArchiveRejected]
    ) -> Identity | None:
        try:
            (url,) = addresses(self.table, "tns")
            return await Tns(self._archive("tns"), url, bot).identify(name)
        except (ArchiveUnavailable, ArchiveRejected) as error:
            troubles.append(error)
            return None

    def _archive(self, name: str) -> Archive:
        return Archive(name, self.http, self.table, self.clock, self.sleep)

    def _kept(self, asked: str, normalized: str) -> Item | None:
        item = self.table.get(keys.archive_answer(asked, normalized))
        return item if item and parse_iso(item["kept_until"]) > self.clock() else None

    def _keep(self, asked: str, normalized: str, found: Identity | None) -> None:
        now = self.clock()
        until = now + (KEPT_FOUND if found else KEPT_UNKNOWN)
        self.table.put(
            {
                **keys.archive_answer(asked, normalized),
                "entity_type": "ArchiveAnswer",
                "schema_version": "1",
                "identity": found.to_json() if found else None,
                "asked_at": isoformat(now),
                "kept_until": isoformat(until),
                "ttl_timestamp": epoch_seconds(until),
            }
        )
