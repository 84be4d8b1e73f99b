"""Parameters of a request: what is read, and what is refused by name."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.api.parameters import page_size
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


@pytest.mark.parametrize("query", ["status=Pendin", "status=", "status=pending%20", "status"])
def test_a_choice_is_one_of_its_values(query: str) -> None:
    error = refusal(request(query).choice, "status", ("pending", "analyzed"))
    assert error.field == "status"
    assert "pending, analyzed" in str(error)
    assert request("status=pending").choice("status", ("pending",)) == "pending"
    assert request("status=PENDING").choice("status", ("pending",)) == "pending"
    assert request("status=eso").choice("status", ("ESO",)) == "ESO"
    assert request("").choice("status", ("pending",)) is None


def test_text_is_neither_empty_nor_long() -> None:
    assert request("tag=%E6%9D%B1%E4%BA%AC").text("tag", longest=2) == "東京"
    assert request("").text("tag", longest=2) is None
    for query in ("tag=", "tag=abc"):
        assert refusal(request(query).text, "tag", longest=2).field == "tag"


@pytest.mark.parametrize(
    "value", ["0", "101", "-1", "1.0", "", "ten", " 5", "1_0", "٣", "999999999999", "0x10", "+5"]
)
def test_a_limit_is_a_whole_number_from_1_to_100(value: str) -> None:
    error = refusal(page_size, request(urlencode({"limit": value})))
    assert error.field == "limit"
    assert "1 to 100" in str(error)


@pytest.mark.parametrize(("query", "limit"), [("", 20), ("limit=1", 1), ("limit=100", 100), ("limit=007", 7)])
def test_a_limit_has_a_default(query: str, limit: int) -> None:
    assert page_size(request(query)) == limit


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-27", datetime(2026, 11, 27, tzinfo=UTC)),
        ("2026-11-27T21:56:39Z", datetime(2026, 11, 27, 21, 56, 39, tzinfo=UTC)),
        ("2026-11-27T23:56:39%2B02:00", datetime(2026, 11, 27, 21, 56, 39, tzinfo=UTC)),
        ("2026-11-27T23:56:39+02:00", datetime(2026, 11, 27, 21, 56, 39, tzinfo=UTC)),
        ("2026-11-27T23:56+0200", datetime(2026, 11, 27, 21, 56, tzinfo=UTC)),
        ("2026-11-27T23:56+02", datetime(2026, 11, 27, 21, 56, tzinfo=UTC)),
        ("2026-11-27T21:56:39.25Z", datetime(2026, 11, 27, 21, 56, 39, 250_000, tzinfo=UTC)),
        ("0001-01-01", datetime(2, 1, 1, tzinfo=UTC)),
        ("9999-12-31T23:59:59.9Z", datetime(9999, 12, 31, tzinfo=UTC)),
    ],
)
def test_a_moment_is_a_date_or_a_time_with_its_zone(text: str, moment: datetime) -> None:
    assert request(f"since={text}").moment("since") == moment


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2026-11-27T21:56:39",
        "2026-11-27 21:56",
        "2026-13-01",
        "2026-02-30",
        "1764280599",
        "2026-11-27T25:00:00Z",
        "0001-01-01T00:00:00%2B05:00",
        "٢٠٢٦-١١-٢٧",
    ],
)
def test_other_moments_are_refused_with_an_example(text: str) -> None:
    error = refusal(request(f"since={text}").moment, "since")
    assert error.field == "since"
    assert "2026-11-27T21:56:00Z" in str(error)


@given(st.text())
def test_no_text_breaks_a_moment(text: str) -> None:
    try:
        moment = Request("", query={"since": text}).moment("since")
    except InvalidInput:
        return
    assert moment is not None
    assert moment.tzinfo is UTC


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
