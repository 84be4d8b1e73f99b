"""What happens at a scale that nobody has run this at: a simulation fed by measured service times.

    .venv/bin/python -m bench.scale [--measured FILE] [--json FILE]

Each question of docs/scale.md is a line of stages (bench/simulation.py): work arrives, waits, and is done by
so many functions at a time, each item taking so many seconds of one of them, and so many units of the table,
of an index and of the partition key that most items have in common. What was measured is in
bench/service_times.json, which `make bench` writes anew (FILE: another of the kind); what is assumed is said
with each constant. What is printed is Markdown, and `make bench BENCH=--write` puts it into docs/scale.md.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from bench.figures import Figure, save
from bench.simulation import (
    GB_SECOND,
    INVOCATION,
    Capacity,
    Draw,
    Feeds,
    Function,
    Limit,
    Line,
    Stage,
    simulate,
)
from sourcebook.feeds.settings import FeedSettings
from sourcebook.sources.dispatch import MOST_PER_DISPATCH, SOURCES_PER_MESSAGE

PARTITION_WRITES: Final = 1_000
"""Write units a second that one partition of DynamoDB takes, of a table or an index."""
PARTITION_READS: Final = 3_000
WARM_WRITES, WARM_READS = 4_000, 12_000
"""Units a second that a new table on demand takes at once, and each of its indexes."""
MOST_UNITS: Final = 40_000
"""Units a second of one table, unless AWS was asked for more."""
ACCOUNT_CONCURRENCY: Final = 1_000
"""Functions of all kinds at one time, unless AWS was asked for more."""
DAY, HOUR, MINUTE = 86_400, 3_600, 60

WRITE, READ, EVENT, QUEUE_REQUEST = 0.625e-6, 0.125e-6, 1.00e-6, 0.40e-6
TRANSITION, API_REQUEST = 25e-6, 1.00e-6
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
POLLED_AT_ONCE: Final = FeedSettings().max_concurrent_requests
"""Feeds that one call of fetch_sources asks at a time."""
NEUTRAL: Final = 0.6
"""Assumed: share of the most frequent sentiment, whose partition of by_sentiment is the hottest."""
BUSIEST_SUBJECT: Final = 0.1
"""Assumed: share of the articles that mention the subject that is mentioned most."""
INDEX_UNITS_OF_A_POLL: Final = 1
"""An unchanged poll writes its source's entry in the index where it stands (docs/decisions/0360)."""
INDEX_ENTRY_KB: Final = 0.24
"""A source's entry in the index, of which each dispatch reads those of all that are due today."""
ARTICLES_OF_A_MARK: Final = 10
"""Assumed: articles that are analyzed together and share a mark for grouping, 20 at most."""


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


FETCH: Final = Function("fetch_sources", 1024, 50, SOURCES_PER_MESSAGE, "`fetch_concurrency`")
ANALYZE: Final = Function("analyze_sentiment", 512, 20, 50, "`analyze_concurrency`")
# A run for each line; only their commits to the log follow one another (docs/decisions/0335).
GROUP: Final = Function("group_headlines", 1024, 1, 50, "`grouping_lines`")
API: Final = Function("api", 1024, ACCOUNT_CONCURRENCY, 1, "the account's concurrency")
ACQUIRE: Final = Function("acquire_spectrum", 512, 10, 1, "`acquire_concurrency`, at most 40")
THROTTLE: Final = 50
"""Requests a second that the API's stage lets through."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What a deployment chooses; the defaults are those of the template.

    Attributes:
        shards: partitions that each index key of few values is spread over.
        warm: units a second of writing that the table and its indexes were made warm for.
        throttle: requests a second that the API lets through.
    """

    analyze: Function = ANALYZE
    group: Function = GROUP
    shards: int = 1
    warm: int = WARM_WRITES
    throttle: int = THROTTLE


