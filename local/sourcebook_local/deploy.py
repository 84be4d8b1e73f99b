"""Synthesizes the stacks and deploys them to the embedded cloud, by the CDK's command line.

Both are skipped when nothing that shapes the stacks has changed. The assembly carries the hash of what
it was made from beside it; the deployment's hash is a parameter in the cloud itself, so that it comes
and goes with the state it describes.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from . import process
from .cloud import ACCOUNT, REGION
from .outputs import Outputs, stack_outputs
from .project import ROOT, LocalCloudError, Say, quiet, tail

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .cloud import LocalCloud

LOCAL_CONTEXT: Mapping[str, str] = {"target": "local"}
"""CDK context of the local stack. What follows from the target, such as that loopback may be fetched
from, where the sample sources are served, infra/deployment.py knows."""

_SHAPING = (
    "app.py", "cdk.json", "package.json", "infra", "lambdas", "layers", "statemachines", "web",
)  # fmt: skip
_SHAPING_PACKAGES = ("aws-cdk-lib", "constructs", "cdk-nag")
_MARK = "/sourcebook/local/deployment"
_BOOTSTRAP_MARK = "/cdk-bootstrap/hnb659fds/version"


@dataclass(frozen=True)
class Deployment:
    """The result of a deployment.

    Attributes:
        outputs: of the stacks.
        synthesized: whether the stacks were synthesized now.
        deployed: whether they were deployed now; False if the cloud had them already.
        seconds: how long it took.
    """

    outputs: Outputs
    synthesized: bool
    deployed: bool
    seconds: float


def deploy(
    cloud: LocalCloud,
    *,
    context: Mapping[str, str] = LOCAL_CONTEXT,
    assembly: Path | None = None,
    project: Path = ROOT,
    say: Say = quiet,
) -> Deployment:
    """Deploy the project's sources to the running cloud.

    Args:
        cloud: a running cloud.
        context: CDK context values.
        assembly: where the cloud assembly is kept, by default in the cloud's home; clouds may share one.
        project: the folder with cdk.json and node_modules.
        say: called with lines on what takes time.

    Raises:
        LocalCloudError: if a step fails; the message has the end of the CDK's output.
    """
    begun = time.monotonic()
    cdk = _Cdk(cloud, project)
    assembly = assembly or cloud.home / "assembly"
    _bootstrap(cloud, cdk, say)
    with _made(cloud, assembly, context=context, project=project, say=say) as (wanted, synthesized):
        # A stack may be gone although the mark is there.
        deployed = _parameter(cloud, _MARK) != wanted or not _all_there(cloud, stack_names(assembly))
        if deployed:
            say("Deploying the stacks …")
            _forget(cloud, _MARK)
            cdk.run(
                "deploy --all --require-approval never --method direct --concurrency 2 --progress events",
                "--app", str(assembly),
                what="the deployment",
            )  # fmt: skip
            cloud.session().client("ssm").put_parameter(Name=_MARK, Value=wanted, Type="String")
        stacks = stack_names(assembly)
        _keep_to_table_settings(cloud, assembly)
    values = stack_outputs(cloud, stacks)
    outputs = Outputs.from_stacks(values, cloud.api_url(values.get("ApiId", "")))
    return Deployment(outputs, synthesized, deployed, time.monotonic() - begun)


def synthesize(
    cloud: LocalCloud,
    assembly: Path,
    *,
    context: Mapping[str, str] = LOCAL_CONTEXT,
    project: Path = ROOT,
    say: Say = quiet,
) -> bool:
    """Synthesize the assembly, unless it is up to date.

    Returns:
        Whether it was synthesized.

    Raises:
        LocalCloudError: if it fails; the message has the end of the CDK's output.
    """
    stamp = _stamp(assembly)
    assembly.parent.mkdir(parents=True, exist_ok=True)
    with process.lock(_lock(assembly)):
        wanted = content_hash(project, context)
        if _made_from(assembly) == wanted:
            return False
        say("Synthesizing the stacks (the first time, the layers' packages are fetched too) …")
        stamp.unlink(missing_ok=True)
        # Into the same folder as before: the CDK does not build an asset again that is there.
        options = [f"--context={key}={value}" for key, value in context.items()]
        app = f"{shlex.quote(sys.executable)} app.py"
        _Cdk(cloud, project).run(
            "synth --quiet", "--output", str(assembly), "--app", app, *options, what="the synthesis"
        )
        _remove_stale_assets(assembly)
        stamp.write_text(wanted)
        return True


@contextlib.contextmanager
def _made(
    cloud: LocalCloud, assembly: Path, *, context: Mapping[str, str], project: Path, say: Say
) -> Iterator[tuple[str, bool]]:
    """Synthesize the assembly, and keep other processes from replacing it while it is in use.

    Any number of deployments read it at once; a synthesis waits for them and they for it.

    Yields:
        The hash of what it was made from, and whether it had to be made.
    """
    synthesized = False
    assembly.parent.mkdir(parents=True, exist_ok=True)
    while True:
        with process.lock(_lock(assembly), shared=True):
            # One that was made just now is taken even if the sources have been edited meanwhile.
            made = _made_from(assembly)
            if made and (synthesized or made == content_hash(project, context)):
                yield made, synthesized
                return
        synthesized |= synthesize(cloud, assembly, context=context, project=project, say=say)


def _made_from(assembly: Path) -> str | None:
    """Return the hash of the sources of an assembly; None without a complete one."""
    stamp = _stamp(assembly)
    return stamp.read_text() if stamp.exists() and (assembly / "manifest.json").exists() else None


def _stamp(assembly: Path) -> Path:
    """Return the file with the hash of an assembly's sources, which a complete assembly has."""
    return assembly.with_name(f"{assembly.name}.sha256")


