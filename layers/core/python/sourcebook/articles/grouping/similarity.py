"""Whether two headlines are about one event: near-duplicate words, and no disagreement on who and how much.

Words alone are not enough. "Avnet price target raised" and "Broadcom price target raised" share all words
but one, and that one is the story. So names, tickers, numbers, dates, direction and negation must agree
first; only then does it count how many words two headlines share. Where something is uncertain, it is
uncertain towards two events: an event shown twice costs less than two stories taken for one.

Pure functions of the standard library: the same two headlines always get the same answer.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from sourcebook.articles._preparation import prepare
from sourcebook.articles._publishers import publisher_forms
from sourcebook.articles._signature import signature_of
from sourcebook.articles.grouping.words import (
    CALENDAR,
    COMMON,
    COUNTING,
    DOWN,
    FORTHCOMING,
    NEGATIONS,
    NUMBER_WORDS,
    ONE_NAME,
    OPENS_OR_CLOSES,
    ORDINALS,
    SAME,
    STAGES,
    STOP,
    UP,
    VARIANTS,
)

_SHARED_AT_LEAST: Final = 3
"""Words that two headlines must share: with fewer, chance would join short ones."""
_ALIKE: Final = 0.5
"""Jaccard index of the words from which two headlines are near-duplicates, if they share a name …"""
_ALIKE_WITHOUT_NAME: Final = 0.65
"""… and if they share none."""
_CONTAINED: Final = 0.8
"""Share of the shorter headline's words that the longer one must hold, if it reports the same and more …"""
_CONTAINED_ALIKE: Final = 0.33
"""… and the Jaccard index that this takes at least."""
_TITLE_CASE: Final = 0.81
"""Share of capitalised words from which capitals say nothing about names."""
_LONGEST: Final = 400
"""Characters of a headline that are compared."""

_SCALES: Final = {
    "thousand": 1e3, "k": 1e3, "million": 1e6, "mln": 1e6, "mn": 1e6, "m": 1e6,
    "billion": 1e9, "bln": 1e9, "bn": 1e9, "b": 1e9, "trillion": 1e12, "trn": 1e12, "tn": 1e12,
}  # fmt: skip
_UNITS: Final = {
    "%": "%", "percent": "%", "pct": "%", "per cent": "%", "bps": "bp", "bp": "bp", "basis points": "bp",
}  # fmt: skip
_CURRENCIES: Final = {"us$": "$", "usd": "$", "eur": "€", "gbp": "£", "jpy": "¥"}

_QUANTITY = re.compile(
    r"""
    (?<![\w.,])
    (?P<sign>[-−–](?=[$€£¥\d.]))?
    (?P<currency>us\$|usd|eur|gbp|jpy|[$€£¥₹₩])?\s?
    (?P<number>\d[\d,]*(?:\.\d+)?|\.\d+)
    (?:[\s-]?(?P<scale>thousand|million|mln|mn|billion|bln|bn|trillion|trn|tn|[kmb])(?!\w))?
    \s?(?P<unit>%|percent(?!\w)|pct(?!\w)|per\ cent(?!\w)|basis\ points|bps?(?!\w))?
    (?!\w)
    """,
    re.VERBOSE,
)
_RANGE = re.compile(r"(?<=\d)\s?[-–—/:](?=\d)")
_QUARTER = re.compile(
    rf"\b({'|'.join(ORDINALS)})[ -](?:fiscal[ -])?quarter\b|\b(?:q([1-4])|([1-4])q)(?:[ ']?fy)?\b"
)
_WORD = re.compile(r"[^\W_]+")
_WORDS_OF_ORIGINAL = re.compile(r"[^\W\d_][\w'’.&-]*")
_POSSESSIVE = re.compile(r"['’]s\b|(?<=s)['’](?!\w)")
_UNITED_STATES = re.compile(r"(?<![\w.$(])U\.?S\.?(?![\w$)])")
_TICKER = re.compile(r"\$([A-Z]{1,5})(?![A-Za-z])|\((?:[A-Z]+:\s?)?([A-Z]{2,5})\)")
"""A ticker as headlines write it: "$NFLX", "(NFLX)", "(NASDAQ: NFLX)"."""
_APOSTROPHE = re.compile(r"(?<=\w)['’](?=\w)")
_WITHOUT_SPACES = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
)
"""Scripts that put no spaces between words (Thai, Lao, Burmese, Khmer, kana, ideographs)."""

Quantity = tuple[float, str]
"""Value and unit ("%", "bp", a currency, or nothing)."""


