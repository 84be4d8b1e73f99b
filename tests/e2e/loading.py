"""A load of feeds and readers, and what is measured while it is on the stack."""

from __future__ import annotations

import json
import random
import re
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import httpx

from sourcebook.clock import isoformat
from sourcebook.records.subject import Subject
from sourcebook.sources.model import SourceSpec
from sourcebook.table.client import aws_config
from sourcebook_cli import stack as command_line
from sourcebook_cli.redrive import dead_letter_queues
from sourcebook_local import process
from tests.e2e.sources import REQUIRED

if TYPE_CHECKING:
    from tests.e2e.stack import Stack

MB: Final = 1024 * 1024
_SYLLABLES: Final = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
_FEELINGS: Final = ("delights everyone with", "is sued over terrible", "moves its office to")

Word: TypeAlias = tuple[str, str, str]
"""One source's word: the source, the address, the headline."""


@dataclass(frozen=True, slots=True)
class Size:
    """How large a load is.

    Attributes:
        feeds: how many there are.
        entries: that each has at first.
        more: that each has in its second edition besides.
        readers: of the API, at the same time.
        seconds: for which they read; the second edition comes when half of it is over.
        pause: seconds that a reader takes to look at an answer.
        patience: seconds that the backlog may take to drain afterwards.
    """

    feeds: int
    entries: int
    more: int
    readers: int
    seconds: float
    pause: float
    patience: float

    @property
    def words(self) -> int:
        """Entries that are published in all."""
        return self.feeds * (self.entries + self.more)


@dataclass(frozen=True)
class Publishers:
    """Feeds in which every entry tells a story of its own, so that what must be there is known to the word.

    Attributes:
        size: how many they are.
        folder: where their files lie.
        begun: hour from which their entries are dated.
        subject: what one story of twenty is about.
    """

    size: Size
    folder: Path
    begun: datetime
    theme: str

    @property
    def subject(self) -> Subject:
        """What one story of twenty is about."""
        return Subject(f"subject-{self.theme}", self._name(random.Random(self.theme), 6), "topic")

    def source(self, feed: int) -> str:
        """Return the id of a source."""
        return f"{self.theme}-{feed:04d}"

    @property
    def source_ids(self) -> list[str]:
        """The ids of all sources."""
        return [self.source(feed) for feed in range(self.size.feeds)]

    def specs(self, url: str) -> list[SourceSpec]:
        """Return the declarations of the feeds, whose folder is served at `url`."""
        return [
            SourceSpec(source_id=id_, url=f"{url}/feeds/{id_}.rss", name=f"Paper {id_}")
            for id_ in self.source_ids
        ]

    def write(self, edition: int) -> None:
        """Write the feeds' first or second edition, the newest entries first."""
        for feed in range(self.size.feeds):
            numbers = range(self.size.entries + (self.size.more if edition > 1 else 0))
            items = "".join(self._item(feed, number) for number in reversed(numbers))
            path = self.folder / f"{self.source(feed)}.rss"
            fresh = path.with_suffix(".new")
            fresh.write_text(
                f'<rss version="2.0"><channel><title>Paper {self.source(feed)}</title>'
                f"<link>https://{self.source(feed)}.example/</link><description>Edition {edition} of "
                f"{isoformat(self.begun)}</description>{items}</channel></rss>"
            )
            fresh.replace(path)

    def _story(self, feed: int, number: int) -> tuple[str, str]:
        """Return a story's headline and what is said of it."""
        rng = random.Random(f"{self.theme}/{feed}/{number}")
        who = self.subject.name if self.is_about(feed, number) else self._name(rng, 4)
        what = " ".join(self._name(rng, 3).lower() for _ in range(4))
        return f"{who} {rng.choice(_FEELINGS)} {what}", f"What is said: {self._name(rng, 4).lower()}."

    def is_about(self, feed: int, number: int) -> bool:
        """Whether a story is about the subject."""
        return (feed + number) % 20 == 0

    @staticmethod
    def _name(rng: random.Random, syllables: int) -> str:
        return "".join(rng.choices(_SYLLABLES, k=syllables)).capitalize()

    def _address(self, feed: int, number: int) -> str:
        return f"https://{self.source(feed)}.example/{number}"

    def _item(self, feed: int, number: int) -> str:
        headline, text = self._story(feed, number)
        moment = self.begun + timedelta(minutes=(feed * 7 + number * 13) % 720)
        return (
            f"<item><title>{headline}</title><link>{self._address(feed, number)}</link>"
            f"<guid>{self.source(feed)}-{number}</guid><description>{text}</description>"
            f"<pubDate>{moment:%a, %d %b %Y %H:%M:%S} GMT</pubDate></item>"
        )

    def words(self) -> Iterator[Word]:
        """Yield each entry of the second edition as its article must have it."""
        for feed in range(self.size.feeds):
            for number in range(self.size.entries + self.size.more):
                yield self.source(feed), self._address(feed, number), self._story(feed, number)[0]

    @property
    def about(self) -> int:
        """How many stories are about the subject."""
        numbers = range(self.size.entries + self.size.more)
        return sum(self.is_about(feed, number) for feed in range(self.size.feeds) for number in numbers)

    def body_hashes(self) -> dict[str, str]:
        """Return by source what its state says once its document as it is now was taken in."""
        files = {id_: self.folder / f"{id_}.rss" for id_ in self.source_ids}
        return {id_: sha256(file.read_bytes()).hexdigest()[:32] for id_, file in files.items()}


