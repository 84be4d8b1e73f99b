"""A load whose every word is known, and the troubles it is ingested through."""

from __future__ import annotations

import json
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar
from urllib.request import urlopen

import pytest
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from sourcebook.articles.adapters.intake import Intake
from sourcebook.articles.analysis import Analyzer, reopen_analyzed
from sourcebook.articles.announce import Announcer
from sourcebook.articles.bus import EventBus
from sourcebook.articles.heal import Healer
from sourcebook.articles.ingest import ArticleStore
from sourcebook.articles.model import IncomingArticle, parse_incoming
from sourcebook.clock import isoformat, utc_now
from sourcebook.errors import InvalidInput, Retryable, SourcebookError
from sourcebook.events import (
    ArticleCreated,
    ArticlesNew,
    BusEvent,
    FetchRequested,
    GenerateIdeas,
    GroupHeadlines,
    SourceDue,
    read_message,
)
from sourcebook.records.source import Source
from sourcebook.records.subject import Subject
from sourcebook.sentiment.engines import SentimentEngine
from sourcebook.sources.model import SourceSpec
from sourcebook.table import keys
from sourcebook.table.client import Table, aws_config
from sourcebook_cli import stack as command_line
from sourcebook_cli.redrive import dead_letter_queues, send_back
from sourcebook_local import cloud
from sourcebook_local.cloud import LocalCloud
from sourcebook_local.samples_observations import sample_observation_sources
from tests.e2e.conftest import deployed_apart
from tests.e2e.sources import (
    articles_of,
    everything,
    grouping_request,
    keys_by_status,
    register,
    registry,
    stage,
)
from tests.e2e.stack import SHARDS, Stack, kill_workers
from tests.faulty_client import FAULTS, Crash, FaultyClient

if TYPE_CHECKING:
    from tests.faulty_client import Draw

FEEDS: Final = ("ash", "beech", "cedar", "dogwood")
ELDER: Final = "elder"
"""A source that is told by this process, through a client that fails: what the embedded cloud never does."""
STORIES: Final = 12
"""New stories in a round."""
SOON: Final = 5
"""Seconds after which a queue delivers again what was not done. It has minutes, which would be tests of
hours."""
CALM: Final = 30
"""The same once all trouble is over: on a busy machine, nothing that is at work is to be taken for lost."""
CEILING: Final = 600.0
"""Seconds after which a state that is waited for is given up. It measures nothing: a machine that has much
else to do may take long, and what is lost never comes."""
FIGURES: Final = 26
"""Figures of the one page of figures."""

T = TypeVar("T")
Word: TypeAlias = tuple[str, str, str]
"""One source's word, as it must be found in the end: the source, the address, the headline."""


