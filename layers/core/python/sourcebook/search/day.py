"""The index of the articles of one day, by their `timestamp`."""

from __future__ import annotations

import lzma
import math
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sourcebook.clock import epoch_seconds, parse_iso
from sourcebook.records.article import Article
from sourcebook.search.folding import fold, words
from sourcebook.search.query import SearchTerm
from sourcebook.search.sqlite import DamagedIndex, database

VERSION: Final = 2
"""Of the file; one with another version is made again."""

LARGEST: Final = 256_000_000
"""Bytes of a file, unpacked: more do not fit into a function's memory beside the rest."""

_QUICK: Final = 1
_SMALL: Final = ({"id": lzma.FILTER_LZMA2, "preset": 6, "lc": 4, "lp": 0, "pb": 0},)
"""For records of odd lengths: a hundredth smaller than without."""
_DAY: Final = 86_400
_SENTIMENTS: Final = {"positive": 1, "neutral": 2, "negative": 3}
_TEXT_LIMIT: Final = 4_000
MARK: Final = "\x1f"
# In an order that compresses: what hardly repeats stands together, a fiftieth smaller than mixed.
_ARTICLES: Final = (
    "CREATE TABLE articles (number INTEGER PRIMARY KEY, at INTEGER, key BLOB, digest INTEGER, "
    "sources INTEGER, tags INTEGER, sentiment INTEGER, lang TEXT, live INTEGER)"
)
_ADD: Final = (
    "INSERT INTO articles (number, key, at, digest, live, sentiment, lang, sources, tags) "
    "VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?)"
)
# What articles have in common, each once: the sources that one is of, or its tags.
_LABELS: Final = "CREATE TABLE labels (number INTEGER PRIMARY KEY, names TEXT)"
# Without the text, which the table has, and without the places of words, which would be a third of the file:
# whether words stand side by side, `ArticleWords` says of the few articles that have all of them.
_WORDS: Final = (
    "CREATE VIRTUAL TABLE words USING fts5(headline, text, content='', detail=column, columnsize=0, "
    "tokenize=\"unicode61 remove_diacritics 0 categories 'L* N* Co Mn Mc'\")"
)
_CHANGE: Final = "UPDATE articles SET at = ?, sentiment = ?, lang = ?, sources = ?, tags = ? WHERE number = ?"
_FIND: Final = "SELECT number, at, key FROM articles WHERE {} ORDER BY at DESC, key"
_KNOWN: Final = (
    "SELECT key, number, at, digest, sentiment, lang, sources, tags FROM articles WHERE live AND key IN ({})"
)
_LABELLED: Final = "SELECT number FROM labels WHERE {}"
_ALL_LABELS: Final = "SELECT number, names FROM labels"
_KEYS_AT_ONCE: Final = 500
_MATCH: Final = "SELECT rowid FROM words WHERE words MATCH ?"
_HEADLINE: Final = 3.0
"""How much more a word of the headline says than one of the text."""


@dataclass(frozen=True, slots=True)
class IndexedArticle:
    """An article as the index has it.

    Attributes:
        key: its dedup key, 32 hexadecimal digits.
        at: its `timestamp` in seconds since 1970.
        headline: folded; and so is the text.
        sources: ids of its sources, of its tags the names; folded, each between two marks.
    """

    key: str
    at: int
    headline: str
    text: str
    sentiment: str | None
    lang: str
    sources: str
    tags: str

    @classmethod
    def of(cls, article: Article) -> IndexedArticle:
        """Return the entry of an article."""
        metadata = article.metadata
        language = str(metadata.get("language") or "") if isinstance(metadata, Mapping) else ""
        return cls(
            article.dedup_key,
            epoch_seconds(parse_iso(article.timestamp)),
            fold(article.headline),
            fold((article.text_for_analysis or "")[:_TEXT_LIMIT]),
            article.sentiment,
            language.lower().replace("_", "-")[:20],
            _marked(article.sources or article.source_attribution or ()),
            _marked(article.all_tags),
        )

    @property
    def digest(self) -> int:
        """Tells whether its words are the same as before; of two bytes, since it cannot be compressed."""
        return zlib.crc32(f"{self.headline}\n{self.text}".encode()) & 0xFFFF


@dataclass(frozen=True, slots=True)
class Hit:
    """A place in what was found.

    Attributes:
        score: how well it fits, the least being the best; 0 where nothing is ranked.
    """

    at: int
    key: str
    score: float = 0.0


def by_rank(hit: Hit) -> tuple[float, int, str]:
    """Return what hits are ordered by: the best first, then the newest."""
    return hit.score, -hit.at, hit.key


