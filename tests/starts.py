"""How each function starts: in a fresh interpreter, with its code, its layers and its environment."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tests.infra.conftest import Assembly

_ANYWHERE: Final = {
    "AWS_REGION": "us-east-1",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "nobody",
    "AWS_SECRET_ACCESS_KEY": "nothing",
    # No start may look for anything elsewhere.
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
}


@dataclass(frozen=True, slots=True)
class Start:
    """What one function starts with.

    Attributes:
        name: the folder in lambdas/.
        code: the function's own folder.
        layers: the folders that its layers add to the path, the uppermost first.
        environment: as in the template; what CloudFormation would fill in is made up.
    """

    name: str
    code: Path
    layers: tuple[Path, ...]
    environment: Mapping[str, str]

    def run(
        self,
        program: str,
        *options: str,
        interpreter: str | Path = sys.executable,
        environment: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run a program in a fresh interpreter that finds this function's code and layers first.

        Args:
            program: Python source; ``import handler`` in it starts the function.
            options: of the interpreter.
            interpreter: which one.
            environment: variables besides the function's.

        Raises:
            RuntimeError: with what it wrote, if it failed.
        """
        finished = subprocess.run(
            [str(interpreter), *options, "-c", program],
            env={
                **_ANYWHERE,
                **self.environment,
                **(environment or {}),
                "PATH": os.environ.get("PATH", ""),
                "PYTHONPATH": os.pathsep.join(map(str, (self.code, *self.layers))),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        if finished.returncode:
            raise RuntimeError(f"{self.name} did not start:\n{finished.stderr}")
        return finished


def starts(assembly: Assembly) -> dict[str, Start]:
    """Return how each function of a synthesized assembly starts, by the folder in lambdas/."""
    found = {}
    for properties in assembly.properties("AWS::Lambda::Function"):
        variables = properties["Environment"]["Variables"]
        name = variables["POWERTOOLS_SERVICE_NAME"]
        layers = [assembly.pipeline["Resources"][layer["Ref"]] for layer in properties.get("Layers", ())]
        found[name] = Start(
            name,
            assembly.asset(properties["Code"]),
            tuple(assembly.asset(layer["Properties"]["Content"]) / "python" for layer in layers),
            {
                key: value if isinstance(value, str) else f"https://made-up.example/{key}"
                for key, value in variables.items()
            },
        )
    return found
