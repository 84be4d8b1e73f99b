"""The publisher's statements about polling, from words to numbers."""

from __future__ import annotations

from dataclasses import dataclass, field

from sourcebook.feeds.model import FeedHints

_DAYS = {
    name: number
    for number, name in enumerate(
        ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
    )
}
_PERIODS = frozenset(("hourly", "daily", "weekly", "monthly", "yearly"))
_LONGEST_TTL = 60 * 24 * 366
_MOST_HUBS = 100


@dataclass(slots=True)
class DocumentHints:
    """Statements as they stand in the feed; what makes no sense is left out by `freeze`."""

    ttl: str = ""
    hours: list[str] = field(default_factory=list)
    days: list[str] = field(default_factory=list)
    period: str = ""
    frequency: str = ""
    self_link: str = ""
    hubs: dict[str, None] = field(default_factory=dict)

    def link(self, relation: str, address: str) -> None:
        """Note a link of the feed itself."""
        relation = relation.lower()
        if relation == "self" and not self.self_link:
            self.self_link = address
        elif relation == "hub" and address and len(self.hubs) < _MOST_HUBS:
            self.hubs[address] = None

    def freeze(self) -> FeedHints:
        """Return the statements as numbers."""
        ttl = _number(self.ttl)
        period = self.period.strip().lower()
        frequency = _number(self.frequency)
        hours = {number % 24 for hour in self.hours if (number := _number(hour)) is not None and number <= 24}
        days = {_DAYS[name] for day in self.days if (name := day.strip().lower()) in _DAYS}
        return FeedHints(
            ttl_minutes=ttl if ttl and ttl <= _LONGEST_TTL else None,
            skip_hours=tuple(sorted(hours)),
            skip_days=tuple(sorted(days)),
            update_period=period if period in _PERIODS else None,
            update_frequency=frequency or None,
            self_link=self.self_link,
            hub_links=tuple(self.hubs),
        )


def _number(text: str) -> int | None:
    text = text.strip()
    return int(text) if text.isdecimal() and len(text) <= 9 else None
