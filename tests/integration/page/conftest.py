"""The real page and the real API over a table and a bucket in moto, looked at in a browser.

A stack is not needed, so that these tests take a second each. Skipped without a Chromium or Chrome.
"""

from __future__ import annotations

import importlib.util
import json
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import boto3
import pytest
from moto import mock_aws

from infra.page import PACKAGE, ROUTES, build
from sourcebook.api.page import StaticFiles
from sourcebook.api.tokens import TokenStore
from sourcebook.bucket.objects import Objects
from sourcebook.table.keys import Shards
from tests.browser import browser_path, check_accessibility, expect, launched, new_page, open_page
from tests.integration.api.conftest import HANDLER, Context
from tests.integration.api.gateway import Gateway
from tests.integration.page.world import World, fill
from tests.moto_table import MotoTable
from tests.templates import table_definition

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WORKFLOWS = (
    "acquire_and_validate_spectra",
    "curate_nova",
    "export_period",
    "initialize_nova",
    "refresh_sources",
)
_ARN = "arn:aws:states:us-east-1:123456789012:stateMachine:SourcebookPipeline-"


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its own name
        pass


class _Threads(ThreadingMixIn, WSGIServer):
    """A browser keeps connections open that it does not use yet."""

    daemon_threads = True


@dataclass
class Site:
    """The page, served.

    Attributes:
        url: its address.
        world: what is in it.
        token: lets write.
        one_at_a_time: held while the table or the bucket is asked: moto takes no two at once.
    """

    url: str
    world: World
    token: str
    handler: Any
    one_at_a_time: threading.Lock


@contextmanager
def serving(files: Callable[[], StaticFiles], port: int = 0) -> Iterator[Site]:
    """Serve the page and the API over a filled table."""
    with mock_aws(), pytest.MonkeyPatch.context() as environment:
        client = boto3.client("dynamodb", region_name="us-east-1")
        name = f"sourcebook-{uuid.uuid4().hex}"
        client.create_table(**table_definition() | {"TableName": name})
        s3 = boto3.client("s3", region_name="us-east-1")
        s3.create_bucket(Bucket=name)
        table = MotoTable(name, client, shards=Shards.from_environment())
        machines = boto3.client("stepfunctions", region_name="us-east-1")
        for workflow in WORKFLOWS:
            machines.create_state_machine(
                name=f"SourcebookPipeline-{workflow}",
                definition=json.dumps({"StartAt": "A", "States": {"A": {"Type": "Pass", "End": True}}}),
                roleArn="arn:aws:iam::123456789012:role/a",
            )
        sns = boto3.client("sns", region_name="us-east-1")
        for variable, value in {
            "ARTICLE_TOPIC_ARN": sns.create_topic(Name="articles")["TopicArn"],
            "TABLE_NAME": name,
            "BUCKET_NAME": name,
            "WORKFLOW_ARN_PREFIX": _ARN,
            "WORKFLOWS": ",".join(WORKFLOWS),
            "PUBLIC_READ": "true",
            "HTTP_ALLOWED_NETWORKS": "127.0.0.0/8",
            "AWS_DEFAULT_REGION": "us-east-1",
            "POWERTOOLS_SERVICE_NAME": "api",
            "POWERTOOLS_LOG_LEVEL": "CRITICAL",
        }.items():
            environment.setenv(variable, value)
        world = fill(table, Objects(s3, name))
        _, token = TokenStore(table).create("browser test", ["write"], timedelta(days=1))
        spec = importlib.util.spec_from_file_location("page_api_handler", HANDLER)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        pages = {f"GET {path}" for path in ROUTES}
        gateway = Gateway(pages)
        one_at_a_time = threading.Lock()

        def answer(event: dict[str, Any]) -> dict[str, Any]:
            if event["routeKey"] in pages:
                return files().answer(event)
            with one_at_a_time:
                answered: dict[str, Any] = module.handler(event, Context())
                return answered

        gateway.answer = answer
        with make_server("127.0.0.1", port, gateway, _Threads, _Quiet) as server:
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
            yield Site(f"http://127.0.0.1:{server.server_port}", world, token, module, one_at_a_time)
            server.shutdown()


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    if browser_path() is None:
        pytest.skip("no Chromium or Chrome: `apt-get install chromium`")
    built = StaticFiles(build() / "python" / PACKAGE)
    with serving(lambda: built) as served:
        yield served


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as found:
        yield found


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that fails the test for what the browser complains of, apart from answers that are refusals."""
    opened = new_page(
        browser,
        viewport={"width": 1200, "height": 900},
        locale="en-US",
        timezone_id="UTC",
        accept_downloads=True,
    )
    complaints: list[str] = []

    def complain(message: Any) -> None:
        refused = message.text.startswith("Failed to load resource")
        if message.type in {"error", "warning"} and not refused:
            complaints.append(message.text)

    opened.on("console", complain)
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    yield opened
    opened.context.close()
    assert not complaints


@dataclass
class Look:
    """Opens views."""

    page: Page
    site: Site

    def at(self, view: str) -> Page:
        """Open a view, wait until it has what it asked for, and check it with axe."""
        open_page(self.page, f"{self.site.url}/{view}")
        check_accessibility(self.page)
        return self.page

    def enter_token(self) -> None:
        """Enter the token in the dialog that is open."""
        self.page.get_by_label("Token", exact=True).fill(self.site.token)
        self.page.get_by_role("button", name="Use it").click()

    def tab_to(self, name: str, role: str) -> None:
        """Go on from control to control until the one of this name, as one does who sees the focus."""
        wanted = self.page.get_by_role(role, name=name, exact=True)  # type: ignore[arg-type]
        expect(wanted).to_be_visible()
        for _ in range(60):
            self.page.keyboard.press("Tab")
            if wanted.evaluate("one => one === document.activeElement"):
                return
        raise AssertionError(f"no {role} {name} within 60 steps")


@pytest.fixture
def look(page: Page, site: Site) -> Look:
    return Look(page, site)
