"""Notifies the operator of sources that errors have disabled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sourcebook.errors import printable
from sourcebook.sources.poll import RoundReport

if TYPE_CHECKING:
    from mypy_boto3_sns import SNSClient

_RUNBOOK: Final = "docs/operations.md#disabled-sources"


@dataclass(frozen=True, slots=True)
class Notice:
    """Publishes notices of disabled sources to the topic of alarms.

    Attributes:
        topic: a client of SNS.
        topic_arn: of the topic; empty for no notices.
    """

    topic: SNSClient
    topic_arn: str

    def send(self, report: RoundReport) -> int:
        """Send one message of the sources that a round has disabled; return how many there were.

        Raises:
            botocore.exceptions.ClientError: if the topic does not take it.
        """
        disabled = [poll for poll in report.polls if poll.disabled]
        if disabled and self.topic_arn:
            lines = [
                f"{poll.source_id}: {printable(poll.result.message or poll.result.cause or '')[:200]}"
                for poll in disabled
            ]
            self.topic.publish(
                TopicArn=self.topic_arn,
                Subject=f"Sourcebook: {len(disabled)} source{'s' * (len(disabled) > 1)} disabled by errors",
                Message="\n".join(
                    [*lines, "", f"Each is probed every week and comes back by itself. Runbook: {_RUNBOOK}"]
                ),
            )
        return len(disabled)