@dataclass
class Readers:
    """Readers of the API, each at its own pace, and what became of their requests.

    Attributes:
        times: seconds of each answer by what was asked for.
        errors: by what went wrong.
    """

    stack: Stack
    publishers: Publishers
    times: dict[str, list[float]] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)
    _stop: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Let them read while the block runs."""
        threads = [
            threading.Thread(target=self._read, args=(n,)) for n in range(self.publishers.size.readers)
        ]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stop.set()
            for thread in threads:
                thread.join()

    def _read(self, number: int) -> None:
        rng = random.Random(number)
        seen: list[str] = []
        with httpx.Client(
            base_url=self.stack.outputs.api_url, verify=self.stack.cloud.verify, timeout=60
        ) as client:
            while not self._stop.wait(rng.uniform(0.5, 1.5) * self.publishers.size.pause):
                kind, path = self._wish(rng, seen)
                begun = time.monotonic()
                try:
                    answer = client.get(path)
                    problem = self._judge(kind, answer, seen)
                except httpx.HTTPError as error:
                    problem = type(error).__name__
                with self._lock:
                    self.times.setdefault(kind, []).append(time.monotonic() - begun)
                    if problem:
                        self.errors[f"{kind}: {problem}"] += 1

    def _wish(self, rng: random.Random, seen: Sequence[str]) -> tuple[str, str]:
        source = rng.choice(self.publishers.source_ids)
        wishes = {
            "articles": "/articles?limit=20",
            "articles by sentiment": f"/articles?limit=20&sentiment={rng.choice(('positive', 'negative'))}",
            "feeds": "/feeds?limit=20",
            "one feed's history": f"/feeds/{source}/history?limit=10",
            "sentiment of a subject": f"/api/v1/tools/{self.publishers.subject.tool_id}/sentiment?hours=168",
            "health": "/health",
        }
        if seen:
            wishes["one article"] = f"/articles/{rng.choice(seen)}"
        kind = rng.choice(list(wishes))
        return kind, wishes[kind]

    @staticmethod
    def _judge(kind: str, answer: httpx.Response, seen: list[str]) -> str:
        if answer.status_code != httpx.codes.OK:
            return f"status {answer.status_code}"
        body = answer.json()
        articles = {"articles": body.get("items", ()), "one article": [body]}.get(kind, ())
        if any(not article.keys() >= REQUIRED for article in articles):
            return "an article without a field that every article has"
        if kind == "articles":
            seen[:] = [article["dedup_key"] for article in articles]
        return ""

    @property
    def count(self) -> int:
        """How many requests were answered."""
        return sum(map(len, self.times.values()))


@dataclass(frozen=True, slots=True)
class Sample:
    """What was seen at one moment.

    Attributes:
        seconds: since the load began.
        waiting: messages by queue of work, those under way included.
        dead: messages in all dead-letter queues.
        cloud: bytes of the embedded cloud, which holds the table itself.
        workers: bytes of the processes of each function; the largest one's.
        processes: how many processes of functions there are.
    """

    seconds: float
    waiting: Mapping[str, int]
    dead: int
    cloud: int
    workers: Mapping[str, int]
    processes: int


@dataclass
class Sampler:
    """Looks at queues and memory every few seconds.

    Attributes:
        samples: what was seen, oldest first.
        troubles: what kept it from looking.
    """

    stack: Stack
    every: float
    samples: list[Sample] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        outputs = command_line._outputs(self.stack.session)
        self._queues = dead_letter_queues(outputs)
        self._sqs = self.stack.session.client("sqs", config=aws_config(read_timeout=60))
        self._begun = time.monotonic()
        self._cpu_before = resources()[self._cloud_pid][1]

    @contextmanager
    def sampling(self) -> Iterator[None]:
        """Look while the block runs."""
        thread = threading.Thread(target=self._run)
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            thread.join()

    def _run(self) -> None:
        while True:
            try:
                self.samples.append(self.look())
            except Exception as error:  # noqa: BLE001 - in a thread nobody would hear of it
                self.troubles.append(f"{type(error).__name__}: {error}")
            if self._stop.wait(self.every):
                return

    def look(self) -> Sample:
        """Return what there is now."""
        waiting = {job: self._held(work) for job, (_, work) in self._queues.items()}
        dead = sum(self._held(dead) for dead, _ in self._queues.values())
        cloud, workers, processes = self._memory()
        return Sample(time.monotonic() - self._begun, waiting, dead, cloud, workers, processes)

    def _held(self, queue: str) -> int:
        names: Any = [f"ApproximateNumberOfMessages{which}" for which in ("", "NotVisible", "Delayed")]
        found: Any = self._sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=names)["Attributes"]
        return sum(int(found[name]) for name in names)

    def _memory(self) -> tuple[int, dict[str, int], int]:
        home = self.stack.cloud.home
        worker = re.compile(rf"{re.escape(str(home / 'tmp'))}/ministack-lambda-([^/ ]+)-[^-/ ]+/")
        sizes = {pid: size for pid, (size, _) in resources().items()}
        functions = {
            pid: found[1]
            for pid, line in process.command_lines().items()
            if (found := worker.search(line)) is not None
        }
        workers: dict[str, int] = {}
        for pid, name in functions.items():
            workers[name] = max(workers.get(name, 0), sizes.get(pid, 0))
        return sizes.get(self._cloud_pid, 0), workers, len(functions)

    @property
    def _cloud_pid(self) -> int:
        pid: int = json.loads((self.stack.cloud.home / "cloud.pid").read_text())["pid"]
        return pid

    @property
    def cpu(self) -> float:
        """Seconds of CPU that the embedded cloud, without its functions, has used since this began."""
        return resources()[self._cloud_pid][1] - self._cpu_before

    def depth(self, job: str) -> list[int]:
        """Return how many messages a queue held, sample after sample."""
        return [sample.waiting[job] for sample in self.samples]


def resources() -> dict[int, tuple[int, float]]:
    """Return the resident bytes and the seconds of CPU of every process, by pid."""
    shown = subprocess.run(
        ["ps", "-A", "-o", "pid=,rss=,time="], capture_output=True, text=True, check=True
    ).stdout
    return {
        int(pid): (int(kb) * 1024, _seconds(used))
        for pid, kb, used in (line.split() for line in shown.splitlines())
    }


def _seconds(used: str) -> float:
    """Read ``[[days-]hours:]minutes:seconds``, as ps gives it."""
    days, _, clock = used.rpartition("-")
    seconds = 0.0
    for part in clock.split(":"):
        seconds = seconds * 60 + float(part)
    return seconds + 86_400 * int(days or 0)
