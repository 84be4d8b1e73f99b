"""Bearer tokens of the HTTP API: `token create`, `token list` and `token revoke`."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

import click

from sourcebook.clock import isoformat, utc_now
from sourcebook.errors import InvalidInput
from sourcebook_cli.output import Style, Styled, say, say_json
from sourcebook_cli.stack import Stack, on_aws

if TYPE_CHECKING:
    from sourcebook.api.tokens import TokenStore

_STYLES: Final[dict[str, Style]] = {"active": "green", "expired": "yellow", "revoked": "red"}


@click.group()
def token() -> None:
    """Tokens by which programs and people call the HTTP API."""


@token.command()
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(["read", "write"]),
    default=["read"],
    show_default=True,
    help="What it may be used for; write allows reading too.",
)
@click.option(
    "--days", default=90, show_default=True, type=click.IntRange(1, 366), help="How long it is valid."
)
@click.option("--json", "as_json", is_flag=True, help="Everything about it as one JSON object.")
@on_aws
def create(name: str, scopes: tuple[str, ...], days: int, as_json: bool, aws: bool) -> None:
    """Make a token and print it, once: only its hash is kept.

    NAME says what it is for. The token alone goes to standard output, so that it can be put where it is
    needed without being shown.
    """
    made, text = _store(aws=aws).create(name, scopes, timedelta(days=days))
    if as_json:
        say_json(made.shown() | {"state": made.state(utc_now()), "token": text})
        return
    say(text)
    say(
        f"Token {made.token_id} ({', '.join(made.scopes)}) is valid until {isoformat(made.expires_at)}. "
        "Keep it now: it is not shown again.",
        err=True,
    )
    say("Send it as `Authorization: Bearer …`.", err=True)


@token.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@on_aws
def list_(as_json: bool, aws: bool) -> None:
    """List the tokens, the newest last; those that have ended, for 30 days more."""
    now = utc_now()
    found = _store(aws=aws).list()
    for one in found:
        if as_json:
            say_json(one.shown() | {"state": one.state(now)})
            continue
        state = one.state(now)
        say(
            f"{one.token_id}  ",
            Styled(f"{state:<8}", _STYLES[state]),
            f"  {','.join(one.scopes):<10}  until {isoformat(one.expires_at)}  {one.name}",
        )
    if not found and not as_json:
        say("No tokens. Make one: sourcebook token create NAME")


@token.command()
@click.argument("token_id")
@on_aws
def revoke(token_id: str, aws: bool) -> None:
    """Refuse a token from now on. TOKEN_ID is the id that `token list` shows, not the token."""
    revoked = _store(aws=aws).revoke(token_id)
    if revoked is None:
        raise InvalidInput("token_id", token_id[:16], "the id of a token; `sourcebook token list` shows them")
    say(f"Token {revoked.token_id} ({revoked.name}) is refused from now on.")


def _store(*, aws: bool) -> TokenStore:
    from sourcebook.api.tokens import TokenStore

    return TokenStore(Stack.connect(aws=aws).table)
