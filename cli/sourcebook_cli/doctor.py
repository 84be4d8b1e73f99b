"""`sourcebook doctor`: finds problems of a set-up, and what to do about them."""

from __future__ import annotations

import importlib.metadata
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal

import click
from packaging.requirements import Requirement

from sourcebook_cli.output import Style, Styled, say, say_json, show_table
from sourcebook_cli.stack import chosen, on_aws
from sourcebook_local.project import HOME, ROOT

OLDEST_PYTHON: Final = (3, 11)
NEWEST_PYTHON: Final = (3, 13)
OLDEST_NODE: Final = 18
FREE_DISK_MB: Final = 2_000
OTHER_FUNCTIONS: Final = 24
"""Concurrent functions to leave to the API, the schedules and the tasks of workflows."""
SMALL_QUEUES: Final = 6
"""Concurrent functions of the queues whose concurrency is not a choice (infra/news.py: three of two each)."""
QUOTA_CODE: Final = "L-B99A9384"
"""Of "Concurrent executions" in Service Quotas."""

Verdict = Literal["ok", "look", "wrong"]
_COLORS: Final[dict[Verdict, Style]] = {"ok": "green", "look": "yellow", "wrong": "red"}


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The result of one check.

    Attributes:
        what: its name.
        verdict: ``ok``; ``look`` for what may be as you want it; ``wrong`` for what will not work.
        found: how it is.
        todo: what to do about it; empty when nothing is to be done.
    """

    what: str
    verdict: Verdict
    found: str
    todo: str = ""


@click.command()
@click.option("--json", "as_json", is_flag=True, help="A list of findings for a program.")
@on_aws
def doctor(as_json: bool, aws: bool) -> None:
    """Check this machine and the stack, and print what to do.

    Exits with 1 when something is wrong.
    """
    findings = [*machine(), *(on_account() if aws or chosen().aws else local_stack())]
    if as_json:
        say_json([asdict(finding) for finding in findings], indent=2)
    else:
        _print(findings)
    if any(finding.verdict == "wrong" for finding in findings):
        sys.exit(1)


def machine() -> Iterator[Diagnosis]:
    """Check what the project needs of a machine, and yield a diagnosis of each part."""
    yield _python()
    yield _node(_output(["node", "--version"]))
    for name, binary in (("CDK command line", "cdk"), ("bundler of the web page", "esbuild")):
        there = (ROOT / "node_modules" / ".bin" / binary).exists()
        yield (
            Diagnosis(name, "ok", "installed")
            if there
            else Diagnosis(name, "wrong", "not installed", "run `make install`")
        )
    yield _packages((ROOT / "requirements" / "dev.txt").read_text("utf-8"), _installed_version)
    free = shutil.disk_usage(ROOT).free // 1_000_000
    enough = free >= FREE_DISK_MB
    yield Diagnosis(
        "Disk",
        "ok" if enough else "wrong",
        f"{free:,} MB free",
        "" if enough else f"make room: the layers and the cloud's state take up to {FREE_DISK_MB:,} MB",
    )


def local_stack(home: Path = HOME) -> Iterator[Diagnosis]:
    """Check the stack on this machine, and yield a diagnosis of each part."""
    from sourcebook_local.cloud import PREFERRED_PORT, LocalCloud
    from sourcebook_local.deploy import LOCAL_CONTEXT, content_hash, deployed_hash

    cloud = LocalCloud(home)
    if not cloud.running():
        yield Diagnosis("Embedded cloud", "look", "does not run", "`make up` starts it")
        taken = _is_taken(PREFERRED_PORT)
        yield Diagnosis(
            f"Port {PREFERRED_PORT}",
            "look" if taken else "ok",
            "another program listens there" if taken else "free",
            "nothing: `make up` takes another one" if taken else "",
        )
        return
    yield Diagnosis("Embedded cloud", "ok", f"runs at {cloud.endpoint_url}")
    deployed = deployed_hash(cloud)
    if deployed is None:
        yield Diagnosis("Stack", "wrong", "is not deployed", "`make up` deploys it")
    elif deployed != content_hash(ROOT, LOCAL_CONTEXT):
        yield Diagnosis(
            "Stack", "look", "is of other sources than this checkout's", "`make up` deploys these"
        )
    else:
        yield Diagnosis("Stack", "ok", "is of this checkout's sources")


def on_account() -> Iterator[Diagnosis]:
    """Check the stack on AWS and the caller's identity, and yield a diagnosis of each."""
    import boto3.session
    from botocore.exceptions import BotoCoreError, ClientError

    from sourcebook.table.client import aws_config

    try:
        session = boto3.session.Session(profile_name=chosen().profile)
    except BotoCoreError as error:
        yield Diagnosis(
            "Credentials", "wrong", _short(error), "`aws configure list-profiles` shows your profiles"
        )
        return
    if session.region_name is None:
        yield Diagnosis(
            "Region", "wrong", "none is set", "set AWS_DEFAULT_REGION, or `region` of the profile"
        )
        return
    yield Diagnosis("Region", "ok", session.region_name)
    try:
        identity = session.client("sts", config=aws_config()).get_caller_identity()
    except (BotoCoreError, ClientError) as error:
        yield Diagnosis(
            "Credentials", "wrong", _short(error), "`aws sts get-caller-identity` must work first"
        )
        return
    yield Diagnosis("Credentials", "ok", identity["Arn"])
    name = chosen().stack
    functions = session.client("lambda", config=aws_config())
    try:
        quota = functions.get_account_settings()["AccountLimit"]["ConcurrentExecutions"]
        pages = functions.get_paginator("list_event_source_mappings").paginate()
        asked = sum(
            mapping.get("ScalingConfig", {}).get("MaximumConcurrency", 0)
            for page in pages
            for mapping in page["EventSourceMappings"]
            if f":function:{name}-" in mapping.get("FunctionArn", "")
        )
    except (BotoCoreError, ClientError) as error:
        yield Diagnosis("Concurrency", "look", _short(error), "needs lambda:GetAccountSettings")
    else:
        yield _concurrency(quota, asked)
    try:
        stack = session.client("cloudformation", config=aws_config()).describe_stacks(StackName=name)[
            "Stacks"
        ][0]
    except (BotoCoreError, ClientError) as error:
        yield Diagnosis(
            "Stack", "wrong", _short(error), "deploy it: `cdk deploy --all`, see docs/operations.md"
        )
        return
    yield _status(stack["StackStatus"])
    outputs = {output["OutputKey"]: output["OutputValue"] for output in stack.get("Outputs", [])}
    yield _version(outputs.get("Version"), importlib.metadata.version("sourcebook"))


