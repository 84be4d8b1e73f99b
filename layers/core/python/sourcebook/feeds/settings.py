"""How feeds are fetched and scheduled, as one object.

docs/feeds.md says what became of each setting of the design that this job comes from.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, Literal

from sourcebook.errors import InvalidInput

if TYPE_CHECKING:
    from sourcebook.http.policy import HttpPolicy

PREFIX: Final = "FEEDS_"
"""Of the environment variables: ``FEEDS_REQUEST_TIMEOUT_SECONDS`` and so on."""

_RANGES: Final[Mapping[str, tuple[float, float]]] = {
    "max_concurrent_requests": (1, 200),
    "request_timeout_seconds": (1, 60),
    "min_refresh_interval_minutes": (1, 1440),
    "max_refresh_interval_minutes": (1, 1440),
    "target_articles_per_fetch": (1, 1000),
    "parser_sample_percent": (0, 100),
}
_USER_AGENT: Final = re.compile(r"([A-Za-z0-9!#$%&'*+.^_`|~-]+)/([A-Za-z0-9!#$%&'*+.^_`|~-]+)")


@dataclass(frozen=True, slots=True)
class FeedSettings:
    """Settings of the feeds, with the defaults of the design but for `max_concurrent_requests`.

    Attributes:
        max_concurrent_requests: feeds that one invocation fetches at the same time.
        request_timeout_seconds: for one feed with all its redirects.
        user_agent: product and version in the User-Agent header; the contact is added to it.
        min_refresh_interval_minutes: shortest time between two polls of a feed.
        max_refresh_interval_minutes: longest time between two polls that a feed is given when it is added
            without one of its own, and the first interval of a new feed.
        target_articles_per_fetch: new entries that a poll should find.
        parser: "fast", or "reference" for feedparser alone.
        parser_sample_percent: of the documents that the fast parser reads, those that feedparser reads too
            to see whether they agree; one in a round at most.
    """

    max_concurrent_requests: int = 20
    request_timeout_seconds: float = 10.0
    user_agent: str = "Sourcebook/0.1"
    min_refresh_interval_minutes: int = 1
    max_refresh_interval_minutes: int = 15
    target_articles_per_fetch: int = 5
    parser: Literal["fast", "reference"] = "fast"
    parser_sample_percent: float = 0.1

    def __post_init__(self) -> None:
        """Refuse what cannot work.

        Raises:
            InvalidInput: naming the first setting that is wrong.
        """
        for name, (low, high) in _RANGES.items():
            value = getattr(self, name)
            if not low <= value <= high:
                raise InvalidInput(name, value, f"{low:g} to {high:g}")
        if self.min_refresh_interval_minutes > self.max_refresh_interval_minutes:
            raise InvalidInput(
                "min_refresh_interval_minutes",
                self.min_refresh_interval_minutes,
                f"at most max_refresh_interval_minutes, {self.max_refresh_interval_minutes}",
            )
        if not _USER_AGENT.fullmatch(self.user_agent):
            raise InvalidInput(
                "user_agent", self.user_agent, "a product and its version such as Sourcebook/0.1"
            )
        if self.parser not in {"fast", "reference"}:
            raise InvalidInput("parser", self.parser, "fast or reference")

    @property
    def shortest(self) -> timedelta:
        """Shortest time between two polls of a feed."""
        return timedelta(minutes=self.min_refresh_interval_minutes)

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] = os.environ) -> FeedSettings:
        """Read the settings from variables such as ``FEEDS_PARSER``; one that is unset has its default.

        Raises:
            InvalidInput: naming the first variable that is wrong.
        """
        texts = {setting.name: environ.get(_variable(setting.name), "").strip() for setting in fields(cls)}
        try:
            return cls.from_values({name: text for name, text in texts.items() if text})
        except InvalidInput as error:
            raise InvalidInput(_variable(error.field), error.value, error.expected) from error

    @classmethod
    def from_values(cls, values: Mapping[str, object]) -> FeedSettings:
        """Read the settings by their names, numbers also as text; one that is not given has its default.

        Raises:
            InvalidInput: naming the first setting that is wrong or does not exist.
        """
        defaults: dict[str, Any] = {setting.name: setting.default for setting in fields(cls)}
        given: dict[str, Any] = {}
        for name, value in values.items():
            if name not in defaults:
                raise InvalidInput(name, value, f"one of the settings {', '.join(defaults)}")
            kind = type(defaults[name])
            text = str(value).strip()
            try:
                given[name] = kind(text)
            except ValueError as error:
                expected = "a whole number" if kind is int else "a number"
                raise InvalidInput(name, text, expected) from error
        return cls(**given)

    def to_environment(self) -> dict[str, str]:
        """Return the variables that `from_environment` reads these settings from, all of them."""
        return {_variable(setting.name): str(getattr(self, setting.name)) for setting in fields(self)}

    def http_policy(self, *, contact: str = "", allowed_networks: str = "") -> HttpPolicy:
        """Return the policy of the client that fetches feeds.

        Args:
            contact: web or mail address given to the servers that are asked.
            allowed_networks: comma-separated networks that may be reached though they are not public.

        Raises:
            InvalidInput: if one of these is wrong.
        """
        from sourcebook.http.policy import HttpPolicy, parse_networks  # noqa: PLC0415 - not at the API's cold start

        product, version = self.user_agent.split("/")
        return HttpPolicy(
            max_concurrent=self.max_concurrent_requests,
            read_timeout=self.request_timeout_seconds,
            total_timeout=self.request_timeout_seconds,
            product=product,
            version=version,
            contact=contact,
            allowed_networks=parse_networks(allowed_networks),
        )


def _variable(setting: str) -> str:
    return PREFIX + setting.upper()
