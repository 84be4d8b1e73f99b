"""Layers: what is in them, for which machine, and that they come out the same each time."""

from __future__ import annotations

import hashlib
import struct
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from infra.deployment import DeploymentTarget
from infra.layer_builds import Compiler, build, packaged, requirements_for
from tests.infra.conftest import synthesize
from tests.templates import ROOT
from tests.unit.fits.made import eso

if TYPE_CHECKING:
    from tests.infra.conftest import Assembly

pytestmark = pytest.mark.infra

AARCH64 = 183
"""e_machine of an ELF file, from elf.h."""


def _layer(assembly: Assembly, description: str) -> Path:
    (found,) = (
        layer
        for layer in assembly.properties("AWS::Lambda::LayerVersion")
        if layer["Description"] == description
    )
    return assembly.asset(found["Content"])


def _files(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_the_core_layer_is_the_package_and_nothing_else(aws: Assembly) -> None:
    source = ROOT / "layers" / "core" / "python"
    expected = {
        f"python/{path.relative_to(source).as_posix()}"
        for path in (source / "sourcebook").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert set(_files(_layer(aws, "The package sourcebook"))) == expected
    assert all(name.endswith((".py", "py.typed", ".json", ".tsv")) for name in expected)


@pytest.mark.parametrize("name", ["core", "parquet", "sentiment"])
def test_a_lambda_layer_holds_no_bytecode_tests_or_installer_files(aws: Assembly, name: str) -> None:
    files = _files(_layer(aws, f"layers/{name}/requirements.txt"))
    assert files
    for file in files:
        parts = Path(file).parts
        assert parts[0] == "python"
        assert not {"__pycache__", "tests", "test", "bin"} & set(parts[:-1]), file
        assert parts[-1] not in {"RECORD", "INSTALLER", "REQUESTED", "WHEEL", "direct_url.json"}, file


def test_the_licences_travel_with_the_code(aws: Assembly) -> None:
    files = _files(_layer(aws, "layers/core/requirements.txt"))
    assert [name for name in files if ".dist-info/licenses/" in name]


def test_compiled_code_is_for_the_machine_that_lambda_has(aws: Assembly) -> None:
    compiled = list(_layer(aws, "layers/core/requirements.txt").rglob("*.so"))
    assert compiled
    for path in compiled:
        (machine,) = struct.unpack_from("<H", path.read_bytes(), 18)
        assert machine == AARCH64, path.name
        assert "cpython-313" in path.name or "abi3" in path.name


def test_the_local_layer_is_for_this_interpreter_and_brings_its_bytecode(local: Assembly) -> None:
    layer = _layer(local, "layers/core/requirements.txt")
    tag = sys.implementation.cache_tag
    assert list(layer.rglob(f"*.{tag}.pyc"))
    compiled = list(layer.rglob("*.so"))
    assert compiled
    assert all(tag in path.name or "abi3" in path.name for path in compiled)


def test_boto3_is_left_to_the_runtime(aws: Assembly) -> None:
    for name in ("core", "sentiment"):
        packages = {Path(file).parts[1] for file in _files(_layer(aws, f"layers/{name}/requirements.txt"))}
        assert not packages & {"boto3", "botocore"}


def _megabytes(*folders: Path) -> float:
    return (
        sum(path.stat().st_size for folder in folders for path in folder.rglob("*") if path.is_file()) / 1e6
    )


def test_the_science_layer_fits_into_a_function_with_room(aws: Assembly) -> None:
    """Lambda takes 250 MB unzipped, code and all layers of a function together."""
    described = ("The package sourcebook", "layers/core/requirements.txt", "layers/science/requirements.txt")
    assert _megabytes(*(_layer(aws, description) for description in described)) < 150


def test_the_science_layer_reads_a_spectrum_with_nothing_else_installed(local: Assembly) -> None:
    paths = [
        str(_layer(local, description) / "python")
        for description in ("The package sourcebook", "layers/science/requirements.txt")
    ]
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "from sourcebook.fits.check import check\n"
        "from sourcebook.fits.artifacts import artifacts\n"
        "checked = check(sys.stdin.buffer.read())\n"
        "print(checked.verdict.outcome.value, sorted(artifacts(checked, source={})))"
    )
    finished = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, *paths], input=eso(), capture_output=True, check=False
    )
    assert finished.stdout.decode() == "VALID ['metadata.json', 'preview.png', 'spectrum.ecsv']\n", (
        finished.stderr
    )


@pytest.fixture
def small_lock(tmp_path: Path) -> Path:
    """A lock of one small package: what a layer weighs says nothing about how it is built."""
    entries = (ROOT / "layers" / "sentiment" / "requirements.txt").read_text("utf-8")
    lock = tmp_path / "small" / "requirements.txt"
    lock.parent.mkdir()
    lock.write_text(entries[entries.index("vadersentiment==") :])
    return lock


@pytest.mark.parametrize("target", list(DeploymentTarget))
def test_a_layer_built_twice_is_the_same_to_the_byte(
    tmp_path: Path, small_lock: Path, target: DeploymentTarget
) -> None:
    first = build(small_lock, target, cache=tmp_path / "one")
    second = build(small_lock, target, cache=tmp_path / "two")
    assert first.name == second.name
    assert _files(first) == _files(second)


def test_two_synths_make_the_same_templates(aws: Assembly, tmp_path: Path) -> None:
    again = synthesize(tmp_path, DeploymentTarget.LAMBDA)
    assert again.data == aws.data
    assert again.pipeline == aws.pipeline


