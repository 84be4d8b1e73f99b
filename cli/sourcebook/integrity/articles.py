"""Articles, their mentions and their aliases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from sourcebook.articles.analysis import reopen_analyzed
from sourcebook.articles.waiting import list_as_pending
from sourcebook.clock import Clock, epoch_seconds, parse_iso, utc_now
from sourcebook.integrity.model import Check, IntegrityFinding, ItemCheck, is_of, missing, place_of
from sourcebook.records.article import RETENTION, Article, Status
from sourcebook.sentiment.mentions import MentionStore, mention_items
from sourcebook.sentiment.rollups import DirtyHours
from sourcebook.sentiment.subjects import SubjectRegistry
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item

TOO_YOUNG_TO_EXPIRE: Final = timedelta(days=2)
"""An alias of this age leads to an article that is there. An older one may belong to an article that another
source reported long before, and that has expired: the alias alone cannot say."""

LISTED_AFTER: Final = timedelta(minutes=15)
"""The table's stream is read every three minutes, and a reading may fail."""

_VERDICT: Final = ("sentiment", "score", "polarity")


@dataclass(slots=True)
class _Mending:
    """Brings the mentions of one article into line with it, by the code that writes them."""

    table: Table
    clock: Clock
    _subjects: frozenset[str] | None = None

    def repair(self, dedup_key: str) -> bool:
        store = MentionStore(self.table, DirtyHours(self.table, self.clock))
        if self._subjects is None:
            self._subjects = frozenset(SubjectRegistry(self.table).list_ids())
        article = self.table.get(keys.article(dedup_key), consistent=True)
        if article is None or (known := Article.of_item(article)).status == Status.JOINED:
            store.withdraw(dedup_key, self._subjects)
        elif known.status == Status.ANALYZED:
            store.check(known, self._subjects)
        return True


@dataclass(slots=True)
class ArticlesHaveTheirMentions(Check):
    """An analyzed article has the mention of each of its tags, and it says what the article says."""

    table: Table
    clock: Clock = utc_now
    name = "mentions"
    _mending: _Mending = field(init=False)

    def __post_init__(self) -> None:
        self._mending = _Mending(self.table, self.clock)

    def examine(self, items: Sequence[Item]) -> Iterator[IntegrityFinding]:
        """Yield mentions that are missing or differ, and articles without a verdict."""
        now = epoch_seconds(self.clock())
        wanted: dict[tuple[str, str], tuple[Item, Item]] = {}
        for article in items:
            is_settled = is_of(article, "Article") and Article.of_item(article).status == Status.ANALYZED
            if not is_settled or article["ttl_timestamp"] <= now:
                continue
            if lacking := [name for name in _VERDICT if article.get(name) is None]:
                problem = f"it is analyzed but has no {', no '.join(lacking)}"
                yield self.found(article, problem)
                continue
            for mention in mention_items(Article.of_item(article)):
                wanted[place_of(mention)] = article, mention
        places = (keys.key_of(mention) for _, mention in wanted.values())
        found = {place_of(item): item for item in self.table.batch_get(places, consistent=True)}
        for place, (article, mention) in wanted.items():
            if problem := _difference(found.get(place), mention):
                yield self.found(mention, problem, about=article)

    def repair(self, finding: IntegrityFinding) -> bool:
        """Write the mentions anew; an article without a verdict is analyzed again."""
        dedup_key = str(keys.dedup_key_of(finding.about["PK"]))
        if finding.key == finding.about:
            return reopen_analyzed(self.table, dedup_key)
        return self._mending.repair(dedup_key)


def _difference(mention: Item | None, should_be: Item) -> str:
    if mention is None:
        return f"the mention of {should_be['tag']!r} by an analyzed article is missing"
    # That it was written for an earlier revision does not matter while it says the same; the first version
    # wrote no engine.
    passed_over = {"revision"} if "engine" in mention else {"revision", "engine"}
    names = [n for n in should_be if n not in passed_over and mention.get(n) != should_be[n]]
    differences = (f"{n} is {mention.get(n)!r}, in the article {should_be[n]!r}" for n in names)
    return f"it does not say what its article says: {'; '.join(differences)}" if names else ""


@dataclass(frozen=True, slots=True)
class WaitingArticlesAreListed(ItemCheck):
    """An article that has waited for its analysis for a while is listed as pending."""

    clock: Clock = utc_now
    name = "waiting-articles"

    def _problem(self, item: Item) -> str:
        is_listed = "status" in item or "sentiment" in item
        if not is_of(item, "Article") or is_listed or item["ttl_timestamp"] <= epoch_seconds(self.clock()):
            return ""
        if parse_iso(item["created_at"]) > self.clock() - LISTED_AFTER:
            return ""
        return f"it waits for its analysis since {item['created_at']}, and by_status does not list it"

    def _mend(self, key: keys.Key, item: Item) -> bool:  # noqa: ARG002 - as every check of items
        return not list_as_pending(self.table, [key["PK"]])


@dataclass(slots=True)
class MentionsHaveTheirArticle(Check):
    """A mention belongs to an article, and to one that has its tag."""

    table: Table
    clock: Clock = utc_now
    name = "articles-of-mentions"
    _mending: _Mending = field(init=False)

    def __post_init__(self) -> None:
        self._mending = _Mending(self.table, self.clock)

    def examine(self, items: Sequence[Item]) -> Iterator[IntegrityFinding]:
        """Yield mentions of no article, and of articles that do not have the tag."""
        now = epoch_seconds(self.clock())
        # DynamoDB deletes what has expired one by one: of article and mention either may go first.
        mentions = [item for item in items if is_of(item, "Mention") and item["ttl_timestamp"] > now]
        owners = [keys.Key(PK=item["PK"], SK=keys.ARTICLE_SORT_KEY) for item in mentions]
        needed = ("status", "sentiment", "tags", "subjects")
        articles = {
            item["PK"]: Article.of_item(item)
            for item in self.table.batch_get(owners, attributes=needed, consistent=True)
        }
        for mention in mentions:
            problem, article = "", articles.get(mention["PK"])
            if article is None:
                problem = "the article that it is a mention by does not exist"
            elif article.status == Status.JOINED:
                problem = "a person has joined its article to another, which has the mentions"
            elif article.status == Status.ANALYZED and mention["tag"] not in article.all_tags:
                problem = f"its article does not have the tag {mention['tag']!r}"
            if problem:
                yield self.found(mention, problem)

    def repair(self, finding: IntegrityFinding) -> bool:
        """Remove the mention."""
        return self._mending.repair(str(keys.dedup_key_of(finding.key["PK"])))


@dataclass(frozen=True, slots=True)
class AliasesLeadToArticles(Check):
    """A source's own id of an article leads to the article, as long as that cannot have expired."""

    table: Table
    clock: Clock = utc_now
    name = "aliases"

    def examine(self, items: Sequence[Item]) -> Iterator[IntegrityFinding]:
        """Yield young aliases that lead nowhere."""
        young = epoch_seconds(self.clock() - TOO_YOUNG_TO_EXPIRE + RETENTION)
        aliases = [i for i in items if is_of(i, "ArticleAlias") and i["ttl_timestamp"] >= young]
        targets = [keys.article(item["dedup_key"]) for item in aliases]
        absent = missing(self.table, targets)
        for alias, target in zip(aliases, targets, strict=True):
            if place_of(target) in absent:
                problem = (
                    f"it leads to the article {target['PK']}, which does not exist; the next fetch that "
                    "brings the entry makes it"
                )
                # Only the source can report the story again.
                yield self.found(alias, problem, repairable=False)
