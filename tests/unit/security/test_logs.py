"""What comes from outside neither breaks a log line nor brings a secret into it."""

from __future__ import annotations

import io
import itertools
import json
import unicodedata
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from aws_lambda_powertools import Logger

from sourcebook.api.access import AccessControl
from sourcebook.api.operations import Access
from sourcebook.api.responses import Denied
from sourcebook.api.tokens import TokenStore
from sourcebook.articles.adapters.news_api import Finnhub, Tiingo
from sourcebook.articles.adapters.options import NewsApiOptions
from sourcebook.articles.model import parse_incoming
from sourcebook.errors import InvalidInput, SourcebookError
from sourcebook.events import ArticleCreated, FetchRequested, read_message, read_records
from sourcebook.feeds.inputs import NewFeed
from sourcebook.http.client import HttpClient
from sourcebook.http.errors import FetchCause, FetchError, fetch_error
from sourcebook.http.response import error_for
from sourcebook.novae.resolvers.ads import Ads
from sourcebook.novae.resolvers.archive import Archive, ArchiveRejected, ArchiveUnavailable
from sourcebook.sources.model import parse_spec
from sourcebook.sources.poll import PollResult, PollVerdict, Rejected, RoundReport
from sourcebook.sources.report import log_round
from sourcebook.sources.secrets import Secrets
from tests.polled import polled
from tests.unit.http.servers import Exchange, quick, serve
from tests.unit.security.memory import Kept

NOW = datetime(2026, 11, 27, 21, 56, 39, tzinfo=UTC)
HOSTILE = (
    "Rates rise\r\n"
    '{"level":"ERROR","message":"forged"}\n\x1b[2J\x1b[31mred\x1b[0m'
    "\x00\x07\x08\x7f\x85\x9b31m\u2028\u2029\u200b\u202egnp.exe\u2066\ufeff\ud800"
)
"""A forged line, ANSI and C1 sequences, the line ends of Unicode, marks of direction, half a character."""

SECRET = "hush-4f1c9d7e"
_NUMBERS = itertools.count()


