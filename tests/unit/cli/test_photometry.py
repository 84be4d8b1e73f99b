"""`photometry check`, and where an upload is put."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from sourcebook.photometry.upload import upload_key
from sourcebook_cli.main import main
from sourcebook_local.astronomy.light_curve import SAMPLE_LIGHT_CURVE

if TYPE_CHECKING:
    from pathlib import Path

CSV = "star,jd,mag,band\nV1324 Sco,2456079.9,11.1,V\nSS Cyg,2456079.9,11.2,V\n"


@pytest.fixture
def upload(tmp_path: Path) -> Path:
    file = tmp_path / "night.csv"
    file.write_text(CSV)
    return file


def test_an_upload_is_read_without_a_stack(upload: Path) -> None:
    result = CliRunner().invoke(main, ["photometry", "check", str(upload)])
    assert result.exit_code == 0, result.output
    assert f"{upload}: csv, 2 accepted, 0 rejected, 0 duplicates" in result.output


def test_rows_of_other_stars_are_reported_when_a_name_is_given(upload: Path) -> None:
    result = CliRunner().invoke(main, ["photometry", "check", "--name", "V* V1324 SCORPII", str(upload)])
    assert result.exit_code == 1
    assert "row 3: star: 'SS Cyg' is not valid" in result.output


def test_the_list_has_a_report_for_each_file_also_for_one_that_cannot_be_read(
    upload: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    page.write_text("<html></html>")
    result = CliRunner().invoke(main, ["photometry", "check", "--json", str(page), str(upload)])
    assert result.exit_code == 1
    first, second = json.loads(result.stdout)
    assert (first["file"], first["accepted"]) == (str(page), 0)
    assert "VOTable" in first["error"]
    assert (second["format"], second["accepted"], second["errors"]) == ("csv", 2, [])


def test_many_refused_rows_are_not_all_printed(tmp_path: Path) -> None:
    file = tmp_path / "bad.csv"
    file.write_text("jd,mag,band\n" + "x,1,V\n" * 50)
    result = CliRunner().invoke(main, ["photometry", "check", str(file)])
    assert result.output.count("row ") == 20
    assert "and 30 more; --json has all" in result.output


def test_the_sample_light_curve_is_good_but_for_its_check_star() -> None:
    result = CliRunner().invoke(
        main, ["photometry", "check", "--json", "--name", "V1324 Sco", str(SAMPLE_LIGHT_CURVE)]
    )
    (report,) = json.loads(result.stdout)
    assert report["accepted"] > 500
    assert report["duplicates"] == 2
    assert {error["field"] for error in report["errors"]} == {"NAME"}


def test_an_upload_is_put_where_its_content_says() -> None:
    first = upload_key("my night (1).csv", "2f" * 32)
    assert first.startswith("raw/photometry/2f2f2f2f2f")
    assert first.endswith("/my-night-1-.csv")
    assert upload_key("../../etc/passwd", "2f" * 32).rpartition("/")[2] == "etc-passwd"
    assert upload_key("ночь", "2f" * 32).endswith("/upload")
