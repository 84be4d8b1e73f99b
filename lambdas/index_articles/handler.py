"""Every three minutes: list new articles that wait, index what changed, fire alerts and deliver them."""

from __future__ import annotations

from sourcebook.start import collect_garbage_from_now

import os
from dataclasses import asdict
from functools import cache
from typing import TYPE_CHECKING, Any

import boto3
from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from sourcebook.alerts.deliveries import DeliveryStore
from sourcebook.alerts.evaluate import Evaluator
from sourcebook.alerts.rules import RuleStore
from sourcebook.articles.waiting import list_as_pending
from sourcebook.bucket.objects import Objects
from sourcebook.clients import on_demand
from sourcebook.counting import count
from sourcebook.search.days import Days
from sourcebook.search.index import Indexer
from sourcebook.search.read import SubjectNames
from sourcebook.search.stream import TableStream
from sourcebook.sentiment.subjects import SubjectRegistry
from sourcebook.settings import required
from sourcebook.table.client import Table, aws_config

if TYPE_CHECKING:
    from sourcebook.alerts.deliver import Deliverer

logger = Logger()
STREAM_SECONDS = 60.0
"""Seconds that reading the stream may take; writing has the rest of the function's time."""

table = Table.connect(required("TABLE_NAME"))
objects = Objects(on_demand(lambda: boto3.client("s3", config=aws_config())), required("BUCKET_NAME"))
indexer = Indexer(Days(objects), table)
streams = on_demand(lambda: boto3.client("dynamodbstreams", config=aws_config()))
stream = TableStream(streams, required("STREAM_ARN"), table)

rules, deliveries = RuleStore(table), DeliveryStore(table)
alerts = Evaluator(table, rules, deliveries, SubjectNames(SubjectRegistry(table)))
DELIVERY_MS = 20_000
"""Of the function's time, what a delivery that has begun may still need."""


@cache
def deliverer() -> Deliverer:
    """Return what delivers alerts; most runs have nothing to deliver, and load none of it."""
    from sourcebook.alerts.deliver import Deliverer
    from sourcebook.alerts.mail import Mailer
    from sourcebook.alerts.webhook import webhook_policy
    from sourcebook.articles.bus import EventBus

    bus = EventBus(boto3.client("events", config=aws_config()), required("EVENT_BUS_NAME"))
    mailer = Mailer(boto3.client("sns", config=aws_config()), required("ALERT_TOPIC_ARN"))
    return Deliverer(rules, deliveries, bus, mailer, webhook_policy(os.environ))


def deliver(context: LambdaContext) -> None:
    """Deliver what is due; what the time does not suffice for is due in the next run."""
    if not deliveries.due(1):
        return
    import asyncio

    done = asyncio.run(deliverer().run(lambda: context.get_remaining_time_in_millis() > DELIVERY_MS))
    count(AlertsDelivered=done.delivered, AlertsGivenUp=done.given_up)
    logger.info("alerts_delivered", extra=asdict(done))


@collect_garbage_from_now
@logger.inject_lambda_context(clear_state=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, int]:  # noqa: ARG001
    """Read the stream on from where the last run ended; nothing is noted before it is written."""
    rule_count = alerts.begin()
    changes = stream.read(STREAM_SECONDS, alerts.notice)
    unlisted = list_as_pending(table, changes.new)
    run = indexer.take_keys(changes.articles)
    alerted = alerts.run()
    if changes.records or changes.forgotten:
        stream.note(changes)
    if changes.forgotten:
        for action in ("sourcebook search rebuild", "sourcebook verify --only waiting-articles --repair"):
            logger.error("stream_forgotten", extra={"action": action})
    for key, reason in unlisted.items():
        logger.error("article_not_listed", extra={"article": key, "reason": reason})
    for key, reason in run.left_out.items():
        logger.error("article_not_indexed", extra={"dedup_key": key, "reason": reason})
    for identity, reason in alerted.left_out.items():
        logger.error("alert_not_judged", extra={"identity": identity, "reason": reason})
    counts = {
        "records": changes.records,
        "waiting": len(changes.new),
        "articles": run.articles,
        "changed": run.changed,
        "days": run.days,
    }
    counts |= {"rules": rule_count, "happenings": alerted.happenings, "fired": alerted.fired}
    count(AlertsFired=alerted.fired, ArticlesIndexed=run.changed, ArticlesNotIndexed=len(run.left_out))
    logger.info("articles_indexed", extra=counts)
    # Last, since a receiver may take its time, and nothing that was read waits for it.
    deliver(context)
    return counts