def test_a_built_layer_is_used_again(tmp_path: Path, small_lock: Path) -> None:
    place = build(small_lock, DeploymentTarget.LOCAL, cache=tmp_path)
    (place / "mark").write_text("still here")
    assert build(small_lock, DeploymentTarget.LOCAL, cache=tmp_path) == place
    assert (place / "mark").exists()


def test_files_beside_the_packages_are_part_of_the_layer_and_of_its_key(
    tmp_path: Path, small_lock: Path
) -> None:
    files = tmp_path / "files"
    (files / "model").mkdir(parents=True)
    (files / "model" / "weights").write_bytes(b"one")
    first = build(small_lock, DeploymentTarget.LOCAL, files=files, cache=tmp_path / "cache")
    assert (first / "python" / "model" / "weights").read_bytes() == b"one"
    (files / "model" / "weights").write_bytes(b"two")
    second = build(small_lock, DeploymentTarget.LOCAL, files=files, cache=tmp_path / "cache")
    assert second.name != first.name
    assert (second / "python" / "model" / "weights").read_bytes() == b"two"


@pytest.fixture
def compiler(tmp_path: Path) -> Compiler:
    """This interpreter, which says that it is Lambda's."""
    command = tmp_path / "python3.13"
    command.write_text(
        f'#!/bin/sh\nif [ "$1" = -c ]; then echo cpython-313 3.13.9; else exec {sys.executable} "$@"; fi\n'
    )
    command.chmod(0o755)
    return Compiler.for_lambda(str(command))


def test_a_layer_for_lambda_has_bytecode_when_its_compiler_is_named(
    tmp_path: Path, small_lock: Path, compiler: Compiler
) -> None:
    plain = build(small_lock, DeploymentTarget.LAMBDA, cache=tmp_path / "cache")
    first = build(small_lock, DeploymentTarget.LAMBDA, compiler=compiler, cache=tmp_path / "cache")
    second = build(small_lock, DeploymentTarget.LAMBDA, compiler=compiler, cache=tmp_path / "other")
    assert first.name == second.name != plain.name
    assert _files(first) == _files(second)
    assert plain.is_dir()
    written = _files(first).keys() - _files(plain).keys()
    modules = [name for name in _files(plain) if name.endswith(".py")]
    assert len(written) == len(modules)
    assert all(name.endswith(f".{sys.implementation.cache_tag}.pyc") for name in written)


def test_bytecode_of_a_layer_holds_whatever_time_its_source_has(tmp_path: Path, compiler: Compiler) -> None:
    package = tmp_path / "core" / "python"
    (package / "__pycache__").mkdir(parents=True)
    (package / "__pycache__" / "left.cpython-313.pyc").write_bytes(b"of an earlier run")
    (package / "one.py").write_text("WHERE = __file__\n")
    first = packaged(package, "core", compiler, cache=tmp_path / "cache")
    (bytecode,) = first.rglob("*.pyc")
    flags = int.from_bytes(bytecode.read_bytes()[4:8], "little")
    assert flags == 0b01, "by the hash of the source, not checked (PEP 552)"
    (package / "one.py").write_text("WHERE = None\n")
    second = packaged(package, "core", compiler, cache=tmp_path / "cache")
    assert second != first
    assert not first.exists()


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("echo cpython-312 3.12.1", "cpython-312 3.12.1"),
        ("echo 'no such version' >&2; exit 127", "no such version"),
        (None, "No such file"),
    ],
)
def test_another_interpreter_than_lambdas_is_refused(tmp_path: Path, script: str | None, found: str) -> None:
    command = tmp_path / "python"
    if script is not None:
        command.write_text(f"#!/bin/sh\n{script}\n")
        command.chmod(0o755)
    with pytest.raises(ValueError, match=rf"bytecode='.*python': expected .* Python 3\.13 .*{found}"):
        Compiler.for_lambda(str(command))


def test_a_requirement_without_a_wheel_is_named_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    lock = tmp_path / "science" / "requirements.txt"
    lock.parent.mkdir()
    lock.write_text(f"only-an-sdist==1.0 \\\n    --hash=sha256:{'0' * 64}\n")
    with pytest.raises(ValueError, match=r"layer science for target lambda(.|\n)*only-an-sdist==1\.0"):
        build(lock, DeploymentTarget.LAMBDA, cache=tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


LOCK = """\
# a comment
always==1.0 \\
    --hash=sha256:aa \\
    --hash=sha256:bb
old-python==2.0 ; python_full_version < '3.13' \\
    --hash=sha256:cc
windows==3.0 ; sys_platform == 'win32' \\
    --hash=sha256:dd
arm==4.0 ; platform_machine == 'aarch64' and python_full_version >= '3.13' \\
    --hash=sha256:ee
"""


def test_markers_are_judged_for_lambda_whatever_interpreter_builds() -> None:
    assert requirements_for(LOCK, DeploymentTarget.LAMBDA) == (
        "always==1.0 --hash=sha256:aa --hash=sha256:bb\narm==4.0 --hash=sha256:ee\n"
    )


def test_markers_are_judged_for_this_interpreter_locally() -> None:
    kept = requirements_for(LOCK, DeploymentTarget.LOCAL)
    assert kept.startswith("always==1.0 ")
    assert ("old-python" in kept) == (sys.version_info < (3, 13))
    assert ("windows" in kept) == (sys.platform == "win32")
