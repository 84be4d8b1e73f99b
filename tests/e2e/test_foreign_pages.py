"""What a page of another site gets from the embedded cloud of `make up`: nothing.

The cloud runs as `make up` runs it, without TLS and without IAM, with an HTTP API that stands for the stack's
own. The other sites are a page on another port of this machine, and a name that leads to it (DNS rebinding).
"""

from __future__ import annotations

import http.server
import io
import json
import socket
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from sourcebook_local.cloud import LocalCloud
from tests.browser import browser_path, expect, launched, new_page
from tests.e2e.conftest import VENV
from tests.e2e.test_cloud import make_function

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from playwright.sync_api import Page as BrowserPage

SECRET = "a-secret-of-the-stack"
HANDLER = """
PAGE = '''<!doctype html><title>the page</title><a id=link href="articles">articles</a><script>
fetch("articles").then(a => a.text()).then(text => fetch("feeds", {method: "POST", body: text}))
  .then(a => a.text()).then(text => { document.title = text })</script>'''
posts = []

def handler(event, context):
    method, path = event["requestContext"]["http"]["method"], event["rawPath"]
    if method == "POST":
        posts.append(path)
        return {"statusCode": 201, "body": "added " + event.get("body", "")}
    if path.endswith("/articles"):
        return {"statusCode": 200, "body": "an article"}
    if path.endswith("/posts"):
        return {"statusCode": 200, "body": str(len(posts))}
    return {"statusCode": 200, "body": PAGE, "headers": {"Content-Type": "text/html"}}
"""
HOSTILE = "news.evil.example"


@dataclass(frozen=True)
class Target:
    """The cloud and its API."""

    cloud: LocalCloud
    api_id: str

    @property
    def url(self) -> str:
        return self.cloud.api_url(self.api_id)

    def functions(self) -> set[str]:
        found = self.cloud.session().client("lambda").list_functions()["Functions"]
        return {function["FunctionName"] for function in found}

    def posts(self) -> int:
        return int(httpx.get(f"{self.url}/posts").text)


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    cloud = LocalCloud(tmp_path_factory.mktemp("open"), venv=VENV, port=0, say=print)
    cloud.start()
    try:
        session = cloud.session()
        session.client("secretsmanager").create_secret(Name="key", SecretString=SECRET)
        make_function(cloud, "page", [], HANDLER)
        function = "arn:aws:lambda:us-east-1:000000000000:function:page"
        gateway = session.client("apigatewayv2")
        api = gateway.create_api(Name="api", ProtocolType="HTTP")["ApiId"]
        integration = gateway.create_integration(
            ApiId=api, IntegrationType="AWS_PROXY", IntegrationUri=function, PayloadFormatVersion="2.0"
        )["IntegrationId"]
        for route, authorization in {"$default": "NONE", "ANY /of-users": "AWS_IAM"}.items():
            where = f"integrations/{integration}"
            gateway.create_route(ApiId=api, RouteKey=route, Target=where, AuthorizationType=authorization)
        gateway.create_stage(ApiId=api, StageName="$default", AutoDeploy=True)
        yield Target(cloud, api)
    finally:
        cloud.stop()


def raw(target: Target, request: str) -> str:
    """Send bytes, and return what comes back."""
    with socket.create_connection(("127.0.0.1", target.cloud.port), timeout=30) as client:
        client.sendall(request.replace("\n", "\r\n").encode())
        pieces = []
        while piece := client.recv(65536):
            pieces.append(piece)
    return b"".join(pieces).decode(errors="replace")


