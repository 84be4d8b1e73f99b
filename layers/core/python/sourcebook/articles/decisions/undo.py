"""Taking a decision back, whatever it was about."""

from __future__ import annotations

from sourcebook.articles.decisions.articles import ArticleDecisions
from sourcebook.articles.decisions.events import EventDecisions
from sourcebook.articles.decisions.model import DecidedBy, DecisionReader
from sourcebook.errors import DoesNotFit, NotThere
from sourcebook.records.decision import Decision, DecisionAction

_OF_EVENTS = {DecisionAction.TAKE_OUT, DecisionAction.MERGE_EVENTS}


def undo(
    decision_id: str,
    by: DecidedBy,
    articles: ArticleDecisions,
    events: EventDecisions,
    reader: DecisionReader,
) -> Decision:
    """Take a decision back; one that was taken back is answered with what did so.

    Raises:
        NotThere: if there is no such decision, or what it was about has expired.
        DoesNotFit: if it took another back itself, or a later one stands in the way.
        DecisionContended: if others keep changing what it is about; try again.
    """
    decision = reader.get(decision_id)
    if decision is None:
        raise NotThere("decision_id", decision_id, "the id of a decision; they are kept for a year")
    if decision.action is DecisionAction.UNDO:
        raise DoesNotFit("decision_id", decision_id, "a decision that took none back: decide anew instead")
    if decision.undone_by:
        done = reader.get(decision.undone_by)
        if done is None:
            raise NotThere("decision_id", decision_id, "a decision that is still kept")
        if decision.action is DecisionAction.MERGE_EVENTS:
            events.follow_up(done)
        elif decision.action not in _OF_EVENTS:
            articles.announce(done.about)
        return done
    return events.undo(decision, by) if decision.action in _OF_EVENTS else articles.undo(decision, by)
