"""The table that bench/run.py makes of what each bench has found, and that the docs hold the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import figures, run, scale
from bench.capacity import key_of_statement, kilobytes, units_of_batch_get, units_of_query, units_of_write
from bench.figures import Figure

BENCH = run.Bench("parse_feeds", "Parsing")


def result(*found: Figure, failure: str = "") -> run.Result:
    return run.Result(BENCH, found, {}, 1.0, failure)


@pytest.mark.parametrize(
    ("figure", "shown"),
    [
        (Figure("CPU", 31.84, "times", "0.15 s", "4.8 s", at_least=30), ("31.8 ×", "≥ 30", "met")),
        (Figure("CPU", 29.99, "times", at_least=30), ("30 ×", "≥ 30", "missed")),
        (Figure("units", 4.25, "write units", at_most=4), ("4.25 write units", "≤ 4", "missed")),
        (Figure("units", 4, "write units", at_most=4), ("4 write units", "≤ 4", "met")),
        (Figure("entries missed", 0, "", at_most=0), ("0", "≤ 0", "met")),
        (Figure("headlines", 55_123.4, ""), ("55,123", "", "")),
        (Figure("same link", 99.967, "%"), ("99.97 %", "", "")),
        (Figure("a day", 2.1709, "dollars", at_most=2.5), ("$2.17", "≤ 2.5", "met")),
    ],
)
def test_a_goal_is_met_or_missed_by_the_figure_itself(figure: Figure, shown: tuple[str, ...]) -> None:
    assert (figure.result, figure.goal, figure.verdict) == shown


def test_what_a_bench_saves_is_what_the_table_is_made_of(tmp_path: Path) -> None:
    found = [Figure("CPU", 31.8, "times", "0.15 s", "4.8 s", at_least=30), Figure("memory", 82, "MB")]
    figures.save(tmp_path / "found.json", found, {"poll": {"cpu_ms": 1.9}})
    assert figures.load(tmp_path / "found.json") == (found, {"poll": {"cpu_ms": 1.9}})


def test_a_bench_that_failed_and_a_goal_that_was_missed_stand_in_the_table() -> None:
    table = run.markdown(
        [result(Figure("CPU", 1.1, "times", "6.6 s", "7.5 s", at_least=20)), result(failure="Traceback")],
        "On X.",
    )
    assert table.splitlines()[0] == "On X."
    assert table.splitlines()[-2:] == [
        "| Parsing: CPU | 6.6 s | 7.5 s | 1.1 × | ≥ 20 | **missed** |",
        "| Parsing: parse_feeds failed |  |  |  |  | **failed** |",
    ]


def test_only_what_stands_between_the_marks_is_replaced() -> None:
    document = f"before\n<!-- make bench: x -->\nold\n{run.END}\nafter {run.END}\n"
    assert run.replaced(document, "x", "new") == document.replace("old", "new")


@pytest.mark.parametrize(
    "document", ["none", "<!-- make bench: x -->", f"<!-- make bench: x --> <!-- make bench: y --> {run.END}"]
)
def test_a_document_without_the_marks_is_left_alone(document: str) -> None:
    with pytest.raises(ValueError, match="should have the line '<!-- make bench: x -->'"):
        run.replaced(document, "x", "new")


def test_the_documentation_says_what_the_service_times_on_record_come_to() -> None:
    costs = run.COSTS.read_text("utf-8")
    times = json.loads(run.SERVICE_TIMES.read_text("utf-8"))
    assert run.table_of_costs(times) in costs
    assert run.table_of_money(scale.article_parts(1e6)) in costs
    assert run.table_of_money(scale.polling_parts(*run.POLLED)) in costs
    assert run.replaced(run.DOCUMENT.read_text("utf-8"), "all", "new")


def test_the_documentation_says_what_follows_at_scale_from_those_service_times() -> None:
    assert scale.report() in run.SCALE.read_text("utf-8")


def test_a_measured_service_time_takes_the_place_of_the_one_on_record(tmp_path: Path) -> None:
    measured = run.Result(BENCH, (), {"polls_a_day": 99.5}, 1.0)
    run.write_times(tmp_path / "times.json", run.merged_times([measured]))
    written = json.loads((tmp_path / "times.json").read_text("utf-8"))
    on_record = json.loads(run.SERVICE_TIMES.read_text("utf-8"))
    assert written == on_record | {"polls_a_day": 99.5}


def test_what_was_measured_is_written_as_it_is_on_record(tmp_path: Path) -> None:
    run.write_times(tmp_path / "times.json", run.merged_times([]))
    assert (tmp_path / "times.json").read_text("utf-8") == run.SERVICE_TIMES.read_text("utf-8")


BY_SENTIMENT = {"KeySchema": [{"AttributeName": "sentiment"}, {"AttributeName": "timestamp"}]}
KEYS_ONLY = {**BY_SENTIMENT, "Projection": {"ProjectionType": "KEYS_ONLY"}}
ALL = {**BY_SENTIMENT, "Projection": {"ProjectionType": "ALL"}}
KEY = {"PK": {"S": "dedup:1"}, "SK": {"S": "ARTICLE"}}
ARTICLE = {**KEY, "timestamp": {"S": "2026-11-27T12:00:00Z"}, "headline": {"S": "x" * 1_500}}
LABELLED = {**ARTICLE, "sentiment": {"S": "neutral"}}
MERGED = {**LABELLED, "sources": {"L": [{"S": "tiingo"}]}}


@pytest.mark.parametrize(
    ("before", "after", "index", "units"),
    [
        ({}, KEY, KEYS_ONLY, 1),
        ({}, ARTICLE, KEYS_ONLY, 2),  # two kilobytes begun, in no index
        (ARTICLE, LABELLED, KEYS_ONLY, 2 + 1),
        (ARTICLE, LABELLED, ALL, 2 + 2),
        (LABELLED, MERGED, KEYS_ONLY, 2),  # nothing changes that the index holds
        (LABELLED, MERGED, ALL, 2 + 2),
        (LABELLED, {**LABELLED, "sentiment": {"S": "positive"}}, KEYS_ONLY, 2 + 2),  # out and in
        (LABELLED, LABELLED, ALL, 2),  # a condition that failed
        (LABELLED, ARTICLE, ALL, 2 + 2),
    ],
)
def test_a_write_is_billed_by_kilobytes_and_by_what_each_index_holds_of_it(
    before: dict[str, dict[str, str]], after: dict[str, dict[str, str]], index: dict[str, object], units: int
) -> None:
    assert units_of_write(before, after, [index]) == units


def test_a_batch_of_gets_is_billed_by_four_kilobytes_and_a_key_without_an_item_as_the_smallest() -> None:
    asked = {"RequestItems": {"t": {"Keys": [KEY, KEY, KEY]}}}
    answer = {"Responses": {"t": [LABELLED, {**KEY, "text": {"S": "x" * 5_000}}]}}
    assert kilobytes(answer["Responses"]["t"][1]) == 5
    assert units_of_batch_get(asked, answer) == (1 + 2 + 1) / 2


@pytest.mark.parametrize(("found", "units"), [([], 0.5), ([LABELLED] * 2, 0.5), ([LABELLED] * 3, 1.0)])
def test_a_query_is_billed_by_four_kilobytes_of_all_that_it_read(
    found: list[dict[str, dict[str, str]]], units: float
) -> None:
    assert units_of_query({}, {"Items": found}) == units
    assert units_of_query({"ConsistentRead": True}, {"Items": found}) == 2 * units


@pytest.mark.parametrize(
    "statement",
    [
        {
            "Statement": "INSERT INTO \"t\" VALUE {'PK': ?, 'SK': ?, 'n': ?}",
            "Parameters": [{"S": "a"}, {"S": "b"}, {"N": "1"}],
        },
        {
            "Statement": 'UPDATE "t" SET "n" = ? SET "m"."x" = ? WHERE "PK" = ? AND "SK" = ? AND "n" = ?',
            "Parameters": [{"N": "2"}, {"S": "y"}, {"S": "a"}, {"S": "b"}, {"N": "1"}],
        },
    ],
)
def test_the_key_of_a_statement_is_found_among_its_parameters(statement: dict[str, object]) -> None:
    assert key_of_statement(statement) == {"PK": {"S": "a"}, "SK": {"S": "b"}}
