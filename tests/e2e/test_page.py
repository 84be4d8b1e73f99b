"""The web page in a real browser, against the deployed stack with sample data in it.

Skipped without a Chromium or Chrome. Screenshots of each view are left in .sourcebook/log/e2e/screenshots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from boto3.dynamodb.conditions import Key

from sourcebook.api.tokens import TokenStore
from sourcebook.sentiment.subjects import SubjectRegistry
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook_cli.photometry import hand_in
from sourcebook_cli.stack import Stack as CommandStack
from sourcebook_local.astronomy.light_curve import SAMPLE_LIGHT_CURVE
from sourcebook_local.astronomy.sample import use_sample_archives
from sourcebook_local.astronomy.services import SAMPLE_NOVA
from sourcebook_local.cloud import LocalCloud
from sourcebook_local.folder import start_server, stop_servers
from sourcebook_local.project import HOME
from sourcebook_local.samples import sample_sources, sample_subjects
from sourcebook_local.samples_observations import sample_observation_sources
from tests.browser import (
    check_accessibility,
    expect,
    launched,
    needs_browser,
    new_page,
    open_page,
    wait_for_view,
)
from tests.e2e.conftest import deployed_apart
from tests.e2e.sources import fetch, register, stage
from tests.e2e.stack import Stack, wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from playwright.sync_api import Page as BrowserPage

SCREENSHOTS = HOME / "log" / "e2e" / "screenshots"


pytestmark = needs_browser


@pytest.fixture(scope="module")
def stack(new_cloud: Callable[[str], LocalCloud]) -> Iterator[Stack]:
    """The application in a cloud of its own, so that what is looked at is there and nothing else."""
    with deployed_apart(new_cloud, "page") as found:
        yield found


@pytest.fixture(scope="module")
def server_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("servers")
    yield start_server(home).url
    stop_servers(home)


@pytest.fixture(scope="module")
def nova_id(stack: Stack, server_url: str) -> str:
    """The sample nova, its spectra acquired."""
    table = table_of(stack)
    use_sample_archives(table, stack.session, server_url)
    made = stack.run_state_machine("initialize_nova", {"candidate_name": SAMPLE_NOVA}, timeout=120)
    nova = str(made["nova_id"])

    def spectra() -> list[dict[str, Any]]:
        own = Key("PK").eq(nova) & Key("SK").begins_with(keys.SPECTRA_PREFIX)
        found = list(table.query_all(own, consistent=True))
        return found if found and all(one["eligibility"] == "NONE" for one in found) else []

    found = wait_until(spectra, 240, "the sample nova's spectra to be acquired", interval=1)
    assert {"VALID", "TERMINAL_INVALID"} <= {one["validation_status"] for one in found}
    outputs = {"BucketName": stack.outputs.bucket_name}
    outputs["IngestPhotometryArn"] = stack.outputs.state_machines["ingest_photometry"]
    (told,) = hand_in(CommandStack(stack.session, outputs), nova, [SAMPLE_LIGHT_CURVE], timeout=120)
    assert "error" not in told, told
    return nova


@pytest.fixture(scope="module")
def data(stack: Stack, server_url: str, nova_id: str) -> str:
    """Everything that a view can show; returns the nova's id."""
    SubjectRegistry(table_of(stack)).register(sample_subjects())
    fetch(stack, register(stack, [*sample_sources(server_url), *sample_observation_sources(server_url)]))
    return nova_id


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as found:
        yield found


@pytest.fixture
def page(stack: Stack, browser: Browser, data: str) -> Iterator[BrowserPage]:
    """A page that fails the test for anything the browser complains of."""
    opened = new_page(browser, viewport={"width": 1200, "height": 900})
    complaints: list[str] = []

    def complain(message: Any) -> None:
        # That a token is needed is an answer; the browser writes every one that is not 2xx.
        refused = message.text.startswith("Failed to load resource") and "401" in message.text
        if message.type in {"error", "warning"} and not refused:
            complaints.append(message.text)

    opened.on("console", complain)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    yield opened
    opened.context.close()
    assert not complaints


@pytest.fixture
def token(stack: Stack) -> str:
    """A token that may write."""
    return TokenStore(table_of(stack)).create("browser test", ["write"], timedelta(days=1))[1]


