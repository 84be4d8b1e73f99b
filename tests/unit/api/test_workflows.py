"""What the API lets workflows take is what their state machines take."""

from __future__ import annotations

import re
from typing import Any

import pytest

from sourcebook.api.workflows import INPUTS
from sourcebook.errors import InvalidInput
from sourcebook.runs.started import NAME_PREFIX
from tests.definitions import NAMES, states_of

RUN = "0f6a2b51-7c1e-4a51-9b52-3d5a8e0c9f11"


@pytest.mark.parametrize("name", NAMES)
def test_a_run_has_the_id_that_the_api_gave_the_execution(name: str) -> None:
    (rule,) = {
        state["Assign"]["run"]["job_run_id"]
        for state in states_of(name).values()
        if "run" in state.get("Assign", {})
    }
    pattern, skipped = re.fullmatch(
        r"\{% \$contains\(\$states\.context\.Execution\.Name, /(.*)/\) \? "
        r"\$substring\(\$states\.context\.Execution\.Name, (\d+)\) : \$uuid\(\) %\}",
        rule,
    ).groups()  # type: ignore[union-attr]
    assert re.search(pattern, f"{NAME_PREFIX}{RUN}")
    assert f"{NAME_PREFIX}{RUN}"[int(skipped) :] == RUN
    # A child is named after the run of its parent, and must not take its id.
    assert not re.search(pattern, RUN)
    assert len(NAME_PREFIX) == int(skipped)


@pytest.mark.parametrize(
    ("workflow", "body", "field"),
    [
        ("initialize_nova", {"candidate_name": "V1324 Sco", "name": "x"}, "name"),
        ("initialize_nova", {}, "candidate_name"),
        ("initialize_nova", {"candidate_name": "***"}, "candidate_name"),
        ("initialize_nova", {"candidate_name": "V1 \ud800"}, "candidate_name"),
        ("initialize_nova", {"candidate_name": "V1 Sco", "quarantine_id": "1"}, "quarantine_id"),
        ("ingest_new_nova", {"nova_id": RUN.upper()}, "nova_id"),
        ("ingest_new_nova", {"nova_id": f"{RUN}\n{RUN}"}, "nova_id"),
        ("refresh_sources", {"source_ids": []}, "source_ids"),
        ("refresh_sources", {"source_ids": ["a", 1]}, "source_ids"),
        ("refresh_sources", {"source_ids": "a"}, "source_ids"),
        ("reanalyze_subject", {"tool_id": "a#b"}, "tool_id"),
        ("reanalyze_subject", {"tool_id": "AAPL", "scope": "some"}, "scope"),
    ],
)
def test_the_first_field_that_is_wrong_is_named(workflow: str, body: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        INPUTS[workflow].read(body)
    assert refused.value.field == field


def test_what_need_not_be_there_may_be_null() -> None:
    assert INPUTS["refresh_sources"].read({"source_ids": None}).given() == {}
    assert INPUTS["refresh_sources"].read({}).given() == {}
    assert INPUTS["initialize_nova"].read({"candidate_name": " V1324 Sco "}).given() == {
        "candidate_name": "V1324 Sco"
    }
