"""What waits for a person is decided in the page."""

from __future__ import annotations

import pytest

from sourcebook.table import keys
from tests.browser import check_accessibility, expect
from tests.integration.page.conftest import Look

pytestmark = pytest.mark.integration


def test_a_spectrum_is_drawn_in_trial_units_and_decided(look: Look) -> None:
    page = look.at("#/quarantine")
    expect(page.get_by_role("link", name="Quarantine 2 waiting")).to_be_visible()
    page.get_by_role("link", name="Spectrum from BESS").click()
    expect(page.get_by_role("img", name="Trial plot from 4,000.0 to 4,995.0 in")).to_be_visible()
    unit = page.get_by_role("combobox", name="Trial unit of the wavelengths")
    unit.select_option("nm")
    expect(page.get_by_text("outside of the optical")).to_be_visible()
    unit.select_option("Angstrom")
    expect(page.get_by_text("reaches into the optical")).to_be_visible()
    expect(page.get_by_role("img", name="Trial plot from 400.0 to 499.5 nm")).to_be_visible()
    page.get_by_text("Its header").click()
    page.get_by_label("Search the header").fill("objname")
    expect(page.get_by_role("cell", name="V0001 Tst", exact=True)).to_be_visible()
    check_accessibility(page)
    # What one sees is what one says.
    expect(page.get_by_text("It gets: wavelength unit = Angstrom.")).to_be_visible()
    page.get_by_label("Date of observation").fill("2024-02-31")
    expect(page.get_by_role("alert")).to_contain_text("Write it as")
    expect(page.get_by_role("button", name="Decide")).to_be_disabled()
    page.get_by_label("Date of observation").fill("2024-03-05")
    page.get_by_label("Your name").fill("A. Tester")
    page.get_by_label("Why, for those who come after").fill("The log says ångström.")
    page.get_by_role("button", name="Decide").click()
    look.enter_token()
    expect(page.get_by_role("heading", name="What became of it")).to_be_visible()
    expect(page.get_by_text("cleared retry approved by A. Tester")).to_be_visible()
    expect(page.get_by_role("link", name="Quarantine 1 waiting")).to_be_visible()
    kept = look.site.world.table.get(keys.quarantined(look.site.world.spectrum_case), consistent=True)
    assert kept is not None
    assert kept["overrides"] == {"wavelength_unit": "Angstrom", "date": "2024-03-05"}
    page.get_by_role("link", name="Quarantine", exact=False).first.click()
    page.get_by_role("link", name="decided").click()
    expect(page.get_by_role("cell", name="tried again by A. Tester")).to_be_visible()


def test_a_name_is_merged_into_a_candidate_by_a_button(look: Look) -> None:
    page = look.at(f"#/quarantine/{look.site.world.candidates_case}")
    page.get_by_role("button", name="It is V1324 Sco, 6.2″ away").click()
    expect(page.get_by_text("The name becomes a name of the nova that you choose")).to_be_visible()
    expect(page.get_by_label("Id of that nova")).to_have_value(look.site.world.nova_id)
    page.get_by_label("Your name").fill("A. Tester")
    page.get_by_role("button", name="Decide").click()
    look.enter_token()
    expect(page.get_by_role("link", name="The nova that it was merged into")).to_be_visible()


def test_a_case_without_a_file_says_so(look: Look) -> None:
    answer = look.page.request.get(f"{look.site.url}/quarantine/{look.site.world.candidates_case}/file")
    assert answer.status == 404
    assert "no file" in answer.json()["detail"]
