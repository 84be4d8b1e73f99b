"""`sourcebook mcp`: a Model Context Protocol server, which lets an assistant read a stack."""

from __future__ import annotations

import os

import click

from sourcebook_cli.output import say
from sourcebook_cli.stack import Stack, on_aws

_LOOPBACK = "127.0.0.1"


@click.command()
@click.option("--url", help="Address of the API; SOURCEBOOK_URL, or else the stack, if it is not given.")
@click.option("--http", "port", type=click.IntRange(1, 65_535), help="Serve HTTP on this port, not stdio.")
@on_aws
def mcp(url: str | None, port: int | None, aws: bool) -> None:
    """Serve tools that read this stack to an assistant, by the Model Context Protocol.

    On stdio, for a program that starts this command; with --http, stateless, at http://127.0.0.1:PORT/mcp.
    A stack whose reading is not open needs a token in SOURCEBOOK_TOKEN (`sourcebook token create`).
    """
    try:
        from sourcebook_cli.mcp_tools import server
    except ModuleNotFoundError as error:
        raise click.ClickException(f"{error.name} is not installed: pip install 'sourcebook[mcp]'") from error
    from sourcebook.client import AsyncClient

    address = url or os.environ.get("SOURCEBOOK_URL") or Stack.connect(aws=aws).api_url
    serving = server(AsyncClient(address, os.environ.get("SOURCEBOOK_TOKEN") or None))
    if port is None:
        serving.run()
        return
    say(f"Serving {address} at http://{_LOOPBACK}:{port}/mcp", err=True)
    # On loopback alone: whoever reaches it reads with this token. The SDK checks the Host there.
    serving.run("streamable-http", host=_LOOPBACK, port=port, stateless_http=True, json_response=True)
