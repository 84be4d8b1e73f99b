"""Sentiment without a stack: `sentiment label` labels each line of a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TextIO, TypeVar

import click

from sourcebook.sentiment.engines import Label, Target
from sourcebook_cli.output import say_json, say_row
from sourcebook_cli.reanalyze import reanalyze

_AT_ONCE = 256
_COLUMNS = ("start", "end", "text")

_T = TypeVar("_T")


@click.group()
def sentiment() -> None:
    """The sentiment of headlines and subjects."""


sentiment.add_command(reanalyze)


@sentiment.command()
@click.argument("file", type=click.File(encoding="utf-8", errors="replace"))
@click.option(
    "--engine",
    "engine_name",
    type=click.Choice(["model", "fallback", "vader"]),
    default="model",
    show_default=True,
    help="model: the transformer; fallback: n-grams, needs no layer; vader: a lexicon.",
)
@click.option(
    "--targets",
    "of_targets",
    is_flag=True,
    help="FILE is tab-separated, with a header: label what stands from character `start` to `end` of `text`.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, with the names of the scores.")
def label(file: TextIO, engine_name: str, of_targets: bool, as_json: bool) -> None:
    """Label each line of FILE (- for standard input) as positive, neutral or negative.

    Writes one line per text, tab-separated: the label, the confidence from 0 to 1, then the raw scores
    (negative, neutral, positive; vader: negative, neutral, positive, compound). An empty line is neutral.

    With --targets, writes a line for each line of FILE behind its header: the sentiment of its text towards
    the target.
    """
    from sourcebook.errors import InvalidInput
    from sourcebook.sentiment.engines.loading import engine_named
    from sourcebook.sentiment.engines.model import ModelUnavailable

    try:
        engine = engine_named(engine_name)
    except ModelUnavailable as unavailable:
        raise InvalidInput("--engine", engine_name, f"fallback for now. {unavailable}") from unavailable
    if of_targets:
        for targets in _parts(_targets_in(file)):
            _say(
                (
                    (target.text, found)
                    for target, found in zip(targets, engine.label_targets(targets), strict=True)
                ),
                engine.name,
                as_json=as_json,
            )
        return
    for texts in _parts(line.rstrip("\r\n") for line in file):
        _say(zip(texts, engine.label(texts), strict=True), engine.name, as_json=as_json)


def _targets_in(file: TextIO) -> Iterator[Target]:
    """Yield the target of each line of a table with the columns `start`, `end` and `text`, in any order.

    Raises:
        InvalidInput: if a column is missing, or a line names no place in its text.
    """
    from sourcebook.errors import InvalidInput

    names = next(file, "").rstrip("\r\n").split("\t")
    if missing := [name for name in _COLUMNS if name not in names]:
        raise InvalidInput("header", "\t".join(names), f"a column {missing[0]}, with {', '.join(_COLUMNS)}")
    for number, line in enumerate(file, start=2):
        if not line.strip():
            continue
        row = dict(zip(names, line.rstrip("\r\n").split("\t"), strict=False))
        try:
            yield Target(row["text"], int(row["start"]), int(row["end"]))
        except (KeyError, ValueError) as error:
            raise InvalidInput(
                f"line {number}", line.rstrip("\r\n"), "two whole numbers and a text"
            ) from error
        except InvalidInput as error:
            raise InvalidInput(f"line {number}", f"{row['start']}, {row['end']}", error.expected) from error


def _say(labelled: Iterable[tuple[str, Label]], engine: str, *, as_json: bool) -> None:
    for text, found in labelled:
        if as_json:
            say_json(_as_json(text, found, engine))
        else:
            say_row(_as_row(found))


def _parts(texts: Iterator[_T]) -> Iterator[list[_T]]:
    while part := list(islice(texts, _AT_ONCE)):
        yield part


def _as_row(found: Label) -> list[str]:
    return [found.sentiment, f"{found.confidence:.4f}", *(f"{v:.4f}" for v in found.scores.values())]


def _as_json(text: str, found: Label, engine: str) -> dict[str, object]:
    return {
        "label": found.sentiment,
        "confidence": found.confidence,
        "polarity": found.polarity,
        "scores": dict(found.scores),
        "engine": engine,
        "text": text,
    }
