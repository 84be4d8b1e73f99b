"""Mentions: one item per article and tag, from which a subject's articles and sentiment are read.

The article is the truth and its mentions follow from it. Whoever changes them first looks at those that
are there, marks the hours whose counts will change, and then writes conditionally on the article's revision:
an older revision never undoes a newer one, and repeating it changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from boto3.dynamodb.conditions import Attr

from sourcebook.records.article import Article, Mention
from sourcebook.sentiment.rollups import DirtyHours
from sourcebook.sentiment.windows import hour_of
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed, Table
from sourcebook.table.codec import Item

_COUNTED: Final = ("timestamp", "label", "polarity")
"""What a subject's counts depend on."""


def mention_items(article: Article) -> list[Item]:
    """Return the mentions of an analyzed article, one for each of its tags.

    A subject that has a label of its own in the article's `subject_sentiments` gets that; the others, and the
    tags that sources gave, get the article's.
    """
    judged = dict.fromkeys(article.all_tags, article.judgement) | dict(article.subject_sentiments or {})
    return [
        Mention(
            tag=tag,
            timestamp=article.timestamp,
            label=judged[tag].label,
            score=judged[tag].score,
            polarity=judged[tag].polarity,
            engine=article.engine,
            headline=article.headline,
            revision=article.revision,
            ttl_timestamp=article.ttl_timestamp,
        ).to_item(keys.article_tag(article.dedup_key, tag))
        for tag in article.all_tags
    ]


@dataclass(frozen=True, slots=True)
class MentionStore:
    """Brings the mentions of articles into line with the articles."""

    table: Table
    dirty: DirtyHours

    def write(self, article: Article, subjects: Collection[str]) -> None:
        """Write the mentions of an analyzed article, and delete those that it no longer has.

        Args:
            article: the article with its sentiment, tags and subjects.
            subjects: ids of all subjects, to know for which tags counts are kept.

        Raises:
            TableBusy: if the table is not able to answer now. Doing it again completes it.
        """
        # A first revision may have been written in part before; it can only have been this very one.
        known = {} if article.revision == 1 else self._known(article.dedup_key)
        wanted = {item["SK"]: item for item in mention_items(article)}
        self._change(known, wanted, article.revision, subjects)

    def write_first(self, articles: Sequence[Article], subjects: Collection[str]) -> set[str]:
        """Write the mentions of articles that are analyzed for the first time, many in a request.

        Args:
            articles: of the first revision, with their sentiment, tags and subjects.
            subjects: ids of all subjects.

        Returns:
            The dedup keys of those that have all their mentions now. The others need `write`.

        Raises:
            TableBusy: if the table is not able to answer now. Doing it again completes it.
        """
        wanted = [(article.dedup_key, item) for article in articles for item in mention_items(article)]
        self.dirty.mark(
            (item["tag"], hour_of(item["timestamp"])) for _, item in wanted if item["tag"] in subjects
        )
        results = self.table.create_many([item for _, item in wanted])
        unsure = {key for (key, _), result in zip(wanted, results, strict=True) if result is not None}
        return {article.dedup_key for article in articles} - unsure

    def check(self, article: Article, subjects: Collection[str]) -> None:
        """Correct the mentions of an article that another function has concluded, if some of ours remain."""
        wanted = {item["SK"]: item for item in mention_items(article)}
        self._change(self._known(article.dedup_key), wanted, article.revision, subjects)

    def withdraw(self, dedup_key: str, subjects: Collection[str]) -> None:
        """Remove the mentions of an article that is no more."""
        self._change(self._known(dedup_key), {}, None, subjects)

    def _known(self, dedup_key: str) -> dict[str, Item]:
        found = self.table.items_of(keys.article(dedup_key)["PK"], keys.TAG_PREFIX, consistent=True)
        return {item["SK"]: item for item in found}

    def _change(
        self,
        known: Mapping[str, Item],
        wanted: Mapping[str, Item],
        revision: int | None,
        subjects: Collection[str],
    ) -> None:
        put = [item for key, item in wanted.items() if not _is_same(known.get(key), item)]
        gone = [item for key, item in known.items() if key not in wanted]
        self.dirty.mark(
            (state["tag"], hour_of(state["timestamp"]))
            for item in (*put, *gone)
            if item["tag"] in subjects and _counts_change(known.get(item["SK"]), wanted.get(item["SK"]))
            for state in (known.get(item["SK"]), wanted.get(item["SK"]))
            if state is not None
        )
        no_newer = (
            None if revision is None else Attr("revision").not_exists() | Attr("revision").lte(revision)
        )
        # A condition that fails means that a later revision of the article has written the mention.
        for item in put:
            with suppress(ConditionFailed):
                self.table.put(item, no_newer)
        for item in gone:
            with suppress(ConditionFailed):
                self.table.delete(keys.key_of(item), no_newer)


def _is_same(before: Item | None, after: Item) -> bool:
    """Whether a mention says what it should; that it was written for an earlier revision does not matter."""
    return before is not None and {**before, "revision": None} == {**after, "revision": None}


def _counts_change(before: Item | None, after: Item | None) -> bool:
    if before is None or after is None:
        return True
    return any(before[name] != after[name] for name in _COUNTED)
