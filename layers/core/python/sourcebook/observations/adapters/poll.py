"""Pages of figures as a source: fetch if it changed or a day began, keep the page, store the figures."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Final

from sourcebook.bucket.objects import BucketBusy, DocumentRefused, Objects
from sourcebook.clock import Clock, isoformat, utc_now
from sourcebook.errors import InvalidInput
from sourcebook.http.client import HttpClient
from sourcebook.http.errors import FetchError
from sourcebook.http.response import HttpResponse, error_for
from sourcebook.observations.adapters import parse_document
from sourcebook.observations.adapters.document import BadDocument, DocumentCause
from sourcebook.observations.canonical import Canonical, SourcePriority
from sourcebook.observations.kinds import JSON_API
from sourcebook.observations.model import Observed, ParsedDocument
from sourcebook.observations.options import ObservationOptions, read_observation_options
from sourcebook.observations.raw import ObservationOutcome, RawStore, Scrape
from sourcebook.records.source import Source
from sourcebook.schema import SCHEMA_VERSION
from sourcebook.sources.limits import read_document
from sourcebook.sources.poll import PollResult, PollVerdict, Rejected
from sourcebook.table import keys
from sourcebook.table.client import Table

PAGES: Final = "snapshots/"
"""Prefix of the keys of fetched pages."""
# These come and go with the site; the others stay until somebody mends the declaration.
_MAY_PASS: Final = frozenset({DocumentCause.EMPTY_PAGE, DocumentCause.LOGIN_PAGE})
_ACCEPT: Final = {JSON_API: "application/json, */*;q=0.5"}


@dataclass(frozen=True, slots=True)
class ObservationAdapter:
    """Polls one page of figures: the adapter of kinds `html_table`, `json_api` and `csv`.

    Attributes:
        workers: figures stored at the same time.
    """

    http: HttpClient
    table: Table
    objects: Objects
    clock: Clock = utc_now
    workers: int = 8

    async def poll(self, source: Source) -> PollResult:
        """Fetch a page and store its figures.

        A page that has not changed is not read again on the same day of its source's calendar; the first time
        on a new day it is, for each day has an observation of its own.

        Raises:
            Retryable: if the table or the bucket could not take what was found.
        """
        try:
            options = read_observation_options(source)
        except InvalidInput as error:
            return PollResult(PollVerdict.BROKEN, "invalid_options", message=str(error))
        moment = self.clock()
        day = moment.astimezone(options.zone).date().isoformat()
        read_today = source.observed_day == day
        try:
            response = await self.http.get(
                source.url,
                headers={"Accept": _ACCEPT.get(source.kind, "text/html, text/csv, */*;q=0.5")},
                etag=source.etag if read_today else None,
                last_modified=source.last_modified if read_today else None,
            )
            if response.not_modified:
                return PollResult(PollVerdict.UNCHANGED, "not_modified", http_status=304)
            if not response.is_success or response.is_challenge:
                return PollResult.of_failure(error_for(response))
        except FetchError as error:
            return PollResult.of_failure(error)
        digest = sha256(response.body).hexdigest()
        if read_today and source.body_hash == digest[:32]:
            return PollResult(
                PollVerdict.UNCHANGED,
                "same_body",
                http_status=response.status,
                state=_validators(source, response),
            )
        scrape = Scrape(source.source_id, isoformat(moment, "milliseconds"), day, digest[:16])
        if response.body and source.body_hash != digest[:32]:
            await asyncio.to_thread(self._keep, source.source_id, digest, response)
        read = partial(parse_document, source, response.body, charset=response.charset, now=moment)
        try:
            parsed = await read_document(read, len(response.body))
            return await asyncio.to_thread(
                self._take_in, source, options, response=response, digest=digest, scrape=scrape, parsed=parsed
            )
        except BadDocument as error:
            verdict = PollVerdict.FAILED if error.cause in _MAY_PASS else PollVerdict.BROKEN
            return PollResult(
                verdict,
                error.cause.value,
                message=str(error),
                http_status=response.status,
                anomaly=anomaly(source.last_entries, 0, options.warn_fewer_rows_pct),
            )
        except InvalidInput as error:
            return PollResult(PollVerdict.BROKEN, "invalid_options", message=str(error))

    def _keep(self, source_id: str, digest: str, response: HttpResponse) -> None:
        """Write a page into the bucket, under its digest.

        Raise BucketBusy if S3 does not take it, also if it refuses it: the figures wait.
        """
        key, kind = f"{PAGES}{source_id}/{digest}", response.content_type or "application/octet-stream"
        try:
            self.objects.write(key, response.body, kind)
        except DocumentRefused as error:
            raise BucketBusy(f"the page of {source_id} could not be kept: {error}") from error

    def _take_in(
        self,
        source: Source,
        options: ObservationOptions,
        *,
        response: HttpResponse,
        digest: str,
        scrape: Scrape,
        parsed: ParsedDocument,
    ) -> PollResult:
        """Store the figures of a page. Raise InvalidInput if the options do not fit what is stored."""
        Canonical(self.table).ensure(
            (row.key for row in parsed.rows),
            {series.code: (series.kind, series.name) for series in options.series},
        )
        outcomes = self.store(scrape, parsed.rows, SourcePriority.of(dict(source.to_json())))
        odd = anomaly(source.last_entries, len(parsed.rows), options.warn_fewer_rows_pct)
        # Kept for whoever asks how fresh everything is.
        self.table.put(
            {
                **keys.observing_source(source.source_id),
                "entity_type": "Scrape",
                "schema_version": SCHEMA_VERSION,
                "source_id": source.source_id,
                "name": source.name or None,
                "url": source.url,
                "series": [series.code for series in options.series],
                "scraped_at": scrape.scraped_at,
                "observed_day": scrape.day,
                "rows": len(parsed.rows),
                "dropped": parsed.reasons(),
                "notes": parsed.notes or None,
                "anomaly": odd or None,
                "snapshot": digest,
            }
        )
        return PollResult(
            PollVerdict.CHANGED,
            "ok",
            http_status=response.status,
            entries=len(parsed.rows),
            created=outcomes.count(ObservationOutcome.CREATED),
            updated=outcomes.count(ObservationOutcome.UPDATED),
            rejected=tuple(
                Rejected(source.source_id, f"row {dropped.row}", f"{dropped.reason}: {dropped.detail}")
                for dropped in parsed.dropped
            ),
            dropped=parsed.reasons(),
            anomaly=odd,
            state={**_validators(source, response), "body_hash": digest[:32], "observed_day": scrape.day},
        )

    def store(
        self, scrape: Scrape, rows: list[Observed], source_priority: SourcePriority
    ) -> list[ObservationOutcome]:
        """Store the figures of one scrape in the raw layer and offer them to the canonical one.

        The LATEST items must be there, see `Canonical.ensure`.
        """
        raw, canonical = RawStore(self.table), Canonical(self.table)
        first = raw.reserve(len(rows))

        def one(numbered: tuple[int, Observed]) -> ObservationOutcome:
            sequence, row = numbered
            outcome, observation = raw.store(scrape, row, sequence)
            canonical.offer(row.key, observation, source_priority)
            return outcome

        with ThreadPoolExecutor(self.workers) as pool:
            outcomes = list(pool.map(one, enumerate(rows, first)))
        # Whoever changed the priority or removed the source since this poll began may have rebuilt the
        # slots before they were written. Looked at now, one of the two sees the other.
        if canonical.source_priorities([scrape.source_id]).get(scrape.source_id) != source_priority:
            for row in rows:
                canonical.rebuild(row.key, [scrape.source_id])
        return outcomes


def anomaly(before: int, now: int, share_pct: int = 30) -> str:
    """Return in words that a scrape yielded far fewer rows than the one before, or nothing if it did not.

    `before` is 0 if there was none; `share_pct` is the share of rows missing from which it is reported.
    """
    if before and (before - now) * 100 >= share_pct * before:
        return f"{now} rows where the last scrape yielded {before}"
    return ""


def _validators(source: Source, response: HttpResponse) -> dict[str, str | None]:
    found: dict[str, str | None] = {"etag": response.etag, "last_modified": response.last_modified}
    return {name: value for name, value in found.items() if value != getattr(source, name)}
