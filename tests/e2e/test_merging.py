"""Many sources tell many stories at the same time: real PartiQL, real races, and every word is kept.

On a table of the embedded cloud alone, without a deployment.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator

import pytest

from sourcebook.articles.ingest import ArticleStore, Outcome, Result, Stored
from sourcebook.articles.waiting import list_as_pending
from sourcebook.direct import with_direct_calls
from sourcebook.search.stream import TableStream
from sourcebook.table import keys
from sourcebook.table.client import Change, Table, aws_config
from sourcebook_local.cloud import LocalCloud
from tests.e2e.conftest import VENV
from tests.incoming import incoming
from tests.templates import table_definition

SOURCES = 6
STORIES = [
    f"Story {number} of the {colour} harbour"
    for number in ("one", "two", "three", "four", "five", "six")
    for colour in ("red", "green", "blue", "grey", "pink")
]


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCloud]:
    cloud = LocalCloud(tmp_path_factory.mktemp("merging"), venv=VENV, port=0)
    cloud.start()
    try:
        yield cloud
    finally:
        cloud.stop()


def test_words_that_come_at_the_same_time_are_all_in_their_articles(cloud: LocalCloud) -> None:
    session = cloud.session()
    definition = table_definition("merging")
    plain = session.client("dynamodb", config=aws_config())
    plain.create_table(**definition)
    results: dict[int, list[Result]] = {}
    begin = threading.Barrier(SOURCES)

    def report(source: int) -> None:
        client = with_direct_calls(session.client("dynamodb", config=aws_config()), session)
        words = [
            incoming(
                f"source-{source}", str(n), crawled_minute=source, headline=story, tags=(f"tag-{source}",)
            )
            for n, story in enumerate(STORIES)
        ]
        begin.wait()
        results[source] = [result for _, result in ArticleStore(Table("merging", client)).store_many(words)]
        client.close()

    threads = [threading.Thread(target=report, args=(source,)) for source in range(SOURCES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    outcomes = Counter(
        result.outcome if isinstance(result, Stored) else result
        for of_source in results.values()
        for result in of_source
    )
    assert outcomes == {Outcome.CREATED: len(STORIES), Outcome.MERGED: (SOURCES - 1) * len(STORIES)}
    found = Table("merging", plain).scan().items
    articles = [item for item in found if item["entity_type"] == "Article"]
    assert len(articles) == len(STORIES)
    for article in articles:
        assert article["sources"] == [f"source-{n}" for n in range(SOURCES)]
        assert set(article["source_attribution"]) == set(article["sources"])
        assert article["tags"] == [f"tag-{n}" for n in range(SOURCES)]
        assert article["revision"] == SOURCES, "each word is one change of its article, made once"


def test_statements_enter_the_stream_as_other_writes_do(cloud: LocalCloud) -> None:
    """New articles and merges are written by PartiQL, and whoever lists those that wait reads the stream."""
    session = cloud.session()
    plain = session.client("dynamodb", config=aws_config())
    created = plain.create_table(**table_definition("streamed"))
    table = Table("streamed", with_direct_calls(plain, session))
    stream = TableStream(
        session.client("dynamodbstreams"), created["TableDescription"]["LatestStreamArn"], table
    )
    store = ArticleStore(table)
    key = store.store(incoming("first", headline="A ferry runs aground")).dedup_key
    article = keys.article(key)["PK"]
    read = stream.read(10)
    assert list(read.new) == [article]
    stream.note(read)
    store.store(incoming("second", headline="A ferry runs aground", crawled_minute=1))
    assert table.update_many([Change(keys.article(key), {"status": None}, {"revision": 1})]) == [False]
    read = stream.read(10)
    assert (list(read.new), read.records) == ([article], 3), "the mark of the stream, an alias, the merge"
    assert list_as_pending(table, read.new) == {}
    stream.note(read)
    read = stream.read(10)
    assert (list(read.new), read.records) == ([], 2)
