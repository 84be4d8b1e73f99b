"""Days in the page, looked at from New York: the 26th in UTC is the 26th.

The real page and the real API, over a table in moto. Skipped without a Chromium or Chrome.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest

from infra.page import PACKAGE, ROUTES, build
from sourcebook.api.page import StaticFiles
from sourcebook.records.subject import Subject
from sourcebook.sentiment.rollups import DirtyHours
from sourcebook.sentiment.subjects import SubjectRegistry
from sourcebook.sentiment.windows import hour_name
from sourcebook.table.client import Table
from tests.browser import expect, launched, needs_browser, new_page, open_page
from tests.integration.api.conftest import Context
from tests.integration.api.gateway import Gateway
from tests.integration.observations.world import World
from tests.unit.api.stored import analyze, article_item, key

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.integration, needs_browser]

DAY = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=2)
TARGET = ("Harbor Bank", "deposit_online", "M0006")


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its own name
        pass


@pytest.fixture
def address(table: Table, handler: Any) -> Iterator[str]:
    """A server of the page and the API, over figures and articles that are known by their day."""
    figures = World(table)
    figures.declare("official")
    for days in range(3):
        figures.scrape("official", DAY - timedelta(days=days) + timedelta(hours=1), {TARGET: 4.5 + days})
    SubjectRegistry(table).register([Subject("halcyon", "Halcyon Robotics", "company")])
    DirtyHours(table).mark([("halcyon", hour_name(DAY))])
    analyze(table, article_item(key(1), DAY, tags=("halcyon",)), "positive")
    gateway = Gateway(f"GET {path}" for path in ROUTES)
    files = StaticFiles(build() / "python" / PACKAGE)
    pages = {f"GET {path}" for path in ROUTES}
    gateway.answer = lambda event: (
        files.answer(event) if event["routeKey"] in pages else handler.handler(event, Context())
    )
    with make_server("127.0.0.1", 0, gateway, handler_class=_Quiet) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def page() -> Iterator[Page]:
    """A browser whose clock is New York's."""
    with launched() as browser:
        yield new_page(browser, timezone_id="America/New_York", locale="en-US")


def written(day: datetime) -> str:
    return f"{day:%b} {day.day}, {day.year}"


def expect_under_the_mouse(page: Page, text: str) -> str:
    """Move the mouse to the middle of the chart until its legend has a text; returns the whole of it."""
    legend = page.locator(".u-legend .u-series").first
    page.locator(".u-over").first.hover()
    expect(legend).to_contain_text(text)
    return legend.inner_text()


def test_a_day_in_utc_is_that_day_in_new_york(address: str, page: Page) -> None:
    open_page(page, f"{address}/#/sentiment/halcyon?hours=168")
    page.locator("summary", has_text="as a table").click()
    expect(page.locator('td[data-name="Day (UTC)"]')).to_have_text([written(DAY)])
    assert "PM" not in expect_under_the_mouse(page, "Day (UTC)")

    open_page(page, f"{address}/#/rates?series=deposit_online&bank=Harbor+Bank&term=6M")
    page.locator("summary", has_text="as a table").click()
    days = [written(DAY - timedelta(days=n)) for n in range(3)]
    expect(page.locator('section td[data-name="Day"]')).to_have_text(days)
    expect_under_the_mouse(page, days[1])


def test_an_article_that_is_known_by_its_day_is_of_that_day(address: str, page: Page) -> None:
    open_page(page, f"{address}/#/articles")
    page.locator("summary", has_text="Reported by").first.click()
    expect(page.locator(".words .about").first).to_contain_text(f"published {written(DAY)}, seen")
    expect(page.locator(".story time").first).to_have_attribute("title", written(DAY))
