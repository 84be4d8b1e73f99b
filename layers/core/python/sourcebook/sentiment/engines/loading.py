"""Choosing the engine: the one asked for, or the fallback when that cannot be had."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sourcebook.errors import InvalidInput
from sourcebook.sentiment.engines import SentimentEngine
from sourcebook.sentiment.engines.fallback import FallbackEngine
from sourcebook.sentiment.engines.model import ModelEngine, ModelUnavailable

SENTIMENT_ENGINE: Final = "SENTIMENT_ENGINE"
"""The environment variable that names the engine; `model` unless set."""

MODEL: Final = "model"
FALLBACK: Final = "fallback"
VADER: Final = "vader"
COMPREHEND: Final = "comprehend"
ENGINES: Final = (MODEL, FALLBACK, VADER, COMPREHEND)
"""Names of engines; docs/sentiment.md says what each is for."""


@dataclass(frozen=True, slots=True)
class LoadedEngine:
    """An engine, and why it is not the one asked for.

    Attributes:
        engine: ready to label.
        fallback_reason: what kept the model from being loaded; None when the engine is the one asked for.
    """

    engine: SentimentEngine
    fallback_reason: str | None = None


def load_engine(environ: Mapping[str, str] = os.environ) -> LoadedEngine:
    """Load the engine that the environment names; the fallback if that is the model and it cannot be loaded.

    Raises:
        InvalidInput: if the environment names an engine that does not exist.
    """
    name = environ.get(SENTIMENT_ENGINE) or MODEL
    try:
        return LoadedEngine(engine_named(name))
    except ModelUnavailable as unavailable:
        return LoadedEngine(FallbackEngine(), str(unavailable))


def engine_named(name: str) -> SentimentEngine:
    """Load one engine and no other.

    Raises:
        InvalidInput: if there is none of that name.
        ModelUnavailable: if it is the model and that cannot be loaded here.
    """
    if name == MODEL:
        return ModelEngine()
    if name == FALLBACK:
        return FallbackEngine()
    if name == VADER:
        from sourcebook.sentiment.engines.lexicon import LexiconEngine  # noqa: PLC0415 - comes with a layer

        return LexiconEngine()
    if name == COMPREHEND:
        import boto3  # noqa: PLC0415 - slow to import, and only this engine asks a service

        from sourcebook.sentiment.engines.comprehend import ComprehendEngine  # noqa: PLC0415

        return ComprehendEngine(boto3.client("comprehend"))
    raise InvalidInput(SENTIMENT_ENGINE, name, f"one of {', '.join(ENGINES)}")
