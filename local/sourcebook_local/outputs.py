"""The outputs of a deployed stack, and the file in which other programs find them."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from .project import LocalCloudError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from .cloud import LocalCloud

_STATE_MACHINE = ":stateMachine:"


@dataclass(frozen=True)
class Outputs:
    """The outputs of the stacks.

    Attributes:
        api_url: the local address of the HTTP API, without a slash at its end.
        state_machines: ARN by name, e.g. ``refresh_sources``: whatever output ends in ``Arn`` and is the
            ARN of a state machine.
    """

    api_id: str
    api_url: str
    table_name: str
    bucket_name: str
    fetch_queue_url: str
    fetch_dead_letter_queue_url: str
    analyze_queue_url: str
    analyze_dead_letter_queue_url: str
    article_topic_arn: str
    dispatch_function_name: str
    fetch_function_name: str
    analyze_function_name: str
    api_function_name: str
    state_machines: Mapping[str, str]

    @classmethod
    def from_stacks(cls, values: Mapping[str, str], api_url: str) -> Outputs:
        """Read the outputs of all stacks, by key (``TableName``).

        Args:
            values: the outputs as the stacks have them.
            api_url: where this machine finds the API; the stack's own ``ApiUrl`` is AWS's address.

        Raises:
            LocalCloudError: if one is missing.
        """
        computed = {"api_url", "state_machines"}
        keys = {name: _output_key(name) for name in cls.__dataclass_fields__ if name not in computed}
        if missing := sorted(set(keys.values()) - values.keys()):
            raise LocalCloudError(
                f"the deployed stacks have no output {', '.join(missing)}: infra/ should declare it"
            )
        machines = {
            _snake(key.removesuffix("Arn")): value
            for key, value in values.items()
            if key.endswith("Arn") and _STATE_MACHINE in value
        }
        return cls(
            api_url=api_url,
            state_machines=machines,
            **{name: values[key] for name, key in keys.items()},
        )


def stack_outputs(cloud: LocalCloud, stacks: list[str]) -> dict[str, str]:
    """Return the outputs of the named stacks together, by key.

    Raises:
        LocalCloudError: if a stack is not deployed.
    """
    client = cloud.session().client("cloudformation")
    values: dict[str, str] = {}
    for name in stacks:
        try:
            described = client.describe_stacks(StackName=name)["Stacks"]
        except client.exceptions.ClientError as error:
            raise LocalCloudError(f"stack {name} is not deployed: run `make up`") from error
        for output in described[0].get("Outputs", []):
            values[output["OutputKey"]] = output["OutputValue"]
    return values


def write_local_json(path: Path, cloud: LocalCloud, outputs: Outputs) -> None:
    """Write the file in which other programs find the local stack."""
    shown = asdict(outputs)
    content = {
        "api_url": outputs.api_url,
        "aws_endpoint_url": cloud.endpoint_url,
        "region": cloud.region,
        "table_name": outputs.table_name,
        "bucket_name": outputs.bucket_name,
        "state_machines": shown["state_machines"],
        "log": str(cloud.log_file),
    }
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_text(json.dumps(content, indent=2) + "\n")
    fresh.replace(path)


def _output_key(field: str) -> str:
    return "".join(word.capitalize() for word in field.split("_"))


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
