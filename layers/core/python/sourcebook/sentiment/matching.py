"""Which subjects a text speaks of.

Names are looked up token by token in a trie, the longest first, so the cost depends on the length of the
text and hardly on the number of names. How much a name proves depends on the name:

- `$TICKER`, every symbol of a list behind an exchange (``NYSE: T, V``), and names of several words always
  count. A class of shares (BRK.A, BRK-B) is its company's. One letter behind a foreign exchange proves
  nothing: T is one company in New York and another one in Toronto;
- a single distinctive word counts however it is written, and so does a tool's name of several words; a
  company's has its capitals, unless the text has none at all ("the best buy of the year");
- an abbreviation in capitals, and a bare ticker of three characters or more, count when written so; a bare
  ticker of one or two letters never does. One that is a word as well is in brackets, beside another one, or
  before "stock";
- a word that means something else as well ("Target", "Apple", "Cursor") counts only when it is written as the
  name is *and* its surroundings speak for the name: what companies do, have and are called, or, for a tool,
  what software is spoken of with.

`excluded` phrases of a subject ("price target") are found like names and hide the names within them.

Names are found without their accents, with the genitive of English and German ("Nvidias"), with Korean
particles, and in Chinese and Japanese, which write no blanks, as runs of characters.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, KeysView, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import islice
from operator import itemgetter
from typing import Final, NamedTuple

from sourcebook.records.article import Article
from sourcebook.records.subject import Subject
from sourcebook.sentiment import _context as context
from sourcebook.sentiment._symbols import SHARE_CLASSES, listed

SUBJECTS_AT_MOST: Final = 10
"""Subjects of one article, in the order of their first appearance; each is an item of its own."""

_BETWEEN: Final = "\n"
"""What parts headline and text where they are judged together."""

_SINGLE: Final = "\u3005\u3007\u3041-\u309f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Characters that stand by themselves: Chinese, and hiragana."""
_KATAKANA: Final = "\u30a1-\u30fa\u30fc-\u30ff"
_LETTER: Final = rf"[^\W_{_SINGLE}{_KATAKANA}]"
_TOKEN: Final = re.compile(
    rf"\$?{_LETTER}+(?:['&.]{_LETTER}+)*[+#]*|[{_SINGLE}]|[{_KATAKANA}]+",
)
_ENDING: Final = re.compile(
    r"(?:'s|(?<=[a-z]{3})[s+]|(?<=[a-z\uac00-\ud7a3]{2})(?:은|는|이|가|을|를|의|에|와|과|도|로|으로|에서|에게))$"
)
"""The genitive, the plus of what a company streams, and Korean particles."""
_BRACKETED: Final = re.compile(r"[(\[]\s?(?:[A-Z]+\s?:\s?)?$")
_CLAUSE_ENDS: Final = frozenset('.:;!?—–|"“”‘(')
_LIST_GAP: Final = re.compile(r"\s*(?:,|&|[/‐‑–-]|and|or|vs\.?|versus|,\s*and)\s*", re.IGNORECASE)
_OTHER_SCRIPT: Final = re.compile("[\u0370-\u1fff\u3041-\ud7a3]{2}")
"""In a text of Cyrillic, Arabic or Chinese letters an English word is a name."""
_IN_LIST: Final = re.compile(r"\s*(?:$|[,;&/|).]|(?:and|or)\b)")
"""Behind a ticker that is also a word: not "IBM, NOW with new chips"."""


class TextSpan(NamedTuple):
    """Characters `start` up to `end` of a text."""

    start: int
    end: int


class _Proof(Enum):
    """The condition under which an alias counts."""

    NOTHING = auto()
    CAPITALS = auto()
    INITIALS = auto()
    CONTEXT = auto()
    TICKER = auto()


@dataclass(frozen=True, slots=True)
class _Alias:
    subject: Subject
    spelling: str
    proof: _Proof


class _Name(NamedTuple):
    """Tokens `at` up to `end` that spell an alias."""

    at: int
    end: int
    alias: _Alias


class _Hidden(NamedTuple):
    """Tokens `at` up to `end`, which mean something else than the subject."""

    at: int
    end: int
    subject: Subject


