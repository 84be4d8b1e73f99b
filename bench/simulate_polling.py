"""Thousands of feeds over a week, by a clock of its own: how soon are entries found, and by how many polls?

    nice -n 19 python bench/simulate_polling.py [--feeds 10000] [--days 7] [--seed 1] [--processes 2] [--hard]

What is simulated
- Rates are log-normal, 20 entries a day in the median, at most 3,000. Each feed has a peak of its own in the
  day and a weekend of its own; in one hour of a hundred it publishes five times as much.
- What comes together, and how long the document is, are those of a real feed: publishing.json has the
  patterns of 147, all of 153 that date three entries or more (measure_publishing.py counted them). A sitting
  is a run of entries with no more than five minutes in between. 53 of the 147 show sittings, from two entries
  to a weekly issue of 21 at one instant. A feed's sittings begin at random, each a copy of one of its
  pattern's; real ones keep more distance. One pattern is left out: 19 of its 20 entries have one date and the
  other is nine months off, an import. In all others the longest sitting is at most half of the document.
- A document spans at least 2.3 hours of its feed's average, as the shortest of the real ones does.
- An entry is missed if as many others as the document holds follow it before the next poll. An entry that is
  pushed out within a minute is counted apart: no poller that leaves a minute between two polls can be sure of
  it, not even one that polls every minute. All others are seen by polling every minute.

With `--hard` feeds are made by harder rules than any real one shows, with which this bench began: one in five
publishes a geometric number of entries at one instant, four on average and up to 34, whatever its document
holds; the length of the document is that of any of the real ones, and at least one hour's entries.

What is compared
- this project's schedule as configured, by the very code that runs (`Rhythm.after` and `next_fetch`), and the
  same with quiet feeds left alone for up to an hour;
- polling every 15 minutes;
- the formula of the design that the project began with: articles of a fetch taken for articles an hour, 0.7
  at the peak after the clamp;
- polling all feeds at the fixed interval whose median delay is that of ours.

A feed's first poll fills in what it published before, so it is neither found nor missed there.
"""

from __future__ import annotations

import argparse
import bisect
import json
import math
import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple, TypeAlias

from rich.console import Console
from rich.progress import track
from rich.table import Table

from sourcebook.feeds.hints import FeedHints
from sourcebook.feeds.schedule import ALL_NEW_AT_LEAST, Rhythm, next_fetch
from sourcebook.records.source import Source

START = datetime(2026, 11, 23, tzinfo=UTC)  # a Monday
HOUR = 3600.0
FLOOR = 60.0
"""Seconds between two polls, at least."""
SPAN = 2.3
"""Hours of a feed's average rate that its document holds, at least: the shortest of the real ones."""
PATTERNS = Path(__file__).with_name("publishing.json")
LENGTHS = {3: 3, 5: 2, 7: 3, 10: 55, 12: 5, 15: 19, 20: 19, 25: 13, 30: 14, 40: 7, 50: 5, 100: 4}
"""Entries in a document: how many of 149 real feeds hold about so many. For `--hard`."""

