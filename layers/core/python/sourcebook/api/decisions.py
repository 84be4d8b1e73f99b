"""The operations by which a person decides on articles and events otherwise than the pipeline has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import ConfigDict, Field

from sourcebook.api.operations import Body, Operation, of_topic
from sourcebook.api.parameters import PageParameters
from sourcebook.api.parts import Services
from sourcebook.api.requests import Request
from sourcebook.api.resources import Resource
from sourcebook.api.responses import Response, listed
from sourcebook.articles.decisions.articles import ArticleDecisions
from sourcebook.articles.decisions.events import EventDecisions
from sourcebook.articles.decisions.model import DecidedBy, DecisionReader
from sourcebook.articles.decisions.undo import undo
from sourcebook.inputs import Input, expected, matching, text
from sourcebook.records.decision import Decision, DecisionAction
from sourcebook.schema import DIGEST

if TYPE_CHECKING:
    from sourcebook.articles.announce import Announcer

DedupKey = Annotated[str, matching(DIGEST, 32), expected("an article's dedup_key, 32 hexadecimal digits")]
EventId = Annotated[str, matching(DIGEST, 32), expected("an event's id, 32 hexadecimal digits")]
DecisionId = Annotated[
    str,
    matching(r"\d{8}T\d{9}Z-[0-9a-f]{8}", 40),
    expected("the id of a decision; GET /decisions lists them"),
]


_A, _B = "3b6fbc0e4a1d4e0f9b8a7c6d5e4f3a2b", "9c1e77d0b2645f3a9c1e77d0b2645f3a"


def _example(**fields: str) -> ConfigDict:
    common = {"decided_by": "Ada Lovelace", "reason": "Both tell of the recall in Ohio."}
    return ConfigDict(json_schema_extra={"examples": [{**common, **fields}]})


class _Decided(Input):
    """Who decides and why."""

    decided_by: Annotated[str, text(200)] = Field(description="Who decides.")
    reason: Annotated[str, text(1_000)] = Field(description="Why, for those who come after.")


class JoinArticles(_Decided):
    """Two articles are one."""

    model_config = _example(article_id=_A, other_id=_B)

    article_id: DedupKey = Field(description="The article that stays.")
    other_id: DedupKey = Field(description="The one that is joined to it.")


class SplitArticle(_Decided):
    """The attribution of one source is another story."""

    model_config = _example(article_id=_A, source="harbor-ledger")

    article_id: DedupKey = Field(description="The article.")
    source: Annotated[str, text(200)] = Field(description="The source, as the article names it.")


class TakeOut(_Decided):
    """An article does not belong to its event."""

    model_config = _example(article_id=_A)

    article_id: DedupKey = Field(description="The article.")


class MergeEvents(_Decided):
    """Two events are one."""

    model_config = _example(event_id=_A, other_id=_B)

    event_id: EventId = Field(description="The event that stays.")
    other_id: EventId = Field(description="The one that is merged into it.")


class Undo(_Decided):
    """A decision is taken back."""

    model_config = _example(decision_id="20261127T140302117Z-5a4fce02")

    decision_id: DecisionId = Field(description="The decision.")


INPUTS: Final[Mapping[str, type[_Decided]]] = {
    DecisionAction.JOIN_ARTICLES.value: JoinArticles,
    DecisionAction.SPLIT_ARTICLE.value: SplitArticle,
    DecisionAction.TAKE_OUT.value: TakeOut,
    DecisionAction.MERGE_EVENTS.value: MergeEvents,
    DecisionAction.UNDO.value: Undo,
}
"""The input of each decision, by its name."""
_DECISION: Final = Resource("decision", "action", f"There are {', '.join(INPUTS)}.")


class DecisionParameters(PageParameters):
    """Which decisions are asked for."""

    about: Annotated[str, matching(DIGEST, 32)] | None = Field(
        None, description="Only those about this article or event.", examples=[_A]
    )


def _announcer(services: Services) -> Announcer:
    import boto3  # noqa: PLC0415 - as below

    from sourcebook.articles.announce import Announcer  # noqa: PLC0415 - few requests announce
    from sourcebook.table.client import aws_config  # noqa: PLC0415 - as above

    return Announcer(boto3.client("sns", config=aws_config()), services.environ["ARTICLE_TOPIC_ARN"])


def _list_decisions(services: Services, request: Request) -> Response:
    return listed(DecisionReader(services.table).page(**dict(DecisionParameters.of(request))))


def _decide(services: Services, request: Request) -> Response:
    asked = _DECISION.of(request, INPUTS.get).read(request.json())
    by = DecidedBy(decided_by=asked.decided_by, reason=asked.reason, token=request.id, caller=request.caller)
    return Response(_decided(services, asked, by, request.correlation_id).shown())


def _decided(services: Services, asked: _Decided, by: DecidedBy, correlation_id: str) -> Decision:
    def announce(dedup_keys: Iterable[str]) -> None:
        services.once(_announcer).announce(dedup_keys, correlation_id)

    articles, events = ArticleDecisions(services.table, announce), EventDecisions(services.table)
    match asked:
        case JoinArticles():
            return articles.join(asked.article_id, asked.other_id, by)
        case SplitArticle():
            return articles.split(asked.article_id, asked.source, by)
        case TakeOut():
            return events.take_out(asked.article_id, by)
        case MergeEvents():
            return events.merge(asked.event_id, asked.other_id, by)
        case Undo():
            return undo(asked.decision_id, by, articles, events, DecisionReader(services.table))
    raise AssertionError(asked)


OPERATIONS: Final = of_topic(
    "Decisions on articles and events",
    Operation(
        route="GET /decisions",
        summary="What people have decided of articles and events",
        description="The newest first: who, when, why, and by which decision it was taken back. They are "
        "kept for a year.",
        handle=_list_decisions,
        query=DecisionParameters,
        answers={200: "DecisionPage"},
    ),
    Operation(
        route="POST /decisions/{action}",
        summary="Join or split articles, take one out of its event, merge events, or undo it",
        description="`join_articles`: the article `other_id` answers with the other one from then on, and "
        "what its sources say later goes there. `split_article`: the word of `source` gets an article of its "
        "own, to which all goes that the source says later. `take_out`: the article leaves its event and is "
        "put into none again. `merge_events`: the articles of `other_id` belong to `event_id`. `undo` takes "
        "a decision back. Articles are analyzed anew. To decide the same again answers with the decision "
        "that stands. 404 if an article, an event or a decision is not there, 409 if a decision does not fit "
        "what is there; docs/articles.md says when.",
        handle=_decide,
        body=Body(forms=INPUTS, everywhere=True),
        answers={200: "Decision"},
    ),
)
