"""What is exported: articles by the day of their `timestamp`, observations by the day that they are of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from typing import Final, TypeAlias

from sourcebook.articles.read import ArticleFilter, ArticleReader
from sourcebook.columns import ColumnKind, Columns
from sourcebook.exports.period import Period
from sourcebook.observations.export import OBSERVED
from sourcebook.observations.raw_read import RawReader
from sourcebook.records.article import Article
from sourcebook.records.schema import columns_of
from sourcebook.table.client import Table
from sourcebook.table.pages import all_items

Row: TypeAlias = Mapping[str, object]
Rows: TypeAlias = Callable[[Table, Period], Iterator[tuple[date, Iterable[Row]]]]

_PAGE: Final = 100


@dataclass(frozen=True, slots=True)
class Dataset:
    """One kind of record.

    Attributes:
        name: of its folder.
        columns: of its Parquet files, in their order; a line of NDJSON has the record as the API serves it.
        days_at_once: how many days are read together.
        expires: whether its records leave the table after a time.
        rows: yields each day of a period with its records.
    """

    name: str
    columns: Columns
    days_at_once: int
    expires: bool
    rows: Rows


def _articles(table: Table, period: Period) -> Iterator[tuple[date, Iterable[Row]]]:
    reader = ArticleReader(table)
    for day in period.days():
        since = datetime.combine(day, time.min, tzinfo=UTC)
        wanted = ArticleFilter(since=since, until=since + timedelta(days=1))
        pages = all_items(partial(reader.page, wanted, limit=_PAGE))
        yield day, (article.shown() for article in pages)


def _observations(table: Table, period: Period) -> Iterator[tuple[date, Iterable[Row]]]:
    # Their keys begin with bank, series and term: all days of the period are read in one walk.
    by_day: defaultdict[str, list[Row]] = defaultdict(list)
    reader = RawReader(table)
    for row in all_items(partial(reader.figures, since=period.since, until=period.until, limit=_PAGE)):
        by_day[str(row["observed_day"])].append(row)
    for day in period.days():
        yield day, by_day.get(day.isoformat(), ())


_ARTICLE: Final = {**columns_of(Article), "mentions": ColumnKind.JSON}
ARTICLES: Final = Dataset("articles", _ARTICLE, 1, expires=True, rows=_articles)
OBSERVATIONS: Final = Dataset("observations", OBSERVED, 31, expires=False, rows=_observations)
DATASETS: Final = (ARTICLES, OBSERVATIONS)
