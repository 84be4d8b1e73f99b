"""Analysis: a pending article gets its sentiment and its subjects, and each of its tags a mention.

The hours whose counts will change are marked first, then the mentions are written, then the mark by which
grouping finds the article, and last the article's status, conditional on the article still being pending and
unchanged. A crash in between leaves a pending article, whose second analysis writes the same. Whoever finds
that another was faster brings the mentions into line with what that one concluded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from boto3.dynamodb.conditions import Attr

from sourcebook.articles.grouping.ungrouped import ungrouped_item
from sourcebook.articles.model import Status
from sourcebook.clock import Clock, isoformat, utc_now
from sourcebook.errors import Retryable, SourcebookError, Terminal
from sourcebook.sentiment.catalog import NO_SUBJECTS, Catalog, SubjectCatalog
from sourcebook.sentiment.engines import Label, SentimentEngine
from sourcebook.sentiment.matching import subjects_in
from sourcebook.sentiment.mentions import MentionStore
from sourcebook.sentiment.rollups import DirtyHours
from sourcebook.sentiment.subjects import SubjectRegistry
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed, Table
from sourcebook.table.codec import Item

_RACES: Final = 10


class Analysis(StrEnum):
    """What became of the request to analyze an article."""

    ANALYZED = "analyzed"
    ALREADY = "already"
    EXPIRED = "expired"


class AnalysisFailed(Terminal):
    """The engine could not label the article; its status is `error` until it is redriven."""


class ArticleContended(Retryable):
    """Sources kept adding to the article while it was analyzed."""


@dataclass(frozen=True, slots=True)
class Analyzer:
    """Analyzes articles with one engine.

    Attributes:
        subjects: what is looked for in them; nothing when None.
    """

    table: Table
    engine: SentimentEngine
    clock: Clock = utc_now
    workers: int = 8
    subjects: SubjectCatalog | None = None
    dirty: DirtyHours | None = None

    @classmethod
    def of(cls, table: Table, engine: SentimentEngine, clock: Clock = utc_now, workers: int = 8) -> Analyzer:
        """Return an analyzer that looks for the subjects of the table."""
        subjects = SubjectCatalog(SubjectRegistry(table, clock))
        return cls(table, engine, clock, workers, subjects, DirtyHours(table, clock))

    def analyze(self, dedup_keys: Iterable[str]) -> dict[str, Analysis | SourcebookError]:
        """Analyze articles; each key ends with what became of it, or with why it could not be done.

        Raises:
            Retryable: if the table or the engine is not able to answer now; then none was analyzed.
        """
        wanted = list(dict.fromkeys(dedup_keys))
        catalog = self.subjects.current() if self.subjects else NO_SUBJECTS
        items = self.table.batch_get((keys.article(key) for key in wanted), consistent=True)
        found = {item["dedup_key"]: item for item in items}
        pending = [item for item in found.values() if item["status"] == Status.PENDING]
        labels = dict(zip((item["dedup_key"] for item in pending), self._label(pending), strict=True))
        written = self._write_ahead(pending, labels, catalog)

        def one(key: str) -> Analysis | SourcebookError:
            item = found.get(key)
            if item is not None and item["status"] == Status.ERROR:
                return AnalysisFailed(
                    f"article {key}: its status is error; redrive it once the cause is mended"
                )
            if item is None or item["status"] != Status.PENDING:
                return _guarded(lambda: self._check(key, item, catalog))
            return _guarded(lambda: self._conclude(item, labels[key], catalog, written=key in written))

        with ThreadPoolExecutor(max(1, min(self.workers, len(wanted)))) as pool:
            return dict(zip(wanted, pool.map(one, wanted), strict=True))

    def _label(self, items: list[Item]) -> list[Label | AnalysisFailed]:
        try:
            return list(self.engine.label([text_of(item) for item in items]))
        except Retryable:  # the engine is busy, and none of the texts is to blame
            raise
        except Exception:  # noqa: BLE001 - an engine may raise anything; find out which text it was
            return [self._label_alone(item) for item in items]

    def _label_alone(self, item: Item) -> Label | AnalysisFailed:
        try:
            return self.engine.label([text_of(item)])[0]
        except Retryable:
            raise
        except Exception as error:  # noqa: BLE001 - becomes the article's own failure
            return AnalysisFailed(
                f"article {item['dedup_key']}: {self.engine.name}: {type(error).__name__}: {error}"
            )

    @property
    def hours(self) -> DirtyHours:
        """What marks the hours to be counted again."""
        return self.dirty or DirtyHours(self.table, self.clock)

    @property
    def _mentions(self) -> MentionStore:
        return MentionStore(self.table, self.hours)

    def _check(self, key: str, item: Item | None, catalog: Catalog) -> Analysis:
        """Leave no mention that the article, which another has concluded or which is gone, does not have."""
        if item is None:
            self._mentions.withdraw(key, catalog.ids)
            return Analysis.EXPIRED
        if item["status"] == Status.ANALYZED:
            self._mentions.check(item, catalog.ids)
        return Analysis.ALREADY

    def _write_ahead(
        self, pending: Sequence[Item], labels: Mapping[str, Label | AnalysisFailed], catalog: Catalog
    ) -> set[str]:
        """Write mentions and grouping marks of what is analyzed for the first time, all together.

        Twenty-five in a request instead of one, which is most of what analysis costs besides the engine.

        Returns:
            The dedup keys of the articles for which only the status is left to be written.
        """
        first = [
            {**item, **self._verdict(label, item, catalog)}
            for item in pending
            if item["revision"] == 1 and isinstance(label := labels[item["dedup_key"]], Label)
        ]
        written = self._mentions.write_first(first, catalog.ids)
        now = self.clock()
        self.table.put_many([ungrouped_item(item, now) for item in first if item["dedup_key"] in written])
        return written

    def _conclude(
        self, item: Item, label: Label | AnalysisFailed, catalog: Catalog, *, written: bool
    ) -> Analysis:
        """Write an article's mentions and status, again if a source added to it meanwhile.

        `written` says that all but the status is there already, for this revision.
        """
        if isinstance(label, AnalysisFailed):
            self._mark_failed(item, label)
            raise label
        for _ in range(_RACES):
            verdict = self._verdict(label, item, catalog)
            if not written:
                self._mentions.write({**item, **verdict}, catalog.ids)
                self.table.put(ungrouped_item(item, self.clock()))
            written = False
            try:
                self.table.update(
                    keys.article(item["dedup_key"]),
                    assign={
                        **verdict,
                        "status": Status.ANALYZED.value,
                        "analyzed_at": isoformat(self.clock()),
                    },
                    condition=Attr("status").eq(Status.PENDING) & Attr("revision").eq(item["revision"]),
                )
            except ConditionFailed as found:
                if found.item is None or found.item["status"] != Status.PENDING:
                    return self._check(item["dedup_key"], found.item, catalog)
                item = found.item
                relabelled = self._label_alone(item)
                if isinstance(relabelled, AnalysisFailed):
                    self._mark_failed(item, relabelled)
                    raise relabelled from None
                label = relabelled
                continue
            return Analysis.ANALYZED
        raise ArticleContended(f"article {item['dedup_key']}: overtaken {_RACES} times; it is tried again")

    def _verdict(self, label: Label, item: Mapping[str, Any], catalog: Catalog) -> dict[str, Any]:
        return {
            "sentiment": label.sentiment,
            "score": label.confidence,
            "polarity": label.polarity,
            "subjects": subjects_in(catalog.matcher, item),
            "engine": self.engine.name,
        }

    def _mark_failed(self, item: Item, failure: AnalysisFailed) -> None:
        try:
            self.table.update(
                keys.article(item["dedup_key"]),
                assign={"status": Status.ERROR.value, "error_reason": str(failure)[:300]},
                condition=Attr("status").eq(Status.PENDING),
            )
        except ConditionFailed:
            return  # somebody else has concluded it, well or badly


def reopen_analyzed(table: Table, dedup_key: str) -> bool:
    """Let an analyzed article be analyzed again, as a new revision.

    Returns:
        Whether it waits for its analysis now; not if it is gone or in error.
    """
    try:
        table.update(
            keys.article(dedup_key),
            assign={"status": Status.PENDING.value},
            increment={"revision": 1},
            condition=Attr("status").eq(Status.ANALYZED.value),
        )
    except ConditionFailed as found:
        return found.item is not None and found.item["status"] == Status.PENDING
    return True


def text_of(item: Mapping[str, Any]) -> str:
    """Return the text that an article is judged by: its headline, then what its source says of it."""
    return "\n".join(filter(None, (item["headline"], item.get("text_for_analysis"))))


def _guarded(run: Callable[[], Analysis]) -> Analysis | SourcebookError:
    try:
        return run()
    except SourcebookError as error:
        return error
