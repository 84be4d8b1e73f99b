"""The API and the command line judge the address of a feed alike, by what the stack fetches by."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit
from xml.sax.saxutils import quoteattr

import pytest
from click.testing import CliRunner

from sourcebook.api import feeds as api_feeds
from sourcebook.api.parts import Services
from sourcebook.api.requests import Request
from sourcebook.errors import InvalidInput
from sourcebook.sources.registry import SourceRegistry
from sourcebook.table.client import Table
from sourcebook_cli.main import main
from sourcebook_cli.stack import Stack
from tests.integration.cli.test_stack import stack_with
from tests.integration.cloud_over_http import cloud_over_http

pytestmark = pytest.mark.integration

NETWORKS = "127.0.0.0/8,::1/128"
KNOWN = "https://ledger.example/feed.xml"

Way = Callable[[str], str]
"""Registers an address in one way; returns what is said where it is refused, else nothing."""


class Local:
    """A local stack: its function, its API, and the command line."""

    def __init__(self, table: Table, endpoint: str, folder: Path) -> None:
        self.table, self.endpoint, self.folder = table, endpoint, folder
        self.port = urlsplit(endpoint).port
        environ = {"HTTP_ALLOWED_NETWORKS": NETWORKS, "AWS_ENDPOINT_URL": endpoint}
        nothing = cast("Any", None)
        services = Services(table=table, start=nothing, workflows=(), objects=nothing, environ=environ)
        self.api = services

    def addresses(self) -> set[str]:
        registry = SourceRegistry(self.table)
        return {source.url for source in registry.get_many(registry.list_ids()).values()}

    def by_api(self, url: str) -> str:
        return self._api({"url": url})

    def by_api_of_site(self, url: str) -> str:
        return self._api({"site": url})

    def _api(self, body: dict[str, str]) -> str:
        try:
            api_feeds._add_feed(self.api, Request("POST /feeds", body=json.dumps(body)))
        except InvalidInput as error:
            return str(error)
        return ""

    def by_import(self, url: str) -> str:
        report = self.api.once(api_feeds.manager).import_opml(opml(url))
        return " ".join(problem.message for problem in report.problems)

    def by_command(self, url: str) -> str:
        return self._run("feeds", "add", "--as-is", url)

    def by_command_of_site(self, url: str) -> str:
        return self._run("feeds", "add", url)

    def by_command_import(self, url: str) -> str:
        file = self.folder / "feeds.opml"
        file.write_text(opml(url), encoding="utf-8")
        return self._run("feeds", "import", str(file))

    def by_command_change(self, url: str) -> str:
        assert not self._run("feeds", "add", "--as-is", KNOWN, "--id", "known")
        return self._run("feeds", "change", "known", "--url", url)

    def by_command_file(self, url: str) -> str:
        file = self.folder / "sources.json"
        file.with_suffix(".yaml").write_text(json.dumps([{"source_id": "a", "url": url}]), encoding="utf-8")
        return self._run("sources", "add", str(file.with_suffix(".yaml")))

    def _run(self, *arguments: str) -> str:
        result = CliRunner().invoke(main, arguments)
        return result.stderr or (str(result.exception) if result.exception else "")


def opml(url: str) -> str:
    return f'<opml version="2.0"><body><outline type="rss" text="x" xmlUrl={quoteattr(url)}/></body></opml>'


WAYS = tuple(name for name in vars(Local) if name.startswith("by_"))
REFUSED = {
    "http://169.254.169.254/latest/meta-data": "not a public address",
    "http://2852039166/": "not a public address",
    "http://10.0.0.1/feed": "not a public address",
    "http://127.0.0.1:{port}/?Action=DeleteStack": "that of the embedded cloud",
    "http://localhost:{port}/": "that of the embedded cloud",
    "https://ledger.example:22/": "port 22 is not one of",
    "https://ledger.example/a\r\nHost: b": "control characters",
}


@pytest.fixture
def local(table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Local]:
    deployed = stack_with({"HTTP_ALLOWED_NETWORKS": NETWORKS}, table.name)
    with cloud_over_http() as endpoint:
        monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
        stack = dataclasses.replace(deployed, outputs={**deployed.outputs, "TableName": table.name})
        monkeypatch.setattr(Stack, "connect", lambda **_: stack)
        monkeypatch.setattr(Stack, "table", table)
        yield Local(table, endpoint, tmp_path)


@pytest.mark.parametrize("way", WAYS)
def test_no_way_registers_what_is_never_fetched(local: Local, way: str) -> None:
    for pattern, reason in REFUSED.items():
        url = pattern.format(port=local.port)
        said = getattr(local, way)(url)
        assert said, url
        if "site" not in way and ("\n" not in url or "import" not in way):
            assert reason in said
    assert local.addresses() <= {KNOWN}


@pytest.mark.parametrize("way", [way for way in WAYS if "site" not in way])
def test_what_a_local_server_serves_is_registered_by_every_way(local: Local, way: str) -> None:
    url = "http://127.0.0.1:8123/feed.xml"
    assert getattr(local, way)(url) == ""
    assert url in local.addresses()
