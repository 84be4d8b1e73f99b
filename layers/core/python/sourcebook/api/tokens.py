"""Bearer tokens: who may read, and who may change something.

A token is ``sb_<id>_<secret>``. The table has the SHA-256 of the secret and never the secret itself: it has
256 random bits, so that nothing slower than a plain hash is needed against guessing.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from boto3.dynamodb.conditions import Attr

from sourcebook.clock import Clock, epoch_seconds, isoformat, utc_now
from sourcebook.errors import InvalidInput
from sourcebook.records.token import SCOPES, ApiToken
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed, Table

LONGEST_LIFE: Final = timedelta(days=366)
KEPT_AFTER: Final = timedelta(days=30)
"""How long a token that has ended is still listed."""

_TOKEN: Final = re.compile(r"sb_([0-9a-f]{16})_([A-Za-z0-9_-]{43})", re.ASCII)
_NAME_LIMIT: Final = 100
_NOBODYS: Final = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True, slots=True)
class TokenStore:
    """The tokens in the table.

    Attributes:
        random: returns that many random bytes, fit for secrets.
    """

    table: Table
    clock: Clock = utc_now
    random: Callable[[int], bytes] = secrets.token_bytes

    def create(self, name: str, scopes: Iterable[str], life: timedelta) -> tuple[ApiToken, str]:
        """Create a token, and return it with its text, which is not stored.

        Args:
            name: what it is for.
            scopes: of `SCOPES`, one at least.
            life: how long it is valid, a year at most.

        Returns:
            What is kept of it, and the token itself, which nothing can tell again.

        Raises:
            InvalidInput: if an argument is not right.
        """
        name = name.strip()
        if not 1 <= len(name) <= _NAME_LIMIT:
            raise InvalidInput("name", name, f"1 to {_NAME_LIMIT} characters that say what the token is for")
        wanted = tuple(scope for scope in SCOPES if scope in (given := set(scopes)))
        if not wanted or given - set(SCOPES):
            raise InvalidInput("scope", sorted(given), f"one or both of {', '.join(SCOPES)}")
        if not timedelta(0) < life <= LONGEST_LIFE:
            raise InvalidInput(
                "expires", str(life), f"more than nothing and at most {LONGEST_LIFE.days} days"
            )
        now = self.clock().replace(microsecond=0)
        token_id = self.random(8).hex()
        secret = base64.urlsafe_b64encode(self.random(32)).decode().rstrip("=")
        token = ApiToken(
            token_id=token_id,
            name=name,
            scopes=wanted,
            secret_sha256=_digest(secret),
            created_at=now,
            expires_at=now + life,
            ttl_timestamp=epoch_seconds(now + life + KEPT_AFTER),
        )
        self.table.put(token.to_item(keys.api_token(token_id)), Attr("PK").not_exists())
        return token, f"sb_{token.token_id}_{secret}"

    def list(self) -> list[ApiToken]:
        """Return all tokens, the newest last."""
        found = self.table.items_of(keys.API_TOKENS, consistent=True)
        return sorted(map(ApiToken.of_item, found), key=lambda token: (token.created_at, token.token_id))

    def revoke(self, token_id: str) -> ApiToken | None:
        """Refuse a token from now on; return it, or None if there is none with this id."""
        if not re.fullmatch(r"[0-9a-f]{16}", token_id, re.ASCII):
            return None
        now = self.clock()
        try:
            item = self.table.update(
                keys.api_token(token_id),
                assign={"revoked_at": isoformat(now), "ttl_timestamp": epoch_seconds(now + KEPT_AFTER)},
                condition=Attr("PK").exists() & Attr("revoked_at").not_exists(),
            )
        except ConditionFailed as found:
            # Revoked before, or never made.
            return None if found.item is None else ApiToken.of_item(found.item)
        return ApiToken.of_item(item)

    def find(self, text: str) -> ApiToken | None:
        """Return the token that this text is, also one that has ended; None if it is none.

        One consistent read: a token works as soon as it is made, and no longer once it is revoked.
        """
        read = _TOKEN.fullmatch(text)
        if read is None:
            return None
        item = self.table.get(keys.api_token(read[1]), consistent=True)
        token = ApiToken.of_item(item) if item else None
        is_right = hmac.compare_digest(_digest(read[2]), token.secret_sha256 if token else _NOBODYS)
        return token if is_right else None


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
