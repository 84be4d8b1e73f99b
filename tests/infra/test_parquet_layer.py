"""The Parquet layer: small enough for Lambda with the function's other layers, and whole."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.infra.conftest import Assembly

pytestmark = pytest.mark.infra

_LARGEST = 250 * 1000 * 1000
"""Bytes, unpacked, of all layers and the function together: a limit of Lambda."""
_OURS = 120 * 1000 * 1000
"""Bytes of this layer alone. The whole of pyarrow has 165 MB."""


def _layer(assembly: Assembly, description: str) -> Path:
    (layer,) = (
        found
        for found in assembly.properties("AWS::Lambda::LayerVersion")
        if found["Description"] == description
    )
    return assembly.asset(layer["Content"])


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("target", ["aws", "local"])
def test_the_function_that_carries_it_stays_below_lambda_s_limit(
    target: str, request: pytest.FixtureRequest
) -> None:
    assembly: Assembly = request.getfixturevalue(target)
    parquet = _size(_layer(assembly, "layers/parquet/requirements.txt"))
    assert parquet < _OURS
    others = ("The package sourcebook", "layers/core/requirements.txt")
    code = assembly.asset(assembly.function("rebuild_photometry")["Code"])
    assert parquet + sum(_size(_layer(assembly, other)) for other in others) + _size(code) < _LARGEST


@pytest.mark.parametrize("target", ["aws", "local"])
def test_every_library_that_is_asked_for_is_there(target: str, request: pytest.FixtureRequest) -> None:
    packages = _layer(request.getfixturevalue(target), "layers/parquet/requirements.txt") / "python"
    held = {path.name for path in (packages / "pyarrow").iterdir()}
    for library in (packages / "pyarrow").glob("*.so*"):
        # Names of needed libraries stand in the dynamic section as they are, ended by a zero byte.
        needed = re.findall(rb"\0(lib(?:arrow|parquet)\w*\.so\.\d+)(?=\0)", library.read_bytes())
        assert {name.decode() for name in needed} <= held, library.name


def test_it_holds_pyarrow_and_nothing_that_others_carry(aws: Assembly) -> None:
    packages = _layer(aws, "layers/parquet/requirements.txt") / "python"
    assert {path.name for path in packages.iterdir() if path.suffix != ".dist-info"} == {"pyarrow"}
    assert not list(packages.rglob("*flight*"))
    assert list(packages.glob("pyarrow-*.dist-info/licenses/*"))