class Day:
    """The index of one day."""

    def __init__(self, packed: bytes | None = None) -> None:
        """Create an empty index of a day, or read one.

        Raises:
            DamagedIndex: if it cannot be read, or is of another version.
        """
        content = None if packed is None else _unpacked(packed)
        self._database = database(content)
        if content is None:
            for statement in (_ARTICLES, _LABELS, _WORDS, f"PRAGMA user_version = {VERSION}"):
                self._database.execute(statement)
        elif self._database.execute("PRAGMA user_version")[0][0] != VERSION:
            raise DamagedIndex("an index of another version")

    def packed(self, *, small: bool = False) -> bytes:
        """Return the file, compressed.

        Args:
            small: as small as can be, which takes longer: for a day that is seldom written again.
        """
        if not small:
            return zlib.compress(self._database.content(), _QUICK)
        self._database.execute("INSERT INTO words (words) VALUES ('optimize')")
        self._database.execute("VACUUM")
        return lzma.compress(self._database.content(), filters=_SMALL)

    def __len__(self) -> int:
        """Return how many articles it has."""
        return int(self._database.execute("SELECT count(*) FROM articles WHERE live")[0][0])

    def put(self, entries: Iterable[IndexedArticle]) -> int:
        """Add articles, or bring those that are there up to date; return how many changed.

        What has other words than before is added as a new row, and the old row rests: words cannot be taken
        out of an index that does not keep the text.
        """
        execute = self._database.execute
        new = {entry.key: entry for entry in entries}
        known = self._known(list(new))
        labels: dict[str, int] = {names: number for number, names in execute(_ALL_LABELS)}
        last = execute("SELECT coalesce(max(number), 0) FROM articles")[0][0]
        changed = 0
        execute("BEGIN")
        for entry in new.values():
            digest, feeling = entry.digest, _SENTIMENTS.get(entry.sentiment or "", 0)
            sources, tags = self._label(entry.sources, labels), self._label(entry.tags, labels)
            row = [entry.at, digest, feeling, entry.lang, sources, tags]
            number, before = known.get(entry.key, (0, None))
            if before == row:
                continue
            changed += 1
            if before is not None and before[1] == digest:
                execute(_CHANGE, (entry.at, feeling, entry.lang, sources, tags, number))
                continue
            if before is not None:
                execute("UPDATE articles SET live = 0 WHERE number = ?", (number,))
            last += 1
            execute(_ADD, (last, bytes.fromhex(entry.key), *row))
            words = (last, entry.headline, entry.text)
            execute("INSERT INTO words (rowid, headline, text) VALUES (?, ?, ?)", words)
        execute("COMMIT")
        return changed

    def _known(self, keys: Sequence[str]) -> dict[str, tuple[int, list[Any]]]:
        """Return the rows of those articles that are there, each with its number."""
        found: dict[str, tuple[int, list[Any]]] = {}
        for first in range(0, len(keys), _KEYS_AT_ONCE):
            some = [bytes.fromhex(key) for key in keys[first : first + _KEYS_AT_ONCE]]
            for key, number, *row in self._database.execute(_KNOWN.format(_places(some)), some):
                found[bytes(key).hex()] = (number, row)
        return found

    def _label(self, names: str, labels: dict[str, int]) -> int:
        """Return the number of a label, which is added where it is new."""
        if names not in labels:
            labels[names] = len(labels) + 1
            self._database.execute("INSERT INTO labels VALUES (?, ?)", (labels[names], names))
        return labels[names]

    def find(
        self,
        groups: Sequence[Sequence[SearchTerm]],
        *,
        since: int | None = None,
        until: int | None = None,
        ranked: Sequence[tuple[str, ...]] = (),
    ) -> list[Hit]:
        """Return the articles of which every group has a term that may hold, newest first, or the best first.

        Of more words than one it is known only that an article has all of them; see `ArticleWords`.

        Args:
            groups: what must hold; values of filters are as the index has them.
            since: first second, included.
            until: last second, excluded.
            ranked: words and phrases by which what is found is ranked; the newest come first without them.
        """
        conditions, values = ["live"], list[object]()
        for word, bound in (("at >= ?", since), ("at < ?", until)):
            if bound is not None:
                conditions.append(word)
                values.append(bound)
        for group in groups:
            parts = [_condition(term, values) for term in group]
            conditions.append(f"({' OR '.join(parts)})")
        rows = self._database.execute(_FIND.format(" AND ".join(conditions)), values)
        scores = self._scores(ranked) if rows else {}
        hits = [Hit(at, bytes(key).hex(), -round(scores.get(number, 0.0), 6)) for number, at, key in rows]
        return sorted(hits, key=by_rank) if ranked else hits

    def _scores(self, ranked: Sequence[tuple[str, ...]]) -> dict[int, float]:
        """Return by number how well articles fit: rare words say more, and words of the headline."""
        scores: dict[int, float] = {}
        for phrase in ranked:
            anywhere = [number for (number,) in self._database.execute(_MATCH, (_all(phrase),))]
            rarity = math.log(1 + (len(self) + 1) / (len(anywhere) + 1))
            for number in anywhere:
                scores[number] = scores.get(number, 0.0) + rarity
            for (number,) in self._database.execute(_MATCH, (f"headline : ({_all(phrase)})",)):
                scores[number] += (_HEADLINE - 1) * rarity
        return scores


