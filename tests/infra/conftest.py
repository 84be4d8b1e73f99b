"""Both assemblies, each synthesized once for all workers of a session."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from infra.application import build_app
from infra.deployment import DeploymentTarget
from sourcebook_local.process import lock
from tests.templates import cdk_context

Resource = dict[str, Any]

CHOICES = {
    "cors_origins": "https://app.example, http://localhost:5173",
    "feeds": {"max_refresh_interval_minutes": 30, "target_articles_per_fetch": 3, "parser": "reference"},
    "fetch_concurrency": "7",
    "grouping_lines": "8",
    "index_shards": "8",
    "index_shards_before": "16",
    "public_read": "true",
    "sentiment_engine": "comprehend",
    "traces": "true",
}
"""Choices of an operator, none of them the default, together: a synthesis takes seconds."""


@dataclass(frozen=True)
class Assembly:
    """What one synth wrote.

    Attributes:
        folder: where it lies.
        data: template of the data stack.
        pipeline: template of the pipeline stack.
    """

    folder: Path
    data: dict[str, Any]
    pipeline: dict[str, Any]

    def resources(self, kind: str) -> dict[str, Resource]:
        """Return the resources of a type in both stacks by logical id."""
        return {
            logical_id: resource
            for template in (self.data, self.pipeline)
            for logical_id, resource in template["Resources"].items()
            if resource["Type"] == kind
        }

    def properties(self, kind: str) -> list[dict[str, Any]]:
        """Return the properties of each resource of a type."""
        return [resource["Properties"] for resource in self.resources(kind).values()]

    def allowed(self) -> dict[str, list[dict[str, Any]]]:
        """Return the statements of each role by its logical id."""
        assert not self.resources("AWS::IAM::Policy"), "what a role may do stands in the role itself"
        return {
            logical_id: [
                statement
                for policy in role["Properties"].get("Policies", ())
                for statement in policy["PolicyDocument"]["Statement"]
            ]
            for logical_id, role in self.resources("AWS::IAM::Role").items()
        }

    def allowed_to(self, name: str) -> list[dict[str, Any]]:
        """Return the statements of the role of the function of a folder in lambdas/."""
        return self.allowed()[self.function(name)["Role"]["Fn::GetAtt"][0]]

    def function(self, name: str) -> dict[str, Any]:
        """Return the properties of the function of a folder in lambdas/."""
        return self.function_resource(name)[1]["Properties"]  # type: ignore[no-any-return]

    def function_resource(self, name: str) -> tuple[str, Resource]:
        """Return the logical id and the resource of the function of a folder in lambdas/."""
        wanted = f"SourcebookPipeline-{name}"
        (found,) = (
            (logical_id, resource)
            for logical_id, resource in self.resources("AWS::Lambda::Function").items()
            if resource["Properties"]["FunctionName"] == wanted
        )
        return found

    def asset(self, code: dict[str, str]) -> Path:
        """Return the folder of the asset that a function's or layer's code refers to."""
        key = code["S3Key"].removesuffix(".zip")
        return self.folder / f"asset.{key}"


def synthesize(folder: Path, target: DeploymentTarget, **context: object) -> Assembly:
    """Synthesize both stacks without the CDK's own validation; cfn-lint has its own test."""
    build_app(outdir=folder, context=cdk_context(target=target.value, **context), validate=False).synth()
    return read(folder)


def read(folder: Path) -> Assembly:
    """Return an assembly that is there."""
    data, pipeline = (
        json.loads((folder / f"{name}.template.json").read_text("utf-8"))
        for name in ("SourcebookData", "SourcebookPipeline")
    )
    return Assembly(folder, data, pipeline)


def synthesized_once(temporary: Path, target: DeploymentTarget, **context: object) -> Assembly:
    """Synthesize, unless another worker of the session has; return the assembly.

    Args:
        temporary: the worker's folder; those of all workers of a session are in one.
        target: of the deployment.
        context: choices of an operator.
    """
    session = temporary.parent if "PYTEST_XDIST_WORKER" in os.environ else temporary
    name = f"assembly-{target.value}{'-chosen' if context else ''}"
    folder = session / name
    done = folder / "synthesized"
    with lock(session / f"{name}.lock"):
        if done.exists():
            return read(folder)
        assembly = synthesize(folder, target, **context)
        done.touch()
        return assembly


@pytest.fixture(scope="session")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    """What `cdk deploy` puts on AWS."""
    return synthesized_once(tmp_path_factory.getbasetemp(), DeploymentTarget.LAMBDA)


@pytest.fixture(scope="session")
def chosen(tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    """What `cdk deploy` puts on AWS by `CHOICES`."""
    return synthesized_once(tmp_path_factory.getbasetemp(), DeploymentTarget.LAMBDA, **CHOICES)


@pytest.fixture(scope="session")
def local(tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    """What `make up` puts on the embedded cloud."""
    return synthesized_once(tmp_path_factory.getbasetemp(), DeploymentTarget.LOCAL)
