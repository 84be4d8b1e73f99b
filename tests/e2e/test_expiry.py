"""What the template declares of the table's items is so in the embedded cloud too."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tests.e2e.stack import wait_until

if TYPE_CHECKING:
    from tests.e2e.stack import Stack


def test_an_item_whose_time_has_come_goes_and_the_table_can_be_recovered(stack: Stack) -> None:
    client, name = stack.session.client("dynamodb"), stack.outputs.table_name
    expiry = client.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
    assert (expiry["TimeToLiveStatus"], expiry.get("AttributeName")) == ("ENABLED", "ttl_timestamp")
    backups = client.describe_continuous_backups(TableName=name)["ContinuousBackupsDescription"]
    assert backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "ENABLED"
    past, future = {"PK": "expiry#past", "SK": "x"}, {"PK": "expiry#future", "SK": "x"}
    stack.table.put_item(Item={**past, "ttl_timestamp": int(time.time()) - 60})
    stack.table.put_item(Item={**future, "ttl_timestamp": int(time.time()) + 3600})
    try:
        # MiniStack looks once a minute.
        gone = lambda: "Item" not in stack.table.get_item(Key=past, ConsistentRead=True)  # noqa: E731
        wait_until(gone, 150, "the item to expire", interval=1)
        assert "Item" in stack.table.get_item(Key=future, ConsistentRead=True)
    finally:
        stack.table.delete_item(Key=future)