Wait: TypeAlias = Callable[[list[float], float, int, bool], float]
"""Says how many seconds to wait after a poll that found these new entries (by their time of publication), at
this time, in a document of this length, of which all were new or not."""


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed.

    Attributes:
        published: when its entries appear, in seconds from the start, in order.
        document: entries in its document.
        batches: whether it publishes two or more at a time, on average.
    """

    published: list[float]
    document: int
    batches: bool


@dataclass(slots=True)
class Outcome:
    """What a scheme came to.

    Attributes:
        missed: entries that stood in the document for a minute or longer and were not found.
        missed_in_batches: the same of the feeds that publish in batches.
        out_of_reach: entries that were not found and had stood there for less than a minute.
        delays: entries found, by the whole seconds from publication to poll.
    """

    polls: int = 0
    missed: int = 0
    missed_in_batches: int = 0
    out_of_reach: int = 0
    delays: dict[int, int] = field(default_factory=dict)

    def add(self, other: Outcome) -> None:
        self.polls += other.polls
        self.missed += other.missed
        self.missed_in_batches += other.missed_in_batches
        self.out_of_reach += other.out_of_reach
        for delay, count in other.delays.items():
            self.delays[delay] = self.delays.get(delay, 0) + count

    @property
    def found(self) -> int:
        return sum(self.delays.values())

    def delay(self, share: float) -> int:
        """Return the seconds within which this share of the entries was found."""
        wanted, found = share * self.found, 0
        for delay in sorted(self.delays):
            found += self.delays[delay]
            if found >= wanted:
                return delay
        return 0


def fixed(seconds: float) -> Wait:
    return lambda _new, _now, _document, _all_new: seconds


def original() -> Wait:
    rate = 0.0
    by_hour = [0] * 24

    def wait(new: list[float], now: float, _document: int, _all_new: bool) -> float:
        nonlocal rate
        rate = 0.9 * rate + 0.1 * len(new)
        hour = int(now // HOUR) % 24
        by_hour[hour] += len(new)
        mean = sum(by_hour) / 24
        seconds = min(max(5 / rate * HOUR, FLOOR), 900.0) if rate else 900.0
        return seconds * 0.7 if mean and by_hour[hour] / mean > 1.5 else seconds

    return wait


def ours(longest: int, seed: int) -> Wait:
    generator = random.Random(seed)  # noqa: S311 - repeatable on purpose
    source = Source(
        source_id="simulated",
        url="https://simulated.example/feed",
        interval_minutes=longest,
        created_at=START,
        next_fetch_time=START,
    )
    rhythm = Rhythm()

    def wait(new: list[float], now: float, document: int, all_new: bool) -> float:
        nonlocal rhythm, source
        moment = START + timedelta(seconds=now)
        published = [START + timedelta(seconds=seconds) for seconds in new]
        rhythm = rhythm.after(published, moment, source.last_success_at)
        due = next_fetch(
            source,
            rhythm,
            FeedHints(),
            moment,
            all_new=all_new,
            fresh=len(new),
            document=document if new else None,
            jitter=generator.random(),
        ).due
        source = replace(
            source, last_success_at=moment, last_entries=document if new else source.last_entries
        )
        return (due - moment).total_seconds()

    return wait


class Pattern(NamedTuple):
    """How a real feed publishes.

    Attributes:
        entries: in its document.
        sittings: runs of entries that come together, each in seconds from its first.
    """

    entries: int
    sittings: list[list[int]]


@cache
def patterns() -> list[Pattern]:
    """Return the patterns of the real feeds, without imports."""
    found = [
        Pattern(feed["entries"], feed["together"] + [[0]] * feed["alone"])
        for feed in json.loads(PATTERNS.read_text("utf-8"))
    ]
    return [pattern for pattern in found if 2 * max(map(len, pattern.sittings)) <= pattern.entries]


def make_feed(seed: int, days: int) -> Feed:
    """Return a feed; its entries begin half a day before the start."""
    generator = random.Random(seed)  # noqa: S311 - repeatable on purpose
    per_day = a_rate(generator)
    pattern = generator.choice(patterns())
    mean = sum(map(len, pattern.sittings)) / len(pattern.sittings)
    published = [
        moment + seconds
        for moment in moments(generator, per_day / mean, days)
        for seconds in generator.choice(pattern.sittings)
    ]
    return Feed(sorted(published), max(pattern.entries, math.ceil(per_day / 24 * SPAN)), mean >= 2)


def make_hard_feed(seed: int, days: int) -> Feed:
    """Return a feed of the harder kind."""
    generator = random.Random(seed)  # noqa: S311 - repeatable on purpose
    per_day = a_rate(generator)
    (length,) = generator.choices(list(LENGTHS), list(LENGTHS.values()))
    batch = 4 if generator.random() < 0.2 else 1
    published: list[float] = []
    for moment in moments(generator, per_day / batch, days):
        # A geometric number with this mean: 1 without batches.
        size = 1 + int(math.log(1 - generator.random()) / math.log(1 - 1 / batch)) if batch > 1 else 1
        published.extend([moment] * size)
    return Feed(published, max(length, math.ceil(per_day / 24)), batch > 1)


def a_rate(generator: random.Random) -> float:
    """Return how many entries a feed publishes a day."""
    return min(math.exp(generator.gauss(math.log(20), 1.7)), 3_000)


def moments(generator: random.Random, per_day: float, days: int) -> Iterator[float]:
    """Yield when a feed publishes, so many times in an average day."""
    peak, width = generator.uniform(6, 20), generator.uniform(2, 6)
    weekend = generator.choice([0.2, 0.6, 1.0])
    shape = [
        0.15 + math.exp(-(min(abs(h - peak), 24 - abs(h - peak)) ** 2) / (2 * width**2)) for h in range(24)
    ]
    mean = sum(shape) / 24
    for hour in range(-12, days * 24):
        rate = per_day / 24 * shape[hour % 24] / mean * (weekend if hour // 24 % 7 >= 5 else 1)
        if generator.random() < 0.01:
            rate *= 5
        moment = hour * HOUR
        while (moment := moment + generator.expovariate(rate / HOUR)) < (hour + 1) * HOUR:
            yield moment


def follow(feed: Feed, wait: Wait, days: int, first_poll: float) -> Outcome:
    """Return what polling a feed comes to."""
    outcome = Outcome()
    published, document, delays = feed.published, feed.document, outcome.delays
    now, known, first = first_poll, 0, True  # `known`: index of the first entry not yet looked at
    end_of_time = days * 24 * HOUR
    polls = 0
    while now < end_of_time:
        end = bisect.bisect_right(published, now, known)
        visible = max(end - document, known)
        new = published[visible:end]
        if not first and end > known:
            for index in range(known, visible):
                if published[index + document] - published[index] < FLOOR:
                    outcome.out_of_reach += 1
                elif feed.batches:
                    outcome.missed_in_batches += 1
                else:
                    outcome.missed += 1
            for moment in new:
                delay = int(now - moment)
                delays[delay] = delays.get(delay, 0) + 1
        polls += 1
        shown = min(end, document)
        now += wait(new, now, shown, not first and len(new) == shown >= ALL_NEW_AT_LEAST)
        known, first = end, False
    outcome.polls = polls
    return outcome


OURS = "ours"
QUIET = "ours, quiet feeds up to 1 hour"


def simulate(
    seeds: Sequence[int], days: int, intervals: Sequence[float], *, adaptive: bool, hard: bool = False
) -> dict[str, Outcome]:
    """Return the outcome of each scheme over these feeds."""
    outcomes: dict[str, Outcome] = {}
    for seed in seeds:
        feed = make_hard_feed(seed, days) if hard else make_feed(seed, days)
        schemes = {said(seconds): fixed(seconds) for seconds in intervals}
        if adaptive:
            schemes |= {"original formula": original(), OURS: ours(15, seed), QUIET: ours(60, seed)}
        first_poll = random.Random(seed).uniform(0, 900)  # noqa: S311
        for name, wait in schemes.items():
            outcomes.setdefault(name, Outcome()).add(follow(feed, wait, days, first_poll))
    return outcomes


def said(seconds: float) -> str:
    return f"every {seconds / 60:.4g} minutes"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--feeds", type=int, default=1_000)
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--hard", action="store_true")
    parser.add_argument("--json", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    seeds = [arguments.seed * 1_000_003 + n for n in range(arguments.feeds)]
    chunks = [seeds[start : start + 20] for start in range(0, len(seeds), 20)]
    begun, cpu = time.monotonic(), os.times()
    outcomes: dict[str, Outcome] = {}
    with ProcessPoolExecutor(arguments.processes) as pool:

        def run(intervals: Sequence[float], *, adaptive: bool) -> None:
            work = partial(
                simulate, days=arguments.days, intervals=intervals, adaptive=adaptive, hard=arguments.hard
            )
            jobs = [pool.submit(work, chunk) for chunk in chunks]
            for job in track(jobs, "simulating", transient=True):
                for name, outcome in job.result().items():
                    outcomes.setdefault(name, Outcome()).add(outcome)

        run([900.0], adaptive=True)
        # Polled every n minutes, an entry waits half of that in the median.
        run([2.0 * outcomes[OURS].delay(0.5)], adaptive=False)
    table = Table(
        "schedule",
        "polls",
        "polls / entry",
        "median delay",
        "95 % within",
        "missed",
        "in batches",
        "out of reach",
    )
    for name, o in outcomes.items():
        table.add_row(
            name,
            f"{o.polls:,}",
            f"{o.polls / max(o.found, 1):.2f}",
            f"{o.delay(0.5) / 60:.1f} min",
            f"{o.delay(0.95) / 60:.1f} min",
            f"{o.missed:,}",
            f"{o.missed_in_batches:,}",
            f"{o.out_of_reach:,}",
        )
    spent = os.times()
    seconds = sum(spent[:4]) - sum(cpu[:4])
    entries = sum(
        getattr(outcomes[OURS], name) for name in ("found", "missed", "missed_in_batches", "out_of_reach")
    )
    console = Console(width=130)
    console.print(
        f"{arguments.feeds:,} feeds, {arguments.days} days, seed {arguments.seed}: {entries:,} entries"
    )
    console.print(table)
    console.print(f"{time.monotonic() - begun:.0f} s, {seconds:.0f} s of CPU")
    if arguments.json:
        save_figures(arguments.json, outcomes, arguments.feeds, arguments.days, entries)


def save_figures(path: Path, outcomes: dict[str, Outcome], feeds: int, days: int, entries: int) -> None:
    """Write what `run.py` makes its table of, and what `scale.py` reckons with."""
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    from bench.figures import Figure, save  # noqa: PLC0415 - needed by this alone

    own = outcomes[OURS]
    same_delay = list(outcomes.values())[-1]  # simulated last
    save(
        path,
        [
            Figure(
                f"polls for the same median delay, {feeds:,} feeds, {days} days",
                same_delay.polls / own.polls,
                "times",
                f"{own.polls:,}",
                f"fixed interval: {same_delay.polls:,}",
            ),
            Figure(f"entries missed of {entries:,}", own.missed + own.missed_in_batches, "", at_most=0),
        ],
        {"polls_a_day": round(own.polls / feeds / days, 1)},
    )


if __name__ == "__main__":
    main()
