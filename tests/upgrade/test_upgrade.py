"""From the release before this one to this one, as an operator does it: check out, deploy, migrate, verify.

Takes some ten minutes, so `make upgrade` runs it and `make test` does not.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from sourcebook.table import keys
from sourcebook_local.cloud import LocalCloud
from sourcebook_local.project import HOME
from tests.e2e.stack import wait_until
from tests.templates import ROOT
from tests.upgrade.releases import PREVIOUS

log = logging.getLogger(__name__)
PACKAGES = ("layers/core/python", "layers/sentiment/python", "client", "cli", "local", ".")
PASSING = {"ANSWER", "CACHE", "CHUNK", "DIRTY", "HOUR", "LOCK", "METADATA", "PAUSE", "STARTED"}
"""Beginnings of the sort keys of what goes when it has served: locks, caches, marks of what is to be done."""
MARKS = {keys.UNGROUPED, keys.UNGROUPED_ONE_BY_ONE}
RENAMED = {"NAME/NOVA", "#/NAME"}
NEITHER_FITS = "Runtime.ImportModuleError"
"""The error of a call between the updates of a function's code and layers; v0.1 does not retry it (0390)."""
START = """
from sourcebook_local.cloud import LocalCloud
from sourcebook_local.folder import SERVED_PORTS, start_remembered
from sourcebook_local.project import HOME
start_remembered(HOME)
LocalCloud(HOME, loopback_ports=HOME / SERVED_PORTS).start()
"""
"""Starts the embedded cloud as `up` does, which then leaves it running, and deploys nothing."""
UP = ("up", "--timeout", "900")


