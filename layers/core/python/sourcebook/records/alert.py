"""A rule of alerts: what it may ask for; and what it has fired for, with how far its delivery is.

A rule has a kind and the fields of that kind. `FIELDS` declares them: the API's form, the command line and
the check of a rule go by it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, ClassVar, Final

from sourcebook.messages import SchemaRule
from sourcebook.records.base import NOT_SHOWN, Count, EpochSeconds, Place, Record, Time, View
from sourcebook.table import keys

ARTICLE: Final = "article"
SENTIMENT: Final = "sentiment"
RATE: Final = "rate"
BEST_RATE: Final = "best_rate"
SOURCE: Final = "source"
SPECTRUM: Final = "spectrum"
RUN: Final = "run"
KINDS: Final = (ARTICLE, SENTIMENT, RATE, BEST_RATE, SOURCE, SPECTRUM, RUN)


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """One field of a kind.

    Attributes:
        about: one sentence for the reference.
        kinds: of the rules that may have it.
        needed: whether a rule of these kinds must have it.
        least: of a number; and `most`. A field without them is a text.
        integer: whether a number must be a whole one.
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
    default: str | int | float | None = None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRule(Record):
    """A rule of alerts: what it fires for, and where to. The API shows its `rule` field by field."""

    PLACE: ClassVar = Place(keys.alert_rule, "the API, `sourcebook alerts`")

    alert_id: Annotated[str, "16 hexadecimal digits."]
    kind: Annotated[Annotated[str, SchemaRule({"enum": KINDS})], "What it looks for."]
    name: Annotated[str, "What it is called."]
    rule: Annotated[Mapping[str, object], "Of `FIELDS`, those that were given.", NOT_SHOWN]
    webhook: Annotated[str | None, "An https address that events are sent to."] = None
    mail: Annotated[str | None, "An address that is written to."] = None
    secret: Annotated[str | None, "Signs what the webhook gets.", NOT_SHOWN] = field(default=None, repr=False)
    created_at: Annotated[Time, "When it was made."]

    def value(self, name: str) -> object:
        """Return a field of its kind, or what counts where it was not given."""
        return self.rule.get(name, FIELDS[name].default)

    def number(self, name: str) -> float:
        """Return a field that is a number."""
        return float(str(self.value(name) or 0))

    def wants(self, name: str, value: object) -> bool:
        """Whether something with this value is looked for."""
        wanted = self.value(name)
        return wanted is None or wanted == value

    def shown(self) -> View:
        """Return what the API shows of it: never its secret."""
        return Record.shown(self) | {name: self.value(name) for name in FIELDS}


class DeliveryState(StrEnum):
    """How far a delivery is."""

    PENDING = "PENDING"
    DELIVERED = "DELIVERED"
    GIVEN_UP = "GIVEN_UP"
    CANCELLED = "CANCELLED"


class Way(StrEnum):
    """How a firing is delivered."""

    BUS = "bus"
    MAIL = "mail"
    WEBHOOK = "webhook"


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery(Record):
    """A firing of a rule, and how far its delivery is; in the index while something of it is left to do."""

    PLACE: ClassVar = Place(
        keys.alert_delivery, "index_articles; 40 days", (keys.ELIGIBILITY_INDEX,), entity="AlertDelivery"
    )

    alert_id: Annotated[str, "The rule.", NOT_SHOWN]
    event_id: Annotated[str, "The same for the same happening."]
    kind: Annotated[str, "What happened."]
    at: Annotated[Time, "When it happened."]
    payload: Annotated[str, "An `AlertFired` as JSON, sent the same at every attempt.", NOT_SHOWN]
    todo: Annotated[tuple[Way, ...], "Ways by which it has not been delivered yet.", NOT_SHOWN]
    state: Annotated[DeliveryState, "How far it is."] = DeliveryState.PENDING
    attempts: Annotated[Count, "How often it was tried."] = 0
    created_at: Annotated[Time, "When the rule fired."]
    next_attempt_at: Annotated[Time, "When it may be tried; the API has null once it is at an end."]
    delivered_at: Annotated[Time | None, "When it was delivered."] = None
    last_error: Annotated[str | None, "What went wrong last."] = None
    ttl_timestamp: Annotated[EpochSeconds, "When it expires.", NOT_SHOWN]

    def shown(self) -> View:
        """Return what the API shows of it."""
        is_pending = self.state is DeliveryState.PENDING
        return Record.shown(self) | {
            "next_attempt_at": self.next_attempt_at if is_pending else None,
            "waiting_for": [way.value for way in self.todo],
            "facts": json.loads(self.payload)["facts"],
        }
