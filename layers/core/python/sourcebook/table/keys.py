"""The only place where a key of the table is spelled. docs/table.md draws the same as a picture."""

from __future__ import annotations

from typing import Final, TypedDict

ELIGIBILITY_INDEX: Final = "EligibilityIndex"
STATUS_INDEX: Final = "by_status"
SENTIMENT_INDEX: Final = "by_sentiment"
TAG_INDEX: Final = "by_tag"

ARTICLE_SORT_KEY: Final = "ARTICLE"
STATE_SORT_KEY: Final = "STATE"
SEEN_SORT_KEY: Final = "SEEN"
FETCH_PREFIX: Final = "FETCH#"
TAG_PREFIX: Final = "TAG#"

DUE_SOURCES: Final = "SOURCE"
"""GSI1PK of the sources that are polled; GSI1SK orders them by when they are due."""
DISABLED_SOURCES: Final = "SOURCE#DISABLED"
"""GSI1PK of the disabled ones, so that they can be listed and, rarely, probed."""


class Key(TypedDict):
    """Primary key of an item."""

    PK: str
    SK: str


class EligibilityKey(TypedDict):
    """Key of an item in EligibilityIndex."""

    GSI1PK: str
    GSI1SK: str


def article(dedup_key: str) -> Key:
    """Key of the article with this dedup key (32 hexadecimal characters)."""
    return {"PK": f"dedup:{dedup_key}", "SK": ARTICLE_SORT_KEY}


def article_tag(dedup_key: str, tag: str) -> Key:
    """Key of the mention of `tag` by an article."""
    return {"PK": f"dedup:{dedup_key}", "SK": f"{TAG_PREFIX}{tag}"}


def article_alias(source_id: str, article_id: str) -> Key:
    """Key under which a source's own article id finds the article; the older key format."""
    return {"PK": f"{source_id}:{article_id}", "SK": ARTICLE_SORT_KEY}


def source(source_id: str) -> Key:
    """Key of a source's configuration and state."""
    return {"PK": f"SOURCE#{source_id}", "SK": STATE_SORT_KEY}


def source_seen(source_id: str) -> Key:
    """Key of the fingerprints of the entries that a source's document held lately."""
    return {"PK": f"SOURCE#{source_id}", "SK": SEEN_SORT_KEY}


def source_fetch(source_id: str, due_at: str) -> Key:
    """Key of one fetch in a source's history; `due_at` is the due time it was made for, ISO 8601."""
    return {"PK": f"SOURCE#{source_id}", "SK": f"{FETCH_PREFIX}{due_at}"}


def source_quota(source_id: str, day: str) -> Key:
    """Key of the calls that a source has made on a day (``2026-11-27``, UTC)."""
    return {"PK": f"SOURCE#{source_id}", "SK": f"QUOTA#{day}"}


def due(source_id: str, next_fetch_time: str) -> EligibilityKey:
    """Index key of a source that is to be polled at `next_fetch_time` (ISO 8601, seconds)."""
    return {"GSI1PK": DUE_SOURCES, "GSI1SK": f"{next_fetch_time}#{source_id}"}


def disabled(source_id: str, next_probe_time: str) -> EligibilityKey:
    """Index key of a disabled source that is to be probed at `next_probe_time` (ISO 8601, seconds)."""
    return {"GSI1PK": DISABLED_SOURCES, "GSI1SK": f"{next_probe_time}#{source_id}"}


def ingestion_batch(day: str, started_at: str, batch_id: str) -> Key:
    """Key of the record of one ingestion run; `started_at` in ISO 8601 with milliseconds."""
    return {
        "PK": f"WORKFLOW#ingest_articles#{day}",
        "SK": f"JOBRUN#ingest_articles#{started_at}#{batch_id}",
    }


def dispatch_tick() -> Key:
    """Key of the time at which the last scheduled dispatch ran."""
    return {"PK": "WORKFLOW#dispatch_sources", "SK": "TICK"}
