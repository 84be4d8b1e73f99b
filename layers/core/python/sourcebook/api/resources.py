"""What is found by a name in the path, and what is answered where there is nothing of a name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeVar

from sourcebook.api.responses import NotFound
from sourcebook.errors import shorten

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Resource:
    """What is found by a name in the path.

    Attributes:
        kind: what it is, such as ``feed``.
        where: a sentence that says where the names are found.
    """

    kind: str
    where: str

    def found(self, value: T | None, name: str) -> T:
        """Return what was found under a name; raise NotFound if nothing was."""
        if value is None:
            raise self.missing(name)
        return value

    def missing(self, name: str) -> NotFound:
        """Return the problem that there is nothing of a name."""
        return NotFound(f"There is no {self.kind} {shorten(name)}. {self.where}")


ALERT: Final = Resource("alert", "GET /alerts lists them.")
ARTICLE: Final = Resource(
    "article",
    "A key is an article's dedup_key, 32 hexadecimal digits, or <source>:<article id>; articles are kept for "
    "30 days. GET /articles lists them.",
)
CASE: Final = Resource("quarantined case", "GET /quarantine lists them.")
EVENT: Final = Resource(
    "event",
    "An id is 32 hexadecimal digits; events are kept for 30 days after their last article. "
    "GET /events lists them.",
)
EXPORT: Final = Resource(
    "export", "GET /exports lists those there are; POST /workflows/export_period/executions makes one."
)
FEED: Final = Resource("feed", "GET /feeds lists them.")
NOVA: Final = Resource("nova", "GET /novae?name= finds one by any of its names.")
RUN: Final = Resource("job run", "GET /job-runs lists them.")
SUBJECT: Final = Resource("subject", "GET /api/v1/tools lists them.")
UPLOAD: Final = Resource("upload", "POST /uploads opens one.")
WORKFLOW: Final = Resource("workflow", "GET /workflows lists them.")
