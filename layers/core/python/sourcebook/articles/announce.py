"""Announcing articles that wait for analysis: one topic, ten messages a request, refusals sent again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from sourcebook.errors import Retryable
from sourcebook.events import ArticleCreated

if TYPE_CHECKING:
    from mypy_boto3_sns import SNSClient

_BATCH: Final = 10
_ATTEMPTS: Final = 5


class AnnouncementRefused(Retryable):
    """The topic did not take an announcement, also when asked again."""


@dataclass(frozen=True, slots=True)
class Announcer:
    """Publishes to the topic of articles that wait for analysis."""

    topic: SNSClient
    topic_arn: str
    sleep: Callable[[float], None] = field(default=time.sleep)

    def announce(self, dedup_keys: Iterable[str], correlation_id: str) -> int:
        """Announce articles and return how many there were.

        Raises:
            AnnouncementRefused: if the topic did not take all of them. Announcing them all again is harmless.
        """
        remaining = iter(dict.fromkeys(dedup_keys))
        announced = 0
        while chunk := list(islice(remaining, _BATCH)):
            self._publish(
                {
                    str(n): ArticleCreated(correlation_id=correlation_id, dedup_key=key).model_dump_json()
                    for n, key in enumerate(chunk)
                }
            )
            announced += len(chunk)
        return announced

    def _publish(self, waiting: dict[str, str]) -> None:
        reasons: list[str] = []
        for attempt in range(_ATTEMPTS):
            entries: Any = [{"Id": id_, "Message": body} for id_, body in waiting.items()]
            try:
                answer = self.topic.publish_batch(TopicArn=self.topic_arn, PublishBatchRequestEntries=entries)
            except (ClientError, BotoCoreError) as error:
                raise AnnouncementRefused(f"SNS: {error}") from error
            # The request succeeds as a whole even when the topic refuses some of its entries.
            reasons = [f"{entry['Code']}" for entry in answer.get("Failed", ())]
            refused = {entry["Id"] for entry in answer.get("Failed", ())}
            waiting = {id_: body for id_, body in waiting.items() if id_ in refused}
            if not waiting:
                return
            self.sleep(0.1 * 2**attempt)
        raise AnnouncementRefused(f"SNS refused {len(waiting)} announcements {_ATTEMPTS} times: {reasons[0]}")
