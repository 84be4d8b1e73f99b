"""How real feeds publish: the lengths of their documents, and the entries that come together.

    python bench/measure_publishing.py DIRECTORY > bench/publishing.json

DIRECTORY holds feed files as they were fetched. Each gives one pattern: how many entries its document has,
how many hours they span, and how they came. A sitting is a run of entries each of which was published within
five minutes of the one before; it is kept as the seconds from its first entry. Only numbers are kept, nothing
of what the entries say. `simulate_polling.py` publishes by these patterns.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sourcebook.feeds.model import NotAFeed
from sourcebook.feeds.parse import parse_feed

SITTING = timedelta(minutes=5)
"""Longest time between two entries of one sitting."""


def sittings(published: list[datetime]) -> list[list[int]]:
    """Return the sittings in which entries with these times came, each as seconds from its first."""
    found: list[list[datetime]] = []
    for moment in sorted(published):
        if not found or moment - found[-1][-1] > SITTING:
            found.append([])
        found[-1].append(moment)
    return [[round((moment - sitting[0]).total_seconds()) for moment in sitting] for sitting in found]


def patterns(directory: Path) -> Iterator[dict[str, Any]]:
    """Yield the pattern of each file that is a feed of at least three entries with a time."""
    for path in sorted(directory.iterdir()):
        try:
            feed = parse_feed(path.read_bytes(), url="https://feed.example/")
        except NotAFeed:
            continue
        moments = [moment for entry in feed.entries if (moment := entry.published or entry.updated)]
        if len(moments) < 3:
            continue
        found = sittings(moments)
        span = (max(moments) - min(moments)) / timedelta(hours=1)
        yield {
            "entries": len(feed.entries),
            "hours": round(span, 1),
            "alone": sum(len(sitting) == 1 for sitting in found),
            "together": [sitting for sitting in found if len(sitting) > 1],
        }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=Path)
    lines = [json.dumps(pattern) for pattern in patterns(parser.parse_args().directory)]
    print("[\n" + ",\n".join(lines) + "\n]")


if __name__ == "__main__":
    main()
