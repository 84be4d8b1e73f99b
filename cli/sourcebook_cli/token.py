"""Bearer tokens of the HTTP API: `token create`, `token list` and `token revoke`."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from sourcebook.clock import isoformat, utc_now
from sourcebook.errors import InvalidInput
from sourcebook_cli.stack import Stack, on_aws

if TYPE_CHECKING:
    from datetime import datetime

    from sourcebook.api.tokens import Token, TokenStore

_COLOURS = {"active": "green", "expired": "yellow", "revoked": "red"}


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
        click.echo(json.dumps({**_public(made, utc_now()), "token": text}, ensure_ascii=False))
        return
    click.echo(text)
    click.echo(
        f"Token {made.token_id} ({', '.join(made.scopes)}) is valid until {isoformat(made.expires_at)}. "
        f"Keep it now: it is not shown again.\n"
        "Send it as `Authorization: Bearer …`.",
        err=True,
    )


@token.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@on_aws
def list_(as_json: bool, aws: bool) -> None:
    """List the tokens, the newest last; those that have ended, for 30 days more."""
    from rich.console import Console
    from rich.markup import escape

    now = utc_now()
    found = _store(aws=aws).list()
    console = Console(highlight=False)
    for one in found:
        if as_json:
            click.echo(json.dumps(_public(one, now), ensure_ascii=False))
            continue
        state = one.state(now)
        console.print(
            f"{one.token_id}  [{_COLOURS[state]}]{state:<8}[/]  {','.join(one.scopes):<10}  "
            f"until {isoformat(one.expires_at)}  {escape(one.name)}"
        )
    if not found and not as_json:
        console.print("No tokens. Make one: sourcebook token create NAME")


@token.command()
@click.argument("token_id")
@on_aws
def revoke(token_id: str, aws: bool) -> None:
    """Refuse a token from now on. TOKEN_ID is the id that `token list` shows, not the token."""
    revoked = _store(aws=aws).revoke(token_id)
    if revoked is None:
        raise InvalidInput("token_id", token_id[:16], "the id of a token; `sourcebook token list` shows them")
    click.echo(f"Token {revoked.token_id} ({revoked.name}) is refused from now on.")


def _store(*, aws: bool) -> TokenStore:
    from sourcebook.api.tokens import TokenStore

    return TokenStore(Stack.connect(aws=aws).table)


def _public(token: Token, now: datetime) -> dict[str, Any]:
    return {
        "token_id": token.token_id,
        "name": token.name,
        "scopes": list(token.scopes),
        "state": token.state(now),
        "created_at": isoformat(token.created_at),
        "expires_at": isoformat(token.expires_at),
        "revoked_at": isoformat(token.revoked_at) if token.revoked_at else None,
    }
