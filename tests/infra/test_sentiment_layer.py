"""The sentiment layer: small enough for Lambda, with the model that the code pins."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from sourcebook.sentiment.engines.model import MODEL_PACKAGE, Pin

if TYPE_CHECKING:
    from pathlib import Path

    from tests.infra.conftest import Assembly

pytestmark = pytest.mark.infra

_LARGEST = 200 * 1000 * 1000
"""Bytes, unpacked. Lambda takes 250 MB for all layers and the function together."""


@pytest.fixture(params=["aws", "local"])
def packages(request: pytest.FixtureRequest) -> Path:
    assembly: Assembly = request.getfixturevalue(request.param)
    (layer,) = (
        found
        for found in assembly.properties("AWS::Lambda::LayerVersion")
        if found["Description"] == "layers/sentiment/requirements.txt"
    )
    return assembly.asset(layer["Content"]) / "python"


def test_it_stays_below_200_megabytes(packages: Path) -> None:
    assert sum(path.stat().st_size for path in packages.rglob("*") if path.is_file()) < _LARGEST


def test_it_holds_the_model_that_the_code_pins(packages: Path) -> None:
    for name, digest in Pin.read().files.items():
        assert hashlib.sha256((packages / MODEL_PACKAGE / name).read_bytes()).hexdigest() == digest


def test_it_holds_what_runs_the_model_and_not_what_downloads_or_makes_one(packages: Path) -> None:
    held = {path.name for path in packages.iterdir()}
    assert {"numpy", "onnxruntime", "tokenizers", "vaderSentiment"} <= held
    assert not held & {"huggingface_hub", "torch", "transformers", "google", "flatbuffers"}
    assert not (packages / "onnxruntime" / "quantization").exists()
