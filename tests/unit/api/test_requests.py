"""A request as the gateway hands it over: what is read, and what is refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from sourcebook.api.requests import Request, accepts_gzip, correlation_id
from sourcebook.errors import InvalidInput


def request(query: str) -> Request:
    return Request.of({"routeKey": "GET /articles", "rawQueryString": query})


def refusal(call: Any, *arguments: Any, **options: Any) -> InvalidInput:
    with pytest.raises(InvalidInput) as refused:
        call(*arguments, **options)
    return refused.value


def test_an_event_without_query_and_path_is_read() -> None:
    read = Request.of({"routeKey": "GET /health"})
    assert (read.route, read.path, read.query) == ("GET /health", {}, {})


def test_a_hand_made_event_may_have_only_the_parsed_parameters() -> None:
    event = {"routeKey": "GET /articles", "rawQueryString": "", "queryStringParameters": {"tag": "a"}}
    assert Request.of(event).query == {"tag": "a"}


def test_a_repeated_parameter_is_refused_and_a_comma_is_not_a_repetition() -> None:
    error = refusal(request, "tag=a&limit=3&tag=b")
    assert error.field == "tag"
    assert "once" in error.expected
    assert request("tag=Politics%2C+World").query == {"tag": "Politics, World"}


def test_unknown_parameters_are_named_with_those_there_are() -> None:
    error = refusal(request("statuz=pending&tga=x&tag=y").only, "status", "tag")
    assert error.field == "statuz"
    assert "'tga'" in str(error)
    assert "status, tag" in str(error)
    assert refusal(request("a=1").only).field == "a"


@pytest.mark.parametrize(
    ("value", "accepted"),
    [
        ("gzip", True),
        ("GZIP, deflate, br", True),
        ("br;q=1.0, gzip;q=0.8, *;q=0.1", True),
        ("*", True),
        ("deflate", False),
        ("gzip;q=0", False),
        ("gzip; q=0.000, *", False),
        ("identity", False),
        ("", False),
    ],
)
def test_gzip_is_sent_to_those_who_take_it(value: str, *, accepted: bool) -> None:
    assert accepts_gzip({"headers": {"accept-encoding": value}}) is accepted


def test_no_headers_mean_no_gzip() -> None:
    assert not accepts_gzip({})


def test_the_correlation_id_is_the_clients_then_the_gateways_then_ours() -> None:
    context = {"requestContext": {"requestId": "gateway-1"}}
    assert correlation_id({"headers": {"x-correlation-id": "abc-1"}, **context}, "new") == "abc-1"
    assert correlation_id({"headers": {}, **context}, "new") == "gateway-1"
    assert correlation_id({}, "new") == "new"


@pytest.mark.parametrize("given_id", ["a\r\nset-cookie: x", "é", "x" * 129, "a b", ""])
def test_a_correlation_id_that_could_do_harm_is_not_taken_over(given_id: str) -> None:
    assert correlation_id({"headers": {"x-correlation-id": given_id}}, "new") == "new"
