"""Every task of a workflow is wired the same: its attempt is recorded, whatever it is asked."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

import statemachines
from sourcebook.errors import InvalidInput
from sourcebook.messages import TaskRequest
from sourcebook.runs.read import RunReader
from tests.integration.runs.test_tasks import RECORD, payload

if TYPE_CHECKING:
    from sourcebook.table.client import Table

pytestmark = pytest.mark.integration

LAMBDAS = Path(__file__).parents[3] / "lambdas"
TASKS = sorted({name for flow in statemachines.names() for name in statemachines.workflow(flow).functions()})
NEED_NOTHING = {"dispatch_sources", "rebuild_canonical"}
"""Take everything there is, unless they are asked for something."""
ANALYZES = "reanalyze_articles"
"""Loads a model, which tests/e2e does."""
CONTEXT = SimpleNamespace(
    function_name="f", memory_limit_in_mb=1, invoked_function_arn="arn:f", aws_request_id="r"
)


@pytest.mark.parametrize("name", [name for name in TASKS if name not in {*NEED_NOTHING, ANALYZES}])
def test_a_task_that_is_asked_nothing_fails_and_its_attempt_says_so(
    name: str, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = {
        "TABLE_NAME": table.name,
        "BUCKET_NAME": "bucket",
        "QUARANTINE_TOPIC_ARN": "arn:aws:sns:us-east-1:1:t",
        "ADS_SECRET": "ads",
        "POWERTOOLS_SERVICE_NAME": f"test-{name}",
    }
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    module = _load(name)
    handler = module.handler
    asked = next(one for one in TaskRequest.__subclasses__() if one.function == name)
    assert asked.__name__ in vars(module), "the handler takes what the workflow asks"
    given = {"run": payload(task=name)["run"]}
    with pytest.raises(Exception):  # noqa: B017, PT011 - which one is each task's own
        handler(given, CONTEXT)
    (attempt,) = RunReader(table).attempts(RECORD, given["run"]["job_run_id"])
    assert (attempt["task_name"], attempt["status"]) == (name, "FAILED")
    with pytest.raises(InvalidInput, match="run"):
        handler({"run": {}}, CONTEXT)


def _load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"handler_of_{name}", LAMBDAS / name / "handler.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
