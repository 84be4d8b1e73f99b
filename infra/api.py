"""The read side: an HTTP API with one route for each operation."""

from __future__ import annotations

import json
from typing import Final, cast

import aws_cdk as cdk
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_apigatewayv2_authorizers as authorizers
from aws_cdk import aws_apigatewayv2_integrations as integrations
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.data_stack import DataStack
from infra.deployment import Deployment
from infra.functions import LOG_RETENTION, PythonFunction
from infra.layers import Layers
from infra.nag import accept
from sourcebook.table.keys import (
    ELIGIBILITY_INDEX,
    SENTIMENT_INDEX,
    SOURCE_PARTITIONS,
    STATUS_INDEX,
    TAG_INDEX,
)

HEALTH: Final = "/health"
READ_ROUTES: Final = (
    "/articles",
    "/articles/{key+}",
    "/feeds",
    "/feeds.opml",
    "/feeds/{feed_id}",
    "/feeds/{feed_id}/history",
    "/events",
    "/events/{event_id}",
    "/latest",
    "/history",
    "/banks",
    "/series",
    "/meta/latest",
    "/api/v1/tools",
    "/api/v1/tools/{tool_id}/sentiment",
    "/api/v1/tools/{tool_id}/sentiment/series",
    "/api/v1/cache/health",
    "/job-runs",
    "/job-runs/{job_run_id}",
    "/novae",
    "/novae/{nova_id}",
    "/novae/{nova_id}/job-runs",
    "/quarantine",
    "/quarantine/{quarantine_id}",
)
WRITE_ROUTES: Final = (
    (apigateway.HttpMethod.POST, "/novae"),
    (apigateway.HttpMethod.POST, "/quarantine/{quarantine_id}/review"),
    (apigateway.HttpMethod.POST, "/feeds"),
    (apigateway.HttpMethod.POST, "/feeds/import"),
    (apigateway.HttpMethod.PATCH, "/feeds/{feed_id}"),
    (apigateway.HttpMethod.DELETE, "/feeds/{feed_id}"),
)
"""Always signed: whoever changes something is known."""

_ACCESS_LOG = {
    "requestId": "$context.requestId",
    "requestTime": "$context.requestTime",
    "sourceIp": "$context.identity.sourceIp",
    "routeKey": "$context.routeKey",
    "path": "$context.path",
    "status": "$context.status",
    "responseLength": "$context.responseLength",
    "responseLatency": "$context.responseLatency",
    "integrationError": "$context.integrationErrorMessage",
}


class Api(Construct):
    """The HTTP API and its function.

    Callers sign their requests with AWS credentials (``execute-api:Invoke``) unless the deployment
    says that anybody may read; ``GET /health`` is always open, and what changes something never is.

    Attributes:
        function: answers every route.
        api: the HTTP API.
        stage: its only stage, at the root of the address.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, deployment: Deployment, data: DataStack, layers: Layers
    ) -> None:
        super().__init__(scope, construct_id)
        self.function = PythonFunction(
            self,
            "Api",
            name="api",
            description="Answers the HTTP API",
            layers=[layers.core, layers.dependencies],
            environment={
                "TABLE_NAME": data.table.table_name,
                "BUCKET_NAME": data.bucket.bucket_name,
                # A feed is added by the address of its site, which is then asked for it.
                "HTTP_ALLOWED_NETWORKS": deployment.allowed_networks,
                "HTTP_CONTACT": deployment.contact,
            },
            # An HTTP API gives up after 30 seconds; the function should be the one to say so.
            timeout=cdk.Duration.seconds(29),
            memory_size=1024,
        )
        indexes = (ELIGIBILITY_INDEX, SENTIMENT_INDEX, STATUS_INDEX, TAG_INDEX)
        self.function.allow(["dynamodb:BatchGetItem", "dynamodb:GetItem"], data.table.table_arn)
        self.function.allow(
            ["dynamodb:Query"],
            data.table.table_arn,
            *(f"{data.table.table_arn}/index/{name}" for name in indexes),
        )
        self._allow_managing_feeds(data)
        self.api = apigateway.HttpApi(
            self,
            "HttpApi",
            api_name=f"{cdk.Stack.of(self).stack_name}",
            description="Sourcebook: articles and feeds",
            create_default_stage=False,
        )
        self._add_routes(public_read=deployment.public_read)
        self.stage = self._build_stage()

    def _allow_managing_feeds(self, data: DataStack) -> None:
        """Let the function add, change and delete sources with all that polling has kept of them."""
        self.function.role.add_to_principal_policy(
            iam.PolicyStatement(
                actions=[
                    "dynamodb:BatchWriteItem",
                    "dynamodb:DeleteItem",
                    "dynamodb:PutItem",
                    "dynamodb:UpdateItem",
                ],
                resources=[data.table.table_arn],
                conditions={"ForAllValues:StringLike": {"dynamodb:LeadingKeys": [SOURCE_PARTITIONS]}},
            )
        )

    def _add_routes(self, *, public_read: bool) -> None:
        integration = integrations.HttpLambdaIntegration("Function", self.function.function)
        signed = None if public_read else authorizers.HttpIamAuthorizer()
        for path in (HEALTH, *READ_ROUTES):
            is_open = public_read or path == HEALTH
            for route in self.api.add_routes(
                path=path,
                methods=[apigateway.HttpMethod.GET],
                integration=integration,
                authorizer=None if is_open else signed,
            ):
                if is_open:
                    accept(
                        route,
                        "AwsSolutions-APIG4",
                        "A probe or a person asks whether the service lives; the answer holds no data."
                        if path == HEALTH
                        else "The operator chose public_read: these routes only read what was public before.",
                    )

        for method, path in WRITE_ROUTES:
            self.api.add_routes(
                path=path,
                methods=[method],
                integration=integration,
                authorizer=authorizers.HttpIamAuthorizer(),
            )

    def _build_stage(self) -> apigateway.HttpStage:
        access_log = logs.LogGroup(
            self,
            "AccessLog",
            # API Gateway adds every group to one resource policy of limited size, except under this prefix.
            log_group_name=f"/aws/vendedlogs/{cdk.Stack.of(self).stack_name}/api-access",
            retention=LOG_RETENTION,
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        stage = apigateway.HttpStage(
            self,
            "Stage",
            http_api=self.api,
            stage_name="$default",
            auto_deploy=True,
            throttle=apigateway.ThrottleSettings(rate_limit=50, burst_limit=100),
        )
        cast(
            "apigateway.CfnStage", stage.node.default_child
        ).access_log_settings = apigateway.CfnStage.AccessLogSettingsProperty(
            # The group's own ARN attribute ends in ":*", which names its streams.
            destination_arn=cdk.Stack.of(self).format_arn(
                service="logs",
                resource="log-group",
                resource_name=access_log.log_group_name,
                arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
            ),
            format=json.dumps(_ACCESS_LOG),
        )
        return stage