class Written:
    """A function's log as CloudWatch gets it: bytes of UTF-8."""

    def __init__(self) -> None:
        self.stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")
        # Loggers of one service share what they write to.
        self.logger = Logger(service=f"test-{next(_NUMBERS)}", stream=self.stream, level="INFO")

    @property
    def text(self) -> str:
        self.stream.flush()
        raw = self.stream.buffer
        assert isinstance(raw, io.BytesIO)
        return raw.getvalue().decode()

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Every line, parsed; whatever else may end a line, there are no more of them."""
        assert self.text.splitlines() == self.text.removesuffix("\n").split("\n")
        return [json.loads(line) for line in self.text.splitlines()]

    def assert_printable(self) -> None:
        odd = {c for c in self.text.replace("\n", "") if unicodedata.category(c) in {"Cc", "Cf", "Zl", "Zp"}}
        assert odd == set()


def refusal(act: Any, *arguments: Any, **named: Any) -> str:
    with pytest.raises(SourcebookError) as refused:
        act(*arguments, **named)
    return str(refused.value)


def article(**changes: Any) -> dict[str, Any]:
    right = {
        "source": "ledger",
        "article_id": "1",
        "url": "https://ledger.example/1",
        "headline": "x",
        "published_at": NOW,
        "crawled_at": NOW,
    }
    return right | changes


REASONS = {
    "headline": lambda: refusal(parse_incoming, article(headline=HOSTILE * 100)),
    "url": lambda: refusal(parse_incoming, article(url=f"javascript:{HOSTILE}")),
    "field": lambda: refusal(parse_incoming, article(**{HOSTILE: 1})),
    "source's name": lambda: refusal(parse_spec, {"source_id": "a", "url": "https://a.example", HOSTILE: 1}),
    "source's url": lambda: refusal(parse_spec, {"source_id": "a", "url": HOSTILE}),
    "field of a body": lambda: refusal(NewFeed.read, {HOSTILE: 1}),
    "message": lambda: refusal(read_message, FetchRequested, HOSTILE),
    "member of a message": lambda: refusal(
        read_message, ArticleCreated, json.dumps({"correlation_id": "c", "dedup_key": HOSTILE})
    ),
    "address that was asked": lambda: str(
        fetch_error(FetchCause.CONNECT, f"https://a.example/{HOSTILE}?key={SECRET}", "no connection")
    ),
}


@pytest.mark.parametrize("where", REASONS)
def test_hostile_text_in_an_error_stays_one_printable_line_of_json(where: str) -> None:
    reason = REASONS[where]()
    result = PollResult(PollVerdict.FAILED, "some", reason, rejected=(Rejected("ledger", "1", reason),))
    written = Written()
    log_round(RoundReport([polled("ledger", result)], [], [], []), written.logger)
    assert [line["message"] for line in written.lines] == [
        "source_failed",
        "entry_rejected",
        "round_finished",
    ]
    assert {line.get("reason") for line in written.lines[:2]} == {reason}
    written.assert_printable()


def test_a_message_that_cannot_be_read_is_one_line() -> None:
    written, failed = Written(), list[str]()
    event = {"Records": [{"messageId": "message-1", "body": HOSTILE}]}
    assert list(read_records(FetchRequested, event, failed, written.logger)) == []
    (line,) = written.lines
    assert (line["message"], line["message_id"], failed) == ("message_unreadable", "message-1", ["message-1"])
    written.assert_printable()


def test_the_trace_of_any_error_is_one_line_too() -> None:
    # What a library writes into its own error is not ours to clean; it must not forge a line all the same.
    text = HOSTILE.replace("\ud800", "")
    written = Written()
    with pytest.raises(ZeroDivisionError) as raised:
        raise ZeroDivisionError(text)
    log_round(RoundReport([], [], [], [("ledger", raised.value)]), written.logger)
    lines = [json.loads(line) for line in written.text.split("\n") if line]
    assert [line["message"] for line in lines] == ["poll_failed", "round_finished"]
    assert "\x1b" not in written.text
    assert "\r" not in written.text


def test_a_long_name_of_a_field_does_not_make_a_long_error() -> None:
    error = InvalidInput("x" * 3_000_000, 1, "less")
    assert len(error.field) <= 80
    assert len(str(error)) < 200


async def answers(exchange: Exchange) -> None:
    """Answer as badly as servers do, and with what was sent."""
    sent = exchange.headers.get("authorization") or exchange.headers.get("x-finnhub-token") or ""
    echo = f"<html>{sent} {exchange.target}</html>".encode()
    match exchange.target.partition("?")[0].strip("/").partition("/")[0]:
        case "broken":
            await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n" + echo)
            exchange.close()
        case "garbage":
            await exchange.send(f"{sent} is no HTTP\r\n\r\n".encode())
            exchange.close()
        case "redirect":
            await exchange.answer(echo, 302, Location=f"http://127.0.0.1:1/?token={SECRET}")
        case "gzip":
            await exchange.answer(echo, Content_Encoding="gzip")
        case status:
            await exchange.answer(echo, int(status), X_Echo=sent)


@pytest.mark.parametrize(
    "path", ["401", "403", "404", "429", "500", "503", "broken", "garbage", "redirect", "gzip"]
)
@pytest.mark.parametrize("provider", [Tiingo(), Finnhub()], ids=["tiingo", "finnhub"])
async def test_no_failure_of_a_request_shows_the_key_that_was_sent(
    provider: Tiingo | Finnhub, path: str
) -> None:
    call = provider.call("AAPL", NewsApiOptions(tickers=("AAPL",), secret="s"), SECRET, NOW)
    written = Written()
    async with serve(answers) as server, HttpClient(quick()) as client:
        url = server.url(f"/{path}?apikey={SECRET}")
        try:
            response = await client.get(url, params=call.params, headers=call.headers)
            failure: FetchError = error_for(response)
        except FetchError as error:
            failure = error
    result = PollResult(PollVerdict.FAILED, failure.cause, str(failure))
    poll = polled("ledger", result, kind="tiingo")
    log_round(RoundReport([poll], [], [], [("ledger", failure)]), written.logger)
    assert [line["message"] for line in written.lines] == ["source_failed", "poll_failed", "round_finished"]
    assert SECRET not in written.text
    assert SECRET not in repr(failure)
    assert server.exchanges, "the key was sent: the test would see it"


@pytest.mark.parametrize("path", ["401", "500", "broken"])
async def test_no_failure_of_an_archive_shows_the_token_that_was_sent(path: str) -> None:
    written = Written()
    async with serve(answers) as server, HttpClient(quick()) as client:
        ads = Ads(Archive("ads", client, Kept()), server.url(f"/{path}"), SECRET)
        assert SECRET not in repr(ads)
        with pytest.raises((ArchiveUnavailable, ArchiveRejected)) as failed:
            await ads.search(["V1324 Sco"])
        written.logger.error("task_failed", exc_info=failed.value, extra={"reason": str(failed.value)})
        assert server.exchanges[0].headers["authorization"] == f"Bearer {SECRET}"
    assert SECRET not in written.text


def test_keys_that_are_kept_are_not_shown() -> None:
    class Client:
        def get_secret_value(self, **_: str) -> dict[str, str]:
            return {"SecretString": json.dumps({"api_key": SECRET})}

    secrets = Secrets(Client())  # type: ignore[arg-type]
    assert secrets.api_key("sourcebook/tiingo") == SECRET
    assert SECRET not in repr(secrets)


@pytest.mark.parametrize("how", ["forged", "expired", "of another scope", "no token", "another scheme"])
def test_a_refusal_does_not_repeat_what_was_sent(how: str) -> None:
    store = TokenStore(Kept(), lambda: NOW)
    _, text = store.create("test", ["read"], timedelta(hours=1))
    sent = {
        "forged": f"Bearer {text[:-3]}AAA",
        "no token": f"Bearer {SECRET}",
        "another scheme": f"Basic {SECRET}",
    }.get(how, f"Bearer {text}")
    clock = NOW + timedelta(hours=2 if how == "expired" else 0)
    keeper = AccessControl(store, public_read=False, clock=lambda: clock)
    with pytest.raises(Denied) as denied:
        keeper.admit(Access.WRITE, {"routeKey": "POST /feeds", "headers": {"authorization": sent}})
    shown = f"{denied.value!r} {denied.value.detail} {denied.value.headers['www-authenticate']}"
    assert text[20:-3] not in shown
    assert SECRET not in shown