@contextmanager
def deployed_patiently(new_cloud: Callable[[str], LocalCloud], name: str) -> Iterator[Stack]:
    """Give the application in a cloud of its own that may be slow to stop and to start.

    How long that takes is tested elsewhere. Here, one that is killed for it would lose what it has.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cloud, "_STOP_SECONDS", 120.0)
        patch.setattr(cloud, "_START_SECONDS", 300.0)
        with deployed_apart(new_cloud, name) as stack:
            yield stack


@dataclass(slots=True)
class _Entry:
    headline: str
    text: str
    published: datetime


@dataclass
class Load:
    """Five sources that tell the same stories in part, and edit them.

    Attributes:
        seed: whatever is drawn is drawn from it.
        folder: where the feeds lie.
        subject: what some of the stories are about.
        about: the numbers of these stories.
        frozen: stories that are not edited any more.
    """

    seed: int
    folder: Path
    begun: datetime
    subject: Subject = field(init=False)
    about: set[int] = field(default_factory=set)
    frozen: set[int] = field(default_factory=set)
    _told: dict[str, dict[int, _Entry]] = field(default_factory=dict)
    _stories: int = 0

    def __post_init__(self) -> None:
        self._rng = random.Random(f"load {self.seed}")
        self.subject = Subject(f"subject-{self.seed}", _name(self._rng, 5), "topic")
        self._told = {self.source(name): {} for name in (*FEEDS, ELDER)}

    def source(self, name: str) -> str:
        """Return the id of a source."""
        return f"s{self.seed}-{name}"

    def specs(self, url: str) -> list[SourceSpec]:
        """Return the feeds' declarations."""
        return [
            SourceSpec(
                source_id=self.source(name),
                url=f"{url}/feeds/{self.source(name)}.rss",
                name=f"{name.capitalize()} News",
            )
            for name in FEEDS
        ]

    def write(self) -> list[IncomingArticle]:
        """Write the feeds of a round, with new stories and edits; return what the fifth source tells."""
        earlier = self._stories
        for _ in range(STORIES):
            self._new_story()
        self._edit(earlier)
        for name in FEEDS:
            source = self.source(name)
            items = "".join(self._item(source, n, entry) for n, entry in self._told[source].items())
            head = f"<title>{name.capitalize()} News</title><link>https://{source}.example/</link>"
            (self.folder / f"{source}.rss").write_text(
                f'<rss version="2.0"><channel>{head}<description>After {self._stories} stories</description>'
                f"{items}</channel></rss>"
            )
        elder = self.source(ELDER)
        return [
            parse_incoming(
                {
                    "source": elder,
                    "article_id": str(n),
                    "url": _address(elder, n),
                    "headline": entry.headline,
                    "published_at": entry.published,
                    "crawled_at": utc_now(),
                    "text": entry.text,
                }
            )
            for n, entry in self._told[elder].items()
            if n >= earlier
        ]

    def _new_story(self) -> None:
        number = self._stories
        self._stories += 1
        feeling = self._rng.choice(("delights everyone with", "is sued over terrible", "moves its office to"))
        who = _name(self._rng, 4)
        alone = number % STORIES == 0  # one of each round that no other source and no workflow touches
        if self._rng.random() < 0.4 and not alone:
            who = self.subject.name
            self.about.add(number)
        headline = f"{who} {feeling} {' '.join(_name(self._rng, 3).lower() for _ in range(4))}"
        # One hour of yesterday for all who tell it, away from midnight.
        published = self.begun + timedelta(minutes=number)
        tellers = self._rng.sample((*FEEDS, ELDER), self._rng.choice((1, 1, 2, 3, 5)))
        if alone:
            tellers = [self._rng.choice(FEEDS)]
        for name in tellers:
            said = {
                "beech": f"{headline} - Beech News",
                "cedar": f"UPDATE 1-{headline}",
                "dogwood": f"{headline}!",
            }.get(name, headline)
            text = f"What {name} says of it: {_name(self._rng, 4).lower()}."
            self._told[self.source(name)][number] = _Entry(said, text, published)

    def _edit(self, earlier: int) -> None:
        """Change headlines that one source has alone, and texts of any, of feeds and of earlier rounds."""
        open_ = [n for n in range(earlier) if n not in self.frozen]
        for number in self._rng.sample(open_, min(6, len(open_))):
            tellers = [self.source(name) for name in FEEDS if number in self._told[self.source(name)]]
            if not tellers:
                continue
            entry = self._told[self._rng.choice(tellers)][number]
            entry.text = f"It was said otherwise: {_name(self._rng, 4).lower()}."
            if sum(number in words for words in self._told.values()) == 1:
                entry.headline = f"{entry.headline.rpartition(' ')[0]} {_name(self._rng, 3).lower()}"

    def _item(self, source: str, number: int, entry: _Entry) -> str:
        return (
            f"<item><title>{entry.headline}</title><link>{_address(source, number)}</link>"
            f"<guid>{source}-{number}</guid><description>{entry.text}</description>"
            f"<pubDate>{entry.published:%a, %d %b %Y %H:%M:%S} GMT</pubDate></item>"
        )

    def body_hashes(self) -> dict[str, str]:
        """Return by source what a feed's state says once its document as it is now was taken in."""
        return {
            self.source(name): sha256((self.folder / f"{self.source(name)}.rss").read_bytes()).hexdigest()[
                :32
            ]
            for name in FEEDS
        }

    def stories(self) -> Counter[frozenset[Word]]:
        """Return each story with every source's word as it stands now."""
        return Counter(
            frozenset(
                (source, _address(source, n), words[n].headline)
                for source, words in self._told.items()
                if n in words
            )
            for n in range(self._stories)
        )

    def texts(self, number: int) -> set[str]:
        """Return what the sources of a story say of it."""
        return {words[number].text for words in self._told.values() if number in words}

    def is_apart(self, number: int) -> bool:
        """Whether no workflow and not the fifth source has to do with a story."""
        return number not in self.about and number not in self._told[self.source(ELDER)]

    @property
    def source_ids(self) -> list[str]:
        """The ids of all five."""
        return list(self._told)


