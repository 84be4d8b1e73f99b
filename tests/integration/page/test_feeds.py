"""Feeds are added, mended, imported and deleted in the page."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.browser import check_accessibility, expect
from tests.integration.page.conftest import Look

pytestmark = pytest.mark.integration

FEED = b"""<rss version="2.0"><channel><title>Quay Gazette</title><link>https://quay.example/</link>
<item><title>Tide is high</title><link>https://quay.example/1</link><guid>1</guid></item></channel></rss>"""
HOME = (
    b'<link rel="alternate" type="application/rss+xml" href="/news.xml">'
    b'<link rel="alternate" type="application/rss+xml" href="/sport.xml">'
)
OPML = """<opml version="2.0"><body><outline text="A" xmlUrl="https://a.example/feed"/>
<outline text="B" xmlUrl="gopher://b.example/"/>
<outline text="H" xmlUrl="https://harbor-ledger.example/feed"/></body></opml>"""


@pytest.fixture(scope="module")
def publisher() -> Iterator[str]:
    pages = {"/": HOME, "/news.xml": FEED, "/sport.xml": FEED}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = pages.get(self.path)
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *args: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_site_is_added_with_the_token_asked_for_on_the_way(look: Look, publisher: str) -> None:
    page = look.at("#/feeds")
    page.get_by_role("link", name="Add feeds").click()
    page.get_by_label("Address of a site or of its feed").fill(f"{publisher}/")
    page.get_by_role("button", name="Find and add").click()
    expect(page.get_by_role("dialog", name="Access")).to_be_visible()
    look.enter_token()
    preview = page.locator(".good")
    expect(preview).to_contain_text("is added: the page announces it")
    expect(preview).to_contain_text("Quay Gazette")
    page.get_by_role("button", name=f"Add it too: {publisher}/sport.xml").click()
    expect(preview).to_have_count(2)
    check_accessibility(page)
    preview.nth(0).get_by_role("button", name="Undo").click()
    expect(preview).to_have_count(1)
    preview.get_by_role("link", name="Quay Gazette").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Quay Gazette")
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("button", name="Delete Quay Gazette").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Feeds")
    expect(page.get_by_role("link", name="Harbor-Ledger")).to_be_visible()
    expect(page.get_by_role("link", name="Quay Gazette")).to_have_count(0)
    look.at("#/feeds")
    expect(page.get_by_label("Address of a site or of its feed")).to_have_count(0)


def test_a_site_without_a_feed_says_so_and_keeps_what_was_typed(look: Look, publisher: str) -> None:
    page = look.at("#/feeds?add=1")
    page.get_by_label("Address of a site or of its feed").fill(f"{publisher}/none")
    page.get_by_role("button", name="Find and add").click()
    look.enter_token()
    expect(page.get_by_role("alert")).to_contain_text("status 404")
    expect(page.get_by_label("Address of a site or of its feed")).to_have_value(f"{publisher}/none")


def test_a_failing_feed_says_why_and_is_mended_by_keyboard(look: Look) -> None:
    page = look.at("#/feeds?health=failing")
    expect(page.get_by_text("4 times: https://tide-times.example/feed answered 404")).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    trouble = page.locator(".problem")
    expect(trouble).to_contain_text("There is nothing at this address any more.")
    expect(trouble).to_contain_text("failed 4 times in a row")
    expect(trouble).to_contain_text("What to do:")
    expect(page.get_by_role("cell", name="404", exact=True).first).to_be_visible()
    page.get_by_role("button", name="Change", exact=True).focus()
    page.keyboard.press("Enter")
    check_accessibility(page)
    page.keyboard.press("Tab")  # over Delete
    page.keyboard.press("Tab")
    expect(page.get_by_label("Address")).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("https://tide-times.example/new.xml")
    page.get_by_label("At least every").fill("20")
    page.keyboard.press("Enter")
    look.enter_token()
    expect(page.get_by_role("link", name="https://tide-times.example/new.xml")).to_be_visible()
    expect(page.get_by_text("20 min")).to_be_visible()
    expect(trouble).to_have_count(0)
    page.get_by_role("button", name="Disable").click()
    expect(page.get_by_text("disabled", exact=True)).to_be_visible()
    page.get_by_role("button", name="Enable").click()
    expect(page.get_by_role("button", name="Fetch now")).to_be_visible()
    expect(page.get_by_text("fetched within a minute")).to_be_visible()


def test_a_list_is_imported_with_a_report_and_exported(look: Look, tmp_path: Path) -> None:
    page = look.at("#/feeds?add=1")
    file = tmp_path / "mine.opml"
    file.write_text(OPML, encoding="utf-8")
    page.get_by_label("an OPML file").set_input_files(file)
    look.enter_token()
    expect(page.get_by_text("1 added, 1 there already, 1 left out")).to_be_visible()
    expect(page.get_by_text("line 2:")).to_be_visible()
    with page.expect_download() as waited:
        page.get_by_role("button", name="Export OPML").click()
    assert waited.value.suggested_filename == "feeds.opml"
    assert "https://a.example/feed" in waited.value.path().read_text("utf-8")


def test_sources_of_all_kinds_are_listed(look: Look) -> None:
    page = look.at("#/feeds")
    page.get_by_role("link", name="sources of all kinds").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sources")
    expect(page.get_by_role("cell", name="csv").first).to_be_visible()
