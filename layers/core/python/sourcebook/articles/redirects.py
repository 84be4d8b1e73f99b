"""Where an article leads after the decisions of people.

One that was joined leads to the other; a source that was split off, to the article of its own.
"""

from __future__ import annotations

from typing import Final

from sourcebook.records.article import Article

MOST_REDIRECTS: Final = 10
"""Decisions that are followed from one article to the next."""


def redirect(article: Article, source: str) -> str | None:
    """Return the dedup key of the article that has this source's words instead of this one, or None."""
    return (article.split_off or {}).get(source) or article.joined_into
