"""Articles as a feed that any reader follows: Atom (RFC 4287) and JSON Feed 1.1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from sourcebook.api.requests import Request
from sourcebook.api.responses import Response
from sourcebook.articles.read import AnyArticle
from sourcebook.records.article import Article, SourceAttribution
from sourcebook.table.pages import Page
from sourcebook.votable_text import xml_quoted, xml_text

ATOM_TYPE: Final = "application/atom+xml"
JSON_TYPE: Final = "application/feed+json"

_BEGINNING: Final = "1970-01-01T00:00:00Z"
"""When a feed changed that has no article: it must say so, and always the same."""


def atom(page: Page[AnyArticle], request: Request) -> Response:
    """Return a page of articles as an Atom feed."""
    articles = _articles(page)
    changed = max((article.updated_at for article in articles), default=_BEGINNING)
    links = [("self", _address(request)), ("alternate", _base(request) + "/")]
    if page.next_cursor is not None:
        links.append(("next", _address(request, page.next_cursor)))
    parts = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        f"<id>{xml_text(_address(request))}</id>",
        f"<title>{xml_text(_title(request))}</title>",
        f"<updated>{changed}</updated>",
        "<author><name>Sourcebook</name></author>",
        *(f"<link rel={xml_quoted(relation)} href={xml_quoted(address)}/>" for relation, address in links),
        *(line for article in articles for line in _entry(article)),
        "</feed>\n",
    ]
    return Response("\n".join(parts), content_type=f"{ATOM_TYPE}; charset=utf-8")


def json_feed(page: Page[AnyArticle], request: Request) -> Response:
    """Return a page of articles as a JSON Feed."""
    following = {} if page.next_cursor is None else {"next_url": _address(request, page.next_cursor)}
    body = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": _title(request),
        "home_page_url": _base(request) + "/",
        "feed_url": _address(request),
        **following,
        "items": [_item(article) for article in _articles(page)],
    }
    return Response(body, content_type=JSON_TYPE)


def _entry(article: Article) -> Iterator[str]:
    yield "<entry>"
    yield f"<id>{_id(article)}</id>"
    yield f"<title>{xml_text(article.headline)}</title>"
    yield f"<updated>{article.updated_at}</updated>"
    yield f"<published>{article.timestamp}</published>"
    if address := _link(article):
        yield f'<link rel="alternate" href={xml_quoted(address)}/>'
    for name in _names(article):
        yield f"<author><name>{xml_text(name)}</name></author>"
    if names := _names(article):
        # Whoever takes the entry on knows which name at the end of a headline is the publisher's.
        yield f"<source><title>{xml_text(names[0])}</title></source>"
    for tag in article.all_tags:
        yield f"<category term={xml_quoted(tag)}/>"
    if article.text_for_analysis:
        yield f"<summary>{xml_text(article.text_for_analysis)}</summary>"
    yield "</entry>"


def _item(article: Article) -> dict[str, object]:
    language = (article.metadata or {}).get("language")
    optional = {"url": _link(article), "language": language}
    return {
        "id": _id(article),
        "title": article.headline,
        "content_text": article.text_for_analysis or article.headline,
        "date_published": article.timestamp,
        "date_modified": article.updated_at,
        "authors": [{"name": name} for name in _names(article)],
        "tags": article.all_tags,
        **{name: value for name, value in optional.items() if value},
    }


def _articles(page: Page[AnyArticle]) -> Sequence[Article]:
    """Return the articles that have an id of ours; those of the older format have none, and expire."""
    return [article for article in page.items if isinstance(article, Article)]


def _id(article: Article) -> str:
    return f"urn:uuid:{UUID(hex=article.dedup_key)}"


def _attributions(article: Article) -> Iterator[SourceAttribution]:
    attributions = article.source_attribution
    return (attributions[source] for source in article.sources if source in attributions)


def _link(article: Article) -> str | None:
    """Return the article's address at the first of its sources that gave one."""
    return next((attribution.url for attribution in _attributions(article) if attribution.url), None)


def _names(article: Article) -> list[str]:
    attributions = article.source_attribution
    return [
        (attributions[source].source_name if source in attributions else None) or source
        for source in article.sources
    ]


def _title(request: Request) -> str:
    terms = [value if name == "q" else f"{name}:{value}" for name, value in _kept(request)]
    return f"Sourcebook: {' '.join(terms)}" if terms else "Sourcebook"


def _kept(request: Request) -> list[tuple[str, str]]:
    """Return the parameters that make the feed what it is, in one order."""
    return sorted((name, value) for name, value in request.query.items() if name not in {"cursor", "limit"})


def _address(request: Request, cursor: str = "") -> str:
    also = [("limit", request.query["limit"])] if "limit" in request.query else []
    query = urlencode([*_kept(request), *also, *([("cursor", cursor)] if cursor else [])])
    return f"{request.address}?{query}" if query else request.address


def _base(request: Request) -> str:
    return request.address.rpartition("/")[0]
