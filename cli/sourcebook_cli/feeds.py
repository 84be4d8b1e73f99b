"""Feeds: adding, changing and removing them, lists in and out, and `feeds parse`, which needs no stack."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sourcebook.feeds.model import NotAFeed
from sourcebook.feeds.parse import describe, parse_feed
from sourcebook_cli.output import Styled, confirm, say, say_json, say_xml, show_table

if TYPE_CHECKING:
    from sourcebook.feeds.discovery import Discovery
    from sourcebook.feeds.manage import FeedManager

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)

# The same as in `sourcebook_cli.stack`, whose imports `feeds parse` does without.
on_aws = click.option(
    "--aws", is_flag=True, help="The stack on AWS, with your own credentials, instead of the local one."
)


@click.group()
def feeds() -> None:
    """Feeds: add, list, change, remove, import and export them; see what a feed holds."""


@feeds.command()
@click.argument("addresses", nargs=-1, required=True, metavar="URL|SITE...")
@click.option("--as-is", is_flag=True, help="The addresses are those of feeds: register them without asking.")
@click.option("--name", help="Its name; otherwise the feed's own title.")
@click.option("--id", "feed_id", help="Its id; otherwise one made from its address.")
@click.option("--priority", type=click.IntRange(0, 9999), help="The lower number is fetched first.")
@click.option("--tag", "tags", multiple=True, help="Given to all its articles; may be repeated.")
@on_aws
def add(
    *,
    addresses: tuple[str, ...],
    as_is: bool,
    name: str | None,
    feed_id: str | None,
    priority: int | None,
    tags: tuple[str, ...],
    aws: bool,
) -> None:
    """Add feeds by their own address, or by that of their site."""
    from sourcebook.errors import InvalidInput, SourcebookError

    if feed_id is not None and len(addresses) > 1:
        raise InvalidInput("--id", feed_id, "an id for one feed: add the feeds one by one")
    manager = _manager(aws=aws)
    chosen = {"name": name, "feed_id": feed_id, "priority": priority, "tags": list(tags) or None}
    values = {field: value for field, value in chosen.items() if value is not None}
    failed = 0
    for address in addresses:
        try:
            title, url, others = "", address, tuple[str, ...]()
            if not as_is:
                found = asyncio.run(_discover(manager, address, local=not aws))
                title, url, others = found.title, found.url, found.others
            added = manager.add({**values, "url": url}, name=title)
        except SourcebookError as error:
            failed += 1
            say(Styled(f"{address}: {error}", "red"), err=True)
            continue
        state = "added; it is fetched within a minute" if added.new else "known"
        say(f"{added.feed.source_id}  {url}  {state}")
        for other in others:
            say(f"  also announced: {other}")
    if failed:
        sys.exit(1)


@feeds.command("list")
@click.option("--health", type=click.Choice(("new", "healthy", "failing", "disabled")), help="Only these.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@on_aws
def list_feeds(health: str | None, as_json: bool, aws: bool) -> None:
    """List the feeds with their health and their next fetch."""
    from sourcebook.sources.registry import NEVER

    found = [feed.shown() for feed in _manager(aws=aws).feeds()]
    shown = sorted(
        (feed for feed in found if health in {None, feed["health"]}), key=lambda feed: str(feed["feed_id"])
    )
    if as_json:
        for feed in shown:
            say_json(feed)
        return
    show_table(
        ("feed", "name", "health", "priority", "next fetch", "articles a fetch", "cause"),
        [
            (
                feed["feed_id"],
                feed["name"],
                feed["health"],
                str(feed["priority"]),
                "never: disabled by hand" if (due := feed["next_fetch_time"]) == NEVER else due,
                f"{feed['avg_articles_per_fetch']:.2f}",
                feed["last_cause"],
            )
            for feed in shown
        ],
        whole=("feed", "health", "priority", "next fetch"),
    )


@feeds.command()
@click.argument("feed_ids", nargs=-1, required=True)
@on_aws
def enable(feed_ids: tuple[str, ...], aws: bool) -> None:
    """Poll feeds again, beginning now."""
    manager = _manager(aws=aws)
    _each(feed_ids, lambda feed_id: manager.change(feed_id, {"enabled": True}), "enabled")


@feeds.command()
@click.argument("feed_ids", nargs=-1, required=True)
@on_aws
def disable(feed_ids: tuple[str, ...], aws: bool) -> None:
    """Stop polling and probing feeds until they are enabled again."""
    manager = _manager(aws=aws)
    _each(feed_ids, lambda feed_id: manager.change(feed_id, {"enabled": False}), "disabled")


@feeds.command()
@click.argument("feed_id")
@click.argument("number", type=click.IntRange(0, 9999))
@on_aws
def priority(feed_id: str, number: int, aws: bool) -> None:
    """Set a feed's priority: of the feeds that are due, the lower NUMBER is fetched first."""
    manager = _manager(aws=aws)
    _each([feed_id], lambda one: manager.change(one, {"priority": number}), f"priority {number}")


@feeds.command()
@click.argument("feed_id")
@click.option("--url", help="Where the feed is now; its articles and its id stay.")
@click.option(
    "--interval", type=click.IntRange(1, 1440), help="Longest time between two fetches, in minutes."
)
@click.option("--name", help="How it is called.")
@on_aws
def change(feed_id: str, url: str | None, interval: int | None, name: str | None, aws: bool) -> None:
    """Change a feed's address, longest interval or name."""
    given = {"url": url, "interval_minutes": interval, "name": name}
    values = {field: value for field, value in given.items() if value is not None}
    _each([feed_id], lambda one: _manager(aws=aws).change(one, values), "changed")


