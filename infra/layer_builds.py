"""Builds the content of Lambda layers without Docker, from wheels for the target that pip unpacks.

A lock file names every wheel by its hash, so that file and the target alone decide what a layer holds. A
built layer is kept under ``.sourcebook/build/layers`` and used again until one of the two changes.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import stat
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement

from infra.deployment import ROOT, DeploymentTarget

NOT_SOURCE: Final = ("__pycache__", "*.pyc", ".*", "*~", "*.egg-info")
"""Patterns of files in a source folder that are not sources."""

_CACHE = ROOT / ".sourcebook" / "build" / "layers"

_LAMBDA_PIP = (
    # Newest first; Amazon Linux 2023 has glibc 2.34, and pip does not derive the older tags itself.
    *("--platform", "manylinux_2_34_aarch64"),
    *("--platform", "manylinux_2_28_aarch64"),
    *("--platform", "manylinux_2_17_aarch64"),
    *("--platform", "manylinux2014_aarch64"),
    *("--implementation", "cp"),
    *("--python-version", "3.13"),
    *("--abi", "cp313"),
    *("--abi", "abi3"),
    *("--abi", "none"),
)
_LAMBDA_MARKERS = {
    "implementation_name": "cpython",
    "implementation_version": "3.13.0",
    "os_name": "posix",
    "platform_machine": "aarch64",
    "platform_python_implementation": "CPython",
    "platform_release": "",
    "platform_system": "Linux",
    "platform_version": "",
    "python_full_version": "3.13.0",
    "python_version": "3.13",
    "sys_platform": "linux",
}

# Of a distribution's metadata, what names the files' places and hashes differs from one
# installer to the next. METADATA and the licences stay: they must travel with the code.
_INSTALLER_NOISE = frozenset({"RECORD", "INSTALLER", "REQUESTED", "WHEEL", "direct_url.json"})
_NOISE_FOLDERS = frozenset({"__pycache__", "tests", "test"})
_IMPORTED_TESTS = frozenset({"astropy/tests"})
"""Folders named like tests that are imported."""
_ASTROPY_UNUSED = (
    *("convolution", "coordinates", "cosmology", "modeling", "nddata", "samp", "stats", "table", "time"),
    *("timeseries", "uncertainty", "visualization", "wcs"),
    *("io/ascii", "io/misc", "io/registry", "io/votable"),
)
"""What reading FITS and units does not import: two thirds of astropy."""
_UNUSED = (
    *("onnxruntime/transformers", "onnxruntime/quantization", "onnxruntime/tools", "onnxruntime/datasets"),
    *(f"astropy/{part}" for part in _ASTROPY_UNUSED),
    "astropy_iers_data/data",
    *("numpy/f2py", "numpy/_core/include", "numpy/_core/lib", "numpy/random/lib", "numpy/random/_examples"),
)
"""Folders of packages that no function imports: tools that make models, parts of astropy, numpy's headers."""
_UNUSED_FILES = tuple(
    f"pyarrow/{pattern}"
    for pattern in (
        *("include", "includes", "src", "*.pyx", "*.pxi", "*.pxd", "_pyarrow_cpp_tests*"),
        # What reads and writes other formats, other stores, and over the network.
        *("*flight*", "*s3*", "*gcsfs*", "*azurefs*", "*hdfs*", "*orc*", "_csv*", "_json*", "_feather*"),
        *("_dataset*", "_acero*", "_substrait*"),
        # The same library under the names that a compiler looks for.
        *("libarrow_python*.so", "libarrow_python*.so.*.*.*"),
    )
)
"""Patterns of files: what pyarrow has beside reading and writing Parquet, two fifths of it."""

_LAMBDA_TAG: Final = "cpython-313"
"""The tag in the names of the bytecode files of Lambda's Python."""

_BUILDER_VERSION = "3"
"""Increase it when the same lock file gives another layer."""


