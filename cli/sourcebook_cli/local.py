"""The local stack: `up`, `down`, `reset`, `env` and `serve-folder`."""

from __future__ import annotations

import shlex
import shutil
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sourcebook.errors import Terminal
from sourcebook_cli.declarations import read_sources
from sourcebook_cli.first_run import WatchedSources, watch
from sourcebook_cli.output import Styled, say_text
from sourcebook_cli.output import say as say_line
from sourcebook_cli.sample_nova import begin_sample_nova, show_sample_nova
from sourcebook_cli.stack import Stack, running_cloud
from sourcebook_cli.subjects import load_default
from sourcebook_local.project import HOME

if TYPE_CHECKING:
    from sourcebook.sources.model import SourceSpec

_PATIENCE = click.option(
    "--timeout",
    default=300,
    show_default=True,
    help="Seconds to wait until every source was fetched and analyzed.",
)


@click.command()
@click.option(
    "--sources",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="An OPML or YAML file of real sources, instead of the samples.",
)
@_PATIENCE
def up(sources: Path | None, timeout: int) -> None:
    """Start the stack on this machine, load the sources, and watch the first run."""
    from sourcebook_local import process

    HOME.mkdir(parents=True, exist_ok=True)
    waiting = partial(say_line, "Another `make up` is at work here: this one goes on when it has ended.")
    with process.lock(HOME / "up.lock", waiting=waiting):
        _up(sources, timeout)


def _up(sources: Path | None, timeout: int) -> None:
    from sourcebook_local.cloud import LocalCloud
    from sourcebook_local.deploy import deploy
    from sourcebook_local.folder import SERVED_PORTS, start_remembered, start_server
    from sourcebook_local.outputs import write_local_json
    from sourcebook_local.samples import (
        API_KEYS,
        sample_api_sources,
        sample_sources,
        sample_subjects,
        secret_name,
    )
    from sourcebook_local.samples_observations import sample_observation_sources

    begun = time.monotonic()
    specs = read_sources(sources) if sources else []

    def say(line: str) -> None:
        say_line(Styled(f"{time.monotonic() - begun:5.1f}s", "dim"), f"  {line}")

    cloud = LocalCloud(HOME, say=say, loopback_ports=HOME / SERVED_PORTS)
    cloud.start()
    say(f"Embedded cloud ready on {cloud.endpoint_url}")
    deployment = deploy(cloud, say=say)
    say("Stacks deployed" if deployment.deployed else "Stacks unchanged: nothing to synthesize or deploy")
    outputs = deployment.outputs
    write_local_json(HOME / "local.json", cloud, outputs)
    _, failed = start_remembered(HOME)
    for name, reason in failed:
        say_line(Styled(f"The server of {name} did not start: {reason}", "yellow"))
    if not sources:
        server = start_server(HOME)
        secrets = cloud.session().client("secretsmanager")
        for kind, key in API_KEYS.items():
            secrets.put_secret_value(SecretId=secret_name(kind), SecretString=key)
        specs = [*sample_sources(server.url), *sample_api_sources(server.url)]
        specs += sample_observation_sources(server.url)
        say(f"Sample sources served on {server.url}")
    stack = Stack.connect()
    load_default(stack, say, () if sources else sample_subjects())
    watched = _register(stack, specs, say)
    # Workflows mostly wait: the nova's run beside the sources.
    sample_nova = "" if sources else begin_sample_nova(stack, server.url)
    counts = watch(stack, watched, timeout)
    if sample_nova:
        show_sample_nova(stack, sample_nova, server.url, timeout)
    say_line()
    say_line(
        Styled(f"Ready in {time.monotonic() - begun:.0f} s.", "bold"),
        "  API: ",
        Styled(outputs.api_url, "bold"),
    )
    say_line(
        f"{counts.fetched} sources fetched, {counts.entries} entries seen, "
        f"{counts.articles} articles stored, {counts.merged} merged across sources, "
        f"{counts.analyzed} analyzed."
    )
    say_line("Look at it in a browser: ", Styled(f"{outputs.api_url}/", "bold"))
    say_text(
        "\nTry next:\n"
        f"  curl '{outputs.api_url}/articles?sentiment=negative&limit=3'\n"
        f"  curl '{outputs.api_url}/feeds'\n"
        f"  curl '{outputs.api_url}/api/v1/tools?limit=5'\n"
        f"  curl '{outputs.api_url}/latest?series_code=deposit_online&term_months=6'\n"
        f"  curl '{outputs.api_url}/novae?name=Nova+Sco+2012'\n"
        "  .venv/bin/sourcebook nova initialize 'T Coronae Borealis'\n"
        "  .venv/bin/sourcebook status\n"
        "  .venv/bin/sourcebook serve-folder DIR    # your own feed files\n"
        "  make down                                # stops; your data stays for the next `make up`"
    )


