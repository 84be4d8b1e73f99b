"""The client against the API's own code, over a network with faults."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import httpx
import pandas as pd
import polars as pl
import pytest

from sourcebook.client import (
    AsyncClient,
    Busy,
    Client,
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    Retries,
    SourcebookError,
    Unreachable,
    Unreadable,
)
from tests.integration.programs.conftest import Sample
from tests.served import Fault, Served, problem

pytestmark = pytest.mark.integration

SLEPT: list[float] = []
"""Seconds that the client has waited, in the test that runs."""


@pytest.fixture
def client(sample: Sample, server: Served) -> Iterator[Client]:
    SLEPT.clear()
    with Client(server.url, sample.token, retries=Retries(random=lambda: 1.0), sleep=SLEPT.append) as made:
        yield made


def run(ask: Callable[[AsyncClient], Any], sample: Sample, **options: Any) -> Any:
    """Do the same with the client of asyncio."""
    SLEPT.clear()

    async def sleep(seconds: float) -> None:
        SLEPT.append(seconds)

    async def main() -> Any:
        retries = Retries(random=lambda: 1.0)
        async with AsyncClient(
            sample.server.url, sample.token, retries=retries, sleep=sleep, **options
        ) as made:
            return await ask(made)

    return asyncio.run(main())


def test_lists_are_read_page_by_page_and_only_as_far_as_needed(client: Client, server: Served) -> None:
    whole = list(client.articles())
    assert len(whole) > 3
    server.seen.clear()
    assert list(client.articles(size=1)) == whole
    assert len(server.seen) >= len(whole)
    server.seen.clear()
    assert client.articles(size=2).take(3) == whole[:3]
    assert len(server.seen) == 2
    assert client.articles().take(0) == []


def test_both_clients_give_the_same(client: Client, sample: Sample) -> None:
    async def ask(other: AsyncClient) -> Any:
        articles = [article async for article in other.articles(size=2)]
        return articles, await other.articles().take(2), await other.sentiment("quartzon", hours=24)

    articles, first, sentiment = run(ask, sample)
    assert articles == list(client.articles())
    assert first == articles[:2]
    assert sentiment == client.sentiment("quartzon", hours=24)


def test_everything_that_is_read_has_its_fields(client: Client, sample: Sample) -> None:
    nova_id = client.novae("V1324 Sco").items[0].nova_id
    assert client.nova(nova_id).primary_name == "V1324 Sco"
    products = list(client.products(nova_id))
    assert len(products) == 4
    (valid,) = client.products(nova_id, validation_status="VALID")
    assert client.spectrum(nova_id, valid.data_product_id, points=20).orders[0].flux
    assert client.product(nova_id, valid.data_product_id).files
    assert [point.band for point in client.light_curve(nova_id, band="V").items] == ["V"]
    article = client.article(sample.world.story)
    assert (article.headline, article.sentiment) == (
        "Orbita wins lunar lander contract from Esrange",
        "positive",
    )
    assert article.source_attribution["wire"].original_headline == article.headline
    assert article.timestamp == datetime(2026, 11, 27, 12, tzinfo=UTC)
    event = next(iter(client.events()))
    assert client.event(event.event_id).members
    best = client.best_rates("deposit_online").items[0]
    latest = next(iter(client.latest("deposit_online", bank_name=best.banks[0])))
    assert (best.rate_pct, latest.observed_day) == (5.1, date(2026, 11, 26))
    history = client.rate_history("Quay Bank", "deposit_branch", 6, first_day=date(2026, 11, 25))
    assert [row.rate_pct for row in history] == [4.25, 4.5]
    assert {row.source_id for row in client.observations("deposit_online")} >= {"official", "aggregator"}
    assert client.sentiment_series("quartzon").items
    assert client.subject_ranking(order="mentions").items[0].tool_id == "quartzon"
    assert {source.source_id for source in client.sources()} >= {"wire", "official"}
    assert {feed.feed_id for feed in client.feeds()} == {"wire", "harbor", "silent"}
    assert client.feed("wire").url == "https://wire.example/feed.xml"
    assert client.run("ended").status == "SUCCEEDED"
    case = next(iter(client.quarantine()))
    assert client.quarantine_case(case.quarantine_id).reason_code == "AMBIGUOUS_NAME"
    assert client.health().checks.table == "ok"
    assert {one.workflow_name for one in client.workflows()} == {"initialize_nova", "refresh_sources"}


FAULTS = {
    "a reset": Fault("reset"),
    "an answer cut short": Fault("cut"),
    "an answer of no length cut short": Fault("short"),
    "429 of the gateway": Fault(
        "answer", 429, {"content-type": "application/json"}, b'{"message":"Too Many Requests"}'
    ),
    "500": problem(500),
    "502": Fault("answer", 502, {"content-type": "text/html"}, b"<h1>Bad Gateway</h1>"),
    "503": problem(503),
}


@pytest.mark.parametrize("name", FAULTS)
def test_trouble_that_passes_is_not_seen(client: Client, sample: Sample, server: Served, name: str) -> None:
    wanted = list(client.articles(size=3))
    server.seen.clear()
    server.faults.extend([FAULTS[name]] * 3)
    assert list(client.articles(size=3)) == wanted
    assert SLEPT == [0.5, 1.0, 2.0]
    first = server.seen[0]
    assert server.seen[:4] == [first] * 4, "the same is sent again"

    server.faults.extend([FAULTS[name]] * 3)

    async def ask(other: AsyncClient) -> Any:
        return [article async for article in other.articles(size=3)]

    assert run(ask, sample) == wanted
    assert SLEPT == [0.5, 1.0, 2.0]


@pytest.mark.parametrize("name", FAULTS)
def test_trouble_that_stays_is_raised(client: Client, server: Served, name: str) -> None:
    server.faults.extend([FAULTS[name]] * 5)
    with pytest.raises((Unreachable, Busy)) as raised:
        client.sentiment("quartzon")
    assert len(server.seen) == 5
    assert len(SLEPT) == 4
    if isinstance(raised.value, Busy):
        assert raised.value.status in {429, 500, 502, 503}


def test_an_answer_that_does_not_end_is_given_up(sample: Sample, server: Served) -> None:
    server.faults.extend([Fault("drip")] * 2)
    with (
        Client(server.url, retries=Retries(most=0), timeout=0.3) as hurried,
        pytest.raises(Unreachable, match="in time"),
    ):
        hurried.sentiment("quartzon")

    async def ask(other: AsyncClient) -> Any:
        return await other.sentiment("quartzon")

    assert run(ask, sample, timeout=0.3).tool_id == "quartzon", "the second attempt has an answer"
    assert SLEPT == [0.5]


def test_a_wait_that_the_api_names_is_kept(client: Client, server: Served) -> None:
    server.faults.append(problem(503, retry_after="7"))
    client.sentiment("quartzon")
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)
    server.faults.append(problem(429, retry_after=soon))
    client.sentiment("quartzon")
    server.faults.append(problem(503, retry_after="soon"))
    client.sentiment("quartzon")
    assert SLEPT[0] == 7
    assert 0 < SLEPT[1] <= 20
    assert SLEPT[2] == 0.5
    server.faults.append(problem(429, retry_after="3600"))
    with pytest.raises(Busy) as raised:
        client.sentiment("quartzon")
    assert raised.value.retry_after == 3600
    assert len(SLEPT) == 3, "an hour is the caller's to wait"


def test_a_write_that_was_done_and_not_answered_is_done_once(client: Client, server: Served) -> None:
    server.faults.extend([Fault("done"), Fault("reset")])
    added = client.add_feed("https://new.example/feed.xml", name="New", priority=7)
    assert added.created, "the answer is that of the first time"
    keys = {headers["idempotency-key"] for _, _, headers in server.seen}
    assert len(server.seen) == 3
    assert len(keys) == 1
    server.seen.clear()
    assert not client.add_feed("https://new.example/feed.xml").created
    assert {headers["idempotency-key"] for _, _, headers in server.seen}.isdisjoint(keys)
    assert client.change_feed(added.feed_id, enabled=False).enabled is False
    opml = '<opml version="2.0"><body><outline type="rss" xmlUrl="https://o.example/f"/></body></opml>'
    (imported,) = client.import_feeds(opml).added
    for feed_id in (added.feed_id, imported):
        client.remove_feed(feed_id)
    server.faults.append(Fault("done"))
    run_id = client.start("refresh_sources", source_ids=["wire"]).job_run_id
    assert client.run(run_id).workflow_name == "refresh_sources"


def test_a_request_that_is_under_way_is_waited_for(client: Client, server: Served) -> None:
    server.faults.append(problem(409, retry_after="2"))
    feed = client.add_feed("https://again.example/feed.xml")
    client.remove_feed(feed.feed_id)
    assert SLEPT == [2]


@pytest.mark.parametrize(
    ("ask", "kind", "parameter"),
    [
        (lambda c: c.article("0" * 32), NotFound, None),
        (lambda c: c.articles("soruce:x").take(1), Invalid, "q"),
        (lambda c: c.sentiment("quartzon", hours=0), Invalid, "hours"),
        (lambda c: c.add_feed("https://wire.example/feed.xml", feed_id="another"), Conflict, None),
    ],
)
def test_a_refusal_is_raised_at_once_and_says_what_is_wrong(
    client: Client, ask: Callable[[Client], object], kind: type[Exception], parameter: str | None
) -> None:
    with pytest.raises(kind) as raised:
        ask(client)
    error = raised.value
    assert SLEPT == []
    assert error.detail in str(error)  # type: ignore[attr-defined]
    assert error.correlation_id  # type: ignore[attr-defined]
    if parameter:
        assert error.parameter == parameter  # type: ignore[attr-defined]


def test_a_wrong_token_is_refused_and_never_shown(server: Served) -> None:
    token = "sb_0123456789abcdef_secret"
    with Client(server.url, token) as client, pytest.raises(Forbidden) as raised:
        client.subjects().take(1)
    assert "secret" not in f"{raised.value!r} {client!r} {vars(client)!r}"


@pytest.mark.parametrize(
    "fault",
    [
        Fault("answer", 200, {"content-type": "text/html"}, b"<h1>Sign in to the network</h1>"),
        Fault("answer", 302, {"location": "https://elsewhere.example/"}),
        Fault("answer", 200, {"content-type": "application/json"}, b'{"items": 5}'),
        Fault("answer", 200, {"content-type": "application/json"}, b'{"items": [{}], "next_cursor": null}'),
        Fault("answer", 200, {"content-type": "application/json"}, b"[]"),
    ],
)
def test_what_is_not_the_api_is_named_and_not_followed(client: Client, server: Served, fault: Fault) -> None:
    server.faults.append(fault)
    with pytest.raises(Unreadable):
        client.articles().take(1)
    assert len(server.seen) == 1


def test_nobody_listens(client: Client) -> None:
    with (
        Client("http://127.0.0.1:9", retries=Retries(most=1), sleep=SLEPT.append) as alone,
        pytest.raises(Unreachable),
    ):
        alone.health()
    assert len(SLEPT) == 1


@pytest.mark.parametrize(
    "address", ["", "abc.example", "ftp://abc.example", "https://", "https://abc.example?x=1"]
)
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="is not the address of an API"):
        Client(address)


@pytest.mark.parametrize("part", ["", ".", ".."])
def test_a_path_cannot_be_left(client: Client, server: Served, part: str) -> None:
    with pytest.raises(ValueError, match="feed_id cannot be"):
        client.feed(part)
    with pytest.raises(NotFound):
        client.feed("../sources?x=#y")
    assert server.paths == ["/feeds/..%2Fsources%3Fx%3D%23y"]


def test_a_time_needs_its_zone(client: Client, server: Served) -> None:
    with pytest.raises(ValueError, match="since needs a time zone"):
        client.articles(since=datetime(2026, 11, 27)).take(1)  # noqa: DTZ001 - that is the test
    client.articles(since=datetime(2026, 11, 27, 13, tzinfo=UTC), until="2026-11-28", subject=["a", "b"])
    zone = datetime.fromisoformat("2026-11-27T13:00:00+02:00")
    noon = [article for article in client.articles() if article.timestamp >= zone]
    assert list(client.articles(since=zone)) == noon
    assert noon
    assert "since=2026-11-27T11%3A00%3A00Z" in server.paths[-1], "with its zone"


def test_rows_are_data_frames(client: Client, sample: Sample) -> None:
    nova_id = client.novae("V1324 Sco").items[0].nova_id
    frame = client.articles().to_pandas()
    assert len(frame) == len(list(client.articles()))
    assert isinstance(frame["timestamp"].dtype, pd.DatetimeTZDtype)
    latest = client.latest().to_pandas()
    assert (latest["rate_pct"].dtype, latest["term_months"].dtype) == ("float64", "float64")
    assert latest["observed_day"].dtype.kind == "M"
    curve = client.light_curve(nova_id).to_pandas()
    assert list(curve["magnitude"]) == [11.1, 15.2]
    polar = client.light_curve(nova_id).to_polars()
    assert polar.select("mjd", "upper_limit").rows() == [(56079.4, False), (56080.4, True)]
    assert polar.schema["flux"] == pl.Float64
    articles = client.articles().to_polars()
    assert articles.schema["timestamp"] == pl.Datetime("us", "UTC")
    assert articles.schema["sources"] == pl.List(pl.String)

    async def ask(other: AsyncClient) -> Any:
        return await other.articles().to_pandas(), await other.articles().to_polars()

    same, also = run(ask, sample)
    pd.testing.assert_frame_equal(same, frame)
    assert also.equals(articles)
    assert list(client.quarantine(review="decided").to_pandas().columns) == list(
        client.quarantine(review="decided").to_polars().columns
    )


def test_what_a_newer_api_has_besides_is_kept(client: Client, server: Served) -> None:
    subject: dict[str, object] = {
        "tool_id": "a",
        "name": "A",
        "kind": "tool",
        "aliases": [],
        "ticker": None,
        "active": True,
    }
    body = json.dumps({"items": [{**subject, "mood": 3}], "next_cursor": None}).encode()
    server.faults.append(Fault("answer", 200, {"content-type": "application/json"}, body))
    frame = client.subjects().to_pandas()
    assert frame["mood"][0] == 3


def test_the_environment_names_the_stack(
    sample: Sample, server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SOURCEBOOK_URL", raising=False)
    with pytest.raises(LookupError, match="SOURCEBOOK_URL"):
        Client.from_environment()
    monkeypatch.setenv("SOURCEBOOK_URL", f"{server.url}/")
    monkeypatch.setenv("SOURCEBOOK_TOKEN", sample.token)
    with Client.from_environment() as client:
        assert client.subjects().take(1)


def test_a_client_of_ones_own_is_used_and_left_open(sample: Sample, server: Served) -> None:
    with httpx.Client(headers={"x-mine": "1"}) as http:
        with Client(server.url, http=http) as client:
            client.subjects().take(1)
        assert not http.is_closed
    assert issubclass(Unreachable, SourcebookError)


@pytest.mark.parametrize("number", range(4))
def test_the_examples_of_the_docs_run(
    sample: Sample, server: Served, capsys: pytest.CaptureFixture[str], number: int
) -> None:
    example = python_blocks("client.md")[number]
    exec(compile(example, "client.md", "exec"), {"API": server.url, "TOKEN": sample.token, "__name__": "x"})  # noqa: S102
    said = capsys.readouterr().out
    assert ("Orbita wins lunar lander contract", "positive", "wire new", "q q: 'soruce:wire'")[number] in said


def python_blocks(page: str) -> list[str]:
    text = (Path(__file__).parents[3] / "docs" / page).read_text("utf-8")
    blocks: list[str] = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return blocks