@pytest.mark.parametrize(
    "head",
    [
        "POST /?Action=DeleteStack&StackName=x HTTP/1.1\nHost: {host}",
        "POST / HTTP/1.1\nHost: {host}\nX-Amz-Target: secretsmanager.GetSecretValue",
        "GET /_ministack/reset HTTP/1.1\nHost: {api}.execute-api.localhost:{port}",
        "POST /_ministack/reset HTTP/1.1\nHost: {api}.execute-api.localhost:{port}",
        "POST /_ministack/reset HTTP/1.1\nHost: {host}",
        "POST http://{host}/_ministack/reset HTTP/1.1\nHost: {host}",
        "GET {path} HTTP/1.1\nHost: evil.example:{port}",
        "GET {path} HTTP/1.1\nHost: {host}\nHost: evil.example",
        "GET {path} HTTP/1.0",
        "GET {path} HTTP/1.1\nHost: {host}\nOrigin: http://evil.example",
        "OPTIONS {path}feeds HTTP/1.1\nHost: {host}\nOrigin: null\nAccess-Control-Request-Method: POST",
        "POST {path}feeds HTTP/1.1\nHost: {host}\nSec-Fetch-Site: same-site\nSec-Fetch-Mode: navigate",
        "POST {path}iam/feeds HTTP/1.1\nHost: {host}\nAuthorization: AWS4-x",
        "POST {path}of-users HTTP/1.1\nHost: {host}\nAuthorization: Bearer x",
        "POST {path}of-users HTTP/1.1\nHost: {host}",
    ],
)
def test_nothing_comes_of_a_request_that_no_client_of_the_stack_sends(target: Target, head: str) -> None:
    before = target.posts()
    filled = head.format(
        host=f"127.0.0.1:{target.cloud.port}",
        port=target.cloud.port,
        api=target.api_id,
        path=f"/_aws/execute-api/{target.api_id}/",
    )
    answer = raw(target, f"{filled}\nConnection: close\nContent-Length: 2\n\n{{}}")
    assert "access-control-allow-origin" not in answer.lower()
    assert SECRET not in answer
    # By the name of the API, a path of MiniStack's own is one of the API's.
    if "Host: {api}" not in head:
        assert answer.split(" ", 2)[1] in {"403", "400"}, answer
        assert target.posts() == before
    assert "page" in target.functions()
    assert target.cloud.session().client("secretsmanager").get_secret_value(SecretId="key")


def test_the_credentials_are_for_this_user_alone_and_of_this_stack_alone(target: Target) -> None:
    file = target.cloud.home / "credentials.json"
    assert file.stat().st_mode & 0o077 == 0
    other = LocalCloud(target.cloud.home.with_name("another"), venv=VENV, port=0)
    assert other.home != target.cloud.home
    assert len(json.loads(file.read_text())["secret_access_key"]) >= 40
    foreign = LocalCloud(target.cloud.home.with_name("foreign"), venv=VENV, port=0)
    foreign.home.mkdir()
    (foreign.home / "cloud.json").write_text((target.cloud.home / "cloud.json").read_text())
    with pytest.raises(foreign.session().client("sts").exceptions.ClientError):
        foreign.session().client("dynamodb").list_tables()


def test_a_signed_caller_gets_what_is_for_signed_callers(target: Target) -> None:
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest

    credentials = target.cloud.session().get_credentials()
    assert credentials is not None
    for path in ("iam/feeds", "of-users"):
        request = AWSRequest(
            "POST", f"{target.url}/{path}", data=b"signed", headers={"Content-Type": "text/plain"}
        )
        SigV4Auth(credentials, "execute-api", "us-east-1").add_auth(request)
        answer = httpx.post(f"{target.url}/{path}", content=b"signed", headers=dict(request.headers.items()))
        assert (answer.status_code, answer.text) == (201, "added signed")


# In a browser


