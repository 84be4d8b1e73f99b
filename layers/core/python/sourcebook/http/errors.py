"""Why a fetch failed, as classes to catch and causes to store.

::

    FetchError
    ├── RetryableFetchError(FetchError, Retryable)   the same request may succeed later
    └── TerminalFetchError(FetchError, Terminal)     repeating the request cannot help

The class follows from the cause, so that a cause read back from the table means the same thing.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from sourcebook.errors import Retryable, SourcebookError, Terminal
from sourcebook.http.urls import redact_url

if TYPE_CHECKING:
    from datetime import datetime


class Severity(StrEnum):
    """What a failure says about the source, apart from this one request."""

    TRANSIENT = "transient"
    """The network or the server had a bad moment: retry with backoff."""
    SOFT = "soft"
    """Something is wrong with this source; it disables the source only when it keeps happening."""
    FINAL = "final"
    """The source is over, or must never be asked: stop at once."""


class FetchCause(StrEnum):
    """Machine-readable cause of a failed fetch, as stored in the fetch history."""

    TIMEOUT = "timeout"
    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    RESET = "reset"
    TRUNCATED = "truncated"
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    PROTOCOL_ERROR = "protocol_error"
    TOO_LARGE = "too_large"
    HEADER_TOO_LARGE = "header_too_large"
    DECODE_ERROR = "decode_error"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    BAD_REDIRECT = "bad_redirect"
    BLOCKED_ADDRESS = "blocked_address"
    BLOCKED_PORT = "blocked_port"
    INVALID_URL = "invalid_url"
    NOT_FOUND = "not_found"
    CLIENT_ERROR = "client_error"
    CHALLENGED = "challenged"
    GONE = "gone"

    @property
    def severity(self) -> Severity:
        """Return what this cause says about the source."""
        if self in _TRANSIENT:
            return Severity.TRANSIENT
        return Severity.FINAL if self is FetchCause.GONE else Severity.SOFT


_TRANSIENT = frozenset(
    {
        FetchCause.TIMEOUT,
        FetchCause.DNS,
        FetchCause.CONNECT,
        FetchCause.TLS,
        FetchCause.RESET,
        FetchCause.TRUNCATED,
        FetchCause.RATE_LIMITED,
        FetchCause.SERVER_ERROR,
    }
)


class FetchError(SourcebookError):
    """A request that gave no usable answer.

    Attributes:
        cause: machine-readable cause.
        url: the URL of the failing hop, already redacted.
        detail: one sentence in words, without secrets.
        status: HTTP status, when an answer came.
        retry_after: when the server wants to be asked again (aware UTC), if it says so.
        elapsed: seconds from the request to the failure, as in `HttpResponse`; None if nothing was asked.
    """

    status: int | None = None
    retry_after: datetime | None = None
    elapsed: float | None = None

    def __init__(self, cause: FetchCause, url: str, detail: str) -> None:
        self.cause = cause
        self.url = redact_url(url)
        self.detail = detail
        super().__init__(f"{cause.value}: {detail} ({self.url})")


class RetryableFetchError(FetchError, Retryable):
    """The same request may succeed later."""


class TerminalFetchError(FetchError, Terminal):
    """Repeating the request cannot help until somebody changes something."""


def fetch_error(cause: FetchCause, url: str, detail: str) -> FetchError:
    """Return the error of the class that belongs to `cause`; it is for the caller to raise.

    Args:
        cause: why the fetch failed.
        url: the URL as it was asked for; it is redacted here.
        detail: one sentence for the person who reads the history; no secrets, no body.
    """
    error_class = RetryableFetchError if cause.severity is Severity.TRANSIENT else TerminalFetchError
    return error_class(cause, url, detail)
