"""The part of a text that speaks of a target, for engines that label whole texts only."""

from __future__ import annotations

import re
from typing import Final

from sourcebook.sentiment.engines import Target

_ENDS: Final = re.compile(
    r"[;|!?\n]|[.:]\s|\s[-–—]\s|,\s|\s(?:while|whilst|whereas|but|although|though|as|after|when)\s",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"[^\W_]+")

_WORDS_AT_LEAST: Final = 2
"""Words besides the target; a clause with fewer says nothing: "Acme, Globex fall"."""


def clause_of(target: Target) -> str:
    """Return the clause around a target, with as many of the next ones as it takes to say something."""
    text = target.text
    ends = [match.span() for match in _ENDS.finditer(text)]
    begin = max((last for _, last in ends if last <= target.start), default=0)
    stops = [first for first, last in ends if first >= target.end and last > target.end] + [len(text)]
    for stop in stops:
        clause = text[begin:stop]
        rest = text[begin : target.start] + " " + text[target.end : stop]
        if len(_WORD.findall(rest)) >= _WORDS_AT_LEAST:
            return clause.strip()
    # Nothing behind it says more: take what stands before as well.
    begins = [0, *(last for _, last in ends if last <= target.start)]
    return text[begins[max(0, len(begins) - 2)] :].strip()