@dataclass(slots=True)
class _Node:
    """A token of names, with those names that end at it and the subjects whose names it hides."""

    children: dict[str, _Node] = field(default_factory=dict)
    names: list[_Alias] = field(default_factory=list)
    hides: list[Subject] = field(default_factory=list)


class _PlainLetters(dict[int, str]):
    """Letters without their marks, one for one so that places stay: a table for `str.translate`."""

    def __missing__(self, code: int) -> str:
        apart = unicodedata.normalize("NFKD", chr(code))
        is_plain = apart[0].isascii() and apart[0].isalnum() and all(map(unicodedata.combining, apart[1:]))
        self[code] = found = apart[0] if is_plain else chr(code)
        return found


_PLAIN: Final = _PlainLetters({ord(apostrophe): "'" for apostrophe in "’‘ʼ＇"})


def _clean(text: str) -> str:
    return text if text.isascii() else text.translate(_PLAIN)


def _child(children: Mapping[str, _Node], token: str) -> _Node | None:
    """Return the node of a token: as it is written, else without its ending."""
    found = children.get(low := token.lower())
    if found is None and (low[-1] in "s+" or not low.isascii()) and (ending := _ENDING.search(low)):
        return children.get(low[: ending.start()])
    return found


def _key(token: str) -> str:
    """Return the form under which a token is looked up: lower case, without the genitive."""
    return token.lower().removesuffix("'s")


