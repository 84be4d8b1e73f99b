"""Which rules an article matches: rules are found by their words, not gone through one by one.

Of each rule one group of its query is its anchor: one of its terms must hold, so the rule is kept under a
word or a filter's value of each of them, and only articles that have one of these are held against it. The
group is chosen by how few rules stand under its words already, so that a frequent word collects no crowd.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from sourcebook.search.day import MARK, ArticleWords, IndexedArticle
from sourcebook.search.query import SearchTerm

Groups: TypeAlias = Sequence[Sequence[SearchTerm]]
Place: TypeAlias = tuple[str, str]
"""Field and value under which a rule stands; of words the field is empty."""

_NO_ANCHOR: Place = ("*", "")


@dataclass(slots=True)
class ArticleRules:
    """Rules by what an article must have to match them."""

    _asked: dict[str, Groups] = field(default_factory=dict)
    _places: defaultdict[Place, list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(self, alert_id: str, groups: Groups) -> None:
        """Add a rule to those that articles are matched with."""
        self._asked[alert_id] = groups
        anchors = [places for group in groups if (places := self._anchor(group))]
        chosen = min(
            anchors, key=lambda places: max(len(self._places[p]) for p in places), default=[_NO_ANCHOR]
        )
        for place in dict.fromkeys(chosen):
            self._places[place].append(alert_id)

    def matching(self, entry: IndexedArticle) -> list[str]:
        """Return the ids of the rules that an article matches."""
        article = ArticleWords(entry)
        places = _places_of(entry, article.words)
        found = dict.fromkeys(alert_id for place in places for alert_id in self._places.get(place, ()))
        return [alert_id for alert_id in found if article.match(self._asked[alert_id])]

    def _anchor(self, group: Sequence[SearchTerm]) -> list[Place]:
        """Return places of which an article has one if a term of the group holds; none if there are none."""
        places: list[Place] = []
        for term in group:
            if term.negated:
                return []
            if term.field:
                places += [(_COLUMN[term.field], value) for value in term.values]
            else:
                places.append(min((("", word) for word in term.values), key=lambda p: len(self._places[p])))
        return places


_COLUMN = {"source": "source", "subject": "tag", "tag": "tag", "sentiment": "sentiment", "lang": "lang"}


def _places_of(entry: IndexedArticle, words: Iterable[str]) -> Iterator[Place]:
    """Yield every place under which a rule may stand that an article matches."""
    yield _NO_ANCHOR
    for word in words:
        yield "", word
    yield "sentiment", entry.sentiment or ""
    for source in entry.sources.split(MARK):
        yield "source", source
    for tag in entry.tags.split(MARK):
        yield "tag", tag
    # A language is asked for with or without its region.
    parts = entry.lang.split("-")
    for count in range(1, len(parts) + 1):
        yield "lang", "-".join(parts[:count])
