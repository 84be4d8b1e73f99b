"""What a function is told by its environment, read once when it starts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from sourcebook.errors import InvalidInput

_UNSET = "a value; the stack sets it, so deploy the function with `cdk deploy`"


def required(name: str, environ: Mapping[str, str] = os.environ) -> str:
    """Return an environment variable.

    Raises:
        InvalidInput: if it is unset or empty.
    """
    value = environ.get(name, "")
    if not value:
        raise InvalidInput(name, value, _UNSET)
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
        """Return the settings; raise InvalidInput if one is missing or wrong.

        Raises:
            InvalidInput: if one is missing.
        """
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
        """Return the settings; raise InvalidInput if one is missing or wrong.

        Raises:
            InvalidInput: if one is missing.
        """
        return cls(required("TABLE_NAME", environ), required("FETCH_QUEUE_URL", environ))
