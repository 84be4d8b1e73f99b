"""Resolve a name by asking the archives in turn; nothing is guessed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, TypeAlias

from sourcebook.clock import Clock, epoch_seconds, isoformat, parse_iso, utc_now
from sourcebook.errors import InvalidInput
from sourcebook.http.client import HttpClient
from sourcebook.novae.names import normalize_name
from sourcebook.novae.resolvers import sesame, simbad
from sourcebook.novae.resolvers.archive import Archive, ArchiveRejected, ArchiveUnavailable, addresses
from sourcebook.novae.resolvers.identity import Identity
from sourcebook.novae.resolvers.tns import TnsBot
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item

Question: TypeAlias = Callable[[Archive, str, str], Awaitable[Identity | None]]
"""Asks an archive, at one of its addresses, what is meant by a name."""

_QUESTIONS: Final[Mapping[str, Question]] = {"simbad": simbad.identify, "sesame": sesame.identify}
AUTHORITIES: Final = tuple(_QUESTIONS)
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
        questions = {one: _QUESTIONS[one] for one in ([authority] if authority else AUTHORITIES)}
        if authority is None and (bot := self.tns) is not None:
            questions["tns"] = lambda archive, url, name: bot().identify(archive, url, name)
        troubles: list[ArchiveUnavailable | ArchiveRejected] = []
        found = None
        for archive, question in questions.items():
            found = await self._ask(archive, question, name, troubles)
            if found is not None:
                break
        if found is None and troubles:
            raise min(troubles, key=lambda trouble: isinstance(trouble, ArchiveRejected))
        self._keep(asked, normalized, found)
        return found

    async def _ask(
        self,
        archive: str,
        question: Question,
        name: str,
        troubles: list[ArchiveUnavailable | ArchiveRejected],
    ) -> Identity | None:
        """Return what the first address that answers knows; if none does, add to `troubles` why."""
        asked = Archive(archive, self.http, self.table, self.clock, self.sleep)
        failed: list[ArchiveUnavailable | ArchiveRejected] = []
        for url in addresses(self.table, archive):
            try:
                return await question(asked, url, name)
            except (ArchiveUnavailable, ArchiveRejected) as error:
                failed.append(error)
        troubles.extend(failed)
        return None

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
