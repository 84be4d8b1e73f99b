"""A stack that is gone from the embedded cloud comes back with the next deployment."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sourcebook_local.deploy import deploy
from sourcebook_local.project import HOME
from tests.e2e.conftest import deployed_apart
from tests.e2e.stack import wait_until

if TYPE_CHECKING:
    from sourcebook_local.cloud import LocalCloud


def test_a_stack_that_is_gone_is_deployed_again(new_cloud: Callable[[str], LocalCloud]) -> None:
    with deployed_apart(new_cloud, "lost") as stack:
        formation = stack.session.client("cloudformation")
        formation.delete_stack(StackName="SourcebookPipeline")

        def gone() -> bool:
            names = [found["StackName"] for found in formation.describe_stacks()["Stacks"]]
            return "SourcebookPipeline" not in names

        wait_until(gone, 60, "the stack to be gone")
        again = deploy(stack.cloud, assembly=HOME / "assembly")
        assert again.deployed
        assert deploy(stack.cloud, assembly=HOME / "assembly").deployed is False
