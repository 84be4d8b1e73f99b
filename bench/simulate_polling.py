"""Thousands of feeds over a week, by a clock of its own: how soon are entries found, and by how many polls?

    python bench/simulate_polling.py [--feeds 1000] [--days 7] [--seed 1]

Feeds publish as a Poisson process with a day and a week of their own: most a few times a day, some hundreds
of times. A document holds the newest 20 entries (60 where there are over 200 a day), so an entry is missed if
as many others follow before the next poll. Compared are this project's schedule (as configured, and with
quiet feeds left alone for up to an hour), polling every 15 minutes, and the formula of the design that the
project began with (articles of a fetch taken for articles an hour, 0.7 at peak after the clamp). The last row
polls all feeds at the fixed interval that finds entries as soon as ours does.
"""

from __future__ import annotations

import argparse
import bisect
import math
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from rich.console import Console
from rich.progress import track
from rich.table import Table

from sourcebook.feeds.schedule import ALL_NEW_AT_LEAST, Hints, Rhythm, next_fetch
from sourcebook.sources.model import Source, parse_spec, state_item

START = datetime(2026, 11, 23, tzinfo=UTC)  # a Monday
DOCUMENT = 20
LARGE_DOCUMENT = 60
"""Entries in the documents of feeds with over 200 entries a day."""
HOUR = 3600.0


@dataclass
class Outcome:
    """What a scheme came to over all feeds; delays in seconds."""

    polls: int = 0
    found: int = 0
    missed: int = 0
    delays: list[float] = field(default_factory=list)


class Scheme:
    """Says how many seconds to wait after a poll."""

    def __init__(
        self, name: str, make: Callable[[random.Random], Callable[[list[float], float, bool], float]]
    ) -> None:
        self.name = name
        self.make = make
        self.outcome = Outcome()


def fixed(seconds: float) -> Callable[[random.Random], Callable[[list[float], float, bool], float]]:
    return lambda _random: lambda _new, _now, _all_new: seconds


def original(_random: random.Random) -> Callable[[list[float], float, bool], float]:
    rate = 0.0
    by_hour = [0] * 24

    def wait(new: list[float], now: float, _all_new: bool) -> float:
        nonlocal rate
        rate = 0.9 * rate + 0.1 * len(new)
        hour = int(now // HOUR) % 24
        by_hour[hour] += len(new)
        mean = sum(by_hour) / 24
        seconds = min(max(5 / rate * HOUR, 60.0), 900.0) if rate else 900.0
        return seconds * 0.7 if mean and by_hour[hour] / mean > 1.5 else seconds

    return wait


def ours(longest: int) -> Callable[[random.Random], Callable[[list[float], float, bool], float]]:
    def make(generator: random.Random) -> Callable[[list[float], float, bool], float]:
        spec = parse_spec({"source_id": "s", "url": "https://s.example/", "interval_minutes": longest})
        source = Source.from_item(state_item(spec, now="2026-11-23T00:00:00Z"))
        rhythm, last = Rhythm(), None

        def wait(new: list[float], now: float, all_new: bool) -> float:
            nonlocal source, rhythm, last
            moment = START + timedelta(seconds=now)
            rhythm = rhythm.after([START + timedelta(seconds=t) for t in new], moment, last)
            if last is None:
                source = source.model_copy(update={"last_success_at": None})
                decision = next_fetch(source, rhythm, Hints(), moment, jitter=generator.random())
            else:
                decision = next_fetch(
                    source,
                    rhythm,
                    Hints(),
                    moment,
                    all_new=all_new,
                    fresh=len(new),
                    jitter=generator.random(),
                )
            source = source.model_copy(update={"last_success_at": moment})
            last = moment
            return (decision.due - moment).total_seconds()

        return wait

    return make


def publications(generator: random.Random, days: int) -> list[float]:
    """Return when a feed publishes, in seconds from the start; half a day before it included."""
    per_day = min(math.exp(generator.gauss(math.log(20), 1.7)), 3_000)
    peak, width = generator.uniform(6, 20), generator.uniform(2, 6)
    weekend = generator.choice([0.2, 0.6, 1.0])
    shape = [
        0.15 + math.exp(-(min(abs(h - peak), 24 - abs(h - peak)) ** 2) / (2 * width**2)) for h in range(24)
    ]
    mean = sum(shape) / 24
    found = []
    for hour in range(-12, days * 24):
        day = hour // 24
        rate = per_day / 24 * shape[hour % 24] / mean * (weekend if day % 7 >= 5 else 1)
        if generator.random() < 0.01:
            rate *= 5  # a burst
        moment = hour * HOUR
        while rate > 0:
            moment += generator.expovariate(rate / HOUR)
            if moment >= (hour + 1) * HOUR:
                break
            found.append(moment)
    return found


def run(scheme: Scheme, published: list[float], days: int, generator: random.Random) -> None:
    wait = scheme.make(generator)
    outcome = scheme.outcome
    now = generator.uniform(0, 900)
    document = LARGE_DOCUMENT if len(published) > 200 * (days + 0.5) else DOCUMENT
    known = 0  # index of the first entry not yet looked at
    first = True
    while now < days * 24 * HOUR:
        end = bisect.bisect_right(published, now)
        visible = max(end - document, known)
        if not first:
            outcome.missed += visible - known
            outcome.found += end - visible
            outcome.delays.extend(now - moment for moment in published[visible:end])
        outcome.polls += 1
        new = published[visible:end]
        shown = min(end, document)
        now += wait(new, now, not first and len(new) == shown >= ALL_NEW_AT_LEAST)
        known, first = end, False


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--feeds", type=int, default=1_000)
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    schemes = [
        Scheme("every 15 minutes", fixed(900)),
        Scheme("original formula", original),
        Scheme("ours", ours(15)),
        Scheme("ours, quiet feeds up to 1 hour", ours(60)),
    ]
    begun = time.process_time()
    for n in track(range(arguments.feeds), "simulating", transient=True):
        generator = random.Random(arguments.seed * 1_000_003 + n)  # noqa: S311 - repeatable on purpose
        published = publications(generator, arguments.days)
        for scheme in schemes:
            run(scheme, published, arguments.days, random.Random(n))  # noqa: S311
    equal = 2 * statistics.median(schemes[2].outcome.delays)
    schemes.append(Scheme(f"every {equal / 60:.1f} minutes", fixed(equal)))
    for n in track(range(arguments.feeds), "simulating the fixed interval", transient=True):
        generator = random.Random(arguments.seed * 1_000_003 + n)  # noqa: S311 - repeatable on purpose
        run(schemes[-1], publications(generator, arguments.days), arguments.days, random.Random(n))  # noqa: S311
    table = Table(
        "schedule", "polls", "polls per new entry", "median delay", "95 % within", "missed", "polls, ratio"
    )
    baseline = schemes[0].outcome
    for scheme in schemes:
        o = scheme.outcome
        late = statistics.quantiles(o.delays, n=20)[-1]
        table.add_row(
            scheme.name,
            f"{o.polls:,}",
            f"{o.polls / max(o.found, 1):.2f}",
            f"{statistics.median(o.delays) / 60:.1f} min",
            f"{late / 60:.1f} min",
            f"{o.missed:,} ({o.missed / max(o.missed + o.found, 1):.3%})",
            f"{o.polls / baseline.polls:.2f}",
        )
    console = Console()
    console.print(f"{arguments.feeds} feeds, {arguments.days} days, seed {arguments.seed}")
    console.print(table)
    console.print(f"{time.process_time() - begun:.0f} s of CPU")


if __name__ == "__main__":
    main()
