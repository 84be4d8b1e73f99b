"""Whatever comes from outside is read, or refused by an error that names what is wrong. Nothing else happens.

The examples are the same in every run; `make fuzz` tries more, and others each time. What was found is kept
as cases.
"""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sourcebook.api.access import AccessControl
from sourcebook.api.articles import ArticleParameters
from sourcebook.api.operations import Access
from sourcebook.api.parts import operations
from sourcebook.api.requests import Request, accepts_gzip, correlation_id, route_of, signer
from sourcebook.api.responses import Denied, problem
from sourcebook.api.routes import Api
from sourcebook.api.tokens import TokenStore
from sourcebook.api.workflows import INPUTS
from sourcebook.articles.normalize import identify
from sourcebook.errors import InvalidInput
from sourcebook.events import (
    ArticleCreated,
    ArticlesNew,
    FetchRequested,
    GenerateIdeas,
    GroupHeadlines,
    read_message,
)
from sourcebook.feeds.inputs import NewFeed
from sourcebook.feeds.opml import parse_opml, write_opml
from sourcebook.novae.names import normalize_name
from sourcebook.observations.values import UnreadableValue, parse_rate
from sourcebook.sources.model import parse_spec
from sourcebook.table.pages import Listing
from tests.unit.security.memory import Kept

NOW = datetime(2026, 11, 27, 21, 56, 39, tzinfo=UTC)

ANY_TEXT = st.text(st.characters(), max_size=60)
"""Also with halves of characters, as JSON may hold them."""
HOSTILE = st.sampled_from(
    [
        "",
        " ",
        "\x00",
        "\ud800",
        "\u202e",
        "__proto__",
        "NaN",
        "1e400",
        "9" * 400,
        "{}",
        "[]",
        "%00",
        "../..",
        "null",
    ]
)
TEXT = ANY_TEXT | HOSTILE
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


def refused_properly(error: InvalidInput) -> None:
    """An error that can be told: in words, short, and in UTF-8."""
    assert error.field
    assert error.expected
    assert len(str(error)) < 2_000
    written = problem(error, "c").to_gateway(correlation_id="c", gzip_accepted=False)
    assert written["statusCode"] == 400
    json.loads(written["body"].encode())


# OPML

OPML_PIECES = st.sampled_from(
    [
        *("<opml>", "</opml>", "<body>", "<outline", "</outline>", "/>", ">", "=", "\t\n", '"', "'"),
        *(' text="', ' xmlUrl="', ' type="rss"', " category='/a/b,c'", "https://a.example/"),
        *(
            "&amp;",
            "&",
            "&#0;",
            "&#xD800;",
            "&#1114112;",
            "&a;",
            "<![CDATA[",
            "]]>",
            "<!--",
            "-->",
            "<?x",
            "?>",
        ),
        *("<!DOCTYPE x [", "<!ENTITY a 'b'>", "]>", "\x00", "\ufeff", "é", "\ud800"),
    ]
)


@given(st.lists(OPML_PIECES | ANY_TEXT, max_size=30))
@example(["<opml>", "<outline", ' xmlUrl="', "https://a.example/", '"', ' text="', "\ud800", '"', "/>"])
def test_opml(pieces: list[str]) -> None:
    for content in ("".join(pieces), "<opml><body>" + "".join(pieces)):
        for form in (
            content,
            content.encode("utf-8", "surrogatepass"),
            content.encode("utf-16", "surrogatepass"),
        ):
            try:
                found = parse_opml(form)
            except InvalidInput as error:
                refused_properly(error)
                continue
            for feed in found.feeds:
                assert feed.url
                assert len(feed.name) <= 200
                f"{feed.url}{feed.name}{feed.tags}".encode()
            for reported in found.problems:
                assert reported.line >= 1
                reported.message.encode()
            again = parse_opml(write_opml(found.feeds, title="t", now=NOW))
            assert [feed.url for feed in again.feeds] == [feed.url for feed in found.feeds]


