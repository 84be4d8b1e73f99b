from __future__ import annotations

import pytest

from sourcebook.errors import InvalidInput
from sourcebook.sentiment.engines import model
from sourcebook.sentiment.engines.loading import engine_named, load_engine


def test_the_model_is_the_engine_unless_another_is_named() -> None:
    loaded = load_engine({})
    assert loaded.engine.name.startswith("minilm-l6-")
    assert loaded.fallback_reason is None


@pytest.mark.parametrize(
    ("name", "starts"), [("fallback", "ngrams-"), ("vader", "vader-"), ("model", "minilm")]
)
def test_the_environment_names_the_engine(name: str, starts: str) -> None:
    loaded = load_engine({"SENTIMENT_ENGINE": name})
    assert loaded.engine.name.startswith(starts)
    assert loaded.fallback_reason is None


def test_the_fallback_labels_when_the_model_cannot_be_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "MODEL_PACKAGE", "sourcebook_model_that_is_not_there")
    loaded = load_engine({"SENTIMENT_ENGINE": ""})
    assert loaded.engine.name.startswith("ngrams-")
    assert loaded.fallback_reason
    assert "sentiment layer" in loaded.fallback_reason
    assert loaded.engine.label(["Shares plunge after profit warning"])[0].sentiment == "negative"


def test_comprehend_is_made_without_asking_it_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    assert engine_named("comprehend").name == "comprehend"


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match="one of model, fallback, vader, comprehend"):
        load_engine({"SENTIMENT_ENGINE": "finbert"})
