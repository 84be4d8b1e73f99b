"""The canonical layer as plain SQL: what the table must come to, told by a database that can sort."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Any

Target = tuple[str, str, str]

_SCHEMA = """
CREATE TABLE scrapes (
    id INTEGER PRIMARY KEY AUTOINCREMENT, url TEXT, scraped_at TEXT, UNIQUE (url, scraped_at)
);
CREATE TABLE registered (url TEXT PRIMARY KEY);
CREATE VIEW sources AS SELECT * FROM scrapes WHERE url IN (SELECT url FROM registered);
CREATE TABLE source_priorities (url TEXT PRIMARY KEY, priority INTEGER NOT NULL);
CREATE TABLE observations (
    id INTEGER PRIMARY KEY AUTOINCREMENT, source_id INTEGER, url TEXT, bank TEXT, series TEXT, term TEXT,
    rate_pct REAL, observed_day TEXT
);
CREATE UNIQUE INDEX once_a_day ON observations (series, bank, term, observed_day, url);
"""

_ORDER = "COALESCE(p.priority, 999), s.scraped_at DESC, o.id DESC"

_LATEST = f"""
SELECT bank, series, term, url, rate_pct, observed_day, scraped_at, priority FROM (
    SELECT o.*, s.scraped_at, COALESCE(p.priority, 999) AS priority,
           ROW_NUMBER() OVER (PARTITION BY o.bank, o.series, o.term ORDER BY {_ORDER}) AS place
    FROM observations o JOIN sources s ON s.id = o.source_id LEFT JOIN source_priorities p ON p.url = s.url
) WHERE place = 1 ORDER BY bank, series, term
"""  # noqa: S608 - our own text

_HISTORY = f"""
SELECT observed_day, url, rate_pct, scraped_at FROM (
    SELECT o.*, s.scraped_at, ROW_NUMBER() OVER (PARTITION BY o.observed_day ORDER BY {_ORDER}) AS place
    FROM observations o JOIN sources s ON s.id = o.source_id LEFT JOIN source_priorities p ON p.url = s.url
    WHERE o.bank = ? AND o.series = ? AND o.term = ?
) WHERE place = 1 ORDER BY scraped_at, observed_day
"""  # noqa: S608 - our own text


class SqlModel:
    """Sources, priorities and observations in SQLite; a new scrape of a day takes the older one's place."""

    def __init__(self) -> None:
        # A scrape stores its figures in a thread of its own, and what happens meanwhile happens there.
        self._db = sqlite3.connect(":memory:", check_same_thread=False)
        self._db.executescript(_SCHEMA)

    def close(self) -> None:
        self._db.close()

    def declare(self, url: str, priority: int | None) -> None:
        self._db.execute("INSERT OR IGNORE INTO registered VALUES (?)", (url,))
        self._db.execute("DELETE FROM source_priorities WHERE url = ?", (url,))
        if priority is not None:
            self._db.execute("INSERT INTO source_priorities VALUES (?, ?)", (url, priority))

    def remove(self, url: str) -> None:
        self._db.execute("DELETE FROM registered WHERE url = ?", (url,))

    def scrape(self, url: str, scraped_at: str, day: str, rows: Iterable[tuple[Target, float]]) -> None:
        self._db.execute("INSERT OR IGNORE INTO scrapes (url, scraped_at) VALUES (?, ?)", (url, scraped_at))
        (source_id,) = self._db.execute(
            "SELECT id FROM scrapes WHERE url = ? AND scraped_at = ?", (url, scraped_at)
        ).fetchone()
        for (bank, series, term), rate in rows:
            self._db.execute(
                "INSERT INTO observations (source_id, url, bank, series, term, rate_pct, observed_day) "
                "VALUES (?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (series, bank, term, observed_day, url) DO UPDATE "
                "SET source_id = excluded.source_id, rate_pct = excluded.rate_pct "
                "WHERE (SELECT scraped_at FROM scrapes WHERE id = excluded.source_id) "
                "    > (SELECT scraped_at FROM scrapes WHERE id = observations.source_id)",
                (source_id, url, bank, series, term, rate, day),
            )

    def latest(self) -> list[tuple[Any, ...]]:
        return self._db.execute(_LATEST).fetchall()

    def history(self, target: Target) -> list[tuple[Any, ...]]:
        return self._db.execute(_HISTORY, target).fetchall()

    def raw(self) -> list[tuple[Any, ...]]:
        return self._db.execute(
            "SELECT bank, series, term, observed_day, url, rate_pct FROM observations ORDER BY 1, 2, 3, 4, 5"
        ).fetchall()

    def columns_of_the_unique_index(self) -> list[str]:
        return [row[2] for row in self._db.execute("PRAGMA index_info(once_a_day)")]
