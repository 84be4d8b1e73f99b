"""Sesame, the name resolver of the CDS: it has less than SIMBAD, but is often up when SIMBAD is not."""

from __future__ import annotations

import re
from urllib.parse import quote

from sourcebook.novae.names import display_name, normalize_name, spellings
from sourcebook.novae.resolvers.archive import Archive, ArchiveUnavailable
from sourcebook.novae.resolvers.identity import Identity

_POSITION = re.compile(r"^%J\s+(\d+(?:\.\d+)?)\s+([+-]?\d+(?:\.\d+)?)", re.MULTILINE)
_MAIN = re.compile(r"^%I\.0\s++(\S(?:.*\S)?)", re.MULTILINE)
_NAME = re.compile(r"^%I(?:\.\d+)?\s++(\S(?:.*\S)?)", re.MULTILINE)
_TYPE = re.compile(r"^%C\.0\s+(\S+)", re.MULTILINE)
_NOTHING = re.compile(r"nothing found", re.IGNORECASE)


async def identify(archive: Archive, url: str, name: str) -> Identity | None:
    """Return the object that a name means, or None if neither SIMBAD nor NED knows it.

    VizieR is not asked: it reads positions out of designations, and those are off by arcseconds.

    Raises:
        ArchiveUnavailable: if it does not answer, or not as Sesame does.
        ArchiveRejected: if it refused the question.
    """
    normalized = normalize_name(name)
    likeliest = next((form for form in spellings(normalized) if form != normalized.upper()), name)
    for form in dict.fromkeys((display_name(name), display_name(likeliest))):
        response = await archive.ask(f"{url}/-oI/SN?{quote(form)}")
        if found := read_answer(response.body.decode("utf-8", "replace")):
            return found
    return None


def read_answer(text: str) -> Identity | None:
    """Read Sesame's text: ``%J`` position, ``%C.0`` type, ``%I.0`` main name, ``%I`` other names.

    Raises:
        ArchiveUnavailable: if it is neither an object nor the word that nothing was found.
    """
    position, main = _POSITION.search(text), _MAIN.search(text)
    if position is None or main is None:
        if _NOTHING.search(text):
            return None
        raise ArchiveUnavailable("sesame", "the answer is not Sesame's text")
    shown = display_name(main[1])
    found_type = _TYPE.search(text)
    return Identity(
        archive="sesame",
        # The same as SIMBAD's: Sesame hands on SIMBAD's main name, so either way it is the same nova.
        key=f"simbad:{normalize_name(shown)}",
        main_name=shown,
        ra_deg=float(position[1]) % 360,
        dec_deg=float(position[2]),
        object_type=found_type[1] if found_type else None,
        names=tuple(dict.fromkeys(_NAME.findall(text))),
    )
