"""What is found by a name in the path, and what is answered where there is nothing of a name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from sourcebook.api.responses import NotFound
from sourcebook.errors import shorten

if TYPE_CHECKING:
    from sourcebook.api.requests import Request

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Resource:
    """What is found by a name in the path.

    Attributes:
        kind: what it is, such as ``feed``.
        variable: of the path's template, which holds the name.
        where: a sentence that says where the names are found.
    """

    kind: str
    variable: str
    where: str

    def of(self, request: Request, find: Callable[[str], T | None]) -> T:
        """Return what `find` finds under the name in a request's path; raise NotFound if it is nothing."""
        name = self.name(request)
        return self.found(find(name), name)

    def name(self, request: Request) -> str:
        """Return the name in a request's path."""
        return request.path.get(self.variable, "")

    def found(self, value: T | None, name: str) -> T:
        """Return what was found under a name; raise NotFound if nothing was."""
        if value is None:
            raise self.missing(name)
        return value

    def missing(self, name: str) -> NotFound:
        """Return the problem that there is nothing of a name."""
        return NotFound(f"There is no {self.kind} {shorten(name)}. {self.where}")


ALERT: Final = Resource("alert", "alert_id", "GET /alerts lists them.")
ARTICLE: Final = Resource(
    "article",
    "key",
    "A key is an article's dedup_key, 32 hexadecimal digits, or <source>:<article id>; articles are kept for "
    "30 days. GET /articles lists them.",
)
CASE: Final = Resource("quarantined case", "quarantine_id", "GET /quarantine lists them.")
EVENT: Final = Resource(
    "event",
    "event_id",
    "An id is 32 hexadecimal digits; events are kept for 30 days after their last article. "
    "GET /events lists them.",
)
EXPORT: Final = Resource(
    "export",
    "export_id",
    "GET /exports lists those there are; POST /workflows/export_period/executions makes one.",
)
FEED: Final = Resource("feed", "feed_id", "GET /feeds lists them.")
NOVA: Final = Resource("nova", "nova_id", "GET /novae?name= finds one by any of its names.")
RUN: Final = Resource("job run", "job_run_id", "GET /job-runs lists them.")
SUBJECT: Final = Resource("subject", "tool_id", "GET /api/v1/tools lists them.")
UPLOAD: Final = Resource("upload", "upload_id", "POST /uploads opens one.")
WORKFLOW: Final = Resource("workflow", "name", "GET /workflows lists them.")
