"""What a server answered, and what its headers mean."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from sourcebook.clock import utc_now
from sourcebook.http.errors import FetchCause, FetchError, fetch_error
from sourcebook.http.urls import redact_url

PERMANENT_REDIRECTS = frozenset({301, 308})
REDIRECTS = PERMANENT_REDIRECTS | {302, 303, 307}

# A server that says "come back in a thousand years" means "never"; this is as far as we follow it.
_LONGEST_WAIT = timedelta(days=366)
_DELTA_SECONDS = re.compile(r"[0-9]{1,18}")
_MAX_AGE = re.compile(r"(?:^|[,\s])max-age\s*=\s*\"?([0-9]{1,18})", re.IGNORECASE)
_CHARSET = re.compile(r";\s*charset\s*=\s*+(?:[\"']\s*+)?+([^\s\"';,]{1,40})", re.IGNORECASE)
# Python codecs that no web page is written in, and that are slow or change the meaning of plain ASCII.
_NOT_FOR_THE_WEB = re.compile(
    r"utf[-_]?7|unicode[-_]?escape|raw[-_]?unicode[-_]?escape|idna|punycode|undefined|mbcs|oem"
)

_CHALLENGE_STATUS = frozenset({202, 401, 403, 405, 429, 503})
_CHALLENGE_HEADERS = (
    ("cf-mitigated", "challenge"),
    ("x-amzn-waf-action", "challenge"),
    ("x-amzn-waf-action", "captcha"),
    ("x-vercel-mitigated", "challenge"),
    ("sg-captcha", "challenge"),
)
_CHALLENGE_MARKS = re.compile(
    rb"challenge-platform|cf[-_]chl|__cf_chl|captcha|just a moment|checking your browser|awswafintegration"
    rb"|ddos-guard|_incapsula_|sucuri_cloudproxy|enable javascript"
    rb"|verify(?:ing)? (?:that )?you are (?:a )?human|anubis",
    re.IGNORECASE,
)
_SCANNED = 65_536


class Redirect(NamedTuple):
    """One redirect that was followed."""

    status: int
    from_url: str
    to_url: str


class Headers(dict[str, str]):
    """Response headers: names in lower case, values as text (latin-1), repeated ones joined with ``, ``."""

    def __init__(self, items: Iterable[tuple[bytes, bytes]] = ()) -> None:
        super().__init__()
        for raw_name, raw_value in items:
            name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
            self[name] = f"{self[name]}, {value}" if name in self else value

    def __repr__(self) -> str:
        # Values may hold cookies; the names are what helps.
        return f"Headers({', '.join(self)})"


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """One answer, read to its end.

    Attributes:
        status: HTTP status of the last hop.
        headers: headers of the last hop.
        body: decompressed body; empty for 304.
        url: the URL that gave this answer. May hold secrets: show it with `redact_url`.
        redirects: redirects followed, in order.
        permanent_url: where an unbroken chain of 301 and 308 from the first URL leads, or None.
        elapsed: seconds from sending the first request to the end of the body, without waiting for a slot.
        received_at: when the answer was complete (aware UTC); times relative to now are counted from here.
        is_inside: whether every hop was at an address that only the allowed networks make reachable.
        received: bytes of the body that went to a sink, as they were sent, still compressed if they were.
        sha256: digest of these, in hexadecimal; empty without a sink or a success.
    """

    status: int
    headers: Headers
    body: bytes
    url: str
    redirects: tuple[Redirect, ...] = ()
    permanent_url: str | None = None
    elapsed: float = 0.0
    received_at: datetime = field(default_factory=utc_now)
    is_inside: bool = False
    received: int = 0
    sha256: str = ""

    def __repr__(self) -> str:
        return f"HttpResponse({self.status}, {redact_url(self.url)!r}, {len(self.body)} bytes)"

    @property
    def is_success(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300

    @property
    def not_modified(self) -> bool:
        """Whether the server answered that the known version is still valid (304)."""
        return self.status == 304

    @property
    def is_challenge(self) -> bool:
        """Whether this looks like a bot check in place of the document (202, 403, 503 … with a script)."""
        if self.status not in _CHALLENGE_STATUS:
            return False
        if any(mark in self.headers.get(name, "").lower() for name, mark in _CHALLENGE_HEADERS):
            return True
        if "html" not in self.headers.get("content-type", "text/html").lower():
            return False
        head = self.body[:_SCANNED]
        return b"<script" in head.lower() and (
            self.status == 202 or _CHALLENGE_MARKS.search(head) is not None
        )

    @property
    def etag(self) -> str | None:
        """The ETag exactly as sent, to be sent back in If-None-Match."""
        return self.headers.get("etag") or None

    @property
    def last_modified(self) -> str | None:
        """The Last-Modified date exactly as sent, to be sent back in If-Modified-Since."""
        return self.headers.get("last-modified") or None

    @property
    def retry_after(self) -> datetime | None:
        """When the server wants to be asked again: aware UTC, never before `received_at`.

        Reads both forms of RFC 9110, section 10.2.3: seconds, and a date, which is taken relative to the
        server's own Date header so that a wrong clock there does no harm. None when absent or unreadable.
        """
        value = self.headers.get("retry-after", "").strip()
        if not value:
            return None
        if _DELTA_SECONDS.fullmatch(value):
            return self.received_at + _seconds(int(value))
        moment = self._by_our_clock(value)
        return None if moment is None else max(moment, self.received_at)

    @property
    def max_age(self) -> int | None:
        """Seconds of freshness from Cache-Control's max-age (RFC 9111), or None."""
        match = _MAX_AGE.search(self.headers.get("cache-control", ""))
        return int(match.group(1)) if match else None

    @property
    def expires(self) -> datetime | None:
        """When the answer becomes stale by its Expires header, by our clock; None when absent or not a date.

        It may lie in the past. ``0`` and other values that are not dates mean "already stale" and give None.
        """
        return self._by_our_clock(self.headers.get("expires", ""))

    @property
    def content_type(self) -> str:
        """The media type in lower case without parameters, or an empty string."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def charset(self) -> str | None:
        """The charset of Content-Type in lower case, when it names a codec fit for text; otherwise None."""
        match = _CHARSET.search(self.headers.get("content-type", ""))
        if match is None:
            return None
        name = match.group(1).lower()
        if _NOT_FOR_THE_WEB.fullmatch(name):
            return None
        try:
            b"    ".decode(name, "replace")
        except (LookupError, ValueError):
            return None
        return name

    def _by_our_clock(self, value: str) -> datetime | None:
        moment = parse_http_date(value)
        if moment is None:
            return None
        sent = parse_http_date(self.headers.get("date", ""))
        if sent is None:
            sent = self.received_at
        return self.received_at + max(-_LONGEST_WAIT, min(_LONGEST_WAIT, moment - sent))


def _seconds(count: int) -> timedelta:
    return _LONGEST_WAIT if count > _LONGEST_WAIT.total_seconds() else timedelta(seconds=count)


def parse_http_date(value: str) -> datetime | None:
    """Read a date of RFC 9110, section 5.6.7 (all three forms, and common slips); None if it is not one."""
    if not value or len(value) > 100:
        return None
    try:
        moment = parsedate_to_datetime(value)
        # A date without a zone is meant as GMT: the asctime form has none.
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


def error_for(response: HttpResponse) -> FetchError:
    """Return the error that stands for an answer which is not the wanted document; the caller raises it.

    408, 425, 429 and 5xx are retryable and carry `retry_after`; 404 is soft; 410 is final; a bot check is
    ``challenged`` whatever its status; every other status that is not 2xx is a client error.

    Raises:
        ValueError: for a 2xx or 304 answer that is no bot check: those are no errors.
    """
    status = response.status
    if response.is_challenge:
        cause, detail = FetchCause.CHALLENGED, f"status {status} with a bot check in place of the document"
    elif response.is_success or response.not_modified:
        raise ValueError(f"status {status} is not an error")
    elif status == 429:
        cause, detail = FetchCause.RATE_LIMITED, "status 429: the server wants fewer requests"
    elif status in {408, 425} or status >= 500:
        cause, detail = FetchCause.SERVER_ERROR, f"status {status}"
    elif status == 404:
        cause, detail = FetchCause.NOT_FOUND, "status 404"
    elif status == 410:
        cause, detail = FetchCause.GONE, "status 410: the server says that it is gone for good"
    elif status in REDIRECTS:
        cause, detail = FetchCause.BAD_REDIRECT, f"status {status} without a Location to go to"
    else:
        cause, detail = FetchCause.CLIENT_ERROR, f"status {status}"
    error = fetch_error(cause, response.url, detail)
    error.status = status
    error.retry_after = response.retry_after
    error.elapsed = response.elapsed
    return error
