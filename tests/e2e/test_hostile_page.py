"""The web page with what feeds could smuggle into it, in a real browser.

Nothing of it may run, be asked for, or become a link that runs. Skipped without a Chromium or Chrome.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from xml.sax.saxutils import escape, quoteattr

import pytest

from sourcebook.clock import isoformat
from sourcebook.feeds.manage import FeedManager
from sourcebook.records.article import Article
from sourcebook.records.subject import Subject
from sourcebook.sentiment.mentions import mention_items
from sourcebook.sentiment.subjects import SubjectRegistry
from sourcebook.sources.model import SourceSpec
from sourcebook.table import keys
from sourcebook_local.folder import start_server, stop_servers
from tests.browser import expect, launched, needs_browser, new_page, open_page, show_all
from tests.e2e.sources import fetch, register
from tests.e2e.stack import wait_until
from tests.e2e.test_page import table_of
from tests.unit.api.stored import article_item, put_article

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from playwright.sync_api import Page as BrowserPage

    from tests.e2e.stack import Stack

pytestmark = needs_browser

ELSEWHERE = "https://elsewhere.invalid"
RUN = "window.ran=1;alert(1)"
MARKUP = {
    "script": f"<script>{RUN}</script>",
    "loaded script": f"<script src={ELSEWHERE}/x.js></script>",
    "broken tag": f"<scr<script>ipt>{RUN}</scr</script>ipt>",
    "image": f"<img src=x onerror='{RUN}'>",
    "beacon": f"<img src='{ELSEWHERE}/beacon.png'>",
    "svg": f"<svg/onload='{RUN}'><animate onbegin='{RUN}' attributeName=x dur=1s></svg>",
    "math": f"<math><mtext><table><mglyph><style><img src onerror='{RUN}'>",
    "frame": f"<iframe srcdoc='<script>parent.{RUN}</script>'></iframe>",
    "object": f"<object data='javascript:{RUN}'></object><embed src='javascript:{RUN}'>",
    "details": f"<details open ontoggle='{RUN}'>",
    "focus": f"<input autofocus onfocus='{RUN}'>",
    "form": f"<form action='{ELSEWHERE}'><button formaction='javascript:{RUN}'>go</button></form>",
    "base": f"<base href='{ELSEWHERE}/'><link rel=stylesheet href='{ELSEWHERE}/x.css'>",
    "refresh": f"<meta http-equiv=refresh content='0;url={ELSEWHERE}'>",
    "style": f"<style>@import '{ELSEWHERE}/x.css';*{{background:url({ELSEWHERE}/y)}}</style>",
    "style attribute": f"<b style='position:fixed;inset:0;background:url({ELSEWHERE}/z)'>cover</b>",
    "link": f"<a href='javascript:{RUN}'>click</a>",
    "attribute": f"\" onmouseover='{RUN}' x=\"' autofocus onfocus={RUN} '",
    "closing": f"</title></textarea></script></style>--><img src=x onerror={RUN}>",
    "entities": f"&lt;img src=x onerror={RUN}&gt; &#60;script&#62;{RUN}&#60;/script&#62;",
    "template": "{{constructor.constructor('window.ran=1')()}} ${window.ran=1} #{7*7}",
    "direction": "\u202emoc.live\u202c \u2066hidden\u2069 \u200b\u200d\ufeff zalgo\u0301\u0302\u0303\u0304",
    "lookalike": "ｊａｖａｓｃｒｉｐｔ：alert(1) ＜script＞alert(1)＜/script＞ раураl",
    "lines": "one\u2028two\u2029three\u0085four",
}
"""What stands in titles, summaries and names, each beside words of its own."""

LINKS = {
    "javascript": f"javascript:{RUN}",
    "mixed case": f"JaVaScRiPt:{RUN}",
    "tab": f"java\tscript:{RUN}",
    "newline": f"java\nscript:{RUN}",
    "space": f" javascript:{RUN}",
    "control": f"\x01javascript:{RUN}",
    "data": f"data:text/html,<script>opener.{RUN}</script>",
    "vbscript": "vbscript:msgbox(1)",
    "blob": "blob:https://elsewhere.invalid/1",
    "file": "file:///etc/passwd",
    "view-source": f"view-source:javascript:{RUN}",
    "user": f"https://sourcebook.example@elsewhere.invalid/{RUN}",
    "quotes": f'https://ledger.example/"onmouseover="{RUN}"\'><script>{RUN}</script>',
    "fragment": f"https://ledger.example/#javascript:{RUN}",
    "nothing": "",
}
"""Addresses of entries."""

NAME = f"Ledger {MARKUP['image']} {MARKUP['script']}"
START = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=2)


def entries() -> list[tuple[str, str, str, str]]:
    """Return title, link, summary and id of every hostile entry."""
    made = [
        (f"Harbour {kind} tale {markup}", f"https://ledger.example/{n}", f"Summary {markup} end", f"m{n}")
        for n, (kind, markup) in enumerate(MARKUP.items())
    ]
    return made + [
        (f"Tide {kind} address story", link, "Summary", f"l{n}")
        for n, (kind, link) in enumerate(LINKS.items())
    ]


def rss(*, wrapped: bool) -> str:
    def text(value: str) -> str:
        plain = "".join(c for c in value if c >= " " or c in "\t\n")
        return f"<![CDATA[{plain}]]>" if wrapped else escape(plain)

    items = "".join(
        f"<item><title>{text(title)}</title><link>{text(link)}</link><guid isPermaLink='false'>{guid}</guid>"
        f"<pubDate>{START - timedelta(minutes=n):%a, %d %b %Y %H:%M:%S} GMT</pubDate>"
        f"<author>{text(MARKUP['image'])}</author><category>{text(MARKUP['script'][:60])}</category>"
        f"<enclosure url={quoteattr('javascript:1')} type='text/html' length='1'/>"
        f"<description>{text(summary)}</description></item>"
        for n, (title, link, summary, guid) in enumerate(entries())
    )
    return (
        f"<rss version='2.0'><channel><title>{text(NAME)}</title><link>{text(LINKS['javascript'])}</link>"
        f"<description>x</description>{items}</channel></rss>"
    )


def json_feed() -> str:
    items = [
        {
            "id": f"j{guid}",
            "url": link,
            "title": title,
            "content_html": summary,
            "date_published": isoformat(START - timedelta(minutes=n)),
            "tags": [MARKUP["svg"][:60]],
        }
        for n, (title, link, summary, guid) in enumerate(entries())
    ]
    feed = {"version": "https://jsonfeed.org/version/1.1", "title": NAME, "items": items}
    return json.dumps(feed)


@pytest.fixture(scope="module")
def hostile(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """The feeds' ids; they are fetched, and one article stands in the table that no feed could bring."""
    folder, home = tmp_path_factory.mktemp("hostile"), tmp_path_factory.mktemp("servers")
    for name, body in (
        ("wrapped.rss", rss(wrapped=True)),
        ("escaped.rss", rss(wrapped=False)),
        ("feed.json", json_feed()),
    ):
        (folder / name).write_text(body, encoding="utf-8")
    url = start_server(home, folder).url
    specs = [
        SourceSpec(
            source_id=f"hostile-{name.replace('.', '-')}",
            url=f"{url}/feeds/{name}",
            name=NAME,
            tags=(MARKUP["image"][:60],),
        )
        for name in ("wrapped.rss", "escaped.rss", "feed.json")
    ]
    table = table_of(stack)
    items = [planted(n, link) for n, link in enumerate(LINKS.values())]
    try:
        fetched = fetch(stack, register(stack, specs))
        read = {source.source_id: source.last_entries for source in fetched.values()}
        assert min(read.values()) >= len(MARKUP), read
        for item in items:
            put_article(table, item)
        SubjectRegistry(table).register([Subject("hostile", MARKUP["image"], "topic")])
        yield list(fetched)
    finally:
        # The stack is shared: no other test should meet what stands here.
        for spec in specs:
            FeedManager(table).remove(spec.source_id)
        for item in items:
            for there in (item, *mention_items(Article.of_item(item))):
                table.delete({"PK": there["PK"], "SK": there["SK"]})
        table.delete(keys.subject("hostile"))
        stop_servers(home)


