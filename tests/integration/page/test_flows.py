"""What people come for, each from its beginning to its end; one with nothing but the keyboard."""

from __future__ import annotations

import csv
import io
from datetime import timedelta

import pytest

from sourcebook.feeds.parse import parse_feed
from sourcebook.search.days import Days
from sourcebook.search.index import Indexer
from tests.browser import check_accessibility, expect
from tests.integration.page.conftest import Look
from tests.integration.page.world import NOW
from tests.unit.api.stored import article_item, put_article

pytestmark = pytest.mark.integration


def test_negative_stories_of_one_company_in_the_last_day_are_found_and_followed(look: Look) -> None:
    page = look.at("")
    page.get_by_label("Search", exact=True).fill("subject:HLCR")
    page.get_by_role("button", name="Search").click()
    page.get_by_label("Sentiment").select_option("negative")
    page.get_by_label("Period").select_option("the last day")
    stories = page.locator(".story")
    expect(page.locator(".story .chip.positive")).to_have_count(0)
    expect(stories.first.locator(".chip.negative")).to_be_visible()
    headlines = stories.locator("h2").all_inner_texts()
    page.locator("summary", has_text="How to search").click()
    address = page.get_by_role("link", name="Follow", exact=True).get_attribute("href")
    assert address is not None
    # What a reader of feeds makes of that address, a moment later and for as long as it is asked.
    url = page.evaluate("address => new URL(address, document.baseURI).href", address)
    followed = parse_feed(page.request.get(url).body(), url=url)
    assert [entry.title for entry in followed.entries] == headlines
    assert len(headlines) >= 4


def test_deposits_of_six_months_are_compared_and_downloaded_by_keyboard_alone(look: Look) -> None:
    page = look.at("")
    press = page.keyboard.press
    look.tab_to("Rates", "link")
    press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Rates")
    expect(page.locator(".waiting")).to_have_count(0)
    look.tab_to("Series", "combobox")
    page.keyboard.type("Online")
    expect(page.get_by_label("Series")).to_have_value("deposit_online")
    look.tab_to("6M", "button")
    press("Enter")
    expect(page.get_by_role("columnheader", name="6M")).to_have_attribute("aria-sort", "descending")
    expect(page.locator(".matrix tbody th").first).to_have_text("Bến Xuân")
    check_accessibility(page)
    press("/")  # no search field here: nothing happens, and the focus stays
    expect(page.get_by_role("button", name="6M")).to_be_focused()
    for _ in range(60):
        press("Shift+Tab")
        if page.evaluate("document.activeElement.textContent") == "Download CSV":
            break
    with page.expect_download() as waited:
        press("Enter")
    rows = list(csv.DictReader(io.StringIO(waited.value.path().read_text("utf-8-sig"))))
    six = {row["bank_name"]: float(row["rate_pct"]) for row in rows if row["term"] == "6M"}
    assert set(six) == {"Harbor Bank", "Bến Xuân", "Old Mill Savings", "Tideway"}
    assert max(six, key=lambda bank: six[bank]) in {"Bến Xuân", "Tideway"}


def test_new_articles_are_counted_once_a_minute_and_shown_when_one_wants_them(look: Look) -> None:
    page = look.page
    page.clock.install()
    look.at("")
    before = page.locator(".story h2").first.inner_text()
    world = look.site.world
    with look.site.one_at_a_time:
        for number in (901, 902):
            item = article_item(
                f"{number:032x}",
                NOW + timedelta(seconds=number - 900),
                status="analyzed",
                sentiment="neutral",
            )
            item["headline"] = item["normalized_headline"] = f"Fresh news {number}"
            Indexer(Days(world.objects), world.table).take([put_article(world.table, item)])
    page.clock.run_for(61_000)
    offer = page.get_by_role("button", name="2 new: show them")
    expect(offer).to_be_visible()
    expect(page.locator(".story h2").first).to_have_text(before)
    offer.click()
    expect(page.locator(".story h2").first).to_have_text("Fresh news 902")
    expect(offer).to_have_count(0)
