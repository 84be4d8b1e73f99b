"""News APIs as sources of articles: Tiingo news and Finnhub company news.

One call for each ticker, in parallel. What is common to both stands here; each provider only says how it
is asked and what its answers mean. Field names are those of the providers' public documentation.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, Final, Protocol

from sourcebook.articles.adapters.intake import Intake, crawl_time
from sourcebook.articles.adapters.memory import recall, remember
from sourcebook.articles.adapters.options import NewsApiOptions, read_options
from sourcebook.articles.ingest import Outcome
from sourcebook.articles.model import TEXT_LIMIT, IncomingArticle, parse_incoming
from sourcebook.clock import Clock, utc_now
from sourcebook.errors import InvalidInput, Retryable, Terminal, shorten
from sourcebook.feeds.dates import weigh_date
from sourcebook.feeds.seen import EntryMark, Freshness, article_id_of
from sourcebook.feeds.text import once_encoded, plain_title, shorten_text, text_member, text_of
from sourcebook.http.client import HttpClient
from sourcebook.http.errors import FetchCause, FetchError, Severity, fetch_error
from sourcebook.http.response import error_for
from sourcebook.records.source import Source
from sourcebook.sources.poll import PollResult, PollVerdict, Rejected
from sourcebook.sources.quota import CircuitBreaker, take_calls
from sourcebook.sources.secrets import Secrets
from sourcebook.table.client import Table

_UNAUTHORIZED: Final = frozenset({401, 403})


@dataclass(frozen=True, slots=True)
class Call:
    """One request to a provider."""

    params: Mapping[str, str]
    headers: Mapping[str, str]


class NewsProvider(Protocol):
    """The requests and answers of one provider."""

    kind: ClassVar[str]
    calls_per_day: ClassVar[int]

    def call(self, ticker: str, options: NewsApiOptions, key: str, now: datetime) -> Call:
        """Return the request for the news of one ticker."""

    def read(self, record: Mapping[str, object], ticker: str) -> dict[str, object]:
        """Return the fields of one article of an answer, as `parse_incoming` wants them.

        Raises:
            InvalidInput: naming the field that is missing or malformed.
        """


class Tiingo:
    """Tiingo's news endpoint, ``/tiingo/news``."""

    kind: ClassVar[str] = "tiingo"
    calls_per_day: ClassVar[int] = 500

    def call(self, ticker: str, options: NewsApiOptions, key: str, now: datetime) -> Call:
        """Ask by query, with the key in the Authorization header."""
        return Call(
            {
                "tickers": ticker.lower(),
                "startDate": f"{now - timedelta(days=options.window_days):%Y-%m-%d}",
                "endDate": f"{now:%Y-%m-%d}",
                "limit": str(options.limit),
            },
            {"Authorization": f"Token {key}"},
        )

    def read(self, record: Mapping[str, object], ticker: str) -> dict[str, object]:  # noqa: ARG002 - the protocol's
        """Read one article."""
        return {
            "article_id": _id(record),
            "url": _required(record, "url"),
            "headline": _required(record, "title"),
            "published_at": _moment(record, "publishedDate" if record.get("publishedDate") else "crawlDate"),
            "source_name": text_member(record, "source"),
            "text": text_member(record, "description"),
            "tickers": _symbols(record.get("tickers")),
        }


class Finnhub:
    """Finnhub's company news, ``/api/v1/company-news``."""

    kind: ClassVar[str] = "finnhub"
    calls_per_day: ClassVar[int] = 1000

    def call(self, ticker: str, options: NewsApiOptions, key: str, now: datetime) -> Call:
        """Ask by query, with the key in a header of its own."""
        return Call(
            {
                "symbol": ticker,
                "from": f"{now - timedelta(days=options.window_days):%Y-%m-%d}",
                "to": f"{now:%Y-%m-%d}",
            },
            {"X-Finnhub-Token": key},
        )

    def read(self, record: Mapping[str, object], ticker: str) -> dict[str, object]:
        """Read one article; its time is given in seconds since 1970, which is UTC."""
        return {
            "article_id": _id(record),
            "url": _required(record, "url"),
            "headline": _required(record, "headline"),
            "published_at": _moment(record, "datetime"),
            "source_name": text_member(record, "source"),
            "text": text_member(record, "summary"),
            "tickers": sorted({*_symbols(record.get("related")), ticker}),
        }


@dataclass(frozen=True, slots=True)
class _Answer:
    """The result of one call: records or an error."""

    ticker: str
    records: Sequence[Any] = ()
    error: FetchError | None = None