@pytest.fixture(scope="module")
def site() -> Iterator[int]:
    """An empty page on another port of this machine."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = b"<!doctype html><title>another site</title>"
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if browser_path() is None:
        pytest.skip("no Chromium or Chrome here: `apt-get install chromium` on Debian")
    with launched(f"--host-resolver-rules=MAP {HOSTILE} 127.0.0.1") as found:
        yield found


@pytest.fixture
def page(browser: Browser) -> Iterator[BrowserPage]:
    opened = new_page(browser)
    yield opened
    opened.context.close()


ATTACK = """
async ([base, api, zip]) => {
  const tries = {};
  const attempt = async (name, url, options) => {
    try {
      const answer = await fetch(url, options);
      tries[name] = answer.status + " " + await answer.text();
    } catch (error) { tries[name] = "failed" }
  };
  const type = "application/x-amz-json-1.1";
  const target = {"X-Amz-Target": "secretsmanager.GetSecretValue", "Content-Type": type};
  const scope = "000000000000/20260101/us-east-1/secretsmanager/aws4_request";
  const key = {Authorization: `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=0`};
  const code = {FunctionName: "planted", Runtime: "python3.13", Handler: "handler.handler",
    Role: "arn:aws:iam::000000000000:role/page-role", Code: {ZipFile: zip}};
  const simple = {method: "POST", mode: "no-cors"};
  const body = '{"SecretId": "key"}', json = JSON.stringify(code);
  await attempt("secret", base + "/", {method: "POST", headers: target, body});
  await attempt("secret, signed", base + "/", {method: "POST", headers: {...target, ...key}, body});
  await attempt("secret, simple", base + "/?Action=GetSecretValue&SecretId=key", simple);
  await attempt("function", base + "/2015-03-31/functions", {method: "POST", body: json});
  await attempt("function, simple", base + "/2015-03-31/functions", {...simple, body: json});
  await attempt("reset", base + "/_ministack/reset", simple);
  await attempt("read", api + "/articles");
  await attempt("post", api + "/feeds", {method: "POST", body, headers: {"Content-Type": "text/json"}});
  await attempt("post, simple", api + "/feeds", {...simple, body});
  await attempt("put", api + "/feeds", {method: "PUT", body});
  return tries;
}
"""


SUBMIT = """url => {
  const form = document.createElement("form");
  form.method = "POST"; form.action = url;
  document.body.append(form); form.submit();
}"""
CLICK = """url => {
  const link = document.createElement("a");
  link.href = url;
  document.body.append(link); link.click();
}"""


def package() -> str:
    import base64

    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("handler.py", "def handler(event, context): return 1")
    return base64.b64encode(content.getvalue()).decode()


@pytest.mark.parametrize("foreign", ["another port", "another name of this machine", "a hostile name"])
def test_a_page_of_another_site_gets_nothing(
    target: Target, site: int, page: BrowserPage, foreign: str
) -> None:
    before = target.posts()
    name = {"another port": "127.0.0.1", "another name of this machine": "localhost"}.get(foreign, HOSTILE)
    page.goto(f"http://{name}:{site}/")
    tries = page.evaluate(ATTACK, [target.cloud.endpoint_url, target.url, package()])
    assert set(tries.values()) <= {"failed", "0 "}, tries
    # A form and a frame need no permission to be sent.
    for path in (f"{target.url}/feeds", f"{target.cloud.endpoint_url}/_ministack/reset"):
        page.goto(f"http://{name}:{site}/")
        with page.expect_navigation():
            page.evaluate(SUBMIT, path)
        expect(page.locator("body")).to_contain_text("pages of other sites")
    nothing_was_done(target, before)


def nothing_was_done(target: Target, posts: int) -> None:
    assert target.posts() == posts
    assert target.functions() == {"page"}
    assert (
        target.cloud.session().client("secretsmanager").get_secret_value(SecretId="key")["SecretString"]
        == SECRET
    )


def test_a_name_that_leads_here_is_another_site_even_at_our_port(target: Target, page: BrowserPage) -> None:
    """DNS rebinding: to the browser the page and the cloud are of one origin."""
    before = target.posts()
    port = target.cloud.port
    answer = page.goto(f"http://{HOSTILE}:{port}/_aws/execute-api/{target.api_id}/articles")
    assert answer is not None
    assert (answer.status, "Host is not" in answer.text()) == (403, True)
    own = f"http://{HOSTILE}:{port}"
    tries: dict[str, Any] = page.evaluate(ATTACK, [own, f"{own}/_aws/execute-api/{target.api_id}", package()])
    assert {tried.split(" ")[0] for tried in tries.values()} <= {"403", "failed"}, tries
    assert SECRET not in str(tries)
    nothing_was_done(target, before)


def test_the_stacks_own_page_works_and_a_link_from_elsewhere_opens_it(
    target: Target, site: int, page: BrowserPage
) -> None:
    page.goto(f"{target.url}/")
    expect(page).to_have_title("added an article")
    page.click("#link")
    expect(page.locator("body")).to_have_text("an article")
    page.goto(f"http://{HOSTILE}:{site}/")
    with page.expect_navigation():
        page.evaluate(CLICK, f"{target.url}/")
    expect(page).to_have_title("added an article")
    by_name = f"http://{target.api_id}.execute-api.localhost:{target.cloud.port}/"
    page.goto(by_name)
    expect(page).to_have_title("added an article")
