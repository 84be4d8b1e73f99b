"""Reading articles: one by its key, or a list of them, newest first."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeAlias
from urllib.parse import unquote

from sourcebook.articles.redirects import MOST_REDIRECTS, redirect
from sourcebook.clock import isoformat, to_utc
from sourcebook.errors import InvalidInput
from sourcebook.records.article import Article, ArticleAlias, OlderArticle, Sentiment, Status, status_of
from sourcebook.records.base import Viewable
from sourcebook.schema import DIGEST
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item
from sourcebook.table.pages import Listing, Page, Partition, page_newest_first

STATUSES: Final = tuple(status.value for status in Status if status is not Status.JOINED)
SENTIMENTS: Final = tuple(sentiment.value for sentiment in Sentiment)

AnyArticle: TypeAlias = Article | OlderArticle

_DEDUP_KEY: Final = re.compile(rf"(?:dedup:)?({DIGEST})", re.IGNORECASE | re.ASCII)
_PARTITION_KEY_LIMIT: Final = 2_048
_SPELLINGS: Final = 3
"""An article id that is itself a URL may arrive with up to two layers of URL encoding."""
_WHOLE_SECOND: Final = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class ArticleFilter:
    """Filters of a list of articles; all that are given must hold.

    Attributes:
        status: one of `STATUSES`.
        sentiment: one of `SENTIMENTS`.
        tag: exactly as the article has it. Analysis writes the tags' index, so only analyzed articles match.
        since: first moment, included.
        until: last moment, excluded.
        sources: ids of sources in any case; an article of any of them holds.
        sentiments: some of `SENTIMENTS`, where it is more than one.
        subjects: ids, names or aliases of subjects; `sourcebook.search` answers for these and for languages.
        languages: with or without their regions.
    """

    status: str | None = None
    sentiment: str | None = None
    tag: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    sources: tuple[str, ...] = ()
    sentiments: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise InvalidInput(
                "until", isoformat(self.until), f"a time later than since, {isoformat(self.since)}"
            )

    @property
    def needs_search(self) -> bool:
        """Whether no index of the table can answer."""
        return bool(self.sentiments or self.subjects or self.languages)

    def holds(self, article: Item) -> bool:
        """Whether an article has the status, the sentiment and a source that are asked for.

        One that was joined to another has none.
        """
        if article.get("status") == Status.JOINED:
            return False
        asked = ((status_of(article), self.status), (article.get("sentiment"), self.sentiment))
        if any(wanted is not None and value != wanted for value, wanted in asked):
            return False
        if self.sentiments and article.get("sentiment") not in self.sentiments:
            return False
        known = {str(source).casefold() for source in article.get("sources", ())}
        return not self.sources or any(source.casefold() in known for source in self.sources)


def partitions_of(wanted: ArticleFilter, shards: keys.Shards) -> list[Partition]:
    """Return the narrowest places that have all that is wanted, in the order in which articles move on."""
    if wanted.tag is not None:
        return [Partition(keys.TAG_INDEX, "tag", wanted.tag, f"{keys.TAG_PREFIX}{wanted.tag}")]
    if wanted.sentiment is not None:
        return _by_sentiment(wanted.sentiment, shards)
    by_status = places_by_status(shards)
    return [place for status in by_status if wanted.status in {None, status} for place in by_status[status]]


def places_by_status(shards: keys.Shards) -> dict[Status, list[Partition]]:
    """Return where articles are listed, by their status; a new one is not yet (docs/decisions/0476).

    In the order in which a list of all asks for them: an article leaves pending, and leaves error, so a list
    that asks for analyzed ones last meets it at least once. One that is analyzed anew is in two of them
    meanwhile.
    """
    places: dict[Status, list[Partition]] = {}
    for status in (Status.PENDING, Status.ERROR):
        stored = shards.read(status.value)
        places[status] = [_partition(keys.STATUS_INDEX, "status", value) for value in stored]
    places[Status.ANALYZED] = [place for one in Sentiment for place in _by_sentiment(one.value, shards)]
    return places


def _by_sentiment(sentiment: str, shards: keys.Shards) -> list[Partition]:
    return [_partition(keys.SENTIMENT_INDEX, "sentiment", value) for value in shards.read(sentiment)]


def _partition(index: str, attribute: str, value: str) -> Partition:
    return Partition(index, attribute, value, keys.ARTICLE_SORT_KEY)


@dataclass(frozen=True, slots=True)
class ArticleReader:
    """Articles in the table, as they are served."""

    table: Table

    def get(self, key: str) -> AnyArticle | None:
        """Return an article, or None if there is none.

        Args:
            key: a dedup key with or without ``dedup:`` before it, or the older ``<source>:<article id>``,
                URL-encoded or not. The older one finds what it names: an article of the present format
                through its alias, or one of the older format that is stored under it.
        """
        candidates = list(_candidates(key))
        found = {item["PK"]: item for item in self.table.batch_get(candidates)} if candidates else {}
        for candidate in candidates:
            item = found.get(candidate["PK"])
            if item is not None and item.get("entity_type") == ArticleAlias.__name__:
                item = self.table.get(keys.article(item["dedup_key"]))
            if item is not None:
                return self._answering(read_article(item), source=key.partition(":")[0])
        return None

    def _answering(self, article: AnyArticle, source: str) -> AnyArticle:
        """Return the article that answers for one, after the decisions of people; `source` names it."""
        for _ in range(MOST_REDIRECTS):
            target = redirect(article, source) if isinstance(article, Article) else None
            item = self.table.get(keys.article(target)) if target else None
            if item is None:
                break
            article = read_article(item)
        return article

    def page(self, wanted: ArticleFilter, *, limit: int, cursor: str | None = None) -> Page[AnyArticle]:
        """Return one page of the articles that are wanted, newest first.

        Articles that were listed when the first page was read are each given once, whatever their status
        does in the meantime.

        Raises:
            InvalidInput: if the cursor is not one of this list with these filters.
        """
        # Timestamps are whole seconds: at or after 21:56:39.5 is at or after :40, before it is up to :39.
        first = isoformat(_rounded_up(wanted.since)) if wanted.since else None
        last = isoformat(_rounded_up(wanted.until) - _WHOLE_SECOND) if wanted.until else None
        listing = Listing.of(
            "articles",
            {
                "status": wanted.status,
                "sentiment": wanted.sentiment,
                "tag": wanted.tag,
                "since": first,
                "until": last,
                "sources": ",".join(wanted.sources) or None,
            },
        )

        def load(entries: list[Item]) -> list[AnyArticle | None]:
            # No index holds articles: docs/decisions/0131 says why.
            found = self.table.batch_get(
                keys.Key(PK=entry["PK"], SK=keys.ARTICLE_SORT_KEY) for entry in entries
            )
            # The article itself decides: an index is a moment behind, and an article may have expired.
            articles = {item["PK"]: read_article(item) for item in found if wanted.holds(item)}
            return [articles.get(entry["PK"]) for entry in entries]

        return page_newest_first(
            self.table,
            partitions_of(wanted, self.table.shards),
            listing=listing,
            cursor=cursor,
            load=load,
            limit=limit,
            first=first,
            last=last,
            weight=article_weight,
        )


def read_article(item: Item) -> AnyArticle:
    """Return the article of an item, which may be of the older format: that has no dedup key."""
    return Article.of_item(item) if "dedup_key" in item else OlderArticle(item)


def _candidates(key: str) -> Iterator[keys.Key]:
    """Yield the keys that a key from a URL may mean, the most literal first."""
    seen: set[str] = set()
    for _ in range(_SPELLINGS):
        if key in seen:
            return
        seen.add(key)
        if match := _DEDUP_KEY.fullmatch(key):
            yield keys.article(match[1].lower())
        else:
            source, _, article_id = key.partition(":")
            size = len(key.encode(errors="replace"))
            if source and article_id and size <= _PARTITION_KEY_LIMIT and not _has_surrogates(key):
                yield keys.article_alias(source, article_id)
        key = unquote(key)


def _has_surrogates(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


def _rounded_up(moment: datetime) -> datetime:
    moment = to_utc(moment)
    return moment.replace(microsecond=0) + _WHOLE_SECOND if moment.microsecond else moment


def article_weight(article: Viewable) -> int:
    """Return at least as many bytes as an article's JSON has in UTF-8: escaped characters are longer."""
    return len(json.dumps(article.shown(), default=str))
