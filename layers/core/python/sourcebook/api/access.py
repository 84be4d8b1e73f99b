"""Who may call an operation. Every request passes here before anything else is read of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from sourcebook.api.operations import Access
from sourcebook.api.requests import SIGNED, header, route_of, signer
from sourcebook.api.responses import Denied
from sourcebook.api.tokens import TokenStore
from sourcebook.clock import Clock, utc_now
from sourcebook.records.token import READ, WRITE, ApiToken

_HOW: Final = (
    "Send a token as `Authorization: Bearer sb_…` (`sourcebook token create` makes one), or sign the request "
    "with AWS credentials and send it to the same path below /iam."
)
_ENDED: Final = {"expired": "This token has expired.", "revoked": "This token has been revoked."}


class Caller(NamedTuple):
    """Who calls.

    Attributes:
        name: None for somebody who need not say.
        may_write: whether their token has the scope for it. What a signature allows, only AWS knows.
    """

    name: str | None = None
    may_write: bool = False


@dataclass(frozen=True, slots=True)
class AccessControl:
    """Decides whether a caller may do what an operation does.

    Attributes:
        public_read: whether anybody may read.
    """

    tokens: TokenStore
    public_read: bool
    clock: Clock = utc_now

    def admit(self, access: Access, event: Mapping[str, object]) -> Caller:
        """Return who the caller is.

        A token that is sent is always looked at: one that is wrong is refused even where nobody needs
        one, so that its owner learns of it before it matters.

        Raises:
            Denied: if the caller may not.
        """
        if route_of(event)[1]:
            return Caller(_signed(event))
        authorization = header(event, "authorization").strip()
        scheme, _, credentials = authorization.partition(" ")
        if access is Access.OPEN:
            return Caller()
        if not authorization:
            if access is Access.READ and self.public_read:
                return Caller()
            raise Denied(401, f"This needs a token. {_HOW}")
        if scheme.lower() != "bearer":
            raise Denied(401, f"Only tokens are taken on this path. {_HOW}")
        token = self._valid(credentials.strip(), WRITE if access is Access.WRITE else READ)
        return Caller(f"token:{token.token_id}", token.allows(WRITE))

    def _valid(self, credentials: str, scope: str) -> ApiToken:
        token = self.tokens.find(credentials)
        if token is None:
            # The answer says nothing more: which ids exist is not for everybody.
            raise _invalid(f"This is not a token of this stack. {_HOW}")
        if ended := _ENDED.get(token.state(self.clock())):
            raise _invalid(f"{ended} `sourcebook token create` makes a new one.")
        if not token.allows(scope):
            raise Denied(
                403,
                f"This token may {', '.join(token.scopes)}; this operation needs the scope {scope}.",
                f'Bearer realm="sourcebook", error="insufficient_scope", scope="{scope}"',
            )
        return token


def _signed(event: Mapping[str, object]) -> str:
    """Return who signed a request that came below /iam.

    The gateway has checked the signature and that its owner may call this very route. The embedded cloud
    lets any Authorization header pass there, and names only those whose keys it knows: what is no
    signature is refused here once more.
    """
    if caller := signer(event):
        return caller
    if header(event, "authorization").startswith("AWS4-") or "X-Amz-Signature=" in str(
        event.get("rawQueryString")
    ):
        return "aws"
    raise Denied(401, f"Only signatures are taken below {SIGNED}. {_HOW}")


def _invalid(detail: str) -> Denied:
    return Denied(401, detail, 'Bearer realm="sourcebook", error="invalid_token"')