@dataclass(frozen=True, slots=True)
class NewsApiAdapter:
    """Polls one news API: the adapter of the kinds `tiingo` and `finnhub`."""

    provider: NewsProvider
    http: HttpClient
    table: Table
    intake: Intake
    secrets: Secrets
    clock: Clock = utc_now

    async def poll(self, source: Source) -> PollResult:
        """Ask for the news of every ticker and store what is new.

        Raises:
            Retryable: if the table or the topic could not take what was found.
        """
        now = self.clock()
        circuit = CircuitBreaker.of_json(source.circuit or {})
        if not circuit.allows(now):
            return PollResult(
                PollVerdict.FAILED,
                "circuit_open",
                "the provider failed repeatedly and is left alone until it is probed",
                retry_after=circuit.closes_at,
            )
        try:
            options = read_options(NewsApiOptions, source.options)
            key = await asyncio.to_thread(self.secrets.api_key, options.secret)
        except Terminal as error:
            cause = "invalid_options" if isinstance(error, InvalidInput) else "secret_missing"
            return PollResult(PollVerdict.BROKEN, cause, str(error))
        except Retryable as error:
            return PollResult(PollVerdict.FAILED, "secret_unavailable", str(error))
        limit = options.calls_per_day or self.provider.calls_per_day
        wanted = len(options.tickers)
        granted = await asyncio.to_thread(take_calls, self.table, source.source_id, wanted, limit, now)
        if not granted:
            return PollResult(
                PollVerdict.FAILED,
                "quota_exhausted",
                f"the {limit} calls of today are used up; it goes on after midnight UTC",
                retry_after=datetime(now.year, now.month, now.day, tzinfo=UTC) + timedelta(days=1),
            )
        answers, circuit = await self._ask(source, options, key, circuit, options.tickers[:granted])
        if any(answer.error and answer.error.status in _UNAUTHORIZED for answer in answers):
            self.secrets.forget(options.secret)
        return await asyncio.to_thread(self._conclude, source, options, answers, circuit, now)

    async def _ask(
        self,
        source: Source,
        options: NewsApiOptions,
        key: str,
        circuit: CircuitBreaker,
        tickers: Sequence[str],
    ) -> tuple[list[_Answer], CircuitBreaker]:
        """Make the calls; when the circuit was open, the first alone shows whether the provider is back."""
        answers: list[_Answer] = []
        remaining = list(tickers)
        if circuit.is_probing(self.clock()):
            probe = await self._one(source, options, key, remaining.pop(0))
            answers.append(probe)
            circuit = self._after(circuit, [probe])
            if probe.error is not None:
                return answers, circuit
        rest = await asyncio.gather(*(self._one(source, options, key, ticker) for ticker in remaining))
        return [*answers, *rest], self._after(circuit, rest)

    def _after(self, circuit: CircuitBreaker, answers: Iterable[_Answer]) -> CircuitBreaker:
        for answer in answers:
            if answer.error is None:
                circuit = circuit.succeeded()
            elif answer.error.cause.severity is Severity.TRANSIENT:
                circuit = circuit.failed(self.clock())
        return circuit

    async def _one(self, source: Source, options: NewsApiOptions, key: str, ticker: str) -> _Answer:
        call = self.provider.call(ticker, options, key, self.clock())
        try:
            response = await self.http.get(source.url, params=call.params, headers=call.headers)
            if not response.is_success:
                return _Answer(ticker, error=error_for(response))
            records = json.loads(response.body)
        except FetchError as error:
            return _Answer(ticker, error=error)
        except (ValueError, RecursionError):
            records = None
        if not isinstance(records, list):
            # Some say so with status 200 when the quota is used up or the plan does not have it.
            words = shorten(response.body.decode("utf-8", "replace"))
            problem = f"the answer is not a JSON list but {words}"
            return _Answer(ticker, error=fetch_error(FetchCause.PROTOCOL_ERROR, source.url, problem))
        return _Answer(ticker, records[: options.limit])

    def _conclude(
        self,
        source: Source,
        options: NewsApiOptions,
        answers: Sequence[_Answer],
        circuit: CircuitBreaker,
        now: datetime,
    ) -> PollResult:
        """Store what is new among all answers, and say how the poll went."""
        state = {"circuit": circuit.to_state()}
        errors = [answer.error for answer in answers if answer.error is not None]
        if errors and len(errors) == len(answers):
            return replace(_failure(errors), state=state)
        articles, rejected = self._articles(source, answers, now)
        seen = recall(self.table, source)
        compared = seen.compare([EntryMark(a.article_id, _content(a)) for a in articles], now)
        fresh = [
            article
            for article, known in zip(articles, compared.entries, strict=True)
            if known.freshness is not Freshness.KNOWN
        ]
        taken = self.intake.take(fresh)
        remember(self.table, source, seen, compared.after)
        missing = len(options.tickers) - len(answers) + len(errors)
        return PollResult(
            PollVerdict.CHANGED if fresh or errors else PollVerdict.UNCHANGED,
            "partial" if missing else "ok" if fresh else "no_new_entries",
            message=f"{missing} of {len(options.tickers)} tickers failed: {errors[0]}" if errors else "",
            http_status=200,
            entries=sum(len(answer.records) for answer in answers),
            fresh=len(fresh) + len(rejected),
            tickers=tuple(answer.ticker for answer in answers),
            created=taken.count(Outcome.CREATED),
            merged=taken.count(Outcome.MERGED),
            updated=taken.count(Outcome.UPDATED),
            rejected=(*rejected, *taken.refused),
            state=state,
            retry_after=max((e.retry_after for e in errors if e.retry_after), default=None),
        )

    def _articles(
        self, source: Source, answers: Sequence[_Answer], now: datetime
    ) -> tuple[list[IncomingArticle], list[Rejected]]:
        """Read the articles of all answers; one that stands in several has the tickers of all of them."""
        articles: dict[str, IncomingArticle] = {}
        rejected: list[Rejected] = []
        for answer in answers:
            for position, record in enumerate(answer.records):
                try:
                    article = self._article(source, record, answer.ticker, now)
                except InvalidInput as error:
                    id_ = record.get("id", position) if isinstance(record, dict) else position
                    rejected.append(Rejected(source.source_id, f"{answer.ticker} {id_}", str(error)))
                    continue
                known = articles.get(article.article_id)
                if known is not None:
                    tickers = tuple(sorted({*known.tickers, *article.tickers}))
                    article = known.model_copy(update={"tickers": tickers})
                articles[article.article_id] = article
        return list(articles.values()), rejected

    def _article(self, source: Source, record: object, ticker: str, now: datetime) -> IncomingArticle:
        if not isinstance(record, dict):
            raise InvalidInput("record", record, "a JSON object")
        fields = self.provider.read(record, ticker)
        publisher = str(fields["source_name"])[:200]
        return parse_incoming(
            {
                **fields,
                "headline": once_encoded(plain_title(str(fields["headline"]))),
                "text": shorten_text(once_encoded(text_of(str(fields["text"]))), TEXT_LIMIT),
                "source": source.source_id,
                "source_name": publisher or None,
                "crawled_at": crawl_time(source, now),
                "publishers": tuple(filter(None, (publisher,))),
                "tags": source.tags,
            }
        )


