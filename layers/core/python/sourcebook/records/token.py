"""A bearer token of the API: who may read, and who may change something."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, ClassVar, Final

from sourcebook.records.base import NOT_SHOWN, EpochSeconds, Place, Record
from sourcebook.table import keys

READ: Final = "read"
WRITE: Final = "write"
SCOPES: Final = (READ, WRITE)
"""``write`` allows reading too: whoever changes a thing sees it in the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiToken(Record):
    """What is known of a token: never its secret. It is shown on the command line only."""

    PLACE: ClassVar = Place(keys.api_token, "`sourcebook token`; until 30 days after its end")

    token_id: Annotated[str, "Stands in the token, in logs and in what was changed with it."]
    name: Annotated[str, "What it is for."]
    scopes: Annotated[tuple[str, ...], "read, write or both."]
    secret_sha256: Annotated[str, "The digest of its secret.", NOT_SHOWN] = field(repr=False)
    created_at: Annotated[datetime, "When it was made."]
    expires_at: Annotated[datetime, "From when on it is refused."]
    revoked_at: Annotated[datetime | None, "Since when it is refused, if it was revoked."] = None
    ttl_timestamp: Annotated[EpochSeconds, "When it is forgotten.", NOT_SHOWN]

    def allows(self, scope: str) -> bool:
        """Whether it may be used for this."""
        return scope in self.scopes or WRITE in self.scopes

    def state(self, now: datetime) -> str:
        """Return ``active``, ``expired`` or ``revoked``."""
        if self.revoked_at is not None:
            return "revoked"
        return "active" if now < self.expires_at else "expired"
