"""How a feed is asked: with which validators, and what its answers say of its address."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlsplit

from sourcebook.http.response import HttpResponse, parse_http_date
from sourcebook.records.source import Source

REDIRECTS_BEFORE_MOVING: Final = 5
"""Permanent redirects to one address, in a row and each with a valid feed, before it replaces the old one.

A portal or a maintenance page redirects permanently too, for an afternoon.
"""
SUSPICIOUS_SILENCE: Final = timedelta(days=1)
"""A feed that brings something every day and is "not modified" for so long may be stuck."""
_LONGEST_VALIDATOR: Final = 256
_LONGEST_TITLE: Final = 200


def validators_for(source: Source, now: datetime) -> tuple[str | None, str | None]:
    """Return the ETag and the Last-Modified to send, neither if they cannot be trusted now.

    They are left out once a day where the server has answered "not modified" for longer than the feed's own
    rhythm explains, or where its Last-Modified lies in the future; and always where it has been caught
    calling a changed document unchanged.
    """
    if source.validators_stuck:
        return None, None
    checked_lately = source.full_fetch_at is not None and now - source.full_fetch_at < SUSPICIOUS_SILENCE
    if not checked_lately and _is_suspicious(source, now):
        return None, None
    return source.etag, source.last_modified


def _is_suspicious(source: Source, now: datetime) -> bool:
    """Return whether "not modified" may be said of a document that has changed."""
    modified = parse_http_date(source.last_modified) if source.last_modified else None
    if modified is not None and modified > now + timedelta(hours=1):
        return True
    if source.unchanged_since is None or source.rate <= 0:
        return False
    usual_gap = timedelta(hours=min(1 / source.rate, 24 * 365))
    return now - source.unchanged_since > max(SUSPICIOUS_SILENCE, 5 * usual_gap)


def validator_state(source: Source, response: HttpResponse) -> dict[str, object]:
    """Return what an answer changes in the validators that are kept.

    Both are kept as they came, also a new ETag beside an old date. A 304 need not repeat them; any other
    answer without them takes the old ones away.
    """
    found = {"etag": _bounded(response.etag), "last_modified": _bounded(response.last_modified)}
    if response.not_modified:
        found = {name: value for name, value in found.items() if value}
    return {name: value for name, value in found.items() if value != getattr(source, name)}


def document_state(
    source: Source, response: HttpResponse, body_hash: str, now: datetime
) -> dict[str, object]:
    """Return what a document changes in a source's state, apart from its entries.

    A document that changed under the same ETag shows that the server's validators say nothing.
    """
    state = {**validator_state(source, response), "body_hash": body_hash, "full_fetch_at": now}
    changed = source.body_hash is not None and body_hash != source.body_hash
    if changed and source.etag and response.etag == source.etag:
        state["validators_stuck"] = True
    return state


def address_state(source: Source, response: HttpResponse) -> dict[str, object]:
    """Return what the redirects on the way to a valid feed say of its address.

    After `REDIRECTS_BEFORE_MOVING` in a row the new address is taken, and the old one is kept beside it.
    """
    target = response.permanent_url
    if target is None or target == source.url or len(target) > 2000:
        return {} if source.redirect_url is None else {"redirect_url": None, "redirect_count": None}
    count = source.redirect_count + 1 if target == source.redirect_url else 1
    if count < REDIRECTS_BEFORE_MOVING:
        return {"redirect_url": target, "redirect_count": count}
    return {
        "url": target,
        "host": (urlsplit(target).hostname or "").lower(),
        "previous_url": source.url,
        "redirect_url": None,
        "redirect_count": None,
    }


def title_state(source: Source, title: str) -> dict[str, object]:
    """Return what a document changes in the title that is kept: of a feed that was given no name."""
    kept = title[:_LONGEST_TITLE] or None
    return {} if source.name or kept == source.title else {"title": kept}


def _bounded(validator: str | None) -> str | None:
    """Return a validator that is short enough to keep: a longer one is not worth a larger state."""
    return validator if validator and len(validator) <= _LONGEST_VALIDATOR else None
