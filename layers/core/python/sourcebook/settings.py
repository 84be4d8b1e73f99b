"""The settings of a function: environment variables, read once when it starts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class FetchSettings:
    """Environment of `fetch_sources`.

    Attributes:
        allowed_networks: comma-separated CIDR blocks that may be reached though they are not public.
        contact: web or mail address given to the servers that are asked.
    """

    table_name: str
    article_topic_arn: str
    allowed_networks: str
    contact: str

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] = os.environ) -> FetchSettings:
        """Return the settings; raise MissingSetting if one is not set."""
        return cls(
            table_name=required("TABLE_NAME", environ),
            article_topic_arn=required("ARTICLE_TOPIC_ARN", environ),
            allowed_networks=environ.get("HTTP_ALLOWED_NETWORKS", ""),
            contact=environ.get("HTTP_CONTACT", ""),
        )


@dataclass(frozen=True, slots=True)
class DispatchSettings:
    """Environment of `dispatch_sources`."""

    table_name: str
    fetch_queue_url: str

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] = os.environ) -> DispatchSettings:
        """Return the settings; raise MissingSetting if one is not set."""
        return cls(required("TABLE_NAME", environ), required("FETCH_QUEUE_URL", environ))