def planted(number: int, link: str) -> dict[str, Any]:
    """Return an article as a version without checks, or somebody in the table, could have left it."""
    item = article_item(
        f"{number:032x}"[::-1],
        datetime.now(UTC),
        status="analyzed",
        sentiment="neutral",
        tags=(MARKUP["svg"],),
    )
    item["headline"] = f"Planted {number} {MARKUP['script']}"
    item["text_for_analysis"] = MARKUP["image"]
    word = item["source_attribution"]["harbor-ledger"]
    word |= {"url": link, "original_headline": f"Word {number} {MARKUP['svg']}", "source_name": NAME}
    return item


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as found:
        yield found


class Watched:
    """A page, and everything about it that must not happen."""

    def __init__(self, page: BrowserPage, address: str) -> None:
        self.page = page
        self.address = address
        self.origin = "{0.scheme}://{0.netloc}/".format(urlsplit(address))
        self.happened: list[str] = []
        self.failed: list[str] = []
        page.on("dialog", self._dialog)
        page.on("popup", lambda popup: self.happened.append(f"popup {popup.url}"))
        page.on("pageerror", lambda error: self.happened.append(f"error {error}"))
        page.on("request", self._request)
        page.on("console", self._console)

    def _dialog(self, dialog: Any) -> None:
        self.happened.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Any) -> None:
        if not request.url.startswith((self.origin, "data:")):
            self.happened.append(f"request to {request.url}")

    def _console(self, message: Any) -> None:
        if message.type in {"error", "warning"}:
            # That there is nothing at an address is no harm; the tests that expect it look at it themselves.
            kind = self.failed if message.text.startswith("Failed to load resource") else self.happened
            kind.append(f"console {message.text}")

    def open(self, view: str) -> None:
        open_page(self.page, f"{self.address}/{view}")

    def check(self) -> None:
        """Nothing has run, nothing was asked for, and no link or element could do so."""
        assert self.page.evaluate("window.ran") is None
        links = self.page.evaluate(
            "[...document.querySelectorAll('a')].map(a => [a.getAttribute('href'), a.href])"
        )
        for written, resolved in links:
            assert resolved.startswith((self.origin, "https://", "http://")), written
        odd = self.page.evaluate(
            """[...document.querySelectorAll('*')].filter(element =>
                [...element.attributes].some(({name, value}) =>
                    name.startsWith('on') || /^\\s*(javascript|data):/i.test(value))
                || element.matches('main script, main iframe, main object, main embed, main base, main meta, '
                    + 'main link, main style, main img, main form[action], main [style*="url("]')
            ).map(element => element.outerHTML.slice(0, 200))"""
        )
        assert odd == []
        assert self.happened == []


