"""Answers as API Gateway gets them, and errors as problem details."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from typing import Any

import pytest

from sourcebook.api.responses import GZIP_FROM, NotFound, Response, problem
from sourcebook.errors import InvalidInput, Retryable, Terminal


def write(response: Response, *, gzip_accepted: bool = False) -> dict[str, Any]:
    return response.to_gateway(correlation_id="c-1", gzip_accepted=gzip_accepted)


def test_a_body_is_compact_utf_8_json_and_is_not_stored_by_caches() -> None:
    answer = write(Response({"headline": "東京 – größer", "score": 0.5, "tags": []}))
    assert answer["statusCode"] == 200
    assert answer["body"] == '{"headline":"東京 – größer","score":0.5,"tags":[]}'
    assert answer["isBase64Encoded"] is False
    assert answer["headers"]["content-type"] == "application/json"
    assert answer["headers"]["cache-control"] == "no-store"
    assert answer["headers"]["x-correlation-id"] == "c-1"
    assert answer["headers"]["vary"] == "accept, accept-encoding, authorization"


def test_a_long_body_is_compressed_for_those_who_take_it() -> None:
    body = {"text": "é" * GZIP_FROM}
    answer = write(Response(body), gzip_accepted=True)
    assert answer["headers"]["content-encoding"] == "gzip"
    assert answer["isBase64Encoded"] is True
    assert json.loads(gzip.decompress(base64.b64decode(answer["body"]))) == body
    plain = write(Response(body))
    assert "content-encoding" not in plain["headers"]
    assert json.loads(plain["body"]) == body


def test_a_short_body_is_never_compressed() -> None:
    answer = write(Response({"a": 1}), gzip_accepted=True)
    assert answer["isBase64Encoded"] is False
    assert "content-encoding" not in answer["headers"]


def test_sets_and_bytes_of_older_articles_have_a_form() -> None:
    answer = write(Response({"names": {"b", "a"}, "raw": b"\x00\xff"}))
    assert json.loads(answer["body"]) == {"names": ["a", "b"], "raw": "AP8="}


@pytest.mark.parametrize(
    ("error", "status", "title", "logged"),
    [
        (InvalidInput("limit", "0", "a whole number from 1 to 100"), 400, "Bad Request", False),
        (NotFound("There is no feed 'x'."), 404, "Not Found", False),
        (Retryable("DynamoDB: secret-host did not answer"), 503, "Service Unavailable", True),
        (Terminal("AccessDenied: arn:aws:secret"), 500, "Internal Server Error", True),
        (ZeroDivisionError("secret"), 500, "Internal Server Error", True),
    ],
)
def test_an_error_has_one_status_and_shows_nothing_internal(
    error: Exception, status: int, title: str, *, logged: bool
) -> None:
    response = problem(error, "c-1")
    answer = write(response)
    assert answer["statusCode"] == status
    assert answer["headers"]["content-type"] == "application/problem+json"
    body = json.loads(answer["body"])
    assert (body["type"], body["title"], body["status"]) == ("about:blank", title, status)
    assert body["correlation_id"] == "c-1"
    assert body["detail"]
    assert "secret" not in answer["body"]
    assert (response.cause is error) is logged


def test_bad_input_names_its_parameter() -> None:
    body = problem(InvalidInput("limit", "0", "a whole number from 1 to 100"), "c-1").body
    assert isinstance(body, Mapping)
    assert body["parameter"] == "limit"
    assert "a whole number from 1 to 100" in body["detail"]


def test_who_may_try_again_is_told_when() -> None:
    answer = write(problem(Retryable("busy"), "c-1"))
    assert int(answer["headers"]["retry-after"]) > 0
