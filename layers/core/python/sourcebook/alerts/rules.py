"""The rules of alerts: the check of a new one, and where they are kept."""

from __future__ import annotations

import base64
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from boto3.dynamodb.conditions import Attr

from sourcebook.clock import Clock, isoformat, utc_now
from sourcebook.errors import InvalidInput
from sourcebook.records.alert import ARTICLE, FIELDS, SENTIMENT, AlertRule
from sourcebook.schema import SCHEMA_VERSION
from sourcebook.search.query import parse
from sourcebook.search.read import SubjectNames, as_indexed
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed, Table

if TYPE_CHECKING:
    from sourcebook.http.policy import HttpPolicy

MOST_RULES: Final = 20_000
SECRET_PREFIX: Final = "whsec_"  # noqa: S105 - what a secret begins with
_ADDRESS: Final = re.compile(r"[^@\s]{1,64}@[^@\s]{1,190}\.[^@\s.]{2,60}")
_ID: Final = re.compile(r"[0-9a-f]{16}", re.ASCII)


def checked(values: Mapping[str, object], policy: HttpPolicy, subjects: SubjectNames) -> AlertRule:
    """Return the rule that the values of a `sourcebook.api.alerts.NewAlert` make, without an id.

    Args:
        values: those that are given.
        policy: what webhooks are asked by.
        subjects: which subjects names mean.

    Raises:
        InvalidInput: naming the first field that is wrong.
    """
    read = dict(values)
    kind, name = str(read.pop("kind")), str(read.pop("name", ""))
    webhook, mail = str(read.pop("webhook", "")), str(read.pop("mail", ""))
    if webhook:
        _check_webhook(webhook, policy)
    if mail and not _ADDRESS.fullmatch(mail):
        raise InvalidInput("mail", mail, "an address such as desk@example.com")
    if not name.isprintable():
        raise InvalidInput("name", name, "1 to 100 printable characters")
    known = {one: spec for one, spec in FIELDS.items() if kind in spec.kinds}
    for one, value in read.items():
        if one not in known:
            raise InvalidInput(one, value, f"only {', '.join(known)} with the kind {kind}")
    for one, spec in known.items():
        if spec.needed and one not in read:
            raise InvalidInput(one, None, f"{one}, which a rule of the kind {kind} needs")
    if kind == ARTICLE:
        groups_of(str(read["q"]), subjects)
    if kind == SENTIMENT:
        ids = subjects.ids(str(read["subject"]))
        if len(ids) != 1:
            raise InvalidInput("subject", read["subject"], "the id, a name or the ticker of one subject")
        (read["subject"],) = ids
    return AlertRule(
        alert_id="",
        kind=kind,
        name=name or kind,
        rule=read,
        webhook=webhook or None,
        mail=mail or None,
        created_at="",
    )


def groups_of(q: str, subjects: SubjectNames) -> tuple[tuple[Any, ...], ...]:
    """Return what a query asks for, as articles are held against it.

    Raises:
        InvalidInput: if it is no query, or has a time: an alert reports only what is new.
    """
    query = parse(q, utc_now())
    if query.since or query.until:
        raise InvalidInput("q", q, "a search without since: and until:")
    return tuple(tuple(as_indexed(term, subjects) for term in group) for group in query.groups)


def _check_webhook(url: str, policy: HttpPolicy) -> None:
    # Here, because only who makes a rule needs it.
    from sourcebook.http.guard import refusal  # noqa: PLC0415

    reason = refusal(url, policy)
    if not reason and not url.lower().startswith(
        ("https://", "http://" if policy.allowed_networks else "https://")
    ):
        reason = "it does not begin with https://"
    if not reason and "@" in url.partition("://")[2].partition("/")[0]:
        reason = "it holds a user name"
    if reason:
        raise InvalidInput("webhook", url, f"an https address that can be asked: {reason}")


@dataclass(frozen=True, slots=True)
class RuleStore:
    """The rules in the table.

    Attributes:
        random: returns that many random bytes, fit for secrets.
    """

    table: Table
    clock: Clock = utc_now
    random: Callable[[int], bytes] = secrets.token_bytes

    def add(self, rule: AlertRule) -> AlertRule:
        """Keep a new rule, and return it with its id and its secret.

        Raises:
            InvalidInput: if there are too many.
        """
        if len(self.all()) >= MOST_RULES:
            raise InvalidInput("kind", rule.kind, f"at most {MOST_RULES:,} rules: remove one first")
        secret = SECRET_PREFIX + base64.b64encode(self.random(24)).decode() if rule.webhook else None
        made = replace(rule, alert_id=self.random(8).hex(), secret=secret, created_at=isoformat(self.clock()))
        self.table.put(made.to_item(keys.alert_rule(made.alert_id)), Attr("PK").not_exists())
        self._changed()
        return made

    def get(self, alert_id: str) -> AlertRule | None:
        """Return a rule as it is now."""
        if not _ID.fullmatch(alert_id):
            return None
        item = self.table.get(keys.alert_rule(alert_id), consistent=True)
        return None if item is None else AlertRule.of_item(item)

    def all(self) -> list[AlertRule]:
        """Return all rules, the newest last."""
        found = self.table.items_of(keys.ALERT_RULES, "RULE#", consistent=True)
        return sorted(map(AlertRule.of_item, found), key=lambda rule: (rule.created_at, rule.alert_id))

    def remove(self, alert_id: str) -> bool:
        """Remove a rule; what it has not delivered yet is not delivered. Return whether there was one."""
        if not _ID.fullmatch(alert_id):
            return False
        try:
            self.table.delete(keys.alert_rule(alert_id), Attr("PK").exists())
        except ConditionFailed:
            return False
        self._changed()
        return True

    def version(self) -> int:
        """Return how often the rules have changed; 0 where there have never been any."""
        item = self.table.get(keys.ALERT_RULES_VERSION, consistent=True)
        return int(item["version"]) if item else 0

    def _changed(self) -> None:
        self.table.change(
            keys.ALERT_RULES_VERSION,
            assign={"entity_type": "AlertRules", "schema_version": SCHEMA_VERSION},
            increment={"version": 1},
        )
