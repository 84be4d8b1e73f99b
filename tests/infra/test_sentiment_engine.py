"""The engine that labels articles: chosen at deployment, allowed to do only what it needs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from sourcebook.sentiment.engines.loading import load_engine

if TYPE_CHECKING:
    from tests.infra.conftest import Assembly

pytestmark = pytest.mark.infra

LABELLING = {"analyze_sentiment", "reanalyze_articles"}


def engines(assembly: Assembly) -> dict[str, str]:
    """Return the engine of each function that has one, by the function's folder."""
    return {
        properties["FunctionName"].removeprefix("SourcebookPipeline-"): variables["SENTIMENT_ENGINE"]
        for properties in assembly.properties("AWS::Lambda::Function")
        if "SENTIMENT_ENGINE" in (variables := properties.get("Environment", {}).get("Variables", {}))
    }


def test_a_function_that_labels_reports_to_nobody(aws: Assembly) -> None:
    for name in LABELLING:
        assert aws.function(name)["Environment"]["Variables"]["ORT_DISABLE_TELEMETRY"] == "1"


def asking_comprehend(assembly: Assembly) -> dict[str, list[dict[str, Any]]]:
    """Return the statements that name Comprehend, by the logical id of the role they stand for."""
    found: dict[str, list[dict[str, Any]]] = {}
    for role, statements in assembly.allowed().items():
        for statement in statements:
            if "comprehend" in json.dumps(statement["Action"]):
                found.setdefault(role, []).append(statement)
    return found


def role_of(assembly: Assembly, name: str) -> str:
    role: str = assembly.function(name)["Role"]["Fn::GetAtt"][0]
    return role


def test_the_model_is_the_default_and_nobody_may_ask_comprehend(aws: Assembly, local: Assembly) -> None:
    for assembly in (aws, local):
        assert engines(assembly) == dict.fromkeys(LABELLING, "model")
        assert asking_comprehend(assembly) == {}


def test_with_comprehend_the_functions_that_label_may_ask_it_and_no_other(chosen: Assembly) -> None:
    assert engines(chosen) == dict.fromkeys(LABELLING, "comprehend")
    allowed = asking_comprehend(chosen)
    assert set(allowed) == {role_of(chosen, name) for name in LABELLING}
    for (statement,) in allowed.values():
        # Traces, which are chosen too, take no resource either, and stand in the same statement.
        asked = [action for action in statement["Action"] if not action.startswith("xray:")]
        assert asked == ["comprehend:BatchDetectSentiment"]
        assert statement["Resource"] == "*"


def test_what_is_deployed_is_an_engine_that_the_code_loads(
    chosen: Assembly, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    variables = chosen.function("analyze_sentiment")["Environment"]["Variables"]
    loaded = load_engine({"SENTIMENT_ENGINE": variables["SENTIMENT_ENGINE"]})
    assert (loaded.engine.name, loaded.fallback_reason) == ("comprehend", None)
