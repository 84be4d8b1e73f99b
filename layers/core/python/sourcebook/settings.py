"""The settings of a function: environment variables, read once when it starts."""

from __future__ import annotations

import os
from collections.abc import Mapping

from sourcebook.errors import Retryable


class MissingSetting(Retryable):
    """An environment variable of the function is unset or empty.

    A deployment updates a function's code before its environment, so that a call between the two may succeed
    later. Workflows retry it by this name.
    """

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} is not set; the stack sets it, so deploy the function with `cdk deploy`")


def required(name: str, environ: Mapping[str, str] = os.environ) -> str:
    """Return an environment variable.

    Raises:
        MissingSetting: if it is unset or empty.
    """
    value = environ.get(name, "")
    if not value:
        raise MissingSetting(name)
    return value
