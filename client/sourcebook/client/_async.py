"""The client for programs of asyncio. The one that waits, `_sync`, is made of it: edit this one."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, Final, Generic, ParamSpec, Self, TypeVar

import httpx
from pydantic import BaseModel

from sourcebook.client import calls
from sourcebook.client._asking import Ask, Many, One, Retries, page_of, record_of
from sourcebook.client._frames import pandas_frame, polars_frame
from sourcebook.client._sending import Sending, SentAnswer, environment
from sourcebook.client.errors import SourcebookError, Unreachable

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T", bound=BaseModel)


class AsyncPages(Generic[T]):
    """A list that is read page by page while it is gone through; each going through asks anew."""

    def __init__(self, client: AsyncClient, ask: Many[T]) -> None:
        self._client = client
        self._ask = ask

    async def __aiter__(self) -> AsyncIterator[T]:
        """Yield every item of every page; raise SourcebookError if a page cannot be had."""
        async for page in self.pages():
            for item in page:
                yield item

    async def pages(self) -> AsyncIterator[list[T]]:
        """Yield every page, also an empty one; raise SourcebookError if one cannot be had."""
        cursor: str | None = None
        while True:
            items, cursor = await self._client._ask(
                self._ask, lambda content: page_of(content, self._ask.model), cursor
            )
            yield items
            if cursor is None:
                return

    async def take(self, most: int) -> list[T]:
        """Return the first items, at most so many; raise SourcebookError if a page cannot be had.

        No page is read that is not needed.
        """
        items: list[T] = []
        if most > 0:
            async for item in self:
                items.append(item)
                if len(items) == most:
                    break
        return items

    async def to_pandas(self) -> pd.DataFrame:
        """Return all items as a data frame of pandas; raises ImportError without pandas."""
        return pandas_frame([item async for item in self], self._ask.model)

    async def to_polars(self) -> pl.DataFrame:
        """Return all items as a data frame of polars; raises ImportError without polars."""
        return polars_frame([item async for item in self], self._ask.model)


def _one(call: Callable[P, One[T]]) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]:
    @functools.wraps(call)
    async def method(client: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> T:
        ask = call(*args, **kwargs)
        return await client._ask(ask, lambda content: record_of(content, ask.model))

    return method


def _many(call: Callable[P, Many[T]]) -> Callable[Concatenate[AsyncClient, P], AsyncPages[T]]:
    @functools.wraps(call)
    def method(client: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> AsyncPages[T]:
        return AsyncPages(client, call(*args, **kwargs))

    return method


class AsyncClient:
    """A client of the API of one stack. Its operations are those of `sourcebook.client.calls`.

    Args:
        address: of the API: the stack's output ``ApiUrl``, which `make up` prints.
        token: from ``sourcebook token create``; none where reading is open.
        retries: how often something is sent again.
        timeout: seconds that an answer may take.
        http: a client of httpx to use, with a proxy or certificates of your own; whoever made it closes it.
        sleep: waits so many seconds.
    """

    def __init__(
        self,
        address: str,
        token: str | None = None,
        *,
        retries: Retries = Retries(),  # noqa: B008 - frozen
        timeout: float = 30.0,
        http: httpx.AsyncClient | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._sending: Final = Sending(address, token, timeout)
        self._retries = retries
        self._owned = http is None
        self._http = http or httpx.AsyncClient()
        self._sleep = sleep

    @classmethod
    def from_environment(cls) -> Self:
        """Return a client of the stack that SOURCEBOOK_URL and SOURCEBOOK_TOKEN name.

        Raises:
            LookupError: if there is no SOURCEBOOK_URL.
        """
        return cls(*environment())

    async def __aenter__(self) -> Self:
        """Return the client, whose connections are closed at the end of the block."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connections, whatever has happened within the block."""
        await self.close()

    def __repr__(self) -> str:
        """Return its address, never its token."""
        return f"AsyncClient({self._sending.address!r})"

    async def close(self) -> None:
        """Close the connections, unless they are of an `http` that the caller has made."""
        if self._owned:
            await self._http.aclose()

    async def _ask(self, ask: Ask[Any], read: Callable[[bytes], R], cursor: str | None = None) -> R:
        """Send a request until it is answered, and return what `read` makes of the answer.

        Raises:
            SourcebookError: if the answer is an error, or there is none after the last retry.
        """
        sent = self._sending.request(ask, cursor)
        attempt = 0
        while True:
            attempt += 1
            try:
                answer = await self._answer(sent)
                answer.check(ask, datetime.now(UTC))
                return read(answer.content)
            except SourcebookError as trouble:
                wait = self._retries.wait(trouble, attempt)
                if wait is None:
                    raise
            await self._sleep(wait)

    async def _answer(self, sent: httpx.Request) -> SentAnswer:
        """Send a request once and return its answer; raise Unreachable if there is none, or only a part."""
        due = time.monotonic() + self._sending.timeout
        try:
            response = await self._http.send(sent, stream=True, follow_redirects=False)
            try:
                answer = SentAnswer(response)
                async for part in response.aiter_bytes():
                    answer.take(part, late=time.monotonic() > due)
            finally:
                await response.aclose()
        except httpx.TransportError as error:
            raise Unreachable(f"{type(error).__name__}: {error}") from error
        except httpx.DecodingError as error:
            raise Unreachable(f"the answer was cut short or damaged: {error}") from error
        return answer

    article = _one(calls.article)
    articles = _many(calls.articles)
    events = _many(calls.events)
    event = _one(calls.event)
    decisions = _many(calls.decisions)
    decide = _one(calls.decide)
    subjects = _many(calls.subjects)
    sentiment = _one(calls.sentiment)
    sentiment_series = _one(calls.sentiment_series)
    subject_ranking = _one(calls.subject_ranking)
    best_rates = _one(calls.best_rates)
    rate_moves = _one(calls.rate_moves)
    source_overviews = _one(calls.source_overviews)
    ingestion = _one(calls.ingestion)
    dead_letters = _many(calls.dead_letters)
    exports = _many(calls.exports)
    export = _one(calls.export)
    open_upload = _one(calls.open_upload)
    complete_upload = _one(calls.complete_upload)
    upload = _one(calls.upload)
    latest = _many(calls.latest)
    rate_history = _many(calls.rate_history)
    observations = _many(calls.observations)
    banks = _many(calls.banks)
    series = _many(calls.series)
    figures_meta = _one(calls.figures_meta)
    novae = _one(calls.novae)
    list_novae = _many(calls.list_novae)
    references = _many(calls.references)
    nova = _one(calls.nova)
    nova_runs = _many(calls.nova_runs)
    products = _many(calls.products)
    product = _one(calls.product)
    spectrum = _one(calls.spectrum)
    light_curve = _one(calls.light_curve)
    sources = _many(calls.sources)
    feeds = _many(calls.feeds)
    feed = _one(calls.feed)
    fetches = _many(calls.fetches)
    feed_schedule = _one(calls.feed_schedule)
    add_feed = _one(calls.add_feed)
    change_feed = _one(calls.change_feed)
    remove_feed = _one(calls.remove_feed)
    import_feeds = _one(calls.import_feeds)
    alerts = _many(calls.alerts)
    add_alert = _one(calls.add_alert)
    remove_alert = _one(calls.remove_alert)
    deliveries = _many(calls.deliveries)
    health = _one(calls.health)
    cache_health = _one(calls.cache_health)
    workflows = _many(calls.workflows)
    start = _one(calls.start)
    add_nova = _one(calls.add_nova)
    runs = _many(calls.runs)
    run = _one(calls.run)
    quarantine = _many(calls.quarantine)
    quarantine_case = _one(calls.quarantine_case)
    held_file = _one(calls.held_file)
    review = _one(calls.review)
