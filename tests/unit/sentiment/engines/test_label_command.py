from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from sourcebook.sentiment.engines import model
from sourcebook_cli.main import main

TEXTS = "Profit jumps to a record\n\nHospital crippled by ransomware\nApple to hold event on Tuesday\n"


@pytest.mark.parametrize("engine", ["model", "fallback"])
def test_each_line_of_a_file_gets_a_line_with_label_confidence_and_scores(
    tmp_path: Path, engine: str
) -> None:
    file = tmp_path / "texts"
    file.write_text(TEXTS, "utf-8")
    finished = CliRunner().invoke(main, ["sentiment", "label", str(file), "--engine", engine])
    assert finished.exit_code == 0, finished.output
    rows = [line.split("\t") for line in finished.output.splitlines()]
    assert [row[0] for row in rows] == ["positive", "neutral", "negative", "neutral"]
    for row in rows:
        assert float(row[1]) == max(map(float, row[2:]))
        assert len(row) == 5


def test_standard_input_is_labelled_by_the_model_unless_told_otherwise() -> None:
    finished = CliRunner().invoke(
        main, ["sentiment", "label", "-", "--json"], input="Shares soar\r\nShares sink"
    )
    assert finished.exit_code == 0, finished.output
    first, second = map(json.loads, finished.output.splitlines())
    assert (first["label"], first["text"]) == ("positive", "Shares soar")
    assert (second["label"], second["text"]) == ("negative", "Shares sink")
    assert next(iter(first)) == "label"
    assert first["engine"].startswith("minilm-l6-")
    assert set(first["scores"]) == {"negative", "neutral", "positive"}


def test_vader_gives_its_own_scores() -> None:
    finished = CliRunner().invoke(
        main, ["sentiment", "label", "-", "--engine", "vader"], input="A great success\n"
    )
    [row] = [line.split("\t") for line in finished.output.splitlines()]
    assert row[0] == "positive"
    assert len(row) == 6


def test_a_model_that_cannot_be_loaded_is_said_and_nothing_is_labelled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(model, "MODEL_PACKAGE", "sourcebook_model_that_is_not_there")
    finished = CliRunner().invoke(main, ["sentiment", "label", "-"], input="Shares soar\n")
    assert finished.exit_code == 1
    assert "fallback" in finished.output
    assert "positive" not in finished.stdout


CONFLICT = "Kestrel profit jumps to a record; Lumora plunges after profit warning"


@pytest.mark.parametrize("engine", ["model", "fallback", "vader"])
def test_each_target_of_a_table_gets_a_line_with_the_label_first(tmp_path: Path, engine: str) -> None:
    file = tmp_path / "targets"
    places = [(CONFLICT.index(name), CONFLICT.index(name) + len(name)) for name in ("Lumora", "Kestrel")]
    rows = [f"?\t{end}\t{start}\t{CONFLICT}" for start, end in places]
    file.write_text("\n".join(["label\tend\tstart\ttext", *rows, ""]), "utf-8")
    finished = CliRunner().invoke(
        main, ["sentiment", "label", "--targets", str(file), "--engine", engine], catch_exceptions=False
    )
    assert finished.exit_code == 0, finished.output
    labels = [line.split("\t")[0] for line in finished.output.splitlines()]
    assert len(labels) == 2
    if engine != "vader":
        assert labels == ["negative", "positive"]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("start\ttext\n0\tKestrel\n", "a column end"),
        ("", "a column start"),
        ("start\tend\ttext\n0\tx\tKestrel\n", "line 2"),
        ("start\tend\ttext\n0\t3\tKestrel\n0\t9\tKestrel\n", "line 3"),
        ("start\tend\ttext\n0\t3\n", "line 2"),
    ],
)
def test_a_table_that_names_no_targets_is_refused(table: str, message: str) -> None:
    finished = CliRunner().invoke(
        main, ["sentiment", "label", "-", "--targets", "--engine", "fallback"], input=table
    )
    assert finished.exit_code == 1
    assert message in finished.output
