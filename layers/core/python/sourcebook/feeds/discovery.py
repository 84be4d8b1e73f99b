"""From the address of a site to the address of its feed.

First what the page itself announces (``<link rel="alternate">`` with the type of a feed, WHATWG HTML section
4.6.7.1), then the paths where common software puts its feed. Only what has been fetched and read as a feed
counts: sites announce feeds that they no longer have.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin, urlsplit

from sourcebook.errors import InvalidInput
from sourcebook.feeds._document import decode
from sourcebook.feeds.model import NotAFeed
from sourcebook.feeds.opml import clean_url, loose_attributes, same_url
from sourcebook.feeds.parse import parse_feed
from sourcebook.http.errors import FetchCause, FetchError
from sourcebook.http.response import error_for

if TYPE_CHECKING:
    from sourcebook.http.client import HttpClient
    from sourcebook.http.response import HttpResponse

COMMON_PATHS: Final = (
    "feed",
    "rss",
    "feed.xml",
    "rss.xml",
    "atom.xml",
    "index.xml",
    "feeds/posts/default",
    "feed.json",
)
"""Where WordPress, Ghost, Jekyll, Hugo, Blogger and others put their feeds, from the site's address."""

MOST_REQUESTS: Final = 16
SECONDS: Final = 20.0
"""For a whole search: below the 29 seconds of the API."""

_FEED_TYPES: Final = re.compile(
    r"application/(?:rss|atom|rdf|feed)\+(?:xml|json)|application/rss|application/x-rss\+xml|application/json"
    r"|(?:application|text)/xml",
    re.IGNORECASE,
)
_SCANNED: Final = 500_000
_MOST_LINKS: Final = 50
# Comments and scripts are matched whole, so that nothing in them counts.
_TAG: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<script\b.*?(?:</script\b|\Z)|<(link|base)\b", re.IGNORECASE | re.DOTALL
)
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d)")
_NO_SUCH_SCHEME: Final = frozenset({FetchCause.CONNECT, FetchCause.TLS, FetchCause.TIMEOUT, FetchCause.RESET})


@dataclass(frozen=True, slots=True)
class Discovery:
    """A feed that was found, fetched and read.

    Attributes:
        url: where it is to be polled.
        title: its own title, "" without one.
        how: "is_feed" when the address is the feed's own, "announced" by the page, or "common_path".
        others: addresses of the other feeds that the page announces; not fetched.
    """

    url: str
    title: str
    how: str
    others: tuple[str, ...] = ()


class NoFeedFound(InvalidInput):
    """There is no feed at an address nor where its site would have one.

    Attributes:
        tried: address and outcome of each request, in order.
    """

    def __init__(self, address: str, tried: Sequence[tuple[str, str]]) -> None:
        self.tried = tuple(tried)
        first = f" ({tried[0][1]})" if tried else ""
        super().__init__(
            "site",
            address,
            f"a feed or a page that announces one; {len(tried)} addresses were tried{first}. Give the "
            "feed's own address if you know it",
        )


@dataclass(slots=True)
class _Search:
    """One search: what it has asked, and how much it still may."""

    http: HttpClient
    tried: list[tuple[str, str]] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)
    page: HttpResponse | None = None

    async def fetch(self, url: str) -> HttpResponse:
        """Fetch a document.

        Raises:
            FetchError: if there is none.
        """
        self.asked.add(same_url(url))
        try:
            response = await self.http.get(url, led_by=self.page)
            if not response.is_success or response.is_challenge:
                raise error_for(response)
        except FetchError as error:
            self.tried.append((url, str(error)))
            raise
        self.page = self.page or response
        return response

    async def read(
        self, url: str, response: HttpResponse, how: str, others: Sequence[str] = ()
    ) -> Discovery | None:
        """Return the feed of an answer, or None if it is none."""
        try:
            feed = await asyncio.to_thread(
                parse_feed, response.body, url=response.url, charset=response.charset
            )
        except NotAFeed as error:
            self.tried.append((url, str(error)))
            return None
        return Discovery(response.permanent_url or url, feed.title, how, tuple(others))

    async def feed(self, url: str, how: str, others: Sequence[str] = ()) -> Discovery | None:
        """Fetch a URL, if it was not asked yet, and read it as a feed; None if it is none."""
        if same_url(url) in self.asked or len(self.asked) >= MOST_REQUESTS:
            return None
        try:
            response = await self.fetch(url)
        except FetchError:
            return None
        return await self.read(url, response, how, others)


