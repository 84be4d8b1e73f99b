"""Publishes articles that wait for their analysis to the SNS topic, in batches."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sourcebook.articles._batch_sending import send_in_batches
from sourcebook.errors import Retryable
from sourcebook.events import ArticleCreated

if TYPE_CHECKING:
    from mypy_boto3_sns import SNSClient


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
        return send_in_batches(
            (
                ArticleCreated(correlation_id=correlation_id, dedup_key=key).model_dump_json()
                for key in dict.fromkeys(dedup_keys)
            ),
            self._publish,
            service="SNS",
            refused=AnnouncementRefused,
            sleep=self.sleep,
        )

    def _publish(self, messages: list[str]) -> list[tuple[str, str]]:
        entries: Any = [{"Id": str(n), "Message": message} for n, message in enumerate(messages)]
        answer = self.topic.publish_batch(TopicArn=self.topic_arn, PublishBatchRequestEntries=entries)
        return [(messages[int(failed["Id"])], failed["Code"]) for failed in answer.get("Failed", ())]
