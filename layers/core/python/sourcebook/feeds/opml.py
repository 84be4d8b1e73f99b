"""OPML: the lists of feeds that feed readers exchange."""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256
from typing import Final
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

from sourcebook.errors import InvalidInput
from sourcebook.sources.model import SourceSpec, parse_spec

_BARE_AMPERSAND: Final = re.compile(r"&(?!#\d+;|#x[0-9a-fA-F]+;|[A-Za-z][A-Za-z0-9]*;)")
_LARGEST: Final = 20_000_000


def read_opml(text: str) -> Iterator[SourceSpec]:
    """Yield the feeds of an OPML 1.0 or 2.0 document, each once.

    Sloppy ones are read too: outlines without a `type`, attribute names in any case, a bare ``&``.

    Raises:
        InvalidInput: if it is not OPML, or a feed in it has no usable URL.
    """
    if len(text) > _LARGEST or "<!ENTITY" in text:
        raise InvalidInput("opml", text[:60], "an OPML file below 20 MB that declares no entities")
    text = _BARE_AMPERSAND.sub("&amp;", text.lstrip("\ufeff \t\r\n"))
    try:
        root = ET.fromstring(text)  # noqa: S314 - a document that declares entities was refused above
    except ET.ParseError as error:
        raise InvalidInput("opml", text[:60], f"a well-formed OPML file ({error})") from error
    if root.tag.lower() != "opml":
        raise InvalidInput("opml", root.tag, "a document whose first element is <opml>")
    given: set[str] = set()
    for outline in root.iter():
        attributes = {name.lower(): value.strip() for name, value in outline.attrib.items()}
        url = attributes.get("xmlurl", "")
        if url and url not in given:
            given.add(url)
            name = attributes.get("title") or attributes.get("text") or ""
            yield parse_spec({"source_id": source_id_for(url), "url": url, "name": name[:200]})


def source_id_for(url: str) -> str:
    """Return a readable, stable id for a feed that has no other: its host and a hash of its URL."""
    host = (urlsplit(url).hostname or "feed").removeprefix("www.")
    readable = re.sub(r"[^a-z0-9]+", "-", host.lower()).strip("-")[:50] or "feed"
    return f"{readable}-{sha256(url.encode()).hexdigest()[:8]}"
