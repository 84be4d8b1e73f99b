"""The queues of what failed for good: how much waits in each for a person."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from botocore.exceptions import BotoCoreError, ClientError

from sourcebook.errors import InvalidInput, Retryable

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

VARIABLE: Final = "DEAD_LETTER_QUEUES"
"""Of the environment: the address of each dead-letter queue by the job that it is of, as JSON."""


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
        text = environ.get(VARIABLE, "{}")
        try:
            urls = json.loads(text)
        except ValueError:
            urls = None
        if not isinstance(urls, dict) or not all(isinstance(url, str) for url in urls.values()):
            raise InvalidInput(VARIABLE, text, "the addresses of queues by their names, as JSON")
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
