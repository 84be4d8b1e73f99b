"""Every view on a phone in the dark: none is wider than the screen, and all of it is for the keyboard too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser import check_accessibility, expect, new_page, open_page
from tests.integration.page.conftest import Site
from tests.integration.page.world import two_events

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.integration

WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
BY_MOUSE_ALONE = """[...document.querySelectorAll("main :is(a[href], button, input, select, summary)")]
    .filter(one => one.checkVisibility() && one.tabIndex < 0).map(one => one.outerHTML)"""


def test_every_view_fits_a_phone_in_the_dark_and_works_by_keyboard(browser: Browser, site: Site) -> None:
    world = site.world
    page = new_page(browser, viewport={"width": 390, "height": 844}, color_scheme="dark", locale="en-US")
    complaints: list[str] = []
    page.on("console", lambda m: complaints.append(m.text) if m.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    wide = {}
    with site.one_at_a_time:
        event, _ = two_events(world.table)
    for view in (
        "",
        f"#/articles/{3:032x}",
        "#/events",
        f"#/events/{event}",
        "#/sentiment",
        "#/sentiment/halcyon?hours=168",
        "#/feeds?add=1",
        "#/feeds/tide-times",
        "#/rates?series=deposit_online&bank=Tideway&term=6M",
        "#/novae?start=1",
        f"#/novae/{world.nova_id}",
        "#/quarantine",
        f"#/quarantine/{world.spectrum_case}",
        "#/runs?start=1",
        f"#/runs/{world.failed_run}",
        "#/alerts?add=sentiment",
        "#/exports",
    ):
        open_page(page, f"{site.url}/{view}")
        # The way to the present view is on the screen, however far right it stands.
        expect(page.locator('nav a[aria-current="page"]')).to_be_in_viewport(ratio=0.9)
        check_accessibility(page)
        assert page.evaluate(BY_MOUSE_ALONE) == [], view
        wide[view] = page.evaluate(WIDER)
    page.context.close()
    assert {view: by for view, by in wide.items() if by > 1} == {}
    assert complaints == []


BROKEN_WORDS = """[...document.querySelectorAll("main .chip")].flatMap(chip => {
    const text = document.createTreeWalker(chip, NodeFilter.SHOW_TEXT).nextNode();
    return [...(text?.data ?? "").matchAll(/\\S+/g)].filter(word => {
        const range = document.createRange();
        range.setStart(text, word.index);
        range.setEnd(text, word.index + word[0].length);
        return range.getClientRects().length > 1;
    }).map(word => word[0]);
})"""


def test_no_label_breaks_inside_a_word_on_a_tablet(browser: Browser, site: Site) -> None:
    page = new_page(browser, viewport={"width": 768, "height": 1024}, locale="en-US")
    open_page(page, f"{site.url}/#/quarantine")
    expect(page.locator(".chip.warn").first).to_be_visible()
    assert page.evaluate(BROKEN_WORDS) == []
    page.context.close()