@feeds.command()
@click.argument("feed_ids", nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
@on_aws
def remove(feed_ids: tuple[str, ...], yes: bool, aws: bool) -> None:
    """Delete feeds with their history. Their articles stay until they expire."""
    if not yes:
        confirm(f"Delete {', '.join(feed_ids)} with their history?")
    _each(feed_ids, _manager(aws=aws).remove, "removed")


@feeds.command("import")
@click.argument("file", type=_FILE)
@on_aws
def import_feeds(file: Path, aws: bool) -> None:
    """Add the feeds of an OPML FILE. Known ones are left as they are."""
    report = _manager(aws=aws).import_opml(file.read_bytes())
    if report.mended:
        say(f"{file}: {report.mended}", err=True)
    for problem in report.problems:
        say(f"{file}, line {problem.line}: {problem.message}", err=True)
    say(
        f"{len(report.added)} feeds added, {len(report.known)} known, {len(report.problems)} problems. "
        "New ones are fetched within a minute."
    )


@feeds.command("export")
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="Instead of printing.")
@click.option("--opml-version", type=click.Choice(("1.0", "2.0")), default="2.0", show_default=True)
@on_aws
def export_feeds(output: Path | None, opml_version: str, aws: bool) -> None:
    """Print all feeds as OPML."""
    text = _manager(aws=aws).export_opml(version=opml_version)
    if output is None:
        say_xml(text)
        return
    output.write_text(text, encoding="utf-8")
    say(f"{text.count('<outline ')} feeds in {output}")


@feeds.command()
@click.argument("feed_id")
@on_aws
def explain(feed_id: str, aws: bool) -> None:
    """Explain when a feed is fetched next, by the settings of the stack."""
    from sourcebook.clock import isoformat, utc_now
    from sourcebook.feeds import schedule
    from sourcebook.sources.registry import NEVER
    from sourcebook_cli.stack import Stack

    stack = Stack.connect(aws=aws)
    source = stack.registry.get(feed_id)
    if source is None or source.kind != "feed":
        raise _no_feed(feed_id)
    for line in schedule.explain(source, utc_now(), settings=stack.feed_settings()):
        say(line)
    if not source.enabled and isoformat(source.next_fetch_time) == NEVER:
        say(f"`sourcebook feeds enable {feed_id}` does so.")


@feeds.command()
@click.argument("files", nargs=-1, required=True, type=_FILE)
@click.option("--url", default="", help="Where the feed comes from: relative links are resolved against it.")
@click.option("--json", "as_json", is_flag=True, help="Everything, as a JSON list.")
def parse(files: tuple[Path, ...], url: str, as_json: bool) -> None:
    """Parse feed FILES and print their entries."""
    found = []
    for file in files:
        try:
            found.append(describe(parse_feed(file.read_bytes(), url=url), file))
        except NotAFeed as error:
            found.append(describe(error, file))
    if as_json:
        say_json(found)
        return
    for described in found:
        outcome = described["cause"] or f"{len(described['entries'])} entries"
        say(f"{described['file']}: {outcome} ({described['parser'] or described['message']})")
        for entry in described["entries"]:
            say(f"  {entry['headline']}  {entry['link'] or ''}")
        for skipped in described["skipped"]:
            say(Styled(f"  item {skipped['position']} is left out: {skipped['reason']}", "yellow"))
        for reason, count in described["left_out"].items():
            say(Styled(f"  {count} more are left out: {reason.replace('_', ' ')}", "yellow"))
        for warning in described["warnings"]:
            say(Styled(f"  {warning}", "yellow"))


def _manager(*, aws: bool) -> FeedManager:
    from sourcebook.feeds.manage import FeedManager
    from sourcebook_cli.stack import Stack

    stack = Stack.connect(aws=aws)
    return FeedManager(stack.table, settings=stack.feed_settings(), policy=lambda: stack.http_policy)


async def _discover(manager: FeedManager, address: str, *, local: bool) -> Discovery:
    from sourcebook.feeds.discovery import discover
    from sourcebook.http.client import HttpClient
    from sourcebook_local.folder import SERVED_PORTS
    from sourcebook_local.project import HOME

    if local:
        # As the functions: of this machine only the servers that were started for it, never the cloud.
        policy = replace(manager.http_policy(), loopback_ports=HOME / SERVED_PORTS)
    else:  # this machine asks, and is in no network of the stack
        policy = manager.settings.http_policy()
    async with HttpClient(policy) as http:
        return await discover(http, address)


def _each(feed_ids: Iterable[str], act: Callable[[str], Any], done: str) -> None:
    """Call `act` for each feed; print an error for an unknown id and go on."""
    failed = 0
    for feed_id in feed_ids:
        if act(feed_id):
            say(f"{feed_id}: {done}")
        else:
            failed += 1
            say(Styled(str(_no_feed(feed_id)), "red"), err=True)
    if failed:
        sys.exit(1)


def _no_feed(feed_id: str) -> Exception:
    from sourcebook.errors import InvalidInput

    return InvalidInput("feed_id", feed_id, "the id of a feed; `sourcebook feeds list` shows them")
