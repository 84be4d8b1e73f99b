"""The CDK app: a stack with the data and a stack with everything else."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import aws_cdk as cdk

from infra.data_stack import DataStack
from infra.deployment import Deployment, take_choices
from infra.pipeline_stack import PipelineStack
from infra.regions import check_region


def build_app(
    *,
    outdir: Path | None = None,
    context: Mapping[str, object] | None = None,
    choices: Path | None = None,
    validate: bool = True,
) -> cdk.App:
    """Return the app with both stacks, ready for ``synth()``.

    Nothing is looked up in an account, so the same assembly deploys to any account and region.

    Args:
        outdir: where the assembly goes; the CDK command line's choice, or ``cdk.out``, when None.
        context: context values, as with ``cdk -c``; the command line brings those of cdk.json itself.
        choices: the file that holds what was chosen for AWS; None, and only the context counts.
        validate: whether the CDK checks the templates against CloudFormation's schemas; half of a
            synth's CPU. The environment variable ``CDK_VALIDATION=false`` also switches it off.

    Raises:
        ValueError: if a context value is not valid, the region lacks a service, a handler is missing, or a
            layer cannot be built.
    """
    app = cdk.App(
        outdir=None if outdir is None else str(outdir),
        context=None if context is None else dict(context),
        analytics_reporting=False,
        builtin_cloud_formation_validation=validate,
    )
    if choices is not None:
        take_choices(app.node, choices)
    deployment = Deployment.from_context(app.node)
    if choices is not None and not deployment.is_local:
        sys.stderr.write(f"Choices of {choices.name} and defaults: {deployment}\n")
        # The CDK command line sets it from the profile; without one the stacks go to any region.
        if region := os.environ.get("CDK_DEFAULT_REGION"):
            check_region(region, deployment)
    data = DataStack(app, "SourcebookData", deployment=deployment)
    PipelineStack(app, "SourcebookPipeline", deployment=deployment, data=data)
    cdk.Tags.of(app).add("project", "sourcebook")
    return app
