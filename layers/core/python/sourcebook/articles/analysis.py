"""Analysis: a pending article gets its sentiment and its subjects, and each of its tags a mention.

The hours whose counts will change are marked first, then the mentions are written, then the mark by which
grouping finds the article, and last the article's status, conditional on the article still being pending and
unchanged. A crash in between leaves a pending article, whose second analysis writes the same. Whoever finds
that another was faster brings the mentions into line with what that one concluded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from boto3.dynamodb.conditions import Attr

from sourcebook.articles.conditions import has_status
from sourcebook.articles.grouping.ungrouped import ungrouped_items
from sourcebook.clock import Clock, isoformat, utc_now
from sourcebook.errors import Retryable, SourcebookError, Terminal
from sourcebook.records.article import Article, Judgement, Sentiment, Status, status_of
from sourcebook.records.base import changes
from sourcebook.sentiment.catalog import NO_SUBJECTS, SubjectCatalog
from sourcebook.sentiment.engines import Label, SentimentEngine, Target
from sourcebook.sentiment.matching import Matcher, TextSpan, subjects_in, text_of
from sourcebook.sentiment.mentions import MentionStore
from sourcebook.sentiment.rollups import DirtyHours
from sourcebook.sentiment.subjects import SubjectRegistry
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed, Table

_RACES: Final = 10


class Analysis(StrEnum):
    """The outcome of the request to analyze an article."""

    ANALYZED = "analyzed"
    ALREADY = "already"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class AnalysisVerdict:
    """The findings of an analysis.

    Attributes:
        label: what it feels.
        subjects: the subjects found in it, in the order of their appearance.
        of_subjects: what it feels about those that have a label of their own.
    """

    label: Label
    subjects: tuple[str, ...]
    of_subjects: Mapping[str, Label]


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
        found = {article.dedup_key: article for article in map(Article.of_item, items)}
        pending = [article for article in found.values() if article.status == Status.PENDING]
        verdicts = dict(zip((a.dedup_key for a in pending), self._judge(pending, catalog), strict=True))
        written = self._write_ahead(pending, verdicts, catalog)

        def one(key: str) -> Analysis | SourcebookError:
            article = found.get(key)
            if article is not None and article.status == Status.ERROR:
                return AnalysisFailed(
                    f"article {key}: its status is error; redrive it once the cause is mended"
                )
            if article is None or article.status != Status.PENDING:
                return _guarded(lambda: self._check(key, article, catalog))
            return _guarded(lambda: self._conclude(article, verdicts[key], catalog, written=key in written))

        with ThreadPoolExecutor(max(1, min(self.workers, len(wanted)))) as pool:
            return dict(zip(wanted, pool.map(one, wanted), strict=True))

    def _judge(
        self, articles: Sequence[Article], catalog: Matcher
    ) -> Sequence[AnalysisVerdict | AnalysisFailed]:
        try:
            return self._judge_together(articles, catalog)
        except Retryable:  # the engine is busy, and none of the texts is to blame
            raise
        except Exception:  # noqa: BLE001 - an engine may raise anything; find out which text it was
            return [self._judge_alone(article, catalog) for article in articles]

    def _judge_alone(self, article: Article, catalog: Matcher) -> AnalysisVerdict | AnalysisFailed:
        try:
            return self._judge_together([article], catalog)[0]
        except Retryable:
            raise
        except Exception as error:  # noqa: BLE001 - becomes the article's own failure
            return AnalysisFailed(
                f"article {article.dedup_key}: {self.engine.name}: {type(error).__name__}: {error}"
            )

    def _judge_together(self, articles: Sequence[Article], catalog: Matcher) -> list[AnalysisVerdict]:
        """Label articles, and the subjects of those whose text names several.

        What a text feels about its only subject is what it feels.
        """
        texts = [text_of(article) for article in articles]
        subjects = [subjects_in(catalog, article) for article in articles]
        targets = {
            (number, tool_id): Target(texts[number], *place)
            for number, found in enumerate(subjects)
            for tool_id, place in _named(found)
        }
        labels = self.engine.label(texts)
        of_targets = self.engine.label_targets(list(targets.values())) if targets else []
        of_subjects: list[dict[str, Label]] = [{} for _ in articles]
        for (number, tool_id), label in zip(targets, of_targets, strict=True):
            of_subjects[number][tool_id] = label
        return [
            AnalysisVerdict(label, tuple(found), own)
            for label, found, own in zip(labels, subjects, of_subjects, strict=True)
        ]

    @property
    def hours(self) -> DirtyHours:
        """The marks of hours that must be counted again."""
        return self.dirty or DirtyHours(self.table, self.clock)

    @property
    def _mentions(self) -> MentionStore:
        return MentionStore(self.table, self.hours)

    def _check(self, key: str, article: Article | None, catalog: Matcher) -> Analysis:
        """Leave no mention that the article, which another has concluded or which is gone, does not have."""
        if article is None:
            self._mentions.withdraw(key, catalog.ids)
            return Analysis.EXPIRED
        if article.status == Status.JOINED:
            self._mentions.withdraw(key, catalog.ids)
        if article.status == Status.ANALYZED:
            self._mentions.check(article, catalog.ids)
        return Analysis.ALREADY

    def _write_ahead(
        self,
        pending: Sequence[Article],
        verdicts: Mapping[str, AnalysisVerdict | AnalysisFailed],
        catalog: Matcher,
    ) -> set[str]:
        """Write mentions and grouping marks of what is analyzed for the first time, all together.

        Twenty-five in a request instead of one, which is most of what analysis costs besides the engine.

        Returns:
            The dedup keys of the articles for which only the status is left to be written.
        """
        first = [
            self._judged(article, verdict)
            for article in pending
            if article.revision == 1 and isinstance(verdict := verdicts[article.dedup_key], AnalysisVerdict)
        ]
        written = self._mentions.write_first(first, catalog.ids)
        now = self.clock()
        waiting = [one.dedup_key for one in first if one.dedup_key in written]
        self.table.put_many(ungrouped_items(waiting, now))
        return written

    def _conclude(
        self,
        article: Article,
        verdict: AnalysisVerdict | AnalysisFailed,
        catalog: Matcher,
        *,
        written: bool,
    ) -> Analysis:
        """Write an article's mentions and status, again if a source added to it meanwhile.

        `written` says that all but the status is there already, for this revision.
        """
        if isinstance(verdict, AnalysisFailed):
            self._mark_failed(article, verdict)
            raise verdict
        for _ in range(_RACES):
            judged = self._judged(article, verdict)
            if not written:
                self._mentions.write(judged, catalog.ids)
                [mark] = ungrouped_items([article.dedup_key], self.clock())
                self.table.put(mark)
            written = False
            done = replace(judged, status=Status.ANALYZED, analyzed_at=isoformat(self.clock()))
            try:
                self.table.update(
                    keys.article(article.dedup_key),
                    assign=changes(article, done),
                    condition=has_status(Status.PENDING) & Attr("revision").eq(article.revision),
                )
            except ConditionFailed as failed:
                now = None if failed.item is None else Article.of_item(failed.item)
                if now is None or now.status != Status.PENDING:
                    return self._check(article.dedup_key, now, catalog)
                article = now
                again = self._judge_alone(article, catalog)
                if isinstance(again, AnalysisFailed):
                    self._mark_failed(article, again)
                    raise again from None
                verdict = again
                continue
            return Analysis.ANALYZED
        raise ArticleContended(f"article {article.dedup_key}: overtaken {_RACES} times; it is tried again")

    def _judged(self, article: Article, verdict: AnalysisVerdict) -> Article:
        """Return an article with what its analysis has found."""
        whole = _judgement(verdict.label)
        return replace(
            article,
            sentiment=whole.label,
            score=whole.score,
            polarity=whole.polarity,
            subjects=verdict.subjects,
            subject_sentiments={tool_id: _judgement(label) for tool_id, label in verdict.of_subjects.items()},
            engine=self.engine.name,
        )

    def _mark_failed(self, article: Article, failure: AnalysisFailed) -> None:
        try:
            self.table.update(
                keys.article(article.dedup_key),
                assign={"status": Status.ERROR.value, "error_reason": str(failure)[:300]},
                condition=has_status(Status.PENDING),
            )
        except ConditionFailed:
            return  # somebody else has concluded it, well or badly


def reopen_analyzed(table: Table, dedup_key: str) -> bool:
    """Make an analyzed article pending again, as a new revision.

    Returns:
        Whether it waits for its analysis now; not if it is gone or in error.
    """
    try:
        table.update(
            keys.article(dedup_key),
            assign={"status": Status.PENDING.value},
            increment={"revision": 1},
            condition=Attr("PK").exists() & has_status(Status.ANALYZED),
        )
    except ConditionFailed as found:
        return found.item is not None and status_of(found.item) == Status.PENDING
    return True


def _judgement(label: Label) -> Judgement:
    return Judgement(label=Sentiment(label.sentiment), score=label.confidence, polarity=label.polarity)


def _named(subjects: Mapping[str, TextSpan | None]) -> list[tuple[str, TextSpan]]:
    """Return the subjects that a text names, with where; none if it names only one."""
    named = [(tool_id, place) for tool_id, place in subjects.items() if place is not None]
    return named if len(named) > 1 else []


def _guarded(run: Callable[[], Analysis]) -> Analysis | SourcebookError:
    try:
        return run()
    except SourcebookError as error:
        return error
