"""What may be declared of a feed, by the API and the command line: to add one, and to change one."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

from pydantic import AfterValidator, ConfigDict, Field, StrictBool, StringConstraints

from sourcebook.feeds.opml import distinct_tags
from sourcebook.inputs import NOT_GIVEN, Input, expected, text
from sourcebook.sources.model import (
    ID_EXPECTED,
    INTERVAL,
    NAME_LENGTH,
    PRIORITY,
    SOURCE_ID,
    TAG_LENGTH,
    TAGS_AT_MOST,
)

_FORMAT: Final = Field(json_schema_extra={"format": "feed-url"})
_Url = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), _FORMAT]


class _Declared(Input):
    """What may be declared of a feed when it is added, and later."""

    enabled: Annotated[StrictBool, expected("true or false")] = Field(NOT_GIVEN)
    priority: Annotated[int, PRIORITY] = Field(
        NOT_GIVEN,
        strict=True,
        description="Of the feeds that are due, the lower number is fetched first; 999 if none is given.",
    )
    name: Annotated[
        str,
        StringConstraints(strip_whitespace=True, max_length=NAME_LENGTH),
        expected(f"a text of at most {NAME_LENGTH} characters"),
    ] = Field(NOT_GIVEN)
    tags: Annotated[
        list[Annotated[str, text(TAG_LENGTH)]],
        Field(max_length=TAGS_AT_MOST),
        AfterValidator(distinct_tags),
        expected(f"a list of at most {TAGS_AT_MOST} texts of 1 to {TAG_LENGTH} characters"),
    ] = Field(NOT_GIVEN, description="Given to all its articles.")
    interval_minutes: Annotated[int, INTERVAL] = Field(
        NOT_GIVEN,
        strict=True,
        description="The longest time between two fetches; polling may choose less.",
    )


class NewFeed(_Declared):
    """A feed to be added."""

    EITHER: ClassVar[tuple[str, ...]] = ("url", "site")
    model_config = ConfigDict(
        json_schema_extra={"examples": [{"site": "https://circuit.example", "tags": ["technology"]}]}
    )

    url: Annotated[_Url, expected("the address of a feed such as https://news.example/feed.xml")] = Field(
        NOT_GIVEN, description="The feed's own address; it is registered without being asked."
    )
    site: Annotated[_Url, expected("the address of a site such as https://news.example")] = Field(
        NOT_GIVEN, description="A page, which is asked which feed it announces, and else at the usual paths."
    )
    feed_id: Annotated[str, SOURCE_ID, expected(ID_EXPECTED)] = Field(
        NOT_GIVEN, description="Without it, the host and a hash of the URL."
    )


class FeedChange(_Declared):
    """What changes of a feed."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "examples": [{"enabled": False}]})

    url: Annotated[_Url, expected("the address of a feed, as text")] = Field(
        NOT_GIVEN,
        description="Where the feed is now. It is fetched at once, as if for the first time; what it brought "
        "before stays, and is not taken for new.",
    )
