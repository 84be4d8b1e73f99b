"""Moving names that an earlier version normalized in another way to the normalized form of today."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from boto3.dynamodb.conditions import Attr

from sourcebook.clock import isoformat
from sourcebook.errors import InvalidInput
from sourcebook.migrations.steps import Step
from sourcebook.novae.names import is_designation, normalize_name
from sourcebook.novae.store import Named, NovaStore
from sourcebook.records.nova import NameKind, NameMapping, Nova
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item


def form_of_today(item: Item) -> str | None:
    """Return the normalized form under which a nova or a name belongs; None if it stands there.

    Args:
        item: a nova, or a name in a nova's own partition.
    """
    name, stored = (
        (item["primary_name"], item["primary_name_normalized"])
        if item["SK"] == keys.NOVA_SORT_KEY
        else (item["name_raw"], item["name_normalized"])
    )
    try:
        form = normalize_name(name)
    except InvalidInput:
        return None
    # "Nova Sgr 2012 No. 2" also stands under "Nova Sgr 2012", as one of several.
    shared = form.startswith(f"{stored} #") and is_designation(stored)
    return None if form == stored or shared else form


def renormalize(store: NovaStore, nova_id: str) -> int:
    """Move the names of one nova to the normalized forms of today; return how many were moved.

    May be repeated, also after it was cut short: the new rows are written before the old ones go.
    """
    nova = store.get(nova_id)
    item = store.table.get(keys.nova(nova_id), consistent=True)
    if nova is None or item is None:
        return 0
    own = {row: keys.nova_own_name(nova_id, row.name_normalized) for row in store.names(nova_id)}
    stale = [row for row, key in own.items() if form_of_today(row.to_item(key)) is not None]
    changed = 0
    if (form := form_of_today(item)) is not None:
        store.table.update(
            keys.nova(nova_id),
            assign={
                "primary_name_normalized": form,
                **keys.listed_nova(form, nova_id),
                "updated_at": isoformat(store.clock()),
            },
            condition=Attr("primary_name").eq(nova.primary_name),
        )
        nova = replace(nova, primary_name_normalized=form)
        changed += 1
    for row in stale:
        _move(store, nova, row)
    return changed + len(stale)


def _move(store: NovaStore, nova: Nova, row: NameMapping) -> None:
    form = normalize_name(row.name_raw)
    primary = form == nova.primary_name_normalized
    kind = NameKind.PRIMARY if primary else NameKind.ALIAS
    moved = replace(row, name_normalized=form, name_kind=kind)
    for place in (keys.nova_name(form, nova.nova_id), keys.nova_own_name(nova.nova_id, form)):
        if store.table.create(moved.to_item(place)) is not None and primary:
            store.table.update(place, assign={"name_kind": kind.value}, condition=Attr("PK").exists())
    # The nova's own row last, by which a run that is cut short is continued.
    store.table.delete(keys.nova_name(row.name_normalized, nova.nova_id))
    store.table.delete(keys.nova_own_name(nova.nova_id, row.name_normalized))
    # A nova that is one of several of its year is found by what they are called together, too.
    store.add_names(nova, [Named(row.name_raw, row.source)])


def normalized_names(table: Table) -> int:
    """Move every name that stands under an earlier form; return how many."""
    stale = {item["PK"] for item in table.scan_all() if _is_stale(item)}
    return sum(renormalize(NovaStore(table), nova_id) for nova_id in sorted(stale))


def has_earlier_forms(table: Table) -> bool:
    """Return whether a name stands under an earlier form; reads until one is found."""
    return any(map(_is_stale, table.scan_all()))


def _is_stale(item: Item) -> bool:
    own = item.get("entity_type") == "NameMapping" and item["SK"].startswith(keys.NOVA_NAME_PREFIX)
    return (own or item.get("entity_type") == "Nova") and form_of_today(item) is not None


STEP: Final = Step(
    "0002-normalized-names",
    "Novae: names are stored under the form by which they are looked up now (survey prefixes, Greek letters)",
    normalized_names,
    has_earlier_forms,
)
