"""Articles taken out of their events and events merged by a person, and either taken back.

What decides is one transaction: the events, the article and the record. Members of a merged event follow one
by one afterwards, which may be done again at any time; until then their old event leads them to the other.
Grouping respects what stands on articles and events (`kept_alone`, `taken_out`, `merged_into`), even if it
was about to write otherwise, and reads the decisions before it compares newcomers (docs/decisions/0321).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from boto3.dynamodb.conditions import Attr

from sourcebook.articles.decisions.model import (
    DecidedBy,
    DecisionReader,
    article_of,
    decide_at_last,
    writes_of,
)
from sourcebook.articles.grouping.groups import MOST_MEMBERS, Entry
from sourcebook.articles.grouping.members import of_members
from sourcebook.articles.grouping.ungrouped import ungrouped_items
from sourcebook.articles.redirects import MOST_REDIRECTS
from sourcebook.clock import Clock, isoformat, utc_now
from sourcebook.errors import DoesNotFit, NotThere
from sourcebook.records.article import Article
from sourcebook.records.base import changes
from sourcebook.records.decision import Decision, DecisionAction
from sourcebook.records.event import MERGED, Event
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed, Table, Write


@dataclass(frozen=True, slots=True)
class EventDecisions:
    """Does what a person has decided of events."""

    table: Table
    clock: Clock = utc_now

    def take_out(self, article_id: str, by: DecidedBy) -> Decision:
        """Take an article out of its event; grouping puts it into none again.

        Raises:
            NotThere: if there is no such article.
            DoesNotFit: if it is in no event.
            DecisionContended: if others keep changing them; try again.
        """
        return decide_at_last(lambda: self._take_out(article_id, by))

    def merge(self, into_id: str, other_id: str, by: DecidedBy) -> Decision:
        """Merge an event into another.

        Raises:
            NotThere: if one of them is not there.
            DoesNotFit: if they are one, one is merged already, or they are too many articles.
            DecisionContended: if others keep changing them; try again.
        """
        return decide_at_last(lambda: self._merge(into_id, other_id, by))

    def undo(self, decision: Decision, by: DecidedBy) -> Decision:
        """Take a take-out or a merge back.

        Raises:
            NotThere: if the article or an event has expired.
            DoesNotFit: if a later decision stands in the way.
            DecisionContended: if others keep changing them; try again.
        """
        if decision.action is DecisionAction.TAKE_OUT:
            return decide_at_last(lambda: self._put_back(decision, by))
        return decide_at_last(lambda: self._part(decision, by))

    def follow_up(self, decision: Decision) -> None:
        """Apply the decisions on two events to their members. It may be repeated at any time."""
        into_id, other_id = decision.about
        other = self._event(other_id, "other_id")
        is_merged = other.merged_into == into_id
        before, after = (other_id, into_id) if is_merged else (into_id, other_id)
        for dedup_key in other.members:
            try:
                self.table.change(
                    keys.article(dedup_key),
                    assign={"event_id": after},
                    condition=Attr("event_id").eq(before),
                )
            except ConditionFailed:
                continue  # it says so already, was taken out, or has expired

    def leaving(self, article: Article) -> list[Write]:
        """Return the writes by which an article leaves its event, besides the article's own."""
        if not article.event_id:
            return []
        event = self._end_of(article.event_id)
        if event is None:
            return []
        key = article.dedup_key
        left = [one for one in self._members(event) if one.dedup_key != key]
        after = replace(of_members(event, left), taken_out=tuple(sorted({*event.taken_out, key})))
        return [*_change(event, after, self.clock), *self._conclude_anew(left)]

    def returning(self, article: Article, event_id: str) -> tuple[list[Write], str | None]:
        """Return the writes by which an article comes back to its event, and the event's id.

        Neither, if the event has expired.
        """
        event = self._end_of(event_id)
        if event is None:
            return [], None
        member = Entry.of(article)
        after = of_members(event, [*self._members(event), member])
        after = replace(after, taken_out=tuple(one for one in event.taken_out if one != article.dedup_key))
        return [*_change(event, after, self.clock), *self._conclude_anew([member])], event.event_id

    def _take_out(self, article_id: str, by: DecidedBy) -> Decision:
        article = article_of(self.table, article_id)
        if article.event_id is None:
            done = article.kept_alone and DecisionReader(self.table).get(article.kept_alone)
            if done and done.action is DecisionAction.TAKE_OUT:
                return done
            raise DoesNotFit("article_id", article_id, "an article that is in an event")
        event = self._end_of(article.event_id)
        event_id = event.event_id if event else article.event_id
        decision = by.decision(DecisionAction.TAKE_OUT, (article_id, event_id), self.clock())
        gone: dict[str, object] = {"event_id": None, "kept_alone": decision.decision_id}
        self.table.transact(
            [
                Write(keys.article(article_id), assign=gone, condition=Attr("event_id").eq(article.event_id)),
                *self.leaving(article),
                *writes_of(decision),
            ]
        )
        return decision

    def _put_back(self, taken_out: Decision, by: DecidedBy) -> Decision:
        article_id, event_id = taken_out.about
        article = article_of(self.table, article_id)
        if article.kept_alone != taken_out.decision_id:
            raise DoesNotFit("decision_id", taken_out.decision_id, "a decision that still stands")
        returning, event = self.returning(article, event_id)
        decision = by.decision(
            DecisionAction.UNDO, taken_out.about, self.clock(), undoes=taken_out.decision_id
        )
        back: dict[str, object] = {"event_id": event, "kept_alone": None}
        mine = Attr("kept_alone").eq(taken_out.decision_id)
        self.table.transact(
            [Write(keys.article(article_id), assign=back, condition=mine), *returning, *writes_of(decision)]
        )
        return decision

    def _merge(self, into_id: str, other_id: str, by: DecidedBy) -> Decision:
        if into_id == other_id:
            raise DoesNotFit("other_id", other_id, "another event than the one that it is merged into")
        into, other = self._event(into_id, "event_id"), self._event(other_id, "other_id")
        about = (into_id, other_id)
        if other.merged_into == into_id:
            done = DecisionReader(self.table).last(DecisionAction.MERGE_EVENTS, about)
            if done is not None:
                self.follow_up(done)
                return done
        _refuse_merged("event_id", into)
        _refuse_merged("other_id", other)
        members = self._members(into, other)
        if len(members) > MOST_MEMBERS:
            raise DoesNotFit("other_id", other_id, f"events of at most {MOST_MEMBERS} articles together")
        decision = by.decision(DecisionAction.MERGE_EVENTS, about, self.clock())
        pointer = replace(other, merged_into=into_id, status=MERGED)
        after = replace(
            of_members(into, members), taken_out=tuple(sorted({*into.taken_out, *other.taken_out}))
        )
        self.table.transact(
            [
                *_change(into, after, self.clock),
                *_change(other, pointer, self.clock),
                *self._conclude_anew(members),
                *writes_of(decision),
            ]
        )
        self.follow_up(decision)
        return decision

    def _part(self, merged: Decision, by: DecidedBy) -> Decision:
        into_id, other_id = merged.about
        into, other = self._event(into_id, "event_id"), self._event(other_id, "other_id")
        if other.merged_into != into_id:
            raise DoesNotFit("decision_id", merged.decision_id, "a decision that still stands")
        _refuse_merged("event_id", into)
        members = self._members(into, other)
        stay = [one for one in members if one.dedup_key not in other.members]
        theirs = {*other.members} - {*into.taken_out}
        go = [one for one in members if one.dedup_key in theirs]
        decision = by.decision(DecisionAction.UNDO, merged.about, self.clock(), undoes=merged.decision_id)
        own = replace(of_members(other, go), merged_into=None)
        self.table.transact(
            [
                *_change(into, of_members(into, stay), self.clock),
                *_change(other, own, self.clock),
                *self._conclude_anew(stay, go),
                *writes_of(decision),
            ]
        )
        self.follow_up(decision)
        return decision

    def _conclude_anew(self, *groups: Sequence[Entry]) -> list[Write]:
        """Return the writes of the marks by which grouping has conclusions drawn anew."""
        first = [group[0].dedup_key for group in groups if group]
        items = ungrouped_items(first, self.clock()) if first else []
        return [Write(keys.key_of(item), item=item) for item in items]

    def _members(self, *events: Event) -> list[Entry]:
        """Return the articles of events that have not expired."""
        wanted = (keys.article(key) for event in events for key in event.members)
        return [Entry.of(Article.of_item(item)) for item in self.table.batch_get(wanted, consistent=True)]

    def _event(self, event_id: str, field: str) -> Event:
        item = self.table.get(keys.event(event_id), consistent=True)
        if item is None:
            raise NotThere(
                field, event_id, "the id of an event; they are kept for 30 days after their last article"
            )
        return Event.of_item(item)

    def _end_of(self, event_id: str) -> Event | None:
        """Return the event that one leads to by the merges of people, or None if it has expired."""
        place: str | None = event_id
        event: Event | None = None
        for _ in range(MOST_REDIRECTS):
            item = self.table.get(keys.event(place), consistent=True) if place else None
            if item is None:
                break
            event = Event.of_item(item)
            place = event.merged_into
        return event


def _refuse_merged(field: str, event: Event) -> None:
    if event.merged_into:
        raise DoesNotFit(
            field, event.event_id, f"an event of its own; this one was merged into {event.merged_into}"
        )


def _change(before: Event, after: Event, clock: Clock) -> list[Write]:
    after = replace(after, revision=before.revision + 1, updated_at=isoformat(clock(), "milliseconds"))
    as_read = Attr("revision").eq(before.revision)
    return [Write(keys.event(before.event_id), assign=changes(before, after), condition=as_read)]
