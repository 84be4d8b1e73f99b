"""Work that passes through stages, each bounded by its functions and by what the tables behind it take.

Time goes in whole seconds, and amounts are not rounded to items. In each second every stage wants to do what
waits for it and what its functions have time for. What several stages take of one table, index or partition
key is shared in proportion to what they want, as DynamoDB refuses the writes of all of them alike. What is
not done in a second waits for the next one, or is refused.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

FULL_CPU_MB: Final = 1_769
"""Memory with which a function has a whole CPU; below that, its share is in proportion."""
GB_SECOND, INVOCATION = 0.0000133334, 0.20e-6
"""Dollars for one, us-east-1, arm64."""
HALF_AN_HOUR: Final = 1_800


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


@dataclass(slots=True, eq=False)
class Capacity:
    """Units a second that a table, an index or one of their partition keys takes; more is throttled.

    A partition takes what it takes, however little it took before: AWS lends unused units within a table, but
    not beyond what one partition has. A table on demand, and each of its indexes, grows: it takes at once
    what it is warm for, and twice the most that it took in any second up to half an hour ago.

    Attributes:
        units: of a partition key, what it takes; of a table or an index, what it is warm for.
        knob: what moves it.
        most: of a table or an index, the quota to which it grows; a partition does not grow.
        throttled: units that were wanted in a second and not taken, at most.
    """

    name: str
    units: float
    knob: str
    most: float = 0.0
    throttled: float = 0.0
    _peak: float = 0.0
    _lately: deque[float] = field(default_factory=deque)

    @property
    def available(self) -> float:
        """Units that it takes in this second."""
        return max(self.units, min(self.most, 2 * self._peak))

    def end_second(self, wanted: float, taken: float) -> None:
        """Remember what this second has taken."""
        self.throttled = max(self.throttled, wanted - self.available)
        if self.most:
            self._lately.append(taken)
            if len(self._lately) > HALF_AN_HOUR:
                self._peak = max(self._peak, self._lately.popleft())


@dataclass(frozen=True, slots=True)
class Draw:
    """What an item takes of a capacity, on average."""

    capacity: Capacity
    units: float


@dataclass(slots=True, eq=False)
class Stage:
    """One step on the way of an item.

    Attributes:
        seconds: that one function is busy with an item.
        limits: what bounds it, besides its functions.
        draws: what an item takes of tables, indexes and partition keys.
        period: seconds from one start of its work to the next; 1 for what runs all the time.
        refuses: whether what cannot be done in its second is refused instead of waiting.
        waiting: items that have arrived and are not done.
        done: items done, ever.
        refused: items refused, ever.
    """

    function: Function
    seconds: float
    limits: Sequence[Limit] = ()
    draws: Sequence[Draw] = ()
    period: int = 1
    refuses: bool = False
    waiting: float = 0.0
    done: float = 0.0
    refused: float = 0.0
    most_waiting: float = 0.0

    @property
    def all_limits(self) -> list[Limit]:
        """Its limits and that of its functions, the tightest first; without those that it shares."""
        own = Limit(
            f"{self.function.at_once} × {self.function.name}",
            self.function.at_once / self.seconds,
            self.function.knob,
        )
        return sorted((own, *self.limits), key=lambda limit: limit.rate)

    @property
    def rate(self) -> float:
        """Items a second that it does at most, if nothing is throttled."""
        return self.all_limits[0].rate

    def wanted(self, second: int) -> float:
        """Return the items that it does in this second if nothing is throttled."""
        return min(self.waiting, self.rate * self.period) if second % self.period == 0 else 0.0

    def finish(self, items: float) -> None:
        """Let so many of what waits be done."""
        self.waiting -= items
        self.done += items
        if self.refuses:
            self.refused += self.waiting
            self.waiting = 0.0
        self.most_waiting = max(self.most_waiting, self.waiting)


@dataclass(frozen=True, slots=True)
class Line:
    """Stages in the order of the way, and the items that arrive at the first in a second."""

    stages: Sequence[Stage]
    arriving: Callable[[int], float]

    @property
    def limits(self) -> list[Limit]:
        """All limits by which it is bounded, the tightest of a name, and the tightest first."""
        found = [limit for stage in self.stages for limit in stage.all_limits]
        units: dict[Capacity, float] = {}
        for draw in (draw for stage in self.stages for draw in stage.draws):
            units[draw.capacity] = units.get(draw.capacity, 0.0) + draw.units
        found += [Limit(one.name, one.units / taken, one.knob) for one, taken in units.items() if taken]
        found.sort(key=lambda limit: -limit.rate)
        return sorted({limit.name: limit for limit in found}.values(), key=lambda limit: limit.rate)


def simulate(lines: Sequence[Line], seconds: int, every: int) -> Iterator[int]:
    """Send work through lines that may share tables, and yield each time that `every` seconds have passed.

    Items that a stage has done wait for the next one in the next second. The state stands in the stages.

    Args:
        lines: each with what arrives.
        seconds: how long.
        every: seconds from one yield to the next.
    """
    stages = [stage for line in lines for stage in line.stages]
    capacities = list(dict.fromkeys(draw.capacity for stage in stages for draw in stage.draws))
    for second in range(seconds):
        for line in lines:
            line.stages[0].waiting += line.arriving(second)
        wanted = {stage: stage.wanted(second) for stage in stages}
        demands = dict.fromkeys(capacities, 0.0)
        for stage in stages:
            for draw in stage.draws:
                demands[draw.capacity] += draw.units * wanted[stage]
        shares = {one: min(1.0, one.available / demand) if demand else 1.0 for one, demand in demands.items()}
        taken = dict.fromkeys(capacities, 0.0)
        for line in lines:
            passing = 0.0
            for stage in line.stages:
                done = wanted[stage] * min((shares[draw.capacity] for draw in stage.draws), default=1.0)
                for draw in stage.draws:
                    taken[draw.capacity] += draw.units * done
                stage.finish(done)
                stage.waiting += passing
                passing = done
        for one in capacities:
            one.end_second(demands[one], taken[one])
        if (second + 1) % every == 0:
            yield second + 1


@dataclass(slots=True)
class Feeds:
    """Feeds that become due some time after their last poll, so that late polls put off the next ones.

    Attributes:
        stages: that a poll passes.
        interval: seconds from a feed's poll until it is due again.
    """

    count: int
    stages: Sequence[Stage]
    interval: float

    def due(self, _second: int) -> float:
        """Return how many become due in a second: of those that do not wait already."""
        return (self.count - sum(stage.waiting for stage in self.stages)) / self.interval
