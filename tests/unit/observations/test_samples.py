from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from sourcebook_cli.main import main
from sourcebook_local import samples_observations as samples

YIELDS = {"lai-suat-ben-xuan": (26, 5), "harbour-rates": (10, 3), "zinsvergleich": (9, 1)}
"""Rows and dropped rows of each sample page."""


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["observations", "parse", *arguments])
    return result.exit_code, result.output


@pytest.mark.parametrize("source_id", YIELDS)
def test_a_sample_page_yields_its_figures_without_a_stack(source_id: str) -> None:
    page = next(name for name in samples.page_names() if name.startswith(source_id))
    status, output = run(str(samples.DECLARATIONS), str(samples.FOLDER / page), "--json")
    assert status == 0, output
    content = json.loads(output)
    assert (len(content["rows"]), len(content["dropped"])) == YIELDS[source_id]
    for row in content["rows"]:
        assert list(row) == [
            "bank",
            "series",
            "term_months",
            "rate_min_pct",
            "rate_max_pct",
            "rate_pct",
            "raw_value",
            "parse_warnings",
        ]
        assert 0 < row["rate_pct"] < 10
    assert all(dropped["reason"] and dropped["detail"] for dropped in content["dropped"])


def test_the_declarations_point_to_the_server_they_are_given() -> None:
    specs = samples.sample_observation_sources("http://127.0.0.1:9/")
    assert {spec.kind for spec in specs} == {"html_table", "json_api", "csv"}
    assert [
        spec.url.removeprefix("http://127.0.0.1:9/observations/") for spec in specs
    ] == samples.page_names()


def test_a_page_that_has_changed_says_so_with_a_cause(tmp_path: Path) -> None:
    page = tmp_path / "zinsvergleich.csv"
    page.write_text("Bank;Laufzeit\nA;6M\n")
    status, output = run(str(samples.DECLARATIONS), str(page), "--json")
    assert status == 1
    content = json.loads(output)
    assert (content["cause"], content["rows"]) == ("layout_changed", [])


def test_a_file_with_one_source_needs_no_list(tmp_path: Path) -> None:
    one = yaml.safe_load(samples.DECLARATIONS.read_text("utf-8"))["sources"][2]
    declaration = tmp_path / "one.yaml"
    declaration.write_text(yaml.safe_dump(one), encoding="utf-8")
    status, output = run(str(declaration), str(samples.FOLDER / "zinsvergleich.csv"))
    assert status == 0
    assert "9 rows, 1 dropped" in output


def test_the_wrong_option_of_a_declaration_is_named(tmp_path: Path) -> None:
    one = yaml.safe_load(samples.DECLARATIONS.read_text("utf-8"))["sources"][2]
    one["options"]["unit"] = "furlongs"
    declaration = tmp_path / "one.yaml"
    declaration.write_text(yaml.safe_dump(one), encoding="utf-8")
    status, output = run(str(declaration), str(samples.FOLDER / "zinsvergleich.csv"))
    assert status == 1
    assert "options.unit" in output


def test_every_heading_and_row_that_was_not_taken_is_counted(tmp_path: Path) -> None:
    one = yaml.safe_load(samples.DECLARATIONS.read_text("utf-8"))["sources"][2]
    declaration = tmp_path / "one.yaml"
    declaration.write_text(yaml.safe_dump(one), encoding="utf-8")
    page = samples.FOLDER / "zinsvergleich.csv"
    _, output = run(str(declaration), str(page), "--json")
    assert [heading["heading"] for heading in json.loads(output)["headings_not_taken"]] == ["Anlage"]
    _, output = run(str(declaration), str(page))
    assert "9 rows, 1 dropped, 1 headings not taken" in output
    assert "'Anlage'" in output
