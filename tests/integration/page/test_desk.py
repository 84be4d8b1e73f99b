"""Alerts, exports and what an article mentions: made, watched and taken away in the page."""

from __future__ import annotations

import json
import re
from datetime import timedelta

import pytest

from infra.deployment import ROOT
from sourcebook.alerts.deliveries import DeliveryStore
from sourcebook.alerts.rules import RuleStore
from sourcebook.clock import isoformat
from sourcebook.exports.days import Exporter
from sourcebook.exports.messages import ExportDays
from sourcebook.records.alert import FIELDS, KINDS
from tests.browser import check_accessibility, expect
from tests.integration.page.conftest import Look
from tests.integration.page.world import NOW

pytestmark = pytest.mark.integration


def test_the_page_knows_the_fields_of_every_kind_of_alert() -> None:
    text = (ROOT / "web" / "src" / "views" / "alert-words.ts").read_text("utf-8")
    shared, _, kinds = text.partition("export const KINDS")
    names = dict(re.findall(r'const (\w+): RuleField = \{ name: "(\w+)"', shared))
    parts = re.split(r'\bkind: "(\w+)"', kinds.partition("export interface Rule")[0])[1:]
    said = {
        kind: {
            *re.findall(r'name: "(\w+)"', body),
            *(names[one] for one in names if re.search(rf"\b{one}\b", body)),
        }
        for kind, body in zip(parts[::2], parts[1::2], strict=True)
    }
    assert said == {kind: {name for name, spec in FIELDS.items() if kind in spec.kinds} for kind in KINDS}


def test_an_alert_is_made_of_a_search_watched_and_removed(look: Look) -> None:
    page = look.at("#/articles?q=subject:halcyon+since:7d&sentiment=negative")
    page.locator("summary", has_text="How to search").click()
    page.get_by_role("link", name="Report new ones").click()
    expect(page.get_by_role("textbox", name="Search")).to_have_value("subject:halcyon sentiment:negative")
    page.get_by_label("Name").fill("Halcyon, bad news")
    page.get_by_label("Webhook").fill("https://169.254.169.254/latest")
    page.get_by_role("button", name="Add the alert").click()
    look.enter_token()
    expect(page.get_by_role("alert")).to_contain_text("not a public address")
    page.get_by_label("Webhook").fill("http://127.0.0.1:9/hook")
    check_accessibility(page)
    page.get_by_role("button", name="Add the alert").click()
    expect(page.get_by_text("is shown this once")).to_be_visible()
    expect(page.locator(".good code")).to_contain_text("whsec_")
    page.get_by_role("link", name="Watch what arrives").click()
    expect(page.get_by_text("Nothing yet.")).to_be_visible()
    (rule,) = RuleStore(look.site.world.table).all()
    facts = {"dedup_key": f"{2:032x}", "headline": "Harbor news number 2"}
    DeliveryStore(look.site.world.table).fire(rule, "article", "2", isoformat(NOW), facts)
    expect(page.get_by_role("link", name="Harbor news number 2")).to_be_visible()
    expect(page.get_by_text("on its way")).to_be_visible()
    check_accessibility(page)
    page.get_by_role("button", name="Remove this alert").click()
    expect(page.get_by_text("There is none yet.")).to_be_visible()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_alert_has_its_form(look: Look, kind: str) -> None:
    page = look.at(f"#/alerts?add={kind}")
    expect(page.get_by_label("Tell me when")).to_have_value(kind)
    if kind == "sentiment":
        page.locator("form input[list]").fill("Halcyon Robotics")
        page.get_by_label("By at least").fill("0.25")
        page.get_by_role("button", name="Add the alert").click()
        look.enter_token()
        expect(page.get_by_text("is added.")).to_be_visible()
        (rule,) = RuleStore(look.site.world.table).all()
        assert rule.rule == {"subject": "halcyon", "change": 0.25}


def test_an_export_is_started_and_its_files_are_taken_away(look: Look) -> None:
    since, until = (NOW - timedelta(days=2)).date().isoformat(), NOW.date().isoformat()
    page = look.at("#/exports")
    expect(page.get_by_text("Nothing has been exported yet.")).to_be_visible()
    page.get_by_label("First day").fill(since)
    page.get_by_label("The day after the last").fill(until)
    page.get_by_role("button", name="Export", exact=True).click()
    look.enter_token()
    expect(page.get_by_role("heading", level=1)).to_contain_text("export period")
    place = {"since": since, "until": until}
    exporter = Exporter(look.site.world.table, look.site.world.objects)
    with look.site.one_at_a_time:
        done = json.loads(json.dumps(exporter.run(ExportDays.of_json(place)).to_json()))
    assert done["done"]
    look.at("#/exports")
    page.get_by_role("link", name=f"{since} to {until}").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Export of {since} to {until}")
    check_accessibility(page)
    disposition = {"content-disposition": "attachment"}
    page.route("https://**amazonaws.com/**", lambda route: route.fulfill(body=b"PAR1", headers=disposition))
    with page.expect_download() as waited:
        page.get_by_role("button", name=f"articles-{since}.parquet").click()
    assert waited.value.path().read_bytes() == b"PAR1"


def test_each_mention_has_the_sentiment_that_is_its_own(look: Look) -> None:
    page = look.at(f"#/articles/{5:032x}")
    mentions = page.locator(".mentions > li")
    expect(mentions).to_have_count(2)
    expect(mentions.filter(has_text="halcyon")).to_contain_text("positive 88 %")
    expect(mentions.filter(has_text="halcyon")).to_contain_text("by its own mentions")
    expect(mentions.filter(has_text="ferries")).to_contain_text("negative")
    expect(mentions.filter(has_text="ferries")).to_contain_text("as the whole article")
