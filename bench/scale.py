"""What happens at a scale that nobody has run this at: a simulation fed by measured service times.

    .venv/bin/python -m bench.scale [--measured FILE] [--json FILE]

Each question of docs/scale.md is a line of stages: work arrives, waits, and is done by so many functions at a
time, each item taking so many seconds of one of them. Time goes in whole seconds, and amounts are not rounded
to items. A stage does no more than its functions have time for, and no more than the hottest partition of
DynamoDB that it writes to takes. What was measured is in bench/service_times.json, which `make bench` writes
anew (FILE: another of the kind); what is assumed is told below.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from bench.figures import Figure, save
from sourcebook.sources.dispatch import MOST_PER_DISPATCH, SOURCES_PER_MESSAGE

PARTITION_WRITES: Final = 1_000
"""Write units a second that one partition of DynamoDB takes, of a table or an index."""
PARTITION_READS: Final = 3_000
ACCOUNT_CONCURRENCY: Final = 1_000
"""Functions of all kinds at one time, unless AWS was asked for more."""
FULL_CPU_MB: Final = 1_769
"""Memory with which a function has a whole CPU; below that, its share is in proportion."""
DAY: Final = 86_400

WRITE, READ, EVENT, QUEUE_REQUEST = 0.625e-6, 0.125e-6, 1.00e-6, 0.40e-6
GB_SECOND, INVOCATION, TRANSITION, API_REQUEST = 0.0000133334, 0.20e-6, 25e-6, 1.00e-6
"""Dollars for one, us-east-1, on demand."""

SERVICE_TIMES: Final = Path(__file__).with_name("service_times.json")

ARTICLES_OF_A_CHUNK: Final = 300
"""Articles of one chunk of grouping's log (sourcebook.articles.grouping.grouper.AT_ONCE)."""
COMMIT_SECONDS: Final = 0.08
"""From one chunk to the next, if many runs wait: 37 ms of CPU to decide again, and two requests."""
REQUEST_SECONDS: Final = 0.005
"""Assumed: from a function to DynamoDB and back."""
ANSWER_SECONDS: Final = 0.2
"""Assumed: until a feed's server has answered."""
POLLED_AT_ONCE: Final = 10
"""Feeds that one call of fetch_sources asks at a time (max_concurrent_requests)."""
TABLE_WRITES: Final = 40_000
"""Write units a second of one table on demand, unless AWS was asked for more."""
NEUTRAL: Final = 0.6
"""Assumed: share of the most frequent sentiment, whose partition of by_sentiment is the hottest."""


@dataclass(frozen=True, slots=True)
class Times:
    """What one of something takes.

    Attributes:
        requests: of the table, the topic and the bus.
        dollars_per_million: of those three.
        cpu_ms: with a whole CPU.
    """

    write_units: float
    read_units: float
    requests: float
    dollars_per_million: float
    cpu_ms: float


@dataclass(frozen=True, slots=True)
class Measured:
    """What bench/capacity.py and bench/simulate_polling.py have measured.

    Attributes:
        polls_a_day: of a feed, by the schedule's defaults.
    """

    store: Times
    analyze: Times
    group: Times
    poll: Times
    read: Times
    polls_a_day: float

    @classmethod
    def load(cls, path: Path) -> Measured:
        """Read a file of service times."""
        content = json.loads(path.read_text("utf-8"))
        times = {name: Times(**content[name]) for name in ("store", "analyze", "group", "poll", "read")}
        return cls(**times, polls_a_day=content["polls_a_day"])

    def of_article(self, name: str) -> float:
        """Return what an article takes that is stored and analysed, a third of them joined to an event."""
        stored, analyzed, grouped = (getattr(one, name) for one in (self.store, self.analyze, self.group))
        return float(stored + analyzed + grouped / 3)


MEASURED = Measured.load(SERVICE_TIMES)


def reckon_with(path: Path) -> None:
    """Take other service times than those on record."""
    global MEASURED  # noqa: PLW0603 - before anything is computed
    MEASURED = Measured.load(path)


@dataclass(frozen=True, slots=True)
class Function:
    """A function as it is deployed.

    Attributes:
        at_once: how many run at a time at most, by configuration.
        batch: items of one call.
        knob: what makes it faster.
    """

    name: str
    memory_mb: int
    at_once: int
    batch: int = 1
    knob: str = ""

    def seconds(self, cpu_ms: float, waiting: float) -> float:
        """Return the seconds that one of it is busy with an item, of which `waiting` it waits for others."""
        return cpu_ms / 1000 / min(1.0, self.memory_mb / FULL_CPU_MB) + waiting

    def dollars(self, items: float, seconds: float) -> float:
        """Return what it costs to do so many items of so many seconds each."""
        return items * (seconds * self.memory_mb / 1024 * GB_SECOND + INVOCATION / self.batch)


