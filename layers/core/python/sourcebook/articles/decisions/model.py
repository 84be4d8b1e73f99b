"""Who decides and why, what may be wrong about it, and the list of what was decided."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from boto3.dynamodb.conditions import Attr
from boto3.dynamodb.conditions import Key as KeyCondition

from sourcebook.clock import epoch_seconds, isoformat
from sourcebook.errors import NotThere, Retryable
from sourcebook.records.article import Article
from sourcebook.records.decision import KEPT, Decision, DecisionAction, id_begins
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed, Table, Write
from sourcebook.table.pages import Listing, Page, fill_page

RACES: Final = 10
"""Times that a decision is made again after another writer was faster."""


class DecisionContended(Retryable):
    """Others kept changing what the decision is about; the same may be decided again in a moment."""


def decide_at_last(decide: Callable[[], Decision]) -> Decision:
    """Return what was decided, made again as long as another writer was faster.

    Raises:
        DecisionContended: if others keep being faster.
    """
    for _ in range(RACES):
        try:
            return decide()
        except ConditionFailed:
            continue
    raise DecisionContended("others keep changing what this is about; decide again in a moment")


def article_of(table: Table, key: str, field: str = "article_id") -> Article:
    """Return the article with a dedup key.

    Raises:
        NotThere: naming the field, if there is none.
    """
    item = table.get(keys.article(key), consistent=True)
    if item is None:
        raise NotThere(field, key, "the dedup_key of an article; they are kept for 30 days")
    return Article.of_item(item)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedBy:
    """The person who decides, and the reason.

    Attributes:
        token: makes the decision's id differ from that of another at the same moment.
        caller: who called the API, by its identity.
    """

    decided_by: str
    reason: str
    token: str
    caller: str | None = None

    def decision(
        self,
        action: DecisionAction,
        about: tuple[str, ...],
        now: datetime,
        *,
        source: str | None = None,
        undoes: str | None = None,
        before: Mapping[str, object] | None = None,
    ) -> Decision:
        """Return the record of a decision that is made now."""
        at = isoformat(now, "milliseconds")
        return Decision(
            decision_id=f"{id_begins(now)}-{self.token[:8]}",
            action=action,
            about=about,
            source=source,
            reason=self.reason,
            decided_by=self.decided_by,
            caller=self.caller,
            decided_at=at,
            undoes=undoes,
            before=before,
            ttl_timestamp=epoch_seconds(now + KEPT),
        )


def writes_of(decision: Decision) -> list[Write]:
    """Return the writes that record a decision, and that it took another back."""
    key = keys.decision(decision.decision_id)
    writes = [Write(key, item=decision.to_item(key))]
    if decision.undoes:
        undone = Attr("PK").exists() & Attr("undone_by").not_exists()
        writes.append(
            Write(
                keys.decision(decision.undoes), assign={"undone_by": decision.decision_id}, condition=undone
            )
        )
    return writes


@dataclass(frozen=True, slots=True)
class DecisionReader:
    """The decisions in the table."""

    table: Table

    def get(self, decision_id: str) -> Decision | None:
        """Return one, or None."""
        item = self.table.get(keys.decision(decision_id), consistent=True)
        return None if item is None else Decision.of_item(item)

    def last(self, action: DecisionAction, about: tuple[str, ...]) -> Decision | None:
        """Return the newest decision of a kind about these, or None."""
        rows = self.table.items_of(keys.DECISIONS, newest_first=True, consistent=True)
        found = (Decision.of_item(row) for row in rows)
        return next((one for one in found if one.action is action and one.about == about), None)

    def page(self, *, about: str | None, limit: int, cursor: str | None = None) -> Page[Decision]:
        """Return one page, the newest first.

        Args:
            about: only those about this article or event.
            limit: how many at most.
            cursor: of the page before.

        Raises:
            InvalidInput: if the cursor is not one of this list.
        """
        listing = Listing.of("decisions", {"about": about})
        start = None
        if cursor is not None:
            (decision_id,) = listing.position(cursor, parts=1)
            start = keys.decision(decision_id)
        rows = self.table.query_all(
            KeyCondition("PK").eq(keys.DECISIONS),
            newest_first=True,
            start=start,
            page_size=limit + 1,
        )
        return fill_page(
            (row for row in rows if about is None or about in row["about"]),
            listing=listing,
            position=lambda row: (row["decision_id"],),
            load=lambda rows: [Decision.of_item(row) for row in rows],
            limit=limit,
        )
