"""The papers that data come from: a product that names its paper makes that a publication of its nova."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final
from urllib.parse import unquote

from boto3.dynamodb.conditions import Attr

from sourcebook.clock import isoformat
from sourcebook.novae.model import reference_id_for
from sourcebook.records.nova import NovaReference, Reference, ReferenceRole
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.codec import Item

# Year, journal, volume, kind, page and initial of the first author, filled with dots to 19 characters.
_BIBCODE: Final = re.compile(
    r"(?<![A-Za-z0-9.&])(?:1[89]|20)\d\d[A-Za-z][A-Za-z&.]{4}[A-Za-z0-9.]{9}[A-Z.](?![A-Za-z0-9&])", re.ASCII
)


def bibcode_of(text: str | None) -> str | None:
    """Return the bibcode that a text names; None if it names none, or several."""
    found = set(_BIBCODE.findall(unquote((text or "")[:2_000])))
    return found.pop() if len(found) == 1 else None


def add_paper(
    table: Table, nova_id: str, bibcode: str, role: ReferenceRole, *, workflow: str, now: datetime
) -> None:
    """Add a paper to the publications of a nova in this role; title and date come with the next refresh.

    A paper that has another role already, the discovery for one, keeps it.
    """
    reference = Reference(
        reference_id=reference_id_for("ADS", bibcode),
        source="ADS",
        source_identifier=bibcode,
        published_at=bibcode[:4],
        created_at=now,
        updated_at=now,
    )
    _, link = add_publication(table, nova_id, reference, role, workflow=workflow)
    if link is not None:
        table.change_if(
            Attr("role").eq(ReferenceRole.OTHER.value),
            keys.nova_reference(nova_id, reference.reference_id),
            assign={"role": role.value, "updated_at": isoformat(now)},
        )


def add_publication(
    table: Table, nova_id: str, reference: Reference, role: ReferenceRole, *, workflow: str
) -> tuple[Item | None, Item | None]:
    """Write a publication of a nova and what it is to it; return of each what is there instead, or None."""
    link = NovaReference(
        reference_id=reference.reference_id,
        role=role,
        added_by_workflow=workflow,
        created_at=reference.created_at,
        updated_at=reference.created_at,
    )
    return (
        table.create(reference.to_item(keys.reference(nova_id, reference.reference_id))),
        table.create(link.to_item(keys.nova_reference(nova_id, reference.reference_id))),
    )
