"""Every command, over a table in which every name and message wants to act on the terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import boto3
import boto3.session
import click
import pytest
from click.testing import CliRunner

from sourcebook.api.tokens import TokenStore
from sourcebook.feeds.settings import FeedSettings
from sourcebook.printable import is_printable
from sourcebook.records.subject import Subject
from sourcebook.sentiment.subjects import SubjectRegistry
from sourcebook.sources.model import parse_spec
from sourcebook_cli.main import main
from sourcebook_cli.stack import Stack
from tests.incoming import NOON
from tests.integration.integrity.healthy import BUCKET
from tests.integration.integrity.in_moto import built_in_moto
from tests.integration.observations.world import World
from tests.spectra_files import fits_spectrum

pytestmark = pytest.mark.integration

HOSTILE = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202egnirts\u2066\u200b\u2028\x7f[red]loud[/red]"
SHOWN = "[red]loud[/red]"

POISONED = {
    *("bank_name", "name", "primary_name", "last_error", "error_message", "raw_value", "subject", "title"),
    *("headline", "description", "note", "problem", "message", "donor", "discovery_date", "result"),
}
"""Fields whose text strangers write."""

TABLE_COMMANDS = [
    ("sources", "list"),
    ("feeds", "list"),
    ("subjects", "list"),
    ("token", "list"),
    ("runs", "list"),
    ("rates", "latest"),
    ("rates", "observations"),
    ("articles", "search", "loud"),
    ("decisions", "list"),
    ("providers", "list"),
    ("migrate", "--list"),
    ("status",),
    ("verify", "--patience", "0"),
]
OWN = {
    "completion",
    "up",
    "down",
    "reset",
    "serve-folder",
    "pause",
    "resume",
    "redrive",
    "restore",
    "canonical rebuild",
    "scrape",
    "donate",
    "catalogue release",
    "sentiment reanalyze",
    "photometry ingest",
    "photometry rebuild",
    "nova initialize",
    "nova deprecate",
    "nova merge",
    "nova restore",
    "nova split",
    "articles join",
    "articles split",
    "events remove",
    "events merge",
    "decisions undo",
    "alerts add",
    "alerts remove",
    "alerts test",
    "export",
    "observations remove",
    "providers set",
    "providers reset",
    "subjects load",
    "sources add",
    "sources fetch",
    "token create",
    "token revoke",
    "feeds add",
    "feeds enable",
    "feeds disable",
    "feeds priority",
    "feeds remove",
    "feeds import",
    "feeds change",
    "search rebuild",
    "workflows list",
    "workflows show",
    "workflows page",
    "env",
    "mcp",
}
"""Commands that start work of a stack or say one line of their own. `test_output` holds them to the place
that prints."""


@dataclass(frozen=True)
class Hostile:
    """A stack with hostile names, and what is in it."""

    stack: Stack
    nova_id: str
    run_id: str
    bank: str


@pytest.fixture(scope="module")
def hostile() -> Iterator[Hostile]:
    with pytest.MonkeyPatch.context() as patch, built_in_moto() as healthy:
        table = healthy.table
        stack = Stack(boto3.session.Session(), {"TableName": table.name, "BucketName": BUCKET})
        TokenStore(table).create("reader", ["read"], timedelta(days=1))
        stack.registry.register(
            parse_spec({"source_id": "wire", "name": "Wire", "url": "https://wire.example/feed.xml"})
        )
        SubjectRegistry(table).register([Subject(tool_id="orbita", kind="company", name="Orbita")])
        figures = World(table)
        figures.declare("official")
        figures.scrape("official", NOON, {(f"Harbor Bank{HOSTILE}", "deposit_online", "M0006"): 4.5})
        raw = boto3.resource("dynamodb").Table(table.name)
        items = raw.scan()["Items"]
        for item in items:
            ran = {"subject": HOSTILE} if item.get("entity_type") == "JobRun" else {}
            raw.put_item(Item=_poisoned(item) | ran)
        run = next(item for item in items if item.get("entity_type") == "JobRun")
        patch.setattr(Stack, "connect", lambda **_: stack)
        patch.setattr(Stack, "feed_settings", lambda _: FeedSettings())
        yield Hostile(stack, healthy.nova_id, str(run["job_run_id"]), f"Harbor Bank{HOSTILE}")


def _poisoned(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: _poisoned(one, key) for key, one in value.items()}
    if isinstance(value, list):
        return [_poisoned(one, name) for one in value]
    return value + HOSTILE if isinstance(value, str) and name in POISONED else value


def held(*arguments: str, shows: bool = True) -> str:
    """Run a command, and hold what it prints to be printable."""
    result = CliRunner().invoke(main, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    bad = {f"U+{ord(c):04X}" for c in result.output if not (is_printable(c) or c in "\n\t")}
    assert not bad, f"{' '.join(arguments)}: {bad}"
    assert not shows or SHOWN in result.output, result.output
    return result.output


@pytest.mark.parametrize("command", TABLE_COMMANDS, ids=" ".join)
def test_no_command_lets_a_name_act_on_the_terminal(hostile: Hostile, command: tuple[str, ...]) -> None:
    held(*command, shows=command[0] in {"feeds", "subjects", "token", "runs", "rates"})
    if command[0] not in {"status", "migrate"}:
        held(*command, "--json", shows=command[0] in {"feeds", "subjects", "token", "runs", "rates"})


def test_one_thing_is_shown_as_safely_as_a_list(hostile: Hostile) -> None:
    held("runs", "show", hostile.run_id)
    held("runs", "show", hostile.run_id, "--json")
    held("nova", "show", "V1324 Sco")
    held("nova", "show", "V1324 Sco", "--json")
    held("nova", "show", f"V9999 Sco{HOSTILE}", shows=False)
    held("nova", "list", shows=False)
    held("nova", "list", "--json", shows=False)
    held("nova", "find", f"V9999 Sco{HOSTILE}", shows=False)
    held("nova", "references", "V1324 Sco", shows=False)
    held("alerts", "list", shows=False)
    held("alerts", "log", HOSTILE, shows=False)
    held("feeds", "explain", "wire", shows=False)
    held("feeds", "explain", f"wire{HOSTILE}", shows=False)
    held("feeds", "export")
    held("rates", "history", "--bank", hostile.bank, "--series", "deposit_online", "--term", "6", shows=False)
    held("rates", "latest", "--series", HOSTILE, shows=False)


def test_a_search_that_finds_nothing_says_when_a_new_article_is_found(hostile: Hostile) -> None:
    result = CliRunner().invoke(main, ["articles", "search", "zzzunheardof"])
    assert (result.exit_code, result.stdout) == (0, "")
    assert "No article is found." in result.stderr


def test_what_is_read_from_files_is_shown_as_safely(tmp_path: Path) -> None:
    rates = tmp_path / "rates.csv"
    rates.write_text(
        f'bank,term,rate\n"Harbor {HOSTILE}",6,4.5\n"{HOSTILE}",x{HOSTILE},y{HOSTILE}\n', "utf-8"
    )
    source = tmp_path / "source.json"
    options = {
        "series": [{"code": "d", "kind": "deposit"}],
        "bank": "bank",
        "term": "term",
        "value": "rate",
        "delimiter": ",",
    }
    source.write_text(
        json.dumps(
            {"source_id": "s", "kind": "csv", "url": "https://a.example/rates.csv", "options": options}
        )
    )
    held("observations", "parse", str(source), str(rates))
    held("observations", "parse", str(source), str(rates), "--json")
    feed = tmp_path / "feed.xml"
    title = HOSTILE.replace("\x1b", "").replace("\x07", "")
    feed.write_text(
        f"<rss version='2.0'><channel><title>t</title><item><title>{title}</title><link>https://a.example/1</link></item></channel></rss>",
        "utf-8",
    )
    held("feeds", "parse", str(feed))
    held("feeds", "parse", str(feed), "--json")
    curve = tmp_path / f"curve{HOSTILE.replace('/', '')}.csv"
    curve.write_text(
        f"jd,mag,err,band,object\n2456079.9,11.1,0.01,V,{HOSTILE}\nx{HOSTILE},1,1,V,a\n", "utf-8"
    )
    held("photometry", "check", str(curve), shows=False)
    held("photometry", "check", str(curve), "--json", shows=False)
    spectrum = tmp_path / f"spectrum{HOSTILE.replace('/', '')}.fits"
    spectrum.write_bytes(fits_spectrum())
    held("spectra", "check", str(spectrum), shows=False)
    held("articles", "key", HOSTILE, "--date", "2026-11-28", shows=False)
    lines = tmp_path / "lines.txt"
    lines.write_text(HOSTILE.replace("\u2028", "") + "\n", "utf-8")
    held("sentiment", "label", str(lines), "--engine", "fallback", "--json")
    held("nova", "normalize", HOSTILE, shows=False)
    held("subjects", "find", HOSTILE, shows=False)
    held("doctor", "--json", shows=False)


def test_every_command_is_run_here_or_says_only_lines_of_its_own() -> None:
    run = {
        *(
            " ".join(word for word in command if not word.startswith("-") and word != "0")
            for command in TABLE_COMMANDS
        ),
        *("runs show", "nova show", "nova normalize", "feeds explain", "feeds export", "feeds parse"),
        *("rates history", "observations parse", "photometry check", "spectra check", "articles key"),
        *("sentiment label", "subjects find", "doctor", "articles search"),
        *("nova list", "nova find", "nova references", "alerts list", "alerts log"),
    }
    assert set(_leaves(main, "")) - OWN - run == set()


def _leaves(command: click.Command, path: str) -> Iterator[str]:
    if not isinstance(command, click.Group):
        yield path
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        assert found is not None
        yield from _leaves(found, f"{path} {name}".strip())
