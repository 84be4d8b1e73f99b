"""FinVADER for comparison: VADER's rules over the two financial lexicons of the package finvader.

The package itself asks NLTK for a download when imported and builds its lexicons anew for each text,
so only its lexicons are taken, and merged as it merges them.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

from sourcebook.sentiment.engines import Label
from sourcebook.sentiment.engines.lexicon import LexiconEngine

SENTIBIGNOMICS_SCALE: Final = 0.1
"""The package's own."""


class FinVaderEngine(LexiconEngine):
    """The lexicon engine with VADER's lexicon widened."""

    name = "finvader"

    def __init__(self) -> None:
        super().__init__()
        analyzer = SentimentIntensityAnalyzer()
        bignomics = _lexicon("SentiBignomics", "lexicon1")
        analyzer.lexicon.update({word: value * SENTIBIGNOMICS_SCALE for word, value in bignomics.items()})
        analyzer.lexicon.update(_lexicon("Henry", "lexicon2"))
        self._analyzer = analyzer

    def label(self, texts: Sequence[str]) -> list[Label]:
        """Label each text, in order."""
        return super().label(texts)


def _lexicon(module: str, function: str) -> dict[str, float]:
    package = importlib.util.find_spec("finvader")
    if package is None or not package.submodule_search_locations:
        raise SystemExit("finvader is not installed: pip install -r training/requirements.txt")
    path = Path(package.submodule_search_locations[0]) / f"{module}.py"
    spec = importlib.util.spec_from_file_location(module, path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} cannot be imported")
    loaded: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    found: dict[str, float] = getattr(loaded, function)()
    return found
