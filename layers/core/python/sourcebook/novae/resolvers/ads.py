"""NASA's ADS: the publications that name a nova."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sourcebook.errors import InvalidInput
from sourcebook.novae.names import is_designation, normalize_name
from sourcebook.novae.resolvers.archive import Archive, ArchiveUnavailable

ROWS_A_PAGE: Final = 200
ROWS_AT_MOST: Final = 2_000
NAMES_AT_MOST: Final = 20
"""Names asked for in one question; a longer one is refused by some proxies on the way."""
FIELDS: Final = ("bibcode", "title", "author", "author_count", "pubdate", "doctype")

# Numbers of survey catalogues: in an abstract they do not occur, and in a question they only take room.
_CATALOGUE = re.compile(r"^(?:gaia|2mass|wise|allwise|usno|gsc|tic|ucac|sdss|ps1|iras|cxou?|\d?xmm|1rxs)\b")


@dataclass(frozen=True, slots=True)
class Ads:
    """One address of ADS."""

    archive: Archive
    url: str
    token: str = field(repr=False)

    async def search(self, names: Iterable[str]) -> tuple[list[Any], int]:
        """Return the publications that name one of these in title, abstract or keywords, page after page.

        As ADS gave them and in its order, `ROWS_AT_MOST` of them; beside them, how many it has in all.

        Raises:
            ArchiveUnavailable: if it does not answer, not as ADS does, or today's requests are used up.
            ArchiveRejected: if it refused the question or the token.
        """
        query = question(names)
        documents: list[Any] = []
        found = 0
        while len(documents) < ROWS_AT_MOST:
            response = await self.archive.ask(
                f"{self.url.rstrip('/')}/search/query",
                params={
                    "q": query,
                    "fl": ",".join(FIELDS),
                    "rows": ROWS_A_PAGE,
                    "start": len(documents),
                    "sort": "bibcode asc",
                },
                headers={"Authorization": f"Bearer {self.token}"},
            )
            page, found = read_page(response.body)
            documents.extend(page)
            if not page or len(documents) >= found:
                break
        return documents[:ROWS_AT_MOST], found


def question(names: Iterable[str]) -> str:
    """Return the query for any of these names.

    Raises:
        InvalidInput: if none of them is a name to search by.
    """
    wanted = searchable(names)
    if not wanted:
        raise InvalidInput("names", list(names), "at least one name that is a nova's own")
    return " OR ".join(f'abs:"{name}"' for name in wanted)


def searchable(names: Iterable[str]) -> Sequence[str]:
    """Return the names worth searching for: no numbers of catalogues, no name that several novae have."""
    chosen: dict[str, str] = {}
    for name in names:
        normalized = normalize_name(name)
        if _CATALOGUE.match(normalized) or is_designation(normalized):
            continue
        chosen.setdefault(normalized, re.sub(r'["\\]', " ", name).strip())
    return list(chosen.values())[:NAMES_AT_MOST]


def read_page(body: bytes) -> tuple[list[Any], int]:
    """Return the documents of one page, and how many there are in all.

    Raises:
        ArchiveUnavailable: if it is not ADS's JSON.
    """
    try:
        response = json.loads(body)["response"]
        return list(response["docs"]), int(response["numFound"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        detail = f"the answer is not ADS's JSON ({type(error).__name__})"
        raise ArchiveUnavailable("ads", detail) from error
