"""Nothing is lost and nothing is made twice, whatever fails: drawn from a seed, so that it can be repeated.

SOURCEBOOK_FAULT_SEED names the first seed, SOURCEBOOK_FAULT_SEEDS how many follow one another, and
SOURCEBOOK_FAULT_ROUNDS how many rounds each has, with one trouble a round. `make faults` runs twenty seeds,
each with half of the troubles; `make test` one, with three. Each single call of the table failing is in
tests/integration/faults.
"""

from __future__ import annotations

import logging
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from boto3.dynamodb.conditions import Key

from sourcebook.clock import utc_now
from sourcebook.integrity.checks import all_checks
from sourcebook.integrity.verify import Verifier
from sourcebook.records.article import Article, is_analyzed
from sourcebook.runs.read import RunReader
from sourcebook.sentiment.engines import SentimentEngine
from sourcebook.sentiment.engines.loading import load_engine
from sourcebook.sentiment.matching import text_of
from sourcebook.sentiment.refresh import Refresher
from sourcebook.sentiment.rollups import SETTLE
from sourcebook.sentiment.subjects import SubjectRegistry
from sourcebook.sentiment.windows import PERIODS
from sourcebook.table import keys
from sourcebook_cli.redrive import dead_letter_queues
from sourcebook_local.cloud import LocalCloud
from sourcebook_local.folder import start_server, stop_servers
from tests.e2e.faults import CEILING, FIGURES, SOON, TROUBLES, Arena, Load, deployed_patiently, number_of
from tests.e2e.sources import everything, group_now, keys_by_status, register
from tests.e2e.stack import Stack, kill_workers

LOG = logging.getLogger(__name__)
FIRST_SEED = int(os.environ.get("SOURCEBOOK_FAULT_SEED", "14"))
SEEDS = int(os.environ.get("SOURCEBOOK_FAULT_SEEDS", "1"))
ROUNDS = int(os.environ.get("SOURCEBOOK_FAULT_ROUNDS", "3"))


@pytest.fixture(scope="module")
def stack(new_cloud: Callable[[str], LocalCloud]) -> Iterator[Stack]:
    """The application in a cloud of its own, whose queues do not wait for minutes."""
    with deployed_patiently(new_cloud, "faults") as found:
        yield found


@pytest.fixture(scope="module")
def engine() -> SentimentEngine:
    """The engine that the deployed functions have."""
    return load_engine().engine


@pytest.fixture(params=range(FIRST_SEED, FIRST_SEED + SEEDS))
def arena(
    stack: Stack, engine: SentimentEngine, tmp_path_factory: pytest.TempPathFactory, request: Any
) -> Iterator[Arena]:
    """The stack with a load on it that has not begun."""
    seed: int = request.param
    home, folder = tmp_path_factory.mktemp("servers"), tmp_path_factory.mktemp("feeds")
    load = Load(seed, folder, yesterday())
    arena = Arena(
        stack,
        load,
        start_server(home, folder).url,
        start_server(home).url,
        engine,
        random.Random(f"troubles {seed}"),
    )
    for _, queue in dead_letter_queues(arena.commands.outputs).values():
        arena.client("sqs").set_queue_attributes(QueueUrl=queue, Attributes={"VisibilityTimeout": str(SOON)})
    SubjectRegistry(arena.table).register([load.subject])
    forget_in_processes(arena)
    register(stack, load.specs(arena.url))
    yield arena
    stop_servers(home)
    # Also those of earlier seeds were counted again, at a moment that has not come; see `later`.
    for tool_id in list(SubjectRegistry(arena.table).list_ids()):
        arena.table.delete_many([keys.cache_entry(tool_id, period) for period in PERIODS])


def yesterday() -> datetime:
    return utc_now().replace(hour=3, minute=0, second=0, microsecond=0) - timedelta(days=1)


def forget_in_processes(arena: Arena) -> None:
    """End the processes that remember subjects and marks: here, minutes go by that they do not notice."""
    for function in ("analyze_sentiment", "reanalyze_articles"):
        kill_workers(arena.stack.cloud, arena.full_name(function))


def later() -> datetime:
    """A moment by which every mark has settled."""
    return utc_now() + SETTLE + timedelta(minutes=1)


