"""Articles are searched, filtered, read and left, as a person does."""

from __future__ import annotations

import pytest

from tests.browser import check_accessibility, expect
from tests.integration.page.conftest import Look

pytestmark = pytest.mark.integration


def test_a_search_stands_in_the_address_and_its_filters_are_chips(look: Look) -> None:
    page = look.at("")
    page.keyboard.press("/")
    page.keyboard.type("harbor -sentiment:neutral since:7d")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Harbor news number 2", exact=True)).to_be_visible()
    expect(page.locator(".story .chip.neutral")).to_have_count(0)
    expect(page).to_have_title("harbor -sentiment:neutral since:7d – Articles – Sourcebook")
    page.get_by_role("combobox", name="Sentiment").select_option("negative")
    expect(page.locator(".story .chip.positive")).to_have_count(0)
    chips = page.get_by_role("list", name="Filters").get_by_role("button")
    expect(chips).to_have_text(["sentiment:negative ×", "-sentiment:neutral ×", "since:7d ×"])
    check_accessibility(page)
    page.reload()
    expect(chips).to_have_count(3)
    page.get_by_role("button", name="Take away sentiment:negative").click()
    expect(page.locator(".story .chip.positive").first).to_be_visible()
    page.go_back()
    expect(page.get_by_role("combobox", name="Sentiment")).to_have_value("negative")
    expect(page.locator(".story .chip.positive")).to_have_count(0)


def test_a_wrong_search_says_what_is_wrong(look: Look) -> None:
    page = look.at("")
    page.get_by_label("Search", exact=True).fill("soruce:x")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_role("alert")).to_contain_text("soruce")


def test_back_finds_the_list_as_it_was_left(look: Look) -> None:
    page = look.at("")
    page.get_by_role("button", name="Show more").click()
    last = page.get_by_role("link", name="Harbor news number 24")
    last.scroll_into_view_if_needed()
    place = page.evaluate("scrollY")
    last.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Harbor news number 24")
    expect(page).to_have_title("Harbor news number 24 – Sourcebook")
    page.go_back()
    expect(last).to_be_in_viewport()
    page.wait_for_function("place => Math.abs(scrollY - place) < 50", arg=place)


def test_the_keys_go_through_the_list(look: Look) -> None:
    page = look.at("")
    for _ in range(3):
        page.keyboard.press("j")
    page.keyboard.press("k")
    expect(page.get_by_role("link", name="Harbor news number 1", exact=True)).to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    check_accessibility(page)
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Harbor news number 1")


def test_an_article_says_who_reported_it_and_why_they_are_one(look: Look) -> None:
    page = look.at(f"#/articles/{3:032x}")
    words = page.locator(".words > li")
    expect(words).to_have_count(2)
    expect(words.nth(1)).to_contain_text("Tide Times")
    expect(words.nth(1).get_by_role("link", name="HARBOR NEWS, number 3!")).to_have_attribute(
        "href", "https://tide.example/3"
    )
    expect(page.get_by_role("heading", name="Why they are one")).to_be_visible()
    expect(page.get_by_text("harbor news number 3", exact=True)).to_be_visible()
    expect(page.locator(".mentions > li")).to_have_count(2)


def test_offline_is_said_and_mends_itself(look: Look) -> None:
    page = look.at("")
    page.context.set_offline(True)
    expect(page.get_by_text("offline", exact=True)).to_be_visible()
    page.get_by_role("link", name="Runs", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("You are offline.")
    page.context.set_offline(False)
    expect(page.get_by_role("link", name="initialize_nova").first).to_be_visible()


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (401, "Enter a token"),
        (403, "Enter another token"),
        (429, "Wait a few seconds"),
        (500, "correlation-77"),
        (503, "try again in 5 seconds"),
    ],
)
def test_each_refusal_has_a_next_step(look: Look, status: int, said: str) -> None:
    body = f'{{"detail": "Not now.", "status": {status}, "correlation_id": "correlation-77"}}'
    look.page.route(
        "**/events*",
        lambda route: route.fulfill(
            status=status, body=body, headers={"retry-after": "5"}, content_type="application/problem+json"
        ),
    )
    page = look.at("#/events")
    expect(page.get_by_role("alert")).to_contain_text(said)
    page.unroute("**/events*")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_what_is_not_there_leads_to_what_is(look: Look) -> None:
    page = look.at("#/feeds/none")
    page.get_by_role("link", name="See what there is").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Feeds")