def enter(page: BrowserPage, token: str) -> None:
    """Enter a token in the dialog that asks for it."""
    page.get_by_label("Token", exact=True).fill(token)
    page.get_by_role("button", name="Use it").click()


def table_of(stack: Stack) -> Table:
    return Table(stack.outputs.table_name, stack.session.client("dynamodb"))


def open_view(page: BrowserPage, stack: Stack, view: str, name: str) -> None:
    """Open a view, wait until it has what it asked for, check it with axe, and keep a picture."""
    open_page(page, f"{stack.outputs.api_url}/{view}")
    expect(page.locator(".problem")).to_have_count(0)
    check_accessibility(page)
    picture(page, name)


def picture(page: BrowserPage, name: str) -> None:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)


def test_articles_show_every_sources_word_side_by_side(page: BrowserPage, stack: Stack) -> None:
    open_view(page, stack, "", "articles")
    expect(page.get_by_role("heading", level=1)).to_have_text("Articles")
    told = page.locator("summary", has_text="sources:").first
    told.click()
    expect(page.locator("details[open] blockquote").nth(1)).to_be_visible()
    picture(page, "articles-words")
    page.get_by_label("Sentiment").select_option("negative")
    expect(page.locator(".story .chip.negative").first).to_be_visible()
    expect(page.locator(".story .chip.positive")).to_have_count(0)


def test_at_least_ten_subjects_of_the_sample_news_have_a_chart(page: BrowserPage, stack: Stack) -> None:
    """`make up` loads these subjects and fetches these sources."""
    open_view(page, stack, "#/sentiment?hours=168", "subjects")
    told = page.get_by_role("region", name="Mentioned in 7 days").get_by_role("link")
    expect(told.nth(9)).to_be_visible()
    # The stack is shared: what other tests have loaded may be mentioned as well.
    shown = set(told.all_inner_texts()) & {subject.name for subject in sample_subjects()}
    assert len(shown) >= 10
    name = min(shown)
    told.filter(has_text=name).click()
    expect(page.get_by_role("heading", name=name)).to_be_visible()
    expect(page.get_by_role("img", name=f"Mentions of {name} by day")).to_be_visible()


def test_the_sentiment_of_a_subject_is_found_by_its_name(page: BrowserPage, stack: Stack) -> None:
    open_view(page, stack, "#/sentiment", "subjects")
    page.get_by_label("Subject").fill("halcyon robotics")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("heading", name="Halcyon Robotics")).to_be_visible()
    page.get_by_label("Period").select_option("168")
    expect(page.get_by_role("img", name="Mentions of Halcyon Robotics by day")).to_be_visible()
    page.locator("summary", has_text="as a table").click()
    expect(page.get_by_role("row").nth(1)).to_be_visible()
    check_accessibility(page)
    picture(page, "sentiment")


def test_a_feed_shows_its_next_poll_and_its_hours(page: BrowserPage, stack: Stack) -> None:
    open_view(page, stack, "#/feeds", "feeds")
    page.get_by_role("link", name="Harbor Ledger").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Harbor Ledger")
    expect(page.get_by_text("Next poll", exact=True)).to_be_visible()
    expect(page.get_by_role("img", name="Entries by hour of the day")).to_be_visible()
    expect(page.get_by_role("row").nth(1)).to_be_visible()
    check_accessibility(page)
    picture(page, "feed")


def test_the_history_of_a_rate_says_which_source_won(page: BrowserPage, stack: Stack) -> None:
    open_view(page, stack, "#/rates", "rates")
    page.get_by_label("Series").select_option(label="Online deposit")
    page.get_by_role("link", name="Bến Xuân").first.click()
    # Of one day there is a figure, of several a chart: both name the source.
    history = page.get_by_role("region", name="History of Bến Xuân")
    expect(history).to_contain_text("from ")
    expect(history.locator(".figure, [role=img]").first).to_be_visible()
    check_accessibility(page)
    picture(page, "rate")


