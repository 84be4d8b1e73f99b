"""What is felt about subjects: the operations below /api/v1."""

from __future__ import annotations

import re

from sourcebook.api.requests import Request
from sourcebook.api.responses import NotFound, Response
from sourcebook.errors import InvalidInput, shorten
from sourcebook.sentiment.read import BUCKETS, SentimentReader
from sourcebook.sentiment.subjects import TOOL_ID
from sourcebook.sentiment.windows import HOURS_AT_MOST

HOURS_DEFAULT = 24


def list_tools(reader: SentimentReader, request: Request) -> Response:
    """GET /api/v1/tools."""
    request.only("limit", "cursor")
    page = reader.subjects(limit=request.limit(), cursor=request.query.get("cursor"))
    return Response({"items": page.items, "next_cursor": page.next_cursor})


def get_sentiment(reader: SentimentReader, request: Request) -> Response:
    """GET /api/v1/tools/{tool_id}/sentiment."""
    request.only("hours")
    tool_id = _tool_id(request)
    found = reader.sentiment(tool_id, _hours(request))
    if found is None:
        raise _no_tool(tool_id)
    return Response(found)


def get_series(reader: SentimentReader, request: Request) -> Response:
    """GET /api/v1/tools/{tool_id}/sentiment/series."""
    request.only("hours", "bucket")
    tool_id = _tool_id(request)
    hours = _hours(request)
    bucket = request.choice("bucket", BUCKETS) or BUCKETS[0]
    found = reader.series(tool_id, hours, bucket)
    if found is None:
        raise _no_tool(tool_id)
    return Response({"tool_id": tool_id, "hours": hours, "bucket": bucket, "items": found})


def get_cache_health(reader: SentimentReader, request: Request) -> Response:
    """GET /api/v1/cache/health."""
    request.only()
    return Response(reader.cache_health())


def _tool_id(request: Request) -> str:
    tool_id = request.path.get("tool_id", "")
    if not TOOL_ID.fullmatch(tool_id):
        raise _no_tool(tool_id)
    return tool_id


def _hours(request: Request) -> int:
    value = request.query.get("hours")
    if value is None:
        return HOURS_DEFAULT
    if not re.fullmatch(r"[0-9]{1,3}", value, re.ASCII) or not 1 <= int(value) <= HOURS_AT_MOST:
        raise InvalidInput("hours", value, f"a whole number from 1 to {HOURS_AT_MOST}")
    return int(value)


def _no_tool(tool_id: str) -> NotFound:
    return NotFound(f"There is no subject {shorten(tool_id)}. GET /api/v1/tools lists them.")