AS_CONFIGURED: Final = Choices()
TURNED: Final = Choices(
    analyze=replace(ANALYZE, at_once=100),
    group=replace(GROUP, at_once=16),
    shards=8,
    warm=20_000,
    throttle=1_200,
)
"""What 1,000 articles and 1,000 reads a second need."""


class Tables:
    """The capacities of one table, its indexes and their hottest keys, which all lines share."""

    def __init__(self, choices: Choices) -> None:
        def on_demand(name: str) -> Capacity:
            return Capacity(name, choices.warm, "warm throughput", most=MOST_UNITS)

        def hot_key(name: str) -> Capacity:
            return Capacity(name, choices.shards * PARTITION_WRITES, "`index_shards`")

        self.table = on_demand("writes of the table")
        self.by_status = on_demand("writes of by_status")
        self.by_sentiment = on_demand("writes of by_sentiment")
        self.by_tag = on_demand("writes of by_tag")
        self.eligibility = on_demand("writes of EligibilityIndex")
        self.active = hot_key("by_status, *active* events")
        self.neutral = hot_key("by_sentiment, *neutral*")
        self.due = hot_key("EligibilityIndex, `SOURCE`")
        self.subject = Capacity("by_tag, the busiest subject", PARTITION_WRITES, "none: a list of its own")
        self.marks = Capacity("`GROUPING#WAITING`", PARTITION_WRITES, "larger batches of analysis")
        self.reads = Capacity("reads of the table", WARM_READS, "warm throughput", most=MOST_UNITS)
        self.busiest_entry = Capacity("reads of one cached entry", PARTITION_READS, "copies of it")


def polling(tables: Tables, feeds: int) -> Line:
    """Return dispatch and fetching of feeds that seldom change; an item is a poll."""
    busy = FETCH.seconds(MEASURED.poll.cpu_ms, ANSWER_SECONDS / POLLED_AT_ONCE)
    dispatch = Stage(
        # An index read for thousands and a message for 20: 5.8 s of CPU and 525 requests for 100,000.
        Function("dispatch_sources", 1024, 1, MOST_PER_DISPATCH, "its memory"),
        0.00015,
        [
            Limit(
                "sources of one dispatch",
                MOST_PER_DISPATCH / MINUTE,
                "`MOST_PER_DISPATCH` (sources/dispatch.py)",
            )
        ],
        period=MINUTE,
    )
    fetching = Stage(
        FETCH,
        busy,
        draws=[
            Draw(tables.due, INDEX_UNITS_OF_A_POLL),
            Draw(tables.eligibility, INDEX_UNITS_OF_A_POLL),
            Draw(tables.table, MEASURED.poll.write_units - INDEX_UNITS_OF_A_POLL),
        ],
    )
    stages = (dispatch, fetching)
    return Line(stages, Feeds(feeds, stages, DAY / MEASURED.polls_a_day).due)


def articles(tables: Tables, arriving: Callable[[int], float], choices: Choices = AS_CONFIGURED) -> Line:
    """Return the way of new articles: stored, analysed, grouped."""
    store, analysis, grouping = MEASURED.store, MEASURED.analyze, MEASURED.group
    stored = Stage(
        FETCH,
        FETCH.seconds(store.cpu_ms, store.requests * REQUEST_SECONDS),
        # A new article is in no index: the stream's reader enters those that wait for minutes.
        draws=[Draw(tables.table, store.write_units)],
    )
    analysed = Stage(
        choices.analyze,
        choices.analyze.seconds(analysis.cpu_ms, analysis.requests * REQUEST_SECONDS),
        draws=[
            Draw(tables.neutral, NEUTRAL),
            Draw(tables.by_sentiment, 1),
            Draw(tables.subject, BUSIEST_SUBJECT),
            Draw(tables.by_tag, 1),
            Draw(tables.marks, 1 / ARTICLES_OF_A_MARK),
            Draw(tables.table, analysis.write_units - 2),
        ],
    )
    grouped = Stage(
        choices.group,
        # Eight requests are under way at one time.
        choices.group.seconds(grouping.cpu_ms, grouping.requests * REQUEST_SECONDS / 8),
        [Limit("commits to grouping's log", ARTICLES_OF_A_CHUNK / COMMIT_SECONDS, "larger chunks")],
        # A third join an event: the article is written and the event, which moves among the active ones.
        draws=[
            Draw(tables.active, 2 / 3),
            Draw(tables.by_status, 2 / 3),
            Draw(tables.marks, 1 / ARTICLES_OF_A_MARK),
            Draw(tables.table, (grouping.write_units + 1) / 3),
        ],
    )
    return Line((stored, analysed, grouped), arriving)


