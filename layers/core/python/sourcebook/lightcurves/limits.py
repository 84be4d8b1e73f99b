"""Columns that say that the source was not seen, and how faint it could have been seen.

Surveys and observers have many spellings for an upper limit: a flag (``fainterthan``, ``is_limit``,
``nondetection``), the limiting magnitude of the image (``maglim``, ``5sigma_depth``), or one column that is a
flag in some files and a limiting magnitude in others (``limit``, ``upper_limit``). A limit that is missed
becomes a measured magnitude, so every heading that means "limit" counts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple

from sourcebook.errors import InvalidInput
from sourcebook.lightcurves.figures import (
    LIMIT_SIGNS,
    is_blank,
    is_placeholder,
    looks_like_a_number,
    read_number,
    split_sign,
)
from sourcebook.lightcurves.model import WORD_LIMIT

FAINTEST: Final = Decimal(30)
"""Limiting magnitude of the deepest images."""


class LimitKind(StrEnum):
    """What a column says about limits."""

    FLAG_OR_VALUE = "flag or value"
    """Yes or no, or the limiting magnitude (or flux): the cell decides."""
    VALUE = "value"
    """The limiting magnitude or flux of the image, which detections have too."""
    DETECTED = "detected"
    """Yes for a detection, no for an upper limit."""
    LOWER = "lower limit"
    """The source was brighter than this, which no measurement of the table can say."""


class LimitColumn(NamedTuple):
    """A column that means "limit".

    Attributes:
        of_flux: whether its values are fluxes; None when the heading does not say.
    """

    position: int
    heading: str
    kind: LimitKind
    of_flux: bool | None = None


class Limits(NamedTuple):
    """What the columns of one row say about limits.

    Attributes:
        flag: whether the row is an upper limit; None when no column says.
        magnitudes: the limiting magnitudes that are given; those of 3 and 5 sigma may stand side by side.
        fluxes: the limiting fluxes that are given.
        heading: of the column that says it, for messages.
    """

    flag: bool | None = None
    magnitudes: tuple[Decimal, ...] = ()
    fluxes: tuple[Decimal, ...] = ()
    heading: str = ""


YES: Final = frozenset(
    {"1", "true", "yes", "y", "t", "u", "ul", "x", "on", ".true.", "limit", "limiting", "lim", "fainter"}
    | {"ja", "oui", "si", "sí", "sì", "sim", "tak", "ano", "да", "是", "はい", "예"}
)
NO: Final = frozenset(
    {"0", "false", "no", "n", "f", "=", "off", ".false.", "detection", "detected", "det", "measured"}
    | {"nein", "non", "não", "nie", "ne", "нет", "否", "いいえ", "아니오"}
)
NOT_SEEN: Final = frozenset(
    """
    fainterthan upperlimit upperlim uplim ulim ul limit lim limitingmagnitude limitingmag limitmag limmag
    maglimit maglim nondetection nondetected nondet notdetected notdetect nodetection undetected notseen
    invisible
    """.split()
)
"""Words, without what separates them, that mean an upper limit in whichever column they stand."""

_NOT_A_LIMIT: Final = frozenset(
    """
    err error errors unc uncertainty sat saturation saturated bright delimiter optical eclipse transit well
    bit focus field ra dec time seeing airmass
    """.split()
)
_LIMIT: Final = re.compile(
    r"faint(?:er)?th[ae]n|^(?:is)?fainter|limit|up(?:per)?_?lim|ulim|^(?:is)?upper(?:flag|mag)?$|upperl"
    r"|non?_?det|not_?det|undet|notseen|notvisible|invisible|censor"
    r"|grenz|schwacher|nichtgesehen|plusfaible|masdebil|piudebole|nonvu|novist"
)
_LIMIT_ELSEWHERE: Final = re.compile(
    r"предел|лимит|слабее|невид|не видн|上限|极限|極限|限界|未检出|未検出|한계"
)
"""The same in scripts whose words are no letters of `words_of`."""
_LIMIT_WORDS: Final = frozenset({"ul", "uls", "lim", "lims"})
_LIMIT_NAMES: Final = frozenset({"lmag", "lflux", "lmagnitude", "ulmag", "magul", "ulflag", "isul", "lflag"})
_VALUE: Final = re.compile(
    r"lim(?:it(?:ing)?)?(?:mag|magnitude)|(?:mag|magnitude|psf|diff)lim(?:it)?|^m_?lim|^limm$"
    r"|(?:[35]|three|five)s(?:ig(?:ma)?)?(?:mag|magnitude|lim|limit|depth|ul|$)"
    r"|mag(?:nitude)?[35]s(?:ig(?:ma)?)?|^m[35](?:s(?:ig(?:ma)?)?)?$|limiting(?!flag)"
)
_DEPTH: Final = re.compile(
    r"(?:image|survey|mag|magnitude|limiting|point|source|psf|detection|band|[35]|sigma|five|three)*depth(?:mag)?"
)
_DETECTED: Final = re.compile(r"(?:is)?det(?:ect(?:ed|ion)?)?(?:flag)?")
_LOWER: Final = re.compile(r"lowerlim|brighterthan|lolim")
_FLAG: Final = re.compile(r"^is|flag$|fainter|nondet|censor")


def words_of(heading: str) -> list[str]:
    """Return the words of a heading in lower case; signs and capitals separate them."""
    text = unicodedata.normalize("NFKC", heading).replace("\u03c3", " sigma ").replace("\u03a3", " sigma ")
    text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])", " ", text)
    return re.findall(r"[a-z]+|[0-9]+", apart.casefold())


def joined(text: str) -> str:
    """Return the letters and digits of a text in lower case, with nothing between them."""
    return "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalnum())


@lru_cache(maxsize=4_096)
def limit_kind(heading: str) -> LimitKind | None:
    """Return what a heading says about limits; None if it says nothing."""
    if len(heading) > WORD_LIMIT:
        return None
    words = words_of(heading)
    name = "".join(words)
    if _LIMIT_ELSEWHERE.search(unicodedata.normalize("NFKC", heading).casefold()):
        return LimitKind.FLAG_OR_VALUE
    if _NOT_A_LIMIT & set(words) or not name:
        return LimitKind.FLAG_OR_VALUE if heading.strip() in LIMIT_SIGNS else None
    if _LOWER.search(name):
        return LimitKind.LOWER
    means_limit = bool(_LIMIT.search(name)) or bool(_LIMIT_WORDS & set(words)) or name in _LIMIT_NAMES
    if (_VALUE.search(name) or _DEPTH.fullmatch(name)) and not _FLAG.search(name):
        return LimitKind.VALUE
    if means_limit:
        return LimitKind.FLAG_OR_VALUE
    return LimitKind.DETECTED if _DETECTED.fullmatch(name) else None


def limit_column(position: int, heading: str, unit: str = "") -> LimitColumn | None:
    """Return the column of limits that a heading without its unit means; None if it means none."""
    kind = limit_kind(heading)
    if kind is None:
        return None
    words, unit = words_of(heading), unit.strip().lower()
    of_flux: bool | None = None
    if unit in {"mag", "ab", "vega", "magnitude"} or {"mag", "magnitude"} & set(words):
        of_flux = False
    elif {"flux", "fnu", "flam"} & set(words) or "jy" in unit or unit.startswith(("erg", "w/", "w ")):
        of_flux = True
    return LimitColumn(position, heading.strip(), kind, of_flux)


def says_not_seen(text: str) -> bool:
    """Whether a cell of any column says, and says nothing else, that the source was not seen."""
    return len(text) <= WORD_LIMIT and (text in LIMIT_SIGNS or joined(text) in NOT_SEEN)


def read_limits(columns: Sequence[LimitColumn], cells: Sequence[str], *, flux_only: bool) -> Limits:
    """Read all that a row says about limits; if its table is `flux_only`, one without a unit is of a flux.

    Raises:
        InvalidInput: if a cell is neither a flag nor a limit, or if two columns contradict each other.
    """
    flag: bool | None = None
    magnitudes: list[Decimal] = []
    fluxes: list[Decimal] = []
    heading = first_text = ""
    for column in columns:
        text = cells[column.position].strip()
        if is_blank(text):
            continue
        yes, value = _read_cell(column, text)
        if yes is not None and flag not in {None, yes}:
            expected = f"the same as {heading}, {first_text}: a limit, or a detection"
            raise InvalidInput(column.heading, text, expected)
        flag = yes if yes is not None else flag
        heading, first_text = heading or column.heading, first_text or text
        if value is None:
            continue
        of_flux = flux_only if column.of_flux is None else column.of_flux
        if value <= 0 or (not of_flux and value > FAINTEST):
            expected = "a limiting flux above 0" if of_flux else f"a limiting magnitude up to {FAINTEST}"
            raise InvalidInput(column.heading, text, f"{expected}, or yes or no")
        (fluxes if of_flux else magnitudes).append(value)
    return Limits(flag, tuple(magnitudes), tuple(fluxes), heading)


def _read_cell(column: LimitColumn, text: str) -> tuple[bool | None, Decimal | None]:
    """Return the flag, or the limit, that a cell gives."""
    word = text.casefold()
    sign, rest = split_sign(text)
    number = read_number(column.heading, rest) if looks_like_a_number(rest) else None
    if number is None:
        flag = True if word in YES or says_not_seen(text) else False if word in NO else None
    else:
        flag = bool(number) if not sign and number in {0, 1} else None
    if column.kind is LimitKind.LOWER:
        if flag is False:
            return None, None
        raise InvalidInput(column.heading, text, "an upper limit; a lower limit is no measurement")
    if column.kind is LimitKind.VALUE and number is not None and flag is not None:
        if flag:
            raise InvalidInput(column.heading, text, "a limiting magnitude, or yes or no")
        return None, None
    if flag is not None:
        return (not flag if column.kind is LimitKind.DETECTED else flag), None
    if number is None or column.kind is LimitKind.DETECTED:
        raise InvalidInput(column.heading, text, "yes or no, or the limit itself")
    return None, None if is_placeholder(number, shortest=2) or number in {-1, 0} else number
