"""AWS's evaluation of policies, as far as ours use it, over a template instead of an account.

A resource is named ``<LogicalId>``, with what follows its ARN: ``<Table>/index/by_tag``. So a policy of a
template and a call on a deployed stack are about the same thing.

Source: IAM User Guide, "Policy evaluation logic" and "IAM JSON policy elements: Condition operators".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

PSEUDO = {"AWS::Partition": "aws", "AWS::Region": "us-east-1", "AWS::AccountId": "000000000000"}


@dataclass(frozen=True)
class Made:
    """One kind of call that a function made.

    Attributes:
        function: folder in lambdas/.
        action: such as ``dynamodb:GetItem``.
        resource: by the names of the template.
        keys: values of condition keys.
    """

    function: str
    action: str
    resource: str
    keys: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Statement:
    """One statement, with its resources by the names of the template."""

    effect: str
    actions: tuple[str, ...]
    resources: tuple[str, ...]
    conditions: Mapping[str, Mapping[str, Any]]

    def matches(self, call: Made) -> bool:
        """Say whether it is about a call."""
        return (
            any(like(call.action.lower(), action.lower()) for action in self.actions)
            and any(like(call.resource, resource) for resource in self.resources)
            and all(
                holds(operator, call.keys.get(key), listed(values))
                for operator, wanted in self.conditions.items()
                for key, values in wanted.items()
            )
        )


def is_allowed(call: Made, statements: Sequence[Statement]) -> bool:
    """Say whether AWS would allow a call: a statement allows it and none denies it."""
    matching = [statement.effect for statement in statements if statement.matches(call)]
    return "Allow" in matching and "Deny" not in matching


def like(value: str, pattern: str) -> bool:
    """Compare as policies do: ``*`` is any text, ``?`` one character."""
    parts = (".*" if one == "*" else "." if one == "?" else re.escape(one) for one in pattern)
    return re.fullmatch("".join(parts), value, re.DOTALL) is not None


def holds(operator: str, values: Sequence[str] | None, wanted: Sequence[str]) -> bool:
    """Evaluate a condition on the values that a request has for a key; None if it has none.

    Raises:
        NotImplementedError: for an operator that no policy of ours had when this was written.
    """
    quantifier, _, plain = operator.rpartition(":")
    if plain == "StringLike":
        tests = [any(like(value, pattern) for pattern in wanted) for value in values or ()]
    elif plain == "StringEquals":
        tests = [value in wanted for value in values or ()]
    else:
        raise NotImplementedError(operator)
    if quantifier == "ForAllValues":
        return all(tests)  # of no values, too
    return any(tests)


class Templates:
    """The templates of both stacks, and what their roles may do."""

    def __init__(self, data: Mapping[str, Any], pipeline: Mapping[str, Any]) -> None:
        self._pipeline = pipeline
        self._exports = {
            output["Export"]["Name"]: output["Value"]
            for output in data.get("Outputs", {}).values()
            if "Export" in output
        }

    def functions(self) -> dict[str, str]:
        """Return the folder of each function by the logical id of its role."""
        return {
            resource["Properties"]["Role"]["Fn::GetAtt"][0]: resource["Properties"]["FunctionName"].partition(
                "-"
            )[2]
            for resource in self._pipeline["Resources"].values()
            if resource["Type"] == "AWS::Lambda::Function"
        }

    def statements(self) -> dict[str, list[Statement]]:
        """Return what each function's role says, by the function's folder."""
        return {
            name: [
                Statement(
                    statement["Effect"],
                    tuple(listed(statement["Action"])),
                    tuple(self.named(resource) for resource in listed(statement["Resource"])),
                    statement.get("Condition", {}),
                )
                for policy in self._pipeline["Resources"][role]["Properties"]["Policies"]
                for statement in policy["PolicyDocument"]["Statement"]
            ]
            for role, name in self.functions().items()
        }

    def named(self, value: Any) -> str:
        """Return an ARN of the template with the names of its resources.

        Raises:
            NotImplementedError: for a function of CloudFormation that no policy of ours had.
        """
        match value:
            case str():
                return value
            case {"Ref": name} if name in PSEUDO:
                return PSEUDO[name]
            case {"Ref": name}:
                return f"<{name}>"
            case {"Fn::GetAtt": [name, "Arn" | "TopicArn" | "Id"]}:
                return f"<{name}>"
            case {"Fn::GetAtt": [name, attribute]}:
                return f"<{name}>/{attribute}"
            case {"Fn::ImportValue": export}:
                return self.named(self._exports[export])
            case {"Fn::Join": [between, parts]}:
                return str(between).join(self.named(part) for part in parts)
            case _:
                raise NotImplementedError(value)


def listed(value: Any) -> list[Any]:
    """Return a value that may stand alone as a list."""
    return value if isinstance(value, list) else [value]
