"""When a feed is asked next: as often as it brings something, at its own hours of the day.

The rate is new entries ÷ hours since the last successful fetch, averaged over time and not over fetches. A
histogram of publication hours says how that rate is spread over the day, and over the week once there is
enough history. The next fetch is due when five new entries are to be expected, within one minute and the
source's own interval. What the server asks for is a lower bound within that range.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sourcebook.clock import to_utc
from sourcebook.feeds.settings import FeedSettings
from sourcebook.sources.model import Source

DEFAULTS: Final = FeedSettings()
MEMORY: Final = timedelta(hours=24)
"""Time after which a rate seen once counts for a third (1/e)."""
JITTER: Final = 0.05
"""Share by which an interval is varied, so that feeds registered together drift apart."""
WEEKLY_AFTER: Final = timedelta(days=28)
WEEKLY_ENTRIES: Final = 200
"""History after which the hour of the week counts and not only the hour of the day."""
ALL_NEW_AT_LEAST: Final = 3
"""Entries in a document below which it says nothing that all of them are new."""

_HOURS = 168
_FULL = 255
_PRIOR = 2.0
_FIRST_LOOK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Rhythm:
    """How often a feed brings something, and when.

    Attributes:
        rate: new entries an hour, averaged.
        histogram: 168 numbers from 0 to 255, entries published in each hour of the week (UTC, Monday first);
            halved when one is full, so old habits fade.
        entries: entries counted so far.
    """

    rate: float = 0.0
    histogram: bytes = bytes(_HOURS)
    entries: int = 0

    @classmethod
    def of(cls, source: Source) -> Rhythm:
        """Read the rhythm from a source's state."""
        histogram = (
            source.histogram if source.histogram and len(source.histogram) == _HOURS else bytes(_HOURS)
        )
        return cls(source.rate, histogram, source.entries_counted)

    def to_state(self) -> dict[str, Any]:
        """Return the attributes of a source's state that keep it."""
        return {"rate": round(self.rate, 4), "histogram": self.histogram, "entries_counted": self.entries}

    def after(self, published: Sequence[datetime], now: datetime, last_success: datetime | None) -> Rhythm:
        """Return the rhythm after a fetch that found new entries with these times.

        Args:
            published: when each new entry was published, or first seen if it does not say.
            now: time of the fetch.
            last_success: time of the last successful fetch; None if this is the first, whose document is
                a sample of the last week and not news of the last minutes.
        """
        if last_success is None:
            recent = [moment for moment in published if now - _FIRST_LOOK < moment <= now]
            hours = max((now - min(recent)) / timedelta(hours=1), 1.0) if recent else 1.0
            rate = len(recent) / hours
            counted = recent
        else:
            hours = max((now - last_success) / timedelta(hours=1), 1 / 3600)
            weight = 1 - math.exp(-hours / (MEMORY / timedelta(hours=1)))
            rate = self.rate + weight * (len(published) / hours - self.rate)
            # An entry that appears with an old date tells nothing of the feed's hours.
            counted = [moment if moment > last_success - MEMORY else now for moment in published]
        return Rhythm(rate, _count(self.histogram, counted), self.entries + len(counted))

    def factor(self, moment: datetime, *, weekly: bool) -> float:
        """Return how busy an hour is beside the average hour, 1 being average."""
        hour = _hour_of_week(moment)
        if weekly:
            mean = sum(self.histogram) / _HOURS
            return (self.histogram[hour] + _PRIOR) / (mean + _PRIOR)
        by_day = [sum(self.histogram[hour::24]) for hour in range(24)]
        return (by_day[hour % 24] + _PRIOR) / (sum(by_day) / 24 + _PRIOR)


@dataclass(frozen=True, slots=True)
class Hints:
    """What the server asks of those who poll it.

    Attributes:
        at_least: shortest interval that it wants (ttl, max-age, Expires, sy:updatePeriod).
        skip_hours, skip_days: hours (UTC) and days (0 is Monday) in which it has nothing new.
    """

    at_least: timedelta = timedelta(0)
    skip_hours: frozenset[int] = frozenset()
    skip_days: frozenset[int] = frozenset()

    @classmethod
    def of(cls, source: Source) -> Hints:
        """Read what was learned from earlier answers."""
        skip = source.skip or {}
        return cls(
            timedelta(minutes=source.hint_minutes),
            frozenset(skip.get("hours", ())),
            frozenset(skip.get("days", ())),
        )


@dataclass(frozen=True, slots=True)
class NextFetch:
    """When a feed is due, and why, in sentences for a person."""

    due: datetime
    reasons: tuple[str, ...]


