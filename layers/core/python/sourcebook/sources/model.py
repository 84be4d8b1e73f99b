"""What a person declares of a source, checked as it comes in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from sourcebook.schema import SCHEMA_VERSION
from sourcebook.table import keys
from sourcebook.table.codec import Item
from sourcebook.validation import first_wrong

ABSENT_PRIORITY: Final = 999
"""Priority of a source that declares none; the lower number wins."""

DEFAULT_INTERVAL_MINUTES: Final = 15


def _http_url(url: str) -> str:
    if not url.isprintable():
        raise ValueError("a URL without control characters")
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("an http or https URL with a host")
    if parts.username or parts.password:
        raise ValueError("a URL without user name and password")
    return url


LONGEST_URL: Final = 2_000


def is_http_url(text: str) -> bool:
    """Return whether a text is a URL as `HttpUrl` wants it."""
    try:
        return len(_http_url(text)) <= LONGEST_URL
    except ValueError:
        return False


HttpUrl = Annotated[str, Field(max_length=LONGEST_URL), AfterValidator(_http_url)]
"""An http or https URL kept exactly as it was given; the field's source is RFC 3986."""

SOURCE_ID: Final = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")
ID_EXPECTED: Final = "lower-case letters, digits and hyphens, at most 63"
SourceId = Annotated[str, SOURCE_ID]
"""Lower-case letters, digits and hyphens, at most 63: it stands in keys, URLs and log lines."""

NAME_LENGTH: Final = 200
TAG_LENGTH: Final = 64
TAGS_AT_MOST: Final = 10
PRIORITY: Final = Field(ge=0, le=9_999)
INTERVAL: Final = Field(ge=1, le=1_440)
"""Minutes: at most a day."""

Tag = Annotated[str, Field(min_length=1, max_length=TAG_LENGTH)]


class SourceSpec(BaseModel):
    """The declaration of a source by a person.

    Attributes:
        priority: the lower number is fetched first, and wins where sources disagree.
        tags: given to everything that the source brings.
        options: what only its kind knows, such as the tickers to ask for; its adapter checks them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True, defer_build=True)

    source_id: SourceId
    kind: str = Field(default="feed", pattern=r"^[a-z][a-z0-9_]{0,31}$")
    url: HttpUrl
    name: str = Field(default="", max_length=NAME_LENGTH)
    priority: Annotated[int, PRIORITY] = ABSENT_PRIORITY
    tags: tuple[Tag, ...] = Field(default=(), max_length=TAGS_AT_MOST)
    enabled: bool = True
    interval_minutes: Annotated[int, INTERVAL] = DEFAULT_INTERVAL_MINUTES
    options: Mapping[str, object] = Field(default_factory=dict)

    @property
    def host(self) -> str:
        """Host of the URL, lower case: sources of one host are fetched politely, together."""
        return (urlsplit(self.url).hostname or "").lower()


_COUNTS: Final = tuple(
    "consecutive_errors unchanged_count fetch_count last_entries created_total merged_total".split()
)


def state_item(spec: SourceSpec, *, now: str) -> Item:
    """Return the STATE item of a source that was just declared: due at once.

    Args:
        spec: the declaration.
        now: the present time, ISO 8601 to the second.
    """
    index = keys.due(spec.source_id, now) if spec.enabled else keys.disabled(spec.source_id, now)
    return {
        **keys.source(spec.source_id),
        **index,
        "entity_type": "Source",
        "schema_version": SCHEMA_VERSION,
        **declared(spec),
        "next_fetch_time": now,
        "created_at": now,
        **dict.fromkeys(_COUNTS, 0),
    }


def declared(spec: SourceSpec) -> Item:
    """Return the attributes of a STATE item that a person decides."""
    attributes = spec.model_dump(mode="json")
    return attributes | {"host": spec.host, "options": attributes["options"] or None}


def parse_spec(values: Mapping[str, object]) -> SourceSpec:
    """Check a declaration read from a file or a request.

    Raises:
        InvalidInput: naming the first field that is wrong.
    """
    try:
        return SourceSpec.model_validate(values)
    except ValidationError as error:
        raise first_wrong(error, "source") from error
