"""URLs as they may be fetched, and as they may be shown."""

from __future__ import annotations

import re

from sourcebook.errors import printable

_SHOWN = 200
_PARTS = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*:)?(?://(?P<authority>[^/?#]*))?(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?",
    re.DOTALL,
)
_HIDDEN = "…"


def redact_url(url: str) -> str:
    """Return `url` fit for messages and logs.

    User name and password, every value of the query and the fragment are hidden; names of query parameters
    stay, since they help to find a mistake. Works on any text, also on what is not a valid URL. The result
    has at most 200 characters and nothing that is not printable.
    """
    match = _PARTS.match(url)
    scheme, authority, path, query = (
        match.group("scheme", "authority", "path", "query") if match else ("",) * 4
    )
    shown = scheme or ""
    if authority is not None:
        _, at, host = authority.rpartition("@")
        shown += f"//{_HIDDEN}@{host}" if at else f"//{host}"
    elif "@" in path:
        # "mailto:"-like or malformed text: what stands before the @ may be a password.
        path = _HIDDEN + path[path.rindex("@") :]
    shown += path
    if query is not None:
        shown += "?" + "&".join(_hide_value(pair) for pair in query.split("&")[:20])
    if len(shown) > _SHOWN:
        shown = shown[: _SHOWN - 1] + _HIDDEN
    return printable(shown)


def hide_query(url: str) -> str:
    """Return `url` with every value of its query hidden: one of them may be the right to read it."""
    address, mark, query = url.partition("?")
    return address + mark + "&".join(_hide_value(pair) for pair in query.split("&") if pair)


def _hide_value(pair: str) -> str:
    name, equals, _ = pair.partition("=")
    return f"{name}={_HIDDEN}" if equals else _HIDDEN
