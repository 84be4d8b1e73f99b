"""The browser that the tests of the page run in. They are skipped without a Chromium or Chrome."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: `make install`")

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_ON_A_MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
_FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
"""Flags that keep a browser run by root, without a network, from asking for its maker."""
_PATIENCE = 60_000
"""How long a test waits for what it expects to see, in milliseconds. A busy machine is slow, not wrong."""


def browser_path() -> str | None:
    """Return the browser named by SOURCEBOOK_BROWSER, or the first that is installed."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    return os.environ.get("SOURCEBOOK_BROWSER") or found or (str(_ON_A_MAC) if _ON_A_MAC.exists() else None)


needs_browser = pytest.mark.skipif(
    browser_path() is None, reason="no Chromium or Chrome here: `apt-get install chromium` on Debian"
)


@contextmanager
def launched(*flags: str) -> Iterator[Browser]:
    """Yield a running browser, started with `flags` besides its usual ones."""
    sync_api.expect.set_options(timeout=_PATIENCE)
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=[*_FLAGS, *flags])
        try:
            yield browser
        finally:
            browser.close()
