"""The papers that data come from: a product that names its paper makes that a publication of its nova."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from boto3.dynamodb.conditions import Attr

from sourcebook.clock import Clock, isoformat, utc_now
from sourcebook.novae.model import reference_id_for
from sourcebook.records.nova import NovaReference, Reference, ReferenceRole
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed, Table

# Year, journal, volume, kind, page and initial of the first author, filled with dots to 19 characters.
_BIBCODE: Final = re.compile(
    r"(?<![A-Za-z0-9.&])(?:1[89]|20)\d\d[A-Za-z][A-Za-z&.]{4}[A-Za-z0-9.]{9}[A-Z.](?![A-Za-z0-9&])", re.ASCII
)


def bibcode_of(text: str | None) -> str | None:
    """Return the bibcode that a text names; None if it names none, or several."""
    found = set(_BIBCODE.findall(unquote((text or "")[:2_000])))
    return found.pop() if len(found) == 1 else None


@dataclass(frozen=True, slots=True)
class Papers:
    """Publications that data of novae come from."""

    table: Table
    clock: Clock = utc_now

    def add(self, nova_id: str, bibcode: str, role: ReferenceRole, *, workflow: str) -> None:
        """Add a paper to the publications of a nova in this role; title and date come with the next refresh.

        A paper that has another role already, the discovery for one, keeps it.
        """
        now = self.clock()
        reference = Reference(
            reference_id=reference_id_for("ADS", bibcode),
            source="ADS",
            source_identifier=bibcode,
            published_at=bibcode[:4],
            created_at=now,
            updated_at=now,
        )
        link = NovaReference(
            reference_id=reference.reference_id,
            role=role,
            added_by_workflow=workflow,
            created_at=now,
            updated_at=now,
        )
        self.table.create(reference.to_item(keys.reference(nova_id, reference.reference_id)))
        place = keys.nova_reference(nova_id, reference.reference_id)
        if self.table.create(link.to_item(place)) is None:
            return
        try:
            self.table.update(
                place,
                assign={"role": role.value, "updated_at": isoformat(now)},
                condition=Attr("role").eq(ReferenceRole.OTHER.value),
            )
        except ConditionFailed:
            return  # it has a role
