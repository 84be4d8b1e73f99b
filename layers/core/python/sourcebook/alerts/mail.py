"""Mails about alerts, by a topic of SNS."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from botocore.exceptions import BotoCoreError, ClientError

from sourcebook.errors import InvalidInput

if TYPE_CHECKING:
    from mypy_boto3_sns import SNSClient

    from sourcebook.events import AlertFired

_REFUSED: Final = frozenset({"FilterPolicyLimitExceeded", "InvalidParameter", "SubscriptionLimitExceeded"})
"""What SNS says of an address that it never takes."""


class NotTaken(Exception):
    """A way did not take a delivery.

    Attributes:
        final: whether it never will.
    """

    def __init__(self, reason: str, *, final: bool = False) -> None:
        self.final = final
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class Mailer:
    """Writes mails by a topic of SNS, whose subscribers each get what is addressed to them."""

    client: SNSClient
    topic_arn: str

    def subscribe(self, address: str) -> None:
        """Ask an address whether it wants what is addressed to it; asking again changes nothing.

        Raises:
            InvalidInput: if SNS takes no such address, or no more of them: a topic may have 200 filters.
        """
        try:
            self.client.subscribe(
                TopicArn=self.topic_arn,
                Protocol="email",
                Endpoint=address,
                Attributes={"FilterPolicy": json.dumps({"to": [address]})},
            )
        except ClientError as error:
            if error.response["Error"]["Code"] not in _REFUSED:
                raise
            expected = f"an address that SNS takes ({error.response['Error']['Message']}), or a webhook"
            raise InvalidInput("mail", address, expected) from error

    def send(self, address: str, event: AlertFired) -> None:
        """Send a mail to an address that is subscribed to the topic.

        Raises:
            NotTaken: if SNS does not take it.
        """
        facts = "\n".join(f"{name}: {value}" for name, value in event.facts.items() if value is not None)
        subject = "".join(c if c.isascii() and c.isprintable() else "?" for c in event.alert_name)[:70]
        try:
            self.client.publish(
                TopicArn=self.topic_arn,
                Subject=f"Sourcebook: {subject}",
                Message=f"{event.alert_name} ({event.kind}, {event.at:%Y-%m-%d %H:%M} UTC)\n\n{facts}\n\n"
                f"alert {event.alert_id}, event {event.event_id}",
                MessageAttributes={"to": {"DataType": "String", "StringValue": address}},
            )
        except (ClientError, BotoCoreError) as error:
            raise NotTaken(f"SNS: {error}") from error
