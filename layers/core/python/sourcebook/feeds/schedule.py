"""When a feed is asked next: as often as it brings something, at its own hours of the day.

The rate is new entries ÷ hours since the last successful fetch, averaged over time and not over fetches. A
histogram of publication hours says how that rate is spread over the day, and over the week once there is
enough history. The next fetch is due when five new entries are to be expected, within one minute and the
source's own interval, and before the document can have filled with entries that nobody has seen; how many
come together, as in a feed that is written by a job, counts there. What the server asks for is a lower bound
within that range.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

from sourcebook.clock import isoformat, to_utc
from sourcebook.feeds.hints import FeedHints
from sourcebook.feeds.settings import FeedSettings
from sourcebook.records.source import Source, publications_by_hour
from sourcebook.sources.registry import NEVER

DEFAULTS: Final = FeedSettings()
MEMORY: Final = timedelta(hours=24)
"""Time after which a rate seen once counts for a third (1/e)."""
LATELY: Final = timedelta(hours=1)
"""The same for the rate of the last hour or so, which distinguishes a burst from a habit."""
JITTER: Final = 0.05
"""Share by which an interval is varied, so that feeds registered together drift apart."""
WEEKLY_AFTER: Final = timedelta(days=28)
WEEKLY_ENTRIES: Final = 200
"""History after which the hour of the week counts and not only the hour of the day."""
ALL_NEW_AT_LEAST: Final = 3
"""Entries in a document below which it says nothing that all of them are new."""
BURST: Final = 6
"""How many times as fast as of late a feed may publish from one minute to the next, and still no entry is
pushed out of its document unseen. docs/performance.md has what that costs."""
DEVIATIONS: Final = 4
"""Standard deviations above the expected number of entries that must fit into a document as well."""
AT_ONCE: Final = timedelta(minutes=5)
"""Entries that come within this time count as one batch: so much may happen before the next poll."""
QUIET: Final = 0.5
"""Share of a feed's rate that is reckoned with at its quiet hours, however quiet they are."""
BATCH_MEMORY: Final = 64.0
"""New entries after which a size of batches seen once counts for a third (1/e)."""

_HOUR = timedelta(hours=1)
_HOURS = 168
_FULL = 255
_COUNTED = 20.0
"""Entries an hour that are counted one by one; the busiest hour of a week then fills a byte in weeks."""
_PRIOR = 2.0
_SINGLES_FIRST = 2
"""Entries that a feed is taken to have published one by one before any was seen."""
_FIRST_LOOK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Rhythm:
    """How often a feed brings something, and when.

    Attributes:
        rate: new entries an hour, averaged.
        histogram: 168 numbers from 0 to 255, entries published in each hour of the week (UTC, Monday first);
            halved when one is full, so old habits fade.
        entries: entries counted so far.
        lately: new entries an hour, averaged over the last hour or so.
        together: size of the batch in which an entry comes, on average over entries; 1 if they come one by
            one. A feed that publishes one entry and nine at once in turn has 8.2: of ten entries, nine come
            as nine.
    """

    rate: float = 0.0
    histogram: bytes = bytes(_HOURS)
    entries: int = 0
    lately: float = 0.0
    together: float = 1.0

    @classmethod
    def of(cls, source: Source) -> Rhythm:
        """Read the rhythm from a source's state."""
        histogram = (
            source.histogram if source.histogram and len(source.histogram) == _HOURS else bytes(_HOURS)
        )
        return cls(
            source.rate, histogram, source.entries_counted, source.rate_lately, source.entries_together
        )

    def to_state(self) -> dict[str, object]:
        """Return the attributes of a source's state that keep it."""
        return {
            **self.rates(),
            "histogram": self.histogram,
            "entries_counted": self.entries,
            "entries_together": round(self.together, 2),
        }

    def rates(self) -> dict[str, object]:
        """Return the attributes of a source's state that change though nothing new was found."""
        return {"rate": round(self.rate, 4), "rate_lately": round(self.lately, 4)}

    def after(self, published: Sequence[datetime], now: datetime, last_success: datetime | None) -> Rhythm:
        """Return the rhythm after a fetch that found new entries with these times.

        Args:
            published: when each new entry was published, or first seen if it does not say.
            now: time of the fetch.
            last_success: time of the last successful fetch; None if this is the first, whose document is
                a sample of the last week and not news of the last minutes.
        """
        if last_success is None:
            # What was published this very second has no date, or one in the future: it was only seen now.
            this_second = now.replace(microsecond=0)
            recent = [moment for moment in published if now - _FIRST_LOOK < moment < this_second]
            hours = max((now - min(recent)) / timedelta(hours=1), 1.0) if recent else 1.0
            rate = len(recent) / hours
            lately = float(sum(moment > now - LATELY for moment in recent)) / (LATELY / timedelta(hours=1))
            counted = arrived = recent
        else:
            hours = max((now - last_success) / timedelta(hours=1), 1 / 3600)
            rate = _averaged(self.rate, len(published) / hours, hours, MEMORY)
            lately = _averaged(self.lately, len(published) / hours, hours, LATELY)
            # The old date of a new entry says nothing about the feed's hours.
            counted = [moment if moment > last_success - MEMORY else now for moment in published]
            # Nor has it been in the document for longer: what is dated before the last fetch came together
            # after it, and so did, as far as anybody knows, what has no date.
            arrived = [max(moment, last_success) for moment in published]
        return Rhythm(
            rate,
            _count(self.histogram, counted, before=self.entries, rate=rate),
            self.entries + len(counted),
            lately,
            _together(self.together, arrived, before=self.entries),
        )

    def factor(self, moment: datetime, *, weekly: bool) -> float:
        """Return how busy an hour is beside the average hour, 1 being average."""
        hour = _hour_of_week(moment)
        counts, mean = _spread(self.histogram, weekly=weekly)
        return (counts[hour % len(counts)] + _PRIOR) / (mean + _PRIOR)


