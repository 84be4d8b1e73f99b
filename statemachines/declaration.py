"""What a workflow is, declared once."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from sourcebook.inputs import Input
from statemachines import bookkeeping
from statemachines import states as asl
from statemachines.bookkeeping import Lock
from statemachines.checks import check

__all__ = ["Lock", "Workflow"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow:
    """A workflow: whatever it needs besides the books that all of them keep.

    Attributes:
        name: of the module that declares it, of the state machine, and of its job runs.
        comment: what it does, for the console, the command line and the documentation.
        input: what it takes. From it come the check at the start of an execution, the API's own check and its
            JSON Schema, the command's help, and the page of documentation.
        subject: what its runs are shown as being about, an expression over `$states.input`.
        outcomes: what a run may come to, besides FAILED, REFUSED and how it was ended from outside.
        steps: its own states; the first one begins, and the last one leads to the end of the run.
        lock: what keeps it from running twice at once, if it must not.
        variables: what else is assigned before the first step.
        limit: seconds that an execution may take.
    """

    name: str
    comment: str
    input: type[Input]
    subject: str
    outcomes: tuple[str, ...]
    steps: asl.States
    lock: Lock | None = None
    variables: asl.Fields = field(default_factory=dict)
    limit: int = 1_500

    def states(self) -> asl.States:
        """Return all states, those of the books around the workflow's own."""
        given, nova = "$states.input.correlation_id", "$states.input.nova_id"
        correlation_id = f"$exists({given}) ? {given} : $states.context.Execution.Name"
        record = ""
        if "nova_id" in self.input.names():
            own = bookkeeping.own_partition(self.name, correlation_id)
            record = nova if "nova_id" in self.input.needed() else f"$exists({nova}) ? {nova} : {own}"
        named = bookkeeping.run_variables(self.name, self.subject, correlation_id, record)
        after = bookkeeping.states_after(self.name, locked=self.lock is not None)
        states = {
            **bookkeeping.states_before(
                self.name, check(self.input), {**named, **self.variables}, self.lock, self.limit
            ),
            **self.steps,
            **after,
            **bookkeeping.states_of_failure(self.name, self.example().replace("'", "’")),
        }
        return asl.linked(states, next(iter(after)))

    def definition(self) -> Mapping[str, asl.Json]:
        """Return the definition in Amazon States Language; ``${…}`` is what CloudFormation puts in."""
        outcomes = ", ".join((*self.outcomes, "FAILED", "REFUSED"))
        return {
            "Comment": f"{self.comment} Input {self.example()}. Outcomes: {outcomes}.",
            "QueryLanguage": "JSONata",
            "StartAt": bookkeeping.CHECK,
            "TimeoutSeconds": self.limit,
            "States": self.states(),
        }

    def text(self) -> str:
        """Return the definition as JSON."""
        return json.dumps(self.definition(), ensure_ascii=False, indent=2)

    def example(self) -> str:
        """Return an input that is right, as JSON."""
        return json.dumps(self.input.example(), ensure_ascii=False)

    def functions(self) -> frozenset[str]:
        """Return the functions of lambdas/ that it calls."""
        return frozenset(re.findall(r'"FunctionName": "\$\{(\w+)_arn\}"', self.text()))

    def starts(self) -> frozenset[str]:
        """Return the workflows that it starts."""
        return frozenset(re.findall(r"\$\{(\w+)_arn\}", self.text())) - self.functions()