@given(st.binary(max_size=200))
def test_opml_of_any_bytes(body: bytes) -> None:
    for content in (body, b"<opml><body><outline xmlUrl='https://a.example/' text='" + body):
        try:
            parse_opml(content)
        except InvalidInput as error:
            refused_properly(error)


# The API

HEADERS = st.dictionaries(
    st.sampled_from(
        [
            "authorization",
            "x-correlation-id",
            "accept-encoding",
            "if-none-match",
            "idempotency-key",
            "content-type",
        ]
    ),
    TEXT
    | st.sampled_from(
        ["Bearer ", "Bearer sb_", "bearer sb_0000000000000000_" + "A" * 43, "AWS4-HMAC", "gzip;q="]
    ),
    max_size=4,
)
ROUTES = st.sampled_from(
    [operation.route for operation in operations()] + [f"{o.method} /iam{o.path}" for o in operations()]
)
EVENTS = st.fixed_dictionaries(
    {},
    optional={
        "routeKey": ROUTES | JSON,
        "rawQueryString": st.lists(TEXT, max_size=3).map("&".join) | st.none(),
        "queryStringParameters": st.dictionaries(TEXT, TEXT, max_size=3) | st.none(),
        "pathParameters": st.dictionaries(
            st.sampled_from(["key", "feed_id", "tool_id", "event_id", "name"]), TEXT, max_size=3
        )
        | st.none(),
        "headers": HEADERS | st.none(),
        "body": TEXT | JSON.map(json.dumps) | st.none(),
        "isBase64Encoded": st.booleans(),
        "requestContext": JSON | st.fixed_dictionaries({"authorizer": JSON}),
    },
)


class Silent:
    def info(self, msg: str, *, extra: Any) -> None:
        json.dumps(extra)

    def error(self, msg: str, *, exc_info: BaseException, extra: Any) -> None:
        json.dumps(extra)


class Nothing:
    """A part of the API that must not be reached."""

    def __getattr__(self, name: str) -> Any:
        raise LookupError(name)


def closed_api() -> Api:
    """An API that lets nobody in but to what is open."""
    nothing: Any = Nothing()
    access = AccessControl(TokenStore(Kept(), lambda: NOW), public_read=False)
    return Api(access, nothing, nothing)


@given(EVENTS)
@example({"routeKey": "GET /health", "queryStringParameters": {"\ud800": "1"}})
@example({"routeKey": "GET /articles/{key+}", "headers": {"x-correlation-id": "a\r\nset-cookie: b"}})
@example({"requestContext": {"requestId": "\ud800"}})
def test_any_event_of_the_gateway_is_answered(event: dict[str, Any]) -> None:
    answer = closed_api().answer(event, Silent())
    assert 200 <= answer["statusCode"] < 600
    json.dumps(answer).encode()
    answer["body"].encode()
    for name, value in answer["headers"].items():
        assert "\n" not in f"{name}{value}"
        assert "\r" not in f"{name}{value}"
        value.encode()


@given(EVENTS)
def test_a_request_is_read_or_refused(event: dict[str, Any]) -> None:
    route_of(event)
    signer(event)
    accepts_gzip(event)
    assert correlation_id(event, "otherwise")
    try:
        request = Request.of(event)
        request.json()
        ArticleParameters.of(request)
        request.only("limit")
    except InvalidInput as error:
        refused_properly(error)


@given(
    TEXT
    | st.builds(
        "sb_{}_{}".format, st.text("0123456789abcdefAF", max_size=17), st.text("AZaz09-_=é", max_size=44)
    )
)
def test_any_token_is_known_or_refused(token: str) -> None:
    store = TokenStore(Kept(), lambda: NOW)
    _, right = store.create("test", ["read"], timedelta(hours=1))
    keeper = AccessControl(store, public_read=True, clock=lambda: NOW)
    for scheme in ("Bearer ", "bearer", "", "Basic "):
        with suppress(Denied):
            caller = keeper.admit(
                Access.WRITE, {"routeKey": "POST /feeds", "headers": {"authorization": scheme + token}}
            )
            pytest.fail(f"{caller} was let in")
    assert store.find(right) is not None


