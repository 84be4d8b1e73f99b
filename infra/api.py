"""The HTTP API: its function and its routes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Final, cast

import aws_cdk as cdk
from aws_cdk import aws_apigatewayv2 as apigateway
from aws_cdk import aws_apigatewayv2_authorizers as authorizers
from aws_cdk import aws_apigatewayv2_integrations as integrations
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.data_stack import DataStack
from infra.deployment import Deployment
from infra.functions import LOG_RETENTION, TableFunction
from infra.gateway_routes import Route, api_routes
from infra.layers import Layers
from infra.nag import accept
from infra.workflows import Workflow, state_machine_arn
from sourcebook.api.ingestion import DEAD_LETTER_QUEUES
from sourcebook.table import keys

_LOCAL_ADDRESSES: Final = "{scheme}://{host}/_aws/execute-api/{api}"
_CORS_LASTS: Final = cdk.Duration.hours(1)

_ACCESS_LOG = {
    "requestId": "$context.requestId",
    "requestTime": "$context.requestTime",
    "sourceIp": "$context.identity.sourceIp",
    # Who signed the request; whoever came with a token, the function's own log knows.
    "userArn": "$context.identity.userArn",
    "routeKey": "$context.routeKey",
    "path": "$context.path",
    "status": "$context.status",
    "responseLength": "$context.responseLength",
    "responseLatency": "$context.responseLatency",
    "integrationError": "$context.integrationErrorMessage",
}


def _cors(origins: tuple[str, ...]) -> apigateway.CorsPreflightOptions | None:
    """Return the CORS settings, or None if the deployment names no sites."""
    if not origins:
        return None
    return apigateway.CorsPreflightOptions(
        allow_origins=list(origins),
        allow_methods=[
            apigateway.CorsHttpMethod(method)
            for method in ("GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS")
        ],
        allow_headers=[
            "accept",
            "authorization",
            "content-type",
            "idempotency-key",
            "if-none-match",
            "x-correlation-id",
        ],
        expose_headers=[
            "content-disposition",
            "etag",
            "idempotent-replayed",
            "link",
            "location",
            "retry-after",
            "x-correlation-id",
        ],
        max_age=_CORS_LASTS,
    )


class Api(Construct):
    """The HTTP API and its function, made of the declarations in `sourcebook.api`.

    Each operation has two addresses. At its own path the function itself asks for a token, unless the
    operation is open or the deployment lets anybody read. Below ``/iam`` the gateway asks for a signature
    with AWS credentials that may ``execute-api:Invoke`` (docs/decisions/0110). Which operation a path means,
    the function finds out (docs/decisions/0305).

    Attributes:
        function: answers every route.
        api: the HTTP API.
        stage: its only stage, at the root of the address.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, deployment: Deployment, data: DataStack, layers: Layers
    ) -> None:
        super().__init__(scope, construct_id)
        self.function = TableFunction(
            self,
            "Api",
            name="api",
            description="Answers the HTTP API",
            data=data,
            layers=layers,
            more_layers=[layers.workflows],
            environment={
                "SOURCEBOOK_VERSION": version("sourcebook"),
                "PUBLIC_READ": "true" if deployment.public_read else "false",
                # How its own addresses begin, for those that it gives.
                "API_ADDRESSES": _LOCAL_ADDRESSES if deployment.is_local else "https://{domain}",
                # A feed is added by the address of its site, which is then asked for it.
                **deployment.http_environment(),
                # Feeds are found, added and explained by the settings that they are polled with.
                **deployment.feeds.to_environment(),
            },
            # An HTTP API gives up after 30 seconds; the function should be the one to say so.
            timeout=cdk.Duration.seconds(29),
            memory_size=1024,
        )
        self.function.allow_items("BatchGetItem", "GetItem", "Query")
        self.function.allow_indexes(
            keys.ELIGIBILITY_INDEX, keys.SENTIMENT_INDEX, keys.STATUS_INDEX, keys.TAG_INDEX
        )
        self._allow_writing()
        self.api = apigateway.HttpApi(
            self,
            "HttpApi",
            api_name=f"{cdk.Stack.of(self).stack_name}",
            description="Sourcebook: many sources, one record",
            create_default_stage=False,
            cors_preflight=_cors(deployment.cors_origins),
        )
        self.stage = self._build_stage(self._add_routes())

    def add_workflows(self, workflows: Iterable[Workflow]) -> None:
        """Allow the API to start these workflows, given by name."""
        known = sorted(workflows, key=lambda workflow: workflow.name)
        prefix = state_machine_arn(cdk.Stack.of(self))
        self.function.function.add_environment("WORKFLOW_ARN_PREFIX", prefix)
        self.function.function.add_environment("WORKFLOWS", ",".join(workflow.name for workflow in known))
        self.function.allow(
            ["states:StartExecution"], *(workflow.machine.state_machine_arn for workflow in known)
        )

    def add_dead_letters(self, queues: Mapping[str, sqs.IQueue]) -> None:
        """Allow the API to count messages of these dead-letter queues, given by job."""
        addresses = {name: queue.queue_url for name, queue in queues.items()}
        self.function.function.add_environment(
            DEAD_LETTER_QUEUES, cdk.Stack.of(self).to_json_string(addresses)
        )
        self.function.allow(["sqs:GetQueueAttributes"], *(queue.queue_arn for queue in queues.values()))

    def _allow_writing(self) -> None:
        """Allow the function to write the items that its operations write, and no others.

        It reads tokens and cannot make or change one.
        """
        for operations, partitions in (
            # Sources with all that polling has kept of them; members of events, by decisions of people.
            (
                ("BatchWriteItem", "DeleteItem", "PutItem", "UpdateItem"),
                [keys.source("*")["PK"], keys.event("*")["PK"]],
            ),
            # The answers to requests that came with a key.
            (("DeleteItem", "PutItem", "UpdateItem"), [keys.idempotent_request("*")["PK"]]),
            # The runs that it starts.
            (("DeleteItem", "PutItem"), [keys.started_run("*")["PK"]]),
            # An uploaded spectrum becomes a product of its nova. Decisions change articles and are recorded.
            (("PutItem", "UpdateItem"), [keys.NOVA_PARTITIONS, keys.article("*")["PK"], keys.DECISIONS]),
            # Where an uploaded spectrum is from; the marks by which a decision has conclusions drawn anew.
            (("PutItem",), [keys.locator_aliases("*", "*"), keys.UNGROUPED]),
            # A person's decision on a case.
            (("UpdateItem",), [keys.quarantined("*")["PK"]]),
        ):
            self.function.allow_items(*operations, partitions=partitions)

    def _add_routes(self) -> list[tuple[Route, apigateway.HttpRoute]]:
        """Add all routes; return those with a limit of their own."""
        integration = integrations.HttpLambdaIntegration(
            "Function",
            self.function.function,
            # One permission for this API instead of one for each route, whose sum would be larger than
            # a function's policy may be.
            scope_permission_to_route=False,
        )
        signature = authorizers.HttpIamAuthorizer()
        limited = []
        for declared in api_routes():
            route = self._add_route(declared, integration, signature if declared.signed else None)
            if not declared.signed:
                accept(
                    route,
                    "AwsSolutions-APIG4",
                    "The function checks a bearer token before it does anything else, unless the answer "
                    "holds no data or the operator has chosen public_read for what only reads "
                    "(docs/decisions/0110).",
                )
            if declared.limit is not None:
                limited.append((declared, route))
        self._let_every_route_call()
        return limited

    def _let_every_route_call(self) -> None:
        """Widen the permission of the gateway to call the function to the route `$default`.

        The CDK allows calls as ``<api>/<stage>/<method>/<path>``; one by `$default` comes as
        ``<api>/<stage>/$default``, and AWS would answer it with 500.
        """
        for permission in self.node.find_all():
            if isinstance(permission, lambda_.CfnPermission):
                permission.source_arn = cdk.Stack.of(self).format_arn(
                    service="execute-api", resource=self.api.api_id, resource_name="*/*"
                )

    def _add_route(
        self,
        declared: Route,
        integration: integrations.HttpLambdaIntegration,
        authorizer: authorizers.HttpIamAuthorizer | None,
    ) -> apigateway.HttpRoute:
        method, _, path = declared.key.partition(" ")
        if not path:
            return apigateway.HttpRoute(
                self,
                "Unrouted",
                http_api=self.api,
                route_key=apigateway.HttpRouteKey.DEFAULT,
                integration=integration,
            )
        (route,) = self.api.add_routes(
            path=path,
            methods=[apigateway.HttpMethod(method)],
            integration=integration,
            authorizer=authorizer,
        )
        return route

    def _build_stage(self, limited: Sequence[tuple[Route, apigateway.HttpRoute]]) -> apigateway.HttpStage:
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
        resource = cast("apigateway.CfnStage", stage.node.default_child)
        resource.route_settings = {
            declared.key: {
                "ThrottlingRateLimit": declared.limit.rate,
                "ThrottlingBurstLimit": declared.limit.burst,
            }
            for declared, _ in limited
            if declared.limit is not None
        }
        # A stage with settings for a route that is not there yet is refused.
        resource.node.add_dependency(*(route for _, route in limited))
        resource.access_log_settings = apigateway.CfnStage.AccessLogSettingsProperty(
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

    def outputs(self) -> dict[str, str]:
        """Return the stack outputs of this construct."""
        return {
            "ApiId": self.api.api_id,
            "ApiUrl": self.api.api_endpoint,
            "ApiFunctionName": self.function.function.function_name,
        }
