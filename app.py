"""Entry point of the CDK command line; see cdk.json."""

from infra.application import build_app
from infra.deployment import CHOICES

build_app(choices=CHOICES).synth()
