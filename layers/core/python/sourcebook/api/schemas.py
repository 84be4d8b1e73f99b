"""What the API's answers look like, in JSON Schema 2020-12. Loaded only when somebody asks for it.

The examples are in examples.json. Tests hold the names against what is served, the examples against the
schemas, and the schemas against answers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final

from sourcebook.columns import ColumnKind
from sourcebook.exports.manifest import FileFormat as FileForm
from sourcebook.feeds.manage import MOST_IMPORTED
from sourcebook.lightcurves.model import TimeScale, TimeSystem
from sourcebook.records.alert import FIELDS, AlertRule, Delivery, FieldSpec, Way
from sourcebook.records.article import Article, Sentiment
from sourcebook.records.decision import Decision
from sourcebook.records.event import Event, EventMember, Idea
from sourcebook.records.nova import NameKind, Nova, Reference, ReferenceRole
from sourcebook.records.product import FileObject, PhotometryTable
from sourcebook.records.quarantine import QuarantineCase
from sourcebook.records.run import Attempt, JobRun
from sourcebook.records.schema import Schema, nullable, object_of, one_of, shown, shown_fields
from sourcebook.records.source import AnySource, Fetch, Source
from sourcebook.records.spectrum import SpectrumInShort, SpectrumProduct
from sourcebook.records.subject import CacheMetadata, SentimentBucket, SentimentCacheEntry, Subject
from sourcebook.sentiment.read import BUCKETS
from sourcebook.sources.read import HEALTHS
from sourcebook.uploads.model import FileKind, FileState

EXAMPLES: Final[Mapping[str, Any]] = json.loads(
    files("sourcebook.api").joinpath("examples.json").read_text("utf-8")
)
"""An example of each schema that stands for a whole body."""

TEXT: Final[Schema] = {"type": "string"}
TIME: Final[Schema] = {"type": "string", "format": "date-time"}
DAY: Final[Schema] = {"type": "string", "format": "date"}
COUNT: Final[Schema] = {"type": "integer", "minimum": 0}
INTEGER: Final[Schema] = {"type": "integer"}
NUMBER: Final[Schema] = {"type": "number"}
FLAG: Final[Schema] = {"type": "boolean"}
UUID: Final[Schema] = {"type": "string", "format": "uuid"}
URL: Final[Schema] = {"type": "string", "format": "uri"}
OBJECT: Final[Schema] = {"type": "object"}
ANY_VALUE: Final[Schema] = {}


def list_of(schema: Schema) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": schema}


def ref(name: str) -> Schema:
    """Return a reference to one of `SCHEMAS`."""
    return {"$ref": f"#/components/schemas/{name}"}


def with_optional(whole: Schema, *optional: str) -> Schema:
    """Return the schema of an object in which some fields are optional."""
    return {**whole, "required": [name for name in whole["required"] if name not in optional]}


_NEXT_CURSOR: Final[Schema] = {
    "type": ["string", "null"],
    "description": "Pass it back as `cursor` for the next page; null at the end.",
}


def listing(item: Schema, **about: Schema) -> Schema:
    """Return the schema of a list of such items, with fields about all of them."""
    return object_of(**about, items=list_of(item), next_cursor=_NEXT_CURSOR)


def page_of(name: str) -> Schema:
    """Return the schema of one page of a list."""
    return listing(ref(name))


_WINDOW: Final[Mapping[str, Schema]] = {"start": TIME, "end": TIME, "left_out": FLAG}
_INGESTED: Final[Mapping[str, Schema]] = dict.fromkeys(
    ("articles_fetched", "articles_stored", "collisions_detected"), COUNT
)


def _feed() -> dict[str, Schema]:
    fields = shown_fields(Source)
    return {
        "feed_id": fields.pop("source_id"),
        "health": one_of(*HEALTHS),
        **fields,
        "avg_articles_per_fetch": NUMBER,
        "publications_by_hour": list_of(COUNT),
    }


def _product(whole: type[SpectrumInShort]) -> dict[str, Schema]:
    """Return the fields of a product of whatever type: null is what those of its type do not have."""
    spectrum, table = shown_fields(whole), shown_fields(PhotometryTable)
    return {
        name: schema if name in spectrum and name in table else nullable(schema)
        for name, schema in (table | spectrum).items()
    }


def _alert() -> dict[str, Schema]:
    return shown_fields(AlertRule) | {name: nullable(_alert_field(spec)) for name, spec in FIELDS.items()}


def _alert_field(spec: FieldSpec) -> Schema:
    if spec.least is None:
        return TEXT
    return INTEGER if spec.integer else NUMBER


_TERM: Final[Mapping[str, Schema]] = {"term_months": nullable(NUMBER), "term": nullable(TEXT)}
_RATES: Final[Mapping[str, Schema]] = dict.fromkeys(
    ("rate_pct", "rate_min_pct", "rate_max_pct"), nullable(NUMBER)
)
_AS_READ: Final[Mapping[str, Schema]] = {**_RATES, "raw_value": TEXT, "parse_warnings": list_of(TEXT)}
_LOST: Final[Schema] = {**FLAG, "description": "Whether it has run longer than its workflow may."}
_PLACED: Final[Mapping[str, Schema]] = {
    "constellation": {**nullable(TEXT), "description": "That its position lies in."}
}
_SOURCE_SAID: Final[Schema] = object_of(
    source_id=TEXT,
    source_priority=nullable(INTEGER),
    rate_pct=nullable(NUMBER),
    observed_day=DAY,
    scraped_at=TIME,
    stale=FLAG,
)

SCHEMAS: Final[Mapping[str, Schema]] = {
    "Problem": {
        **with_optional(
            object_of(
                type=TEXT,
                title=TEXT,
                status={"type": "integer", "minimum": 400, "maximum": 599},
                detail=TEXT,
                parameter={"type": "string", "description": "The parameter, field or header that is wrong."},
                correlation_id={"type": "string", "description": "Finds the request in the operator's logs."},
            ),
            "parameter",
        ),
        "description": "Problem details (RFC 9457).",
    },
    "Health": object_of(
        status=one_of("healthy", "degraded"),
        version={"type": "string", "description": "Of what is deployed."},
        checks=object_of(
            table=one_of("ok", "unavailable"),
            scheduler=nullable(COUNT),
            overdue=nullable(COUNT),
            active_feeds=nullable(COUNT),
            last_successful_fetch=nullable(TIME),
        ),
        timestamp=TIME,
    ),
    "Description": {"type": "object", "required": ["openapi", "paths"]},
    "Page": {"type": "string", "description": "An HTML page."},
    "Article": {"anyOf": [ref("MergedArticle"), ref("OlderArticle")]},
    "MergedArticle": shown(
        Article,
        mentions={
            **list_of(object_of(tag=TEXT, sentiment=one_of(*Sentiment), score=nullable(NUMBER), is_own=FLAG)),
            "description": "What is felt about each tag, `is_own` where it was judged by itself.",
        },
    ),
    "OlderArticle": {
        "type": "object",
        "description": "An article of the older format, with the fields it was stored with.",
        "required": ["source_id", "timestamp"],
        "not": {"required": ["dedup_key"]},
    },
    "ArticlePage": page_of("Article"),
    "AtomFeed": {"type": "string", "description": "A feed in Atom, RFC 4287."},
    "JsonFeed": with_optional(
        object_of(
            version=TEXT,
            title=TEXT,
            home_page_url=TEXT,
            feed_url=TEXT,
            next_url=TEXT,
            items=list_of(ref("JsonFeedItem")),
        ),
        "next_url",
    ),
    "JsonFeedItem": with_optional(
        object_of(
            id=TEXT,
            url=TEXT,
            title=TEXT,
            content_text=TEXT,
            date_published=TIME,
            date_modified=TIME,
            authors=list_of(object_of(name=TEXT)),
            tags=list_of(TEXT),
            language=TEXT,
        ),
        "url",
        "language",
    ),
    "Event": shown(
        Event,
        last_published_at=TIME,
        members=list_of(shown(EventMember)),
        ideas=list_of(shown(Idea)),
    ),
    "EventSummary": shown(Event, last_published_at=TIME),
    "EventPage": page_of("EventSummary"),
    "Feed": object_of(**_feed()),
    "FeedPage": page_of("Feed"),
    "Source": shown(AnySource, health=one_of(*HEALTHS), articles=COUNT),
    "SourcePage": page_of("Source"),
    "SourceOverviews": listing(
        object_of(
            source_id=TEXT,
            kind=TEXT,
            health=one_of(*HEALTHS),
            articles=COUNT,
            mean_age_seconds=nullable(COUNT),
            fetches=COUNT,
            errors=COUNT,
            mean_fetch_ms=nullable(COUNT),
            slowest_fetch_ms=nullable(COUNT),
            slow=FLAG,
        ),
        **_WINDOW,
    ),
    "IngestionBatches": listing(
        object_of(
            batch_id=TEXT,
            started_at=TIME,
            completed_at=TIME,
            sources=COUNT,
            **_INGESTED,
            collision_rate=NUMBER,
            duration_ms=COUNT,
            errors=list_of(TEXT),
        ),
        **_WINDOW,
        batches=COUNT,
        **_INGESTED,
        collision_rate=nullable(NUMBER),
    ),
    "DeadLetterQueues": page_of("DeadLetterQueue"),
    "DeadLetterQueue": object_of(queue=TEXT, messages=COUNT, mend=TEXT),
    "SubjectRanking": listing(
        object_of(
            tool_id=TEXT,
            name=TEXT,
            total_mentions=COUNT,
            mentions_before=COUNT,
            average_sentiment=NUMBER,
            average_before=nullable(NUMBER),
            change=nullable(NUMBER),
        ),
        **_WINDOW,
    ),
    "BestRates": listing(
        object_of(
            series_code=TEXT,
            **_TERM,
            rate_pct=NUMBER,
            observed_day=DAY,
            source_id=TEXT,
            kind=TEXT,
            banks=list_of(TEXT),
        )
    ),
    "RateMoves": listing(
        object_of(
            bank_name=TEXT,
            **_TERM,
            rate_before_pct=NUMBER,
            rate_pct=NUMBER,
            change_pct=NUMBER,
            day_before=DAY,
            observed_day=DAY,
        ),
        series_code=TEXT,
        first_day=DAY,
        left_out=FLAG,
    ),
    "FeedSchedule": object_of(
        feed_id=TEXT,
        next_fetch_time=TIME,
        reasons=list_of(TEXT),
        settings=object_of(
            max_concurrent_requests=COUNT,
            request_timeout_seconds=NUMBER,
            user_agent=TEXT,
            min_refresh_interval_minutes=COUNT,
            max_refresh_interval_minutes=COUNT,
            target_articles_per_fetch=COUNT,
            parser=one_of("fast", "reference"),
            parser_sample_percent=NUMBER,
        ),
    ),
    "Fetch": object_of(due_at=TIME, **shown_fields(Fetch)),
    "FetchPage": page_of("Fetch"),
    "AddedFeed": with_optional(
        object_of(**_feed(), created=FLAG, found=object_of(how=TEXT, others=list_of(TEXT))), "found"
    ),
    "RemovedFeed": object_of(feed_id=TEXT, deleted={"const": True}),
    "OpmlDocument": {
        "type": "string",
        "format": "opml",
        "description": f"An OPML document in UTF-8 of at most {MOST_IMPORTED:,} feeds.",
    },
    "Opml": {"type": "string", "description": "An OPML document."},
    "ImportReport": object_of(
        added=list_of(TEXT),
        known=list_of(TEXT),
        problem_count=COUNT,
        problems=list_of(object_of(line=COUNT, message=TEXT)),
        mended=nullable(TEXT),
    ),
    "Subject": shown(Subject),
    "SubjectPage": page_of("Subject"),
    "Sentiment": shown(
        SentimentCacheEntry, hours=INTEGER, is_stale=FLAG, is_cached=FLAG, cached_at=nullable(TIME)
    ),
    "SentimentSeries": listing(shown(SentimentBucket), tool_id=TEXT, hours=INTEGER, bucket=one_of(*BUCKETS)),
    "SentimentCacheHealth": shown(CacheMetadata, status=one_of("waiting", "healthy", "degraded")),
    "Latest": listing(
        object_of(
            bank_name=TEXT,
            series_code=TEXT,
            **_TERM,
            **_AS_READ,
            observed_day=DAY,
            scraped_at=TIME,
            source_id=TEXT,
            source_priority=nullable(INTEGER),
            stale=FLAG,
            decided_by=TEXT,
            sources_considered=list_of(_SOURCE_SAID),
        )
    ),
    "History": listing(
        object_of(
            observed_day=DAY, scraped_at=TIME, **_RATES, source_id=TEXT, source_priority=nullable(INTEGER)
        ),
        bank_name=TEXT,
        series_code=TEXT,
        term_months=nullable(NUMBER),
    ),
    "Observation": object_of(
        bank_name=TEXT,
        series_code=TEXT,
        **_TERM,
        observed_day=DAY,
        **_AS_READ,
        source_id=TEXT,
        source_priority=nullable(INTEGER),
        first_seen_at=TIME,
        scraped_at=TIME,
    ),
    "ObservationPage": page_of("Observation"),
    "Banks": listing(object_of(bank_name=TEXT)),
    "SeriesList": listing(object_of(series_code=TEXT, kind=TEXT, name=nullable(TEXT))),
    "Decision": shown(Decision),
    "DecisionPage": page_of("Decision"),
    "Alert": object_of(**_alert()),
    "AlertPage": page_of("Alert"),
    "CreatedAlert": object_of(
        **_alert(), secret={**nullable(TEXT), "description": "Signs what the webhook gets; shown this once."}
    ),
    "RemovedAlert": object_of(alert_id=TEXT, deleted={"const": True}),
    "Delivery": shown(
        Delivery,
        next_attempt_at=nullable(TIME),
        waiting_for=list_of(one_of(*Way)),
        facts={**OBJECT, "description": "What happened; docs/alerts.md has the facts of each kind."},
    ),
    "DeliveryPage": page_of("Delivery"),
    "Upload": object_of(
        upload_id=UUID,
        created_at=TIME,
        created_by=nullable(TEXT),
        donor=TEXT,
        observer=nullable(TEXT),
        license=nullable(TEXT),
        note=nullable(TEXT),
        counts=object_of(**{state.value: COUNT for state in FileState}),
        files=list_of(
            object_of(
                nova_id=UUID,
                kind=one_of(*FileKind),
                file_name=TEXT,
                byte_length=COUNT,
                sha256=TEXT,
                job_run_id=nullable(UUID),
                data_product_id=nullable(UUID),
                state=one_of(*(state.value for state in FileState)),
                reason=nullable(TEXT),
                send=nullable(
                    object_of(method=TEXT, url=URL, headers={**OBJECT, "additionalProperties": TEXT})
                ),
            )
        ),
    ),
    "Meta": object_of(
        scraped_at=nullable(TIME),
        observed_day=nullable(DAY),
        banks=COUNT,
        series=COUNT,
        sources=list_of(
            object_of(
                source_id=TEXT,
                name=nullable(TEXT),
                series=nullable(list_of(TEXT)),
                scraped_at=nullable(TIME),
                observed_day=nullable(DAY),
                rows=nullable(COUNT),
                dropped=ANY_VALUE,
                notes=ANY_VALUE,
                anomaly=ANY_VALUE,
                snapshot=nullable(TEXT),
            )
        ),
    ),
    "Workflows": listing(object_of(workflow_name=TEXT, input=OBJECT, start=TEXT)),
    "StartedRun": object_of(
        job_run_id=UUID,
        workflow_name=TEXT,
        status={"const": "RUNNING"},
        execution_arn=TEXT,
        watch={"type": "string", "description": "Path of the run: `GET` it to see how far it is."},
    ),
    "JobRunSummary": shown(JobRun, lost=_LOST),
    "JobRunPage": page_of("JobRunSummary"),
    "JobRun": shown(JobRun, lost=_LOST, attempts=list_of(shown(Attempt)), attempts_left_out=FLAG),
    "NovaSearch": with_optional(
        object_of(
            match=one_of("NONE", "ONE", "AMBIGUOUS"),
            normalized=TEXT,
            items=list_of(
                with_optional(shown(Nova, **_PLACED, separation_arcsec=NUMBER), "separation_arcsec")
            ),
            left_out=COUNT,
            next_cursor=_NEXT_CURSOR,
        ),
        "match",
        "normalized",
        "left_out",
    ),
    "Nova": shown(Nova, **_PLACED, names=list_of(object_of(name=TEXT, kind=one_of(*NameKind), source=TEXT))),
    "Reference": shown(Reference, bibcode=nullable(TEXT), role=one_of(*ReferenceRole), link=nullable(URL)),
    "ReferencePage": page_of("Reference"),
    "ProductSummary": object_of(**_product(SpectrumInShort)),
    "ProductPage": page_of("ProductSummary"),
    "Product": object_of(**_product(SpectrumProduct), files=list_of(shown(FileObject))),
    "Spectrum": object_of(
        nova_id=UUID,
        data_product_id=UUID,
        provider=TEXT,
        orders=list_of(object_of(order=INTEGER, wavelength_m=list_of(NUMBER), flux=list_of(NUMBER))),
        flux_unit=nullable(TEXT),
        object=nullable(TEXT),
        medium=nullable(TEXT),
        frame=nullable(TEXT),
        samples=COUNT,
        points=COUNT,
        downsampled=FLAG,
        orders_left_out=COUNT,
    ),
    "Photometry": object_of(
        nova_id=UUID,
        data_product_id=nullable(UUID),
        table_rows=COUNT,
        ingestion_count=COUNT,
        last_ingestion_at=nullable(TIME),
        matched=COUNT,
        bands={"type": "object", "additionalProperties": COUNT},
        thinned=FLAG,
        next_cursor=_NEXT_CURSOR,
        items=list_of(
            object_of(
                mjd=NUMBER,
                time_system=one_of(*TimeSystem),
                time_scale=nullable(one_of(*TimeScale)),
                band=TEXT,
                magnitude=nullable(NUMBER),
                magnitude_error=nullable(NUMBER),
                magnitude_system=nullable(one_of("Vega", "AB")),
                flux=nullable(NUMBER),
                flux_error=nullable(NUMBER),
                flux_unit=nullable(TEXT),
                upper_limit=FLAG,
                observer=nullable(TEXT),
            )
        ),
    ),
    "File": {"type": "string", "description": "A file."},
    "Exports": page_of("ExportedPeriod"),
    "ExportedPeriod": object_of(export_id=TEXT, since=DAY, until=DAY, manifest=TEXT),
    "Export": object_of(
        export_id=TEXT,
        since=DAY,
        until=DAY,
        made_at=TIME,
        datasets=list_of(
            object_of(name=TEXT, rows=COUNT, columns=list_of(object_of(name=TEXT, kind=one_of(*ColumnKind))))
        ),
        files=list_of(
            object_of(
                name=TEXT,
                dataset=TEXT,
                format=one_of(*FileForm),
                day=DAY,
                rows=COUNT,
                bytes=COUNT,
                sha256=TEXT,
                key=TEXT,
            )
        ),
    ),
    "SignedLink": object_of(url=URL, seconds={"type": "integer", "description": "How long it holds."}),
    "QuarantineCase": shown(QuarantineCase),
    "HeldFile": object_of(
        quarantine_id=UUID,
        byte_length=COUNT,
        is_whole=FLAG,
        content={"type": "string", "contentEncoding": "base64", "description": "The file's bytes."},
    ),
    "QuarantinePage": page_of("QuarantineCase"),
    "ReviewedCase": with_optional(shown(QuarantineCase, execution_arn=TEXT), "execution_arn"),
}
"""What bodies look like, by name."""