def _address(source: str, number: int) -> str:
    return f"https://{source}.example/{number}"


def _name(rng: random.Random, syllables: int) -> str:
    return "".join(rng.choice("bdfgklmnprstvz") + rng.choice("aeiou") for _ in range(syllables)).capitalize()


@dataclass
class Arena:
    """The stack, the load on it, and what has been done to both.

    Attributes:
        url: of the server of the feeds.
        samples_url: of the server of the page of figures.
        figures: the source of figures, once it is asked.
        runs: ids of the workflows' runs that were started.
        at_the_end: what is to be seen to when all rounds are over.
    """

    stack: Stack
    load: Load
    url: str
    samples_url: str
    engine: SentimentEngine
    rng: random.Random
    figures: str = ""
    runs: list[str] = field(default_factory=list)
    at_the_end: list[Callable[[], None]] = field(default_factory=list)

    @property
    def table(self) -> Table:
        """The table, for this process."""
        return Table(self.stack.outputs.table_name, self.client("dynamodb"), shards=SHARDS)

    def __post_init__(self) -> None:
        # All at once: to make them from one session in several threads is not safe.
        services: Any = ("dynamodb", "sns", "sqs", "events", "iam", "lambda", "stepfunctions")
        make = self.stack.session.client
        self._clients = {service: make(service, config=aws_config()) for service in services}
        once = Config(read_timeout=CEILING, retries={"total_max_attempts": 1}, max_pool_connections=20)
        self._patient: Any = make("lambda", config=once)

    def client(self, service: str) -> Any:
        """Return a client as the functions make theirs."""
        return self._clients[service]

    @property
    def commands(self) -> command_line.Stack:
        """The stack as the command line finds it."""
        return command_line.Stack(self.stack.session, command_line._outputs(self.stack.session))

    @property
    def announcer(self) -> Announcer:
        """The topic of articles that wait for analysis."""
        return Announcer(self.client("sns"), self.stack.outputs.article_topic_arn)

    def full_name(self, function: str) -> str:
        """Return the full name of any function."""
        return f"SourcebookPipeline-{function}"

    # What is waited for

    def wait(
        self,
        done: Callable[[], T],
        what: str,
        *,
        push: Callable[[], object] | None = None,
        interval: float = 0.2,
    ) -> T:
        """Return the first true value of `done`.

        Args:
            done: asked every `interval` seconds.
            what: what is waited for, in words.
            push: does what the clock would do in minutes or an hour. It is called later and later, because
                what is asked for anew makes a fetch that is under way come too late.
            interval: seconds.

        Raises:
            AssertionError: if there is none within `CEILING` seconds; it says what was seen instead.
        """
        begun = time.monotonic()
        patience, next_push = 8.0, begun + 8.0
        while not (value := done()):
            now = time.monotonic()
            assert now < begun + CEILING, f"{what}: not within {CEILING:g} s; last {value!r}; {self.seen()}"
            if push is not None and now > next_push:
                patience *= 1.5
                next_push = now + patience
                push()
            time.sleep(interval)
        return value

    def seen(self) -> str:
        """Say how everything stands: for whoever has waited in vain."""
        sources = {
            source_id: f"{source.last_cause}, {source.fetch_count} fetches, "
            f"{source.consecutive_errors} failures, due {isoformat(source.next_fetch_time)}"
            for source_id, source in registry(self.stack).get_many(self.load.source_ids).items()
        }
        held = {job: count for job, count in self.waiting().items() if count}
        dead = {job: count for job, count in self.waiting(dead=True).items() if count}
        return f"sources {sources}; messages {held}, dead {dead}; {len(self.pending())} articles pending"

    # What happens

    def dispatch(self, source_ids: Iterable[str] | None = None) -> None:
        """Have these sources fetched, by default all feeds."""
        wanted = list(source_ids or self._feeds())
        self.stack.invoke("dispatch_sources", {"source_ids": wanted})

    @contextmanager
    def log(self) -> Iterator[Callable[[str], bool]]:
        """Tell whether the cloud's log has said something since the block began."""
        begin = self.stack.cloud.log_file.stat().st_size

        def says(pattern: str) -> bool:
            with self.stack.cloud.log_file.open("rb") as file:
                file.seek(begin)
                return re.search(pattern, file.read().decode(errors="replace")) is not None

        yield says

    def articles(self) -> list[dict[str, Any]]:
        """Return the articles of the load."""
        return articles_of(self.stack, self.load.source_ids)

    def keys(self) -> list[str]:
        """Return the dedup keys of the articles of the load."""
        return sorted(item["dedup_key"]["S"] for item in self.articles())

    def pending(self) -> list[str]:
        """Return the dedup keys of the articles that wait for their analysis."""
        return [key.removeprefix("dedup:") for key in keys_by_status(self.stack, "pending")]

    def unfetched(self) -> list[str]:
        """Return the sources whose document as it is now has not been taken in."""
        wanted = self.load.body_hashes()
        now = registry(self.stack).get_many([*wanted, *filter(None, [self.figures])])
        return [
            source_id
            for source_id, source in now.items()
            if source.consecutive_errors
            or (source.body_hash != wanted[source_id] if source_id in wanted else not source.fetch_count)
        ]

    def waiting(self, *, dead: bool = False) -> dict[str, int]:
        """Return how many messages each queue of work, or each dead-letter queue, holds."""
        sqs = self.client("sqs")
        names = [f"ApproximateNumberOfMessages{which}" for which in ("", "NotVisible", "Delayed")]

        def held(queue: str) -> int:
            found = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=names)["Attributes"]
            return sum(int(found[name]) for name in names)

        queues = dead_letter_queues(self.commands.outputs)
        return {job: held(dead_letters if dead else work) for job, (dead_letters, work) in queues.items()}

    def heal(self) -> None:
        """Do what is done to articles that have waited for an hour, as though it were over."""
        self.stack.invoke("index_articles", {})
        Healer(self.table, self.announcer, lambda: utc_now() + timedelta(hours=2)).heal("healed")

    def settle(self, *, quiet: bool = False) -> None:
        """Let what mends itself do so: what the clock would bring in minutes or an hour is asked for sooner.

        Args:
            quiet: also wait until no queue of work holds a message.
        """

        def settled() -> bool:
            rest = not self.unfetched() and not self.pending()
            return rest and not (quiet and any(self.waiting().values()))

        def push() -> None:
            if unfetched := self.unfetched():
                self.dispatch(unfetched)
            if self.pending():
                self.heal()

        self.wait(settled, "rest", push=push, interval=0.3)

    def come_to_rest(self) -> None:
        """End all trouble: what is dead is redriven until it has been done."""
        for _, queue in dead_letter_queues(self.commands.outputs).values():
            self.client("sqs").set_queue_attributes(
                QueueUrl=queue, Attributes={"VisibilityTimeout": str(CALM)}
            )

        def nothing_is_left() -> bool:
            self.redrive()
            self.settle(quiet=True)
            return not any(self.waiting(dead=True).values())

        self.wait(nothing_is_left, "no dead letter", interval=1)

    # Trouble that is always there

    def take_in(self, words: Sequence[IncomingArticle]) -> None:
        """Take in the words of the fifth source and analyze, through a client that fails at random."""
        rng = random.Random(f"tell {self.load.seed} {len(self.load.about)}")
        deadline = time.monotonic() + CEILING

        def draw(operation: str) -> str:
            return rng.choice(FAULTS) if rng.random() < 0.2 else ""

        refused = True
        while refused:
            assert time.monotonic() < deadline, "the reports of the fifth source could not be stored"
            with suppress(Crash, Retryable):
                intake = Intake(ArticleStore(self._faulty(draw)), self.announcer, ELDER)
                refused = bool(intake.take(words).refused)
        for _ in range(3):
            # What a function leaves that ends in the middle, others bring to its end.
            with suppress(Crash, SourcebookError):
                Analyzer.of(self._faulty(draw), self.engine, workers=1).analyze(self.pending()[:20])

    def _faulty(self, draw: Draw) -> Table:
        client: Any = FaultyClient(self.client("dynamodb"), draw)
        return Table(self.stack.outputs.table_name, client, sleep=lambda _: None, shards=SHARDS)

    def send_copies(self) -> None:
        """Send messages again: some at once, some late, in another order, some that were right long ago."""
        sqs, outputs, rng = self.client("sqs"), self.stack.outputs, self.rng
        sources = list(registry(self.stack).get_many(map(self.load.source, FEEDS)).values())
        for _ in range(3):
            rng.shuffle(sources)
            late = timedelta(seconds=rng.choice((0, 0, 60)))
            due = [_due(source, source.next_fetch_time - late) for source in sources]
            message = FetchRequested(correlation_id="copy", sources=tuple(due))
            self._send(sqs, outputs.fetch_queue_url, message.model_dump_json())
        known = self.keys()
        if not known:
            return
        chosen = [rng.choice(known) for _ in range(20)]
        self.announcer.announce(chosen[:10], "copy")
        for key in chosen[10:]:
            message_ = ArticleCreated(correlation_id="copy", dedup_key=key).model_dump_json()
            self._send(sqs, outputs.analyze_queue_url, message_)
        announced = ArticlesNew(correlation_id="copy", source_id=ELDER, article_ids=tuple(chosen), count=20)
        grouped = sorted({item["event_id"]["S"] for item in self.articles() if "event_id" in item})
        concluded = GenerateIdeas(
            correlation_id="copy", event_ids=tuple(rng.sample(grouped, min(5, len(grouped)))) or ("0" * 32,)
        )
        asked = GroupHeadlines(
            correlation_id="copy", trigger_reason="interval_elapsed", ungrouped_count=rng.choice((1, 10))
        )
        copies: list[BusEvent] = [*[announced] * 3, *[asked] * 3, *[concluded] * 3]
        rng.shuffle(copies)
        EventBus(self.client("events"), "SourcebookPipeline-news").put(copies)

    def _send(self, sqs: Any, queue: str, body: str) -> str:
        delay = self.rng.choice((0, 0, 1, 3))
        return str(sqs.send_message(QueueUrl=queue, MessageBody=body, DelaySeconds=delay)["MessageId"])

    # Troubles of a round: each begins when the feeds have something new

    def fetch_is_killed(self) -> None:
        """The function dies when it has stored some articles of a message and not all."""
        source_id = self.load.source(self.rng.choice(FEEDS))
        path, times = f"/feeds/{source_id}.rss", 1000
        stored, before = self._words(), self._source(source_id)
        # Far longer than the function waits for it: it is killed while it does.
        stage(self.url, {"path": path, "times": times, "delay": 60})

        def asked() -> int:
            with urlopen(f"{self.url}/_control", timeout=30) as answer:
                (rule,) = json.load(answer)["rules"]
            return times - int(rule["times"])

        for _ in range(10):
            earlier = asked()
            self.dispatch()
            self.wait(
                lambda earlier=earlier: asked() > earlier and self._words() > stored,  # type: ignore[misc]
                f"some words of a round, while {source_id} is awaited",
                push=self.dispatch,
                interval=0.05,
            )
            self.stack.kill_function_workers("fetch_sources")
            if self._source(source_id).fetch_count == before.fetch_count:
                assert source_id in self.unfetched()
                return
            before = self._source(source_id)
        raise AssertionError(f"it was never killed in the middle of its work: {self.seen()}")

    def _words(self) -> int:
        """Return how many words of the feeds are in the articles."""
        feeds = {self.load.source(name) for name in FEEDS}
        return sum(len(feeds & item["source_attribution"]["M"].keys()) for item in self.articles())

    def analysis_is_killed(self) -> None:
        """The function dies some moment after it was started for new articles, and perhaps again."""
        cloud, name = self.stack.cloud, self.full_name("analyze_sentiment")
        kill_workers(cloud, name)  # those that are idle
        self.dispatch()
        self.wait(lambda: cloud.worker_pids(name), "a process of analysis", push=self.dispatch, interval=0.05)
        time.sleep(self.rng.uniform(0, 2))
        self.wait(lambda: kill_workers(cloud, name), "a process of analysis to kill", push=self.send_copies)
        time.sleep(self.rng.uniform(0, 2))
        kill_workers(cloud, name)

    def anything_is_killed(self) -> None:
        """Whatever is at work dies, at any moment: also what finds who is due, groups, and concludes."""
        functions = (
            "dispatch_sources",
            "fetch_sources",
            "analyze_sentiment",
            "trigger_grouping",
            "group_headlines",
            "generate_ideas",
            "refresh_sentiment",
            "heal_articles",
        )
        with ThreadPoolExecutor(len(functions)) as pool:
            for _ in range(4):
                asked = [
                    pool.submit(self._run, "dispatch_sources", {"source_ids": self._feeds()}),
                    *(
                        pool.submit(self._run, name, {})
                        for name in ("trigger_grouping", "refresh_sentiment", "heal_articles")
                    ),
                    pool.submit(self._run, "group_headlines", grouping_request()),
                ]
                while not all(one.done() for one in asked):
                    time.sleep(self.rng.uniform(0, 1))
                    kill_workers(self.stack.cloud, self.full_name(self.rng.choice(functions)))

    def _run(self, function: str, payload: object) -> None:
        """Call a function, which may end badly."""
        with suppress(BotoCoreError, ClientError):
            self._patient.invoke(FunctionName=self.full_name(function), Payload=json.dumps(payload).encode())

    def _feeds(self) -> list[str]:
        return [self.load.source(name) for name in FEEDS]

    @contextmanager
    def refusing(self, function: str, *actions: str) -> Iterator[None]:
        """Take permissions from a function until the block ends."""
        configuration = self.client("lambda").get_function_configuration(
            FunctionName=self.full_name(function)
        )
        role = configuration["Role"].rpartition("/")[2]
        statement = {"Effect": "Deny", "Action": list(actions), "Resource": "*"}
        document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        iam = self.client("iam")
        iam.put_role_policy(RoleName=role, PolicyName="Trouble", PolicyDocument=document)
        try:
            yield
        finally:
            iam.delete_role_policy(RoleName=role, PolicyName="Trouble")

    def _refuse(self, function: str, actions: Sequence[str], evidence: str, *source_ids: str) -> None:
        with self.log() as says, self.refusing(function, *actions):
            self.dispatch(source_ids)
            self.wait(
                lambda: says(evidence), f"the refusal of {actions}", push=lambda: self.dispatch(source_ids)
            )

    def topic_refuses(self) -> None:
        """SNS refuses what is announced."""
        self._refuse("fetch_sources", ["sns:Publish", "sns:PublishBatch"], "AnnouncementRefused")

    def bus_refuses(self) -> None:
        """EventBridge refuses what is told."""
        self._refuse("fetch_sources", ["events:PutEvents"], "EventRefused")

    def table_refuses_fetch(self) -> None:
        """DynamoDB refuses one of the kinds of writes by which articles are stored."""
        kinds = ("dynamodb:BatchExecuteStatement", "dynamodb:UpdateItem", "dynamodb:PutItem")
        self._refuse("fetch_sources", [self.rng.choice(kinds)], "TableForbidden|AccessDenied|not authorized")

    def table_refuses_analysis(self) -> None:
        """DynamoDB refuses one of the kinds of writes by which articles are concluded."""
        kinds = ("dynamodb:BatchWriteItem", "dynamodb:UpdateItem", "dynamodb:BatchGetItem")
        self._refuse(
            "analyze_sentiment", [self.rng.choice(kinds)], "TableForbidden|AccessDenied|not authorized"
        )

    def bucket_refuses(self) -> None:
        """S3 refuses the page of figures, so that its figures must wait."""
        spec = sample_observation_sources(self.samples_url)[0]
        self.figures = f"{spec.source_id}-{self.load.seed}"
        register(self.stack, [spec.model_copy(update={"source_id": self.figures})])
        self._refuse("fetch_sources", ["s3:PutObject"], "BucketBusy", self.figures, *self._feeds())
        assert not self.observations()

    def observations(self) -> list[dict[str, Any]]:
        """Return the figures that are stored."""
        return [
            item
            for item in everything(self.stack).values()
            if item["entity_type"]["S"] == "Observation" and item["source_id"]["S"] == self.figures
        ]

    def provider_is_out(self) -> None:
        """A provider is out for hours, as the times between its polls go, each time in another way."""
        source_id = self.load.source(self.rng.choice(FEEDS))
        ways: tuple[dict[str, Any], ...] = (
            {"status": 500},
            {"status": 503},
            {"status": 429},
            {"drop": True},
            {"cut": 200},
            {"body": "<!DOCTYPE html><html><body>Maintenance</body></html>"},
        )
        for failures, way in enumerate(self.rng.sample(ways, len(ways)), 1):
            stage(self.url)
            # However often it is asked: a message that is delivered again while it is worked on asks
            # twice, and so does the client when a connection that it has kept is broken off.
            stage(self.url, {"path": f"/feeds/{source_id}.rss", "times": None, **way})
            self.dispatch([source_id] if failures > 1 else None)
            self.wait(
                lambda wanted=failures: self._source(source_id).consecutive_errors >= wanted,  # type: ignore[misc]
                f"failure {failures} of {source_id}, by {way}",
                push=lambda: self.dispatch([source_id]),
            )
        source = self._source(source_id)
        assert source.enabled, self.seen()
        assert source.last_fetch_at is not None
        assert source.next_fetch_time - source.last_fetch_at >= timedelta(minutes=59), self.seen()

    def _source(self, source_id: str) -> Source:
        return registry(self.stack).get_many([source_id])[source_id]

    def cloud_is_restarted(self) -> None:
        """Everything stops in the middle of the work, and comes back with what it had."""
        self.start_reanalysis()
        self.dispatch()
        name = self.full_name("fetch_sources")
        self.wait(lambda: self.stack.cloud.worker_pids(name), "a process that fetches", interval=0.05)
        time.sleep(self.rng.uniform(0, 1))
        assert self.stack.cloud.stop(), "it did not stop by itself"
        self.stack.cloud.start()

    def workflow_is_killed(self) -> None:
        """The task of a workflow dies; the run must end, well or badly."""
        name = self.full_name("reanalyze_articles")
        kill_workers(self.stack.cloud, name)  # those that are idle
        arn = self.start_reanalysis()
        self.dispatch()
        client = self.client("stepfunctions")

        def status() -> str:
            return str(client.describe_execution(executionArn=arn)["status"])

        self.wait(
            lambda: kill_workers(self.stack.cloud, name) or status() != "RUNNING",
            "a task of the workflow",
            interval=0.05,
        )
        self.wait(lambda: status() != "RUNNING", "the end of the workflow")

    def start_reanalysis(self) -> str:
        """Have the articles of the subject analyzed anew; return the execution's ARN."""
        arn: str = self.client("stepfunctions").start_execution(
            stateMachineArn=self.stack.outputs.state_machines["reanalyze_subject"],
            input=json.dumps({"tool_id": self.load.subject.tool_id}),
        )["executionArn"]
        self.runs.append(arn)
        return arn

    def messages_are_poison(self) -> None:
        """Messages that cannot be read, and an article that cannot be labelled until it is mended."""
        sqs, outputs = self.client("sqs"), self.stack.outputs
        self.dispatch()
        self.settle()
        poison = [
            (function, job, body, self._send(sqs, queue, body))
            for function, job, queue, body in (
                ("fetch_sources", "fetch", outputs.fetch_queue_url, '{"schema_version": "7"}'),
                ("analyze_sentiment", "analyze", outputs.analyze_queue_url, "no JSON"),
            )
        ]
        # An article of nobody's interest, so that no other trouble mends or breaks it meanwhile.
        item = next(
            item
            for item in sorted(self.articles(), key=lambda item: str(item["dedup_key"]["S"]))
            if self.load.is_apart(number_of(item))
        )
        self.load.frozen.add(number_of(item))
        key, text = item["dedup_key"]["S"], item["text_for_analysis"]["S"]
        self.table.change(keys.article(key), assign={"text_for_analysis": 7})
        assert reopen_analyzed(self.table, key)
        self.announcer.announce([key], "poison")
        self.at_the_end.append(lambda: self._see_to_poison(poison, key, text))

    def _see_to_poison(self, poison: Sequence[tuple[str, str, str, str]], key: str, text: str) -> None:
        """Each ends in its dead-letter queue with its cause; what can be mended is redriven."""
        queues = {job: dead for job, (dead, _) in dead_letter_queues(self.commands.outputs).items()}
        for function, job, body, message_id in poison:
            self._wait_for_dead(queues[job], body)
            self.wait(
                lambda function=function, message_id=message_id: any(  # type: ignore[misc]
                    "message_unreadable" in line and message_id in line for line in self.stack.logs(function)
                ),
                f"the cause of {body} in the log of {function}",
                # It may be dead for having been delivered to processes that were killed before they read it.
                push=lambda job=job: send_back(self.commands, job, 1000),  # type: ignore[misc]
                interval=1,
            )
            self._wait_for_dead(queues[job], body)
        self._wait_for_dead(queues["analyze"], key)
        article = self.table.get(keys.article(key), consistent=True)
        assert article is not None
        assert (article["status"], "TypeError" in article["error_reason"]) == ("error", True)
        self.table.change(keys.article(key), assign={"text_for_analysis": text})
        self._discard_unreadable(queues["fetch"], FetchRequested)
        self._discard_unreadable(queues["analyze"], ArticleCreated)

    def _wait_for_dead(self, queue: str, text: str) -> None:
        def dead() -> bool:
            with self._peeked(queue) as messages:
                return any(text in message["Body"] for message in messages)

        self.wait(dead, f"{text} in {queue}", interval=1)

    @contextmanager
    def _peeked(self, queue: str) -> Iterator[list[Any]]:
        """Give all messages of a dead-letter queue, and leave in it those that are not deleted."""
        sqs = self.client("sqs")
        messages: list[Any] = []
        while got := sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10, VisibilityTimeout=30).get(
            "Messages"
        ):
            messages += got
        yield messages
        for message in messages:
            with suppress(ClientError):  # one that was deleted is not there to be shown again
                sqs.change_message_visibility(
                    QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=0
                )

    def _discard_unreadable(self, queue: str, model: type[FetchRequested | ArticleCreated]) -> None:
        """Do what only a person can decide about a message that nobody can read."""
        sqs = self.client("sqs")
        with self._peeked(queue) as messages:
            for message in messages:
                try:
                    read_message(model, message["Body"])
                except InvalidInput:
                    sqs.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])

    def redrive(self) -> None:
        """Send what is dead back to work, with the project's own command."""
        for job, held in self.waiting(dead=True).items():
            if held:
                send_back(self.commands, job, 1000)

    def round(self, trouble: Callable[[Arena], None]) -> None:
        """Ingest what is new through one trouble, and through those that are always there."""
        # Crawls are kept to the second: of what a source says twice within one, nobody knows which came last.
        time.sleep(1 - time.time() % 1)
        words = self.load.write()
        with ThreadPoolExecutor(1) as pool:
            announced: Future[None] = pool.submit(self.take_in, words)
            trouble(self)
            self.send_copies()
            announced.result()
        stage(self.url)
        self.settle()


TROUBLES: Final[tuple[Callable[[Arena], None], ...]] = (
    Arena.fetch_is_killed,
    Arena.analysis_is_killed,
    Arena.anything_is_killed,
    Arena.topic_refuses,
    Arena.bus_refuses,
    Arena.table_refuses_fetch,
    Arena.table_refuses_analysis,
    Arena.bucket_refuses,
    Arena.provider_is_out,
    Arena.cloud_is_restarted,
    Arena.workflow_is_killed,
    Arena.messages_are_poison,
)


def _due(source: Source, due_at: datetime) -> SourceDue:
    return SourceDue(source_id=source.source_id, kind=source.kind, due_at=due_at)


def number_of(item: dict[str, Any]) -> int:
    """Return the number of the story that an article, in DynamoDB's typed form, tells."""
    (word, *_) = item["source_attribution"]["M"].values()
    return int(word["M"]["url"]["S"].rpartition("/")[2])
