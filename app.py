"""Entry point of the CDK command line; see cdk.json."""

from infra.application import build_app

build_app().synth()
