"""Two articles that are one story joined, one that is two split, and either taken back.

Each decision is one transaction: the articles, the record of who decided and why, and the event that an
article leaves. So there is no half of one. Then the articles are announced, as new ones are: their analysis
writes the mentions anew and takes those of a joined article away. To decide the same again repeats that.

What a source says later is led by the articles themselves (`sourcebook.articles.redirects`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from boto3.dynamodb.conditions import Attr

from sourcebook.articles.conditions import has_status
from sourcebook.articles.decisions import changes as change
from sourcebook.articles.decisions.events import EventDecisions
from sourcebook.articles.decisions.model import (
    DecidedBy,
    DecisionReader,
    article_of,
    decide_at_last,
    writes_of,
)
from sourcebook.articles.redirects import MOST_REDIRECTS, redirect
from sourcebook.clock import Clock, utc_now
from sourcebook.errors import DoesNotFit
from sourcebook.records.article import Article, ArticleAlias
from sourcebook.records.base import changes
from sourcebook.records.decision import Decision, DecisionAction
from sourcebook.table import keys
from sourcebook.table.client import Table, Write


@dataclass(frozen=True, slots=True)
class ArticleDecisions:
    """Does what a person has decided of articles.

    Attributes:
        announce: asks for the analysis of articles.
    """

    table: Table
    announce: Callable[[Iterable[str]], object]
    clock: Clock = utc_now

    def join(self, into: str, other: str, by: DecidedBy) -> Decision:
        """Join an article to another, which has the attributions of both then.

        Raises:
            NotThere: if one of them is not there.
            DoesNotFit: if they are the same, or one was joined to a third.
            DecisionContended: if others keep changing them; try again.
        """
        if into == other:
            raise DoesNotFit("other_id", other, "another article than the one that it is joined to")
        return decide_at_last(lambda: self._join(into, other, by))

    def split(self, article_id: str, source: str, by: DecidedBy) -> Decision:
        """Split the attribution of one source off into an article of its own.

        Raises:
            NotThere: if there is no such article.
            DoesNotFit: if the source did not report it, or it alone did.
            DecisionContended: if others keep changing it; try again.
        """
        return decide_at_last(lambda: self._split(article_id, source, by))

    def undo(self, decision: Decision, by: DecidedBy) -> Decision:
        """Take a join or a split back.

        Raises:
            NotThere: if one of the articles has expired.
            DoesNotFit: if a later decision stands in the way.
            DecisionContended: if others keep changing the articles; try again.
        """
        first, second = decision.about
        if decision.action is DecisionAction.SPLIT_ARTICLE:
            return decide_at_last(lambda: self._join(first, second, by, undoes=decision))
        return decide_at_last(lambda: self._separate(decision, by))

    def _join(self, into_id: str, other_id: str, by: DecidedBy, undoes: Decision | None = None) -> Decision:
        into, other = article_of(self.table, into_id), article_of(self.table, other_id, "other_id")
        about = (into_id, other_id)
        if other.joined_into == into_id:
            done = undoes or DecisionReader(self.table).last(DecisionAction.JOIN_ARTICLES, about)
            if done is not None:
                self.announce(about)
                return done
        _refuse_joined("article_id", into)
        _refuse_joined("other_id", other)
        action = DecisionAction.UNDO if undoes else DecisionAction.JOIN_ARTICLES
        decision = by.decision(
            action,
            about,
            self.clock(),
            source=undoes.source if undoes else None,
            undoes=undoes.decision_id if undoes else None,
            before=change.before_joining(into, other) | {"event_id": other.event_id},
        )
        after = change.joined(into, other)
        after = replace(after, split_off=self._straight(after, other_id) or None)
        pointer = change.pointing(other, into_id, decision.decision_id, after.ttl_timestamp)
        leaving = EventDecisions(self.table, self.clock).leaving(other)
        self.table.transact([*_change(into, after), *_change(other, pointer), *leaving, *writes_of(decision)])
        self.announce(about)
        return decision

    def _straight(self, article: Article, joining: str) -> dict[str, str]:
        """Return what was split off from an article, without what leads back to it."""
        kept = {}
        for source, key in (article.split_off or {}).items():
            place: str | None = key
            for _ in range(MOST_REDIRECTS):
                if place in {None, joining, article.dedup_key}:
                    break
                item = self.table.get(keys.article(str(place)), consistent=True)
                place = redirect(Article.of_item(item), source) if item else None
            if place not in {joining, article.dedup_key}:
                kept[source] = key
        return kept

    def _split(self, article_id: str, source: str, by: DecidedBy) -> Decision:
        article = article_of(self.table, article_id)
        _refuse_joined("article_id", article)
        if source not in article.source_attribution:
            own = (article.split_off or {}).get(source)
            done = own and DecisionReader(self.table).last(DecisionAction.SPLIT_ARTICLE, (article_id, own))
            if own and done:
                self.announce((article_id, own))
                return done
            raise DoesNotFit("source", source, f"one of the article's: {', '.join(article.sources)}")
        if len(article.source_attribution) == 1:
            raise DoesNotFit("source", source, "a source of an article that others report too")
        rest, own_article = change.split(article, source)
        key = own_article.dedup_key
        # What was split off and joined again leads back; any other article may not be overwritten.
        is_free = Attr("PK").not_exists() | Attr("joined_into").exists()
        decision = by.decision(DecisionAction.SPLIT_ARTICLE, (article_id, key), self.clock(), source=source)
        self.table.transact(
            [
                *_change(article, rest),
                Write(keys.article(key), item=own_article.to_item(keys.article(key)), condition=is_free),
                *writes_of(decision),
            ]
        )
        self.announce((article_id, key))
        return decision

    def _separate(self, joining: Decision, by: DecidedBy) -> Decision:
        into_id, other_id = joining.about
        other = article_of(self.table, other_id, "other_id")
        into = article_of(self.table, into_id)
        if other.joined_into != into_id:
            raise DoesNotFit("decision_id", joining.decision_id, "a decision that still stands")
        _refuse_joined("article_id", into)
        split_since = sorted((into.split_off or {}).keys() & other.source_attribution.keys())
        if split_since:
            raise DoesNotFit(
                "decision_id", joining.decision_id, f"a split of {split_since[0]} that was taken back first"
            )
        before = joining.before or {}
        since = self._came_by(other, into, before["sources"])  # type: ignore[arg-type]
        rest, own = change.separated(into, other, before, since)
        event_id = before.get("event_id")
        events = EventDecisions(self.table, self.clock)
        returning, event = events.returning(own, str(event_id)) if event_id else ([], None)
        own = replace(own, event_id=event)
        decision = by.decision(DecisionAction.UNDO, joining.about, self.clock(), undoes=joining.decision_id)
        self.table.transact([*_change(into, rest), *_change(other, own), *returning, *writes_of(decision)])
        self.announce(joining.about)
        return decision

    def _came_by(self, other: Article, into: Article, before: Iterable[str]) -> list[str]:
        """Return the sources whose attributions have come by way of a joined article."""
        known = {*before, *other.source_attribution}
        places = {
            source: keys.article_alias(source, attribution.article_id)
            for source, attribution in into.source_attribution.items()
            if source not in known
        }
        found = {item["PK"]: item for item in self.table.batch_get(places.values(), consistent=True)}
        aliases = {
            source: ArticleAlias.of_item(found[place["PK"]]).dedup_key
            for source, place in places.items()
            if place["PK"] in found
        }
        return [source for source, key in aliases.items() if key == other.dedup_key]


def _refuse_joined(field: str, article: Article) -> None:
    if article.joined_into:
        raise DoesNotFit(
            field, article.dedup_key, f"an article of its own; this one was joined to {article.joined_into}"
        )


def _change(before: Article, after: Article) -> list[Write]:
    """Return the write that makes an article another, unless anybody has changed it since it was read."""
    as_read = Attr("revision").eq(before.revision) & has_status(before.status)
    return [Write(keys.article(before.dedup_key), assign=changes(before, after), condition=as_read)]
