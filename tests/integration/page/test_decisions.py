"""A person who disagrees with deduplication or grouping says so in the page, and takes it back there."""

from __future__ import annotations

from datetime import timedelta

import pytest

from sourcebook.articles.decisions.model import DecidedBy
from sourcebook.records.decision import DecisionAction
from sourcebook.table import keys
from tests.browser import check_accessibility, expect, wait_for_view
from tests.integration.articles.grouping.test_flow import ELSEWHERE, STORY
from tests.integration.page.conftest import Look
from tests.integration.page.world import NOW, two_events

pytestmark = pytest.mark.integration

TWO, ONE, OTHER, UNDECIDED = (f"{number:032x}" for number in (3, 7, 9, 11))


def decide(look: Look, why: str) -> None:
    """Say who and why in the form that is open, and send it."""
    look.page.get_by_label("Your name").fill("A. Tester")
    look.page.get_by_label("Why, for those who come after").fill(why)
    look.page.get_by_role("button", name="Decide").click()


def test_a_source_is_split_off_and_joined_again_by_keyboard_alone(look: Look) -> None:
    page = look.at(f"#/articles/{TWO}")
    write, press = page.keyboard.type, page.keyboard.press
    expect(page.get_by_role("heading", name="Reported by 2 sources")).to_be_visible()
    look.tab_to("Split off tide-times", "button")
    press("Enter")
    expect(page.get_by_label("Your name")).to_be_focused()
    check_accessibility(page)
    write("A. Tester")
    press("Tab")
    write("Another number 3.")
    press("Enter")
    expect(page.get_by_label("Token", exact=True)).to_be_focused()
    write(look.site.token)
    press("Enter")
    expect(page.get_by_role("heading", name="Reported by one source")).to_be_visible()
    expect(page.get_by_role("main")).to_be_focused()
    decided = page.get_by_role("region", name="What people decided")
    expect(decided.get_by_role("listitem")).to_contain_text("Split off tide-times by A. Tester")
    expect(decided).to_contain_text("Another number 3.")
    check_accessibility(page)
    look.tab_to("the other article", "link")
    press("Enter")
    expect(page.get_by_text("HARBOR NEWS, number 3!").first).to_be_visible()
    expect(page.get_by_role("heading", name="Reported by one source")).to_be_visible()
    # Taken back from there, the article that stays is shown.
    look.tab_to("Undo", "button")
    press("Enter")
    expect(page.get_by_label("Your name")).to_be_focused()
    expect(page.get_by_label("Your name")).to_have_value("A. Tester")
    press("Tab")
    write("It is one after all.")
    press("Enter")
    expect(page.get_by_role("heading", name="Reported by 2 sources")).to_be_visible()
    assert page.url.endswith(TWO)
    expect(decided.get_by_role("listitem")).to_have_count(2)
    expect(decided).to_contain_text("Taken back: tide-times is joined again by A. Tester")
    expect(decided.get_by_role("button", name="Undo")).to_have_count(0)


def test_an_article_is_joined_by_its_address_and_what_does_not_fit_is_said(look: Look) -> None:
    page = look.at(f"#/articles/{ONE}")
    expect(page.get_by_role("button", name="Split off")).to_have_count(0)
    page.locator("summary", has_text="Join another article").click()
    other = page.get_by_label("The article with the same story")
    other.fill(ONE)
    decide(look, " ")
    look.enter_token()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("reason")
    decide(look, "Both tell of the ferry.")
    expect(alert).to_contain_text("another article than the one that it is joined to")
    check_accessibility(page)
    other.fill(f"{look.site.url}/#/articles/{OTHER}")
    decide(look, "Both tell of the ferry.")
    decided = page.get_by_role("region", name="What people decided")
    expect(decided).to_contain_text("Joined by A. Tester")
    decided.get_by_role("link", name="the other article").click()
    expect(page.get_by_text("The article of this address was joined to this one.")).to_be_visible()
    wait_for_view(page)
    decided.get_by_role("button", name="Undo").click()
    decide(look, "Two ferries.")
    expect(decided).to_contain_text("It was taken back.")
    expect(page.get_by_text("The article of this address was joined to this one.")).to_have_count(0)
    assert page.url.endswith(ONE)


def test_an_article_is_taken_out_of_its_event_and_events_are_merged(look: Look) -> None:
    with look.site.one_at_a_time:
        event, other = two_events(look.site.world.table)
    page = look.at(f"#/events/{event}")
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(3)
    page.get_by_role("button", name=f"Take out {STORY} on Tuesday").click()
    expect(page.get_by_label("Your name")).to_be_focused()
    check_accessibility(page)
    decide(look, "Of another contract.")
    look.enter_token()
    expect(rows).to_have_count(2)
    decided = page.get_by_role("region", name="What people decided")
    expect(decided).to_contain_text("Taken out of the event by A. Tester")
    decided.get_by_role("button", name="Undo").click()
    decide(look, "Of this one.")
    expect(rows).to_have_count(3)
    expect(decided.get_by_role("link", name="the article")).to_have_count(2)
    page.locator("summary", has_text="Merge with another event").click()
    page.get_by_label("The event that is the same").fill(f"{look.site.url}/#/events/{other}")
    check_accessibility(page)
    decide(look, "One story.")
    expect(rows).to_have_count(5)
    # The other event answers with this one; taken back from there, it is there again.
    look.at(f"#/events/{other}")
    expect(rows).to_have_count(5)
    decided.get_by_role("button", name="Undo").click()
    decide(look, "Two stories.")
    expect(rows).to_have_count(2)
    page.get_by_role("button", name=f"Take out {ELSEWHERE}", exact=True).click()
    expect(page.get_by_text("An event of one article is none")).to_be_visible()
    decide(look, "It stands alone.")
    # Nothing is left of the event, and the article goes on.
    expect(page.get_by_role("heading", level=1)).to_have_text(ELSEWHERE)
    decided.get_by_role("button", name="Undo").click()
    decide(look, "It does not.")
    expect(page.get_by_role("link", name="one of several on this event")).to_be_visible()


def test_all_decisions_are_shown_a_page_at_a_time(look: Look) -> None:
    table = look.site.world.table
    with look.site.one_at_a_time:
        for n in range(25):
            by = DecidedBy(decided_by="A. Tester", reason=f"Number {n}.", token=f"{n:08}")
            made = by.decision(
                DecisionAction.SPLIT_ARTICLE, (UNDECIDED,), NOW + timedelta(minutes=n), source="wire"
            )
            key = keys.decision(made.decision_id)
            table.put(made.to_item(key))
    page = look.at(f"#/articles/{UNDECIDED}")
    decided = page.get_by_role("region", name="What people decided")
    expect(decided.get_by_role("listitem")).to_have_count(20)
    decided.get_by_role("button", name="Show more").click()
    expect(decided.get_by_role("listitem")).to_have_count(25)
    expect(decided.get_by_role("listitem").last).to_contain_text("Number 0.")
    expect(decided.get_by_role("button", name="Show more")).to_have_count(0)
