"""Subjects: `subjects load`, `subjects list`, and `subjects find`, which works without a stack."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sourcebook.errors import InvalidInput
from sourcebook.records.subject import Subject
from sourcebook.sentiment.subjects import (
    RegistrationOutcome,
    SubjectRegistry,
    default_subjects,
    parse_subjects,
)
from sourcebook_cli.output import say, say_json
from sourcebook_cli.stack import Stack, on_aws

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group()
def subjects() -> None:
    """Subjects of sentiment: coding tools, companies, your own topics."""


@subjects.command()
@click.argument("file", type=_FILE, required=False)
@on_aws
def load(file: Path | None, aws: bool) -> None:
    """Add the subjects of a YAML or JSON FILE, or bring known ones up to date; the default list without FILE.

    Articles that were analyzed before keep the subjects they had: `sourcebook sentiment reanalyze TOOL
    --all-articles` looks for a subject in them.
    """
    declared = read_subjects(file) if file else default_subjects()
    outcome = Counter(SubjectRegistry(Stack.connect(aws=aws).table).register(declared).values())
    say(
        f"{outcome[RegistrationOutcome.ADDED]} subjects added, "
        f"{outcome[RegistrationOutcome.CHANGED]} changed, "
        f"{outcome[RegistrationOutcome.UNCHANGED]} as they were."
    )


@subjects.command("list")
@on_aws
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def list_subjects(aws: bool, as_json: bool) -> None:
    """List every subject; retired ones last."""
    registry = SubjectRegistry(Stack.connect(aws=aws).table)
    ids = [id_ for active in (True, False) for id_ in registry.list_ids(active=active)]
    found = registry.get_many(ids)
    for subject in (found[id_] for id_ in ids if id_ in found):
        if as_json:
            say_json(subject.shown())
        else:
            state = "" if subject.active else " (retired)"
            say(f"{subject.tool_id:<24} {subject.kind:<8} {subject.name}{state}")


@subjects.command()
@click.argument("headline")
@click.option(
    "--subjects", "file", type=_FILE, help="A YAML or JSON file of subjects, instead of the default list."
)
def find(headline: str, file: Path | None) -> None:
    """Print the ids of the subjects that a HEADLINE mentions, one a line. Needs no stack."""
    from sourcebook.sentiment.matching import Matcher

    for tool_id in Matcher(read_subjects(file) if file else default_subjects()).find(headline):
        say(tool_id)


def read_subjects(path: Path) -> list[Subject]:
    """Read the subjects of a YAML or JSON file.

    Raises:
        InvalidInput: naming the file, the entry and the field that is wrong.
    """
    import yaml

    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InvalidInput(
            "file", str(path), f"a YAML or JSON file in UTF-8 that can be read ({error})"
        ) from error
    return parse_subjects(content)


def load_default(stack: Stack, say: Callable[[str], None], more: Sequence[Subject] = ()) -> None:
    """Load the default list and further subjects into a new stack."""
    outcome = Counter(SubjectRegistry(stack.table).register([*default_subjects(), *more]).values())
    say(f"{outcome.total()} subjects loaded, {outcome[RegistrationOutcome.ADDED]} of them new")