@click.command()
def down() -> None:
    """Stop the local stack and keep its data."""
    from sourcebook_local.cloud import LocalCloud
    from sourcebook_local.folder import stop_servers

    stop_servers(HOME)
    cloud = LocalCloud(HOME)
    ran = cloud.running()
    if not cloud.stop():
        raise Terminal(
            "the embedded cloud had to be killed; what came since its last save is lost. "
            "`make up` starts from what was kept."
        )
    if ran:
        say_line(f"Saved: {cloud.saved()}.")
    say_line("Stopped. The data is kept: `make up` goes on with it, `make reset` forgets it.")


@click.command()
def reset() -> None:
    """Stop the local stack and delete its data, but not its builds."""
    from sourcebook_local.cloud import LocalCloud
    from sourcebook_local.folder import SERVED_PORTS, stop_servers

    stop_servers(HOME)
    LocalCloud(HOME).reset()
    for name in ("local.json", "servers.json", SERVED_PORTS):
        (HOME / name).unlink(missing_ok=True)
    shutil.rmtree(HOME / "log", ignore_errors=True)
    say_line("Forgotten. `make up` starts afresh.")


@click.command()
def env() -> None:
    """Print the variables that point the AWS command line at the local stack: `eval "$(sourcebook env)"`.

    They hold the credentials of this stack, which are of use on this machine only.
    """
    for name, value in running_cloud().variables().items():
        say_line(f"export {name}={shlex.quote(value)}")


@click.command("serve-folder")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@_PATIENCE
def serve_folder(folder: Path, timeout: int) -> None:
    """Serve a folder of feed files on this machine, register them as sources, and watch their ingestion.

    The server goes on in the background until `make down`, and comes back with `make up`.
    """
    from sourcebook_local.folder import feeds_in, start_server

    begun = time.monotonic()

    def say(line: str) -> None:
        say_line(Styled(f"{time.monotonic() - begun:5.1f}s", "dim"), f"  {line}")

    running_cloud()
    server = start_server(HOME, folder)
    feeds, skipped = feeds_in(folder, server.url)
    say(f"{len(feeds)} feeds of {folder} served on {server.url}")
    for path, reason in skipped:
        say_line(Styled(f"        left out: {path.name}: {reason}", "dim"))
    if not feeds:
        raise Terminal(f"no feed file in {folder}: expected .xml, .rss, .atom, .rdf or JSON Feed files")
    stack = Stack.connect()
    watched = _register(stack, [spec for _, spec in feeds], say)
    counts = watch(stack, watched, timeout)
    healthy = counts.fetched - counts.failing
    say_line()
    say_line(
        f"{healthy} of {counts.sources} feeds ingested: {counts.entries} entries seen; the table now holds "
        f"{counts.articles} articles, {counts.analyzed} of them analyzed."
    )


def _register(stack: Stack, specs: list[SourceSpec], say: object) -> WatchedSources:
    """Register sources and have them fetched now."""
    registry = stack.registry
    new = sum(registry.register(spec) for spec in specs)
    if callable(say):
        say(f"{len(specs)} sources registered, {new} of them new")
    before = registry.get_many(spec.source_id for spec in specs if spec.enabled)
    stack.dispatch(before)
    return WatchedSources({source_id: source.fetch_count for source_id, source in before.items()})
