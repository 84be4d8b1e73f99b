"""What people have decided of events, carried out to its end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sourcebook.articles.decisions.events import EventDecisions
from sourcebook.clock import Clock, utc_now
from sourcebook.integrity.model import Check, IntegrityFinding, is_of
from sourcebook.records.article import Article
from sourcebook.records.decision import Decision, DecisionAction
from sourcebook.records.event import Event
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item


@dataclass(frozen=True, slots=True)
class MembersFollowDecisions(Check):
    """The articles of a merged event belong to the one that answers for it, and to their own after an undo.

    They follow one by one after the decision (docs/decisions/0321), and a process may die in between.
    """

    table: Table
    clock: Clock = utc_now
    name = "decisions"

    def examine(self, items: Sequence[Item]) -> Iterator[IntegrityFinding]:
        """Yield the articles that have not followed what was decided of their events."""
        decisions = [Decision.of_item(item) for item in items if is_of(item, "Decision")]
        merges = {one.about: one for one in decisions if one.action is DecisionAction.MERGE_EVENTS}
        wanted = dict.fromkeys(event_id for about in merges for event_id in about)
        rows = self.table.batch_get(map(keys.event, wanted), consistent=True)
        events = {event.event_id: event for event in map(Event.of_item, rows)}
        for (into_id, other_id), decision in merges.items():
            into, other = events.get(into_id), events.get(other_id)
            if into is not None and other is not None:
                yield from self._left_behind(decision, into, other)

    def _left_behind(self, decision: Decision, into: Event, other: Event) -> Iterator[IntegrityFinding]:
        if other.merged_into == into.event_id:
            moved = sorted({*other.members} & {*into.members})
            rightful, former = into, other
        elif other.merged_into is None and decision.undone_by:
            moved = sorted({*other.members} - {*into.members})
            rightful, former = other, into
        else:  # a later decision has the say
            return
        articles = self._articles(moved)
        about = keys.decision(decision.decision_id)
        for key in moved:
            if key in articles and articles[key].event_id == former.event_id:
                problem = f"it is in event {former.event_id}; a person has decided for {rightful.event_id}"
                yield self.found(keys.article(key), problem, about=about)

    def _articles(self, dedup_keys: Iterable[str]) -> dict[str, Article]:
        rows = self.table.batch_get(map(keys.article, dedup_keys), consistent=True)
        return {article.dedup_key: article for article in map(Article.of_item, rows)}

    def repair(self, finding: IntegrityFinding) -> bool:
        """Apply the decision to the articles of both events, as it does itself."""
        item = self.table.get(finding.about, consistent=True)
        if item is None:
            return False
        EventDecisions(self.table, self.clock).follow_up(Decision.of_item(item))
        return True
