"""What articles become when a person joins, splits or separates them: pure functions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from sourcebook.articles._text import without_entities
from sourcebook.articles.merge import combined
from sourcebook.articles.model import ATTRIBUTIONS_KEPT, TAGS_KEPT
from sourcebook.clock import epoch_seconds, parse_iso
from sourcebook.messages import plain
from sourcebook.records.article import RETENTION, Article, SourceAttribution, Status
from sourcebook.table import keys

Attributions = Mapping[str, SourceAttribution]
"""Attributions by the ids of their sources."""

_KEPT_OF_BEFORE: Final = ("text_for_analysis", "text_source", "metadata", "tags", "matched_tickers")


def joined(into: Article, other: Article) -> Article:
    """Return an article with the attributions of another one too, to be analyzed anew."""
    attributions = {**into.source_attribution}
    for source, attribution in other.source_attribution.items():
        attributions[source] = combined(attributions.get(source), attribution)
    kept = dict(sorted(attributions.items(), key=_order)[:ATTRIBUTIONS_KEPT])
    omitted = (
        (into.attributions_omitted or 0) + (other.attributions_omitted or 0) + len(attributions) - len(kept)
    )
    left_out = {source: to for source, to in (into.split_off or {}).items() if to != other.dedup_key}
    return _reopened(
        replace(
            _attributed_to(into, kept, others=(other,)),
            matched_tickers=tuple(sorted({*into.matched_tickers, *other.matched_tickers})),
            tags=tuple(sorted({*into.tags, *other.tags})[:TAGS_KEPT]),
            attributions_omitted=omitted or None,
            split_off=left_out or None,
        )
    )


def pointing(other: Article, into: str, decision_id: str, expires: int) -> Article:
    """Return a joined article: it leads to the other, and keeps its own attributions."""
    return replace(
        other,
        status=Status.JOINED,
        joined_into=into,
        kept_alone=decision_id,
        event_id=None,
        sentiment=None,
        score=None,
        polarity=None,
        subjects=None,
        subject_sentiments=None,
        engine=None,
        analyzed_at=None,
        error_reason=None,
        ttl_timestamp=expires,
        revision=other.revision + 1,
    )


def before_joining(into: Article, other: Article) -> dict[str, object]:
    """Return what `separated` needs of the article that takes the attributions, as it was before."""
    shared = into.source_attribution.keys() & other.source_attribution.keys()
    return {
        "sources": list(into.sources),
        "words": {source: plain(into.source_attribution[source]) for source in sorted(shared)},
        **{name: plain(getattr(into, name)) for name in _KEPT_OF_BEFORE},
    }


def separated(
    into: Article, other: Article, before: Mapping[str, object], came_by_other: Iterable[str]
) -> tuple[Article, Article]:
    """Return two articles that were joined as two again, both to be analyzed anew.

    Args:
        into: the one that has the attributions.
        other: the one that leads there.
        before: the answer of `before_joining`.
        came_by_other: sources whose attributions have come since by way of the other.
    """
    was = Article.of_item({**before, "source_attribution": before["words"], "revision": into.revision})
    theirs = {*other.source_attribution, *came_by_other}
    now = into.source_attribution
    taken = {
        source: now[source] if source in now and source not in was.source_attribution else attribution
        for source, attribution in other.source_attribution.items()
    } | {source: now[source] for source in came_by_other if source in now}
    stays = {source: attribution for source, attribution in now.items() if source not in theirs}
    stays |= was.source_attribution
    text_was_theirs = into.text_source is None or into.text_source in theirs
    back = replace(
        into,
        text_for_analysis=was.text_for_analysis if text_was_theirs else into.text_for_analysis,
        text_source=was.text_source if text_was_theirs else into.text_source,
        matched_tickers=_without(into.matched_tickers, was.matched_tickers, other.matched_tickers),
        tags=_without(into.tags, was.tags, other.tags),
    )
    remaining = _attributed_to(back, stays)
    if remaining.sources[:1] == was.sources[:1]:
        remaining = replace(remaining, metadata=was.metadata)
    own = replace(_attributed_to(other, taken), joined_into=None, kept_alone=None)
    return _reopened(remaining), _reopened(own)


def split_key(article: Article, source: str) -> str:
    """Return the dedup key of the article that is split off with one source's attribution."""
    attribution = article.source_attribution[source]
    return hashlib.sha256(
        f"split|{article.dedup_key}|{source}|{attribution.article_id}".encode()
    ).hexdigest()[:32]


def split(article: Article, source: str) -> tuple[Article, Article]:
    """Return an article without one source's attribution, and one with it alone; both to be analyzed anew.

    Which source gave a tag or a ticker is not kept, so both have them all.
    """
    key = split_key(article, source)
    attributions = {
        name: attribution for name, attribution in article.source_attribution.items() if name != source
    }
    has_text = article.text_source == source
    rest = replace(
        article,
        text_for_analysis=None if has_text else article.text_for_analysis,
        text_source=None if has_text else article.text_source,
        split_off={**(article.split_off or {}), source: key},
    )
    own = Article(
        source_id=keys.article(key)["PK"],
        dedup_key=key,
        timestamp=article.timestamp,
        headline=article.headline,
        normalized_headline=article.normalized_headline,
        signature=article.signature,
        sources=(source,),
        source_attribution={source: article.source_attribution[source]},
        matched_tickers=article.matched_tickers,
        tags=article.tags,
        text_for_analysis=article.text_for_analysis if has_text else None,
        text_source=source if has_text else None,
        metadata=article.metadata if article.sources[0] == source else None,
        ttl_timestamp=article.ttl_timestamp,
        created_at=article.created_at,
        updated_at=article.updated_at,
    )
    return _reopened(_attributed_to(rest, attributions)), _attributed_to(own, own.source_attribution)


def _order(attribution: tuple[str, SourceAttribution]) -> tuple[str, str]:
    return attribution[1].crawl_timestamp, attribution[0]


def _attributed_to(article: Article, attributions: Attributions, others: Iterable[Article] = ()) -> Article:
    """Return an article with these attributions alone; the first of them decides headline and time.

    Args:
        article: the article.
        attributions: all its attributions.
        others: articles that had some of the attributions, for text and metadata.
    """
    ordered = sorted(attributions.items(), key=_order)
    first_source, first = ordered[0]
    known = (article, *others)
    firsts = [one for one in known if one.sources[:1] == (first_source,)]
    texts = [one for one in known if one.text_source in attributions]
    text = min(
        texts,
        key=lambda one: _order((one.text_source or "", attributions[one.text_source or ""])),
        default=None,
    )
    return replace(
        article,
        source_attribution=dict(attributions),
        sources=tuple(source for source, _ in ordered),
        headline=without_entities(first.original_headline),
        timestamp=min(first.published_at or first.crawl_timestamp, first.crawl_timestamp),
        created_at=first.crawl_timestamp,
        ttl_timestamp=epoch_seconds(parse_iso(first.crawl_timestamp) + RETENTION),
        metadata=firsts[0].metadata if firsts else None,
        text_for_analysis=text.text_for_analysis if text else None,
        text_source=text.text_source if text else None,
    )


def _reopened(article: Article) -> Article:
    return replace(article, status=Status.PENDING, error_reason=None, revision=article.revision + 1)


def _without(now: Iterable[str], before: Iterable[str], theirs: Iterable[str]) -> tuple[str, ...]:
    """Return what was there before, and what has come since from others."""
    return tuple(sorted({*before, *({*now} - {*theirs})}))