def _git(*command: str, folder: Path = ROOT) -> str:
    done = subprocess.run(["git", *command], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@dataclass(frozen=True)
class Checkout:
    """A checkout in which one release after another is checked out and brought up."""

    folder: Path

    def check_out(self, commit: str) -> None:
        """Bring the files to a commit; what `make install` makes and what runs here stays."""
        _git("checkout", "--quiet", "--force", "--detach", commit, folder=self.folder)

    def sourcebook(self, *arguments: str) -> str:
        """Run the `sourcebook` command of the release that is checked out; return what it prints."""
        return self.python("from sourcebook_cli.main import main; main()", *arguments)

    def python(self, code: str, *arguments: str) -> str:
        """Run Python with the packages of the release that is checked out.

        Raises:
            AssertionError: if it fails; it has what was printed.
        """
        path = os.pathsep.join(str(self.folder / name) for name in PACKAGES)
        done = subprocess.run(
            [str(self.folder / ".venv" / "bin" / "python"), "-c", code, *arguments],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=False,
            timeout=1500,
        )
        assert done.returncode == 0, f"{code} {arguments}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
        return done.stdout

    def cdk(self, *arguments: str) -> None:
        """Run the CDK's command line on the release that is checked out.

        Raises:
            AssertionError: if it fails; it has what was printed.
        """
        path = os.pathsep.join(str(self.folder / name) for name in PACKAGES)
        done = subprocess.run(
            ["node_modules/.bin/cdk", *arguments, "--no-color"],
            cwd=self.folder,
            env={**self.cloud.environment(), "PYTHONPATH": path, "CDK_VALIDATION": "false"},
            capture_output=True,
            text=True,
            check=False,
            timeout=1200,
        )
        assert done.returncode == 0, f"{arguments}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"

    @property
    def cloud(self) -> LocalCloud:
        """Its embedded cloud."""
        return LocalCloud(self.folder / ".sourcebook")

    @property
    def api(self) -> str:
        """The address of its API."""
        written = json.loads((self.folder / ".sourcebook" / "local.json").read_text("utf-8"))
        return str(written["api_url"])

    def items(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Return every item of the table by its key, without those that may go at any time."""
        written = json.loads((self.folder / ".sourcebook" / "local.json").read_text("utf-8"))
        table = self.cloud.session().resource("dynamodb").Table(written["table_name"])
        found: dict[tuple[str, str], dict[str, Any]] = {}
        start: dict[str, Any] = {}
        while True:
            page = table.scan(**start)
            for item in page["Items"]:
                key = str(item["PK"]), str(item["SK"])
                passing = key[1].partition("#")[0] in PASSING or key[0] in MARKS
                if not passing and "ttl" not in item:
                    found[key] = item
            if "LastEvaluatedKey" not in page:
                return found
            start = {"ExclusiveStartKey": page["LastEvaluatedKey"]}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checkout]:
    if not os.environ.get("SOURCEBOOK_UPGRADE"):
        pytest.skip("takes ten minutes: run it by `make upgrade`")
    try:
        _git("cat-file", "-e", f"{PREVIOUS}^{{commit}}")
    except (subprocess.CalledProcessError, FileNotFoundError):
        pytest.skip(f"the history has no {PREVIOUS}: it is a checkout without its past")
    folder = tmp_path_factory.mktemp("upgrade") / "checkout"
    _git("worktree", "add", "--quiet", "--force", "--detach", str(folder), PREVIOUS)
    try:
        for name in (".venv", "node_modules"):
            (folder / name).symlink_to(ROOT / name)
        (folder / ".sourcebook").mkdir()
        if (HOME / "cloud-venv").exists():
            (folder / ".sourcebook" / "cloud-venv").symlink_to(HOME / "cloud-venv")
        if (HOME / "build").exists():
            # What was built is replaced and never written to.
            shutil.copytree(HOME / "build", folder / ".sourcebook" / "build", copy_function=os.link)
        made = Checkout(folder)
        yield made
        made.sourcebook("reset")
    finally:
        LocalCloud(folder / ".sourcebook").stop()
        _git("worktree", "remove", "--force", str(folder))


@pytest.fixture(scope="module")
def before(checkout: Checkout) -> dict[tuple[str, str], dict[str, Any]]:
    """What the release before this one has written."""
    checkout.sourcebook(*UP)
    checkout.sourcebook("token", "create", "upgrade", "--scope", "write")
    checkout.sourcebook("canonical", "rebuild")
    return checkout.items()


@pytest.fixture(scope="module")
def upgraded(checkout: Checkout, before: dict[tuple[str, str], dict[str, Any]]) -> list[str]:
    """Bring this release over it while executions come and go; return their ARNs."""
    assert before
    checkout.check_out(_git("rev-parse", "HEAD"))
    # The embedded cloud is this release's, and what is deployed to it is still the one before.
    checkout.python(START)
    client = checkout.cloud.session().client("stepfunctions")
    (machine,) = (
        one["stateMachineArn"]
        for page in client.get_paginator("list_state_machines").paginate()
        for one in page["stateMachines"]
        if one["name"].endswith("-rebuild_canonical")
    )
    started: list[str] = []
    ended = threading.Event()

    def keep_starting() -> None:
        while not ended.wait(5):
            started.append(client.start_execution(stateMachineArn=machine, input="{}")["executionArn"])

    with ThreadPoolExecutor(1) as threads:
        starting = threads.submit(keep_starting)
        try:
            checkout.sourcebook(*UP)
        finally:
            ended.set()
        starting.result()
    return started


def test_executions_in_flight_come_to_an_end_that_is_recorded(
    checkout: Checkout, upgraded: list[str]
) -> None:
    client = checkout.cloud.session().client("stepfunctions")

    def statuses() -> list[str] | None:
        found = [str(client.describe_execution(executionArn=arn)["status"]) for arn in upgraded]
        return None if "RUNNING" in found else found

    ended = wait_until(statuses, 600, "the end of the executions", interval=2) or []
    failed = [arn for arn, status in zip(upgraded, ended, strict=True) if status != "SUCCEEDED"]
    ends = [client.describe_execution(executionArn=arn) for arn in failed]
    assert [end for end in ends if end.get("error") != NEITHER_FITS] == []

    def recorded() -> bool:
        items = checkout.items().values()
        done = {str(item.get("execution_arn")) for item in items if item.get("status") == "SUCCEEDED"}
        return set(upgraded) - set(failed) <= done

    assert wait_until(recorded, 300, "their records", interval=2)
    log.info("%d executions came and went, %d failed between two updates", len(upgraded), len(failed))


def test_nothing_is_lost_and_all_is_in_order(
    checkout: Checkout, before: dict[tuple[str, str], dict[str, Any]], upgraded: list[str]
) -> None:
    assert upgraded
    checkout.sourcebook("migrate")
    checkout.sourcebook("verify", "--objects")
    after = checkout.items()
    lost = Counter(_kind(key) for key in before.keys() - after.keys())
    kinds, now = Counter(map(_kind, before)), Counter(map(_kind, after))
    # The migration writes the keys of some names anew.
    assert {kind for kind in lost if kind not in RENAMED or now[kind] < kinds[kind]} == set()
    log.info("%d items before, %d after, of %s", len(before), len(after), ", ".join(sorted(kinds)))


def test_the_answers_are_those_of_this_release(checkout: Checkout, upgraded: list[str]) -> None:
    assert upgraded
    health = httpx.get(f"{checkout.api}/health", timeout=60).json()
    assert health["version"]
    assert httpx.get(f"{checkout.api}/articles?limit=5", timeout=60).json()["items"]
    assert httpx.get(f"{checkout.api}/novae?name=Nova+Sco+2012", timeout=60).json()["items"]


def test_back_to_the_pipeline_of_the_release_before(checkout: Checkout, upgraded: list[str]) -> None:
    """By the commands of the runbook."""
    assert upgraded
    kept = checkout.items()
    checkout.check_out(PREVIOUS)
    checkout.cdk(
        *("deploy", "SourcebookPipeline", "--exclusively", "--require-approval", "never"),
        *("--method", "direct", "--context", "target=local"),
    )
    health = httpx.get(f"{checkout.api}/health", timeout=60).json()
    assert "version" not in health, "the release before had none"
    assert httpx.get(f"{checkout.api}/articles?limit=5", timeout=60).json()["items"]
    assert not kept.keys() - checkout.items().keys()


def test_the_pipeline_is_deleted_and_made_again_with_the_data_that_was_kept(
    checkout: Checkout, upgraded: list[str]
) -> None:
    assert upgraded
    kept = checkout.items()
    checkout.check_out(_git("rev-parse", "HEAD"))
    checkout.python(START)
    assembly = str(checkout.folder / ".sourcebook" / "assembly")
    checkout.cdk("destroy", "SourcebookPipeline", "--force", "--app", assembly)
    assert not kept.keys() - checkout.items().keys()
    checkout.sourcebook(*UP)
    assert not kept.keys() - checkout.items().keys()
    assert httpx.get(f"{checkout.api}/articles?limit=5", timeout=60).json()["items"]


def _kind(key: tuple[str, str]) -> str:
    """Return what a key is of: both parts without what differs from one item to the next."""
    return "/".join("#" if _varies(part) else part.partition("#")[0] for part in key)


def _varies(part: str) -> bool:
    return len(part) >= 32 and "#" not in part
