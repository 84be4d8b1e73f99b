"""Both assemblies, each synthesized once per session."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from infra.application import build_app
from infra.deployment import DeploymentTarget
from tests.templates import cdk_context

Resource = dict[str, Any]


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

    def read(name: str) -> dict[str, Any]:
        template: dict[str, Any] = json.loads((folder / f"{name}.template.json").read_text("utf-8"))
        return template

    return Assembly(folder, read("SourcebookData"), read("SourcebookPipeline"))


@pytest.fixture(scope="session")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    """What `cdk deploy` puts on AWS."""
    return synthesize(tmp_path_factory.mktemp("aws"), DeploymentTarget.LAMBDA)


@pytest.fixture(scope="session")
def local(tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    """What `make up` puts on the embedded cloud."""
    return synthesize(tmp_path_factory.mktemp("local"), DeploymentTarget.LOCAL)