def test_whatever_fails_nothing_is_lost_and_nothing_is_made_twice(arena: Arena) -> None:
    troubles = arena.rng.sample(TROUBLES, len(TROUBLES))
    for number in range(ROUNDS):
        trouble = troubles[number % len(troubles)]
        LOG.info("seed %d, round %d: %s", arena.load.seed, number, trouble.__name__)
        arena.round(trouble)
    for see_to in arena.at_the_end:
        see_to()
    arena.come_to_rest()
    if arena.runs:
        # Whatever became of the workflow before, it can be run to its end now.
        arena.stack.run_state_machine(
            "reanalyze_subject", {"tool_id": arena.load.subject.tool_id}, timeout=CEILING
        )
    group_now(arena.stack, timeout=CEILING)
    arena.come_to_rest()
    Refresher(arena.table, later, workers=2).run()
    forget_in_processes(arena)

    check_articles(arena)
    check_events(arena)
    check_counts(arena)
    check_runs(arena)
    assert not keys_by_status(arena.stack, "error")
    assert set(arena.waiting(dead=True).values()) == {0}
    assert len(arena.observations()) == (FIGURES if arena.figures else 0)
    verifier = Verifier(arena.table, all_checks(arena.table, later), patience=1)
    assert [report.finding for report in verifier.run(segments=2)] == []
    assert verifier.items > len(arena.load.stories())


def check_articles(arena: Arena) -> None:
    """Source → article: each story once, with every source's last word, judged by what it says now."""
    items = arena.articles()
    found = Counter(
        frozenset(
            (source, word["M"]["url"]["S"], word["M"]["original_headline"]["S"])
            for source, word in item["source_attribution"]["M"].items()
        )
        for item in items
    )
    wanted = arena.load.stories()
    assert (wanted - found, found - wanted) == (Counter(), Counter()), "(lost, doubled)"
    numbers = {item["dedup_key"]["S"]: number_of(item) for item in items}
    for article in arena.table.batch_get(map(keys.article, numbers), consistent=True):
        assert is_analyzed(article)
        assert article["text_for_analysis"] in arena.load.texts(numbers[article["dedup_key"]])
        label = arena.engine.label([text_of(Article.of_item(article))])[0]
        assert article["sentiment"] == label.sentiment
        assert article["polarity"] == pytest.approx(label.polarity, abs=0.01)


def check_counts(arena: Arena) -> None:
    """Article → mention → roll-up → cache."""
    load, table = arena.load, arena.table
    tool_id = load.subject.tool_id
    mentions = list(table.query_all(Key("tag").eq(tool_id), index=keys.TAG_INDEX))
    about = {item["PK"]["S"] for item in arena.articles() if number_of(item) in load.about}
    assert Counter(mention["PK"] for mention in mentions) == Counter(about)
    assert len(about) == len(load.about)
    rows = list(table.query_all(Key("PK").eq(keys.subject(tool_id)["PK"]), consistent=True))

    def total(prefix: str) -> int:
        return sum(row["total_mentions"] for row in rows if row["SK"].startswith(prefix))

    assert total(keys.HOUR_PREFIX) == total(keys.DAY_PREFIX) == len(about)
    assert not [row for row in rows if row["SK"].startswith(keys.DIRTY_PREFIX)]
    cached = table.get(keys.cache_entry(tool_id, "DAY_7"), consistent=True)
    assert cached is not None
    assert cached["total_mentions"] == len(about)


def check_events(arena: Arena) -> None:
    """Article → event: what belongs together is together once, and each of it says so."""
    stated = {
        item["dedup_key"]["S"]: item["event_id"]["S"] for item in arena.articles() if "event_id" in item
    }
    listed = Counter(
        (key["S"], item["event_id"]["S"])
        for item in everything(arena.stack).values()
        if item["entity_type"]["S"] == "Event"
        for key in item["members"]["L"]
        if key["S"] in stated
    )
    assert listed == Counter(stated.items())


def check_runs(arena: Arena) -> None:
    """Every run of a workflow has ended, or is told as lost once its time is over."""
    after = RunReader(arena.table, lambda: utc_now() + timedelta(days=2))
    found = [
        after.get(item["job_run_id"]["S"])
        for item in everything(arena.stack).values()
        if item["entity_type"]["S"] == "JobRun"
    ]
    assert len(found) >= len(arena.runs)
    for run in found:
        assert run is not None
        assert run["status"] == "SUCCEEDED" or run["lost"] or run["error_type"], run