async def discover(http: HttpClient, address: str) -> Discovery:
    """Find the feed of a site.

    Args:
        http: the guarded client: addresses that it refuses are not asked.
        address: of a feed or a page; without a scheme, https is tried before http.

    Raises:
        InvalidInput: if it is no web address.
        NoFeedFound: if there is no feed.
        FetchError: if the address itself could not be fetched.
    """
    search = _Search(http)
    try:
        async with asyncio.timeout(SECONDS):
            return await _discover(search, address)
    except TimeoutError as error:
        search.tried.append((address, f"not done after {SECONDS:.0f} seconds"))
        raise NoFeedFound(address, search.tried) from error


async def _discover(search: _Search, address: str) -> Discovery:
    response, url = await _first_answer(search, address)
    if found := await search.read(url, response, "is_feed"):
        return found
    page = decode(response.body[: 4 * _SCANNED], response.charset, [])
    announced = announced_feeds(page, response.url)
    for link in announced:
        others = [other for other in announced if other != link]
        if found := await search.feed(link, "announced", others):
            return found
    for candidate in _common_addresses(response.url):
        if found := await search.feed(candidate, "common_path"):
            return found
    raise NoFeedFound(address, search.tried)


async def _first_answer(search: _Search, address: str) -> tuple[HttpResponse, str]:
    """Fetch the address that was given.

    Raises:
        InvalidInput: if it is no web address.
        FetchError: if it could not be fetched.
    """
    url, *others = _addresses(address)
    try:
        return await search.fetch(url), url
    except FetchError as error:
        if error.cause is FetchCause.INVALID_URL:
            raise InvalidInput("site", address, "a web address such as https://news.example") from error
        if error.cause not in _NO_SUCH_SCHEME or not others:
            raise
    return await search.fetch(others[0]), others[0]


def _addresses(address: str) -> list[str]:
    """Return the URLs that an address may mean.

    Raises:
        InvalidInput: if it cannot be a web address.
    """
    cleaned = clean_url(address)
    if not _SCHEME.match(cleaned):
        cleaned = cleaned.removeprefix("//")
        urls = [f"https://{cleaned}", f"http://{cleaned}"]
    else:
        urls = [cleaned]
    try:
        parts = urlsplit(urls[0])
        fits = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.username is None
    except ValueError:
        fits = False
    if not fits or len(cleaned) > 2000 or re.search(r"\s", cleaned):
        raise InvalidInput("site", address, "a web address such as https://news.example, without a user name")
    return urls


def announced_feeds(page: str, url: str) -> list[str]:
    """Return the addresses of the feeds that a page announces, those of comments last.

    Args:
        page: the HTML.
        url: where it came from; its ``<base>`` is honoured.
    """
    base = url
    links: dict[str, tuple[str, str]] = {}
    for match in _TAG.finditer(page[:_SCANNED]):
        if not match[1]:
            continue
        attributes, _, _ = loose_attributes(page, match.end(), is_html=True)
        href = attributes.get("href", "").strip()
        if not href:
            continue
        if match[1].lower() == "base":
            base = _join(url, href) if base == url else base
        elif _announces_feed(attributes) and (target := _join(base, clean_url(href))):
            links.setdefault(same_url(target), (target, attributes.get("title", "")))
    kept = sorted(list(links.values())[:_MOST_LINKS], key=lambda link: "comment" in " ".join(link).lower())
    return [target for target, _ in kept]


def _announces_feed(attributes: dict[str, str]) -> bool:
    relations = attributes.get("rel", "").lower().split()
    kind = attributes.get("type", "").partition(";")[0].strip()
    if "stylesheet" in relations or "wp-json" in attributes.get("href", ""):
        return False
    return ("alternate" in relations and bool(_FEED_TYPES.fullmatch(kind))) or "feed" in relations


def _join(base: str, href: str) -> str:
    try:
        joined = urljoin(base, href)
        return joined if urlsplit(joined).scheme in {"http", "https"} else ""
    except ValueError:
        return ""


def _common_addresses(url: str) -> list[str]:
    """Return where a site's feed usually is: below the page that was asked for, then below the root."""
    here = url.partition("?")[0].partition("#")[0]
    folder = here if here.endswith("/") or "." not in here.rpartition("/")[2] else here.rpartition("/")[0]
    folder = folder.rstrip("/") + "/"
    root = urljoin(url, "/")
    nearby = [urljoin(folder, path) for path in COMMON_PATHS]
    if folder == root:
        return nearby
    return [*nearby[:4], *(urljoin(root, path) for path in COMMON_PATHS)]