@dataclass(slots=True, eq=False)
class Matcher:
    """Finds a fixed list of subjects in texts. Building it takes a moment; keep it."""

    subjects: Sequence[Subject]
    _root: dict[str, _Node] = field(default_factory=dict)
    _by_ticker: dict[str, Subject] = field(default_factory=dict)
    _by_root: dict[str, Subject] = field(default_factory=dict)
    _with_classes: set[str] = field(default_factory=set)
    _abroad: dict[str, Subject] = field(default_factory=dict)
    _cues: dict[str, frozenset[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for subject in self.subjects:
            self._cues[subject.tool_id] = frozenset(
                _key(token) for cue in subject.cues for token in _TOKEN.findall(cue)
            )
            for name in dict.fromkeys((subject.name, *subject.aliases)):
                for spelling in {name, _clean(name).replace("'", "")}:  # Macy's, Macys
                    self._node(spelling).names.append(_Alias(subject, spelling, _proof(subject, spelling)))
            for phrase in subject.excluded:
                self._node(phrase).hides.append(subject)
            if subject.ticker:
                self._by_ticker.setdefault(subject.ticker, subject)
                root, *rest = re.split("[.-]", subject.ticker)
                if rest and rest[0] not in SHARE_CLASSES:
                    self._abroad.setdefault(root, subject)
                else:
                    self._by_root.setdefault(root, subject)
                    self._with_classes.update([root] if rest else [])
                for spelling, proof in (
                    (f"${subject.ticker}", _Proof.NOTHING),
                    (subject.ticker, _Proof.TICKER),
                ):
                    self._node(spelling).names.append(_Alias(subject, subject.ticker, proof))

    @property
    def ids(self) -> KeysView[str]:
        """The ids of the subjects: the tags for which counts are kept."""
        return self._cues.keys()

    def _node(self, name: str) -> _Node:
        """Return the node at which a name ends, made where there is none."""
        node = _Node(self._root)
        for token in _TOKEN.findall(_clean(name)):
            node = node.children.setdefault(token.lower(), _Node())
        return node

    def of_tickers(self, tickers: Iterable[str]) -> list[str]:
        """Return the ids of the subjects with these tickers, as a source gives them."""
        found = (self._by_ticker.get(ticker) for ticker in tickers)
        return sorted({subject.tool_id for subject in found if subject is not None})

    def find(self, text: str) -> list[str]:
        """Return the ids of the subjects that a text speaks of, in the order of their first appearance."""
        return list(self.find_places(text))

    def find_places(self, text: str) -> dict[str, TextSpan]:
        """Return where a text first names each subject that it speaks of, by its id, in that order."""
        text = _clean(text)
        tokens: list[str] = _TOKEN.findall(text)
        names: list[_Name] = []
        hidden: list[_Hidden] = []
        at = 0
        while at < len(tokens):
            node = _child(self._root, tokens[at])
            at = self._collect(tokens, at, node, names, hidden) if node else at + 1
        # A phrase may be longer than the name that it begins with.
        names = [name for name in names if not _hides(hidden, name)]
        proved = self._listed(text)
        return self._accepted(text, tokens, names, proved) if names or proved else {}

    def _listed(self, text: str) -> list[tuple[int, Subject]]:
        """Return the subjects whose symbols a list proves, each with where it stands in the text."""
        found = []
        for symbol in listed(text, self._with_classes):
            if symbol.is_foreign and len(symbol.spelling) == 1:
                continue
            exact = self._by_ticker.get(symbol.spelling) or self._by_ticker.get(
                symbol.spelling.replace(".", "-")
            )
            has_class = symbol.spelling != symbol.root
            subject = exact or (self._by_root.get(symbol.root) if has_class else None)
            if symbol.is_foreign:
                subject = self._abroad.get(symbol.root, subject)
            if subject is not None:
                found.append((symbol.at, subject))
        return found

    def _collect(
        self, tokens: list[str], at: int, first: _Node, names: list[_Name], hidden: list[_Hidden]
    ) -> int:
        """Note the longest name that begins at a token, and every phrase that hides names.

        Returns:
            The token to go on with: the first behind the name, or else the next one.
        """
        longest: list[_Name] = []
        node: _Node | None = first
        here = at + 1
        while node is not None:
            hidden += [_Hidden(at, here, subject) for subject in node.hides]
            spelled = [_Name(at, here, alias) for alias in node.names]
            longest = [name for name in spelled if not _hides(hidden, name)] or longest
            node = _child(node.children, tokens[here]) if here < len(tokens) else None
            here += 1
        names += longest
        return longest[0].end if longest else at + 1

    def _accepted(
        self, text: str, tokens: list[str], names: list[_Name], proved: list[tuple[int, Subject]]
    ) -> dict[str, TextSpan]:
        """Return the subjects whose names count, in order, each with its first place."""
        places = [match.span() for match in _TOKEN.finditer(text)]
        sure: list[tuple[int, int, str]] = []
        for place, subject in proved:
            at = bisect_right(places, place, key=itemgetter(1))
            sure.append((at, at + 1, subject.tool_id))
        sure += [_sure(name) for name in names if name.alias.proof is _Proof.NOTHING]
        doubtful = [name for name in names if name.alias.proof is not _Proof.NOTHING]
        if doubtful:
            named = frozenset(tool_id for _, _, tool_id in sure)
            reading = _Reading(text, tokens, places, named, self._cues)
            judged = [(name, reading.speaks_of(name)) for name in doubtful]
            sure += [_sure(name) for name, is_meant in judged if is_meant]
            left = [name for name, is_meant in judged if not is_meant]
            # Two names that would each be doubtful prove one another: "Apple, Amazon".
            beside = sorted(
                {(at, end) for at, end, _ in sure}
                | {(name.at, name.end) for name in left if name.alias.subject.kind == "company"}
            )
            sure += [_sure(name) for name in left if reading.is_listed(name, beside)]
        found: dict[str, TextSpan] = {}
        for at, end, tool_id in sorted(sure):
            genitive = 2 * tokens[end - 1].lower().endswith("'s")
            found.setdefault(tool_id, TextSpan(places[at][0], places[end - 1][1] - genitive))
        return found


def _sure(name: _Name) -> tuple[int, int, str]:
    return name.at, name.end, name.alias.subject.tool_id


def _hides(hidden: list[_Hidden], name: _Name) -> bool:
    return any(
        one.at <= name.at and name.end <= one.end and one.subject is name.alias.subject for one in hidden
    )


class _Reading:
    """One text, looked at as closely as an ambiguous name asks for."""

    def __init__(
        self,
        text: str,
        tokens: list[str],
        places: list[tuple[int, int]],
        surely_named: frozenset[str],
        cues: Mapping[str, frozenset[str]],
    ) -> None:
        self.text = text
        self.cues = cues
        self.tokens = tokens
        self.keys = [_key(token) for token in tokens]
        self.places = places
        self.words = frozenset(self.keys)
        self.surely_named = surely_named
        letters = [token for token in tokens if len(token) > 3 and token[0].isalpha()]
        lower = [token for token in letters if token[0].islower()]
        self.is_foreign = _OTHER_SCRIPT.search(text) is not None
        self.all_capitals = len(tokens) > 2 and text.upper() == text and not self.is_foreign
        self.title_case = len(letters) > 1 and context.LOWER_IN_TITLES.issuperset(lower)

    def speaks_of(self, name: _Name) -> bool:
        """Whether a name is meant as the name of its subject."""
        judge = {
            _Proof.CAPITALS: self._as_spelled,
            _Proof.INITIALS: self._has_initials,
            _Proof.TICKER: self._is_ticker,
            _Proof.CONTEXT: self._is_meant,
        }
        return judge[name.alias.proof](name)

    def is_listed(self, name: _Name, named: Sequence[tuple[int, int]]) -> bool:
        """Whether it is enumerated beside one of the names, in their order: "Apple, Microsoft and Meta"."""
        at, end, alias = name
        if alias.proof not in {_Proof.CONTEXT, _Proof.TICKER}:
            return False
        if not self._as_spelled(name) or self.all_capitals:
            return False
        is_ticker = alias.proof is _Proof.TICKER
        if is_ticker and (len(alias.spelling) < 3 or not _IN_LIST.match(self.text, self.places[end - 1][1])):
            return False
        here = bisect_left(named, (at, end))
        for other in named[max(0, here - 1) : here + 2]:
            if is_ticker and not self._written(*other).isupper():
                continue
            first, second = sorted(((at, end), other))
            gap = self.text[self.places[first[1] - 1][1] : self.places[second[0]][0]]
            if _LIST_GAP.fullmatch(gap):
                return True
        return False

    def _as_spelled(self, name: _Name) -> bool:
        wanted = _TOKEN.findall(_clean(name.alias.spelling))
        written = self.tokens[name.at : name.end]
        return all(
            want in (have, have.removesuffix("'s").removesuffix("'S"))
            for have, want in zip(written, wanted, strict=True)
        )

    def _has_initials(self, name: _Name) -> bool:
        """Whether a name of several words has its capitals, but for what stands behind a hyphen."""
        if self.text.islower():
            return True
        wanted = _TOKEN.findall(_clean(name.alias.spelling))
        return all(
            (len(want) == len(self.keys[at]) or not self.title_case)
            and (have[0].isupper() or not want[0].isupper() or self.text[self.places[at][0] - 1] == "-")
            for at, (have, want) in enumerate(zip(self.tokens[name.at :], wanted, strict=False), name.at)
        )

    def _written(self, at: int, end: int) -> str:
        return self.text[self.places[at][0] : self.places[end - 1][1]]

    def _is_ticker(self, name: _Name) -> bool:
        ticker = name.alias.spelling
        if self._written(name.at, name.end).removesuffix("'s") != ticker:
            return False
        if len(ticker) < 3 or ticker.isdigit() or self.all_capitals:
            return False
        if ticker.lower() not in context.COMMON_WORDS:
            return True
        if self.keys[name.end : name.end + 1] == ["stock"]:
            return True
        start, stop = self.places[name.at][0], self.places[name.end - 1][1]
        opened = _BRACKETED.search(self.text[max(0, start - 14) : start])
        return opened is not None and self.text[stop : stop + 1] in {")", "]"}

    def _is_meant(self, name: _Name) -> bool:
        at, end, alias = name
        subject = alias.subject
        written = " ".join(self.tokens[at:end]).removesuffix("'S")
        shouted = self.all_capitals and written == alias.spelling.upper()
        if not (shouted or self._as_spelled(name)):
            return False
        if self.is_foreign:
            return True
        before = self.keys[at - 1] if not self._clause_begins(at) else ""
        after = self.keys[end] if end < len(self.keys) and not self._clause_begins(end) else ""
        if before in context.GIVEN_NAMES:
            return False
        if before in context.NEVER_BEFORE:
            return not self.title_case and after in context.AFTER_COMPANY
        if subject.tool_id in self.surely_named or not self.words.isdisjoint(self.cues[subject.tool_id]):
            return True
        if subject.kind == "company":
            return self._is_company(at, end, before, after)
        if subject.kind == "tool":
            return self._is_tool(at, end, before, after)
        return self._is_name_in_sentence(at, end)

    def _is_company(self, at: int, end: int, before: str, after: str) -> bool:
        if after in context.AFTER_COMPANY or before in context.BEFORE_COMPANY:
            return True
        if self.all_capitals:
            return False
        if self.tokens[end - 1].lower().endswith("'s") or after in context.COMPANY_VERBS:
            return True
        if self._is_name_in_sentence(at, end):
            return True
        speaks_of_business = not self.words.isdisjoint(context.BUSINESS)
        return speaks_of_business and before in context.LINKS_TO_COMPANY

    def _is_tool(self, at: int, end: int, before: str, after: str) -> bool:
        if self._is_part_of_longer_name(end, after):
            return False
        others = self.words - {self.keys[i] for i in range(at, end)}
        if not others.isdisjoint(context.SOFTWARE):
            return True
        return before in context.BEFORE_TOOL or after in context.AFTER_TOOL

    def _is_name_in_sentence(self, at: int, end: int) -> bool:
        """Whether a capital within a sentence that is not in title case marks a name, and only this one."""
        if self.title_case or self.all_capitals or self._clause_begins(at):
            return False
        before = self.tokens[at - 1]
        known = context.BEFORE_NAMES if self._clause_begins(at - 1) else context.COMPANY_VERBS
        follows_a_name = before[:1].isupper() and _key(before) not in known
        if follows_a_name or not self.tokens[at][:1].isupper():
            return False
        return not self._is_part_of_longer_name(end, self.keys[end] if end < len(self.keys) else "")

    def _is_part_of_longer_name(self, end: int, after: str) -> bool:
        if self.title_case or self.all_capitals or end >= len(self.tokens) or self._clause_begins(end):
            return False
        if self.tokens[end - 1].lower().endswith("'s"):
            return False
        gap = self.text[self.places[end - 1][1] : self.places[end][0]]
        following = self.tokens[end]
        return (
            gap.strip() == ""
            and following[:1].isupper()
            and not following.isupper()
            and after not in context.AFTER_COMPANY
            and after not in context.AFTER_TOOL
            and after not in context.SOFTWARE
        )

    def _clause_begins(self, at: int) -> bool:
        """Whether a token begins a sentence or a clause of a headline."""
        if at == 0:
            return True
        gap = self.text[self.places[at - 1][1] : self.places[at][0]]
        return not _CLAUSE_ENDS.isdisjoint(gap) or " - " in gap


def _proof(subject: Subject, name: str) -> _Proof:
    tokens = _TOKEN.findall(_clean(name))
    if name in subject.ambiguous:
        return _Proof.CONTEXT
    if len(tokens) != 1:
        return _Proof.INITIALS if subject.kind == "company" else _Proof.NOTHING
    (token,) = tokens
    if _key(token) in context.COMMON_WORDS or token.lower() in context.COMMON_WORDS or len(token) < 3:
        return _Proof.CONTEXT
    return _Proof.CAPITALS if token.isupper() and len(token) <= 6 else _Proof.NOTHING


def subjects_in(matcher: Matcher, article: Article) -> dict[str, TextSpan | None]:
    """Return the subjects of an article: named in its headline or text, or by a ticker that a source gave.

    Returns:
        For each, where `text_of` the article first names it; None if only a ticker does.
    """
    found: dict[str, TextSpan | None] = {**matcher.find_places(article.headline)}
    if text := article.text_for_analysis:
        moved = len(article.headline) + len(_BETWEEN)
        for tool_id, (start, end) in matcher.find_places(text).items():
            found.setdefault(tool_id, TextSpan(start + moved, end + moved))
    for tool_id in matcher.of_tickers(article.matched_tickers):
        found.setdefault(tool_id, None)
    return dict(islice(found.items(), SUBJECTS_AT_MOST))


def text_of(article: Article) -> str:
    """Return the text that an article is judged by: its headline, then what its source says of it."""
    return _BETWEEN.join(filter(None, (article.headline, article.text_for_analysis)))