def _concurrency(quota: int, asked: int) -> Diagnosis:
    """Return the diagnosis of the account's quota of concurrent functions.

    Args:
        quota: of the account in this region; new accounts may have 10.
        asked: how many the queues of the stack may run at once; 0 before the first deployment.
    """
    found = f"{quota:,} functions at once, of which the queues may take {asked or 'none yet'}"
    if asked + OTHER_FUNCTIONS <= quota and (asked or quota >= 100):
        return Diagnosis("Concurrency", "ok", found)
    room = max(4, quota - min(OTHER_FUNCTIONS, quota // 4) - SMALL_QUEUES)
    analyze = max(2, room * 2 // 7)
    choices = f'{{"fetch_concurrency": {max(2, room - analyze)}, "analyze_concurrency": {analyze}}}'
    return Diagnosis(
        "Concurrency",
        "look",
        found,
        f"put {choices} into deployment.json and deploy, or ask for more: aws service-quotas request-service-"
        f"quota-increase --service-code lambda --quota-code {QUOTA_CODE} --desired-value 1000",
    )


def _python() -> Diagnosis:
    version = sys.version_info[:2]
    shown = ".".join(map(str, sys.version_info[:3]))
    if OLDEST_PYTHON <= version <= NEWEST_PYTHON:
        return Diagnosis("Python", "ok", shown)
    wanted = f"{'.'.join(map(str, OLDEST_PYTHON))} to {'.'.join(map(str, NEWEST_PYTHON))}"
    return Diagnosis("Python", "wrong", shown, f"install {wanted}, remove .venv and run `make install`")


def _node(version: str | None) -> Diagnosis:
    """Return the diagnosis of a version of Node."""
    number = re.match(r"v?(\d+)\.", version or "")
    if number is None:
        return Diagnosis("Node", "wrong", "not found", f"install Node {OLDEST_NODE} or newer, with npm")
    if int(number[1]) < OLDEST_NODE:
        return Diagnosis("Node", "wrong", str(version), f"install Node {OLDEST_NODE} or newer")
    return Diagnosis("Node", "ok", str(version))


def _packages(lock: str, installed: Callable[[str], str | None]) -> Diagnosis:
    """Compare the installed packages with the lock file, without those for other machines."""
    wrong = []
    for line in re.findall(r"^([A-Za-z0-9][^\\\n]*)", lock, re.MULTILINE):
        requirement = Requirement(line)
        if requirement.marker is not None and not requirement.marker.evaluate():
            continue
        found = installed(requirement.name)
        if found is None or not requirement.specifier.contains(found, prereleases=True):
            wrong.append(f"{requirement.name} {found or 'missing'}, not {requirement.specifier}")
    if not wrong:
        return Diagnosis("Python packages", "ok", "as in requirements/dev.txt")
    shown = "; ".join(wrong[:3]) + (f" and {len(wrong) - 3} more" if len(wrong) > 3 else "")
    return Diagnosis("Python packages", "wrong", shown, "run `rm .venv/.installed && make install`")


def _status(status: str) -> Diagnosis:
    if status.endswith("_IN_PROGRESS"):
        return Diagnosis("Stack", "look", status, "wait until the deployment has ended")
    if status in {"CREATE_COMPLETE", "UPDATE_COMPLETE"}:
        return Diagnosis("Stack", "ok", status)
    return Diagnosis(
        "Stack", "wrong", status, "see the stack's events in the CloudFormation console, deploy again"
    )


def _version(deployed: str | None, ours: str) -> Diagnosis:
    if deployed == ours:
        return Diagnosis("Version", "ok", ours)
    return Diagnosis(
        "Version",
        "look",
        f"{deployed or 'unknown'} is deployed, this command is {ours}",
        "deploy, or use that version",
    )


def _installed_version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _output(command: list[str]) -> str | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)  # noqa: S603 - a fixed command
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _is_taken(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def _print(findings: list[Diagnosis]) -> None:
    show_table(
        ("", "", "Found", "What to do"),
        [
            (Styled(finding.verdict, _COLORS[finding.verdict]), finding.what, finding.found, finding.todo)
            for finding in findings
        ],
        whole=("",),
    )
    bad = sum(finding.verdict == "wrong" for finding in findings)
    say()
    say(f"{bad} wrong: do what the last column says." if bad else "Nothing is wrong.")
