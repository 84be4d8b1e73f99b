"""Entry point of the `sourcebook` command."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import click

from sourcebook_cli.output import print_traceback, say_error

_COMMANDS = {
    "up": "sourcebook_cli.local:up",
    "down": "sourcebook_cli.local:down",
    "reset": "sourcebook_cli.local:reset",
    "env": "sourcebook_cli.local:env",
    "serve-folder": "sourcebook_cli.local:serve_folder",
    "doctor": "sourcebook_cli.doctor:doctor",
    "completion": "sourcebook_cli.completion:completion",
    "status": "sourcebook_cli.sources:status",
    "sources": "sourcebook_cli.sources:sources",
    "redrive": "sourcebook_cli.redrive:redrive",
    "articles": "sourcebook_cli.articles:articles",
    "events": "sourcebook_cli.decisions:events",
    "decisions": "sourcebook_cli.decisions:decisions",
    "feeds": "sourcebook_cli.feeds:feeds",
    "sentiment": "sourcebook_cli.sentiment:sentiment",
    "subjects": "sourcebook_cli.subjects:subjects",
    "nova": "sourcebook_cli.nova:nova",
    "runs": "sourcebook_cli.runs:runs",
    "workflows": "sourcebook_cli.workflows:workflows",
    "token": "sourcebook_cli.token:token",
    "catalogue": "sourcebook_cli.catalogue:catalogue",
    "spectra": "sourcebook_cli.spectra:spectra",
    "donate": "sourcebook_cli.donate:donate",
    "providers": "sourcebook_cli.providers:providers",
    "photometry": "sourcebook_cli.photometry:photometry",
    "scrape": "sourcebook_cli.scrape:scrape",
    "rates": "sourcebook_cli.rates:rates",
    "observations": "sourcebook_cli.observations:observations",
    "canonical": "sourcebook_cli.canonical:canonical",
    "migrate": "sourcebook_cli.migrate:migrate",
    "alerts": "sourcebook_cli.alerts:alerts",
    "mcp": "sourcebook_cli.assistants:mcp",
    "search": "sourcebook_cli.search:search",
    "export": "sourcebook_cli.export:export",
    "verify": "sourcebook_cli.verify:verify",
    "restore": "sourcebook_cli.restore:restore",
    "pause": "sourcebook_cli.pause:pause",
    "resume": "sourcebook_cli.pause:resume",
}


class _LazyGroup(click.Group):
    """Loads the module of a command when it is used, so that quick commands start quickly."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's own signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        target = _COMMANDS.get(cmd_name)
        if target is None:
            return None
        module, name = target.split(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's own signature
        from sourcebook.errors import SourcebookError

        try:
            return super().invoke(ctx)
        except SourcebookError as error:
            say_error(error)
            sys.exit(1)


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="sourcebook")
@click.option("--profile", help="Profile of your AWS credentials; the stack is then the one on AWS.")
@click.option("--stack", help="Name of the stack on AWS, if it is not SourcebookPipeline.")
@click.pass_context
def main(context: click.Context, profile: str | None, stack: str | None) -> None:
    """Sourcebook: many sources, one record. Operate a deployed stack, local or on AWS.

    Every command works on the local stack; with --aws, or --profile or --stack before the command, on the
    one on AWS.
    """
    sys.excepthook = print_traceback
    context.obj = {"profile": profile, "stack": stack}
