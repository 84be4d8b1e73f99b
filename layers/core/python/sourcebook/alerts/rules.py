"""The rules of alerts: what may be asked for, and where it is kept.

A rule has a kind and the fields of that kind. `FIELDS` declares them once: the API's form, the command line
and the check of a rule go by it.
"""

from __future__ import annotations

import base64
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from boto3.dynamodb.conditions import Attr
from boto3.dynamodb.conditions import Key as KeyCondition

from sourcebook.clock import Clock, isoformat, utc_now
from sourcebook.errors import InvalidInput
from sourcebook.schema import SCHEMA_VERSION
from sourcebook.search.query import parse
from sourcebook.search.read import SubjectNames, as_indexed
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed, Table
from sourcebook.table.codec import Item

if TYPE_CHECKING:
    from sourcebook.http.policy import HttpPolicy

Value: TypeAlias = str | int | float
"""Of one field of a rule."""

ARTICLE: Final = "article"
SENTIMENT: Final = "sentiment"
RATE: Final = "rate"
BEST_RATE: Final = "best_rate"
SOURCE: Final = "source"
SPECTRUM: Final = "spectrum"
RUN: Final = "run"
KINDS: Final = (ARTICLE, SENTIMENT, RATE, BEST_RATE, SOURCE, SPECTRUM, RUN)

MOST_RULES: Final = 20_000
SECRET_PREFIX: Final = "whsec_"  # noqa: S105 - what a secret begins with
_ADDRESS: Final = re.compile(r"[^@\s]{1,64}@[^@\s]{1,190}\.[^@\s.]{2,60}")
_ID: Final = re.compile(r"[0-9a-f]{16}", re.ASCII)


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """One field of a kind.

    Attributes:
        about: one sentence for the reference.
        kinds: of the rules that may have it.
        needed: whether a rule of these kinds must have it.
        least: of a number; and `most`. A field without them is a text.
        whole: whether a number must be a whole one.
        words: the texts that there are; any where there is none.
        default: what counts where it is not given.
    """

    about: str
    kinds: tuple[str, ...]
    needed: bool = False
    least: float | None = None
    most: float | None = None
    integer: bool = False
    words: tuple[str, ...] = ()
    default: Value | None = None


FIELDS: Final[Mapping[str, FieldSpec]] = {
    "q": FieldSpec("What articles must match: a search without since: and until:.", (ARTICLE,), needed=True),
    "subject": FieldSpec("Id, name, alias or ticker of the subject.", (SENTIMENT,), needed=True),
    "change": FieldSpec(
        "By how much the average of 24 hours must move, of -1 to 1.",
        (SENTIMENT,),
        least=0.01,
        most=2.0,
        default=0.3,
    ),
    "mentions": FieldSpec(
        "Mentions that the average must have at least.",
        (SENTIMENT,),
        least=1,
        most=100_000,
        integer=True,
        default=5,
    ),
    "series_code": FieldSpec("The series.", (RATE, BEST_RATE), needed=True),
    "term": FieldSpec("Only this term, such as 6M; of every term without it.", (RATE, BEST_RATE)),
    "bank_name": FieldSpec("Only this bank.", (RATE,)),
    "change_pct": FieldSpec(
        "By how many percentage points a rate must move.", (RATE,), least=0.0, most=100.0, default=0.0
    ),
    "source_id": FieldSpec("Only this source.", (SOURCE,)),
    "errors": FieldSpec(
        "Errors in a row from which a source fails.", (SOURCE,), least=1, most=100, integer=True, default=3
    ),
    "nova_id": FieldSpec("Only spectra of this nova.", (SPECTRUM,)),
    "verdict": FieldSpec("Only spectra judged so.", (SPECTRUM,), words=("VALID", "QUARANTINED")),
    "workflow_name": FieldSpec("Only runs of this workflow.", (RUN,)),
}
"""What a rule may say besides its kind, its name and where it delivers to."""


@dataclass(frozen=True, slots=True)
class AlertRule:
    """A rule of alerts: what it fires for, and where it tells of it.

    Attributes:
        alert_id: 16 hexadecimal digits.
        values: of `FIELDS`, those that were given.
        webhook: where to send what it fires for; empty for nowhere.
        mail: address to write to; empty for none.
        secret: signs what goes to the webhook.
    """

    alert_id: str
    kind: str
    name: str
    values: Mapping[str, Value]
    webhook: str = ""
    mail: str = ""
    secret: str = field(default="", repr=False)
    created_at: str = ""

    def value(self, name: str) -> Value | None:
        """Return a field, or what counts where it was not given."""
        return self.values.get(name, FIELDS[name].default)

    def number(self, name: str) -> float:
        """Return a field that is a number."""
        return float(self.value(name) or 0)

    def wants(self, name: str, value: object) -> bool:
        """Whether something with this value is looked for."""
        wanted = self.value(name)
        return wanted is None or wanted == value

    def item(self) -> dict[str, object]:
        """Return what the table has of it."""
        return {
            **keys.alert_rule(self.alert_id),
            "entity_type": "AlertRule",
            "schema_version": SCHEMA_VERSION,
            "alert_id": self.alert_id,
            "kind": self.kind,
            "name": self.name,
            "rule": dict(self.values),
            "webhook": self.webhook or None,
            "mail": self.mail or None,
            "secret": self.secret or None,
            "created_at": self.created_at,
        }

    @classmethod
    def of(cls, item: Item) -> AlertRule:
        """Read what the table has of it."""
        return cls(
            item["alert_id"],
            item["kind"],
            item["name"],
            item["rule"],
            item.get("webhook", ""),
            item.get("mail", ""),
            item.get("secret", ""),
            item["created_at"],
        )

    def public(self) -> dict[str, object]:
        """Return it as it is served: without its secret."""
        return {
            "alert_id": self.alert_id,
            "kind": self.kind,
            "name": self.name,
            **{name: self.value(name) for name in FIELDS},
            "webhook": self.webhook or None,
            "mail": self.mail or None,
            "created_at": self.created_at,
        }


