"""Merges a further source's report into an article: pure functions, so that order cannot matter.

Whatever order the reports of several sources arrive in, and however often, the article ends the same. So
everything that is derived from several reports is derived by rules that do not know of arrival: the first
source is the one with the earliest crawl time (its name decides between equals), and its report gives the
headline and the time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from sourcebook.articles._text import without_entities
from sourcebook.articles.model import ATTRIBUTIONS_KEPT, TAGS_KEPT, IncomingArticle
from sourcebook.articles.normalize import HeadlineIdentity
from sourcebook.clock import epoch_seconds, isoformat, parse_iso
from sourcebook.records.article import RETENTION, Article, SourceAttribution
from sourcebook.table import keys


def attribution(article: IncomingArticle) -> SourceAttribution:
    """Return one source's attribution, as the article keeps it."""
    return SourceAttribution(
        article_id=article.article_id,
        url=article.url,
        crawl_timestamp=isoformat(article.crawled_at),
        original_headline=article.headline,
        published_at=isoformat(article.published_at),
        source_name=article.source_name or None,
    )


def new_article(article: IncomingArticle, identity: HeadlineIdentity, dedup_key: str) -> Article:
    """Return an article that no source has reported before."""
    crawled = isoformat(article.crawled_at)
    return Article(
        source_id=keys.article(dedup_key)["PK"],
        timestamp=ordering_time(article),
        dedup_key=dedup_key,
        headline=without_entities(article.headline),
        normalized_headline=identity.normalized,
        signature=identity.signature or None,
        sources=(article.source,),
        source_attribution={article.source: attribution(article)},
        matched_tickers=tuple(sorted(set(article.tickers))),
        tags=_tags((), article),
        text_for_analysis=article.text or None,
        text_source=article.source if article.text else None,
        metadata=dict(article.metadata) or None,
        ttl_timestamp=epoch_seconds(article.crawled_at + RETENTION),
        created_at=crawled,
        updated_at=crawled,
    )


def ordering_time(article: IncomingArticle) -> str:
    """Return the time that orders an article: a date in the future counts as the time of the crawl."""
    return isoformat(min(article.published_at, article.crawled_at))


def merged(existing: Article, article: IncomingArticle) -> Article:
    """Return an article with one source's report merged in; the same article if nothing is new."""
    known = existing.source_attribution.get(article.source)
    if known is None and len(existing.source_attribution) >= ATTRIBUTIONS_KEPT:
        return existing
    reported = combined(known, attribution(article))
    attributions = {**existing.source_attribution, article.source: reported}
    sources = sorted(attributions, key=lambda source: (attributions[source].crawl_timestamp, source))
    first = attributions[sources[0]]
    after = replace(
        existing,
        source_attribution=attributions,
        sources=tuple(sources),
        headline=without_entities(first.original_headline),
        created_at=first.crawl_timestamp,
        ttl_timestamp=epoch_seconds(parse_iso(first.crawl_timestamp) + RETENTION),
        matched_tickers=tuple(sorted({*existing.matched_tickers, *article.tickers})),
        tags=_tags(existing.tags, article),
    )
    if sources[0] == article.source and reported.article_id == article.article_id:
        published = first.published_at or first.crawl_timestamp
        after = replace(
            after, timestamp=min(published, first.crawl_timestamp), metadata=dict(article.metadata) or None
        )
    if _gives_the_text(existing, attributions, article):
        after = replace(after, text_for_analysis=article.text, text_source=article.source)
    if after == existing:
        return existing
    return replace(after, updated_at=max(existing.updated_at, isoformat(article.crawled_at)))


def combined(known: SourceAttribution | None, reported: SourceAttribution) -> SourceAttribution:
    """Return a source's attribution, given one that is kept already; their order makes no difference."""
    if known is None:
        return reported
    if known.article_id != reported.article_id:
        # Two articles of one source under one headline: the earlier one speaks for it.
        return min(known, reported, key=lambda w: (w.crawl_timestamp, w.article_id))
    earlier, later = sorted(
        (known, reported), key=lambda w: (w.revised_at or w.crawl_timestamp, w.original_headline)
    )
    names = ("original_headline", "url", "source_name")
    is_same = all(getattr(earlier, name) == getattr(later, name) for name in names)
    first_crawl = min(known.crawl_timestamp, reported.crawl_timestamp)
    revised = earlier.revised_at if is_same else later.revised_at or later.crawl_timestamp
    return replace(
        later,
        crawl_timestamp=first_crawl,
        published_at=earlier.published_at,
        revised_at=revised if revised != first_crawl else None,
    )


def _gives_the_text(
    existing: Article, attributions: Mapping[str, SourceAttribution], article: IncomingArticle
) -> bool:
    """Whether the text for analysis is this report's: it is that of the earliest source with one."""
    owner = existing.text_source
    speaks = attributions[article.source].article_id == article.article_id
    # Of two articles of one source, each would replace the other's text whenever both are reported again.
    if not article.text or (owner in attributions and not speaks):
        return False
    if owner is None or owner not in attributions or owner == article.source:
        return True
    return (
        min(owner, article.source, key=lambda source: (attributions[source].crawl_timestamp, source)) != owner
    )


def _tags(known: Iterable[str], article: IncomingArticle) -> tuple[str, ...]:
    """Return the tags of an article, tickers among them, in text order and cut after `TAGS_KEPT`.

    Which ones stay does not depend on which source came first.
    """
    return tuple(sorted({*known, *article.tickers, *article.tags})[:TAGS_KEPT])
