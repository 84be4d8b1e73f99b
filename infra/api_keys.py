"""The secrets that hold the API keys of providers."""

from __future__ import annotations

from typing import Final, cast

import aws_cdk as cdk
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from infra.nag import accept


class ApiKeys(Construct):
    """The secrets with the keys of the news APIs, created empty for the operator to fill.

    Attributes:
        secrets: by source kind.
        ads: the token of NASA's ADS, for the references of novae.
    """

    KINDS: Final = ("tiingo", "finnhub")

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id)
        self.secrets = {kind: self._build(kind) for kind in self.KINDS}
        self.ads = self._build("ads")

    def name(self, kind: str) -> str:
        """Return the name of the secret of a source kind."""
        return f"sourcebook/{kind}"

    def arn(self, secret: secretsmanager.Secret) -> str:
        """Return the full ARN of a secret, for policies."""
        # Not its reference, which is the ARN on AWS and only the name on the embedded cloud.
        return cast("secretsmanager.CfnSecret", secret.node.default_child).attr_id

    def _build(self, kind: str) -> secretsmanager.Secret:
        secret = secretsmanager.Secret(
            self,
            kind.capitalize(),
            secret_name=self.name(kind),
            description=f"The API key of {kind.capitalize()}, as plain text; an empty api_key means none yet",
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
        cast("cdk.CfnResource", secret.node.default_child).override_logical_id(f"{kind.capitalize()}Key")
        return secret