@dataclass(frozen=True, slots=True)
class Compiler:
    """An interpreter that writes bytecode.

    Attributes:
        command: starts it.
        version: its version and its tag in the names of bytecode files; what it writes depends on both.
    """

    command: str
    version: str

    @classmethod
    def for_lambda(cls, command: str) -> Compiler:
        """Return the compiler of a deployment.

        Raises:
            ValueError: if it is not an interpreter of Lambda's Python, whose bytecode alone Lambda reads.
        """
        script = "import sys; print(sys.implementation.cache_tag, sys.version.split()[0])"
        try:
            finished = subprocess.run([command, "-c", script], capture_output=True, text=True, check=False)
        except OSError as error:
            found = str(error)
        else:
            found = finished.stdout.strip() or finished.stderr.strip()[-200:]
        if not found.startswith(f"{_LAMBDA_TAG} "):
            raise ValueError(
                f"context bytecode={command!r}: expected an interpreter of Python 3.13 such as python3.13, "
                f"or nothing; found: {found}"
            )
        return cls(command, found)

    def compile(self, place: Path) -> None:
        """Add bytecode that is valid whatever the time of its source, which unpacking changes."""
        subprocess.run(
            [
                *(self.command, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"),
                *("-s", str(place), str(place)),
            ],
            check=False,  # a file that does not compile is one that nobody imports
            stdout=subprocess.DEVNULL,
            env={**os.environ, "PYTHONHASHSEED": "0"},
        )


def build(
    lock: Path,
    target: DeploymentTarget,
    *,
    files: Path | None = None,
    compiler: Compiler | None = None,
    cache: Path = _CACHE,
) -> Path:
    """Return the folder of a layer (its ``python/`` inside), built if the cache does not hold it.

    Args:
        lock: a requirements file of exact versions with hashes; its folder's name becomes the layer's.
        target: what the wheels are for.
        files: a folder whose content goes beside the installed packages.
        compiler: adds bytecode for Lambda.
        cache: where built layers are kept.

    Raises:
        ValueError: if a requirement has no wheel for the target, or pip fails otherwise.
    """
    requirements = lock.read_text("utf-8")
    name = lock.parent.name
    prefix = f"{name}-{target}-" if compiler is None else f"{name}-compiled-{target}-"
    place = cache / f"{prefix}{_key(requirements, target, files, compiler)}"
    if place.is_dir():
        return place
    with built_aside(place) as unfinished:
        _install(name, requirements, target, unfinished / "python")
        _strip(unfinished / "python")
        if files is not None:
            shutil.copytree(
                files, unfinished / "python", ignore=shutil.ignore_patterns(*NOT_SOURCE), dirs_exist_ok=True
            )
        if target is DeploymentTarget.LOCAL:
            # The embedded cloud unpacks the layers for every process it starts, so each would compile
            # them anew: half a second of CPU. They are for this interpreter.
            Compiler(sys.executable, sys.version).compile(unfinished / "python")
        elif compiler is not None:
            compiler.compile(unfinished / "python")
    _forget_others(place, prefix)
    return place


def packaged(
    source: Path, name: str, compiler: Compiler | None, *, inside: str = "", cache: Path = _CACHE
) -> Path:
    """Return the folder of a layer that holds a source folder of the checkout, without installing anything.

    Args:
        source: the folder.
        name: of the layer, unique.
        compiler: adds bytecode; None, and there is none.
        inside: where the source goes, below the layer's ``python/``.
        cache: where built layers are kept.
    """
    digest = hashlib.sha256((compiler.version if compiler else "").encode())
    _add_files(digest, source)
    prefix = f"packaged-{name}-"
    place = cache / f"{prefix}{digest.hexdigest()[:16]}"
    if not place.is_dir():
        with built_aside(place) as unfinished:
            ignored = shutil.ignore_patterns(*NOT_SOURCE)
            shutil.copytree(source, unfinished / "python" / inside, ignore=ignored)
            if compiler is not None:
                compiler.compile(unfinished / "python")
    _forget_others(place, prefix)
    return place


def _forget_others(place: Path, prefix: str) -> None:
    for outdated in place.parent.glob(f"{prefix}*"):
        if outdated != place:
            shutil.rmtree(outdated, ignore_errors=True)


@contextmanager
def built_aside(place: Path) -> Iterator[Path]:
    """Yield a folder to build in, which is renamed to `place` when the build is complete."""
    place.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=place.parent))
    try:
        yield unfinished
        _make_readable(unfinished)
        try:
            unfinished.rename(place)
        except OSError:
            if not place.is_dir():  # otherwise another build came first, with the same result
                raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _make_readable(folder: Path) -> None:
    """Make a folder readable for everybody: functions run as another user than the builder.

    The umask of whoever builds, such as 077, would else decide whether a function can load its code.
    """
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            may_run = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
            path.chmod(0o755 if may_run else 0o644)


