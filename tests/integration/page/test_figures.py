"""Rates are compared, a nova is looked at and taken away, workflows are started and followed."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, cast

import pytest
from PIL import Image

from tests.browser import check_accessibility, expect
from tests.integration.page.conftest import Look

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.integration


def test_the_best_of_each_term_is_marked_sorted_and_downloaded(look: Look) -> None:
    page = look.at("#/rates?series=deposit_online")
    best = page.locator(".matrix td.best")
    expect(best).to_have_count(5)  # two banks offer the best of two terms
    page.get_by_role("button", name="6M").click()
    expect(page.locator(".matrix tbody th").first).to_have_text("Bến Xuân")
    expect(page.locator(".matrix tbody th").last).to_have_text("Old Mill Savings")
    expect(page.get_by_role("columnheader", name="6M")).to_have_attribute("aria-sort", "descending")
    with page.expect_download() as waited:
        page.get_by_role("button", name="Download CSV").click()
    assert "Bến Xuân" in waited.value.path().read_text("utf-8")
    page.get_by_label("Series").select_option(label="Home loan")
    expect(page.get_by_text("the lowest of its term")).to_be_visible()


def test_banks_are_compared_over_time(look: Look) -> None:
    page = look.at("#/rates?series=deposit_online")
    page.locator(".matrix tbody tr").first.get_by_role("link", name="5.30").click()
    expect(page.get_by_role("img", name="Rates of Bến Xuân, 6 days")).to_be_visible()
    page.get_by_role("link", name="+ Harbor Bank").click()
    expect(page.get_by_role("img", name="Rates of Bến Xuân, Harbor Bank, 6 days")).to_be_visible()
    page.locator("summary", has_text="as a table").click()
    expect(page.get_by_role("columnheader", name="Harbor Bank")).to_be_visible()
    check_accessibility(page)
    page.reload()
    expect(page.get_by_role("heading", name="Bến Xuân, Harbor Bank 6M")).to_be_visible()
    page.get_by_role("link", name="Harbor Bank × take away").click()
    expect(page.get_by_role("img", name="Rates of Bến Xuân, 6 days")).to_be_visible()


def test_a_nova_shows_its_place_its_light_curve_and_gives_it_away(look: Look) -> None:
    page = look.at(f"#/novae/{look.site.world.nova_id}")
    expect(page.get_by_text("17h 50m 53.90s −32° 37′ 20.5″")).to_be_visible()
    expect(page.get_by_role("link", name="SIMBAD")).to_have_attribute(
        "href",
        "https://simbad.cds.unistra.fr/simbad/sim-coo?Coord=267.72458%20-32.62236&CooFrame=ICRS&Radius=10&Radius.unit=arcsec",
    )
    expect(
        page.get_by_role("img", name="Light curve, 6 measurements in B, V, V (fainter than)")
    ).to_be_visible()
    page.get_by_label("Time as").select_option("date")
    expect(page.get_by_role("img", name="Light curve, 6 measurements")).to_be_visible()
    page.locator("summary", has_text="as a table").click()
    expect(page.get_by_role("cell", name="> 15.20")).to_be_visible()
    expect(page.get_by_role("cell", name="10.20 ± 0.04")).to_be_visible()
    with page.expect_download() as waited:
        page.get_by_role("button", name="AAVSO").click()
    assert "#TYPE=EXTENDED" in waited.value.path().read_text("utf-8").upper()
    page.get_by_label("Lines to compare with, in air").first.select_option("Balmer")
    with page.expect_download() as waited:
        page.get_by_role("button", name="CSV").last.click()
    assert waited.value.path().read_text("utf-8").startswith("order,wavelength,flux")
    check_accessibility(page)


def test_novae_are_listed_and_filtered(look: Look) -> None:
    page = look.at("#/novae")
    row = page.get_by_role("row").filter(has_text="V1324 Sco")
    expect(row).to_contain_text("17h 50m 53.90s")
    page.get_by_label("Constellation").fill("Sco")
    page.get_by_role("button", name="Filter").click()
    expect(row).to_be_visible()
    page.get_by_label("Year of discovery").fill("1901")
    page.get_by_role("button", name="Filter").click()
    expect(row).to_have_count(0)
    page.get_by_role("link", name="Take the filters away").click()
    expect(row).to_be_visible()
    expect(page.get_by_label("Constellation")).to_have_value("")


@pytest.mark.parametrize("typed", ["267.7246 -32.6224", "17 50 53.9 -32 37 20.5", "17h50m53.9s −32°37′20.5″"])
def test_a_nova_is_found_by_its_place_however_it_is_written(look: Look, typed: str) -> None:
    page = look.page
    page.goto(f"{look.site.url}/#/novae")
    page.get_by_label("Name, or right ascension and declination").fill(typed)
    page.get_by_role("button", name="Find").click()
    expect(page.get_by_role("link", name="V1324 Sco")).to_be_visible()


def test_a_workflow_is_started_with_the_fields_that_it_takes(look: Look) -> None:
    page = look.at("#/runs?start=1")
    page.get_by_role("region", name="Start a workflow").get_by_label("Workflow").select_option(
        "initialize_nova"
    )
    page.get_by_label("candidate name").fill("V0003 Sco")
    page.get_by_role("button", name="Start", exact=True).click()
    look.enter_token()
    expect(page.get_by_role("heading", level=1)).to_contain_text("initialize nova")
    expect(page.get_by_text("running", exact=True)).to_be_visible()


def test_a_run_that_failed_says_why_in_plain_words(look: Look) -> None:
    page = look.at("#/runs?status=FAILED")
    page.get_by_role("link", name="initialize_nova").click()
    expect(page.locator(".problem")).to_contain_text("simbad: 503 Service Unavailable")
    expect(page.locator(".problem")).to_contain_text("Somebody else was not able to answer.")
    expect(page.locator(".timeline > li")).to_have_count(2)
    check_accessibility(page)
    expect(page.get_by_role("heading", name="What it was started with")).to_be_visible()
    page.get_by_role("button", name="Start it again").click()
    expect(page.get_by_label("candidate name")).to_have_value("V0002 Sco")
    page.get_by_role("button", name="Start", exact=True).click()
    look.enter_token()
    expect(page.get_by_text("running", exact=True)).to_be_visible()


def test_what_failed_within_a_day_stands_above_all_runs(look: Look) -> None:
    page = look.at("#/runs")
    failed = page.get_by_role("region", name="Failed within a day")
    expect(failed).to_contain_text("initialize nova")
    expect(failed).to_contain_text("simbad: 503 Service Unavailable")
    check_accessibility(page)


def test_a_nova_is_merged_by_a_name_of_the_other_and_the_form_is_kept_while_a_token_is_asked_for(
    look: Look,
) -> None:
    page = look.at(f"#/novae/{look.site.world.single_id}")
    page.locator("summary", has_text="Merge, split or deprecate").click()
    page.get_by_label("The other nova").fill("no such nova")
    page.get_by_label("Your name").fill("A. Tester")
    page.get_by_label("Why, for those who come after").fill("The same star.")
    page.get_by_role("button", name="Decide").click()
    expect(page.get_by_role("alert")).to_contain_text("No nova is known as no such nova.")
    page.get_by_label("The other nova").fill("v1324 sco")
    check_accessibility(page)
    page.get_by_role("button", name="Decide").click()
    expect(page.get_by_role("dialog", name="Access")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_label("Why, for those who come after")).to_have_value("The same star.")
    page.get_by_role("button", name="Decide").click()
    look.enter_token()
    expect(page.get_by_role("heading", level=1)).to_contain_text("curate nova")


def test_one_measurement_is_a_figure_and_no_chart(look: Look) -> None:
    page = look.at(f"#/novae/{look.site.world.single_id}")
    expect(page.locator(".figure")).to_have_text("4.40 mag")
    expect(page.get_by_text("± 0.20 in V at MJD 28446.5. It is the only measurement.")).to_be_visible()
    expect(page.get_by_role("img", name="Light curve")).to_have_count(0)


def test_a_part_of_a_light_curve_is_picked(look: Look) -> None:
    page = look.at(f"#/novae/{look.site.world.nova_id}")
    part = page.get_by_role("group", name="Part that is shown").first
    expect(part.get_by_label("From")).to_have_value(re.compile("^5607"))
    part.get_by_label("From").fill("56080")
    part.get_by_label("To").fill("56082")
    part.get_by_role("button", name="Show").click()
    expect(part.get_by_label("From")).to_have_value("56080")
    part.get_by_role("button", name="All").click()
    expect(part.get_by_label("From")).to_have_value(re.compile("^5607"))
    page.get_by_label("Time as").select_option("date")
    expect(part.get_by_label("From")).to_have_value(re.compile(r"^2012-06-0\d$"))


def ink(page: Page, share: float, colour: tuple[int, int, int]) -> int:
    """Return how many pixels of a colour stand above one another at a share of the first chart's width."""
    chart = page.locator(".chart").first
    whole, drawn = chart.bounding_box(), chart.locator(".u-over").bounding_box()
    assert whole is not None
    assert drawn is not None
    left, width = drawn["x"] - whole["x"], drawn["width"]
    image = Image.open(io.BytesIO(chart.screenshot())).convert("RGB")
    column = round(left + width * share)
    rows = range(image.height)

    def near(x: int, y: int) -> bool:
        seen = cast("tuple[int, int, int]", image.getpixel((x, y)))
        return sum(abs(a - b) for a, b in zip(seen, colour, strict=True)) < 300  # half a line is half white

    return sum(any(near(column + x, y) for x in (-1, 0, 1)) for y in rows)


