"""What can go wrong between a program and the API.

SourcebookError
├── Unreachable     no whole answer came: no connection, too slow, cut short
├── Unreadable      an answer came that is not the API's
└── Refused         the API answered with an error
    ├── Invalid     400, 422: a parameter or a field is wrong
    ├── Forbidden   401, 403: no token, or one that may not do this
    ├── NotFound    404: there is nothing with this id
    ├── Conflict    409: it contradicts what is there
    └── Busy        429, 5xx: later it may work
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final


class SourcebookError(Exception):
    """Whatever this package raises of its own."""


class Unreachable(SourcebookError):
    """No whole answer came, and trying again did not help."""


class Unreadable(SourcebookError):
    """What answered is not the API, or not one of this version."""


class Refused(SourcebookError):
    """The API answered with an error.

    Attributes:
        status: of the answer.
        detail: what is wrong, and what would be right.
        parameter: the parameter or field that is wrong, where there is one.
        correlation_id: by which the operator finds the request in the logs.
        retry_after: seconds to wait, where the answer names them.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        parameter: str | None = None,
        correlation_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        self.status = status
        self.detail = detail
        self.parameter = parameter
        self.correlation_id = correlation_id
        self.retry_after = retry_after
        super().__init__(f"{status}: {detail}" + (f" ({correlation_id})" if correlation_id else ""))


class Invalid(Refused):
    """A parameter, a field or the body is wrong."""


class Forbidden(Refused):
    """There is no token, or it may not do this."""


class NotFound(Refused):
    """There is nothing with this id."""


class Conflict(Refused):
    """It contradicts what is there, or the same request is being answered."""


class Busy(Refused):
    """The API could not answer now."""


_BY_STATUS: Final[Mapping[int, type[Refused]]] = {
    400: Invalid,
    401: Forbidden,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    422: Invalid,
    429: Busy,
}


def kind_of(status: int) -> type[Refused]:
    """Return the class for the status of an error."""
    return _BY_STATUS.get(status, Busy if status >= 500 else Refused)
