"""What a refresh of the cache costs, and that mentions outside the dirty hours do not add to it.

    .venv/bin/python -m bench.refresh_cache [--mentions 10000 100000 1000000] [--subjects 15] [--json FILE]

Sixty entries (15 subjects, 4 periods) over as many mentions as given, spread over 30 days. The table is one
in this process that finds by bisection and hands over what DynamoDB's client would, so that what is measured
is this project's work and none of a server's; the requests are counted, since each costs the client about
half a millisecond more. Mentions read are those of the dirty hours and of the minutes that a window cuts. The
baseline in the same run is to read each mention of each period. Each size is refreshed once from nothing,
which is not measured, and then with one new mention per subject, which is.
"""

from __future__ import annotations

import argparse
import bisect
import random
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from boto3.dynamodb.conditions import ConditionBase

from bench.figures import Figure, save
from sourcebook.sentiment.refresh import Refresher
from sourcebook.sentiment.rollups import Counts, DirtyHours
from sourcebook.sentiment.windows import PERIODS
from sourcebook.table import keys
from sourcebook.table.client import QueryPage, Table
from sourcebook.table.codec import Item, decode_item, encode_item

Row = tuple[str, int, str, str]
"""Timestamp, number, label and polarity of a mention."""
NOW = datetime(2026, 11, 27, 21, 40, 3, tzinfo=UTC)
PAGE = 2_000  # mentions of half a kilobyte that make a page of one megabyte


class TableInMemory(Table):
    """Answers what a refresh asks."""

    def __init__(self) -> None:
        super().__init__("bench", None)  # type: ignore[arg-type]
        self.rows: dict[str, dict[str, Item]] = defaultdict(dict)
        self.mentions: dict[str, list[Row]] = defaultdict(list)
        self.read = self.requests = 0

    def get(self, key: keys.Key, **_: object) -> Item | None:
        self.requests += 1
        found = self.rows[key["PK"]].get(key["SK"])
        return decode_item(found) if found else None

    def put(self, item: Mapping[str, object], condition: ConditionBase | None = None) -> None:  # noqa: ARG002
        self.requests += 1
        self.rows[str(item["PK"])][str(item["SK"])] = encode_item(item)

    def put_many(self, items: Sequence[Mapping[str, object]]) -> None:
        for item in items:
            self.put(item)

    def update(self, key: keys.Key, **_: object) -> Item:
        self.requests += 1
        return dict(key)

    def delete(self, key: keys.Key, condition: ConditionBase | None = None) -> None:  # noqa: ARG002
        self.requests += 1
        self.rows[key["PK"]].pop(key["SK"], None)

    def query(self, condition: ConditionBase, **options: Any) -> QueryPage:  # noqa: ANN401
        self.requests += 1
        partition, low, high = _bounds(condition)
        if options.get("index") == keys.TAG_INDEX:
            rows = self.mentions[partition]
            first = options["start"]["at"] if options.get("start") else bisect.bisect_left(rows, (low,))
            last = bisect.bisect_right(rows, (high, 10**9))
            page = rows[first : min(last, first + PAGE)]
            self.read += len(page)
            more = {"at": first + PAGE} if first + PAGE < last else None
            return QueryPage([decode_item(encoded(row)) for row in page], more)
        found = self.rows[partition]
        return QueryPage([decode_item(found[key]) for key in sorted(found) if low <= key <= high], None)


def encoded(row: Row) -> Item:
    timestamp, _, label, polarity = row
    return {"timestamp": {"S": timestamp}, "label": {"S": label}, "polarity": {"N": polarity}}


def _bounds(condition: ConditionBase) -> tuple[str, str, str]:
    values = condition.get_expression()["values"]
    if not isinstance(values[0], ConditionBase):
        return values[1], "", "~"
    partition = values[0].get_expression()["values"][1]
    _, low, high = values[1].get_expression()["values"]
    return partition, low, high


def mention(number: int, at: datetime, rng: random.Random) -> Row:
    label = rng.choice(("positive", "neutral", "negative"))
    return (f"{at:%Y-%m-%dT%H:%M:%SZ}", number, label, str(rng.randint(-10_000, 10_000) / 10_000))


def by_reading_everything(table: TableInMemory, tool_ids: list[str]) -> float:
    started = time.process_time()
    for tool_id in tool_ids:
        for hours in PERIODS.values():
            first = f"{NOW - timedelta(hours=hours):%Y-%m-%dT%H:%M:%SZ}"
            Counts.of(decode_item(encoded(row)) for row in table.mentions[tool_id] if row[0] >= first)
    return time.process_time() - started


def measure(number: int, subjects: int) -> tuple[float, float, TableInMemory]:
    rng = random.Random(number)  # noqa: S311 - the same mentions each time
    tool_ids = [f"tool-{n}" for n in range(subjects)]
    table = TableInMemory()
    for n in range(number):
        at = NOW - timedelta(seconds=rng.randrange(1, 30 * 86_400))
        table.mentions[tool_ids[n % subjects]].append(mention(n, at, rng))
    for rows in table.mentions.values():
        rows.sort()
    clock = {"now": NOW}
    refresher = Refresher(table, lambda: clock["now"], workers=1)
    every_hour = [f"{NOW - timedelta(hours=h):%Y-%m-%dT%H}" for h in range(721)]
    for tool_id in tool_ids:
        DirtyHours(table, lambda: NOW - timedelta(minutes=15)).mark((tool_id, hour) for hour in every_hour)
    refresher.run(tool_ids)

    clock["now"] = NOW + timedelta(minutes=15)
    for n, tool_id in enumerate(tool_ids):
        at = NOW + timedelta(minutes=5)
        DirtyHours(table, lambda: NOW).mark([(tool_id, f"{at:%Y-%m-%dT%H}")])
        bisect.insort(table.mentions[tool_id], mention(number + n, at, rng))
    table.read = table.requests = 0
    started = time.process_time()
    refresher.run(tool_ids)
    spent = time.process_time() - started
    return spent, by_reading_everything(table, tool_ids), table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mentions", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--subjects", type=int, default=15)
    parser.add_argument("--json", type=Path, metavar="FILE")
    asked = parser.parse_args()
    figures: list[Figure] = []
    print(
        f"{'mentions':>10} {'entries':>8} {'CPU':>8} {'requests':>9} {'mentions read':>14} "
        f"{'read them all':>14} {'ratio':>7}"
    )
    for number in asked.mentions:
        ours, all_of_them, table = measure(number, asked.subjects)
        print(
            f"{number:>10,} {4 * asked.subjects:>8} {ours:>7.3f}s {table.requests:>9} {table.read:>14,} "
            f"{all_of_them:>13.2f}s {all_of_them / ours:>6.1f}x"
        )
        figures = [
            Figure(f"refresh of 60 entries, {number:,} mentions, CPU", ours, "s", at_most=2),
            Figure(
                "the same, beside another way",
                all_of_them / ours,
                "times",
                f"{ours:.2f} s",
                f"reading every mention: {all_of_them:.2f} s",
            ),
        ]
    # The last has the most mentions.
    save(asked.json, figures)


if __name__ == "__main__":
    main()
