"""Overviews of ingestion: its sources, its runs, and what failed for good."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

from botocore.exceptions import BotoCoreError, ClientError
from pydantic import Field

from sourcebook.api.operations import Operation, of_topic
from sourcebook.api.parameters import Parameters, number, one_of
from sourcebook.api.parts import Services
from sourcebook.api.requests import Request
from sourcebook.api.responses import Response, unpaged
from sourcebook.articles.overview import HOURS_LIMIT, ORDERS, IngestionOverview
from sourcebook.clients import on_demand
from sourcebook.errors import InvalidInput, Retryable
from sourcebook.table.client import aws_config

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

DEAD_LETTER_QUEUES: Final = "DEAD_LETTER_QUEUES"
"""Of the environment: the address of each dead-letter queue by the job that it is of, as JSON."""


class PastParameters(Parameters):
    """How far back an overview goes."""

    hours: Annotated[int, number(1, HOURS_LIMIT)] = Field(24, description="How many hours back.")


class SourceOverviewParameters(PastParameters):
    """How far back, and in which order sources are given."""

    order: Annotated[str, one_of(ORDERS)] = Field(
        ORDERS[0],
        description="What is largest in the first source: articles, their mean age, its slowest fetch, or "
        "errors.",
    )


class QueueBusy(Retryable):
    """SQS is not able to answer now."""


@dataclass(frozen=True, slots=True)
class DeadLetters:
    """The dead-letter queues of a stack."""

    client: SQSClient
    urls: Mapping[str, str]

    @classmethod
    def from_environment(cls, client: SQSClient, environ: Mapping[str, str]) -> DeadLetters:
        """Read which there are.

        Raises:
            InvalidInput: if the variable is no object of texts.
        """
        text = environ.get(DEAD_LETTER_QUEUES, "{}")
        try:
            urls = json.loads(text)
        except ValueError:
            urls = None
        if not isinstance(urls, dict) or not all(isinstance(url, str) for url in urls.values()):
            raise InvalidInput(DEAD_LETTER_QUEUES, text, "the addresses of queues by their names, as JSON")
        return cls(client, urls)

    def waiting(self) -> list[dict[str, object]]:
        """Return each queue with about how many messages wait in it."""
        try:
            return [
                {"queue": name, "messages": self._messages(url), "mend": f"sourcebook redrive {name}"}
                for name, url in sorted(self.urls.items())
            ]
        except (ClientError, BotoCoreError) as error:
            raise QueueBusy(f"the queues do not answer: {error}") from error

    def _messages(self, url: str) -> int:
        answer = self.client.get_queue_attributes(
            QueueUrl=url, AttributeNames=["ApproximateNumberOfMessages"]
        )
        return int(answer["Attributes"]["ApproximateNumberOfMessages"])


def _queues() -> SQSClient:
    import boto3  # noqa: PLC0415 - seldom needed

    return boto3.client("sqs", config=aws_config())


def _dead_letters(services: Services) -> DeadLetters:
    return DeadLetters.from_environment(on_demand(_queues), services.environ)


def _list_source_overviews(services: Services, request: Request) -> Response:
    asked = SourceOverviewParameters.of(request)
    return Response(IngestionOverview(services.table).sources(asked.hours, asked.order))


def _list_batches(services: Services, request: Request) -> Response:
    return Response(IngestionOverview(services.table).batches(PastParameters.of(request).hours))


def _list_dead_letters(services: Services, request: Request) -> Response:  # noqa: ARG001 - as every operation
    return unpaged(services.once(_dead_letters).waiting())


OPERATIONS: Final = of_topic(
    "Overviews",
    Operation(
        route="GET /overviews/sources",
        summary="What each source brought of late, how old it was, and how fast it answered",
        description="`mean_age_seconds` is from the publication of its articles to their fetching. `fetches` "
        "are those that changed something or failed; one of more than five seconds makes a source `slow`. "
        "The first 200 sources that are due and the newest 2,000 articles are looked at; `left_out` says "
        "whether there are more.",
        handle=_list_source_overviews,
        query=SourceOverviewParameters,
        answers={200: "SourceOverviews"},
        volatile=True,
    ),
    Operation(
        route="GET /overviews/ingestion",
        summary="The runs of ingestion, and how often two sources reported the same",
        description="The counts are of all runs of the window; `items` are the newest hundred. A run over "
        "unchanged sources leaves no record. `collision_rate` is `collisions_detected` by "
        "`articles_fetched`, which counts articles that the source had not reported before.",
        handle=_list_batches,
        query=PastParameters,
        answers={200: "IngestionBatches"},
        volatile=True,
    ),
    Operation(
        route="GET /overviews/dead-letters",
        summary="What failed for good and waits for a person",
        description="About how many messages wait in the dead-letter queue of each job, and the command that "
        "sends them back to work.",
        handle=_list_dead_letters,
        answers={200: "DeadLetterQueues"},
        volatile=True,
    ),
)