def test_a_nova_is_found_by_name_and_shows_its_spectrum(page: BrowserPage, stack: Stack) -> None:
    open_view(page, stack, "#/novae", "novae")
    page.get_by_label("Name, or right ascension and declination").fill("nova sco 2012 no. 1")
    page.get_by_role("button", name="Find").click()
    page.get_by_role("link", name="V1324 Sco").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("V1324 Sco")
    expect(page.get_by_role("img", name="Spectrum from").first).to_be_visible()
    expect(page.get_by_role("img", name="Light curve")).to_be_visible()
    wait_for_view(page)
    check_accessibility(page)
    picture(page, "nova")


def test_a_run_shows_its_attempts_on_a_time_line(page: BrowserPage, stack: Stack) -> None:
    open_view(page, stack, "#/runs", "runs")
    page.get_by_role("link", name="initialize_nova").first.click()
    expect(page.locator(".timeline li").first).to_be_visible()
    check_accessibility(page)
    picture(page, "run")


def test_a_quarantined_spectrum_is_decided_with_a_token_and_watched_until_it_is_valid(
    page: BrowserPage, stack: Stack, data: str, token: str
) -> None:
    open_view(page, stack, "#/quarantine", "quarantine")
    expect(page.locator("tbody a").first).to_be_visible()
    open_page(page, f"{stack.outputs.api_url}/#/novae/{data}")
    page.get_by_role("link", name="missing critical metadata: decide").click()
    expect(page.get_by_role("heading", name="Your decision")).to_be_visible()
    page.get_by_role("button", name="Access").click()
    enter(page, token)
    expect(page.get_by_role("heading", name="Your decision")).to_be_visible()
    expect(page.get_by_role("img", name="Trial plot from")).to_be_visible()
    page.get_by_role("combobox", name="Wavelength unit").select_option("Angstrom")
    page.get_by_label("Your name").fill("A. Tester")
    page.get_by_label("Why, for those who come after").fill("The observer's log says ångström.")
    check_accessibility(page)
    picture(page, "review")
    page.get_by_role("button", name="Decide").click()
    expect(page.get_by_text("cleared retry approved by A. Tester")).to_be_visible()
    after = page.get_by_role("region", name="What became of it")
    expect(after.get_by_text("valid", exact=True)).to_be_visible(timeout=120_000)
    after.get_by_role("link", name="See it at its nova").click()
    expect(page.get_by_role("img", name="Spectrum from")).to_have_count(2)


def test_a_feed_that_fails_fires_an_alert_and_is_mended(
    page: BrowserPage, stack: Stack, server_url: str, token: str
) -> None:
    address = f"{server_url}/feeds/harbor-ledger.rss"
    open_view(page, stack, "#/alerts", "alerts")
    page.get_by_role("link", name="Add an alert").click()
    page.get_by_label("Tell me when").select_option("source")
    page.get_by_label("After so many errors in a row").fill("1")
    page.get_by_label("Name").fill("A source fails")
    page.get_by_role("button", name="Add the alert").click()
    enter(page, token)
    expect(page.get_by_text("is added.")).to_be_visible()

    page.get_by_role("link", name="Feeds", exact=True).click()
    page.get_by_role("link", name="Add feeds").click()
    page.get_by_label("Address of a site or of its feed").fill(f"{address}?copy=1")
    page.get_by_role("button", name="Find and add").click()
    added = page.locator(".good")
    expect(added).to_contain_text("is added")
    stage(server_url, {"path": "/feeds/harbor-ledger.rss", "status": 404})
    try:
        stack.invoke("dispatch_sources", {})  # what the clock does once a minute
        expect(added).to_contain_text("There is nothing at this address any more.")
    finally:
        stage(server_url)
    added.get_by_role("link").first.click()
    trouble = page.locator(".problem")
    expect(trouble).to_contain_text("It has failed once")
    expect(trouble).to_contain_text("What to do:")
    check_accessibility(page)
    picture(page, "feed-failing")
    feed_id = page.url.rpartition("/")[2]

    page.get_by_role("link", name="Alerts", exact=True).click()
    page.get_by_role("link", name="A source fails").click()
    stack.invoke("index_articles", {})
    expect(page.get_by_role("link", name=feed_id)).to_be_visible()
    expect(page.get_by_text("delivered", exact=True)).to_be_visible()
    picture(page, "alert")
    page.get_by_role("link", name=feed_id).click()

    page.get_by_role("button", name="Change", exact=True).click()
    page.get_by_label("Address").fill(f"{address}?copy=2")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("It is due now and fetched within a minute")).to_be_visible()
    stack.invoke("dispatch_sources", {})
    expect(page.get_by_text("Fetched.", exact=True)).to_be_visible()
    expect(page.get_by_text("healthy", exact=True).first).to_be_visible()
    expect(trouble).to_have_count(0)
    page.get_by_role("button", name="Delete", exact=True).click()
    page.locator("button.danger").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Feeds")