def requirements_for(requirements: str, target: DeploymentTarget) -> str:
    """Return the lines of a universal lock that hold for a target, without their markers.

    pip evaluates markers by its own interpreter, even when it installs for another.

    Raises:
        ValueError: if a line is not a requirement.
    """
    kept: list[str] = []
    for entry in _entries(requirements):
        specification, *hashes = entry.split(" --hash=")
        requirement = Requirement(specification)
        environment = _LAMBDA_MARKERS if target is DeploymentTarget.LAMBDA else None
        if requirement.marker is None or requirement.marker.evaluate(environment):
            requirement.marker = None
            kept.append(" ".join([str(requirement), *(f"--hash={digest}" for digest in hashes)]))
    return "".join(f"{line}\n" for line in kept)


def _entries(requirements: str) -> Iterator[str]:
    """Yield the entries of a requirements file, each on one line, its comments and options left out."""
    for line in requirements.replace("\\\n", " ").splitlines():
        entry = " ".join(line.split("#", 1)[0].split())
        if entry and not entry.startswith("-"):
            yield entry


def _key(requirements: str, target: DeploymentTarget, files: Path | None, compiler: Compiler | None) -> str:
    if target is DeploymentTarget.LAMBDA:
        runs_on = " ".join([*_LAMBDA_PIP, *([compiler.version] if compiler else [])])
    else:
        runs_on = f"{sys.implementation.cache_tag} {sysconfig.get_platform()} {platform.libc_ver()[0]}"
    parts = (_BUILDER_VERSION, requirements_for(requirements, target), runs_on)
    digest = hashlib.sha256("\n".join(parts).encode())
    if files is not None:
        _add_files(digest, files)
    return digest.hexdigest()[:16]


def _add_files(digest: hashlib._Hash, folder: Path) -> None:
    for file in sorted(folder.rglob("*")):
        inside = file.relative_to(folder)
        if file.is_file() and "__pycache__" not in inside.parts:
            digest.update(f"\n{inside}\n".encode() + file.read_bytes())


def _install(name: str, requirements: str, target: DeploymentTarget, place: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        lock = Path(folder) / "requirements.txt"
        lock.write_text(requirements_for(requirements, target), "utf-8")
        finished = subprocess.run(
            [
                *(sys.executable, "-m", "pip", "install", "--quiet", "--no-input"),
                *("--require-hashes", "--no-deps", "--only-binary=:all:", "--no-compile"),
                *("--disable-pip-version-check", "--target", str(place)),
                *(_LAMBDA_PIP if target is DeploymentTarget.LAMBDA else ()),
                *("--requirement", str(lock)),
            ],
            capture_output=True,
            text=True,
            check=False,
            # A user's own settings for where pip installs would contradict --target.
            env={key: value for key, value in os.environ.items() if key not in {"PIP_USER", "PIP_PREFIX"}},
        )
    if finished.returncode:
        errors = "\n".join(line for line in finished.stderr.splitlines() if line.startswith("ERROR"))
        raise ValueError(
            f"layer {name} for target {target}: pip could not install layers/{name}/requirements.txt\n"
            f"{errors or finished.stderr}\n"
            "Every requirement needs a wheel for the target; after changing requirements.in run `make lock`."
        )


def _strip(place: Path) -> None:
    """Remove files that no function imports, and those that differ between two builds."""
    for unused in ("bin", *_UNUSED):
        shutil.rmtree(place / unused, ignore_errors=True)
    for pattern in _UNUSED_FILES:
        for found in place.glob(pattern):
            shutil.rmtree(found) if found.is_dir() else found.unlink()
    for found in sorted(place.rglob("*"), reverse=True):  # a folder's content before the folder
        if found.is_dir() and found.name in _NOISE_FOLDERS:
            if found.relative_to(place).as_posix() not in _IMPORTED_TESTS:
                shutil.rmtree(found)
        elif found.parent.suffix == ".dist-info" and found.name in _INSTALLER_NOISE:
            found.unlink()
