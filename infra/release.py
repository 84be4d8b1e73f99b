"""Build the files of a release: the same commit gives the same bytes.

`python -m infra.release dist` writes the wheel, the sources, an assembly for ``cdk deploy --app``, and
the digests of all three. The assembly has no choices of a deployment in it: whoever has some deploys from a
checkout.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path

from infra.application import build_app
from infra.deployment import ROOT


def main(folder: Path) -> None:
    """Build the files twice, compare them, and write them into a folder.

    Raises:
        SystemExit: naming the files that differ.
    """
    first, second = build(), build()
    if different := [name for name in first if first[name] != second[name]]:
        sys.exit(f"not the same when it is built again: {', '.join(different)}")
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in first.items():
        (folder / name).write_bytes(content)
    digests = (f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in sorted(first.items()))
    (folder / "SHA256SUMS").write_text("".join(digests))


def build() -> dict[str, bytes]:
    """Return the files of a release by their names."""
    moment = int(_run("git", "log", "-1", "--format=%ct"))
    with tempfile.TemporaryDirectory() as made:
        wheels, assembly = Path(made, "wheels"), Path(made, "assembly")
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(moment)}
        uv = str(Path(sys.executable).with_name("uv"))
        subprocess.run(
            [uv, "build", "--quiet", "--wheel", "--no-build-isolation", "--out-dir", str(wheels)],
            cwd=ROOT,
            env=environment,
            check=True,
        )
        (wheel,) = wheels.glob("*.whl")
        build_app(outdir=assembly, context=_context()).synth()
        name = "-".join(wheel.stem.split("-")[:2])
        return {
            wheel.name: wheel.read_bytes(),
            f"{name}-sources.tar.gz": packed(_sources(), name, moment),
            f"{name}-assembly.tar.gz": packed(_files(assembly), f"{name}-assembly", moment),
        }


def packed(files: Iterable[tuple[str, bytes, bool]], folder: str, moment: int) -> bytes:
    """Return files as a compressed archive that depends on nothing but them.

    Args:
        files: name, content, and whether it may be executed.
        folder: that they are in.
        moment: the time of all of them, in seconds since 1970.
    """
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, content, is_executable in sorted(files):
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size, entry.mtime, entry.mode = len(content), moment, 0o755 if is_executable else 0o644
            tar.addfile(entry, io.BytesIO(content))
    return gzip.compress(archive.getvalue(), mtime=0)


def _sources() -> Iterable[tuple[str, bytes, bool]]:
    for name in _run("git", "ls-files", "-z").split("\0"):
        file = ROOT / name
        if name and not file.is_symlink():
            yield name, file.read_bytes(), os.access(file, os.X_OK)


def _files(folder: Path) -> Iterable[tuple[str, bytes, bool]]:
    for file in folder.rglob("*"):
        if file.is_file():
            yield file.relative_to(folder).as_posix(), file.read_bytes(), os.access(file, os.X_OK)


def _context() -> dict[str, object]:
    context: dict[str, object] = json.loads((ROOT / "cdk.json").read_text("utf-8"))["context"]
    return context


def _run(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main(Path(sys.argv[1]))
