"""What npm has for Amazon States Language and JSONata, called from tests."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.definitions import definition

_SCRIPT = Path(__file__).with_name("asl.cjs")
_PUT_IN = {"${partition}": "aws", "${acquire_concurrency}": "3"}


def deployed(name: str) -> dict[str, Any]:
    """Return a definition with what CloudFormation puts in."""
    text = json.dumps(definition(name))
    for hole, value in _PUT_IN.items():
        text = text.replace(hole, value)
    found: dict[str, Any] = json.loads(text)
    return found


@dataclass(frozen=True)
class Node:
    """A process of Node.js that answers."""

    process: subprocess.Popen[str]

    def _ask(self, document: dict[str, Any]) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{json.dumps(document)}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def mistakes(self, definitions: dict[str, Any]) -> dict[str, list[str]]:
        """Return what is wrong with each definition."""
        found: dict[str, list[str]] = self._ask({"definitions": definitions})
        return found

    def try_to_evaluate(self, *expressions: str, states: object) -> list[dict[str, Any]]:
        """Return what each expression comes to: its value or its error."""
        asked = [{"expression": one, "states": states} for one in expressions]
        found: list[dict[str, Any]] = self._ask({"evaluations": asked})
        return found

    def evaluate(self, *expressions: str, states: object, **variables: Any) -> list[Any]:
        """Return the value of each expression; raise AssertionError if one cannot be evaluated."""
        asked = [{"expression": one, "states": states, "variables": variables} for one in expressions]
        answers = self._ask({"evaluations": asked})
        assert not any("error" in answer for answer in answers), answers
        return [answer.get("value") for answer in answers]


@contextmanager
def node_running() -> Iterator[Node]:
    """Start the process, and stop it at the end."""
    command = ["node", str(_SCRIPT)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Node(process)
        finally:
            process.terminate()
