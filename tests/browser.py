"""What every test in a browser needs: the browser, and ways to wait for the page that cannot come too early.

A test says what it waits for and never for how long. Three things are not to be had from the page, and what
stands here deals with them: an address that differs only behind its `#` loads nothing and leaves the old
view on the screen for a moment; a list that grows replaces the button that was clicked; and a machine that
is busy takes seconds for what takes milliseconds elsewhere.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sourcebook_local.project import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: `make install`")

PATIENCE = 60_000
"""Milliseconds that a page gets for whatever is waited for: a busy machine is slow, not wrong."""
expect = sync_api.expect
expect.set_options(timeout=PATIENCE)

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
QUIET = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
"""Flags that keep a browser run by root, without a network, from asking for its maker."""


def browser_path() -> str | None:
    """Return the browser that is there, None where there is none."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    return os.environ.get("SOURCEBOOK_BROWSER") or found or (str(MAC) if MAC.exists() else None)


needs_browser = pytest.mark.skipif(
    browser_path() is None, reason="no Chromium or Chrome here: `apt-get install chromium` on Debian"
)


@contextmanager
def launched(*flags: str) -> Iterator[Browser]:
    """Start the browser, and close it afterwards."""
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=browser_path(), args=[*QUIET, *flags])
        yield running
        running.close()


def new_page(browser: Browser, **options: object) -> Page:
    """Return a page of its own: patient, and without movement that would still be under way when it is read.

    SOURCEBOOK_CPU_SLOWER=6 makes it a slow machine's.
    """
    context = browser.new_context(reduced_motion="reduce", ignore_https_errors=True, **options)  # type: ignore[arg-type]
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    if slower := os.environ.get("SOURCEBOOK_CPU_SLOWER"):
        session = context.new_cdp_session(page)
        session.send("Emulation.setCPUThrottlingRate", {"rate": float(slower)})
    return page


def open_page(page: Page, address: str) -> None:
    """Open an address anew, also where only what stands behind its `#` differs, and wait for all of it."""
    page.goto("about:blank")
    page.goto(address)
    wait_for_view(page)


def wait_for_view(page: Page) -> None:
    """Wait until the view has what it asked for; what it then asks for more is waited for too."""
    expect(page.locator("h1")).to_be_visible()
    expect(page.locator(".waiting")).to_have_count(0)


def show_all(page: Page, entries: str) -> None:
    """Click "Show more" until there is no more; `entries` finds what there are more of each time."""
    more = page.locator("button.more")
    while True:
        expect(page.locator("button.more:disabled, .waiting")).to_have_count(0)
        if not more.count():
            return
        shown = page.locator(entries).count()
        more.click()
        page.wait_for_function(
            """([entries, shown]) => document.querySelectorAll(entries).length !== shown
                || document.querySelector("button.more") === null""",
            arg=[entries, shown],
        )


def check_accessibility(page: Page) -> None:
    """Hold what is shown to axe's rules.

    Raises:
        AssertionError: naming each rule that is broken and the first element that breaks it.
    """
    axe = (ROOT / "node_modules" / "axe-core" / "axe.min.js").read_text("utf-8")
    # Evaluated, not added as a script: the page's policy lets no script in, and must not.
    page.evaluate(axe)
    found = page.evaluate("axe.run().then(result => result.violations)")
    broken = [(one["id"], one["nodes"][0]["html"]) for one in found]
    assert not broken, broken