@pytest.fixture
def watched(stack: Stack, browser: Browser, hostile: list[str]) -> Iterator[Watched]:
    page = new_page(browser, viewport={"width": 1200, "height": 900})
    yield Watched(page, stack.outputs.api_url)
    page.context.close()


def articles_of(stack: Stack) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor = None
    while True:
        query = {"limit": 100} | ({"cursor": cursor} if cursor else {})
        answer = stack.api.get("/articles", params=query).raise_for_status().json()
        found += answer["items"]
        if (cursor := answer["next_cursor"]) is None:
            return found


def test_hostile_articles_are_text(watched: Watched, stack: Stack) -> None:
    watched.open("")
    show_all(watched.page, ".articles > li")
    # Every article's words are opened, hovered and focused: some markup waits for that.
    watched.page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    watched.page.evaluate(
        "document.querySelectorAll('main a, main blockquote').forEach(one => { one.focus();"
        " one.dispatchEvent(new MouseEvent('mouseover', {bubbles: true})) })"
    )
    text = watched.page.locator("main").inner_text()
    for kind in MARKUP:
        assert f"Harbour {kind} tale" in text
    for number in range(len(LINKS)):
        assert f"Planted {number} <script>" in text
        assert f"Word {number} <svg" in text
    assert "Ledger <img src=x onerror=" in text
    watched.check()


