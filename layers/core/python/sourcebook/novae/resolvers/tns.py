"""TNS, the Transient Name Server: names of surveys that SIMBAD does not have yet. Asked last, with a key.

Its rules: a form with the key and the question as JSON, a user agent that names the bot, and so many requests
a minute as its headers say.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self
from urllib.parse import urlencode

from sourcebook.errors import InvalidInput
from sourcebook.novae.names import display_name, normalize_name
from sourcebook.novae.resolvers.archive import Archive, ArchiveUnavailable
from sourcebook.novae.resolvers.identity import Identity

_OBJECT: Final = re.compile(r"(?:AT|SN|TDE|FRB)?\s?(\d{4}[A-Za-z]{1,4})", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class TnsBot:
    """The bot that asks TNS.

    Attributes:
        number: the bot's id at TNS.
        name: its name there.
        api_key: opens TNS; never logged.
    """

    number: int
    name: str
    api_key: str = field(repr=False)

    @classmethod
    def of(cls, text: str, api_key: str) -> Self:
        """Read ``<id>:<name>``. Raise InvalidInput if it is something else."""
        found = re.fullmatch(r"(\d{1,9}):([A-Za-z0-9_.-]{1,60})", text, re.ASCII)
        if found is None:
            raise InvalidInput("tns_bot", text, "the bot's id and name at TNS, such as 12345:our_bot")
        return cls(int(found[1]), found[2], api_key)

    @property
    def user_agent(self) -> str:
        """The user agent that TNS asks a bot to send."""
        return f'tns_marker{{"tns_id":{self.number},"type":"bot","name":"{self.name}"}}'

    async def identify(self, archive: Archive, url: str, name: str) -> Identity | None:
        """Return the classified object with this name, or None if there is none.

        What nobody has classified yet is left out: TNS has its place, and does not know what it is.

        Raises:
            ArchiveUnavailable: if TNS does not answer now, wants to be left alone, or answers something else.
            ArchiveRejected: if it refused the question or the key.
        """
        shown, url = display_name(name), url.rstrip("/")
        own = _OBJECT.fullmatch(shown)
        objname = own[1] if own else await self._search(archive, url, shown)
        if objname is None:
            return None
        question = {"objname": objname, "photometry": "0", "spectra": "0"}
        return read_object(await self._ask(archive, f"{url}/object", question))

    async def _search(self, archive: Archive, url: str, internal_name: str) -> str | None:
        """Return TNS's name of the one object that a survey calls so."""
        found = await self._ask(archive, f"{url}/search", {"internal_name": internal_name})
        names = {str(one.get("objname") or "") for one in found if isinstance(one, Mapping)} - {""}
        return names.pop() if len(names) == 1 else None

    async def _ask(self, archive: Archive, url: str, question: Mapping[str, str]) -> Any:  # noqa: ANN401 - JSON
        form = urlencode({"api_key": self.api_key, "data": json.dumps(question)})
        response = await archive.ask(
            url,
            content=form.encode(),
            headers={"user-agent": self.user_agent, "content-type": "application/x-www-form-urlencoded"},
        )
        return _data(response.body)


def read_object(found: object) -> Identity | None:
    """Return what TNS says an object is; None if it is not there or has no class.

    Raises:
        ArchiveUnavailable: if the answer is none of TNS.
    """
    if not isinstance(found, Mapping) or not found.get("objname"):
        return None
    try:
        kind = (found.get("object_type") or {}).get("name")
        if not kind:
            return None
        prefix = str(found.get("name_prefix") or "AT")
        main = f"{prefix} {found['objname']}"
        internal = str(found.get("internal_names") or "")
        names = [name.strip() for name in internal.split(",") if name.strip()]
        return Identity(
            archive="tns",
            key=f"tns:{normalize_name(str(found['objname']))}",
            main_name=main,
            ra_deg=None if found.get("radeg") is None else float(found["radeg"]) % 360,
            dec_deg=None if found.get("decdeg") is None else float(found["decdeg"]),
            object_type=str(kind),
            names=tuple(dict.fromkeys((main, *names))),
        )
    except (AttributeError, TypeError, ValueError) as error:
        raise _not_tns(error) from error


def _data(body: bytes) -> Any:  # noqa: ANN401 - JSON
    """Return what an answer holds: a list of a search, an object, or None."""
    try:
        data = json.loads(body)["data"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _not_tns(error) from error
    return data.get("reply", data) if isinstance(data, Mapping) else data or []


def _not_tns(error: Exception) -> ArchiveUnavailable:
    return ArchiveUnavailable("tns", f"the answer is not TNS's JSON ({type(error).__name__}: {error})")
