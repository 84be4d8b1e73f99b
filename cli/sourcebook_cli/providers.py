"""The providers of spectra: `providers list`, `providers set`, `providers reset`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sourcebook.errors import InvalidInput
from sourcebook_cli.output import say, say_json
from sourcebook_cli.stack import Stack, on_aws

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sourcebook.spectra.providers.registry import ProviderSpec


@click.group()
def providers() -> None:
    """The providers of spectra and their addresses."""


@providers.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="As a list that `providers set` takes.")
@on_aws
def list_(as_json: bool, aws: bool) -> None:
    """List the providers, disabled ones included."""
    from sourcebook.spectra.providers.registry import all_providers

    specs = all_providers(Stack.connect(aws=aws).table)
    if as_json:
        say_json(_entries(specs), indent=2)
        return
    for spec in specs:
        state = "" if spec.enabled else "  (off)"
        say(f"{spec.provider}  {spec.protocol.value}  {', '.join(spec.addresses)}{state}")


@providers.command(name="set")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@on_aws
def set_(file: Path, aws: bool) -> None:
    """Replace the providers by those of FILE: a JSON list as `providers list --json` prints it."""
    from sourcebook.spectra.providers.registry import read_providers, set_providers

    try:
        entries = json.loads(file.read_text("utf-8"))
    except ValueError as error:
        raise InvalidInput("FILE", file.name, f"a JSON list ({error})") from error
    specs = read_providers(entries)
    set_providers(Stack.connect(aws=aws).table, specs)
    say(f"{len(specs)} providers: {', '.join(spec.provider for spec in specs)}")


@providers.command()
@on_aws
def reset(aws: bool) -> None:
    """Use the built-in providers at their public addresses."""
    from sourcebook.table import keys

    Stack.connect(aws=aws).table.delete(keys.SPECTRA_PROVIDERS)
    say("The built-in providers are asked.")


def _entries(specs: Sequence[ProviderSpec]) -> list[dict[str, object]]:
    return [spec.model_dump(mode="json", exclude_none=True) for spec in specs]
