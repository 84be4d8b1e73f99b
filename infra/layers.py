"""The Lambda layers that functions share."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.deployment import ROOT, Deployment
from infra.layer_builds import Compiler, build, packaged

RUNTIME: Final = lambda_.Runtime.PYTHON_3_13
ARCHITECTURE: Final = lambda_.Architecture.ARM_64


class Layers(Construct):
    """The Lambda layers that functions share.

    Attributes:
        core: the package `sourcebook`. It changes with every commit and is small.
        dependencies: what that package imports. It changes with the lock file and is large.
        sentiment: what only the analysis imports.
        science: what only the functions that read spectra import: astropy, numpy and Pillow.
        parquet: what only the functions that write Parquet import: pyarrow.
        workflows: the declarations of the workflows, for the API, which checks their inputs by them.
    """

    def __init__(self, scope: Construct, construct_id: str, *, deployment: Deployment) -> None:
        super().__init__(scope, construct_id)
        self._target = deployment.target
        self._compiler = Compiler.for_lambda(deployment.bytecode) if deployment.bytecode else None
        core = packaged(ROOT / "layers" / "core" / "python", "sourcebook", self._compiler)
        self.core = self._layer("Core", core, "The package sourcebook")
        self.dependencies = self._installed("Dependencies", "core")
        self.sentiment = self._installed(
            "Sentiment", "sentiment", files=ROOT / "layers" / "sentiment" / "python"
        )
        self.science = self._installed("Science", "science")
        self.parquet = self._installed("Parquet", "parquet")
        workflows = packaged(ROOT / "statemachines", "statemachines", self._compiler, inside="statemachines")
        self.workflows = self._layer("Workflows", workflows, "The package statemachines")

    def _installed(self, construct_id: str, name: str, *, files: Path | None = None) -> lambda_.LayerVersion:
        """Return the layer of a lock file; `files` go beside the installed packages."""
        lock = ROOT / "layers" / name / "requirements.txt"
        place = build(lock, self._target, files=files, compiler=self._compiler)
        return self._layer(construct_id, place, f"layers/{name}/requirements.txt")

    def _layer(self, construct_id: str, content: Path, description: str) -> lambda_.LayerVersion:
        return lambda_.LayerVersion(
            self,
            construct_id,
            code=lambda_.Code.from_asset(str(content)),
            description=description,
            compatible_runtimes=[RUNTIME],
            compatible_architectures=[ARCHITECTURE],
        )
