"""The stacks' templates, for every test that needs to know what is deployed."""

from __future__ import annotations

import hashlib
import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent

_CACHE = ROOT / ".sourcebook" / "build" / "templates"
_SHAPE_THE_DATA_STACK = (
    "infra/__init__.py",
    "infra/api_keys.py",
    "infra/data_stack.py",
    "infra/deployment.py",
    "infra/nag.py",
    "layers/core/python/sourcebook/table/keys.py",
    "cdk.json",
    "requirements/dev.txt",
    "tests/templates.py",
)


def table_definition(name: str = "sourcebook") -> dict[str, Any]:
    """Return the arguments of ``create_table`` that make the stacks' table.

    They come from the synthesized template, so that a test cannot run on a table that is never
    deployed. Whatever only protects or recovers data is left out.

    Args:
        name: the table's name; CloudFormation makes one up.
    """
    properties = table_resource()["Properties"]
    copied = ("AttributeDefinitions", "BillingMode", "GlobalSecondaryIndexes", "KeySchema")
    return {
        "TableName": name,
        **{key: json.loads(json.dumps(properties[key])) for key in copied},
        "StreamSpecification": {"StreamEnabled": True, **properties["StreamSpecification"]},
    }


def table_resource() -> dict[str, Any]:
    """Return the table as the template of the data stack has it."""
    (found,) = (
        resource
        for resource in data_template()["Resources"].values()
        if resource["Type"] == "AWS::DynamoDB::Table"
    )
    table: dict[str, Any] = found
    return table


@cache
def data_template() -> dict[str, Any]:
    """Return the template of the data stack, synthesized anew only after what shapes it has changed."""
    digest = hashlib.sha256()
    for name in _SHAPE_THE_DATA_STACK:
        digest.update((ROOT / name).read_bytes())
    place = _CACHE / f"SourcebookData-{digest.hexdigest()[:16]}.json"
    if not place.exists():
        text = json.dumps(_synthesize_data_stack())
        _CACHE.mkdir(parents=True, exist_ok=True)
        for outdated in _CACHE.glob("SourcebookData-*.json"):
            outdated.unlink(missing_ok=True)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=_CACHE, delete=False) as unfinished:
            unfinished.write(text)
        Path(unfinished.name).replace(place)
    template: dict[str, Any] = json.loads(place.read_text("utf-8"))
    return template


def cdk_context(**values: object) -> dict[str, object]:
    """Return the context of cdk.json, which the CDK command line would pass, with `values` added."""
    context: dict[str, object] = json.loads((ROOT / "cdk.json").read_text("utf-8"))["context"]
    return context | values


def _synthesize_data_stack() -> dict[str, Any]:
    # Here, because loading the CDK takes a second that most runs can do without.
    from infra.data_stack import DataStack
    from infra.deployment import Deployment

    import aws_cdk as cdk  # isort: skip - infra sets up the environment that this reads

    with tempfile.TemporaryDirectory() as outdir:
        app = cdk.App(
            outdir=outdir,
            context=cdk_context(),
            analytics_reporting=False,
            builtin_cloud_formation_validation=False,
        )
        DataStack(app, "SourcebookData", deployment=Deployment.from_context(app.node))
        template: dict[str, Any] = app.synth().get_stack_by_name("SourcebookData").template
    return template