def next_fetch(
    source: Source,
    rhythm: Rhythm,
    hints: Hints,
    now: datetime,
    *,
    settings: FeedSettings = DEFAULTS,
    all_new: bool = False,
    fresh: int = 0,
    jitter: float = 0.5,
) -> NextFetch:
    """Return when to fetch a feed that has just answered.

    Args:
        source: the feed; its interval is the longest one.
        rhythm: what is known of its habits, this fetch included.
        hints: what its server asks for.
        now: the present time.
        settings: shortest interval, first interval, and how many new entries a fetch should find.
        fresh: new entries of this fetch: a burst is followed at once, before the average knows of it.
        all_new: whether every entry of the document was new: older ones may have come and gone unseen.
        jitter: a random number from 0 to 1; 0.5 changes nothing.
    """
    longest = timedelta(minutes=source.interval_minutes)
    first = timedelta(minutes=settings.max_refresh_interval_minutes)
    target = settings.target_articles_per_fetch
    if source.last_success_at is None:
        interval = min(longest, first)
        reasons = [f"it is new, and new feeds start at {_said(interval)}"]
    else:
        weekly = now - source.created_at >= WEEKLY_AFTER and rhythm.entries >= WEEKLY_ENTRIES
        interval = _time_for(target, rhythm, now, longest, weekly=weekly)
        busy = rhythm.factor(now, weekly=weekly)
        reasons = [
            (
                f"it brings {rhythm.rate:.2f} new entries an hour on average, {busy:.1f} times that at this "
                f"hour of the {'week' if weekly else 'day'}: {target} more are expected within "
                f"{_said(interval)}"
            )
        ]
        if interval >= longest:
            reasons.append(f"its longest interval is {_said(longest)}")
    if source.last_success_at is not None and now > source.last_success_at:
        burst = timedelta(
            hours=target * ((now - source.last_success_at) / timedelta(hours=1)) / max(fresh, 1)
        )
        if fresh > target and burst < interval:
            interval = burst
            reasons.append(f"just now it brought {fresh}, {target} every {_said(burst)}")
    if all_new and source.last_success_at is not None:
        interval = min(interval, first) / 2
        reasons.append("every entry of the document was new, so some may have been missed: sooner")
    interval *= 1 + JITTER * (2 * jitter - 1)
    interval = min(max(interval, settings.shortest), longest)
    if hints.at_least > interval:
        interval = min(hints.at_least, longest)
        reasons.append(f"its server asks for {_said(hints.at_least)} at least")
    due = now + interval
    awake = _awake(due, hints, now + longest)
    if awake != due:
        reasons.append("its server says that nothing comes at that hour or day")
    return NextFetch(awake, tuple(reasons))


def explain(source: Source, now: datetime) -> list[str]:
    """Say why a feed's next fetch is when it is, in sentences for a person."""
    wait = source.next_fetch_time - now
    when = f"The next fetch is due at {source.next_fetch_time:%Y-%m-%d %H:%M:%S} UTC, "
    lines = [when + (f"in {_said(wait)}." if wait > timedelta(0) else "now.")]
    if not source.enabled:
        why = source.last_error or source.last_cause or "by hand"
        return [*lines, f"It is disabled ({why}); this is a probe."]
    if source.consecutive_errors:
        error = source.last_error or source.last_cause
        failed = f"It failed {source.consecutive_errors} times in a row ({error})"
        return [*lines, f"{failed}, so it is tried later and later."]
    if source.last_fetch_at is None:
        return [*lines, "It has not been fetched yet."]
    before = source.model_copy(
        update={"last_success_at": source.last_success_at if source.fetch_count > 1 else None}
    )
    decision = next_fetch(before, Rhythm.of(source), Hints.of(source), source.last_fetch_at)
    return [*lines, *(f"At the last fetch, {reason}." for reason in decision.reasons)]


def _time_for(
    entries: float, rhythm: Rhythm, now: datetime, longest: timedelta, *, weekly: bool
) -> timedelta:
    """Return the time in which so many new entries are to be expected, at most `longest`."""
    if rhythm.rate <= 0:
        return longest
    expected = 0.0
    moment = now
    while moment < now + longest:
        # In steps that end with the hour: within it the rate is constant.
        end = min(moment.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1), now + longest)
        rate = rhythm.rate * rhythm.factor(moment, weekly=weekly)
        in_step = rate * ((end - moment) / timedelta(hours=1))
        if expected + in_step >= entries:
            return moment - now + timedelta(hours=(entries - expected) / rate)
        expected += in_step
        moment = end
    return longest


def _awake(due: datetime, hints: Hints, latest: datetime) -> datetime:
    """Return the first moment from `due` on, but no later than `latest`, that the server does not skip."""
    moment = due
    while moment < latest and (moment.hour in hints.skip_hours or moment.weekday() in hints.skip_days):
        moment = moment.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    return min(moment, max(latest, due))


def _count(histogram: bytes, moments: Iterable[datetime]) -> bytes:
    counts = list(histogram)
    for moment in moments:
        hour = _hour_of_week(moment)
        if counts[hour] >= _FULL:
            counts = [count // 2 for count in counts]
        counts[hour] += 1
    return bytes(counts)


def _hour_of_week(moment: datetime) -> int:
    utc = to_utc(moment)
    return utc.weekday() * 24 + utc.hour


def _said(span: timedelta) -> str:
    minutes = span / timedelta(minutes=1)
    if minutes < 1.95:
        return f"{span.total_seconds():.0f} seconds"
    return f"{minutes:.0f} minutes" if minutes < 120 else f"{minutes / 60:.1f} hours"


def learned_hints(
    *, ttl: int | None, period: int | None, max_age: int | None, expires: datetime | None, now: datetime
) -> int:
    """Return the shortest interval that an answer asks for, in whole minutes; 0 if it asks for none.

    Args:
        ttl: minutes, of RSS.
        period: minutes between updates, of the syndication module.
        max_age: seconds, of Cache-Control.
        expires: of the Expires header.
        now: time of the answer.
    """
    wishes = [ttl or 0, period or 0, (max_age or 0) / 60]
    if expires is not None and max_age is None:
        wishes.append((expires - now) / timedelta(minutes=1))
    return max(0, min(math.ceil(max(wishes)), 7 * 24 * 60))


def histogram_by_hour(histogram: bytes | None) -> list[int]:
    """Return entries by hour of the day, 24 numbers, for people to look at."""
    counts = histogram if histogram and len(histogram) == _HOURS else bytes(_HOURS)
    return [sum(counts[hour::24]) for hour in range(24)]


def skip_state(hours: Sequence[int], days: Sequence[int]) -> Mapping[str, list[int]] | None:
    """Return the form in which a source's state keeps the hours and days to skip; None if there are none."""
    skip = {"hours": list(hours), "days": list(days)}
    return {name: values for name, values in skip.items() if values} or None