FETCH: Final = Function("fetch_sources", 1024, 50, SOURCES_PER_MESSAGE, "fetch_concurrency")
ANALYZE: Final = Function("analyze_sentiment", 512, 20, 50, "analyze_concurrency")
# A run for each line; only their commits to the log follow one another (docs/decisions/0335).
GROUP: Final = Function("group_headlines", 1024, 1, 50, "`grouping_lines`")
API: Final = Function("api", 1024, ACCOUNT_CONCURRENCY, 1, "the account's concurrency")
ACQUIRE: Final = Function("acquire_spectrum", 512, 10, 1, "acquire_concurrency, at most 40")
THROTTLE: Final = 50
"""Requests a second that the API's stage lets through."""


@dataclass(frozen=True, slots=True)
class Limit:
    """What keeps a stage from being faster.

    Attributes:
        rate: items a second up to which it holds.
        knob: what moves it.
    """

    name: str
    rate: float
    knob: str


@dataclass(slots=True)
class Stage:
    """One step on the way of an item.

    Attributes:
        seconds: that one function is busy with an item.
        limits: what bounds it, besides its functions.
        period: seconds from one start of its work to the next; 1 for what runs all the time.
        waiting: items that have arrived and are not done.
        done: items done, ever.
    """

    function: Function
    seconds: float
    limits: Sequence[Limit] = ()
    period: int = 1
    waiting: float = 0.0
    done: float = 0.0
    most_waiting: float = 0.0

    @property
    def all_limits(self) -> list[Limit]:
        """Its limits and that of its functions, the tightest first."""
        own = Limit(
            f"{self.function.at_once} × {self.function.name}",
            self.function.at_once / self.seconds,
            self.function.knob,
        )
        return sorted((own, *self.limits), key=lambda limit: limit.rate)

    @property
    def rate(self) -> float:
        """Items a second that it does at most."""
        return self.all_limits[0].rate

    def work(self, second: int, arrived: float) -> float:
        """Let a second pass in which so many items arrive; return how many are done in it."""
        self.waiting += arrived
        finished = min(self.waiting, self.rate * self.period) if second % self.period == 0 else 0.0
        self.waiting -= finished
        self.done += finished
        self.most_waiting = max(self.most_waiting, self.waiting)
        return finished


@dataclass(slots=True)
class Sample:
    """How many items wait in each stage, after so many seconds."""

    second: int
    waiting: list[float] = field(default_factory=list)


def simulate(
    stages: Sequence[Stage], arriving: Callable[[int], float], seconds: int, every: int
) -> Iterator[Sample]:
    """Send work through stages, what one has done to the next, and yield how much waits from time to time.

    Args:
        stages: in the order of the way.
        arriving: items that arrive at the first stage in a second.
        seconds: how long.
        every: seconds from one sample to the next.
    """
    for second in range(seconds):
        passing = arriving(second)
        for stage in stages:
            passing = stage.work(second, passing)
        if (second + 1) % every == 0:
            yield Sample(second + 1, [stage.waiting for stage in stages])


def polling(most_per_dispatch: int = MOST_PER_DISPATCH) -> tuple[Stage, Stage]:
    """Return dispatch and fetching of feeds that seldom change; an item is a poll."""
    busy = FETCH.seconds(MEASURED.poll.cpu_ms, ANSWER_SECONDS / POLLED_AT_ONCE)
    dispatch = Stage(
        # An index read for thousands and a message for 20: 5.8 s of CPU and 525 requests for 100,000.
        Function("dispatch_sources", 1024, 1, most_per_dispatch, "its memory"),
        0.00015,
        [Limit("sources of one dispatch", most_per_dispatch / 60, "MOST_PER_DISPATCH (sources/dispatch.py)")],
        period=60,
    )
    index = Limit(
        "index partition SOURCE, 2 units a poll",
        PARTITION_WRITES / 2,
        "spread GSI1PK over several partitions",
    )
    return dispatch, Stage(FETCH, busy, [index])


