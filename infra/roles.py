"""Puts the statements of a role into the role itself."""

from __future__ import annotations

from typing import Final, cast

from aws_cdk import aws_iam as iam
from constructs import IConstruct

POLICY_NAME: Final = "Permissions"
"""Not the name of the policy that it replaces: CloudFormation deletes that one last, by its name."""

_OWN_RESOURCE: Final = "DefaultPolicy"


def put_policies_into_roles(scope: IConstruct) -> None:
    """Write the statements of each role into the role, in place of a policy resource.

    Both are inline policies to IAM. A template has a resource less for each role, and whatever waits for a
    role waits for its permissions too. Call it when nothing will be allowed any more.

    Args:
        scope: every role below it.
    """
    for role in scope.node.find_all():
        if not isinstance(role, iam.Role):
            continue
        policy = role.node.try_find_child(_OWN_RESOURCE)
        if policy is None:
            continue
        resource = cast("iam.CfnRole", role.node.default_child)
        statements = cast("iam.Policy", policy)
        resource.policies = [
            iam.CfnRole.PolicyProperty(policy_name=POLICY_NAME, policy_document=statements.document)
        ]
        accepted = cast("iam.CfnPolicy", policy.node.default_child).get_metadata("cdk_nag")
        if accepted is not None:
            resource.add_metadata("cdk_nag", accepted)
        role.node.try_remove_child(_OWN_RESOURCE)