def reading(tables: Tables, arriving: Callable[[int], float], throttle: int = THROTTLE) -> Line:
    """Return the API; an item is a request that is answered from the cache, or refused with 429."""
    # Measured is the reader; parsing, logging and writing of the answer are assumed to take 4 ms.
    busy = API.seconds(MEASURED.read.cpu_ms + 4, REQUEST_SECONDS)
    stage = Stage(
        API,
        busy,
        [Limit("throttle of the API", throttle, "`throttle` in infra/api.py")],
        draws=[
            Draw(tables.reads, MEASURED.read.read_units),
            Draw(tables.busiest_entry, MEASURED.read.read_units),
        ],
        refuses=True,
    )
    return Line((stage,), arriving)


def acquiring(at_once: int = ACQUIRE.at_once) -> Stage:
    """Return the acquisition of spectra, from its lock to its record; an item is a spectrum."""
    # Assumed: ten seconds for the archive's answer, five for four more functions and what lies between.
    return Stage(replace(ACQUIRE, at_once=at_once), 15.0)


def polls_a_day(feeds: int) -> float:
    """Return the polls that so many feeds want in a day."""
    return feeds * MEASURED.polls_a_day


def polling_parts(feeds: int, polls: float) -> dict[str, float]:
    """Return what so many unchanged polls of some feeds cost in a day, by what is paid for, in dollars."""
    busy = FETCH.seconds(MEASURED.poll.cpu_ms, ANSWER_SECONDS / POLLED_AT_ONCE)
    waiting = f"{1000 * ANSWER_SECONDS:.0f} ms for an answer, {POLLED_AT_ONCE} feeds at once"
    # A source moves in the index once a day. Eight kilobytes read are a unit, and a source that is sent
    # takes a millisecond.
    reading = DAY / MINUTE * feeds * INDEX_ENTRY_KB / 8 * READ
    sending = polls * 0.001 * 0.5 * GB_SECOND
    return {
        f"table: {MEASURED.poll.write_units:.1f} write and {MEASURED.poll.read_units:.1f} read units each": (
            polls * MEASURED.poll.dollars_per_million / 1e6 + feeds * WRITE
        ),
        f"Lambda: {waiting}, so {1000 * busy:.0f} ms for each with its CPU": FETCH.dollars(polls, busy),
        f"SQS: a message for {SOURCES_PER_MESSAGE} feeds, sent, received, deleted": (
            polls / SOURCES_PER_MESSAGE * 3 * QUEUE_REQUEST
        ),
        "dispatch: its runs, and its index read": reading + sending,
    }


def polling_dollars(feeds: int, polls: float) -> float:
    """Return what so many unchanged polls of some feeds cost in a day."""
    return sum(polling_parts(feeds, polls).values())


def article_parts(count: float) -> dict[str, float]:
    """Return what new articles cost with one mention each and a third in an event, by what is paid for."""
    stages = articles(Tables(AS_CONFIGURED), lambda _: 0.0).stages
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
    (stage,) = reading(Tables(AS_CONFIGURED), lambda _: 0.0).stages
    return count * (0.5 * READ + API_REQUEST) + stage.function.dollars(count, stage.seconds)