def test_no_address_that_runs_becomes_a_link(watched: Watched, stack: Stack) -> None:
    planted_ones = {a["headline"]: a for a in articles_of(stack) if a["headline"].startswith("Planted")}
    assert len(planted_ones) == len(LINKS)
    linked = {}
    for number, kind in enumerate(LINKS):
        (article,) = (a for name, a in planted_ones.items() if name.startswith(f"Planted {number} "))
        watched.open(f"#/articles/{article['dedup_key']}")
        expect(watched.page.get_by_text(f"Word {number} ")).to_be_visible()
        links = watched.page.locator("blockquote a")
        linked[kind] = links.first.get_attribute("rel") if links.count() else None
        watched.check()
    safe = {"user", "quotes", "fragment"}
    assert {kind for kind, rel in linked.items() if rel} == safe
    assert {linked[kind] for kind in safe} == {"noopener noreferrer"}


def test_no_stored_address_of_a_feed_runs(stack: Stack, hostile: list[str]) -> None:
    addresses = [
        word["url"]
        for article in articles_of(stack)
        for source, word in article["source_attribution"].items()
        if source in hostile
    ]
    assert len(addresses) >= 3 * len(MARKUP)
    assert [url for url in addresses if not url.startswith(("http://", "https://"))] == []


def test_hostile_names_of_feeds_and_subjects_are_text(watched: Watched, hostile: list[str]) -> None:
    watched.open("#/feeds")
    show_all(watched.page, "tbody > tr")
    expect(watched.page.get_by_role("link", name="Ledger <img").first).to_be_visible()
    watched.check()
    for feed_id in hostile:
        watched.open(f"#/feeds/{feed_id}")
        expect(watched.page.get_by_role("heading", level=1)).to_contain_text("<script>")
        watched.check()
    watched.open("#/sentiment")
    expect(watched.page.get_by_role("link", name="<img src=x onerror=")).to_be_visible()
    watched.check()
    watched.open("#/sentiment/hostile")
    expect(watched.page.get_by_role("heading", name="<img src=x onerror=")).to_be_visible()
    watched.check()
    watched.open("#/events")
    watched.check()


@pytest.mark.parametrize(
    "view",
    [
        "#/<img src=x onerror=alert(1)>",
        "#/%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        "#/constructor",
        "#/__proto__",
        "#/toString/x",
        "#/articles/%E0%A4%A",
        "#/articles/..%2f..%2fhealth",
        "#/articles?tag=<script>alert(1)</script>&sentiment=<b>",
        "#/articles/<svg onload=alert(1)>",
        "#/feeds/%22%3E%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E",
        "#/runs/javascript:alert(1)",
        "#/novae/%00",
        "#/sentiment/<img src=x onerror=alert(1)>?hours=javascript:alert(1)",
        "#//elsewhere.invalid/x",
        "?x=<script>alert(1)</script>#/articles",
    ],
)
def test_a_hostile_address_of_the_page_harms_nobody(watched: Watched, view: str) -> None:
    watched.open(view)
    expect(watched.page.get_by_role("link", name="Sourcebook", exact=True)).to_be_visible()
    expect(watched.page.locator("main")).not_to_be_empty()
    watched.check()


def test_the_policy_stops_what_would_get_through(watched: Watched) -> None:
    # The second line of defence, tried: a script, a style and an image of somebody else's, put in by hand.
    watched.open("")
    watched.page.evaluate(
        f"""const holder = document.createElement('div');
        holder.innerHTML = "<img src='{ELSEWHERE}/beacon.png' onerror='window.ran=1'>";
        document.body.append(holder);
        for (const [kind, text] of [['script', 'window.ran=1'], ['style', 'body {{ display: none }}']]) {{
            const element = document.createElement(kind);
            element.textContent = text;
            document.head.append(element);
        }}
        fetch('{ELSEWHERE}/told').catch(() => 0)"""
    )

    def refused() -> bool:
        watched.page.evaluate("1")  # lets what the browser has to say arrive
        return sum("Content Security Policy" in what for what in watched.happened) >= 4

    wait_until(refused, 60, "the browser to refuse image, script, style and request")
    assert watched.page.evaluate("window.ran") is None
    assert watched.page.evaluate("getComputedStyle(document.body).display") != "none"
