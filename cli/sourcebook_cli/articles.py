"""Articles: `articles search`, and `articles key`, which shows why two headlines merge."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from sourcebook.articles.normalize import identify
from sourcebook.records.article import Article
from sourcebook_cli.decisions import join, split
from sourcebook_cli.output import say, say_json
from sourcebook_cli.stack import on_aws


@click.group()
def articles() -> None:
    """Search articles, show their dedup keys, and join or split them."""


articles.add_command(join)
articles.add_command(split)


@articles.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--rank", is_flag=True, help="What fits best first, instead of the newest.")
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="Articles at most."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, as the HTTP API has it.")
@on_aws
def search(query: tuple[str, ...], rank: bool, limit: int, as_json: bool, aws: bool) -> None:
    """Find articles.

    QUERY has words, "phrases", OR, -not, and the filters source:, subject:, tag:, sentiment:, lang:, since:
    and until: (a day, a time, or 24h, 7d). Write -- before a query that begins with -.
    """
    from sourcebook.articles.read import ArticleFilter
    from sourcebook.search.days import Days
    from sourcebook.search.query import NEWEST, RANK, parse
    from sourcebook.search.read import ArticleSearch, OpenDays, SubjectNames
    from sourcebook.sentiment.subjects import SubjectRegistry
    from sourcebook_cli.stack import Stack

    stack = Stack.connect(aws=aws)
    searching = ArticleSearch(
        stack.table, OpenDays(Days(stack.objects)), SubjectNames(SubjectRegistry(stack.table))
    )
    asked = parse(" ".join(query), searching.clock())
    cursor: str | None = None
    left = limit
    while left:
        page = searching.page(
            asked, ArticleFilter(), order=RANK if rank else NEWEST, limit=min(left, 100), cursor=cursor
        )
        left -= len(page.items)
        for article in page.items:
            _say(article, as_json=as_json)
        if (cursor := page.next_cursor) is None:
            break
    if left == limit and not as_json:
        say("No article is found. A new one is found within five minutes of its analysis.", err=True)


def _say(article: Article, *, as_json: bool) -> None:
    if as_json:
        say_json(article.shown())
        return
    say(article.headline)
    say("    ", ", ".join((article.timestamp, article.sentiment or "", *article.sources)))


@articles.command()
@click.argument("headline")
@click.option("--date", required=True, type=click.DateTime(["%Y-%m-%d"]), help="Publication date in UTC.")
@click.option("--publisher", multiple=True, help="Name under which the publisher stands in its headlines.")
@click.option("--json", "as_json", is_flag=True)
def key(headline: str, date: datetime, publisher: tuple[str, ...], as_json: bool) -> None:
    """Print the normalized form of a HEADLINE, its dedup key and its signature."""
    identity = identify(headline, date.replace(hour=12, tzinfo=UTC), publisher)
    found = {
        "normalized_headline": identity.normalized,
        "dedup_key": identity.dedup_key,
        "signature": identity.signature,
    }
    if as_json:
        say_json(found)
    else:
        for name, value in found.items():
            say(f"{name:<20} {value}")