def _lock(assembly: Path) -> Path:
    return assembly.with_name(f"{assembly.name}.lock")


def stack_names(assembly: Path) -> list[str]:
    """Return the names of the stacks in an assembly."""
    artifacts = json.loads((assembly / "manifest.json").read_text())["artifacts"]
    return [
        artifact.get("properties", {}).get("stackName", name)
        for name, artifact in artifacts.items()
        if artifact["type"] == "aws:cloudformation:stack"
    ]


def _all_there(cloud: LocalCloud, stacks: list[str]) -> bool:
    """Return whether the cloud has all the stacks, each of them complete."""
    pages = cloud.session().client("cloudformation").get_paginator("describe_stacks").paginate()
    whole = {
        stack["StackName"]
        for page in pages
        for stack in page["Stacks"]
        if stack["StackStatus"] in {"CREATE_COMPLETE", "UPDATE_COMPLETE"}
    }
    return whole >= set(stacks)


def _keep_to_table_settings(cloud: LocalCloud, assembly: Path) -> None:
    """Set the expiry and the recovery of tables that their templates declare; MiniStack ignores both."""
    session = cloud.session()
    dynamodb, formation = session.client("dynamodb"), session.client("cloudformation")
    for stack in stack_names(assembly):
        resources = json.loads((assembly / f"{stack}.template.json").read_text()).get("Resources", {})
        for name, resource in resources.items():
            if resource["Type"] != "AWS::DynamoDB::Table":
                continue
            settings = resource["Properties"]
            made = formation.describe_stack_resource(StackName=stack, LogicalResourceId=name)
            table = made["StackResourceDetail"]["PhysicalResourceId"]
            expiry = settings.get("TimeToLiveSpecification")
            found = dynamodb.describe_time_to_live(TableName=table)["TimeToLiveDescription"]
            if expiry and found["TimeToLiveStatus"] != "ENABLED":
                dynamodb.update_time_to_live(TableName=table, TimeToLiveSpecification=expiry)
            if recovery := settings.get("PointInTimeRecoverySpecification"):
                dynamodb.update_continuous_backups(TableName=table, PointInTimeRecoverySpecification=recovery)


def deployed_hash(cloud: LocalCloud) -> str | None:
    """Return the `content_hash` of what is deployed to a running cloud; None unless all of it is."""
    return _parameter(cloud, _MARK)


