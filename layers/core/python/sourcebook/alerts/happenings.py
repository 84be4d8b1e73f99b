"""What happens, read from the table's stream: each from what an item was and what it has become.

The same record gives the same happening, whenever it is read and in whatever order: times are the item's
own, so that reading the stream again fires nothing twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from sourcebook.clock import isoformat, parse_iso
from sourcebook.observations.canonical import Candidate, candidates_of, ranked
from sourcebook.observations.terms import term_name
from sourcebook.records.alert import ARTICLE, RATE, RUN, SENTIMENT, SOURCE, SPECTRUM
from sourcebook.records.article import Article, is_analyzed
from sourcebook.search.day import IndexedArticle
from sourcebook.table import keys
from sourcebook.table.codec import Item, decode_item

Fact: TypeAlias = str | int | float | bool | list[str] | None

PERIOD: Final = "HOUR_24"
"""Of the cache of sentiment, whose averages are watched."""
_JUDGED: Final = frozenset({"VALID", "QUARANTINED"})


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that a rule may fire for.

    Attributes:
        kind: of the rules that it may concern.
        identity: the same for the same happening, and for no other of its kind.
        at: when, ISO 8601.
        facts: what happened.
        entry: of an article, what it is held against queries by.
    """

    kind: str
    identity: str
    at: str
    facts: Mapping[str, Fact]
    entry: IndexedArticle | None = None


def happening_of(record: Mapping[str, Any]) -> Happening | None:
    """Return what happened by a record of the stream; most say nothing."""
    image = record.get("NewImage")
    read = _reader(record["Keys"]["PK"].get("S", ""), record["Keys"]["SK"].get("S", ""))
    if not image or read is None:
        return None
    return read(decode_item(record.get("OldImage") or {}), decode_item(image))


def _reader(partition: str, sort: str) -> Callable[[Item, Item], Happening | None] | None:
    if sort == keys.ARTICLE_SORT_KEY:
        return _article
    if sort == keys.STATE_SORT_KEY and partition.startswith("SOURCE#"):
        return _source
    if partition.startswith("LATEST#"):
        return _rate
    if sort.startswith(keys.SPECTRA_PREFIX):
        return _spectrum
    if sort.startswith(keys.JOB_RUN_PREFIX):
        return _run
    if sort == keys.cache_entry("", PERIOD)["SK"] and partition.startswith("TOOL#"):
        return _sentiment
    return None


def _article(old: Item, new: Item) -> Happening | None:  # noqa: ARG001 - as all of them
    if not is_analyzed(new) or "dedup_key" not in new:
        return None
    attributions = new.get("source_attribution") or {}
    facts: dict[str, Fact] = {
        "dedup_key": new["dedup_key"],
        "headline": new["headline"],
        "published_at": new["timestamp"],
        "sentiment": new.get("sentiment"),
        "score": new.get("score"),
        "sources": sorted(attributions),
        "url": next((one["url"] for one in attributions.values() if one.get("url")), None),
    }
    # A rule fires once for an article, however often it is merged or analyzed anew.
    return Happening(
        ARTICLE,
        new["dedup_key"],
        new.get("analyzed_at") or new["updated_at"],
        facts,
        IndexedArticle.of(Article.of_item(new)),
    )


def _source(old: Item, new: Item) -> Happening | None:
    before, errors = int(old.get("consecutive_errors", 0)), int(new.get("consecutive_errors", 0))
    disabled = bool(old.get("enabled", True)) and not new.get("enabled", True)
    if not old or (errors <= before and not disabled):
        return None
    at = new.get("last_fetch_at") or new["created_at"]
    facts: dict[str, Fact] = {
        "source_id": new["source_id"],
        "source_kind": new["kind"],
        "disabled": disabled,
        "errors": errors,
        "errors_before": before,
        "last_error": new.get("last_error"),
    }
    return Happening(SOURCE, f"{new['source_id']}|{at}|{errors}|{disabled}", at, facts)


def _rate(old: Item, new: Item) -> Happening | None:
    first, second = _standing(old), _standing(new)
    if first is None or second is None or first.item.rate_pct == second.item.rate_pct:
        return None
    bank, series, term = keys.read_latest(keys.key_of(new))
    facts: dict[str, Fact] = {
        "bank_name": bank,
        "series_code": series,
        "term": term_name(term),
        "rate_before_pct": first.item.rate_pct,
        "rate_pct": second.item.rate_pct,
        "observed_day": second.item.observed_day,
        "source_id": second.source_id,
    }
    rates = f"{first.item.rate_pct}|{second.item.rate_pct}|{second.item.last_seen_at}"
    return Happening(RATE, f"{bank}|{series}|{term}|{rates}", second.item.last_seen_at, facts)


def _standing(item: Item) -> Candidate | None:
    """Return the figure that counts, as of the newest scrape that the item has; None if there is none."""
    slots = (item.get("sources") or {}).values()
    if not slots:
        return None
    now = max(parse_iso(slot["last_seen_at"]) for slot in slots)
    best = ranked(candidates_of(item, now))[0]
    return None if best.item.rate_pct is None else best


def _sentiment(old: Item, new: Item) -> Happening | None:  # noqa: ARG001 - as all of them
    facts: dict[str, Fact] = {
        "tool_id": new["tool_id"],
        "average_sentiment": new["average_sentiment"],
        "total_mentions": new["total_mentions"],
    }
    at = int(new["last_updated_ts"])
    moment = isoformat(datetime.fromtimestamp(at, UTC))
    return Happening(SENTIMENT, f"{new['tool_id']}|{at}", moment, facts)


def _spectrum(old: Item, new: Item) -> Happening | None:
    verdict = new.get("validation_status")
    if verdict not in _JUDGED or old.get("validation_status") == verdict:
        return None
    facts: dict[str, Fact] = {
        "nova_id": new["nova_id"],
        "data_product_id": new["data_product_id"],
        "provider": new["provider"],
        "verdict": verdict,
        "reason_code": new.get("quarantine_reason_code"),
    }
    at = new["updated_at"]
    return Happening(SPECTRUM, f"{new['data_product_id']}|{verdict}|{at}", at, facts)


def _run(old: Item, new: Item) -> Happening | None:
    if new.get("entity_type") != "JobRun" or new.get("status") != "FAILED" or old.get("status") == "FAILED":
        return None
    facts: dict[str, Fact] = {
        "job_run_id": new["job_run_id"],
        "workflow_name": new["workflow_name"],
        "error_type": new.get("error_type"),
        "error_message": (new.get("error_message") or "")[:300] or None,
    }
    return Happening(RUN, new["job_run_id"], new.get("ended_at") or new["started_at"], facts)