@dataclass(frozen=True, slots=True)
class NextFetch:
    """When a feed is due, and why, in sentences for a person."""

    due: datetime
    reasons: tuple[str, ...]


def next_fetch(
    source: Source,
    rhythm: Rhythm,
    hints: FeedHints,
    now: datetime,
    *,
    settings: FeedSettings = DEFAULTS,
    all_new: bool = False,
    fresh: int = 0,
    document: int | None = None,
    jitter: float = 0.5,
) -> NextFetch:
    """Return when to fetch a feed that has just answered.

    Args:
        source: the feed as it was before this fetch; its interval is the longest one.
        rhythm: what is known of its habits, this fetch included.
        hints: what its server asks for.
        now: the present time.
        settings: shortest interval, first interval, and how many new entries a fetch should find.
        fresh: new entries of this fetch: a burst is followed at once, before the average knows of it.
        document: entries in the document of this fetch; None if it was not sent again.
        all_new: whether every entry of the document was new: older ones may have come and gone unseen.
        jitter: a random number from 0 to 1; 0.5 changes nothing.
    """
    longest = timedelta(minutes=source.interval_minutes)
    first = timedelta(minutes=settings.max_refresh_interval_minutes)
    weekly = now - source.created_at >= WEEKLY_AFTER and rhythm.entries >= WEEKLY_ENTRIES
    document = source.last_entries if document is None else document
    room = _room(document, rhythm.together) if document else math.inf
    wanted = min(settings.target_articles_per_fetch, room)
    if source.last_success_at is None:
        interval = min(longest, first)
        reasons = [f"it is new, and new feeds start at {_span(interval)}"]
    else:
        interval = _time_for(wanted, rhythm, now, longest, weekly=weekly)
        busy = rhythm.factor(now, weekly=weekly)
        reasons = [
            (
                f"it brings {rhythm.rate:.2f} new entries an hour on average, {busy:.1f} times that at this "
                f"hour of the {'week' if weekly else 'day'}: {_number(wanted)} more are expected within "
                f"{_span(interval)}"
            )
        ]
        if interval >= longest:
            reasons.append(f"its longest interval is {_span(longest)}")
        elapsed = now - source.last_success_at
        if fresh > wanted and timedelta(0) <= elapsed * (wanted / fresh) < interval:
            interval = elapsed * (wanted / fresh)
            reasons.append(f"just now it brought {fresh}, {_number(wanted)} every {_span(interval)}")
    ends = (now, now + min(interval, _HOUR)) if source.last_success_at else ()
    lately, spare = _headroom(rhythm, room, longest, ends=ends, weekly=weekly)
    if spare < interval:
        interval = spare
        reasons.append(
            f"it brings {lately:.1f} an hour at this time or did lately, {_number(room)} every {_span(spare)}"
        )
    if room == wanted:
        come = f", and they come {_number(rhythm.together)} at a time" if rhythm.together >= 1.5 else ""
        reasons.append(
            f"its document holds only {document} entries{come}: so that a burst of {BURST} times its rate "
            f"pushes none out unseen, no more than {_number(room)} are waited for"
        )
    if all_new and source.last_success_at is not None:
        interval = min(interval, first) / 2
        reasons.append("every entry of the document was new, so some may have been missed: sooner")
    interval *= 1 + JITTER * (2 * jitter - 1)
    interval = min(max(interval, settings.shortest), longest)
    at_least = timedelta(minutes=hints.minutes)
    if at_least > interval:
        interval = min(at_least, longest)
        reasons.append(f"its server asks for {_span(at_least)} at least")
    due = now + interval
    awake = _awake(due, hints, now + longest)
    if awake != due:
        reasons.append("its server says that nothing comes at that hour or day")
    return NextFetch(awake, tuple(reasons))


