"""Messages that travel between the functions, each checked where it is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainSerializer, ValidationError

from sourcebook.clock import isoformat, to_utc
from sourcebook.errors import InvalidInput
from sourcebook.schema import DIGEST, SCHEMA_VERSION
from sourcebook.validation import first_wrong

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger

UtcDatetime = Annotated[datetime, AfterValidator(to_utc), PlainSerializer(isoformat, return_type=str)]
"""An aware datetime in UTC, written as ISO 8601 to the second."""


DedupKey = Annotated[str, Field(pattern=f"^{DIGEST}$")]
EventId = Annotated[str, Field(pattern=f"^{DIGEST}$")]


class QueueMessage(BaseModel):
    """What every message carries: the version of its schema, and the id that joins the logs of one run."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    schema_version: Literal["1"] = SCHEMA_VERSION
    correlation_id: str = Field(min_length=1, max_length=128)


class SourceDue(BaseModel):
    """One source to fetch, and the due time that the message was made for."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    source_id: str = Field(min_length=1)
    kind: str = Field(min_length=1)
    due_at: UtcDatetime


class FetchRequested(QueueMessage):
    """dispatch_sources → SQS → fetch_sources."""

    sources: tuple[SourceDue, ...] = Field(min_length=1)


class ArticleCreated(QueueMessage):
    """fetch_sources → SNS → SQS → analyze_sentiment: this article waits for its analysis."""

    dedup_key: DedupKey


class BusEvent(QueueMessage):
    """An event of the event bus: `detail_type` is its detail-type there, its fields are the detail."""

    detail_type: ClassVar[str]


class ArticlesNew(BusEvent):
    """fetch_sources → bus: these articles are new. It may come twice.

    Attributes:
        source_id: the source that brought them.
        article_ids: their dedup keys.
        count: how many they are.
    """

    detail_type: ClassVar[str] = "articles.new"

    source_id: str = Field(min_length=1)
    article_ids: tuple[DedupKey, ...] = Field(min_length=1, max_length=100)
    count: int = Field(ge=1)


class GroupHeadlines(BusEvent):
    """trigger_grouping → bus → group_headlines: enough articles wait for grouping, or one waits too long.

    Which ones wait stands in the table, so that an event that is lost, late or repeated changes nothing.

    Attributes:
        trigger_reason: `threshold_reached` (10 articles) or `interval_elapsed` (5 minutes).
        ungrouped_count: articles that wait, counted up to the threshold.
        line: the part of the waiting articles that is asked for, from 0.
        lines: how many such parts there are.
    """

    detail_type: ClassVar[str] = "processing.group_headlines"

    trigger_reason: Literal["threshold_reached", "interval_elapsed"]
    ungrouped_count: int = Field(ge=1)
    line: int = Field(default=0, ge=0)
    lines: int = Field(default=1, ge=1)


class GenerateIdeas(BusEvent):
    """group_headlines → bus → generate_ideas: these events have changed. It may come twice."""

    detail_type: ClassVar[str] = "processing.generate_ideas"

    event_ids: tuple[EventId, ...] = Field(min_length=1, max_length=100)
    trigger_reason: Literal["events_updated"] = "events_updated"


class AlertFired(BusEvent):
    """index_articles → bus and webhook: a rule has fired. It may come twice, with one `event_id`.

    Attributes:
        alert_id: the rule.
        alert_name: what the rule is called.
        event_id: of this firing: a rule fires once for one event.
        kind: what the rule looks for.
        at: when it happened, as far as the table says.
        facts: what happened; docs/alerts.md has those of each kind.
    """

    detail_type: ClassVar[str] = "alert.fired"

    alert_id: str = Field(pattern=r"^[0-9a-f]{16}$")
    alert_name: str
    event_id: str = Field(pattern=f"^evt_{DIGEST}$")
    kind: Literal["article", "sentiment", "rate", "best_rate", "source", "spectrum", "run", "test"]
    at: UtcDatetime
    facts: dict[str, str | int | float | bool | tuple[str, ...] | None]


def schemas() -> dict[str, dict[str, object]]:
    """Return the JSON Schema of the detail of each event of the bus, by its detail-type."""
    kinds = sorted(BusEvent.__subclasses__(), key=lambda kind: kind.detail_type)
    return {kind.detail_type: kind.model_json_schema() for kind in kinds}


MessageT = TypeVar("MessageT", bound=QueueMessage)


def read_message(model: type[MessageT], body: str) -> MessageT:
    """Read a message body.

    Raises:
        InvalidInput: naming the first field that is wrong.
    """
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        raise first_wrong(error, f"body of {model.__name__}") from error


def read_records(
    model: type[MessageT], event: Mapping[str, Any], failed: list[str], logger: Logger
) -> Iterator[tuple[Mapping[str, Any], MessageT]]:
    """Yield the records of an SQS event, each with its message.

    A record that cannot be read is logged, and its message id is added to `failed`: it comes back, and ends
    in the dead-letter queue.
    """
    for record in event["Records"]:
        message_id = record["messageId"]
        try:
            message = read_message(model, record["body"])
        except InvalidInput as error:
            logger.warning("message_unreadable", extra={"message_id": message_id, "reason": str(error)})
            failed.append(message_id)
            continue
        yield record, message


def batch_response(failed: list[str]) -> dict[str, list[dict[str, str]]]:
    """Return a function's answer to SQS: the messages with these ids must come back."""
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in failed]}
