"""Outgoing HTTP: one guarded client for everything that this system fetches."""

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