def explain(source: Source, now: datetime, *, settings: FeedSettings) -> list[str]:
    """Return why a feed's next fetch is when it is, in sentences for a person.

    Args:
        source: the feed with its state.
        now: the present time.
        settings: those by which the feed is polled: the deployed ones.
    """
    if not source.enabled and isoformat(source.next_fetch_time) == NEVER:
        return ["It is not fetched: it was disabled by hand. It is fetched again when a person enables it."]
    wait = source.next_fetch_time - now
    when = f"The next fetch is due at {source.next_fetch_time:%Y-%m-%d %H:%M:%S} UTC, "
    lines = [when + (f"in {_span(wait)}." if wait > timedelta(0) else "now.")]
    if not source.enabled:
        why = source.last_error or source.last_cause or "by hand"
        return [*lines, f"It is disabled ({why}); this is a probe."]
    if source.last_cause == "host_busy":
        return [*lines, "Its host asked for patience when another feed was fetched from it."]
    if source.consecutive_errors:
        error = source.last_error or source.last_cause
        failed = f"It failed {source.consecutive_errors} times in a row ({error})"
        return [*lines, f"{failed}, so it is tried later and later."]
    if source.last_fetch_at is None:
        return [*lines, "It has not been fetched yet."]
    before = source if source.fetch_count > 1 else replace(source, last_success_at=None)
    decision = next_fetch(
        before,
        Rhythm.of(source),
        FeedHints(source.hint_minutes, source.skip or {}),
        source.last_fetch_at,
        settings=settings,
    )
    lines += [f"At the last fetch, {reason}." for reason in decision.reasons]
    # The state keeps what a feed's habits are and not what one fetch found.
    usual, was = decision.due - source.last_fetch_at, source.next_fetch_time - source.last_fetch_at
    if was < usual * (1 - 2 * JITTER):
        lines.append(
            "It is due sooner than that: the last fetch found much that was new, or a person asked for it."
        )
    elif was > usual * (1 + 2 * JITTER):
        lines.append(
            "It is due later than that: its server asked for patience, or its settings have changed since."
        )
    return lines


def _room(document: int, together: float) -> float:
    """Return how many entries may be expected between two polls of a document that holds so many.

    So many that `BURST` times them, and `DEVIATIONS` standard deviations of a Poisson process more, still
    fit. What comes in batches is a Poisson process of batches, in a document that holds so many of them.

    Args:
        document: entries in it.
        together: size of the batch in which an entry comes, on average over entries: the variance of what
            comes in some time is so many times its mean.
    """
    batch = min(max(together, 1.0), document)
    holds = document / batch
    # m where m + DEVIATIONS √m = holds
    fitting = ((math.sqrt(DEVIATIONS**2 + 4 * holds) - DEVIATIONS) / 2) ** 2
    return batch * fitting / BURST


def _headroom(
    rhythm: Rhythm, room: float, longest: timedelta, *, ends: Sequence[datetime], weekly: bool
) -> tuple[float, timedelta]:
    """Return the rate that leaves the least headroom in a document, and the time that this leaves.

    The hours in which a feed is usually quiet are believed by half, since that is when a burst is most of a
    surprise, and for an hour at most; busy hours count in full by `_time_for`.

    Args:
        rhythm: what is known of its habits.
        room: entries that may be waited for.
        longest: time that may be waited.
        ends: moments in all hours that the wait may touch, within the next hour; none to believe no hour.
        weekly: whether the hour of the week counts.
    """
    share = min(1.0, max((QUIET, *(rhythm.factor(end, weekly=weekly) for end in ends)))) if ends else 1.0
    rate = max(rhythm.rate * share, rhythm.lately)
    spare = _time_at(rate, room, longest)
    if spare <= _HOUR:
        return rate, spare
    rate = max(rhythm.rate, rhythm.lately)
    return rate, max(_HOUR, _time_at(rate, room, longest))


