"""Alerts: `alerts add`, `list`, `remove`, `test` and `log`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from sourcebook.errors import InvalidInput
from sourcebook.records.alert import FIELDS, KINDS
from sourcebook_cli.output import Style, Styled, say, say_json
from sourcebook_cli.stack import Stack, on_aws

if TYPE_CHECKING:
    from collections.abc import Callable

    from sourcebook.alerts.rules import RuleStore
    from sourcebook.records.alert import AlertRule

_STYLES: Final[dict[str, Style]] = {
    "DELIVERED": "green",
    "PENDING": "yellow",
    "GIVEN_UP": "red",
    "CANCELLED": "red",
}


@click.group()
def alerts() -> None:
    """Manage alerts: rules that report events by webhook, by mail, and on the event bus."""


def _fields(command: Callable[..., None]) -> Callable[..., None]:
    """Add an option to a command for each field of a rule."""
    for name, spec in reversed(list(FIELDS.items())):
        kind: Any = str if spec.least is None else int if spec.integer else float
        if spec.words:
            kind = click.Choice(spec.words, case_sensitive=False)
        about = f"{spec.about} Of {' and '.join(spec.kinds)}."
        command = click.option(f"--{name.replace('_', '-')}", name, type=kind, help=about)(command)
    return command


@alerts.command()
@click.argument("kind", type=click.Choice(KINDS))
@click.option("--name", help="What it is called.")
@_fields
@click.option("--webhook", help="An https address that events are sent to.")
@click.option("--mail", help="An address that is written to; SNS asks it first whether it agrees.")
@on_aws
def add(kind: str, aws: bool, **values: object) -> None:
    """Add a rule of a KIND and print its id. The webhook's secret is printed once, to standard error."""
    from sourcebook.alerts.mail import Mailer
    from sourcebook.alerts.rules import checked
    from sourcebook.api.alerts import NewAlert
    from sourcebook.search.read import SubjectNames
    from sourcebook.sentiment.subjects import SubjectRegistry
    from sourcebook.table.client import aws_config

    stack = Stack.connect(aws=aws)
    subjects = SubjectNames(SubjectRegistry(stack.table))
    given = NewAlert.read({"kind": kind, **values}).given()
    rule = checked(given, stack.http_policy, subjects)
    if rule.mail:
        client = stack.session.client("sns", config=aws_config())
        Mailer(client, stack.outputs["AlertMailTopicArn"]).subscribe(rule.mail)
    made = _rules(stack).add(rule)
    say(made.alert_id)
    if made.secret:
        say(f"The secret of the webhook, which is not shown again: {made.secret}", err=True)


@alerts.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@on_aws
def list_(as_json: bool, aws: bool) -> None:
    """List the rules, the newest last."""
    found = _rules(Stack.connect(aws=aws)).all()
    for rule in found:
        if as_json:
            say_json(rule.shown())
            continue
        conditions = " ".join(f"{name}={value}" for name, value in rule.rule.items())
        ways = " ".join(filter(None, (rule.webhook, rule.mail))) or "the bus alone"
        say(f"{rule.alert_id}  {rule.kind:<9}  {rule.name}  {conditions}  to {ways}")
    if not found and not as_json:
        say("No rules. Make one: sourcebook alerts add KIND")


@alerts.command()
@click.argument("alert_id")
@on_aws
def remove(alert_id: str, aws: bool) -> None:
    """Remove a rule. Its pending deliveries are dropped."""
    if not _rules(Stack.connect(aws=aws)).remove(alert_id):
        raise _unknown(alert_id)
    say(f"Alert {alert_id} is removed.")


@alerts.command()
@click.argument("alert_id")
@on_aws
def test(alert_id: str, aws: bool) -> None:
    """Send a test firing of a rule by all its ways, within a minute."""
    from sourcebook.alerts.deliveries import DeliveryStore
    from sourcebook.clock import isoformat, utc_now

    stack = Stack.connect(aws=aws)
    rule = _rule(stack, alert_id)
    now = isoformat(utc_now(), "milliseconds")
    DeliveryStore(stack.table).fire(rule, "test", now, now, {"message": "This is a test."})
    say(f"Fired. See what becomes of it: sourcebook alerts log {alert_id}")


@alerts.command()
@click.argument("alert_id")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@on_aws
def log(alert_id: str, as_json: bool, aws: bool) -> None:
    """List a rule's firings of the last 40 days with their deliveries, the newest first."""
    from sourcebook.alerts.deliveries import DeliveryStore

    stack = Stack.connect(aws=aws)
    rule = _rule(stack, alert_id)
    for one in DeliveryStore(stack.table).log(rule.alert_id):
        if as_json:
            say_json(one.shown())
            continue
        tried = f"{one.attempts} attempt{'' if one.attempts == 1 else 's'}"
        say(
            f"{one.created_at}  ",
            Styled(f"{one.state:<9}", _STYLES[one.state]),
            f"  {one.kind:<9}  {tried:<11}  {one.event_id}  {one.last_error or ''}".rstrip(),
        )


def _rules(stack: Stack) -> RuleStore:
    from sourcebook.alerts.rules import RuleStore

    return RuleStore(stack.table)


def _rule(stack: Stack, alert_id: str) -> AlertRule:
    rule = _rules(stack).get(alert_id)
    if rule is None:
        raise _unknown(alert_id)
    return rule


def _unknown(alert_id: str) -> InvalidInput:
    return InvalidInput("alert_id", alert_id[:40], "the id of a rule; `sourcebook alerts list` shows them")
