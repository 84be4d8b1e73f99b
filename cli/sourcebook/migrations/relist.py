"""Putting novae into the list of all novae, which earlier versions did not have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from boto3.dynamodb.conditions import Attr

from sourcebook.migrations.steps import Step
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item


def place_of(nova: Item) -> keys.EligibilityKey:
    """Return where a nova stands in the list."""
    return keys.listed_nova(nova["primary_name_normalized"], nova["nova_id"])


def is_misplaced(nova: Item) -> bool:
    """Whether a nova stands elsewhere in EligibilityIndex, or nowhere."""
    place = place_of(nova)
    return (nova.get("GSI1PK"), nova.get("GSI1SK")) != (place["GSI1PK"], place["GSI1SK"])


def relist(table: Table, nova: Item) -> bool:
    """Put a nova where it belongs; return False if it was renamed meanwhile."""
    name = nova["primary_name_normalized"]
    unchanged = Attr("primary_name_normalized").eq(name)
    return table.change_if(unchanged, keys.nova(nova["nova_id"]), assign=dict(place_of(nova)))


def _misplaced(table: Table) -> Iterator[Item]:
    for item in table.scan_all():
        if item.get("entity_type") == "Nova" and is_misplaced(item):
            yield item


STEP: Final = Step(
    "0003-listed-novae",
    "Novae: each stands in the list of all novae",
    lambda table: sum(relist(table, nova) for nova in _misplaced(table)),
    lambda table: next(_misplaced(table), None) is not None,
)