def _condition(term: SearchTerm, values: list[object]) -> str:
    """Return the condition of a term, and add its values."""
    if not term.field:
        if term.negated and not term.is_word:
            return "1"
        values.append(_all(term.values))
        text = f"number IN ({_MATCH})"
    elif term.field == "sentiment":
        values.extend(_SENTIMENTS.get(value, 0) for value in term.values)
        text = f"sentiment IN ({_places(term.values)})"
    elif term.field == "lang":
        # A language is asked for with or without its region.
        for value in term.values:
            values.extend((value, f"{value}-%"))
        text = f"({' OR '.join(['lang = ? OR lang LIKE ?'] * len(term.values))})"
    else:
        column = {"source": "sources", "subject": "tags", "tag": "tags"}[term.field]
        values.extend(f"{MARK}{value}{MARK}" for value in term.values)
        text = f"{column} IN ({_LABELLED.format(' OR '.join(['instr(names, ?)'] * len(term.values)))})"
    return f"NOT {text}" if term.negated else text


def _places(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def _all(words: Sequence[str]) -> str:
    """Return what finds all of some words, as FTS5 writes it."""
    return " AND ".join(f'"{word}"' for word in dict.fromkeys(words))


def needs_text(groups: Sequence[Sequence[SearchTerm]]) -> bool:
    """Whether the index alone cannot say what holds: words side by side, or marks, are asked for."""
    return any(not term.field and not term.is_word for group in groups for term in group)


class ArticleWords:
    """The words of an article, which terms are held against.

    Attributes:
        texts: headline and text as words between blanks.
        words: each word once.
    """

    def __init__(self, entry: IndexedArticle) -> None:
        self._entry = entry
        self.texts = [f" {' '.join(words(text))} " for text in (entry.headline, entry.text)]
        self.words = {word for text in self.texts for word in text.split()}

    def match(self, groups: Sequence[Sequence[SearchTerm]]) -> bool:
        """Whether every group has a term that holds of the article."""
        for group in groups:
            for term in group:
                # Most terms are one word, which is quickly looked up.
                found = term.values[0] in self.words if term.is_word else self._has(term)
                if found != term.negated:
                    break
            else:
                return False
        return True

    def _has(self, term: SearchTerm) -> bool:
        """Whether a term that is not one word holds, but for its negation."""
        entry = self._entry
        match term.field:
            case "":
                phrase = f" {' '.join(term.values)} "
                return any(phrase in text for text in self.texts) and (
                    not term.written or _is_written(term.written, f"{entry.headline}\n{entry.text}")
                )
            case "sentiment":
                return entry.sentiment in term.values
            case "lang":
                return any(entry.lang == value or entry.lang.startswith(f"{value}-") for value in term.values)
            case "source":
                return any(f"{MARK}{value}{MARK}" in entry.sources for value in term.values)
        return any(f"{MARK}{value}{MARK}" in entry.tags for value in term.values)


def _is_written(word: str, text: str) -> bool:
    """Whether a text has a word with the marks behind it: C++ in "C++26", and not C in "C++"."""
    before = r"(?<!\w)" if word[0].isalpha() else ""
    return re.search(rf"{before}{re.escape(word)}(?![+#])", text) is not None


def folded(name: str) -> str:
    """Return a source's id or a tag as the index has it."""
    return name.casefold().replace(MARK, " ")


def _marked(names: Iterable[str]) -> str:
    return MARK + MARK.join(sorted({folded(str(name)) for name in names})) + MARK


def _unpacked(packed: bytes) -> bytes:
    small = packed.startswith(b"\xfd7zXZ")
    unpacking = lzma.LZMADecompressor(memlimit=LARGEST) if small else zlib.decompressobj()
    try:
        content = unpacking.decompress(packed, LARGEST)
    except (zlib.error, lzma.LZMAError) as error:
        raise DamagedIndex(f"not a compressed file: {error}") from error
    if not unpacking.eof:
        raise DamagedIndex("a file that is cut off, or too long")
    return content