@dataclass(frozen=True, slots=True)
class HeadlineProfile:
    """The facts of a headline, in the form in which headlines are compared.

    Attributes:
        words: stems of the words that carry something, in the order of their first occurrence.
        names: those among them that may be names.
        quantities: numbers with their units.
        codes: what mixes letters and digits, quarters, days and months.
        marked: words whose meaning is in their punctuation (C++, Disney+), and variants ("17 Pro").
        tickers: symbols that sources gave; those in the headline itself if they gave none.
        direction: 1 if it reports more or better, -1 if less or worse, 0 if of neither or both.
        negated: whether it holds a negation.
        forthcoming: whether it tells of what has not happened yet.
        passive: whether it holds "by", which turns the order of names.
    """

    words: tuple[str, ...]
    names: frozenset[str]
    quantities: frozenset[Quantity]
    codes: frozenset[str]
    marked: frozenset[str]
    tickers: frozenset[str]
    direction: int
    negated: bool
    forthcoming: bool
    passive: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of comparing two headlines.

    Attributes:
        same_event: whether they are about one event.
        compatible: whether nothing in them speaks against it.
        likeness: Jaccard index of their words, 0 to 1.
        reason: in words, for the log and for whoever asks.
    """

    same_event: bool
    compatible: bool
    likeness: float
    reason: str


def profile(headline: str, *, tickers: Iterable[str] = (), publishers: Iterable[str] = ()) -> HeadlineProfile:
    """Return what a headline says.

    Args:
        headline: as its source gave it.
        tickers: symbols that sources gave for the article.
        publishers: names that may stand in the headline as its publisher's.
    """
    given = _UNITED_STATES.sub("USA", headline[:_LONGEST])
    text = prepare(given, publisher_forms(tuple(name for name in publishers if name)))
    marked = frozenset(token for token in signature_of(text).split() if any(c.isalpha() for c in token))
    marked |= set(VARIANTS.findall(text))
    forthcoming = FORTHCOMING.search(text) is not None
    quantities, codes, text = _numbers(_WITHOUT_SPACES.sub(r" \g<0> ", text))
    words, names = _words(text, given)
    codes |= {"opening" if found[1] else "closing" for found in OPENS_OR_CLOSES.finditer(text)}
    tokens = set(_WORD.findall(OPENS_OR_CLOSES.sub("", text)))
    rising, falling = bool(tokens & UP), bool(tokens & DOWN)
    return HeadlineProfile(
        words=words,
        names=names,
        quantities=quantities,
        codes=codes | (tokens & (CALENDAR | COUNTING | STAGES)),
        marked=marked,
        tickers=frozenset(ticker.upper() for ticker in tickers)
        or frozenset(a or b for a, b in _TICKER.findall(given)),
        direction=rising - falling,
        negated=bool(tokens & NEGATIONS) or "n't" in text,
        forthcoming=forthcoming,
        passive="by" in tokens,
    )


def compare(one: HeadlineProfile, other: HeadlineProfile) -> Comparison:
    """Return whether two headlines are about one event. The order of the two makes no difference."""
    ours, theirs = set(one.words), set(other.words)
    shared = ours & theirs
    likeness = len(shared) / len(ours | theirs) if shared else 0.0
    if conflict := _conflict(one, other):
        return Comparison(same_event=False, compatible=False, likeness=likeness, reason=conflict)
    smaller = min(len(ours), len(theirs))
    if len(shared) < min(_SHARED_AT_LEAST, max(smaller, 2)):
        reason = f"only {len(shared)} words in common"
        return Comparison(same_event=False, compatible=True, likeness=likeness, reason=reason)
    contained = len(shared) / smaller
    has_name = bool(shared & (one.names | other.names)) or bool(one.tickers & other.tickers)
    if has_name:
        same = likeness >= _ALIKE or (contained >= _CONTAINED and likeness >= _CONTAINED_ALIKE)
    else:
        # Without a name, what was exchanged may be what the story is about.
        same = likeness >= _ALIKE_WITHOUT_NAME or (contained == 1 and likeness >= _ALIKE)
    reason = f"{len(shared)} words in common, likeness {likeness:.2f}"
    return Comparison(same_event=same, compatible=True, likeness=likeness, reason=reason)


def names_in(headline: str) -> tuple[str, ...]:
    """Return what may be names in a headline, as it writes them, in their order.

    Only a headline whose capitals say something has any: one In Title Case has none.
    """
    capitals = _Capitals.of(headline)
    if not capitals.mark_names:
        return ()
    words = _WORDS_OF_ORIGINAL.findall(_POSSESSIVE.sub("", unicodedata.normalize("NFKC", headline)))
    found = [
        word
        for position, word in enumerate(words)
        if word[0].isupper()
        and word.lower() not in STOP
        and (position > 0 or word.lower() not in COMMON)
        and word.lower() not in CALENDAR
    ]
    return tuple(dict.fromkeys(found))


def _conflict(one: HeadlineProfile, other: HeadlineProfile) -> str:
    """Return what two headlines disagree about; empty if about nothing."""
    if one.tickers and other.tickers and not one.tickers & other.tickers:
        return "other tickers"
    if not _agree(one.quantities, other.quantities):
        return "other numbers"
    if one.codes - other.codes and other.codes - one.codes:
        return "other dates, quarters or designations"
    if one.marked != other.marked:
        return "other words in their punctuation"
    if one.direction * other.direction < 0:
        return "opposite directions"
    if one.negated != other.negated:
        return "one of them negates"
    if one.forthcoming != other.forthcoming:
        return "one of them is of what has not happened yet"
    ours, theirs = set(one.words), set(other.words)
    if (only_ours := one.names - theirs) and (only_theirs := other.names - ours):
        return f"other names: {', '.join(sorted((min(only_ours), min(only_theirs))))}"
    if ours and theirs and one.words[0] not in theirs and other.words[0] not in ours:
        return f"other subjects: {', '.join(sorted((one.words[0], other.words[0])))}"
    shared_names = one.names & other.names
    if one.passive == other.passive and len(shared_names) > 1:
        first_ours, first_theirs = (
            next(word for word in each.words if word in shared_names) for each in (one, other)
        )
        if first_ours != first_theirs:
            return "the names in another order"
    return ""


def _agree(ours: frozenset[Quantity], theirs: frozenset[Quantity]) -> bool:
    """Whether the numbers of one headline all stand in the other; a unit may be left out."""

    def has(quantities: frozenset[Quantity], wanted: Quantity) -> bool:
        value, unit = wanted
        return any(value == v and (unit == u or not unit or not u) for v, u in quantities)

    fewer, more = sorted((ours, theirs), key=len)
    return all(has(more, quantity) for quantity in fewer)


def _numbers(text: str) -> tuple[frozenset[Quantity], frozenset[str], str]:
    """Take the numbers and quarters out of a prepared headline."""
    codes: set[str] = set()
    quantities: set[Quantity] = set()

    def quarter(match: re.Match[str]) -> str:
        codes.add(f"q{ORDINALS[match[1]] if match[1] else match[2] or match[3]}")
        return " "

    def quantity(match: re.Match[str]) -> str:
        value = float(match["number"].replace(",", "") or 0) * _SCALES.get(match["scale"] or "", 1)
        unit = _UNITS.get(match["unit"] or "") or _CURRENCIES.get(
            match["currency"] or "", match["currency"] or ""
        )
        quantities.add((round(-value if match["sign"] else value, 6), unit))
        return " "

    text = _QUARTER.sub(quarter, text)
    spelled = re.sub(rf"\b({'|'.join(NUMBER_WORDS)})\b", lambda match: NUMBER_WORDS[match[1]], text)
    text = _QUANTITY.sub(quantity, _RANGE.sub(" ", spelled))
    codes |= {token for token in _WORD.findall(text) if any(c.isdigit() for c in token)}
    return frozenset(quantities), frozenset(codes), text


def _words(text: str, given: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the stems of a headline's words, and those that may be names."""
    text = _APOSTROPHE.sub("", _POSSESSIVE.sub("", text))
    for phrase, short in ONE_NAME:
        text = text.replace(phrase, f" {short} ")
    capitals = _Capitals.of(given)
    stems: dict[str, None] = {}
    names: set[str] = set()
    for position, token in enumerate(_WORD.findall(text)):
        if token in STOP or (len(token) == 1 and token.isascii()):
            continue
        stem = _stem(token)
        stems.setdefault(stem)
        if capitals.may_be_name(token, is_first=position == 0):
            names.add(stem)
    return tuple(stems), frozenset(names)


