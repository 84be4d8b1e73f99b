"""What a person looks for, read from one line of text.

Words, "phrases", OR between two of them, -not before one, and filters: source:, subject:, tag:, sentiment:,
lang:, since:, until:. All that is asked for must hold; OR binds more closely than the blank does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import permutations
from typing import Final

from sourcebook.clock import parse_iso
from sourcebook.errors import InvalidInput
from sourcebook.search.folding import words

LONGEST: Final = 400
MOST_TERMS: Final = 30
NEWEST: Final = "newest"
RANK: Final = "rank"
ORDERS: Final = (NEWEST, RANK)
FILTERS: Final = ("source", "subject", "tag", "sentiment", "lang")
TIMES: Final = ("since", "until")

_TOKEN: Final = re.compile(
    r"(?:(?P<not>[-−–])(?=[^\s-]))?(?:(?P<field>[A-Za-z]+):(?=\S))?"
    r'(?:"(?P<phrase>[^"]*)(?P<end>"?)|(?P<bare>\||[^\s|]+))'
)
_BRACKETS: Final = re.compile(r'(?P<not>[-−–]|\bNOT )?\((?P<inside>[^()"]*(?:"[^"]*"[^()"]*)*)\)')
_OR: Final = re.compile(r"\bOR\b|\|")
_ALTERNATIVES: Final = re.compile(r'\s*(?:"[^"]*"|[^\s"|]+)(?:\s*(?:\bOR\b|\|)\s*(?:"[^"]*"|[^\s"|]+))*\s*')
_AGO: Final = re.compile(r"(\d{1,4})([mhdw])", re.ASCII)
_UNITS: Final = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_SEVERAL: Final = frozenset({"source", "sentiment", "lang"})
_OR_EXPECTED: Final = "OR between two things that are looked for"
_NO_BRACKETS: Final = (
    "no brackets: OR binds its neighbours before the blank does, and - stands before each word"
)
_TIME_EXPECTED: Final = "a time with its zone, a date such as 2026-11-27, or how long ago, such as 24h or 7d"


@dataclass(frozen=True, slots=True)
class SearchTerm:
    """One thing that is asked for.

    Attributes:
        field: one of `FILTERS`, or empty for words of the headline or the text.
        values: the values of a filter as they were written, any of which will do; or folded words.
        negated: whether it must not hold.
        written: what an article must have besides, folded, where marks make another word: C++, C#, .NET.
    """

    field: str
    values: tuple[str, ...]
    negated: bool = False
    written: str = ""

    @property
    def is_word(self) -> bool:
        """Whether it is one word, and neither more nor something else."""
        return not self.field and not self.written and len(self.values) == 1


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked for.

    Attributes:
        groups: all must hold, and of each at least one term.
        since: first moment, included.
        until: last moment, excluded.
    """

    groups: tuple[tuple[SearchTerm, ...], ...] = ()
    since: datetime | None = None
    until: datetime | None = None

    @property
    def phrases(self) -> list[tuple[str, ...]]:
        """Words and phrases that are looked for, by which what is found is ranked."""
        return [term.values for group in self.groups for term in group if not term.field and not term.negated]


def parse(text: str, now: datetime) -> Query:
    """Return the query that a text is.

    Raises:
        InvalidInput: naming `q`, and what in it is wrong.
    """
    if len(text) > LONGEST:
        raise InvalidInput("q", text, f"at most {LONGEST} characters")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise InvalidInput("q", text, "a text of whole Unicode characters")
    plain = text.translate(_QUOTES)
    for found in _BRACKETS.finditer(plain):
        # Without OR, and round the words that OR joins anyway, brackets change nothing.
        if found["not"] or (_OR.search(plain) and not _ALTERNATIVES.fullmatch(found["inside"])):
            raise InvalidInput("q", text, _NO_BRACKETS)
    return _Reader(text, now).query()