def test_a_workflow_is_started_and_why_it_failed_is_found_and_mended(
    page: BrowserPage, stack: Stack, data: str, token: str
) -> None:
    nobody = "11111111-2222-5333-8444-555555555555"
    open_view(page, stack, "#/runs", "runs")
    page.get_by_role("link", name="Start a workflow").click()
    start = page.get_by_role("region", name="Start a workflow")
    start.get_by_label("Workflow").select_option("name_check_and_reconcile")
    start.get_by_label("nova id").fill(nobody)
    start.get_by_role("button", name="Start", exact=True).click()
    enter(page, token)
    expect(page.get_by_role("heading", level=1)).to_contain_text("name check and reconcile")
    trouble = page.locator(".problem")
    expect(trouble).to_contain_text(nobody)

    page.get_by_role("link", name="Runs", exact=True).click()
    failed = page.get_by_role("region", name="Failed within a day")
    failed.get_by_role("link", name="name check and reconcile").first.click()
    expect(trouble).to_contain_text("Start it again with the right input.")
    expect(page.locator(".timeline .error").first).to_contain_text(nobody)
    expect(page.locator(".facts").filter(has_text="nova id")).to_contain_text(nobody)
    check_accessibility(page)
    picture(page, "run-failed")
    page.get_by_role("button", name="Start it again").click()
    page.get_by_label("nova id").fill(data)
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("heading", level=1)).not_to_contain_text(nobody)
    expect(page.locator(".facts").first).not_to_contain_text("it is under way", timeout=120_000)
    expect(page.locator(".facts .chip.negative")).to_have_count(0)


def test_a_light_curve_is_handed_in_and_taken_away_as_aavso(
    page: BrowserPage, stack: Stack, data: str, token: str, tmp_path: Path
) -> None:
    night = tmp_path / "night.csv"
    night.write_text("mjd,mag,err,band,observer\n56400.25,13.125,0.02,V,Eve\n56401.25,13.25,0.02,V,Eve\n")
    wrong = tmp_path / "picture.png"
    wrong.write_bytes(b"PNG")
    open_page(page, f"{stack.outputs.api_url}/#/novae/{data}")
    page.locator("summary", has_text="Hand in photometry and spectra").click()
    page.get_by_label("Files: drop them here, or choose them").set_input_files([night, wrong])
    chosen = page.get_by_role("list", name="Files that were chosen")
    expect(chosen).to_contain_text("3 lines, begins with “mjd,mag,err,band,observer”")
    expect(chosen).to_contain_text("is neither photometry")
    page.get_by_label("Your name").fill("Eve")
    check_accessibility(page)
    picture(page, "upload")
    page.get_by_role("button", name="Send the file").click()
    enter(page, token)
    expect(page.get_by_text("taken", exact=True)).to_be_visible(timeout=180_000)
    expect(page.locator(".waiting")).to_have_count(0)
    with page.expect_download() as waited:
        page.get_by_role("button", name="AAVSO").click()
    text = waited.value.path().read_text("utf-8")
    assert text.startswith("#TYPE=EXTENDED")
    assert "13.125" in text


def test_events_are_listed(page: BrowserPage, stack: Stack) -> None:
    open_view(page, stack, "#/events", "events")
    expect(page.get_by_role("heading", level=1)).to_have_text("Events")


def test_the_page_works_on_a_phone_in_the_dark_and_by_keyboard(
    stack: Stack, browser: Browser, data: str
) -> None:
    page = new_page(browser, viewport={"width": 390, "height": 800}, color_scheme="dark")
    open_view(page, stack, "#/feeds", "phone-dark")
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(overflow) <= 1
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.context.close()
