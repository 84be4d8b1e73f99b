"""Conditions of writes on articles."""

from __future__ import annotations

from boto3.dynamodb.conditions import Attr, ConditionBase

from sourcebook.records.article import Status
from sourcebook.table.client import in_any_shard


def has_status(status: Status) -> ConditionBase:
    """Return the condition that an article's item has a status, by the attribute or by what it lacks."""
    there = in_any_shard("status", status.value)
    if status not in {Status.PENDING, Status.ANALYZED}:
        return there
    sentiment = Attr("sentiment")
    judged = sentiment.exists() if status is Status.ANALYZED else sentiment.not_exists()
    return there | Attr("PK").exists() & Attr("status").not_exists() & judged
