"""What an article becomes when one more source's word arrives: pure functions, so that order cannot matter.

Whatever order the words of several sources arrive in, and however often, the article ends the same. So
everything that is derived from several words is derived by rules that do not know of arrival: the first
source is the one with the earliest crawl time (its name decides between equals), and its word gives the
headline and the time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sourcebook.articles.model import ATTRIBUTIONS_KEPT, RETENTION, TAGS_KEPT, IncomingArticle, Status
from sourcebook.articles.normalize import HeadlineIdentity
from sourcebook.clock import epoch_seconds, isoformat, parse_iso
from sourcebook.schema import SCHEMA_VERSION
from sourcebook.table import keys
from sourcebook.table.codec import Item

Changes = dict[str | tuple[str, ...], Any]
"""Attributes to write, nested ones by their path; None removes."""


def attribution(article: IncomingArticle) -> Item:
    """Return one source's word in the form that the article keeps it."""
    word = {
        "article_id": article.article_id,
        "url": article.url,
        "crawl_timestamp": isoformat(article.crawled_at),
        "original_headline": article.headline,
        "published_at": isoformat(article.published_at),
    }
    return word | ({"source_name": article.source_name} if article.source_name else {})


def new_item(article: IncomingArticle, identity: HeadlineIdentity, dedup_key: str) -> Item:
    """Return the item of an article that no source has told of before."""
    crawled = isoformat(article.crawled_at)
    key = keys.article(dedup_key)
    return {
        **key,
        "entity_type": "Article",
        "schema_version": SCHEMA_VERSION,
        "source_id": key["PK"],
        "timestamp": ordering_time(article),
        "dedup_key": dedup_key,
        "headline": article.headline,
        "normalized_headline": identity.normalized,
        "signature": identity.signature or None,
        "sources": [article.source],
        "source_attribution": {article.source: attribution(article)},
        "status": Status.PENDING.value,
        "matched_tickers": sorted(set(article.tickers)),
        "tags": _tags((), article),
        "text_for_analysis": article.text or None,
        "text_source": article.source if article.text else None,
        "metadata": dict(article.metadata) or None,
        "ttl_timestamp": epoch_seconds(article.crawled_at + RETENTION),
        "created_at": crawled,
        "updated_at": crawled,
        "revision": 1,
    }


def ordering_time(article: IncomingArticle) -> str:
    """Return the time that orders an article: a date in the future counts as the time of the crawl."""
    return isoformat(min(article.published_at, article.crawled_at))


def merged(existing: Mapping[str, Any], article: IncomingArticle) -> Changes:
    """Return what one source's word changes in an article; nothing if it says nothing new."""
    words: dict[str, Item] = dict(existing["source_attribution"])
    word = _combined(words.get(article.source), attribution(article))
    if article.source not in words and len(words) >= ATTRIBUTIONS_KEPT:
        return {}
    changes: Changes = {}
    if word != words.get(article.source):
        words[article.source] = word
        changes["source_attribution", article.source] = word
    sources = sorted(words, key=lambda source: (words[source]["crawl_timestamp"], source))
    first = words[sources[0]]
    derived: dict[str, Any] = {
        "sources": sources,
        "headline": first["original_headline"],
        "created_at": first["crawl_timestamp"],
        "ttl_timestamp": epoch_seconds(parse_iso(first["crawl_timestamp"]) + RETENTION),
        "matched_tickers": sorted({*existing["matched_tickers"], *article.tickers}),
        "tags": _tags(existing.get("tags", ()), article),
    }
    if sources[0] == article.source and word["article_id"] == article.article_id:
        derived["timestamp"] = min(first["published_at"], first["crawl_timestamp"])
        derived["metadata"] = dict(article.metadata) or None
    derived |= _text(existing, words, article)
    changes |= {name: value for name, value in derived.items() if existing.get(name) != value}
    if changes:
        changes["updated_at"] = max(existing["updated_at"], isoformat(article.crawled_at))
    return changes


def changed(existing: Mapping[str, Any], changes: Changes) -> Item:
    """Return an article as it is once these changes are made."""
    after = dict(existing)
    for path, value in changes.items():
        *parents, name = (path,) if isinstance(path, str) else path
        target = after
        for parent in parents:
            target[parent] = dict(target[parent])
            target = target[parent]
        if value is None:
            target.pop(name, None)
        else:
            target[name] = value
    return after


def _combined(known: Mapping[str, Any] | None, word: Item) -> Item:
    """Return a source's word given one that is kept already; the order of the two makes no difference."""
    if known is None:
        return word
    if known["article_id"] != word["article_id"]:
        # Two articles of one source under one headline: the earlier one speaks for it.
        return min(dict(known), word, key=lambda w: (w["crawl_timestamp"], w["article_id"]))
    earlier, later = sorted(
        (dict(known), word), key=lambda w: (w.get("revised_at", w["crawl_timestamp"]), w["original_headline"])
    )
    said = {name: later.get(name) for name in ("original_headline", "url", "source_name")}
    same = all(earlier.get(name) == value for name, value in said.items())
    first_crawl = min(known["crawl_timestamp"], word["crawl_timestamp"])
    revised = earlier.get("revised_at") if same else later.get("revised_at", later["crawl_timestamp"])
    combined = {**later, "crawl_timestamp": first_crawl, "published_at": earlier["published_at"]}
    combined.pop("revised_at", None)
    return combined | ({"revised_at": revised} if revised and revised != first_crawl else {})


def _text(existing: Mapping[str, Any], words: Mapping[Any, Item], article: IncomingArticle) -> dict[str, Any]:
    """Return the text for analysis: that of the earliest source that has one."""
    owner = existing.get("text_source")
    speaks = words[article.source]["article_id"] == article.article_id
    # Of two articles of one source, each would replace the other's text whenever both are told again.
    if not article.text or (owner in words and not speaks):
        return {}
    if owner in words and owner != article.source:
        earliest = min(owner, article.source, key=lambda source: (words[source]["crawl_timestamp"], source))
        if earliest == owner:
            return {}
    return {"text_for_analysis": article.text, "text_source": article.source}


def _tags(known: object, article: IncomingArticle) -> list[str]:
    """Return the tags of an article, tickers among them, in text order and cut after `TAGS_KEPT`.

    Which ones stay does not depend on which source came first.
    """
    known_tags = set(known) if isinstance(known, list | tuple | set) else set()
    return sorted({*known_tags, *article.tickers, *article.tags})[:TAGS_KEPT]
