"""`sourcebook completion`: the completion script of a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from sourcebook_cli.output import say_text

_SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(_SHELLS))
def completion(shell: str) -> None:
    """Print the completion script of SHELL.

    For bash: `sourcebook completion bash >> ~/.bashrc`; for zsh `~/.zshrc`; for fish
    `~/.config/fish/completions/sourcebook.fish`.
    """
    from sourcebook_cli.main import main

    found = get_completion_class(shell)
    if found is None:  # click's own list is the one above
        raise click.UsageError(f"no completion for {shell}; expected one of {', '.join(_SHELLS)}")
    say_text(found(main, {}, "sourcebook", "_SOURCEBOOK_COMPLETE").source())
