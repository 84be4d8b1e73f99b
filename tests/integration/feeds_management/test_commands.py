"""`sourcebook feeds …` on a table."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner, Result

from sourcebook.feeds.manage import FeedManager
from sourcebook.feeds.opml import parse_opml, source_id_for
from sourcebook.feeds.settings import FeedSettings
from sourcebook.sources.model import parse_spec
from sourcebook.sources.registry import SourceRegistry
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook_cli import feeds as commands
from sourcebook_cli import stack
from sourcebook_cli.main import main
from sourcebook_local.folder import SERVED_PORTS

pytestmark = pytest.mark.integration

URL = "https://ledger.example/feed.xml"
ID = source_id_for(URL)

Run = Callable[..., Result]


@dataclass
class Connected:
    """A stack of which there is only the table."""

    table: Table

    @property
    def registry(self) -> SourceRegistry:
        return SourceRegistry(self.table)

    def feed_settings(self) -> FeedSettings:
        return FeedSettings()


@pytest.fixture
def run(table: Table, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setattr(stack.Stack, "connect", lambda **_: Connected(table))
    manager = FeedManager(
        table, parallel=1, policy=lambda: FeedSettings().http_policy(allowed_networks="127.0.0.0/8")
    )
    monkeypatch.setattr(commands, "_manager", lambda **_: manager)

    def invoke(*arguments: str, code: int = 0) -> Result:
        result = CliRunner().invoke(main, ["feeds", *arguments], env={"COLUMNS": "200"})
        assert result.exit_code == code, result.output
        return result

    return invoke


def state(table: Table, feed_id: str = ID) -> dict[str, Any]:
    item = table.get(keys.source(feed_id), consistent=True)
    assert item is not None
    return item


def test_a_feed_goes_through_its_life(run: Run, table: Table) -> None:
    assert (
        "added" in run("add", "--as-is", URL, "--priority", "4", "--tag", "ports", "--name", "Ledger").stdout
    )
    assert "known" in run("add", "--as-is", URL).stdout
    assert (state(table)["priority"], state(table)["tags"], state(table)["name"]) == (4, ["ports"], "Ledger")
    run("priority", ID, "2")
    run("disable", ID)
    assert (state(table)["priority"], state(table)["enabled"]) == (2, False)
    listed = run("list").stdout
    assert "disabled by hand" in listed
    assert f"`sourcebook feeds enable {ID}`" in run("explain", ID).stdout
    run("enable", ID)
    (served,) = map(json.loads, run("list", "--json").stdout.splitlines())
    assert (served["feed_id"], served["health"], served["enabled"]) == (ID, "new", True)
    assert run("list", "--json", "--health", "disabled").stdout == ""
    assert "due" in run("explain", ID).stdout
    run("remove", ID, "--yes")
    assert table.get(keys.source(ID)) is None


def test_a_site_is_asked_for_its_feed(
    run: Run,
    table: Table,
    site: Callable[[dict[str, bytes]], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sourcebook_local.project.HOME", tmp_path)
    feed = b"<rss version='2.0'><channel><title>Tide</title><item><title>a</title></item></channel></rss>"
    announced = b"<link rel=alternate type=application/rss+xml href=%b>"
    address = site({"/": announced % b"/a.xml" + announced % b"/b.xml", "/a.xml": feed})
    assert "not that of a server" in run("add", address, code=1).stderr
    (tmp_path / SERVED_PORTS).write_text(str(urlsplit(address).port))
    result = run("add", address, f"{address}/nothing", code=1)
    assert f"also announced: {address}/b.xml" in result.stdout
    assert f"{address}/nothing: not_found" in result.stderr
    (added,) = FeedManager(table).feeds()
    assert (added.url, added.name) == (f"{address}/a.xml", "Tide")


def test_one_bad_address_does_not_lose_the_others(run: Run, table: Table) -> None:
    result = run("add", "--as-is", "ftp://a.example/", URL, code=1)
    assert "ftp://a.example/" in result.stderr
    assert state(table)["url"] == URL
    result = run("enable", "nobody", ID, code=1)
    assert "sourcebook feeds list" in result.stderr
    assert f"{ID}: enabled" in result.stdout


def test_removing_asks_first(run: Run, table: Table) -> None:
    run("add", "--as-is", URL)
    run("remove", ID, code=1)
    assert state(table)["url"] == URL


@pytest.mark.parametrize("command", [("explain",), ("priority", "3")])
def test_an_unknown_feed_is_named(run: Run, command: tuple[str, ...]) -> None:
    name, *rest = command
    assert "'nobody'" in run(name, "nobody", *rest, code=1).stderr


def test_a_source_that_is_no_feed_is_not_explained(run: Run, table: Table) -> None:
    SourceRegistry(table).register(
        parse_spec({"source_id": "rates", "kind": "html_table", "url": "https://bank.example/"})
    )
    run("explain", "rates", code=1)


def test_lists_go_in_and_out(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "mine.opml"
    file.write_bytes(
        f'<opml><body><outline text="Zażółć & co" xmlUrl={URL}>\n<outline xmlUrl="ftp://b.example/"/>'.encode(
            "cp1250"
        )
    )
    result = run("import", str(file))
    assert "1 feeds added, 0 known, 1 problems" in result.stdout
    assert "read outline by outline" in result.stderr
    assert f"{file}, line 2: url: 'ftp://b.example/'" in result.stderr

    assert [feed.feed_id for feed in parse_opml(run("export").stdout).feeds] == [ID]
    written = tmp_path / "out.opml"
    assert "1 feeds" in run("export", "-o", str(written), "--opml-version", "1.0").stdout
    assert '<opml version="1.0">' in written.read_text("utf-8")


def test_one_id_cannot_be_given_to_two_feeds(run: Run) -> None:
    assert "--id" in run("add", "--as-is", "--id", "x", URL, f"{URL}2", code=1).stderr


def test_a_feed_that_errors_have_disabled_is_explained_by_its_probe(run: Run, table: Table) -> None:
    run("add", "--as-is", URL)
    disabled = {"enabled": False, "last_error": "status 410", "next_fetch_time": "2026-12-04T00:00:00Z"}
    table.update(keys.source(ID), assign=disabled)
    assert "It is disabled (status 410); this is a probe." in run("explain", ID).stdout


def test_a_feed_is_explained_by_the_settings_that_the_stack_polls_with(
    run: Run, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("add", "--as-is", URL)
    polled = {"fetch_count": 9, "last_success_at": "2026-11-27T12:00:00Z", "rate": Decimal(30)}
    table.update(keys.source(ID), assign={**polled, "last_fetch_at": "2026-11-27T12:00:00Z"})
    assert "5 more are expected within 10 minutes" in run("explain", ID).stdout
    deployed = FeedSettings(target_articles_per_fetch=2)
    monkeypatch.setattr(Connected, "feed_settings", lambda _: deployed)
    assert "2 more are expected within 4 minutes" in run("explain", ID).stdout
