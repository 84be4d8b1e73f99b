"""The deployed stack that all end-to-end tests share.

IAM and TLS are on, so that a function without a permission it needs fails here. The application is deployed
once for each state of the sources, to a cloud that is then stopped; every cloud of the tests begins as a copy
of that one, which takes seconds.

With SOURCEBOOK_E2E_REUSE=<folder> the cloud is kept in that folder between runs, still running: for work on
the tests, not for a verdict.
"""

from __future__ import annotations

import compileall
import hashlib
import os
import shutil
import zipfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

import sourcebook_local
from sourcebook.table.keys import ONE_SHARD
from sourcebook_local import process
from sourcebook_local.cloud import LocalCloud
from sourcebook_local.deploy import LOCAL_CONTEXT, content_hash, deploy
from sourcebook_local.folder import stop_servers
from sourcebook_local.launcher import UnpackedLayers
from sourcebook_local.project import HOME, ROOT
from tests.e2e.afterwards import check_the_table, logged_secrets
from tests.e2e.calls import file_of, write_names
from tests.e2e.stack import SHARDS, Stack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HERE = Path(__file__).parent
VENV = HOME / "cloud-venv"
KEPT_LOGS = HOME / "log" / "e2e"
DEPLOYED = HOME / "deployed"
CONTEXT = LOCAL_CONTEXT if SHARDS == ONE_SHARD else {**LOCAL_CONTEXT, "index_shards": str(SHARDS.number)}
"""The home of a cloud that has the application and does not run."""
COPIED = ("state", "layers", "tls", "cloud.json", "credentials.json")
"""What a copy of it needs."""
LINKED = {"layers", "s3"}
"""Folders whose files are replaced, never written to: a copy may share them."""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if terminalreporter.stats.keys() & {"failed", "error"} and KEPT_LOGS.exists():
        terminalreporter.write_line(f"The logs of the embedded clouds are in {KEPT_LOGS}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.e2e)


@pytest.fixture(scope="session")
def new_cloud(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Callable[..., LocalCloud]]:
    """Make clouds, not started, with IAM and TLS on; stopped at the end, their logs kept on failure."""
    made: list[LocalCloud] = []

    def make(name: str, save_every: float = 60.0) -> LocalCloud:
        home = tmp_path_factory.mktemp(name)
        recorded = file_of(home.name)
        cloud = LocalCloud(
            home, venv=VENV, port=0, auth=True, tls=True, say=print, recorded=recorded, save_every=save_every
        )
        made.append(cloud)
        return cloud

    yield make
    leaks = {}
    for cloud in made:
        try:
            # Of a cloud that is stopped, only its own log is left; `deployed` has searched the others.
            leaks[cloud.home.name] = logged_secrets(cloud)
        finally:
            cloud.stop()
        if request.session.testsfailed and (cloud.home / "log").exists():
            kept = KEPT_LOGS / cloud.home.name
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(cloud.home / "log", kept)
    assert not any(leaks.values()), f"secrets in the logs: {leaks}"


def start_deployed(cloud: LocalCloud) -> None:
    """Start a cloud; one that is new has the application already."""
    DEPLOYED.parent.mkdir(parents=True, exist_ok=True)
    # While it starts, too: two copies begin with one port, and the second sees that it is taken.
    with process.lock(DEPLOYED.with_name(f"{DEPLOYED.name}.lock")):
        if not (cloud.home / "state").exists():
            make_deployed()
            for name in COPIED:
                copy(DEPLOYED / name, cloud.home / name)
        cloud.start()


def make_deployed() -> None:
    """Deploy the application to the cloud that the others are copies of, unless it has it as it is now."""
    code = hashlib.sha256()
    for path in sorted(Path(sourcebook_local.__file__).parent.glob("*.py")):
        code.update(path.read_bytes())
    wanted = f"{content_hash(ROOT, CONTEXT)} {code.hexdigest()}"
    stamp = DEPLOYED / "made-from"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    shutil.rmtree(DEPLOYED, ignore_errors=True)
    cloud = LocalCloud(DEPLOYED, venv=VENV, port=0, auth=True, tls=True, say=print)
    cloud.start()
    try:
        deploy(cloud, context=CONTEXT, assembly=HOME / "assembly", say=print)
    finally:
        saved = cloud.stop()
    assert saved, f"the cloud in {DEPLOYED} did not stop by itself"
    unpack_layers()
    stamp.write_text(wanted)


def unpack_layers() -> None:
    """Unpack and compile the layers once, where each copy of the cloud would do it."""
    layers = UnpackedLayers(DEPLOYED / "layers")
    for archive in (DEPLOYED / "state" / "s3").rglob("*.zip"):
        with zipfile.ZipFile(archive) as content:
            names = content.namelist()
        if any(name.startswith("python/") for name in names):
            (folder,) = layers.folders(archive.read_bytes())
            if not any(name.endswith(".pyc") for name in names):
                compileall.compile_dir(folder, quiet=2)


def copy(source: Path, target: Path) -> None:
    """Copy a file or a folder; what is never written to is shared."""
    if source.is_dir():
        target.mkdir(exist_ok=True)
        for inside in source.iterdir():
            copy(inside, target / inside.name)
    elif LINKED & set(source.relative_to(DEPLOYED).parts):
        try:
            target.hardlink_to(source)
        except OSError:  # another file system
            shutil.copy2(source, target)
    else:
        shutil.copy2(source, target)


@contextmanager
def deployed(cloud: LocalCloud) -> Iterator[Stack]:
    """Start a cloud, deploy the application to it, and give both.

    Raises:
        AssertionError: at the end, if the tests have left a table in which something is wrong, or a log
            with a secret.
    """
    start_deployed(cloud)
    outputs = deploy(cloud, context=CONTEXT, assembly=HOME / "assembly", say=print).outputs
    with httpx.Client(base_url=outputs.api_url, verify=cloud.verify, timeout=60) as api:
        stack = Stack(cloud, outputs, cloud.session(), api)
        write_names(stack)
        yield stack
        check_the_table(stack)
        # Here, because only now everything is in the logs, and a moment later the cloud may be stopped.
        leaks = logged_secrets(cloud)
        assert not leaks, f"secrets in the logs: {leaks}"


def kept_cloud() -> LocalCloud | None:
    """Return the cloud that SOURCEBOOK_E2E_REUSE names, if it is set."""
    kept = os.environ.get("SOURCEBOOK_E2E_REUSE")
    return LocalCloud(Path(kept), venv=VENV, port=0, auth=True, tls=True, say=print) if kept else None


@contextmanager
def deployed_apart(new_cloud: Callable[[str], LocalCloud], name: str) -> Iterator[Stack]:
    """Give the application in a cloud of its own, which is stopped afterwards, or in the one that is kept."""
    kept = kept_cloud()
    cloud = kept or new_cloud(name)
    try:
        with deployed(cloud) as stack:
            yield stack
    finally:
        if kept is None:
            cloud.stop()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder for the servers that a module starts; they are stopped after it."""
    folder = tmp_path_factory.mktemp("servers")
    yield folder
    stop_servers(folder)


@pytest.fixture(scope="session")
def stack(new_cloud: Callable[..., LocalCloud]) -> Iterator[Stack]:
    """The application as `cdk deploy` leaves it."""
    # A save takes a second of CPU; the other clouds, and those of test_state.py, save beside their work.
    with deployed(kept_cloud() or new_cloud("stack", save_every=600)) as found:
        yield found