def articles(
    analyze: Function = ANALYZE, group: Function = GROUP, *, spread: int = 1
) -> tuple[Stage, Stage, Stage]:
    """Return the way of new articles: stored, analysed, grouped.

    Args:
        analyze: how analyze_sentiment is deployed.
        group: how group_headlines is deployed.
        spread: partitions that each hot key of today would be spread over.
    """

    def partition(name: str, units: float) -> Limit:
        return Limit(name, spread * PARTITION_WRITES / units, "spread its key over several partitions")

    # An article enters this partition when it is stored and leaves it when it is analysed.
    pending = partition("by_status pending, in and out", 2)
    units = MEASURED.of_article("write_units")
    whole = Limit(f"table, {units:.1f} units an article", TABLE_WRITES / units, "the account's quota")
    store, analysis, grouping = MEASURED.store, MEASURED.analyze, MEASURED.group
    return (
        Stage(FETCH, FETCH.seconds(store.cpu_ms, store.requests * REQUEST_SECONDS), [pending, whole]),
        Stage(
            analyze,
            analyze.seconds(analysis.cpu_ms, analysis.requests * REQUEST_SECONDS),
            [
                pending,
                partition("GROUPING#WAITING, a mark for ten, in and out", 0.2),
                partition("by_sentiment neutral, an entry each", NEUTRAL),
            ],
        ),
        # Eight requests are under way at one time.
        Stage(
            group,
            group.seconds(grouping.cpu_ms, grouping.requests * REQUEST_SECONDS / 8),
            [Limit("commits to grouping's log", ARTICLES_OF_A_CHUNK / COMMIT_SECONDS, "larger chunks")],
        ),
    )


def reading(throttle: int = THROTTLE) -> Stage:
    """Return the API; an item is a request that is answered from the cache."""
    # Measured is the reader; parsing, logging and writing of the answer are assumed to take 4 ms.
    busy = API.seconds(MEASURED.read.cpu_ms + 4, REQUEST_SECONDS)
    return Stage(
        API,
        busy,
        [
            Limit("throttle of the stage", throttle, "throttle in infra/api.py"),
            Limit("one key, half a read unit", PARTITION_READS / 0.5, "copies of the hottest entries"),
        ],
    )


def acquiring(at_once: int = ACQUIRE.at_once) -> Stage:
    """Return the acquisition of spectra, from its lock to its record; an item is a spectrum."""
    # Assumed: ten seconds for the archive's answer, five for four more functions and what lies between.
    return Stage(replace(ACQUIRE, at_once=at_once), 15.0)


def polls_a_day(feeds: int) -> float:
    """Return the polls that so many feeds want in a day."""
    return feeds * MEASURED.polls_a_day


def polling_parts(polls: float) -> dict[str, float]:
    """Return what so many unchanged polls cost, by what is paid for, in dollars."""
    busy = FETCH.seconds(MEASURED.poll.cpu_ms, ANSWER_SECONDS / POLLED_AT_ONCE)
    waiting = f"{1000 * ANSWER_SECONDS:.0f} ms for an answer, {POLLED_AT_ONCE} feeds at once"
    # An entry of the index is 0.1 kB, and eight kilobytes are a unit; a millisecond for each that is due.
    found = polls * (0.1 / 8 * READ + 0.001 * 0.5 * GB_SECOND)
    return {
        f"table: {MEASURED.poll.write_units:.1f} write and {MEASURED.poll.read_units:.1f} read units each": (
            polls * MEASURED.poll.dollars_per_million / 1e6
        ),
        f"Lambda: {waiting}, so {1000 * busy:.0f} ms for each with its CPU": FETCH.dollars(polls, busy),
        f"SQS: a message for {SOURCES_PER_MESSAGE} feeds, sent, received, deleted": (
            polls / SOURCES_PER_MESSAGE * 3 * QUEUE_REQUEST
        ),
        "dispatch: its runs, and its index read": found,
    }


def polling_dollars(polls: float) -> float:
    """Return what so many unchanged polls cost."""
    return sum(polling_parts(polls).values())


def article_parts(count: float) -> dict[str, float]:
    """Return what new articles cost with one mention each and a third in an event, by what is paid for."""
    stages = articles()
    milliseconds = " + ".join(f"{1000 * stage.seconds:.0f}" for stage in stages)
    return {
        "table, topic, bus": count * MEASURED.of_article("dollars_per_million") / 1e6,
        "SQS: a message for analysis and a tenth of one for grouping, received and deleted by ten": (
            count * 0.16e-6
        ),
        f"Lambda: {milliseconds} ms to store, analyse and group, waiting included": sum(
            stage.function.dollars(count, stage.seconds) for stage in stages
        ),
    }


def article_dollars(count: float) -> float:
    """Return what so many new articles cost."""
    return sum(article_parts(count).values())


def reading_dollars(count: float) -> float:
    """Return what so many cached reads cost."""
    stage = reading()
    return count * (0.5 * READ + API_REQUEST) + stage.function.dollars(count, stage.seconds)


def spectra_dollars(count: float) -> float:
    """Return what so many spectra cost that are acquired at the first attempt: 16 transitions for each."""
    # Six functions of 512 MB, one of 2 GB for about two seconds; about 12 write units with the attempts.
    functions = 10 * 0.5 * GB_SECOND + 2 * 2 * GB_SECOND + 6 * INVOCATION
    return count * (16 * TRANSITION + functions + 12 * WRITE)