def _time_at(rate: float, entries: float, longest: timedelta) -> timedelta:
    """Return the time in which so many entries come at a rate, at most `longest`."""
    return longest if entries >= rate * (longest / timedelta(hours=1)) else timedelta(hours=entries / rate)


def _time_for(
    entries: float, rhythm: Rhythm, now: datetime, longest: timedelta, *, weekly: bool
) -> timedelta:
    """Return the time in which so many new entries are to be expected, at most `longest`."""
    moment, latest = now, now + longest
    while rhythm.rate > 0 and moment < latest:
        # In steps that end with the hour: within it the rate is constant.
        next_hour = moment.replace(minute=0, second=0, microsecond=0) + _HOUR
        rate = rhythm.rate * rhythm.factor(moment, weekly=weekly)
        expected = rate * ((min(next_hour, latest) - moment) / _HOUR)
        if expected >= entries:
            return moment - now + timedelta(hours=entries / rate)
        entries -= expected
        moment = next_hour
    return longest


def _awake(due: datetime, hints: FeedHints, latest: datetime) -> datetime:
    """Return the first moment from `due` on, but no later than `latest`, that the server does not skip."""
    moment = due
    hours, days = hints.skip.get("hours", ()), hints.skip.get("days", ())
    while moment < latest and (moment.hour in hours or moment.weekday() in days):
        moment = moment.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    return min(moment, max(latest, due))


def _averaged(before: float, seen: float, hours: float, memory: timedelta) -> float:
    """Return an average into which a rate seen for some hours goes with the weight that they have."""
    weight = 1 - math.exp(-hours / (memory / timedelta(hours=1)))
    return before + weight * (seen - before)


def _together(average: float, moments: Sequence[datetime], *, before: int) -> float:
    """Return the average size of batches with these entries counted, `before` having been counted earlier."""
    start: datetime | None = None
    sizes: list[int] = []
    for moment in sorted(moments):
        if start is None or moment - start > AT_ONCE:
            start = moment
            sizes.append(0)
        sizes[-1] += 1
    known = _SINGLES_FIRST + before
    for size in sizes:
        known += size
        # The mean of all entries at first, and an average that forgets later.
        average += max(size / known, 1 - math.exp(-size / BATCH_MEMORY)) * (size - average)
    return average


@lru_cache(maxsize=64)
def _spread(histogram: bytes, *, weekly: bool) -> tuple[tuple[int, ...], float]:
    """Return the entries of each hour of the week, or of the day, and their mean."""
    counts = tuple(histogram) if weekly else tuple(publications_by_hour(histogram))
    return counts, sum(counts) / len(counts)


def _count(histogram: bytes, moments: Sequence[datetime], *, before: int, rate: float) -> bytes:
    """Return a histogram with these moments counted, `before` having been counted earlier.

    Of a feed that brings more than `_COUNTED` an hour only every n-th is counted: a byte that is full halves
    all the others, and yesterday would be forgotten within hours.
    """
    if not moments:
        return histogram
    weight = min(1.0, _COUNTED / rate) if rate else 1.0
    counts = list(histogram)
    for position, moment in enumerate(moments, before):
        if int((position + 1) * weight) == int(position * weight):
            continue
        hour = _hour_of_week(moment)
        if counts[hour] >= _FULL:
            counts = [count // 2 for count in counts]
        counts[hour] += 1
    return bytes(counts)


def _hour_of_week(moment: datetime) -> int:
    utc = to_utc(moment)
    return utc.weekday() * 24 + utc.hour


def _number(count: float) -> str:
    return f"{count:.1f}".removesuffix(".0")


def _span(span: timedelta) -> str:
    minutes = span / timedelta(minutes=1)
    if minutes < 1.95:
        return f"{span.total_seconds():.0f} seconds"
    return f"{minutes:.0f} minutes" if minutes < 120 else f"{minutes / 60:.1f} hours"


def minutes_asked_for(by_document: int, max_age: int | None, expires: datetime | None, now: datetime) -> int:
    """Return the shortest interval that an answer asks for, in whole minutes; 0 if it asks for none.

    Args:
        by_document: minutes that the document itself asks for.
        max_age: seconds, of Cache-Control.
        expires: of the Expires header.
        now: time of the answer.
    """
    wishes = [by_document, (max_age or 0) / 60]
    if expires is not None and max_age is None:
        wishes.append((expires - now) / timedelta(minutes=1))
    return max(0, min(math.ceil(max(wishes)), 7 * 24 * 60))