def content_hash(project: Path, context: Mapping[str, str]) -> str:
    """Return a hash of everything that the stacks are made of.

    That is: the sources of the stacks, the functions, the layers and the state machines, the context,
    the interpreter (wheels are built for it), and the versions of the CDK.
    """
    digest = hashlib.sha256()
    versions = {name: importlib.metadata.version(name) for name in _SHAPING_PACKAGES}
    digest.update(json.dumps([dict(context), versions, sys.version, str(project)], sort_keys=True).encode())
    for path in _shaping_files(project):
        digest.update(f"\0{path.relative_to(project).as_posix()}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _shaping_files(project: Path) -> Iterator[Path]:
    for name in _SHAPING:
        top = project / name
        if top.is_file():
            yield top
            continue
        for path in sorted(top.rglob("*")):
            parts = path.relative_to(project).parts
            ignored = any(part.startswith(".") or part == "__pycache__" for part in parts)
            if not ignored and path.suffix != ".pyc" and path.is_file():
                yield path


def _remove_stale_assets(assembly: Path) -> None:
    """Remove assets of earlier syntheses; each changed layer leaves tens of megabytes."""
    named = "".join(path.read_text() for path in assembly.rglob("*.assets.json"))
    for path in assembly.glob("asset.*"):
        if path.name not in named:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _bootstrap(cloud: LocalCloud, cdk: _Cdk, say: Say) -> None:
    if _parameter(cloud, _BOOTSTRAP_MARK) is not None:
        return
    say("Bootstrapping the embedded cloud …")
    # From an empty folder: beside a cdk.json the CDK would synthesize the app again, without layers.
    with tempfile.TemporaryDirectory() as empty:
        cdk.run("bootstrap", f"aws://{ACCOUNT}/{REGION}", what="the bootstrapping", folder=Path(empty))


def _parameter(cloud: LocalCloud, name: str) -> str | None:
    client = cloud.session().client("ssm")
    try:
        return str(client.get_parameter(Name=name)["Parameter"]["Value"])
    except client.exceptions.ParameterNotFound:
        return None


def _forget(cloud: LocalCloud, name: str) -> None:
    """Remove the parameter with the hash: a deployment that fails half way does not count."""
    client = cloud.session().client("ssm")
    try:
        client.delete_parameter(Name=name)
    except client.exceptions.ParameterNotFound:
        return


class _Cdk:
    """The CDK's command line, its output kept in the cloud's log folder."""

    def __init__(self, cloud: LocalCloud, project: Path) -> None:
        self._cloud = cloud
        self._project = project
        self._command = project / "node_modules" / ".bin" / "cdk"
        self._log = cloud.log_file.with_name("cdk.log")

    def run(self, verb: str, *arguments: str, what: str, folder: Path | None = None) -> None:
        """Run a command.

        Raises:
            LocalCloudError: if it is not installed or fails.
        """
        if not self._command.exists():
            raise LocalCloudError(f"{self._command} is missing: run `make install`")
        command = [str(self._command), *verb.split(), *arguments, "--no-notices", "--no-color", "--ci"]
        environment = self._cloud.environment() | {
            "CDK_HOME": str(self._cloud.home / "cdk"),
            "CDK_DISABLE_VERSION_CHECK": "1",
            "CDK_DISABLE_CLI_TELEMETRY": "true",
            # Half of a synthesis; the tests of infra/ validate the same templates.
            "CDK_VALIDATION": "false",
            # Warnings about the age of a Node release would bury what matters in the log.
            "NODE_NO_WARNINGS": "1",
            "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "1",
            "JSII_SILENCE_WARNING_DEPRECATED_NODE_VERSION": "1",
        }
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("w") as output:
            output.write(f"$ {shlex.join(command)}\n")
            output.flush()
            done = subprocess.run(
                command,
                cwd=folder or self._project,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            )
        if done.returncode:
            raise LocalCloudError(
                f"{what} failed; the end of {self._log}:\n{tail(self._log)}\n"
                f"Mend what it names and try again; {self._cloud.log_file} has the cloud's side of it."
            )
