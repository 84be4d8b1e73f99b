from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from sourcebook.errors import InvalidInput
from sourcebook_cli.subjects import read_subjects, subjects


def test_the_subjects_of_a_headline_are_printed_without_a_stack() -> None:
    run = CliRunner().invoke(subjects, ["find", "Nvidia rallies as Cursor adds AI agents"])
    assert (run.exit_code, run.output) == (0, "NVDA\ncursor\n")


def test_a_file_of_ones_own_takes_the_place_of_the_default_list(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("subjects:\n  - tool_id: q\n    name: Quartzon\n")
    run = CliRunner().invoke(subjects, ["find", "Nvidia buys Quartzon", "--subjects", str(file)])
    assert run.output == "q\n"


@pytest.mark.parametrize(
    ("content", "named"),
    [("subjects: [", "file"), ("", "subjects"), ("- tool_id: a b\n  name: A", r"subjects\[0\]\.tool_id")],
)
def test_a_file_that_cannot_be_read_is_refused_with_what_is_wrong(
    tmp_path: Path, content: str, named: str
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(content)
    with pytest.raises(InvalidInput, match=named):
        read_subjects(file)
