"""Every list as CSV and NDJSON, read back and compared with what the same list is in JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import pandas as pd
import pytest

from sourcebook.api.access import AccessControl
from sourcebook.api.idempotency import IdempotentRequests
from sourcebook.api.openapi import description
from sourcebook.api.operations import Operation
from sourcebook.api.parts import Services, operations
from sourcebook.api.representations import Representation, accepted, by_suffix, columns, written
from sourcebook.api.requests import SIGNED, Request
from sourcebook.api.responses import Response
from sourcebook.api.routes import Api
from sourcebook.api.schemas import EXAMPLES
from sourcebook.api.tokens import TokenStore
from tests.integration.api.gateway import Gateway
from tests.unit.api.memory import MemoryTable
from tests.unit.api.stored import article_item, key, put_article

NOTHING: Any = None
GATEWAY = Gateway()
START = datetime(2026, 11, 27, tzinfo=UTC)
LISTS = [operation for operation in operations() if columns(operation)]


class Log:
    def info(self, msg: str, *, extra: Any) -> None: ...

    def error(self, msg: str, *, exc_info: BaseException, extra: Any) -> None: ...


@pytest.fixture
def api() -> Api:
    table = MemoryTable()
    for number in range(5):
        put_article(
            table,
            article_item(key(number), START - timedelta(minutes=number))
            | {"headline": f'=1+{number}, "Nguyễn"\nand so on', "score": -0.25},
        )
    services = Services(table=table, start=NOTHING, workflows=(), objects=NOTHING, environ={})
    return Api(
        AccessControl(TokenStore(table), public_read=True),
        IdempotentRequests(table),
        services,
    )


def ask(
    api: Api, path: str, query: str = "", *, method: str = "GET", signed: bool = False, **headers: str
) -> dict[str, Any]:
    """Send a request as the gateway hands it over."""
    address = f"{SIGNED}{path}" if signed else path
    event: dict[str, Any] = {
        "routeKey": GATEWAY.match(method, address)[0],
        "rawPath": address,
        "rawQueryString": query,
        "headers": {name.replace("_", "-"): value for name, value in headers.items()},
        "requestContext": {"requestId": "r-1", "domainName": "api.example", "http": {"method": method}},
    }
    if signed:
        event["requestContext"]["authorizer"] = {"iam": {"userArn": "arn:aws:iam::1:user/ada"}}
    return api.answer(event, Log())


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def read_cell(text: str, like: object) -> object:
    """Return what a cell says, given the JSON that it should say."""
    if like is None:
        return None if text == "" else text
    if isinstance(like, str):
        # Text that a spreadsheet would run has an apostrophe before it.
        return text.removeprefix("'") if text[1:] == like else text
    return json.loads(text)


@pytest.mark.parametrize("operation", LISTS, ids=lambda operation: operation.name)
def test_every_list_is_csv_and_ndjson_with_the_same_values(operation: Operation) -> None:
    example: Mapping[str, Any] = EXAMPLES[operation.answers[200]]
    assert example["items"], "an example without items would show nothing"
    request = Request(operation.route, query={"limit": "2"}, address="https://api.example/x")

    def form(form: Representation) -> Response:
        return written(Response({**example, "next_cursor": "abc"}), form, operation, request)

    as_csv, as_lines = form(Representation.CSV), form(Representation.NDJSON)

    assert [json.loads(line) for line in str(as_lines.body).splitlines()] == example["items"]
    found = rows(str(as_csv.body))
    assert len(found) == len(example["items"])
    for row, item in zip(found, example["items"], strict=True):
        assert set(item) <= set(row), "a field that no column has would be lost"
        assert {name: read_cell(row[name], item[name]) for name in item} == item
    numbers = [
        (row, name, value)
        for row, item in enumerate(example["items"])
        for name, value in item.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    for frame in (
        pd.read_csv(io.StringIO(str(as_csv.body))),
        pd.read_json(io.StringIO(str(as_lines.body)), lines=True),
    ):
        found_numbers = [float(frame[name][row]) for row, name, _ in numbers]
        assert found_numbers == pytest.approx([value for *_, value in numbers], rel=1e-12)
    for answer in (as_csv, as_lines):
        assert answer.headers["link"] == '<https://api.example/x?limit=2&cursor=abc>; rel="next"'
        assert answer.headers["content-disposition"].startswith("attachment; filename=")


def test_every_list_says_so_in_its_description_and_no_other_operation_does() -> None:
    described = description(operations(), names=())["paths"]
    for other in operations():
        shown = described.get(other.path.replace("+}", "}"), {}).get(other.method.lower(), {})
        content = shown.get("responses", {}).get("200", {}).get("content", {})
        assert ("application/x-ndjson" in content) == bool(columns(other))
        if columns(other):
            assert {"application/json", "text/csv"} <= set(content)


@pytest.mark.parametrize("signed", [False, True])
def test_pages_are_followed_by_the_link_header_to_the_end(api: Api, *, signed: bool) -> None:
    query, found = "limit=2&since=2026-11-26", list[dict[str, str]]()
    for _ in range(3):
        answer = ask(api, "/articles.csv", query, signed=signed)
        assert answer["statusCode"] == 200
        found += rows(answer["body"])
        if "link" not in answer["headers"]:
            break
        link = urlsplit(answer["headers"]["link"].removeprefix("<").partition(">")[0])
        assert link.path == ("/iam/articles.csv" if signed else "/articles.csv")
        query = link.query
    assert [row["dedup_key"] for row in found] == [key(number) for number in range(5)]
    # What a spreadsheet would run is text, and what is a number stays one.
    assert found[1]["headline"] == '\'=1+1, "Nguyễn"\nand so on'
    assert found[1]["score"] == "-0.25"


def test_accept_and_suffix_give_the_same_and_each_form_has_its_own_entity_tag(api: Api) -> None:
    tags = set()
    for form, media_type in (
        (Representation.CSV, "text/csv"),
        (Representation.NDJSON, "application/x-ndjson"),
    ):
        by_accept = ask(api, "/articles", accept=media_type)
        by_suffix_ = ask(api, f"/articles{form.value.suffix}")
        assert by_accept["body"] == by_suffix_["body"]
        assert by_accept["headers"]["content-type"].startswith(media_type)
        assert "accept" in by_accept["headers"]["vary"].split(", ")
        tags.add(by_accept["headers"]["etag"])
        again = ask(api, f"/articles{form.value.suffix}", if_none_match=by_accept["headers"]["etag"])
        assert again["statusCode"] == 304
    plain = ask(api, "/articles")
    assert plain["headers"]["content-type"] == "application/json"
    assert len(tags | {plain["headers"]["etag"]}) == 3


@pytest.mark.parametrize(
    ("header", "form"),
    [
        ("", Representation.JSON),
        ("*/*", Representation.JSON),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", Representation.JSON),
        ("image/png", Representation.JSON),
        ("text/csv", Representation.CSV),
        ("TEXT/CSV ; header=present", Representation.CSV),
        ("text/*", Representation.CSV),
        ("text/csv, */*;q=0.1", Representation.CSV),
        ("text/csv;q=0.5, application/json", Representation.JSON),
        ("text/csv;q=0, */*;q=0.1", Representation.JSON),
        ("application/json, text/csv", Representation.JSON),
        ("application/jsonl", Representation.NDJSON),
        ("application/ndjson;q=0.9, text/csv;q=0.8", Representation.NDJSON),
        ("application/*, text/csv", Representation.JSON),
        (";;;,,q=1", Representation.JSON),
        ("text/csv;q=nan", Representation.CSV),
    ],
)
def test_the_form_that_weighs_most_is_given(header: str, form: Representation) -> None:
    assert accepted(header) is form


def test_what_is_no_list_has_no_suffix_and_errors_stay_problems(api: Api) -> None:
    for path in ("/health.csv", "/meta/latest.csv", "/nothing.csv", "/.csv", "/docs.ndjson"):
        assert ask(api, path)["statusCode"] == 404, path
    wrong = ask(api, "/articles.csv", "limit=0")
    assert (wrong["statusCode"], json.loads(wrong["body"])["parameter"]) == (400, "limit")
    assert wrong["headers"]["content-type"] == "application/problem+json"
    assert ask(api, "/feeds.csv", method="POST")["headers"]["allow"] == "GET, HEAD, OPTIONS"
    head = ask(api, "/articles.csv", method="HEAD")
    assert (head["statusCode"], head["body"]) == (200, "")
    assert head["headers"]["content-type"].startswith("text/csv")
    closed = replace(api, access=AccessControl(TokenStore(MemoryTable()), public_read=False))
    assert ask(closed, "/articles.csv")["statusCode"] == 401
    assert by_suffix("/articles.json") == ("/articles.json", Representation.JSON)


def test_an_empty_list_has_its_headings_and_no_lines(api: Api) -> None:
    assert ask(api, "/banks.csv")["body"] == "bank_name\r\n"
    assert ask(api, "/banks.ndjson")["body"] == ""