@dataclass(slots=True)
class Feeds:
    """Feeds that become due some time after their last poll, so that late polls put off the next ones.

    Attributes:
        interval: seconds from a feed's poll until it is due again.
    """

    count: int
    polled: Stage
    interval: float

    def due(self, stages: Sequence[Stage]) -> float:
        """Return how many become due in a second: of those that do not wait already."""
        return (self.count - sum(stage.waiting for stage in stages)) / self.interval


def _limits(needed: float, stages: Sequence[Stage]) -> None:
    print(f"    {'limit':<38} {'holds up to':>12} {'needed':>8}  knob")
    tightest = {limit.name: limit for stage in stages for limit in stage.all_limits}
    for limit in sorted(tightest.values(), key=lambda limit: limit.rate):
        mark = "!" if limit.rate < needed else " "
        print(f"  {mark} {limit.name:<38} {limit.rate:>10,.0f}/s {needed:>6,.0f}/s  {limit.knob}")
    for stage in stages:
        print(f"    {stage.function.name}: {needed * stage.seconds:.1f} at once would do")


def _over_time(stages: Sequence[Stage], arriving: Callable[[int], float], seconds: int, every: int) -> None:
    print(f"  {'after':>8}" + "".join(f" {stage.function.name:>18}" for stage in stages) + "   waiting")
    for sample in simulate(stages, arriving, seconds, every):
        print(
            f"  {sample.second // 60:>4} min" + "".join(f" {waiting:>18,.0f}" for waiting in sample.waiting)
        )


def _feeds(count: int, most_per_dispatch: int) -> None:
    stages = polling(most_per_dispatch)
    feeds = Feeds(count, stages[1], DAY / MEASURED.polls_a_day)
    wanted = polls_a_day(count) / DAY
    print(
        f"\n{count:,} feeds, unchanged, {MEASURED.polls_a_day:.0f} polls a day each; "
        f"{most_per_dispatch:,} a dispatch"
    )
    _limits(wanted, stages)
    _over_time(stages, lambda _: feeds.due(stages), 4 * 3600, 3600)
    done = stages[1].done / (4 * 3600) * DAY
    print(f"  {done / 1e6:.1f} million polls a day of {polls_a_day(count) / 1e6:.1f} million wanted")
    print(f"  ${polling_dollars(done):.2f} a day")


def _articles(rate: int, title: str, stages: Sequence[Stage]) -> None:
    print(f"\n{rate:,} new articles a second, three times that from minute 10 to 20; {title}")
    _limits(rate, stages)
    _over_time(stages, lambda second: rate * (3 if 600 <= second < 1200 else 1), 3600, 600)
    print(f"  ${article_dollars(rate * DAY):,.0f} a day at {rate:,} a second throughout")


def figures() -> list[Figure]:
    """Return what stands beside the goals of cost."""
    return [
        Figure(
            "10,000 feeds, unchanged, every 15 minutes, for a day",
            polling_dollars(10_000 * 96),
            "dollars",
            at_most=2.50,
        ),
        Figure(
            "a million new articles, fetched, stored and analysed",
            article_dollars(1e6),
            "dollars",
            at_most=10,
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--measured", type=Path, default=SERVICE_TIMES, metavar="FILE")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    reckon_with(options.measured)
    save(options.json, figures())
    for feeds in (10_000, 100_000):
        _feeds(feeds, MOST_PER_DISPATCH)
    _articles(100, "as configured", articles())
    _articles(1_000, "as configured", articles())
    _articles(
        1_000,
        "knobs turned: 100 × analyze, 16 lines of grouping, keys over 8",
        articles(replace(ANALYZE, at_once=100), replace(GROUP, at_once=16), spread=8),
    )
    for throttle in (THROTTLE, 1_200):
        print(f"\n1,000 API reads a second from the cache; throttle {throttle:,}")
        stage = reading(throttle)
        _limits(1_000, [stage])
        answered = min(1_000.0, stage.rate)
        print(f"  {answered:.0f} a second are answered, {1_000 - answered:.0f} get 429")
        print(f"  ${reading_dollars(answered * DAY):.0f} a day")
    for at_once in (ACQUIRE.at_once, 40):
        stage = acquiring(at_once)
        print(f"\n10,000 spectra that are due; {at_once} at once")
        stage.waiting = 10_000
        _over_time([stage], lambda _: 0.0, 5 * 3600, 3600)
        print(f"  {10_000 / stage.rate / 3600:.1f} hours; ${spectra_dollars(10_000):.2f}")


if __name__ == "__main__":
    main()
