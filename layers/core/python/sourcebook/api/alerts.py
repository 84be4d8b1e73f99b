"""Alerts: rules that report events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import urlsplit

from pydantic import ConfigDict, Field, create_model

from sourcebook.alerts.deliveries import DeliveryStore
from sourcebook.alerts.rules import RuleStore, checked
from sourcebook.alerts.webhook import webhook_policy
from sourcebook.api.operations import Body, Operation, of_topic
from sourcebook.api.parameters import PageParameters
from sourcebook.api.parts import Services
from sourcebook.api.requests import Request
from sourcebook.api.resources import ALERT
from sourcebook.api.responses import Response, listed
from sourcebook.inputs import Input, text, word_of
from sourcebook.records.alert import FIELDS, KINDS, AlertRule, FieldSpec
from sourcebook.records.base import View
from sourcebook.search.read import SubjectNames
from sourcebook.sentiment.subjects import SubjectRegistry
from sourcebook.table.pages import Listing, Page, bad_cursor, fill_page

if TYPE_CHECKING:
    from sourcebook.alerts.mail import Mailer
    from sourcebook.http.policy import HttpPolicy


def _policy(services: Services) -> HttpPolicy:
    return webhook_policy(services.environ)


def _mailer(services: Services) -> Mailer:
    import boto3  # noqa: PLC0415 - a rule with a mail address is rare

    from sourcebook.alerts.mail import Mailer  # noqa: PLC0415
    from sourcebook.table.client import aws_config  # noqa: PLC0415

    return Mailer(boto3.client("sns", config=aws_config()), services.environ["ALERT_TOPIC_ARN"])


def _list_alerts(services: Services, request: Request) -> Response:
    rules = [_for_readers(rule) for rule in RuleStore(services.table).all()]
    return listed(_page(rules, "alert_id", "alerts", request))


def _create_alert(services: Services, request: Request) -> Response:
    values = NewAlert.read(request.json()).given()
    subjects = SubjectNames(SubjectRegistry(services.table))
    rule = checked(values, services.once(_policy), subjects)
    if rule.mail:
        services.once(_mailer).subscribe(rule.mail)
    made = RuleStore(services.table).add(rule)
    answer = {**made.shown(), "secret": made.secret}
    return Response(answer, 201, headers={"location": f"/alerts/{made.alert_id}"})


def _remove_alert(services: Services, request: Request) -> Response:
    alert_id = ALERT.name(request)
    if not RuleStore(services.table).remove(alert_id):
        raise ALERT.missing(alert_id)
    return Response({"alert_id": alert_id, "deleted": True})


def _list_deliveries(services: Services, request: Request) -> Response:
    rule = ALERT.of(request, RuleStore(services.table).get)
    rows = [one.shown() for one in DeliveryStore(services.table).log(rule.alert_id)]
    return listed(_page(rows, "event_id", f"deliveries of {rule.alert_id}", request))


def _for_readers(rule: AlertRule) -> View:
    """Return a rule without what lets its reader post to a webhook or write to a person (decision 0470)."""
    webhook, mail = rule.webhook, rule.mail
    return rule.shown() | {
        "webhook": webhook and f"{webhook.partition('://')[0]}://{urlsplit(webhook).netloc}/…",
        "mail": mail and f"…@{mail.rpartition('@')[2]}",
    }


def _page(rows: list[View], key: str, name: str, request: Request) -> Page[View]:
    """Return the page of a list that is read whole: a rule and what it has fired for are few."""
    asked, listing = PageParameters.of(request), Listing.of(name, {})
    if asked.cursor is not None:
        (last,) = listing.position(asked.cursor, parts=1)
        places = [row[key] for row in rows]
        if last not in places:
            raise bad_cursor(asked.cursor)
        rows = rows[places.index(last) + 1 :]
    return fill_page(
        iter(rows), listing=listing, position=lambda row: (str(row[key]),), load=list, limit=asked.limit
    )


def _field(spec: FieldSpec) -> tuple[Any, Any]:
    """Return the type of a field of a rule, and what else its model says of it."""
    about = f"{spec.about} Of {' and '.join(spec.kinds)}."
    if spec.least is not None and spec.most is not None:
        kind = int if spec.integer else float
        return kind | None, Field(None, ge=spec.least, le=spec.most, strict=True, description=about)
    if spec.words:
        return Annotated[str, word_of(spec.words)] | None, Field(None, description=about)
    return Annotated[str, text(400)] | None, Field(None, description=about)


class _Rule(Input):
    """What all rules have."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "kind": "article",
                    "name": "Strikes in the harbor",
                    "q": 'harbor "on strike"',
                    "webhook": "https://desk.example/hooks/sourcebook",
                }
            ]
        }
    )

    kind: Annotated[str, word_of(KINDS)] = Field(description="What the rule looks for.")
    name: Annotated[str, text(100)] | None = Field(None, description="What it is called.")
    webhook: Annotated[str, text(2_000)] | None = Field(
        None, description="An https address that events are sent to."
    )
    mail: Annotated[str, text(256)] | None = Field(None, description="An address that is written to.")


_OF_KINDS: Final[dict[str, Any]] = {name: _field(spec) for name, spec in FIELDS.items()}
NewAlert = create_model("NewAlert", __base__=_Rule, **_OF_KINDS)
"""A rule to be made."""

OPERATIONS: Final = of_topic(
    "Alerts",
    Operation(
        route="GET /alerts",
        summary="The rules of alerts, the newest last",
        description="Fields that a kind does not have are null; those that were not given have what counts "
        "instead. No secret is shown again. Of a webhook only the server is shown and of a mail address the "
        "domain: whoever reads them whole could post there and write to them.",
        handle=_list_alerts,
        query=PageParameters,
        answers={200: "AlertPage"},
    ),
    Operation(
        route="POST /alerts",
        summary="Add an alert",
        description="From now on. `webhook` gets each event signed by the convention of Standard Webhooks, "
        "with the `secret` of the answer, which is shown this once; docs/alerts.md has what is sent. `mail` "
        "is asked first whether it agrees. Every event goes to the event bus too.",
        handle=_create_alert,
        body=Body(form=NewAlert),
        answers={201: "CreatedAlert"},
    ),
    Operation(
        route="DELETE /alerts/{alert_id}",
        summary="Remove a rule",
        description="What it has not delivered yet is not delivered.",
        handle=_remove_alert,
        answers={200: "RemovedAlert"},
    ),
    Operation(
        route="GET /alerts/{alert_id}/deliveries",
        summary="What a rule has fired for, the newest first",
        description="For 40 days. `waiting_for` are the ways by which it has not been delivered yet.",
        handle=_list_deliveries,
        query=PageParameters,
        answers={200: "DeliveryPage"},
    ),
)
