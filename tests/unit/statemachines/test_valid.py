"""Every definition is valid, by a validator of Amazon States Language and the parser of JSONata."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sourcebook.api.workflows import INPUTS
from sourcebook.errors import InvalidInput
from statemachines.states import caught_message, jsonata
from tests.definitions import NAMES, states_of
from tests.unit.statemachines.node import Node, deployed, node_running

NOVA = "b6c05a41-2227-5387-8f82-9085f39c71d6"
CHECK = "Check the input"


@pytest.fixture(scope="module")
def node() -> Iterator[Node]:
    with node_running() as found:
        yield found


def test_every_definition_is_valid(node: Node) -> None:
    assert node.mistakes({name: deployed(name) for name in NAMES}) == {name: [] for name in NAMES}


def _broken(change: str) -> dict[str, Any]:
    definition = deployed("refresh_sources")
    states = definition["States"]
    match change:
        case "nowhere":
            states["Name the run"]["Next"] = "No such state"
        case "arn":
            states["Dispatch the sources"]["Resource"] = "lambda:invoke"
        case "field":
            states["Dispatch the sources"]["Parameters"] = {}
        case _:
            states["Name the run"]["Assign"]["subject"] = jsonata(change)
    return definition


@pytest.mark.parametrize(
    "change",
    [
        *("nowhere", "arn", "field", "$eval('1')", "$unknown", "$tset($run)", "'a' &", "($a := 1; $a + $b)"),
        "$match('a', /(/)",
    ],
)
def test_what_is_wrong_is_found(node: Node, change: str) -> None:
    (found,) = node.mistakes({"broken": _broken(change)}).values()
    assert found


def test_what_step_functions_adds_is_known(node: Node) -> None:
    added = "[$parse('1'), $uuid(), $hash('a', 'SHA-256'), $random(), $range(1, 3, 1), $partition([1], 1)]"
    assert node.mistakes({"one": _broken(added)}) == {"one": []}


CASES: list[tuple[str, Any]] = [
    ("initialize_nova", {"candidate_name": "V1324 Sco"}),
    ("initialize_nova", {"candidate_name": "V1324 Sco", "quarantine_id": NOVA}),
    ("initialize_nova", {"candidate_name": "V1324 Sco", "quarantine_id": "1"}),
    ("initialize_nova", {"candidate_name": "  "}),
    ("initialize_nova", {"candidate_name": 5}),
    ("initialize_nova", {"candidate_name": ["V1324 Sco"]}),
    ("initialize_nova", {"candidate_name": "x" * 201}),
    ("initialize_nova", {"candidat_name": "V1324 Sco"}),
    ("initialize_nova", {}),
    ("ingest_new_nova", {"nova_id": NOVA}),
    ("ingest_new_nova", {"nova_id": NOVA.upper()}),
    ("ingest_new_nova", {"nova_id": f"x{NOVA}"}),
    ("ingest_new_nova", {"nova_id": f"{NOVA}\n{NOVA}"}),
    ("refresh_sources", {}),
    ("refresh_sources", {"source_ids": ["a"]}),
    ("refresh_sources", {"source_ids": ["a", "b"]}),
    ("refresh_sources", {"source_ids": []}),
    ("refresh_sources", {"source_ids": ["a", 1]}),
    ("refresh_sources", {"source_ids": [""]}),
    ("refresh_sources", {"source_ids": "a"}),
    ("refresh_sources", {"source_ids": ["a" * 201]}),
    ("refresh_sources", {"source_ids": ["a"] * 1_001}),
    ("reanalyze_subject", {"tool_id": "AAPL", "scope": "all"}),
    ("reanalyze_subject", {"tool_id": "AAPL"}),
    ("reanalyze_subject", {"tool_id": "a#b"}),
    ("reanalyze_subject", {"tool_id": "AAPL", "scope": "some"}),
    ("reanalyze_subject", {"tool_id": "AAPL", "scope": ["all"]}),
    ("reanalyze_subject", {"scope": "all"}),
    ("ingest_photometry", {"nova_id": NOVA, "s3_key": "raw/photometry/a/night.csv"}),
    ("ingest_photometry", {"name": "V1324 Sco", "s3_key": "raw/photometry/a/night.csv"}),
    ("ingest_photometry", {"nova_id": NOVA, "name": "V1324 Sco", "s3_key": "raw/photometry/a/n.csv"}),
    ("ingest_photometry", {"s3_key": "raw/photometry/a/night.csv"}),
    ("ingest_photometry", {"nova_id": NOVA, "s3_key": "raw/spectra/a"}),
    ("ingest_photometry", {"nova_id": NOVA}),
    ("acquire_due_spectra", {}),
    ("acquire_due_spectra", {"nova_id": NOVA}),
    ("acquire_and_validate_spectra", {"nova_id": NOVA, "data_product_id": NOVA, "provider": "ESO"}),
    ("acquire_and_validate_spectra", {"nova_id": NOVA, "data_product_id": NOVA, "provider": "eso"}),
    ("acquire_and_validate_spectra", {"nova_id": NOVA}),
]


@pytest.mark.parametrize(("workflow", "given"), CASES)
def test_an_execution_takes_and_refuses_what_the_api_does(
    node: Node, workflow: str, given: dict[str, Any]
) -> None:
    rules = states_of(workflow)[CHECK]["Choices"]
    verdicts = node.evaluate(*(rule["Condition"] for rule in rules), states={"input": given})
    refused = next((rule for rule, wrong in zip(rules, verdicts, strict=True) if wrong is True), None)
    field = refused["Assign"]["refusal"]["field"] if refused else None
    if field and field.startswith("{%"):
        (field,) = node.evaluate(field, states={"input": given})
    try:
        INPUTS[workflow].read(given)
    except InvalidInput as error:
        expected: str | None = error.field
    else:
        expected = None
    assert field == expected


@pytest.mark.parametrize("given", [[], "text", 5, None, {"correlation_id": 5}, {"correlation_id": "a b"}])
def test_an_execution_takes_an_object_and_a_correlation_id_that_is_one(node: Node, given: Any) -> None:
    rules = states_of("refresh_sources")[CHECK]["Choices"]
    verdicts = node.try_to_evaluate(*(rule["Condition"] for rule in rules), states={"input": given})
    wrong = [verdict.get("value") is True for verdict in verdicts]
    # Rules are tried in order: none before the one that holds may fail to be evaluated.
    assert True in wrong
    assert all("error" not in verdict for verdict in verdicts[: wrong.index(True)])


def test_a_refusal_names_the_field_the_value_and_what_would_be_right(node: Node) -> None:
    states = states_of("initialize_nova")
    (rule,) = (
        rule for rule in states[CHECK]["Choices"] if rule["Assign"]["refusal"]["field"] == "candidate_name"
    )
    given = {"input": {"candidate_name": 5}}
    (value,) = node.evaluate(rule["Assign"]["refusal"]["value"], states=given)
    refusal = {**rule["Assign"]["refusal"], "value": value}
    ending = states["Refuse the input"]["Assign"]["ending"]
    (message,) = node.evaluate(ending["error_message"], states=given, refusal=refusal)
    assert message == (
        "candidate_name: 5 is not valid; expected a text of 1 to 200 characters. An input that is right: "
        '{"candidate_name": "V1324 Sco"}. Nothing was done.'
    )


LONG = '{"errorMessage":"' + "x" * 40_000 + '","errorType":"Boom"}'


@pytest.mark.parametrize(
    ("cause", "message"),
    [
        (
            '{"errorMessage": "no such \\"nova\\" \\u00e9 \\\\ \\n", "errorType": "E"}',
            'no such "nova" é \\ \n',
        ),
        ('{"errorType":"E","errorMessage":"seen"}', "seen"),
        (LONG, "x" * 500),
        (LONG[:32_000], "x" * 500),
        ('{"errorMessage":"cut off after half a character \\u00', "cut off after half a character "),
        ('{"errorMessage":"cut off \\', "cut off "),
        ('{"errorMessage":"cut off, and it ends as an object }', "cut off, and it ends as an object }"),
        ('{"errorMessage":"a \\ud83d\\ude00 b"}', "a \U0001f600 b"),
        ('{"errorMessage":""}', ""),
        ('{"errorMessage":null}', '{"errorMessage":null}'),
        ("no JSON", "no JSON"),
        ("", ""),
        (None, ""),
    ],
)
def test_the_message_of_an_error_is_found_in_a_cause_that_is_whole_or_not(
    node: Node, cause: str | None, message: str
) -> None:
    error = {"Error": "E"} if cause is None else {"Error": "E", "Cause": cause}
    (found,) = node.evaluate(jsonata(caught_message()), states={"errorOutput": error})
    assert found == message
