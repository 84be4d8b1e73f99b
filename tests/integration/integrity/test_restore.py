"""One table is made what another is: exactly, again and again, and no more than was asked for."""

from __future__ import annotations

from typing import Any

import boto3
import boto3.session
import pytest
from click.testing import CliRunner

from sourcebook.errors import InvalidInput
from sourcebook.integrity.restore import Restored, Restorer
from sourcebook.integrity.walk import pages_of
from sourcebook.table.client import Table, TableRefused
from sourcebook_cli.restore import restore
from sourcebook_cli.stack import Stack
from tests.templates import table_definition

ITEMS: list[dict[str, Any]] = [
    {"PK": f"dedup:{n:032x}", "SK": "ARTICLE", "n": n, "score": n / 7, "words": {"a": [n, None]}}
    for n in range(130)
]


@pytest.fixture
def restored(table: Table) -> Table:
    """A table that holds what `table` holds, as a restore of it would."""
    boto3.client("dynamodb").create_table(**table_definition("restored"))
    found = Table("restored", table.client)
    for each in (table, found):
        each.put_many(ITEMS)
    return found


def content(table: Table) -> list[dict[str, Any]]:
    found = (item for page in pages_of(table, segments=1) for item in page)
    return sorted(found, key=lambda item: str(item["PK"]))


def damage(table: Table) -> None:
    """Lose 60 items, change 15, and add two."""
    table.delete_many([{"PK": item["PK"], "SK": item["SK"]} for item in ITEMS[:60]])
    table.put_many([{**item, "score": 0.5} for item in ITEMS[60:75]])
    table.put_many([{"PK": f"new:{n}", "SK": "ARTICLE"} for n in range(2)])


@pytest.mark.parametrize("segments", [1, 3])
def test_the_table_becomes_what_the_other_is(table: Table, restored: Table, segments: int) -> None:
    damage(table)
    seen: list[int] = []
    done = Restorer(table, restored).run(segments=segments, watch=seen.append)
    assert done == Restored(same=55, missing=60, differing=15, new=2)
    assert content(table) == content(restored) == sorted(ITEMS, key=lambda item: str(item["PK"]))
    assert sum(seen) == 130 + 132  # of the one, and of the other once all is put back
    assert Restorer(table, restored).run() == Restored(same=130)


def test_only_what_is_missing_is_put_back_if_that_is_asked_for(table: Table, restored: Table) -> None:
    damage(table)
    done = Restorer(table, restored, only_missing=True).run()
    assert done == Restored(same=55, missing=60, differing=15)
    there = {item["PK"]: item for item in content(table)}
    assert len(there) == 132
    assert all(there[item["PK"]] == item for item in ITEMS[:60])
    assert all(there[item["PK"]]["score"] == 0.5 for item in ITEMS[60:75])


def test_a_dry_run_counts_and_changes_nothing(table: Table, restored: Table) -> None:
    damage(table)
    before = content(table)
    assert Restorer(table, restored, dry=True).run() == Restored(same=55, missing=60, differing=15, new=2)
    assert content(table) == before


def test_a_run_that_is_broken_off_is_completed_by_the_next(
    table: Table, restored: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    damage(table)
    put = Table.put_many

    def put_some(self: Table, items: Any) -> None:
        put(self, items[:40])
        raise TableRefused("the credentials have expired")

    with monkeypatch.context() as broken:
        broken.setattr(Table, "put_many", put_some)
        with pytest.raises(TableRefused):
            Restorer(table, restored).run()
    assert Restorer(table, restored).run().missing == 20
    assert content(table) == content(restored)


def test_the_command_asks_and_tells(table: Table, restored: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    stack = Stack(boto3.session.Session(), {"TableName": table.name})
    monkeypatch.setattr(Stack, "connect", lambda **_: stack)
    damage(table)
    before = content(table)

    def run(*arguments: str, answer: str = "") -> str:
        result = CliRunner().invoke(restore, list(arguments), input=answer, catch_exceptions=False)
        return str(result.stdout)

    assert "are missing" not in run("restored", answer="n\n")
    assert content(table) == before
    differ = run("restored", "--dry-run")
    assert differ == "60 items are missing, 15 differ, 2 are new, 55 as they were.\n"
    done = run("restored", "--only-missing", answer="y\n")
    assert done.endswith("60 items put back, 15 that differ left alone, 55 as they were.\n")
    assert run("restored", "--yes") == "0 items put back, 15 set back, 2 removed, 115 as they were.\n"
    assert content(table) == content(restored)
    with pytest.raises(InvalidInput, match="another table than the stack's own"):
        run(table.name, "--yes")
