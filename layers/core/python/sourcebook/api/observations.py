"""The operations on observations: newest figures, history, and what there is."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from typing import Any, Final

from sourcebook.api.requests import Request
from sourcebook.api.responses import NotFound, Response
from sourcebook.errors import InvalidInput, shorten
from sourcebook.observations.read import ObservationReader, Unknown

_NAME_LIMIT: Final = 200


def get_latest(reader: ObservationReader, request: Request) -> Response:
    """GET /latest."""
    request.only("series_code", "term_months", "bank_name", "max_age_days", "cursor")
    return _found(
        lambda: reader.latest(
            series_code=request.text("series_code", longest=_NAME_LIMIT),
            term_months=request.text("term_months", longest=_NAME_LIMIT),
            bank_name=request.text("bank_name", longest=_NAME_LIMIT),
            max_age_days=_days(request),
            cursor=request.query.get("cursor"),
        )
    )


def get_history(reader: ObservationReader, request: Request) -> Response:
    """GET /history."""
    request.only("bank_name", "series_code", "term_months", "from", "to", "cursor")
    return _found(
        lambda: reader.history(
            bank_name=_needed(request, "bank_name"),
            series_code=_needed(request, "series_code"),
            term_months=request.text("term_months", longest=_NAME_LIMIT),
            first=_day(request, "from"),
            last=_day(request, "to"),
            cursor=request.query.get("cursor"),
        )
    )


def list_banks(reader: ObservationReader, request: Request) -> Response:
    """GET /banks."""
    request.only()
    return Response({"banks": reader.banks()})


def list_series(reader: ObservationReader, request: Request) -> Response:
    """GET /series."""
    request.only()
    return Response({"series": reader.series()})


def get_meta(reader: ObservationReader, request: Request) -> Response:
    """GET /meta/latest."""
    request.only()
    return Response(reader.meta())


def _found(read: Callable[[], dict[str, Any]]) -> Response:
    try:
        return Response(read())
    except Unknown as error:
        where = {"series_code": "/series", "bank_name": "/banks"}[error.what]
        raise NotFound(f"There is no {error.what} {shorten(error.value)}. GET {where} lists them.") from error


def _needed(request: Request, name: str) -> str:
    value = request.text(name, longest=_NAME_LIMIT)
    if value is None:
        raise InvalidInput(name, value, f"{name}, which this operation needs")
    return value


def _day(request: Request, name: str) -> date | None:
    value = request.query.get(name)
    if value is None:
        return None
    expected = "a day such as 2026-01-06"
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", value, re.ASCII):
        raise InvalidInput(name, value, expected)
    try:
        return date.fromisoformat(value)
    except ValueError as error:
        raise InvalidInput(name, value, expected) from error


def _days(request: Request) -> int | None:
    value = request.query.get("max_age_days")
    if value is None:
        return None
    if not re.fullmatch(r"[0-9]{1,4}", value, re.ASCII) or not 1 <= int(value) <= 3660:
        raise InvalidInput("max_age_days", value, "a whole number of days from 1 to 3660")
    return int(value)
