"""How large the search index of a month is, how fast it answers, and what writing it costs.

    .venv/bin/python -m bench.search [--headlines 300000] [--days 30] [--json FILE]

A month of headlines goes into the index as the function writes it: one day in batches of three minutes, all
others at once. The bucket is in memory; what S3 takes for a file (30 ms, eight at once) is added. The
query has two words and a date filter. Warm: the days are open. Cold: nothing is. Headlines are those of
the folder ../shared beside the project (or SOURCEBOOK_SHARED), each once a day; without it, words drawn as a
language has them (Zipf), which is harder to compress.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import random
import statistics
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from bench.figures import Figure, save
from bench.match_subjects import SHARED
from sourcebook.bucket.objects import Content, ObjectChanged
from sourcebook.clock import isoformat
from sourcebook.search.days import Days
from sourcebook.search.index import Indexer
from sourcebook.search.query import parse
from sourcebook.search.read import OpenDays

BEGIN: Final = datetime(2026, 11, 1, tzinfo=UTC)
WORDS: Final = 60_000
BATCHES: Final = 24 * 20
S3_SECONDS: Final = 0.030
GB_SECOND, REQUEST, PUT, GET, READ_UNIT = 0.0000133334, 0.20e-6, 0.005 / 1000, 0.0004 / 1000, 0.125e-6
MEMORY_GB: Final = 0.5
CPU_SHARE: Final = 512 / 1769
STREAM_READ: Final = 0.02 / 100_000
STREAM_READS: Final = 12
"""Requests for one reading of the stream: its description, and some for each of its shards, four at first."""


class Folder:
    """A bucket in memory."""

    def __init__(self) -> None:
        self.files: dict[str, tuple[bytes, str]] = {}

    def read(self, key: str, largest: int) -> Content:  # noqa: ARG002
        body, etag = self.files[key]
        return Content(body, etag, {})

    def create(self, key: str, body: bytes, content_type: str) -> str:  # noqa: ARG002
        if key in self.files:
            raise ObjectChanged(key)
        return self._put(key, body)

    def replace(self, key: str, body: bytes, content_type: str, *, etag: str) -> str:  # noqa: ARG002
        if self.files[key][1] != etag:
            raise ObjectChanged(key)
        return self._put(key, body)

    def _put(self, key: str, body: bytes) -> str:
        etag = f'"{hashlib.md5(body).hexdigest()}"'  # noqa: S324 - as S3 makes it
        self.files[key] = (body, etag)
        return etag

    def etags(self, prefix: str) -> dict[str, str]:
        return {key: etag for key, (_, etag) in self.files.items() if key.startswith(prefix)}


def vocabulary(rng: random.Random) -> tuple[list[str], list[float]]:
    """Return words and their cumulative frequencies."""
    letters, seen = "etaoinshrdlucmfwypvbgk", dict[str, None]()
    while len(seen) < WORDS:
        seen["".join(rng.choices(letters, k=rng.choice((3, 4, 5, 5, 6, 6, 7, 8, 9))))] = None
    total, cumulative = 0.0, []
    for rank in range(1, WORDS + 1):
        total += 1 / (rank + 2.7) ** 1.05
        cumulative.append(total)
    return list(seen), cumulative


def real_headlines() -> list[str]:
    """Return headlines that people wrote, each once; none where there are not enough of them."""
    files = [SHARED / "sentfin_train.tsv", SHARED / "tfns_train.tsv"]
    if not all(file.exists() for file in files):
        return []
    lines = (line.split("\t")[1] for file in files for line in file.read_text("utf-8").splitlines()[1:])
    return list(dict.fromkeys(lines))


def articles(count: int, days: int, rng: random.Random) -> list[dict[str, Any]]:
    known = real_headlines()
    words, weights = vocabulary(rng) if not known else ([], [])
    sources = [f"source-{number}" for number in range(400)]
    made = []
    for number in range(count):
        headline = (
            known[number % len(known)]
            if known
            else " ".join(rng.choices(words, cum_weights=weights, k=rng.choice((10, 11, 12, 13))))
        )
        made.append(
            {
                "dedup_key": hashlib.md5(str(number).encode()).hexdigest(),  # noqa: S324 - 32 digits, as ours
                "timestamp": isoformat(BEGIN + timedelta(days=days) * (number / count)),
                "headline": headline,
                "status": "analyzed",
                "sentiment": rng.choice(("neutral", "neutral", "positive", "negative")),
                "sources": [rng.choice(sources)],
                "tags": [f"TAG{rng.randrange(300)}"] if number % 3 == 0 else [],
                "metadata": {"language": "en"},
            }
        )
    return made


def measure(count: int, days: int) -> list[Figure]:
    rng = random.Random(7)  # noqa: S311 - the same month each time
    month = articles(count, days, rng)
    folder = Folder()
    # At the end of the month: the days before the last are written small.
    store = Days(folder, clock=lambda: BEGIN + timedelta(days=days - 1, hours=12))
    indexer = Indexer(store, None)  # type: ignore[arg-type] - the table is asked for damaged days alone
    last = (BEGIN + timedelta(days=days - 1)).date().isoformat()
    today = [article for article in month if article["timestamp"] >= last]
    indexer.take(article for article in month if article["timestamp"] < last)
    begun, size = time.process_time(), math.ceil(len(today) / BATCHES)
    batches = [today[at : at + size] for at in range(0, len(today), size)]
    for batch in batches:
        indexer.take(batch)
    seconds = (time.process_time() - begun) / len(batches)
    packed = sum(len(body) for body, _ in folder.files.values())

    texts = [words for article in rng.sample(month, 300) if len(words := article["headline"].split()) > 5][
        :200
    ]
    # Two words of one headline, and three weeks of the month.
    first, end = (BEGIN + timedelta(days=one) for one in (days // 4, days - 1))
    dates = f"since:{first.date()} until:{end.date()}"
    queries = [
        f'"{words[2]}" "{words[5]}" {dates}' for words in texts if words[2].isalnum() and words[5].isalnum()
    ]
    warm_days = OpenDays(store)
    warm, cold = [], []
    ask(warm_days, queries[0])
    for query in queries:
        begun = time.perf_counter()
        ask(warm_days, query)
        warm.append(time.perf_counter() - begun)
    for query in queries[:5]:
        begun = time.perf_counter()
        opened = ask(OpenDays(store), query)
        cold.append(time.perf_counter() - begun + S3_SECONDS * (1 + math.ceil(opened / 8)))

    # One batch: its CPU at the function's share of one, one file read and written (a second one each tenth
    # time, for articles of the day before), the stream read, and the articles by their keys.
    files = 1.1
    run_seconds = seconds / CPU_SHARE + (2 * files + STREAM_READS / 4) * S3_SECONDS
    each = run_seconds * MEMORY_GB * GB_SECOND + REQUEST + files * (PUT + GET) + STREAM_READS * STREAM_READ
    dollars = BATCHES * each * days + count * 0.5 * READ_UNIT
    return [
        Figure(f"index of {count:,} headlines, compressed", packed / 1e6, "MB", at_most=15 * count / 300_000),
        Figure("two words and dates, warm, median", 1000 * statistics.median(warm), "ms", at_most=60),
        Figure("two words and dates, warm, slowest of 200", 1000 * max(warm), "ms"),
        Figure("two words and dates, cold", max(cold), "s", at_most=1.5),
        Figure(
            "a batch of three minutes, CPU", 1000 * seconds, "ms", f"{size} articles of {len(today):,} a day"
        ),
        Figure(
            "indexing a million articles",
            dollars / count * 1e6,
            "dollars",
            f"{BATCHES} runs a day",
            at_most=0.60,
        ),
    ]


def ask(days: OpenDays, text: str) -> int:
    """Ask as the API does, and return how many days were looked at."""
    query = parse(text, BEGIN + timedelta(days=31))
    assert query.since is not None
    assert query.until is not None
    names = [
        day for day in days.names() if query.since.date().isoformat() <= day < query.until.date().isoformat()
    ]
    since, until = int(query.since.timestamp()), int(query.until.timestamp())
    for begin in range(0, len(names), 8):
        for day in days.get(names[begin : begin + 8]):
            day.find(query.groups, since=since, until=until)
    return len(names)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--headlines", type=int, default=300_000)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    figures = measure(options.headlines, options.days)
    for figure in figures:
        print(f"{figure.what:<48} {figure.result:>12} {figure.goal:>10} {figure.verdict} {figure.ours}")
    save(options.json, figures)


if __name__ == "__main__":
    main()