def test_the_errors_of_a_light_curve_are_bars(look: Look) -> None:
    page = look.at(f"#/novae/{look.site.world.nova_id}")
    expect(page.get_by_role("img", name="Light curve, 6 measurements")).to_be_visible()
    legend = page.locator(".chart").first.locator(".u-legend .u-series th")
    expect(legend).to_have_text(["MJD", "B", "V", "V (fainter than)"])
    for band in (2, 3):
        legend.nth(band).click()  # what is left is 12.1 ± 0.1 and 13.0 ± 0.1 in B
    share = (56081.5 - 56079.4) / (56084.5 - 56079.4)
    # A point alone is six pixels high.
    assert ink(page, share, (0x1C, 0x5D, 0x99)) > 20


def test_spectra_are_compared_in_one_chart(look: Look) -> None:
    page = look.at(f"#/novae/{look.site.world.nova_id}")
    page.locator("summary", has_text="Compare 2 spectra in one chart").click()
    expect(page.get_by_role("img", name="2 spectra in one chart: ESO")).to_be_visible()
    page.get_by_role("checkbox", name="ESO_OLD").uncheck()
    expect(page.get_by_role("img", name="1 spectrum in one chart")).to_be_visible()
    page.get_by_role("checkbox", name="ESO_OLD").check()
    expect(page.get_by_role("img", name="2 spectra in one chart")).to_be_visible()
    check_accessibility(page)
