"""Exceptions to the rules of cdk-nag, each with its reason in code and template."""

from __future__ import annotations

from typing import cast

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import IConstruct


def accept(construct: IConstruct, rule: str, reason: str, *, applies_to: tuple[str, ...] = ()) -> None:
    """Accept what `rule` of cdk-nag finds in `construct`, for a reason that a reviewer can judge.

    The metadata is what cdk-nag itself would write; writing it here keeps that package, and the
    second it takes to load, out of every synth.

    Args:
        construct: a resource, or the construct whose default child is the resource.
        rule: such as ``AwsSolutions-IAM5``.
        reason: a sentence: why this is right here.
        applies_to: the findings meant, for rules that find several, such as ``Resource::*``.
    """
    resource = construct if isinstance(construct, cdk.CfnResource) else construct.node.default_child
    found = cast("cdk.CfnResource", resource)
    metadata = found.get_metadata("cdk_nag") or {"rules_to_suppress": []}
    rules = [*metadata["rules_to_suppress"], {"id": rule, "reason": reason}]
    if applies_to:
        rules[-1]["applies_to"] = list(applies_to)
    found.add_metadata("cdk_nag", {"rules_to_suppress": rules})


def accept_wildcard(role: iam.IRole, reason: str, *resources: str) -> None:
    """Accept wildcards in the resources of what a role may do.

    Args:
        role: with at least one statement.
        reason: a sentence: why nothing narrower is right here.
        resources: those meant, as cdk-nag writes them; ``*`` if none are given.
    """
    applies_to = tuple(f"Resource::{resource}" for resource in resources or ("*",))
    accept(role.node.find_child("DefaultPolicy"), "AwsSolutions-IAM5", reason, applies_to=applies_to)
