"""Sentiment without a stack: `sentiment label` says what each line of a file feels like."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TextIO

import click

from sourcebook.sentiment.engines import Label
from sourcebook_cli.output import say_json, say_row
from sourcebook_cli.reanalyze import reanalyze

_AT_ONCE = 256


@click.group()
def sentiment() -> None:
    """What headlines feel like."""


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
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, with the names of the scores.")
def label(file: TextIO, engine_name: str, as_json: bool) -> None:
    """Label each line of FILE (- for standard input) as positive, neutral or negative.

    Writes one line per text, tab-separated: the label, the confidence from 0 to 1, then the raw scores
    (negative, neutral, positive; vader: negative, neutral, positive, compound). An empty line is neutral.
    """
    from sourcebook.errors import InvalidInput
    from sourcebook.sentiment.engines.loading import engine_named
    from sourcebook.sentiment.engines.model import ModelUnavailable

    try:
        engine = engine_named(engine_name)
    except ModelUnavailable as unavailable:
        raise InvalidInput("--engine", engine_name, f"fallback for now. {unavailable}") from unavailable
    texts = (line.rstrip("\r\n") for line in file)
    for part in _parts(texts):
        for text, found in zip(part, engine.label(part), strict=True):
            if as_json:
                say_json(_as_json(text, found, engine.name))
            else:
                say_row(_as_row(found))


def _parts(texts: Iterator[str]) -> Iterator[list[str]]:
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