@given(JSON, st.sampled_from(sorted(INPUTS)))
def test_any_body_of_a_workflow_is_read_or_refused(value: object, workflow: str) -> None:
    model = INPUTS[workflow]
    for name in model.names():
        try:
            model.read({name: value})
        except InvalidInput as error:
            refused_properly(error)


@given(
    st.dictionaries(st.sampled_from(["url", "name", "tags", "priority", "enabled"]) | TEXT, JSON, max_size=4)
)
@example({"\ud800": 1})
@example({"x" * 100_000: 1})
def test_any_feed_is_taken_or_refused(values: dict[str, Any]) -> None:
    for check in (NewFeed.read, parse_spec):
        try:
            check(values)
        except InvalidInput as error:
            refused_properly(error)


@given(TEXT)
def test_any_cursor_is_a_position_or_refused(text: str) -> None:
    listing = Listing.of("articles", {"tag": text if text.isprintable() else "x"})
    try:
        listing.position(text, parts=2)
    except InvalidInput as error:
        refused_properly(error)


@pytest.mark.parametrize("number", ["1e400", "-1e400", "NaN", "Infinity", "-Infinity", "1e", "9" * 5_000])
def test_a_number_that_is_none_is_refused(number: str) -> None:
    with pytest.raises(InvalidInput):
        Request("POST /feeds", body=f'{{"priority": {number}}}').json()


# Messages

MESSAGES = (FetchRequested, ArticleCreated, ArticlesNew, GroupHeadlines, GenerateIdeas)
FIELDS = sorted({name for model in MESSAGES for name in model.model_fields})


@given(
    st.sampled_from(MESSAGES),
    TEXT | JSON.map(json.dumps) | st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=6).map(json.dumps),
)
@example(FetchRequested, "[" * 100_000)
@example(
    FetchRequested,
    '{"correlation_id": "c", "sources": [{"source_id": "a", "kind": "feed", "due_at": "9999"}]}',
)
@example(ArticleCreated, '{"correlation_id": "c", "dedup_key": "\\ud800"}')
def test_any_message_of_a_queue_is_read_or_refused(model: Any, body: str) -> None:
    try:
        message = read_message(model, body)
    except InvalidInput as error:
        refused_properly(error)
        return
    assert read_message(model, message.model_dump_json()) == message


# Figures, names, headlines


@given(
    st.lists(
        st.sampled_from(
            [
                "4",
                ",",
                ".",
                "5",
                "%",
                "-",
                "–",
                "~",
                "to",
                "%/năm",
                "p.a.",
                " ",
                "\u00a0",
                "٤",
                "½",
                "∞",
                "e9",
                "\x00",
            ]
        )
        | ANY_TEXT,
        max_size=8,
    ).map("".join)
)
@example("9" * 5_000)
@example("1e999999999")
@example("٤٫٥%")
def test_any_rate_is_a_bounded_figure_or_has_a_reason(text: str) -> None:
    try:
        rate = parse_rate(text)
    except UnreadableValue as refused:
        reported = f"{refused.reason}: {refused}"
        assert len(reported) < 1_000
        return
    assert rate.value.is_finite()
    assert len(str(rate.value)) < 60


@given(
    st.lists(
        st.sampled_from(["Nova", "V", "1324", "Sco", "No.", "#", "2012", "−", "*", " ", "α", "J17"])
        | ANY_TEXT,
        max_size=6,
    ).map(" ".join)
)
def test_any_name_is_normalized_for_good_or_refused(name: str) -> None:
    try:
        once = normalize_name(name)
    except InvalidInput as error:
        refused_properly(error)
        return
    assert once
    once.encode()
    assert normalize_name(once) == once


@given(ANY_TEXT | HOSTILE)
def test_any_headline_has_an_identity_or_is_refused(headline: str) -> None:
    try:
        identity = identify(headline, NOW)
    except InvalidInput as error:
        refused_properly(error)
        return
    assert len(identity.dedup_key) == 32
