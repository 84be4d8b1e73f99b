"""What the API's answers look like, in JSON Schema 2020-12. Loaded only when somebody asks for it.

The examples are in examples.json. Tests hold the names against what is served, the examples against the
schemas, and the schemas against answers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final

from sourcebook.alerts.rules import FIELDS, KINDS, FieldSpec
from sourcebook.columns import Kind
from sourcebook.exports.manifest import Form as FileForm
from sourcebook.feeds.manage import MOST_IMPORTED
from sourcebook.novae.product_read import PRODUCT_TYPES, VALIDATION_STATUSES
from sourcebook.novae.reference_read import ROLES
from sourcebook.records.article import Article, Sentiment
from sourcebook.records.event import Event, EventMember, Idea
from sourcebook.records.quarantine import QuarantineCase
from sourcebook.records.run import Attempt, JobRun
from sourcebook.records.schema import Schema, maybe, one_of, shown, shown_fields, thing
from sourcebook.records.source import AnySource, Fetch, Source
from sourcebook.sentiment.read import BUCKETS
from sourcebook.sources.read import HEALTHS
from sourcebook.uploads.model import FileKind, FileState, NewUpload

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
THING: Final[Schema] = {"type": "object"}
ANYTHING: Final[Schema] = {}


def some(schema: Schema) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": schema}


def ref(name: str) -> Schema:
    """Return a reference to one of `SCHEMAS`."""
    return {"$ref": f"#/components/schemas/{name}"}


def partly(whole: Schema, *optional: str) -> Schema:
    """Return the schema of an object of which some fields need not be there."""
    return {**whole, "required": [name for name in whole["required"] if name not in optional]}


_NEXT_CURSOR: Final[Schema] = {
    "type": ["string", "null"],
    "description": "Pass it back as `cursor` for the next page; null at the end.",
}


def listing(item: Schema, **about: Schema) -> Schema:
    """Return the schema of a list of such items, with what is said of all of them."""
    return thing(**about, items=some(item), next_cursor=_NEXT_CURSOR)


def page_of(name: str) -> Schema:
    """Return the schema of one page of a list."""
    return listing(ref(name))


_WINDOW: Final[Mapping[str, Schema]] = {"start": TIME, "end": TIME, "left_out": FLAG}
_INGESTED: Final[Mapping[str, Schema]] = dict.fromkeys(
    ("articles_fetched", "articles_stored", "collisions_detected"), COUNT
)


def _mentions() -> dict[str, Schema]:
    percentage: Schema = {"type": "number", "minimum": 0, "maximum": 100}
    return {
        "total_mentions": COUNT,
        "positive_count": COUNT,
        "negative_count": COUNT,
        "neutral_count": COUNT,
        "positive_percentage": percentage,
        "negative_percentage": percentage,
        "neutral_percentage": percentage,
        "average_sentiment": {"type": "number", "minimum": -1, "maximum": 1},
    }


def _feed() -> dict[str, Schema]:
    fields = shown_fields(Source)
    return {
        "feed_id": fields.pop("source_id"),
        "health": one_of(*HEALTHS),
        **fields,
        "avg_articles_per_fetch": NUMBER,
        "publications_by_hour": some(COUNT),
    }


def _nova() -> dict[str, Schema]:
    return {
        "nova_id": UUID,
        "primary_name": maybe(TEXT),
        "ra_deg": maybe(NUMBER),
        "dec_deg": maybe(NUMBER),
        "coord_frame": maybe(TEXT),
        "coord_epoch": maybe(TEXT),
        "constellation": maybe(TEXT),
        "discovery_date": maybe(TEXT),
        "status": TEXT,
        "merged_into": maybe(TEXT),
        "status_reason": maybe(TEXT),
        "object_type": maybe(TEXT),
        "created_at": TIME,
        "updated_at": TIME,
    }


def _product() -> dict[str, Schema]:
    return {
        "data_product_id": UUID,
        "nova_id": UUID,
        "product_type": one_of(*PRODUCT_TYPES),
        "provider": maybe(TEXT),
        "provider_product_id": maybe(TEXT),
        "title": maybe(TEXT),
        "collection": maybe(TEXT),
        "hints": maybe(THING),
        "acquisition_status": maybe(TEXT),
        "validation_status": maybe(one_of(*VALIDATION_STATUSES)),
        "eligibility": maybe(TEXT),
        "attempt_count": maybe(COUNT),
        "last_attempt_at": maybe(TIME),
        "next_eligible_attempt_at": maybe(TIME),
        "fits_profile_id": maybe(TEXT),
        "quarantine_reason_code": maybe(TEXT),
        "quarantine_id": maybe(TEXT),
        "manual_review_status": maybe(TEXT),
        "terminal_reason": maybe(TEXT),
        "duplicate_of": maybe(TEXT),
        "byte_length": maybe(COUNT),
        "sha256": maybe(TEXT),
        "row_count": maybe(COUNT),
        "bands": maybe(THING),
        "mjd_min": maybe(NUMBER),
        "mjd_max": maybe(NUMBER),
        "ingestion_count": maybe(COUNT),
        "last_ingestion_at": maybe(TIME),
        "created_at": TIME,
        "updated_at": TIME,
    }


def _new_upload() -> Schema:
    """Return the schema of a request, as its model is."""
    schema = NewUpload.model_json_schema()
    new_file = schema.pop("$defs")["NewFile"]
    new_file["properties"]["kind"] = one_of(*FileKind)
    schema["properties"]["files"]["items"] = new_file
    for part in (schema, new_file, *schema["properties"].values(), *new_file["properties"].values()):
        part.pop("title", None)
    return schema


def _alert() -> dict[str, Schema]:
    return {
        "alert_id": TEXT,
        "kind": one_of(*KINDS),
        "name": TEXT,
        **{name: maybe(_alert_field(spec)) for name, spec in FIELDS.items()},
        "webhook": maybe(TEXT),
        "mail": maybe(TEXT),
        "created_at": TIME,
    }


def _alert_field(spec: FieldSpec) -> Schema:
    if spec.least is None:
        return TEXT
    return INTEGER if spec.whole else NUMBER


def _rates() -> dict[str, Schema]:
    return {"rate_pct": maybe(NUMBER), "rate_min_pct": maybe(NUMBER), "rate_max_pct": maybe(NUMBER)}


_TAGS: Final[Schema] = {
    "type": "array",
    "items": {"type": "string", "minLength": 1, "maxLength": 64, "pattern": r"\S"},
    "maxItems": 10,
    "description": "Given to all its articles.",
}
_PRIORITY: Final[Schema] = {
    "type": "integer",
    "minimum": 0,
    "maximum": 9_999,
    "description": "Of the feeds that are due, the lower number is fetched first; 999 if none is given.",
}
_FEED_NAME: Final[Schema] = {"type": "string", "maxLength": 200}
_CHANGEABLE: Final[dict[str, Schema]] = {
    "enabled": FLAG,
    "priority": _PRIORITY,
    "name": _FEED_NAME,
    "tags": _TAGS,
    "interval_minutes": {
        "type": "integer",
        "minimum": 1,
        "maximum": 1_440,
        "description": "The longest time between two fetches; polling may choose less.",
    },
}
_LOST: Final[Schema] = {**FLAG, "description": "Whether it has run longer than its workflow may."}
_SOURCE_SAID: Final[Schema] = thing(
    source_id=TEXT,
    source_priority=maybe(INTEGER),
    rate_pct=maybe(NUMBER),
    observed_day=DAY,
    scraped_at=TIME,
    stale=FLAG,
)

SCHEMAS: Final[Mapping[str, Schema]] = {
    "Problem": {
        **partly(
            thing(
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
    "Health": thing(
        status=one_of("healthy", "degraded"),
        version={"type": "string", "description": "Of what is deployed."},
        checks=thing(
            table=one_of("ok", "unavailable"),
            scheduler=maybe(COUNT),
            overdue=maybe(COUNT),
            active_feeds=maybe(COUNT),
            last_successful_fetch=maybe(TIME),
        ),
        timestamp=TIME,
    ),
    "Description": {"type": "object", "required": ["openapi", "paths"]},
    "Page": {"type": "string", "description": "An HTML page."},
    "Article": {"anyOf": [ref("MergedArticle"), ref("OlderArticle")]},
    "MergedArticle": shown(
        Article,
        mentions={
            **some(thing(tag=TEXT, sentiment=one_of(*Sentiment), score=maybe(NUMBER), is_own=FLAG)),
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
    "JsonFeed": partly(
        thing(
            version=TEXT,
            title=TEXT,
            home_page_url=TEXT,
            feed_url=TEXT,
            next_url=TEXT,
            items=some(ref("JsonFeedItem")),
        ),
        "next_url",
    ),
    "JsonFeedItem": partly(
        thing(
            id=TEXT,
            url=TEXT,
            title=TEXT,
            content_text=TEXT,
            date_published=TIME,
            date_modified=TIME,
            authors=some(thing(name=TEXT)),
            tags=some(TEXT),
            language=TEXT,
        ),
        "url",
        "language",
    ),
    "Event": shown(
        Event,
        last_published_at=TIME,
        members=some(
            shown(EventMember, sources=maybe(some(TEXT)), sentiment=maybe(TEXT), score=maybe(NUMBER))
        ),
        ideas=some(shown(Idea)),
    ),
    "EventSummary": shown(Event, last_published_at=TIME),
    "EventPage": page_of("EventSummary"),
    "Feed": thing(**_feed()),
    "FeedPage": page_of("Feed"),
    "Source": shown(AnySource, health=one_of(*HEALTHS), articles=COUNT),
    "SourcePage": page_of("Source"),
    "SourceOverviews": listing(
        thing(
            source_id=TEXT,
            kind=TEXT,
            health=one_of(*HEALTHS),
            articles=COUNT,
            mean_age_seconds=maybe(COUNT),
            fetches=COUNT,
            errors=COUNT,
            mean_fetch_ms=maybe(COUNT),
            slowest_fetch_ms=maybe(COUNT),
            slow=FLAG,
        ),
        **_WINDOW,
    ),
    "IngestionBatches": listing(
        thing(
            batch_id=TEXT,
            started_at=TIME,
            completed_at=TIME,
            sources=COUNT,
            **_INGESTED,
            collision_rate=NUMBER,
            duration_ms=COUNT,
            errors=some(TEXT),
        ),
        **_WINDOW,
        batches=COUNT,
        **_INGESTED,
        collision_rate=maybe(NUMBER),
    ),
    "DeadLetterQueues": page_of("DeadLetterQueue"),
    "DeadLetterQueue": thing(queue=TEXT, messages=COUNT, mend=TEXT),
    "SubjectRanking": listing(
        thing(
            tool_id=TEXT,
            name=TEXT,
            total_mentions=COUNT,
            mentions_before=COUNT,
            average_sentiment=NUMBER,
            average_before=maybe(NUMBER),
            change=maybe(NUMBER),
        ),
        **_WINDOW,
    ),
    "BestRates": listing(
        thing(
            series_code=TEXT,
            term_months=maybe(NUMBER),
            term=maybe(TEXT),
            rate_pct=NUMBER,
            observed_day=DAY,
            source_id=TEXT,
            kind=TEXT,
            banks=some(TEXT),
        ),
    ),
    "RateMoves": listing(
        thing(
            bank_name=TEXT,
            term_months=maybe(NUMBER),
            term=maybe(TEXT),
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
    "FeedSchedule": thing(
        feed_id=TEXT,
        next_fetch_time=TIME,
        reasons=some(TEXT),
        settings=thing(
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
    "Fetch": thing(due_at=TIME, **shown_fields(Fetch)),
    "FetchPage": page_of("Fetch"),
    "NewFeed": {
        "type": "object",
        "properties": {
            "url": {
                "type": "string",
                "format": "feed-url",
                "description": "The feed's own address; it is registered without being asked.",
            },
            "site": {
                "type": "string",
                "format": "feed-url",
                "description": "A page, which is asked which feed it announces, and else at the usual paths.",
            },
            "feed_id": {
                "type": "string",
                "pattern": "^[a-z0-9][a-z0-9-]{0,62}$",
                "description": "Without it, the host and a hash of the URL.",
            },
            **_CHANGEABLE,
        },
        "oneOf": [{"required": ["url"]}, {"required": ["site"]}],
        "additionalProperties": False,
    },
    "AddedFeed": partly(
        thing(**_feed(), created=FLAG, found=thing(how=TEXT, others=some(TEXT))),
        "found",
    ),
    "FeedChange": {
        "type": "object",
        "properties": {
            "url": {
                "type": "string",
                "format": "feed-url",
                "description": "Where the feed is now. It is fetched at once, as if for the first time; what "
                "it brought before stays, and is not taken for new.",
            },
            **_CHANGEABLE,
        },
        "minProperties": 1,
        "additionalProperties": False,
    },
    "RemovedFeed": thing(feed_id=TEXT, deleted={"const": True}),
    "OpmlDocument": {
        "type": "string",
        "format": "opml",
        "description": f"An OPML document in UTF-8 of at most {MOST_IMPORTED:,} feeds.",
    },
    "Opml": {"type": "string", "description": "An OPML document."},
    "ImportReport": thing(
        added=some(TEXT),
        known=some(TEXT),
        problem_count=COUNT,
        problems=some(thing(line=COUNT, message=TEXT)),
        mended=maybe(TEXT),
    ),
    "Subject": thing(
        tool_id=TEXT,
        name=TEXT,
        kind=TEXT,
        aliases=maybe(some(TEXT)),
        ticker=maybe(TEXT),
        active=FLAG,
    ),
    "SubjectPage": page_of("Subject"),
    "Sentiment": thing(
        id=maybe(TEXT),
        tool_id=TEXT,
        period=maybe(TEXT),
        **_mentions(),
        period_start_ts=INTEGER,
        period_end_ts=INTEGER,
        last_updated_ts=INTEGER,
        _ts=maybe(INTEGER),
        hours=INTEGER,
        is_stale=FLAG,
        is_cached=FLAG,
        cached_at=maybe(TIME),
    ),
    "SentimentSeries": listing(
        thing(
            start=TIME,
            total_mentions=COUNT,
            positive_count=COUNT,
            negative_count=COUNT,
            neutral_count=COUNT,
            average_sentiment=NUMBER,
        ),
        tool_id=TEXT,
        hours=INTEGER,
        bucket=one_of(*BUCKETS),
    ),
    "SentimentCacheHealth": thing(
        status=one_of("waiting", "healthy", "degraded"),
        id=TEXT,
        last_refresh_ts=maybe(INTEGER),
        last_refresh_duration_ms=maybe(INTEGER),
        total_entries=COUNT,
        cache_hits_24h=COUNT,
        cache_misses_24h=COUNT,
        cache_hit_rate=maybe(NUMBER),
        error_count_24h=COUNT,
        tools_refreshed=some(TEXT),
        _ts=maybe(INTEGER),
    ),
    "Latest": listing(
        thing(
            bank_name=TEXT,
            series_code=TEXT,
            term_months=maybe(NUMBER),
            term=maybe(TEXT),
            **_rates(),
            raw_value=TEXT,
            parse_warnings=some(TEXT),
            observed_day=DAY,
            scraped_at=TIME,
            source_id=TEXT,
            source_priority=maybe(INTEGER),
            stale=FLAG,
            decided_by=TEXT,
            sources_considered=some(_SOURCE_SAID),
        ),
    ),
    "History": listing(
        thing(
            observed_day=DAY,
            scraped_at=TIME,
            **_rates(),
            source_id=TEXT,
            source_priority=maybe(INTEGER),
        ),
        bank_name=TEXT,
        series_code=TEXT,
        term_months=maybe(NUMBER),
    ),
    "Observation": thing(
        bank_name=TEXT,
        series_code=TEXT,
        term_months=maybe(NUMBER),
        term=maybe(TEXT),
        observed_day=DAY,
        **_rates(),
        raw_value=TEXT,
        parse_warnings=some(TEXT),
        source_id=TEXT,
        source_priority=maybe(INTEGER),
        first_seen_at=TIME,
        scraped_at=TIME,
    ),
    "ObservationPage": page_of("Observation"),
    "Banks": listing(
        thing(bank_name=TEXT),
    ),
    "SeriesList": listing(
        thing(series_code=TEXT, kind=TEXT, name=maybe(TEXT)),
    ),
    "Alert": thing(**_alert()),
    "AlertPage": page_of("Alert"),
    "CreatedAlert": thing(
        **_alert(), secret={**maybe(TEXT), "description": "Signs what the webhook gets; told this once."}
    ),
    "RemovedAlert": thing(alert_id=TEXT, deleted={"const": True}),
    "Delivery": thing(
        event_id=TEXT,
        kind=TEXT,
        at=TIME,
        state=one_of("PENDING", "DELIVERED", "GIVEN_UP", "CANCELLED"),
        waiting_for=some(one_of("bus", "mail", "webhook")),
        attempts=COUNT,
        facts={**THING, "description": "What happened; docs/alerts.md has the facts of each kind."},
        created_at=TIME,
        next_attempt_at=maybe(TIME),
        delivered_at=maybe(TIME),
        last_error=maybe(TEXT),
    ),
    "DeliveryPage": page_of("Delivery"),
    "NewUpload": _new_upload(),
    "Upload": thing(
        upload_id=UUID,
        created_at=TIME,
        created_by=maybe(TEXT),
        donor=TEXT,
        observer=maybe(TEXT),
        license=maybe(TEXT),
        note=maybe(TEXT),
        counts=thing(**{state.value: COUNT for state in FileState}),
        files=some(
            thing(
                nova_id=UUID,
                kind=one_of(*FileKind),
                file_name=TEXT,
                byte_length=COUNT,
                sha256=TEXT,
                job_run_id=maybe(UUID),
                data_product_id=maybe(UUID),
                state=one_of(*(state.value for state in FileState)),
                reason=maybe(TEXT),
                send=maybe(thing(method=TEXT, url=URL, headers={**THING, "additionalProperties": TEXT})),
            )
        ),
    ),
    "Meta": thing(
        scraped_at=maybe(TIME),
        observed_day=maybe(DAY),
        banks=COUNT,
        series=COUNT,
        sources=some(
            thing(
                source_id=TEXT,
                name=maybe(TEXT),
                series=maybe(some(TEXT)),
                scraped_at=maybe(TIME),
                observed_day=maybe(DAY),
                rows=maybe(COUNT),
                dropped=ANYTHING,
                notes=ANYTHING,
                anomaly=ANYTHING,
                snapshot=maybe(TEXT),
            )
        ),
    ),
    "Workflows": listing(
        thing(workflow_name=TEXT, input=THING, start=TEXT),
    ),
    "StartedRun": thing(
        job_run_id=UUID,
        workflow_name=TEXT,
        status={"const": "RUNNING"},
        execution_arn=TEXT,
        watch={"type": "string", "description": "Path of the run: `GET` it to see how far it is."},
    ),
    "JobRunSummary": shown(JobRun, lost=_LOST),
    "JobRunPage": page_of("JobRunSummary"),
    "JobRun": shown(JobRun, lost=_LOST, attempts=some(shown(Attempt)), attempts_left_out=FLAG),
    "NovaSearch": partly(
        thing(
            match=one_of("NONE", "ONE", "AMBIGUOUS"),
            normalized=TEXT,
            items=some(partly(thing(**_nova(), separation_arcsec=NUMBER), "separation_arcsec")),
            left_out=COUNT,
            next_cursor=_NEXT_CURSOR,
        ),
        "match",
        "normalized",
        "left_out",
    ),
    "Nova": thing(**_nova(), names=some(thing(name=TEXT, kind=one_of("PRIMARY", "ALIAS"), source=TEXT))),
    "Reference": thing(
        reference_id=UUID,
        bibcode=maybe(TEXT),
        role=one_of(*ROLES),
        title=maybe(TEXT),
        authors=some(TEXT),
        author_count=maybe(COUNT),
        published_at=maybe(TEXT),
        link=maybe(URL),
        source=TEXT,
    ),
    "ReferencePage": page_of("Reference"),
    "ProductSummary": thing(**_product()),
    "ProductPage": page_of("ProductSummary"),
    "Product": thing(
        **_product(),
        locators=maybe(some(THING)),
        locator_identity=maybe(TEXT),
        identity_kind=maybe(TEXT),
        release_date=maybe(TIME),
        auth_required=maybe(FLAG),
        provenance=maybe(THING),
        last_error_fingerprint=maybe(TEXT),
        header_signature_hash=maybe(TEXT),
        profile_selection_inputs=maybe(THING),
        normalization_notes=maybe(some(TEXT)),
        overrides=maybe(THING),
        verdict=maybe(THING),
        files=some(
            thing(
                role=TEXT,
                name=TEXT,
                key=TEXT,
                content_type=TEXT,
                byte_length=maybe(COUNT),
                etag=maybe(TEXT),
                sha256=maybe(TEXT),
                created_at=TIME,
            )
        ),
    ),
    "Spectrum": thing(
        nova_id=UUID,
        data_product_id=UUID,
        provider=TEXT,
        orders=some(thing(order=INTEGER, wavelength_m=some(NUMBER), flux=some(NUMBER))),
        flux_unit=maybe(TEXT),
        object=maybe(TEXT),
        medium=maybe(TEXT),
        frame=maybe(TEXT),
        samples=COUNT,
        points=COUNT,
        downsampled=FLAG,
        orders_left_out=COUNT,
    ),
    "Photometry": thing(
        nova_id=UUID,
        data_product_id=maybe(UUID),
        table_rows=COUNT,
        ingestion_count=COUNT,
        last_ingestion_at=maybe(TIME),
        matched=COUNT,
        bands={"type": "object", "additionalProperties": COUNT},
        thinned=FLAG,
        next_cursor=_NEXT_CURSOR,
        items=some(
            thing(
                mjd=NUMBER,
                time_system=one_of("JD", "HJD", "BJD", "MJD", "HMJD", "BMJD", "DATE"),
                time_scale=maybe(one_of("UTC", "TT", "TDB", "TAI")),
                band=TEXT,
                magnitude=maybe(NUMBER),
                magnitude_error=maybe(NUMBER),
                magnitude_system=maybe(one_of("Vega", "AB")),
                flux=maybe(NUMBER),
                flux_error=maybe(NUMBER),
                flux_unit=maybe(TEXT),
                upper_limit=FLAG,
                observer=maybe(TEXT),
            )
        ),
    ),
    "File": {"type": "string", "description": "A file."},
    "Exports": page_of("ExportedPeriod"),
    "ExportedPeriod": thing(export_id=TEXT, since=DAY, until=DAY, manifest=TEXT),
    "Export": thing(
        export_id=TEXT,
        since=DAY,
        until=DAY,
        made_at=TIME,
        datasets=some(
            thing(
                name=TEXT,
                rows=COUNT,
                columns=some(thing(name=TEXT, kind=one_of(*Kind))),
            )
        ),
        files=some(
            thing(
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
    "SignedLink": thing(url=URL, seconds={"type": "integer", "description": "How long it holds."}),
    "QuarantineCase": shown(QuarantineCase),
    "HeldFile": thing(
        quarantine_id=UUID,
        byte_length=COUNT,
        is_whole=FLAG,
        content={"type": "string", "contentEncoding": "base64", "description": "The file's bytes."},
    ),
    "QuarantinePage": page_of("QuarantineCase"),
    "ReviewedCase": partly(shown(QuarantineCase, execution_arn=TEXT), "execution_arn"),
}
"""What bodies look like, by name."""
