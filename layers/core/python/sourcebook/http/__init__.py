"""Outgoing HTTP: one guarded client for everything that this system fetches.

Each name is imported when it is first asked for: a function that only reads bodies has no layer with httpx.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sourcebook.http.bodies import BodyReader, Sink
    from sourcebook.http.client import Download, HttpClient
    from sourcebook.http.errors import (
        FetchCause,
        FetchError,
        RetryableFetchError,
        Severity,
        TerminalFetchError,
        fetch_error,
    )
    from sourcebook.http.guard import Resolver, SystemResolver
    from sourcebook.http.policy import HttpPolicy, parse_networks
    from sourcebook.http.response import Headers, HttpResponse, Redirect, error_for, parse_http_date
    from sourcebook.http.urls import redact_url

__all__ = [
    "BodyReader",
    "Download",
    "FetchCause",
    "FetchError",
    "Headers",
    "HttpClient",
    "HttpPolicy",
    "HttpResponse",
    "Redirect",
    "Resolver",
    "RetryableFetchError",
    "Severity",
    "Sink",
    "SystemResolver",
    "TerminalFetchError",
    "error_for",
    "fetch_error",
    "parse_http_date",
    "parse_networks",
    "redact_url",
]

_MODULES: Final = {
    "bodies": ("BodyReader", "Sink"),
    "client": ("Download", "HttpClient"),
    "errors": (
        "FetchCause",
        "FetchError",
        "RetryableFetchError",
        "Severity",
        "TerminalFetchError",
        "fetch_error",
    ),
    "guard": ("Resolver", "SystemResolver"),
    "policy": ("HttpPolicy", "parse_networks"),
    "response": ("Headers", "HttpResponse", "Redirect", "error_for", "parse_http_date"),
    "urls": ("redact_url",),
}


def __getattr__(name: str) -> object:
    """Return a name of this package, imported from its module.

    Raises:
        AttributeError: if this package has no such name.
    """
    for module, names in _MODULES.items():
        if name in names:
            found: object = getattr(import_module(f"{__name__}.{module}"), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
