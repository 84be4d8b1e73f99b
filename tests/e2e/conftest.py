"""The deployed stack that all end-to-end tests share.

IAM and TLS are on, so that a function without a permission it needs fails here. With
SOURCEBOOK_E2E_REUSE=<folder> the cloud is kept in that folder between runs, still running: for work on
the tests, not for a verdict.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from sourcebook_local.cloud import LocalCloud
from sourcebook_local.deploy import deploy
from sourcebook_local.project import HOME
from tests.e2e.stack import Stack
from tests.leaks import secrets_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HERE = Path(__file__).parent
VENV = HOME / "cloud-venv"
KEPT_LOGS = HOME / "log" / "e2e"


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
) -> Iterator[Callable[[str], LocalCloud]]:
    """Make clouds, not started, with IAM and TLS on; stopped at the end, their logs kept on failure."""
    made: list[LocalCloud] = []

    def make(name: str) -> LocalCloud:
        home = tmp_path_factory.mktemp(name)
        made.append(LocalCloud(home, venv=VENV, port=0, auth=True, tls=True, say=print))
        return made[-1]

    yield make
    leaks = {}
    for cloud in made:
        try:
            leaks[cloud.home.name] = logged_secrets(cloud)
        finally:
            cloud.stop()
        if request.session.testsfailed and (cloud.home / "log").exists():
            kept = KEPT_LOGS / cloud.home.name
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(cloud.home / "log", kept)
    # Here, because only now everything is in the logs that the tests of this run have made.
    assert not any(leaks.values()), f"secrets in the logs: {leaks}"


def logged_secrets(cloud: LocalCloud) -> list[tuple[str, str, str]]:
    """Return what looks like a secret in the logs of a cloud and of its functions, with where it stands."""
    found = []
    if cloud.log_file.exists():
        found += [("cloud.log", *leak) for leak in secrets_in(cloud.log_file.read_text("utf-8", "replace"))]
    if cloud.running():
        logs = cloud.session().client("logs")
        groups = logs.get_paginator("describe_log_groups").paginate()
        for name in [group["logGroupName"] for page in groups for group in page["logGroups"]]:
            pages = logs.get_paginator("filter_log_events").paginate(logGroupName=name)
            text = "\n".join(event["message"] for page in pages for event in page["events"])
            found += [(name, *leak) for leak in secrets_in(text)]
    return found


@contextmanager
def deployed(cloud: LocalCloud) -> Iterator[Stack]:
    """Start a cloud, deploy the application to it, and give both."""
    cloud.start()
    outputs = deploy(cloud, assembly=HOME / "assembly", say=print).outputs
    with httpx.Client(base_url=outputs.api_url, verify=cloud.verify, timeout=60) as api:
        yield Stack(cloud, outputs, cloud.session(), api)


def kept_cloud() -> LocalCloud | None:
    """Return the cloud that SOURCEBOOK_E2E_REUSE names, if it is set."""
    kept = os.environ.get("SOURCEBOOK_E2E_REUSE")
    return LocalCloud(Path(kept), venv=VENV, port=0, auth=True, tls=True, say=print) if kept else None


@contextmanager
def deployed_apart(new_cloud: Callable[[str], LocalCloud], name: str) -> Iterator[Stack]:
    """Give the application in a cloud of its own, which is stopped afterwards, or in the one that is kept."""
    kept = kept_cloud()
    cloud = kept or new_cloud(name)
    with deployed(cloud) as stack:
        yield stack
    if kept is None:
        cloud.stop()


@pytest.fixture(scope="session")
def stack(new_cloud: Callable[[str], LocalCloud]) -> Iterator[Stack]:
    """The application as `cdk deploy` leaves it."""
    with deployed(kept_cloud() or new_cloud("stack")) as found:
        yield found
