"""The ids of the catalogue's items.

The items are declared in `sourcebook.records`. Their fields are those of the nova item model; where it is
silent or contradicts itself, docs/decisions/0090-novae-and-runs.md says what was chosen.
"""

from __future__ import annotations

import uuid
from typing import Final

from sourcebook.records.quarantine import QuarantineReason

NAMESPACE: Final = uuid.UUID("5b0d2d0c-7a4e-5d1f-9f0b-0c6f6a3a9a11")
"""Of every uuid5 of the catalogue. Changing it makes every nova another one."""


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