def _failure(errors: Sequence[FetchError]) -> PollResult:
    worst = errors[0]
    severities = {error.cause.severity for error in errors}
    return PollResult(
        PollVerdict.FAILED if Severity.TRANSIENT in severities else PollVerdict.BROKEN,
        "unauthorized" if worst.status in _UNAUTHORIZED else worst.cause.value,
        message=str(worst),
        http_status=worst.status,
        retry_after=max((error.retry_after for error in errors if error.retry_after), default=None),
    )


def _content(article: IncomingArticle) -> str:
    return "\n".join((article.headline, article.url, article.text, *article.tickers))


def _required(record: Mapping[str, object], name: str) -> str:
    if not (text := text_member(record, name)):
        raise InvalidInput(name, record.get(name), "a value that is not empty")
    return text


def _id(record: Mapping[str, object]) -> str:
    """Return the provider's id of an article; its address where it has none, for which some write 0."""
    id_ = text_member(record, "id")
    return id_ if id_.strip("0") else article_id_of(_required(record, "url"))


def _symbols(value: object) -> list[str]:
    """Return ticker symbols in upper case, given as a list or as text with commas; null means none."""
    parts = value if isinstance(value, list) else str(value or "").split(",")
    symbols = (part.strip().upper() for part in parts if isinstance(part, str))
    return list(dict.fromkeys(filter(None, symbols)))


def _moment(record: Mapping[str, object], name: str) -> datetime:
    """Read a time: seconds or milliseconds since 1970, or ISO 8601, in UTC if it names no zone."""
    value = record.get(name)
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15:
        value = int(value)
    reading = weigh_date(str(value))
    if reading.moment is None or reading.doubt:
        raise InvalidInput(name, value, "an ISO 8601 date and time, or seconds since 1970")
    return reading.moment