@dataclass(slots=True)
class _Reader:
    """Reads a query from left to right.

    Attributes:
        open: whether the last thing was OR.
        last: whether the last thing was a term, which OR may follow.
    """

    text: str
    now: datetime
    groups: list[tuple[SearchTerm, ...]] = field(default_factory=list)
    times: dict[str, datetime] = field(default_factory=dict)
    open: bool = False
    last: bool = False

    def query(self) -> Query:
        """Return what the text asks for; raises `InvalidInput` if it is not whole, too long or empty."""
        negated = False
        for found in _TOKEN.finditer(self.text.translate(_QUOTES)):
            bare, name = found["bare"], (found["field"] or "").lower()
            if bare is None and not found["end"]:
                raise InvalidInput("q", self.text, "a quotation mark at the end of the phrase too")
            if not name and bare in {"OR", "|"}:
                self._take_or()
            elif not name and bare in {"AND", "NOT"}:
                negated = bare == "NOT"
            else:
                value = found["phrase"] if bare is None else bare
                if name in TIMES:
                    self._take_time(name, value, negated=negated or bool(found["not"]))
                elif term := _term(self.text, name, value):
                    self._take_term(replace(term, negated=negated != bool(found["not"])))
                negated = False
        if self.open:
            raise InvalidInput("q", self.text, _OR_EXPECTED)
        if sum(map(len, self.groups)) > MOST_TERMS:
            raise InvalidInput("q", self.text, f"at most {MOST_TERMS} words, phrases and filters")
        if not self.groups and not self.times:
            raise InvalidInput("q", self.text, 'words, "phrases" or filters such as source:harbor-ledger')
        groups = tuple(one for group in self.groups for one in _with_other_writings(group))
        return Query(groups, self.times.get("since"), self.times.get("until"))

    def _take_or(self) -> None:
        if self.open or not self.last:
            raise InvalidInput("q", self.text, _OR_EXPECTED)
        self.open = True

    def _take_time(self, name: str, value: str, *, negated: bool) -> None:
        if negated:
            raise InvalidInput("q", self.text, f"{name}: without - before it")
        if self.open or name in self.times:
            raise InvalidInput("q", self.text, f"{name}: once, and not beside OR")
        self.times[name] = moment(name, value, self.now)
        self.last = False

    def _take_term(self, term: SearchTerm) -> None:
        before = self.groups.pop() if self.open else ()
        self.groups.append((*before, term))
        self.open, self.last = False, True


def moment(name: str, text: str, now: datetime) -> datetime:
    """Return the moment that a time, a date or a time ago means.

    Raises:
        InvalidInput: if it is none of them.
    """
    if ago := _AGO.fullmatch(text.lower()):
        return now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
    try:
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text, re.ASCII):
            return datetime.combine(date.fromisoformat(text), time.min, tzinfo=UTC)
        return parse_iso(text)
    except (ValueError, OverflowError) as error:
        raise InvalidInput(name, text, _TIME_EXPECTED) from error


def _term(text: str, name: str, value: str) -> SearchTerm | None:
    """Return the term that a value is, without or with a filter's name; None for marks alone."""
    if not name:
        if (filtered := value.lower().rstrip(":")) in (*FILTERS, *TIMES) and value.endswith(":"):
            raise InvalidInput("q", text, f"{filtered}: and its value without a blank between them")
        if value.endswith("*") and value[:-1].isalnum():
            raise InvalidInput("q", text, f"whole words: {value} is the beginning of one")
        found = tuple(words(value))
        written = value.casefold() if _MARKED.fullmatch(value) else ""
        return SearchTerm("", found, written=written) if found else None
    if name not in FILTERS:
        known = ", ".join(f"{one}:" for one in (*FILTERS, *TIMES))
        quoted = f"put {name}:{value[:20]} into quotation marks to look for it as words"
        raise InvalidInput("q", text, f"only the filters {known}; {quoted}")
    return SearchTerm(name, several(value) if name in _SEVERAL else (value,))


def several(text: str) -> tuple[str, ...]:
    """Return values with commas between them."""
    return tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def _with_other_writings(group: tuple[SearchTerm, ...]) -> Iterator[tuple[SearchTerm, ...]]:
    """Yield what a group asks for, with US also as U.S., 3000 also as 3,000, and the other way round."""
    others = tuple(
        replace(term, values=values)
        for term in group
        if not term.field
        for values in _other_writings(" ".join(term.values))
    )
    if len(group) == 1 and group[0].negated:
        yield from ((term,) for term in (*group, *others))
    else:
        yield (*group, *(term for term in others if not term.negated))


def _other_writings(words: str) -> Iterator[tuple[str, ...]]:
    for one, other in _INITIALS:
        if one in f" {words} ":
            yield tuple(f" {words} ".replace(one, other).split())
    if _THOUSANDS.fullmatch(words):
        yield (words.replace(" ", ""),)
    elif _NUMBER.fullmatch(words):
        yield tuple(f"{int(words):,}".split(","))


_MARKED: Final = re.compile(r"[A-Za-z]\w*[+#]+|\.[A-Za-z]{2,}", re.ASCII)
_THOUSANDS: Final = re.compile(r"[1-9]\d{0,2}(?: \d{3})+", re.ASCII)
_NUMBER: Final = re.compile(r"(?!19\d\d$|20\d\d$)[1-9]\d{3,11}", re.ASCII)
"""A number of four digits or more that is no year."""
_INITIALS: Final = tuple(
    pair
    for name in ("us", "uk", "eu", "un", "usa")
    for pair in permutations((f" {name} ", f" {' '.join(name)} "))
)
_QUOTES: Final = str.maketrans(dict.fromkeys("“”„«»「」『』＂", '"') | {"\u3000": " "})
