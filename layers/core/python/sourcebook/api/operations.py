"""What an operation of the API is, declared once.

From the declarations come the routing, the routes of the gateway, the description in OpenAPI and the
reference page, so that none of them can say something else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from sourcebook.api.requests import Request
from sourcebook.api.responses import Response

if TYPE_CHECKING:
    from sourcebook.api.parameters import Parameters
    from sourcebook.api.parts import Services
    from sourcebook.inputs import Input


class Access(StrEnum):
    """Who may call an operation."""

    OPEN = "open"
    """Anybody."""
    READ = "read"
    """A token with the scope ``read`` or ``write``, or a signature; anybody where reading is open."""
    WRITE = "write"
    """A token with the scope ``write``, or a signature."""


@dataclass(frozen=True, slots=True)
class Body:
    """The body of a request.

    Attributes:
        form: the model of its fields; or
        schema: the name of a schema in `sourcebook.api.schemas`, where the domain checks the fields.
        forms: one model for each value of the path's only variable.
        media_type: of the body.
        everywhere: whether every stack takes all of `forms`, and not only those of its workflows.
    """

    form: type[Input] | None = None
    schema: str = ""
    forms: Mapping[str, type[Input]] = field(default_factory=dict)
    media_type: str = "application/json"
    everywhere: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """An operation of the API.

    Attributes:
        route: method and template of the path: the route key of API Gateway.
        summary: one line without a full stop.
        handle: answers a request. Its name is the operation's id.
        topic: what it belongs to; see `of_topic`.
        description: what else a caller should know, in Markdown's simplest forms.
        is_open: whether anybody may call it.
        query: the model of the query's parameters, if it has any; others are refused.
        body: what is sent, if something is.
        answers: name of the schema in `sourcebook.api.schemas` for each status of success.
        more_problems: statuses of its problems besides those of `problems`.
        media_type: of a success.
        volatile: whether the answer is another one each time, so that nobody need keep it.
    """

    route: str
    summary: str
    handle: Callable[[Services, Request], Response]
    topic: str = ""
    is_open: bool = False
    description: str = ""
    query: type[Parameters] | None = None
    body: Body | None = None
    answers: Mapping[int, str] = field(default_factory=dict)
    more_problems: tuple[int, ...] = ()
    media_type: str = "application/json"
    volatile: bool = False

    @property
    def name(self) -> str:
        """The operation's id, unique: ``listFeeds`` where `handle` is ``_list_feeds``."""
        first, *others = self.handle.__name__.strip("_").split("_")
        return first + "".join(map(str.capitalize, others))

    @property
    def method(self) -> str:
        """The method of HTTP."""
        return self.route.partition(" ")[0]

    @property
    def path(self) -> str:
        """The template of the path, as API Gateway matches it."""
        return self.route.partition(" ")[2]

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the query's parameters."""
        return self.query.names() if self.query else ()

    @property
    def changes(self) -> bool:
        """Whether it changes something."""
        return self.method != "GET"

    @property
    def problems(self) -> frozenset[int]:
        """The statuses of its problems: those of any operation, and those that follow from what it is."""
        found = {400, 429, 500, 503, *self.more_problems}
        if "{" in self.path:
            found |= {404}
        if self.access is not Access.OPEN:
            found |= {401, 403}
        if self.changes:
            found |= {409, 422}
        return frozenset(found)

    @property
    def access(self) -> Access:
        """Who may call it."""
        return Access.OPEN if self.is_open else Access.WRITE if self.changes else Access.READ


def of_topic(topic: str, *operations: Operation) -> tuple[Operation, ...]:
    """Return operations that belong to a topic."""
    return tuple(replace(one, topic=topic) for one in operations)