def spectra_dollars(count: float) -> float:
    """Return what so many spectra cost that are acquired at the first attempt: 16 transitions for each."""
    # Six functions of 512 MB, one of 2 GB for about two seconds; about 12 write units with the attempts.
    functions = 10 * 0.5 * GB_SECOND + 2 * 2 * GB_SECOND + 6 * INVOCATION
    return count * (16 * TRANSITION + functions + 12 * WRITE)


def bursts(rate: int) -> Callable[[int], float]:
    """Return arrivals of `rate` a second, three times that from minute 10 to 20."""
    return lambda second: rate * (3 if 10 * MINUTE <= second < 20 * MINUTE else 1)


def table_of(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table in Markdown, and an empty one."""
    lines = [headings, ["---"] * len(headings), *rows]
    return [*(f"| {' | '.join(line)} |" for line in lines), ""]


def table_of_limits(line: Line, needed: float) -> list[str]:
    """Return the limits of a line, the tightest first; those that are too tight are bold."""
    return table_of(
        ("limit", "holds up to", "knob"),
        (
            (
                limit.name,
                f"**{limit.rate:,.0f}/s**" if limit.rate < needed else f"{limit.rate:,.0f}/s",
                limit.knob,
            )
            for limit in line.limits
        ),
    )


def table_of_waiting(lines: Sequence[Line], names: Mapping[str, Stage]) -> list[str]:
    """Simulate an hour, and return what waits in the named stages every ten minutes."""
    samples = [
        (second, [stage.waiting for stage in names.values()])
        for second in simulate(lines, HOUR, every=10 * MINUTE)
    ]
    return table_of(
        ("waiting after", *(f"{second // MINUTE} min" for second, _ in samples)),
        ((name, *(f"{waiting[at]:,.0f}" for _, waiting in samples)) for at, name in enumerate(names)),
    )


def report_of_feeds() -> Iterator[str]:
    """Yield what a day of unchanged feeds is like."""
    yield from ("### Feeds that do not change", "")
    yield "A feed is due again some time after its poll, so late polls put off the next ones."
    yield ""
    line = polling(Tables(AS_CONFIGURED), 100_000)
    yield from table_of_limits(line, polls_a_day(100_000) / DAY)
    rows = []
    for count in (10_000, 100_000):
        line = polling(Tables(AS_CONFIGURED), count)
        list(simulate([line], DAY, every=DAY))
        done, wanted = line.stages[1].done, polls_a_day(count)
        rows.append(
            (
                f"{count:,} feeds",
                f"{line.stages[0].most_waiting:,.0f}",
                f"{done / 1e6:.1f} of {wanted / 1e6:.1f} million",
                f"{line.stages[1].waiting:,.0f}",
                f"${polling_dollars(count, done):,.2f}",
            )
        )
    yield from table_of(
        ("a day of", "due at most before a dispatch", "polls made", "waiting at its end", "cost"), rows
    )


def report_of_articles() -> Iterator[str]:
    """Yield what an hour of new articles is like, three times as many from minute 10 to 20."""
    yield from ("### New articles", "", "Three times as many arrive from minute 10 to 20.", "")
    for title, choices in (("As configured", AS_CONFIGURED), (f"With {in_words(TURNED)}", TURNED)):
        yield from (f"{title}:", "")
        yield from table_of_limits(articles(Tables(choices), bursts(1_000), choices), 1_000)
    for rate, choices, title in (
        (100, AS_CONFIGURED, "100 a second, as configured"),
        (1_000, AS_CONFIGURED, "1,000 a second, as configured"),
        (1_000, TURNED, "1,000 a second, knobs turned"),
    ):
        tables = Tables(choices)
        line = articles(tables, bursts(rate), choices)
        names = dict(zip(("to be stored", "for analysis", "for grouping"), line.stages, strict=True))
        yield f"{title} (${article_dollars(rate * DAY):,.0f} a day at {rate:,} throughout):"
        yield ""
        yield from table_of_waiting([line], names)


def report_of_reads() -> Iterator[str]:
    """Yield what an hour of cached reads is like."""
    yield from ("### Cached reads", "")
    rows = []
    for choices in (AS_CONFIGURED, TURNED):
        line = reading(Tables(choices), lambda _: 1_000.0, choices.throttle)
        list(simulate([line], HOUR, every=HOUR))
        (stage,) = line.stages
        rows.append(
            (
                f"{choices.throttle:,}/s",
                f"{stage.done:,.0f}",
                f"{stage.refused:,.0f}",
                f"{min(1_000.0, stage.rate) * stage.seconds:.1f}",
                f"${reading_dollars(stage.done / HOUR * DAY):,.0f}",
            )
        )
    yield from table_of(
        ("throttle of the API", "answered in an hour of 1,000/s", "429", "functions at once", "a day"), rows
    )


def report_of_all() -> Iterator[str]:
    """Yield what an hour of everything at once on one table is like."""
    yield from ("### All of it on one table", "")
    yield (
        "100,000 feeds, 1,000 new articles a second with three times as many from minute 10 to 20, and 1,000 "
        "cached reads a second, with the knobs turned as above:"
    )
    yield ""
    tables = Tables(TURNED)
    polls = polling(tables, 100_000)
    news = articles(tables, bursts(1_000), TURNED)
    reads = reading(tables, lambda _: 1_000.0, TURNED.throttle)
    names = {
        "feeds to be polled": polls.stages[1],
        "articles to be stored": news.stages[0],
        "for analysis": news.stages[1],
        "for grouping": news.stages[2],
    }
    yield from table_of_waiting([polls, news, reads], names)
    busy = sum(
        line.stages[at].seconds * rate
        for line, at, rate in (
            (polls, 1, polls_a_day(100_000) / DAY),
            (news, 0, 1_000),
            (news, 1, 1_000),
            (news, 2, 1_000),
            (reads, 0, 1_000),
        )
    )
    yield (
        f"{reads.stages[0].refused:,.0f} reads were refused. {busy:.0f} of the account's "
        f"{ACCOUNT_CONCURRENCY:,} functions are busy on average."
    )
    yield ""


def report_of_spectra() -> Iterator[str]:
    """Yield how long many spectra take."""
    yield from ("### 10,000 spectra that are due", "")
    rows = []
    for at_once in (ACQUIRE.at_once, 40):
        stage = acquiring(at_once)
        rows.append(
            (str(at_once), f"{10_000 / stage.rate / HOUR:.1f} hours", f"${spectra_dollars(10_000):.2f}")
        )
    yield from table_of(("`acquire_concurrency`", "until all are acquired", "cost"), rows)


def in_words(choices: Choices) -> str:
    """Return what a deployment chooses otherwise than the template."""
    return (
        f"{choices.analyze.at_once} × analyze_sentiment, `grouping_lines` {choices.group.at_once}, "
        f"`index_shards` {choices.shards} and tables warm for {choices.warm:,} writes a second"
    )


def report() -> str:
    """Return all of it in Markdown."""
    parts = (report_of_feeds(), report_of_articles(), report_of_reads(), report_of_all(), report_of_spectra())
    return "\n".join(line for part in parts for line in part).rstrip()


def figures() -> list[Figure]:
    """Return what stands beside the goals of cost."""
    return [
        Figure(
            "10,000 feeds, unchanged, every 15 minutes, for a day",
            polling_dollars(10_000, 10_000 * 96),
            "dollars",
            at_most=1.60,
        ),
        Figure(
            "a million new articles, fetched, stored and analysed",
            article_dollars(1e6),
            "dollars",
            at_most=5.50,
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--measured", type=Path, default=SERVICE_TIMES, metavar="FILE")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    reckon_with(options.measured)
    save(options.json, figures())
    print(report())


if __name__ == "__main__":
    main()
