"""Conditions of writes on articles."""

from __future__ import annotations

from boto3.dynamodb.conditions import Attr, ConditionBase

from sourcebook.records.article import Status
from sourcebook.table.client import in_any_shard


def has_status(status: Status) -> ConditionBase:
    """Return the condition that an article's item has a status; an analyzed one of today has no attribute."""
    there = in_any_shard("status", status.value)
    return there | Attr("status").not_exists() if status is Status.ANALYZED else there
