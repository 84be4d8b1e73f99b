"""Holding rules against what has happened."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from boto3.dynamodb.conditions import Attr

from sourcebook.alerts.deliveries import DeliveryStore
from sourcebook.alerts.happenings import Fact, Happening, happening_of
from sourcebook.alerts.matching import ArticleRules
from sourcebook.alerts.rules import RuleStore, groups_of
from sourcebook.clock import parse_iso
from sourcebook.errors import InvalidInput, Retryable
from sourcebook.observations.canonical import candidates_of, ranked
from sourcebook.observations.read import LOAN
from sourcebook.records.alert import ARTICLE, BEST_RATE, RATE, RUN, SENTIMENT, SOURCE, SPECTRUM, AlertRule
from sourcebook.schema import SCHEMA_VERSION
from sourcebook.search.read import SubjectNames
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed, Table


@dataclass(slots=True)
class Known:
    """The rules, ready to be asked.

    Attributes:
        version: of the rules in the table.
    """

    version: int = 0
    rules: dict[str, AlertRule] = field(default_factory=dict)
    by_kind: dict[str, list[AlertRule]] = field(default_factory=lambda: defaultdict(list))
    articles: ArticleRules = field(default_factory=ArticleRules)


@dataclass(slots=True)
class Evaluated:
    """What a run came to.

    Attributes:
        happenings: what was held against rules.
        fired: firings that are new.
        left_out: what could not be judged, with the reason.
    """

    happenings: int = 0
    fired: int = 0
    left_out: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Evaluator:
    """Notices what happens, and fires the rules that ask for it.

    Rules are read again when they have changed; what is kept of them serves the runs of one process.
    """

    table: Table
    store: RuleStore
    deliveries: DeliveryStore
    subjects: SubjectNames
    _known: Known = field(default_factory=Known)
    _noticed: list[Happening] = field(default_factory=list)
    _unread: dict[str, str] = field(default_factory=dict)

    def begin(self) -> int:
        """Forget what was noticed, read the rules if they have changed, and return how many there are."""
        self._noticed, self._unread = [], {}
        version = self.store.version()
        if version != self._known.version:
            self._known = self._read(version)
        return len(self._known.rules)

    def notice(self, record: Mapping[str, object]) -> None:
        """Keep the happening of a record of the table's stream, if a rule may ask for it."""
        if not self._known.rules:
            return
        try:
            if (happening := happening_of(record)) is not None:
                self._noticed.append(happening)
        except (KeyError, TypeError, ValueError, InvalidInput) as error:
            # An item of a form that nobody knows any more; it must not hold up the stream.
            self._unread[str(record.get("Keys"))[:200]] = f"{type(error).__name__}: {error}"

    def run(self) -> Evaluated:
        """Fire for all that was noticed. To do so again fires nothing more.

        Raises:
            Retryable: if the table is not able to answer now: notice and run all of it again.
        """
        done = Evaluated(happenings=len(self._noticed), left_out=dict(self._unread))
        for happening in self._noticed:
            try:
                done.fired += self._fire(happening)
            except Retryable:
                raise
            except (KeyError, TypeError, ValueError, InvalidInput) as error:
                done.left_out[happening.identity] = f"{type(error).__name__}: {error}"
        return done

    def _read(self, version: int) -> Known:
        known = Known(version)
        for rule in self.store.all():
            known.rules[rule.alert_id] = rule
            known.by_kind[rule.kind].append(rule)
            if rule.kind == ARTICLE:
                # A rule whose subject was removed fires no more.
                with suppress(InvalidInput):
                    known.articles.add(rule.alert_id, groups_of(str(rule.rule["q"]), self.subjects))
        return known

    def _fire(self, happening: Happening) -> int:
        """Fire the rules that ask for it, and return for how many it is new."""
        if happening.entry is not None:
            rules = [self._known.rules[one] for one in self._known.articles.matching(happening.entry)]
            return sum(self._keep(rule, happening) for rule in rules)
        rules = self._known.by_kind.get(happening.kind, [])
        if happening.kind == SENTIMENT:
            return sum(self._moved(rule, happening) for rule in rules)
        fired = sum(self._keep(rule, happening) for rule in rules if _is_wanted(rule, happening.facts))
        if happening.kind == RATE and (best := self._known.by_kind.get(BEST_RATE)):
            fired += self._best(best, happening)
        return fired

    def _keep(self, rule: AlertRule, happening: Happening, **more: float) -> bool:
        # An older article that is merged today is nothing that happened since the rule was made.
        return happening.at >= rule.created_at and self.deliveries.fire(
            rule, rule.kind, happening.identity, happening.at, {**happening.facts, **more}
        )

    def _moved(self, rule: AlertRule, happening: Happening) -> bool:
        """Fire if the average has moved since the rule fired last, or since it was first looked at."""
        facts = happening.facts
        tool_id, average = str(facts["tool_id"]), float(str(facts["average_sentiment"]))
        if rule.rule["subject"] != tool_id or int(str(facts["total_mentions"])) < rule.number("mentions"):
            return False
        key = keys.alert_base(rule.alert_id, tool_id)
        base = self.table.get(key, consistent=True)
        if base is not None and base["at"] >= happening.at:
            return False
        fired = False
        if base is not None:
            if round(abs(average - base["average"]), 9) < rule.number("change"):
                return False
            fired = self._keep(rule, happening, average_before=base["average"])
        changed = {
            **key,
            "entity_type": "AlertBase",
            "schema_version": SCHEMA_VERSION,
            "average": average,
            "at": happening.at,
        }
        unchanged = Attr("PK").not_exists() if base is None else Attr("at").eq(base["at"])
        try:
            self.table.put(changed, unchanged)
        except ConditionFailed:
            # Another run has looked at a later one.
            return fired
        return fired

    def _best(self, rules: list[AlertRule], happening: Happening) -> int:
        """Fire if a rate has become better than all others of its series and term."""
        facts = happening.facts
        wanted = [rule for rule in rules if _is_wanted(rule, facts)]
        if not wanted:
            return 0
        series = str(facts["series_code"])
        kind = (self.table.get(keys.observed_series(series)) or {}).get("kind")
        sign = -1.0 if kind == LOAN else 1.0
        before, now = float(str(facts["rate_before_pct"])), float(str(facts["rate_pct"]))
        others = self._others(happening)
        best = max(sign * rate for rate in [*others, before])
        if sign * now <= best:
            return 0
        return sum(self._keep(rule, happening, best_before_pct=sign * best) for rule in wanted)

    def _others(self, happening: Happening) -> list[float]:
        """Return what the other banks offer of the same series and term, as of the same moment."""
        bank, series, term = happening.identity.rsplit("|", 5)[:3]
        at = parse_iso(happening.at)
        rates: list[float] = []
        for item in self.table.items_of(keys.latest_partition(series), keys.latest(series, term, "")["SK"]):
            if keys.read_latest(keys.key_of(item))[0] == bank:
                continue
            order = ranked(candidates_of(item, at))
            if order and not order[0].stale and (rate := order[0].item.rate_pct) is not None:
                rates.append(rate)
        return rates


def _figure(facts: Mapping[str, Fact], name: str) -> float:
    value = facts[name]
    if not isinstance(value, int | float):
        raise TypeError(f"{name} is no number: {value!r:.80}")
    return value


def _is_wanted(rule: AlertRule, facts: Mapping[str, Fact]) -> bool:
    """Whether what happened is what a rule looks for: what it names, and no less than it asks for."""
    if not all(rule.wants(name, facts[name]) for name in _NAMED[rule.kind]):
        return False
    if rule.kind == RATE:
        moved = abs(_figure(facts, "rate_pct") - _figure(facts, "rate_before_pct"))
        return round(moved, 9) >= rule.number("change_pct")
    if rule.kind == SOURCE:
        fails = _figure(facts, "errors_before") < rule.number("errors") <= _figure(facts, "errors")
        return bool(facts["disabled"]) or fails
    return True


_NAMED: Final[Mapping[str, tuple[str, ...]]] = {
    RATE: ("series_code", "term", "bank_name"),
    BEST_RATE: ("series_code", "term"),
    SOURCE: ("source_id",),
    SPECTRUM: ("nova_id", "verdict"),
    RUN: ("workflow_name",),
}
"""The facts that a rule of a kind may name."""
