"""The feeds of the shared cases, which stand for kinds; siblings are in the other files of this folder."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sourcebook_cli.main import main
from tests.unit.feeds.documents import atom, rss

_ROOT = Path(__file__).parents[3]
CASES = Path(os.environ.get("SOURCEBOOK_SHARED", _ROOT.parent / "shared")) / "cases"
URL = "https://news.example/feeds/main.xml"


def parsed(path: Path, *more: str) -> dict[str, Any]:
    """Return what `feeds parse --json` prints of a file."""
    result = CliRunner().invoke(main, ["feeds", "parse", "--json", str(path), *more])
    assert result.exit_code == 0, result.output
    (found,) = json.loads(result.stdout)
    return dict(found)


def case(name: str) -> Path:
    """Return a file of the cases."""
    if not CASES.is_dir():
        pytest.skip("the folder shared/cases is not beside the checkout")
    return CASES / name


def times(found: dict[str, Any]) -> list[str | None]:
    """Return when the entries were published, as text."""
    moments = [entry["published"] for entry in found["entries"]]
    return [
        f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%dT%H:%M:%SZ}" if moment else None for moment in moments
    ]


def test_items_without_a_link_or_an_id_are_entries_apart() -> None:
    found = parsed(case("feed-no-link/in.xml"))
    assert len({entry["identity"] for entry in found["entries"]}) == 4
    assert [entry["link"] for entry in found["entries"]] == [None] * 4
    assert (found["link"], found["skipped"], found["left_out"]) == ("https://lifts.example/", [], {})


def test_a_year_of_an_extension_hides_no_date() -> None:
    assert times(parsed(case("feed-no-link/dates.xml"))) == ["2024-02-28T10:00:00Z"]


def test_zones_are_those_of_their_places() -> None:
    assert times(parsed(case("feed-zones/in.xml"))) == [
        "2023-03-19T03:21:00Z",
        "2023-02-09T19:19:00Z",
        "2023-02-09T14:49:00Z",
        "2023-02-09T19:19:00Z",
    ]


def test_links_are_resolved_against_the_address_that_is_given(tmp_path: Path) -> None:
    file = tmp_path / "feed.xml"
    file.write_bytes(
        rss(
            "<title>a</title><link>../a.html</link>",
            "<title>b</title><link>//other.example/b</link>",
            "<title>c</title><guid>/c</guid>",
            "<title>d</title><link>?d</link>",
            "<title>e</title>",
            "<title>f</title><guid isPermaLink='false'>f</guid>",
        )
    )
    assert [entry["link"] for entry in parsed(file, "--url", URL)["entries"]] == [
        "https://news.example/a.html",
        "https://other.example/b",
        "https://news.example/c",
        "https://news.example/feeds/main.xml?d",
        None,
        None,
    ]
    file.write_bytes(atom("<id>urn:1</id><title>a</title><link href='a'/>", attributes="xml:base='/x/'"))
    assert [e["link"] for e in parsed(file, "--url", URL)["entries"]] == ["https://news.example/x/a"]


def test_the_command_says_what_was_left_out_and_what_is_in_doubt(tmp_path: Path) -> None:
    file = tmp_path / "feed.xml"
    odd = "<title>b</title><pubDate>Sat, 18 Mar 2023 20:21:00 Mars/Phobos</pubDate>"
    file.write_bytes(rss("<guid>1</guid>", odd))
    result = CliRunner().invoke(main, ["feeds", "parse", str(file)])
    assert "item 0 is left out: it has neither a title nor a text" in result.stdout
    assert "Mars/Phobos' of item 1 cannot be read: nobody knows its zone" in result.stdout
