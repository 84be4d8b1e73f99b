"""Articles, events and the people who decide on them, on one table."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from boto3.dynamodb.conditions import Key

from sourcebook.articles.decisions.articles import ArticleDecisions
from sourcebook.articles.decisions.events import EventDecisions
from sourcebook.articles.decisions.model import DecidedBy, DecisionReader
from sourcebook.integrity.checks import all_checks
from sourcebook.integrity.verify import Verifier
from sourcebook.records.article import Article
from sourcebook.table.client import Table
from tests.incoming import incoming
from tests.integration.articles.grouping.test_flow import News


class World(News):
    """News, and a person who decides."""

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self.announced: list[str] = []
        self.decisions = DecisionReader(table)
        self.decided = 0

    def by(self, reason: str = "They are one.") -> DecidedBy:
        self.decided += 1
        return DecidedBy(decided_by="Ada", reason=reason, token=f"{self.decided:08d}", caller="token:1")

    def announce(self, keys: Iterable[str]) -> None:
        """Have articles analyzed, as their announcement does."""
        found = list(keys)
        self.announced += found
        self.analyzer.analyze(found)

    def articles(self, table: Table | None = None, *, announce: bool = True) -> ArticleDecisions:
        table = table or self.table
        announcing: Callable[[Iterable[str]], None] = self.announce if announce else lambda _keys: None
        return ArticleDecisions(table, announcing, lambda: self.now)

    def people(self, table: Table | None = None) -> EventDecisions:
        return EventDecisions(table or self.table, lambda: self.now)

    def read(self, key: str) -> Article:
        return Article.of_item(self.article(key))

    def mentions(self, key: str) -> set[str]:

        rows = self.table.query_all(Key("PK").eq(f"dedup:{key}") & Key("SK").begins_with("TAG#"))
        return {row["tag"] for row in rows}

    def poll(self, *args: Any, **kwargs: Any) -> str:
        """Have a source tell its story again; return the key of the article that it went to."""

        return self.store.store(incoming(*args, **kwargs)).dedup_key


def wrong(world: World, *, repair: bool = False) -> list[str]:
    """Return what `sourcebook verify` finds of articles, events and decisions, and repair it if asked to."""
    checks = [
        check
        for check in all_checks(world.table, lambda: world.now)
        if check.name in {"mentions", "articles-of-mentions", "aliases", "decisions", "indexes"}
    ]
    verifier = Verifier(world.table, checks, patience=0)
    return [f"{report.finding.key}: {report.finding.problem}" for report in verifier.run(repair=repair)]


@pytest.fixture
def world(table: Table) -> World:
    return World(table)
