"""What has changed in the table since it was last asked: its stream, read by one scheduled function.

Lambda could bring the stream's records itself, a batch for each shard. One reader of all shards writes the
file of a day once where four would write it four times, and writing is what it costs (docs/decisions/0211).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from boto3.dynamodb.conditions import Attr
from botocore.exceptions import BotoCoreError, ClientError

from sourcebook.errors import Retryable
from sourcebook.records.article import Article, is_analyzed
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed, Table
from sourcebook.table.codec import Item, decode_item

if TYPE_CHECKING:
    from mypy_boto3_dynamodbstreams import DynamoDBStreamsClient

_END: Final = "END"
"""Stands for the last sequence number of a shard that is closed and has been read to its end."""
_EMPTY_AT_MOST: Final = 3
"""Answers without a record that are taken for the end of an open shard."""
_STATE: Final = ("entity_type", "status", "sentiment")
"""Attributes by which a new article is told from an analyzed one and from an alias."""
_TRIMMED: Final = frozenset({"TrimmedDataAccessException", "ExpiredIteratorException"})


Notice: TypeAlias = Callable[[Mapping[str, object]], None]
"""Is shown what a record of the stream says: keys and images, as DynamoDB writes them."""


class StreamBusy(Retryable):
    """The stream is not able to answer now."""


@dataclass(slots=True)
class Changes:
    """What a reading of the stream came to.

    Attributes:
        articles: partition keys of the analyzed articles that changed, each once, in their order.
        new: partition keys of the articles that have come and were not analyzed when this was read.
        records: how many records were read.
        forgotten: whether the stream has lost records that were not read: they are older than a day.
    """

    shards: dict[str, str]
    version: int
    articles: dict[str, None] = field(default_factory=dict)
    new: dict[str, None] = field(default_factory=dict)
    records: int = 0
    forgotten: bool = False


@dataclass(frozen=True, slots=True)
class TableStream:
    """The table's stream, with the place up to which it has been read.

    Attributes:
        most_new: new articles of one reading, which whoever has it read can enter into by_status in time.
    """

    client: DynamoDBStreamsClient
    arn: str
    table: Table
    seconds: Callable[[], float] = time.monotonic
    most_new: int = 20_000

    def read(self, longest: float, notice: Notice = lambda _record: None) -> Changes:
        """Return the articles that changed since the place that was noted last.

        It stops when it took too long or found too many new ones, and leaves the rest to the next reading.

        Args:
            longest: seconds that it may take.
            notice: is shown each record too.

        Raises:
            StreamBusy: if the stream does not answer.
        """
        mark = self.table.get(keys.SEARCH_MARK, consistent=True) or {}
        known = dict(mark.get("shards", {}))
        changes = Changes({}, int(mark.get("version", 0)))
        begun = self.seconds()

        def has_room() -> bool:
            return self.seconds() - begun < longest and len(changes.new) < self.most_new

        try:
            shards = list(self._shards())
            # Each reading begins with another one, so that a busy shard keeps none waiting for ever.
            first = changes.version % max(1, len(shards))
            for shard in shards[first:] + shards[:first]:
                place = known.get(shard, "")
                if place != _END and has_room():
                    place = self._read_shard(shard, place, changes, has_room, notice)
                if place:
                    changes.shards[shard] = place
        except (ClientError, BotoCoreError) as error:
            raise StreamBusy(f"the table's stream does not answer: {error}") from error
        return changes

    def note(self, changes: Changes) -> None:
        """Keep the place up to which the stream was read, unless somebody else has noted a later one."""
        place = {
            **keys.SEARCH_MARK,
            "entity_type": "SearchMark",
            "schema_version": "1",
            "shards": changes.shards,
            "version": changes.version + 1,
        }
        try:
            self.table.put(place, Attr("PK").not_exists() | Attr("version").eq(changes.version))
        except ConditionFailed:
            # Two readings of the same records have indexed the same articles; the other place is as good.
            return

    def _shards(self) -> Iterator[str]:
        first: dict[str, object] = {}
        while True:
            described = self.client.describe_stream(StreamArn=self.arn, **first)["StreamDescription"]
            yield from (shard["ShardId"] for shard in described.get("Shards", ()))
            if not (last := described.get("LastEvaluatedShardId")):
                return
            first = {"ExclusiveStartShardId": last}

    def _read_shard(
        self, shard: str, place: str, changes: Changes, more: Callable[[], bool], notice: Notice
    ) -> str:
        """Read a shard from a place on, and return the place after it."""
        try:
            iterator = self._iterator(shard, place)
        except ClientError as error:
            if not place or error.response["Error"]["Code"] not in _TRIMMED:
                raise
            changes.forgotten = True
            iterator = self._iterator(shard, "")
        empty = 0
        while more() and empty < _EMPTY_AT_MOST:
            answer = self.client.get_records(ShardIterator=iterator, Limit=1_000)
            records = answer.get("Records", [])
            changes.records += len(records)
            for record in records:
                if not _has_only_moved(record["dynamodb"]):
                    self._take(record["dynamodb"], changes)
                    notice(record["dynamodb"])
            if records:
                place = records[-1]["dynamodb"]["SequenceNumber"]
            empty = 0 if records else empty + 1
            if (following := answer.get("NextShardIterator")) is None:
                return _END
            iterator = following
        return place

    def _iterator(self, shard: str, place: str) -> str:
        if place:
            answer = self.client.get_shard_iterator(
                StreamArn=self.arn,
                ShardId=shard,
                ShardIteratorType="AFTER_SEQUENCE_NUMBER",
                SequenceNumber=place,
            )
        else:
            answer = self.client.get_shard_iterator(
                StreamArn=self.arn, ShardId=shard, ShardIteratorType="TRIM_HORIZON"
            )
        return str(answer["ShardIterator"])

    @staticmethod
    def _take(record: Any, changes: Changes) -> None:  # noqa: ANN401 - a record as the stream has it
        key, image = record["Keys"], record.get("NewImage", {})
        if key["SK"].get("S") != keys.ARTICLE_SORT_KEY:
            return
        article = key["PK"]["S"]
        changes.new.pop(article, None)
        state = decode_item({name: image[name] for name in _STATE if name in image})
        if is_analyzed(state):
            changes.articles[article] = None
        elif state.get("entity_type") == Article.__name__ and "status" not in state:
            changes.new[article] = None


def _has_only_moved(record: Any) -> bool:  # noqa: ANN401 - a record as the stream has it
    """Whether nothing about an item has changed but the shards that it stands in."""
    old, new = record.get("OldImage"), record.get("NewImage")
    if not old or not new or old == new or len(old) != len(new):
        return False
    others = all(old.get(name) == new[name] for name in new if name not in keys.SHARDED)
    return others and _places(old) == _places(new)


def _places(image: Any) -> Item:  # noqa: ANN401 - an image as the stream has it
    return decode_item({name: image[name] for name in keys.SHARDED if name in image})
