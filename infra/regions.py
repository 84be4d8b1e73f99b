"""Checks before a deployment that a region has the services that the stacks use."""

from __future__ import annotations

from typing import Final

from infra.deployment import Deployment
from sourcebook.sentiment.engines.loading import COMPREHEND

_SERVICES: Final = {
    "apigatewayv2": "API Gateway's HTTP APIs",
    "cloudwatch": "CloudWatch",
    "dynamodb": "DynamoDB",
    "events": "EventBridge",
    "lambda": "Lambda",
    "logs": "CloudWatch Logs",
    "s3": "S3",
    "secretsmanager": "Secrets Manager",
    "sns": "SNS",
    "sqs": "SQS",
    "stepfunctions": "Step Functions",
}
"""Services by the names that botocore has for them."""


def check_region(region: str, deployment: Deployment) -> None:
    """Raise ValueError for a region that lacks a service that the stacks use.

    What a region has is botocore's list of endpoints. A region that it does not know at all passes: it may be
    newer than the list.

    Args:
        region: where the stacks go.
        deployment: what was chosen.

    Raises:
        ValueError: naming what the region does not have.
    """
    import botocore.session  # noqa: PLC0415 - the embedded cloud's deployment does not need it

    session = botocore.session.get_session()

    def regions(service: str) -> set[str]:
        partitions = session.get_available_partitions()
        return {name for one in partitions for name in session.get_available_regions(service, one)}

    if region not in regions("s3"):
        return
    wanted = dict(_SERVICES)
    if deployment.sentiment_engine == COMPREHEND:
        wanted["comprehend"] = 'Comprehend (choose another "sentiment_engine")'
    if deployment.traces:
        wanted["xray"] = 'X-Ray (choose "traces": false)'
    if missing := [name for service, name in wanted.items() if region not in regions(service)]:
        raise ValueError(f"the region {region} does not have {', '.join(missing)}")