@dataclass(frozen=True, slots=True)
class _Capitals:
    """The words with a capital letter in a headline, and whether capitals mark names in it."""

    capitalised: frozenset[str]
    mark_names: bool

    @classmethod
    def of(cls, headline: str) -> _Capitals:
        headline = unicodedata.normalize("NFKC", headline)
        words = [_POSSESSIVE.sub("", word) for word in _WORDS_OF_ORIGINAL.findall(headline)]
        words = [part for word in words for part in re.split(r"[-.&'’]", word) if part]
        counted = [word for word in words if word.lower() not in STOP]
        upper = [word for word in counted if word[0].isupper()]
        some_lower = any(word[0].islower() for word in counted)
        mark_names = bool(upper) and some_lower and len(upper) / len(counted) < _TITLE_CASE
        return cls(frozenset(word.lower() for word in words if word[0].isupper()), mark_names)

    def may_be_name(self, token: str, *, is_first: bool) -> bool:
        if token in CALENDAR:
            return False
        if self.mark_names and not is_first and token[0].lower() != token[0].upper():
            return token in self.capitalised
        return token not in COMMON


_SUFFIXES: Final = (("ies", "y"), ("ings", ""), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""), ("e", ""))


def _stem(token: str) -> str:
    """Return a word without the ending that its place in the sentence gives it."""
    if token in SAME:
        return SAME[token]
    if not token.isascii() or len(token) < 5:
        return token
    for suffix, instead in _SUFFIXES:
        if token.endswith(suffix) and len(token) - len(suffix) >= 3 and not token.endswith("ss"):
            return token[: -len(suffix)] + instead
    return token