def checked(values: Mapping[str, object], policy: HttpPolicy, subjects: SubjectNames) -> AlertRule:
    """Return the rule that values make, without an id.

    Args:
        values: ``kind``, ``name``, ``webhook``, ``mail`` and those of the kind; None is not given.
        policy: what webhooks are asked by.
        subjects: which subjects names mean.

    Raises:
        InvalidInput: naming the first field that is wrong.
    """
    given = {name: value for name, value in values.items() if value is not None}
    kind = given.pop("kind", None)
    if not isinstance(kind, str) or kind not in KINDS:
        raise InvalidInput("kind", kind, f"one of {', '.join(KINDS)}")
    webhook, mail = _webhook(given.pop("webhook", ""), policy), _mail(given.pop("mail", ""))
    name = given.pop("name", "") or kind
    if not isinstance(name, str) or not 1 <= len(name) <= 100 or not name.isprintable():
        raise InvalidInput("name", name, "1 to 100 printable characters")
    read = {one: _value(one, value, kind) for one, value in given.items()}
    for one, spec in FIELDS.items():
        if spec.needed and kind in spec.kinds and one not in read:
            raise InvalidInput(one, None, f"{one}, which a rule of the kind {kind} needs")
    if kind == ARTICLE:
        groups_of(str(read["q"]), subjects)
    if kind == SENTIMENT:
        ids = subjects.ids(str(read["subject"]))
        if len(ids) != 1:
            raise InvalidInput("subject", read["subject"], "the id, a name or the ticker of one subject")
        (read["subject"],) = ids
    return AlertRule("", kind, name, read, webhook, mail)


def groups_of(q: str, subjects: SubjectNames) -> tuple[tuple[Any, ...], ...]:
    """Return what a query asks for, as articles are held against it.

    Raises:
        InvalidInput: if it is no query, or has a time: an alert is told of what is new.
    """
    query = parse(q, utc_now())
    if query.since or query.until:
        raise InvalidInput("q", q, "a search without since: and until:")
    return tuple(tuple(as_indexed(term, subjects) for term in group) for group in query.groups)


def _value(name: str, value: object, kind: str) -> Value:
    spec = FIELDS.get(name)
    if spec is None or kind not in spec.kinds:
        known = ", ".join(one for one, other in FIELDS.items() if kind in other.kinds)
        raise InvalidInput(name, value, f"only {known} with the kind {kind}")
    if spec.least is not None and spec.most is not None:
        what = "a whole number" if spec.integer else "a number"
        right = isinstance(value, int) or (isinstance(value, float) and not spec.integer)
        if not right or isinstance(value, bool) or not spec.least <= float(str(value)) <= spec.most:
            raise InvalidInput(name, value, f"{what} from {spec.least:g} to {spec.most:g}")
        return value  # type: ignore[return-value]
    if not isinstance(value, str) or not 1 <= len(value.strip()) <= 400:
        raise InvalidInput(name, value, "a text of 1 to 400 characters")
    if spec.words and value.strip().upper() not in spec.words:
        raise InvalidInput(name, value, f"one of {', '.join(spec.words)}")
    return value.strip().upper() if spec.words else value.strip()


def _webhook(url: object, policy: HttpPolicy) -> str:
    if not url:
        return ""
    if not isinstance(url, str) or len(url) > 2_000:
        raise InvalidInput("webhook", url, "an https address")
    # Here, because only who makes a rule needs it.
    from sourcebook.http.guard import refusal  # noqa: PLC0415

    reason = refusal(url.strip(), policy)
    if not reason and not url.strip().lower().startswith(
        ("https://", "http://" if policy.allowed_networks else "https://")
    ):
        reason = "it does not begin with https://"
    if not reason and "@" in url.partition("://")[2].partition("/")[0]:
        reason = "it holds a user name"
    if reason:
        raise InvalidInput("webhook", url, f"an https address that can be asked: {reason}")
    return url.strip()


def _mail(address: object) -> str:
    if not address:
        return ""
    if not isinstance(address, str) or not _ADDRESS.fullmatch(address.strip()):
        raise InvalidInput("mail", address, "an address such as desk@example.com")
    return address.strip()


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
        secret = SECRET_PREFIX + base64.b64encode(self.random(24)).decode() if rule.webhook else ""
        made = replace(rule, alert_id=self.random(8).hex(), secret=secret, created_at=isoformat(self.clock()))
        self.table.put(made.item(), Attr("PK").not_exists())
        self._changed()
        return made

    def get(self, alert_id: str) -> AlertRule | None:
        """Return a rule as it is now."""
        if not _ID.fullmatch(alert_id):
            return None
        item = self.table.get(keys.alert_rule(alert_id), consistent=True)
        return None if item is None else AlertRule.of(item)

    def all(self) -> list[AlertRule]:
        """Return all rules, the newest last."""
        condition = KeyCondition("PK").eq(keys.ALERT_RULES) & KeyCondition("SK").begins_with("RULE#")
        found = self.table.query_all(condition, consistent=True)
        return sorted(map(AlertRule.of, found), key=lambda rule: (rule.created_at, rule.alert_id))

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
        item = self.table.get(keys.alert_rules_version(), consistent=True)
        return int(item["version"]) if item else 0

    def _changed(self) -> None:
        self.table.change(
            keys.alert_rules_version(),
            assign={"entity_type": "AlertRules", "schema_version": SCHEMA_VERSION},
            increment={"version": 1},
        )
