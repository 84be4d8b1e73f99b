"""Making, listing and removing rules: over the API, by its client, and on the command line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import boto3
import pytest
from click.testing import CliRunner
from standardwebhooks.webhooks import Webhook

from sourcebook.alerts.deliveries import DeliveryStore
from sourcebook.alerts.rules import RuleStore
from sourcebook.api.access import AccessControl
from sourcebook.api.idempotency import IdempotentRequests
from sourcebook.api.parts import Services
from sourcebook.api.routes import Api
from sourcebook.api.tokens import TokenStore
from sourcebook.client import Client, Forbidden, Invalid, NotFound
from sourcebook.http.policy import HttpPolicy
from sourcebook.records.alert import KINDS
from sourcebook.records.subject import Subject
from sourcebook.sentiment.subjects import SubjectRegistry
from sourcebook.table.client import Table
from sourcebook_cli.main import main
from sourcebook_cli.stack import Stack as DeployedStack
from tests.integration.programs.conftest import through_gateway
from tests.served import served

pytestmark = pytest.mark.integration

NOTHING: Any = None
HOOK = "https://desk.example/hooks/sourcebook"


@pytest.fixture
def topic(aws: None) -> str:
    return str(boto3.client("sns", region_name="us-east-1").create_topic(Name="mails")["TopicArn"])


@pytest.fixture
def client(table: Table, topic: str) -> Iterator[Client]:
    from datetime import timedelta

    SubjectRegistry(table).register([Subject("AAPL", "Apple", "company", ticker="AAPL")])
    services = Services(
        table=table,
        start=NOTHING,
        workflows=(),
        objects=lambda: NOTHING,
        environ={"ALERT_TOPIC_ARN": topic},
    )
    api = Api(
        AccessControl(TokenStore(table), public_read=True),
        IdempotentRequests(table),
        services,
    )
    token = TokenStore(table).create("a test", ["write"], timedelta(days=1))[1]
    with served(through_gateway(api)) as server, Client(server.url, token) as made:
        yield made


def test_a_rule_is_made_listed_and_removed(client: Client, table: Table) -> None:
    made = client.add_alert("article", name="Strikes", q='harbor "on strike"', webhook=HOOK)
    assert made.secret is not None
    assert Webhook(made.secret).sign("evt", made.created_at, "{}").startswith("v1,")
    other = client.add_alert("sentiment", subject="apple", change=0.2)
    assert (other.subject, other.mentions, other.secret) == ("AAPL", 5, None)
    listed = list(client.alerts(size=1))
    assert [rule.alert_id for rule in listed] == [made.alert_id, other.alert_id] or len(listed) == 2
    assert "secret" not in listed[0].model_dump()
    assert RuleStore(table).version() == 2
    assert client.remove_alert(made.alert_id).deleted
    with pytest.raises(NotFound):
        client.remove_alert(made.alert_id)
    assert [rule.alert_id for rule in client.alerts()] == [other.alert_id]


def test_deliveries_are_listed_page_by_page(client: Client, table: Table) -> None:
    made = client.add_alert("run")
    rule = RuleStore(table).get(made.alert_id)
    assert rule is not None
    for number in range(3):
        assert DeliveryStore(table).fire(rule, "run", f"{number}", "2026-11-27T12:00:00Z", {"n": number})
    assert not DeliveryStore(table).fire(rule, "run", "2", "2026-11-27T12:00:00Z", {"n": 2})
    found = list(client.deliveries(made.alert_id, size=2))
    assert len({one.event_id for one in found}) == 3
    assert {(one.state, one.attempts, tuple(one.waiting_for)) for one in found} == {("PENDING", 0, ("bus",))}
    with pytest.raises(NotFound):
        client.deliveries("0" * 16).take(1)


def test_who_has_a_mail_address_is_asked(client: Client, topic: str) -> None:
    for _ in range(2):
        client.add_alert("run", mail="desk@example.com")
    sns = boto3.client("sns", region_name="us-east-1")
    (one,) = sns.list_subscriptions_by_topic(TopicArn=topic)["Subscriptions"]
    assert (one["Protocol"], one["Endpoint"]) == ("email", "desk@example.com")


@pytest.mark.parametrize(
    ("fields", "parameter"),
    [
        ({"kind": "weather"}, "kind"),
        ({"kind": "article"}, "q"),
        ({"kind": "article", "q": "soruce:x"}, "q"),
        ({"kind": "article", "q": "ferry since:7d"}, "q"),
        ({"kind": "article", "q": "subject:nobody"}, "subject"),
        ({"kind": "article", "q": "ferry", "errors": 3}, "errors"),
        ({"kind": "sentiment", "subject": "nobody"}, "subject"),
        ({"kind": "sentiment", "subject": "AAPL", "change": 3}, "change"),
        ({"kind": "sentiment", "subject": "AAPL", "mentions": 0}, "mentions"),
        ({"kind": "rate"}, "series_code"),
        ({"kind": "source", "errors": 1.5}, "errors"),
        ({"kind": "spectrum", "verdict": "FINE"}, "verdict"),
        ({"kind": "run", "nonsense": 1}, "nonsense"),
        *(
            ({"kind": "run", "webhook": address}, "webhook")
            for address in (
                "https://127.0.0.1/hook",
                "https://localhost/hook",
                "https://169.254.169.254/latest/meta-data",
                "https://10.0.0.8/hook",
                "https://[::1]/hook",
                "https://0x7f000001/hook",
                "https://2130706433/",
                "http://desk.example/hook",
                "ftp://desk.example/hook",
                "https://ada:secret@desk.example/",
                "https://desk.example:6379/",
                "https://desk.example/\nHost: x",
            )
        ),
        ({"kind": "run", "mail": "nobody"}, "mail"),
        ({"kind": "run", "mail": "a@b.example\nbcc: c@d.example"}, "mail"),
    ],
)
def test_a_rule_that_cannot_be_is_refused_when_it_is_given(
    client: Client, fields: dict[str, Any], parameter: str
) -> None:
    with pytest.raises(Invalid) as raised:
        client.add_alert(**fields)
    assert raised.value.parameter == parameter
    assert list(client.alerts()) == []


def test_only_who_may_write_makes_rules(client: Client) -> None:
    address = repr(client)[8:-2]
    with Client(address) as nobody, pytest.raises(Forbidden):
        nobody.add_alert("run")


class Stack:
    def __init__(self, table: Table, topic: str) -> None:
        self.table = table
        self.session = boto3.session.Session(region_name="us-east-1")
        self.outputs = {"AlertMailTopicArn": topic}
        self.http_policy = HttpPolicy()


def test_a_reader_sees_of_addresses_only_whose_they_are(client: Client, table: Table) -> None:
    # The path of a webhook is often a secret, and with public_read anybody reads.
    made = client.add_alert("run", webhook=HOOK)
    assert made.webhook == HOOK, "who makes a rule knows"
    (rule,) = RuleStore(table).all()
    RuleStore(table).add(replace(rule, webhook=None, mail="ada@desk.example"))
    shown = {(rule.webhook, rule.mail) for rule in client.alerts()}
    assert shown == {("https://desk.example/…", None), (None, "…@desk.example")}


def test_the_command_line_does_the_same(table: Table, topic: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DeployedStack, "connect", lambda **_: Stack(table, topic))
    SubjectRegistry(table).register([Subject("AAPL", "Apple", "company")])

    def run(*arguments: str, code: int = 0) -> str:
        done = CliRunner().invoke(main, ["alerts", *arguments])
        assert done.exit_code == code, done.output
        return done.stdout

    assert "No rules" in run("list")
    made = run("add", "sentiment", "--subject", "apple", "--change", "0.4", "--webhook", HOOK).strip()
    run("add", "run", "--webhook", "https://127.0.0.1/", code=1)
    listed = run("list")
    assert made in listed
    assert "subject=AAPL change=0.4" in listed
    assert "whsec_" not in listed
    run("test", made)
    logged = run("log", made)
    assert "PENDING" in logged
    assert " test " in logged
    assert '"waiting_for"' in run("log", made, "--json")
    run("remove", made)
    run("remove", made, code=1)
    run("log", made, code=1)
    help_of_add = run("add", "--help")
    assert all(kind in help_of_add for kind in KINDS)


def test_the_examples_of_the_docs_run(
    client: Client, table: Table, capsys: pytest.CaptureFixture[str]
) -> None:
    from sourcebook.alerts.webhook import signed_headers
    from sourcebook.clock import utc_now
    from tests.integration.programs.test_client import python_blocks

    making, receiving = python_blocks("alerts.md")
    address, token = repr(client)[8:-2], client._sending._token
    exec(compile(making, "alerts.md", "exec"), {"API": address, "TOKEN": token})  # noqa: S102
    (rule,) = RuleStore(table).all()
    assert f"{rule.alert_id} {rule.secret}" in capsys.readouterr().out
    known: dict[str, Any] = {"SECRET": rule.secret}
    exec(compile(receiving, "alerts.md", "exec"), known)  # noqa: S102
    body = b'{"data": {"alert_name": "Landers", "facts": {"headline": "One has landed"}}}'
    assert known["receive"](signed_headers(rule.secret or "", "evt_1", utc_now(), body), body) == (
        "Landers: One has landed"
    )
