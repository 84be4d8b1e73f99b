"""What 10,000 rules cost for each article, beside its analysis and beside going through all rules.

    python -m bench.match_alerts

The articles are the sample feeds'. The goal is less than a tenth of the analysis, of which the model alone is
counted here, and not what reading and writing the table takes.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from sourcebook.alerts.matching import ArticleRules, Groups
from sourcebook.feeds.parse import parse_feed
from sourcebook.records.article import Article
from sourcebook.search.day import ArticleWords, IndexedArticle
from sourcebook.search.folding import words
from sourcebook.search.query import parse
from sourcebook.sentiment.engines.loading import engine_named

SAMPLES = Path(__file__).parents[1] / "local" / "sourcebook_local" / "samples" / "feeds"
RULES = 10_000
NOW = datetime(2026, 11, 27, tzinfo=UTC)


def texts() -> list[tuple[str, str]]:
    """Return headline and text of each sample article."""
    feeds = [
        parse_feed(file.read_bytes(), url=f"https://{file.stem}.example/")
        for file in sorted(SAMPLES.iterdir())
    ]
    return [(entry.title or "", entry.summary or "") for feed in feeds for entry in feed.entries]


def entry_of(number: int, headline: str, text: str) -> IndexedArticle:
    """Return an article as rules are held against it."""
    item = {
        "dedup_key": f"{number:032x}",
        "timestamp": "2026-11-27T00:00:00Z",
        "headline": headline,
        "text_for_analysis": text,
        "sentiment": "neutral",
        "sources": [f"source-{number % 9}"],
        "tags": [f"tag-{number % 50}"],
    }
    return IndexedArticle.of(Article.of_item(item))


def queries(vocabulary: Sequence[str], draw: random.Random) -> list[Groups]:
    """Return rules as people write them: two or three words, half of them of the articles' own."""
    made: list[Groups] = []
    while len(made) < RULES:
        own = [draw.choice(vocabulary) for _ in range(draw.randint(1, 3))]
        if draw.random() < 0.5:
            own[0] = f"word{draw.randrange(20_000)}"
        if draw.random() < 0.2:
            own.append(f"-{draw.choice(vocabulary)}")
        if draw.random() < 0.3:
            own.append(f"source:source-{draw.randrange(9)}")
        made.append(parse(" ".join(own), NOW).groups)
    return made


def each(act: Callable[[IndexedArticle], object], entries: Sequence[IndexedArticle]) -> float:
    """Return the milliseconds of CPU that one article takes."""
    begun = time.process_time()
    for entry in entries:
        act(entry)
    return (time.process_time() - begun) / len(entries) * 1_000


def main() -> None:
    articles = texts()
    entries = [entry_of(number, *one) for number, one in enumerate(articles)]
    vocabulary = [
        word for headline, text in articles for word in words(f"{headline} {text}") if len(word) > 3
    ]
    asked = queries(vocabulary, random.Random(7))  # noqa: S311 - seeded draws
    rules = ArticleRules()
    begun = time.process_time()
    for number, groups in enumerate(asked):
        rules.add(f"{number}", groups)
    built = time.process_time() - begun
    found = sum(len(rules.matching(entry)) for entry in entries)
    indexed = min(each(rules.matching, entries) for _ in range(3))
    loop = each(lambda entry: [ArticleWords(entry).match(groups) for groups in asked], entries[:5])
    engine = engine_named("model")
    judged = [f"{headline}. {text}"[:1_000] for headline, text in articles]
    engine.label(judged)
    begun = time.process_time()
    for start in range(0, len(judged), 10):  # as many as a function gets at once
        engine.label(judged[start : start + 10])
    model = (time.process_time() - begun) / len(judged) * 1_000
    print(f"{len(entries)} articles, {RULES:,} rules, {found / len(entries):.1f} matches an article")
    print(f"index of rules     {indexed:8.3f} ms an article; built in {built:.2f} s")
    print(f"going through all  {loop:8.3f} ms, {loop / indexed:,.0f} times as much")
    print(f"analysis, its model alone {model:8.3f} ms: rules cost {indexed / model:.3f} of it")


if __name__ == "__main__":
    main()
