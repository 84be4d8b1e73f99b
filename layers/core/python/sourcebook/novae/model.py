"""What the catalogue keeps in the table, each kind of item with its rules.

The items' fields are those of the nova item model; where it is silent or contradicts itself,
docs/decisions/0090-novae-and-runs.md says what was chosen.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sourcebook.events import UtcDatetime
from sourcebook.records.nova import NameSource
from sourcebook.records.quarantine import QuarantineReason
from sourcebook.schema import SCHEMA_VERSION, UUID
from sourcebook.validation import first_wrong

NAMESPACE: Final = uuid.UUID("5b0d2d0c-7a4e-5d1f-9f0b-0c6f6a3a9a11")
"""Of every uuid5 of the catalogue. Changing it makes every nova another one."""

Uuid = Annotated[str, Field(pattern=f"^{UUID}$")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
SOURCES: Final = {"simbad": NameSource.SIMBAD, "tns": NameSource.TNS}
"""Where a name comes from, by the archive that has it."""


class Record(BaseModel):
    """What every item has."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    schema_version: Literal["1"] = SCHEMA_VERSION
    created_at: UtcDatetime
    updated_at: UtcDatetime

    def attributes(self) -> dict[str, Any]:
        """Return the item's attributes without its key; what is absent (None) is left out."""
        return self.model_dump(mode="json", exclude_none=True)


RecordT = TypeVar("RecordT", bound=Record)


def read_record(model: type[RecordT], item: Mapping[str, Any]) -> RecordT:
    """Read an item.

    Raises:
        InvalidInput: naming the first field that is wrong.
    """
    try:
        return model.model_validate(item)
    except ValidationError as error:
        raise first_wrong(error, model.__name__) from error


def nova_id_for(identity: str) -> str:
    """Return the id of the nova with this identity: the same for whoever meets it first, however often."""
    return str(uuid.uuid5(NAMESPACE, f"nova:{identity}"))


def photometry_id_for(nova_id: str) -> str:
    """Return the id of a nova's photometry table."""
    return str(uuid.uuid5(NAMESPACE, f"photometry:{nova_id}"))


def reference_id_for(source: str, source_identifier: str) -> str:
    """Return the id of a publication, e.g. of ``ADS`` and its bibcode."""
    return str(uuid.uuid5(NAMESPACE, f"reference:{source}:{source_identifier}"))


def quarantine_id_for(workflow: str, subject: str, reason: QuarantineReason) -> str:
    """Return the id of a quarantine: the same trouble with the same subject is one case, not many."""
    return str(uuid.uuid5(NAMESPACE, f"quarantine:{workflow}:{subject}:{reason.value}"))
