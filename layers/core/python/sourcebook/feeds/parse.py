"""Parsing of feeds: bytes in, a `ParsedFeed` or a `NotAFeed` with its cause out.

Two ways lead there. ``fast`` reads the document with the interpreter's own XML parser and mends what
is cheap to mend; what it cannot read goes to feedparser. ``reference`` is feedparser alone, to switch
to when the fast way is in doubt, and to compare it with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from sourcebook.feeds._document import Document, read_document
from sourcebook.feeds._expat import read_with_expat
from sourcebook.feeds._json import read_json
from sourcebook.feeds.marks import marks_of
from sourcebook.feeds.model import Cause, NotAFeed, ParsedFeed

if TYPE_CHECKING:
    from pathlib import Path


def parse_feed(
    body: bytes,
    *,
    url: str,
    charset: str | None = None,
    mode: Literal["fast", "reference"] = "fast",
) -> ParsedFeed:
    """Read RSS 2.0 and its ancestors, RSS 1.0, Atom 1.0 and 0.3, and JSON Feed.

    CPU time is bounded by the size of the body. Nothing outside the body is read.

    Args:
        body: the bytes of the answer, decompressed.
        url: where it came from, to resolve relative addresses; "" when unknown.
        charset: the one that its headers state; the format is recognized by the body.
        mode: "reference" for feedparser alone (JSON Feed, which it does not read, is read all the same).

    Raises:
        NotAFeed: nothing could be read; its `cause` says why.
    """
    document = read_document(body, charset)
    feed = _read(document, url, mode)
    shown = feed.date_orders & {"day", "month"}
    if "open" in feed.date_orders and len(shown) == 1:
        document.date_order = shown.pop()
        feed = _read(document, url, mode)
    feed.keep_newest()
    return feed


def _read(document: Document, url: str, mode: Literal["fast", "reference"]) -> ParsedFeed:
    if document.kind == "json":
        return read_json(document, url)
    if mode == "reference":
        return _read_with_feedparser(document, url)
    feed, damage = read_with_expat(document, url)
    if not damage:
        return feed
    try:
        return _read_with_feedparser(document, url, damage)
    except NotAFeed as refusal:
        # What was read before the damage is the last resort.
        if refusal.cause is Cause.TOO_DEEP or not feed.entries:
            raise
        feed.cause = Cause.PARSE_FAILED
        feed.warnings.append(f"not well-formed ({damage}); only the entries before the damage could be read")
        return feed


def _read_with_feedparser(document: Document, url: str, damage: str = "") -> ParsedFeed:
    # Here, because most processes meet no damaged document: feedparser is a tenth of the start of fetching.
    from sourcebook.feeds._reference import read_with_feedparser  # noqa: PLC0415

    return read_with_feedparser(document, url, damage)


def describe(parsed: ParsedFeed | NotAFeed, file: Path | str) -> dict[str, Any]:
    """Return what ``sourcebook feeds parse --json`` prints for one file.

    The entries carry the source's own words, comparable field by field with other parsers; what we
    make of them stands beside.

    Returns:
        ``file``: the path as given. ``parser``: "expat", "feedparser", "json", or null without a feed.
        ``cause``: a value of `Cause`, or null. ``message``: what to do about the cause, or null.
        ``warnings``: list of sentences. ``skipped``: list of ``{"position", "reason"}``.
        ``left_out``: items left out beyond those of ``skipped``, counted by reason.
        ``title``, ``link``: of the feed, or null.
        ``entries``: list of objects with ``link``, ``title``, ``id``, ``summary`` (each a string or
        null), ``published`` (seconds since 1970, else those of the last change, else null),
        ``identity`` (what distinguishes the entry) and ``headline`` (its title, or the one derived
        from its text).
    """
    message = None
    if isinstance(parsed, NotAFeed):
        message = str(parsed)
        parsed = ParsedFeed(cause=parsed.cause)
    entries = []
    for entry, mark in zip(parsed.entries, marks_of(parsed.entries), strict=True):
        moment = entry.published or entry.updated
        entries.append(
            {
                "link": entry.link or None,
                "title": None if entry.title_derived else entry.title,
                "published": int(moment.timestamp()) if moment else None,
                "id": entry.id or None,
                "summary": entry.summary or None,
                "identity": mark.identity,
                "headline": entry.title,
            }
        )
    return {
        "file": str(file),
        "parser": parsed.parser or None,
        "cause": parsed.cause.value if parsed.cause else None,
        "message": message,
        "warnings": parsed.warnings,
        "skipped": [skipped._asdict() for skipped in parsed.skipped],
        "left_out": parsed.left_out,
        "title": parsed.title or None,
        "link": parsed.link or None,
        "entries": entries,
    }
