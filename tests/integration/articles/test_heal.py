from __future__ import annotations

from datetime import timedelta

import boto3

from sourcebook.articles.analysis import Analyzer
from sourcebook.articles.announce import Announcer
from sourcebook.articles.heal import Healer, retry_failed
from sourcebook.articles.ingest import ArticleStore
from sourcebook.events import ArticleCreated, read_message
from sourcebook.sentiment.engines.lexicon import LexiconEngine
from sourcebook.table import keys
from sourcebook.table.client import Table
from tests.incoming import NOON, incoming, list_new_articles


class Topic:
    """A topic whose announcements can be read."""

    def __init__(self) -> None:
        sns, self.sqs = boto3.client("sns"), boto3.client("sqs")
        self.queue = self.sqs.create_queue(QueueName="announced")["QueueUrl"]
        topic = sns.create_topic(Name="articles")["TopicArn"]
        sns.subscribe(
            TopicArn=topic,
            Protocol="sqs",
            Endpoint="arn:aws:sqs:us-east-1:123456789012:announced",
            Attributes={"RawMessageDelivery": "true"},
        )
        self.announcer = Announcer(sns, topic)

    def announced(self) -> list[str]:
        found: list[str] = []
        while messages := self.sqs.receive_message(QueueUrl=self.queue, MaxNumberOfMessages=10).get(
            "Messages"
        ):
            for message in messages:
                found.append(read_message(ArticleCreated, message["Body"]).dedup_key)
                self.sqs.delete_message(QueueUrl=self.queue, ReceiptHandle=message["ReceiptHandle"])
        return found


def test_articles_pending_for_more_than_an_hour_are_announced_again(table: Table) -> None:
    store, topic = ArticleStore(table), Topic()
    forgotten = store.store(incoming("tiingo", "1")).dedup_key
    store.store(incoming("tiingo", "2", crawled_minute=30, headline="A young one"))
    done = store.store(incoming("tiingo", "3", headline="A finished one")).dedup_key
    Analyzer(table, LexiconEngine(), workers=1).analyze([done])
    list_new_articles(table)
    healer = Healer(table, topic.announcer, lambda: NOON + timedelta(minutes=61))
    assert healer.heal("run-1") == 1
    assert topic.announced() == [forgotten]


def test_one_run_announces_a_hundred_at_most_and_young_articles_do_not_stand_in_the_way(table: Table) -> None:
    store, topic = ArticleStore(table), Topic()
    for n in range(120):
        # The young ones have the older publication dates, so the index gives them first.
        store.store(
            incoming(
                "tiingo",
                f"young-{n}",
                60,
                headline=f"Young {chr(97 + n % 26)}{chr(97 + n // 26)}",
                published_at=NOON - timedelta(days=20),
            )
        )
    for n in range(105):
        store.store(
            incoming("tiingo", f"old-{n}", headline=f"Forgotten {chr(97 + n % 26)}{chr(97 + n // 26)}")
        )
    list_new_articles(table)
    assert Healer(table, topic.announcer, lambda: NOON + timedelta(minutes=90)).heal("run-1") == 100
    assert len(set(topic.announced())) == 100


def test_an_article_in_error_can_be_analyzed_again(table: Table) -> None:
    key = ArticleStore(table).store(incoming("tiingo")).dedup_key
    table.update(keys.article(key), assign={"status": "error", "error_reason": "broken"})
    assert retry_failed(table, key)
    item = table.get(keys.article(key))
    assert item is not None
    assert (item["status"], item.get("error_reason")) == ("pending", None)
    assert not retry_failed(table, key)
