"""The secrets that hold the API keys of providers."""

from __future__ import annotations

from typing import Final, cast

import aws_cdk as cdk
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from infra.functions import PythonFunction
from infra.nag import accept


class ApiKeys(Construct):
    """The secrets with the keys of the news APIs and of ADS, created empty for the operator to fill.

    Attributes:
        secrets: by provider.
    """

    NEWS: Final = ("tiingo", "finnhub")
    """The news APIs; each is a source kind."""
    ADS: Final = "ads"
    """NASA's ADS, for the references of novae."""

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id)
        self.secrets = {provider: self._build(provider) for provider in (*self.NEWS, self.ADS)}

    def name(self, provider: str) -> str:
        """Return the name of the secret of a provider."""
        return f"sourcebook/{provider}"

    def grant_read(self, function: PythonFunction, *providers: str) -> None:
        """Allow a function to read the keys of these providers."""
        # By attribute, not by reference, which is the ARN on AWS and only the name on the embedded cloud.
        secrets = (self.secrets[provider].node.default_child for provider in providers)
        arns = (cast("secretsmanager.CfnSecret", secret).attr_id for secret in secrets)
        function.allow(["secretsmanager:GetSecretValue"], *arns)

    def outputs(self) -> dict[str, str]:
        """Return the outputs of the pipeline's stack that name the secrets which the operator fills."""
        return {f"{provider.capitalize()}SecretName": self.name(provider) for provider in self.NEWS}

    def _build(self, provider: str) -> secretsmanager.Secret:
        secret = secretsmanager.Secret(
            self,
            provider.capitalize(),
            secret_name=self.name(provider),
            description=f"The API key of {provider.capitalize()}, as plain text; "
            "an empty api_key means none yet",
            secret_string_value=cdk.SecretValue.unsafe_plain_text('{"api_key":""}'),
            # Kept when the stack goes, but not when its first creation fails: under its fixed name it would
            # stop the second one.
            removal_policy=cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )
        accept(
            secret,
            "AwsSolutions-SMG4",
            "The provider gives out its key by hand and has no interface to rotate it; a new key is picked "
            "up within five minutes of being stored.",
        )
        # Retained under a fixed name: with another logical id the next deployment would meet its own secret.
        cast("cdk.CfnResource", secret.node.default_child).override_logical_id(f"{provider.capitalize()}Key")
        return secret
