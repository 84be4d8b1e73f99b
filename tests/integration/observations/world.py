"""Sources of figures over a table: declared, scraped, removed, looked at, with a SQL model beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import boto3

from sourcebook.api.parts import Services
from sourcebook.clock import isoformat
from sourcebook.observations.adapters.poll import ObservationAdapter
from sourcebook.observations.canonical import Canonical, SourcePriority
from sourcebook.observations.model import Observed
from sourcebook.observations.raw import Scrape
from sourcebook.observations.read import ObservationReader
from sourcebook.observations.rebuild import Rebuilder
from sourcebook.observations.rebuild_messages import RebuildCanonical
from sourcebook.observations.registry import ObservationSources
from sourcebook.observations.terms import NO_TERM
from sourcebook.observations.values import Rate
from sourcebook.sources.model import SourceSpec, parse_spec
from sourcebook.sources.registry import SourceRegistry
from sourcebook.table import keys
from sourcebook.table.client import Table
from sourcebook.table.pages import all_items
from tests.integration.observations.sql import SqlModel, Target
from tests.templates import table_definition

KINDS = {
    "deposit_online": ("deposit", "Online deposit"),
    "deposit_branch": ("deposit", "At the counter"),
    "home_loan": ("loan", "Home loan"),
}
NOW = datetime(2026, 1, 10, tzinfo=UTC)


def new_table() -> Table:
    """Return an empty table in moto, whatever was in the one before."""
    client = boto3.client("dynamodb")
    definition = table_definition()
    if definition["TableName"] in client.list_tables()["TableNames"]:
        client.delete_table(TableName=definition["TableName"])
    client.create_table(**definition)
    return Table.connect(definition["TableName"])


def spec(source_id: str, priority: int | None = None, **options: Any) -> SourceSpec:
    """Return the declaration of a CSV source."""
    declared: dict[str, Any] = {
        "source_id": source_id,
        "kind": "csv",
        "url": f"https://{source_id}.example/rates.csv",
        "options": {
            "series": [{"code": code, "kind": kind} for code, (kind, _) in KINDS.items()],
            "series_field": "series",
            "bank": "bank",
            "term": "term",
            "value": "rate",
            **options,
        },
    }
    return parse_spec(declared | ({} if priority is None else {"priority": priority}))


def observed(target: Target, rate: float, position: int = 1) -> Observed:
    bank, series, term = target
    figure = Decimal(str(rate))
    return Observed(bank, series, term, Rate(figure, figure, figure, str(rate)), position)


@dataclass
class World:
    """What is in the table, and what SQL says should be.

    Attributes:
        table: where everything is.
        zones: time zone of each source; UTC when it has none.
    """

    table: Table
    zones: Mapping[str, str] = field(default_factory=dict)
    sql: SqlModel = field(default_factory=SqlModel)

    @property
    def sources(self) -> ObservationSources:
        return ObservationSources(SourceRegistry(self.table))

    @property
    def services(self) -> Services:
        nothing: Any = None
        return Services(
            table=self.table, start=nothing, workflows=(), objects=nothing, environ={}, clock=lambda: NOW
        )

    @property
    def reader(self) -> ObservationReader:
        return ObservationReader(self.table, clock=lambda: NOW)

    def declare(self, source_id: str, priority: int | None = None, **options: Any) -> None:
        """Declare a source and rebuild if that is needed, as `sourcebook sources add` does."""
        self.sql.declare(source_id, priority)
        if self.sources.declare(spec(source_id, priority, **options)).rebuild:
            self.rebuild([source_id])

    def remove(self, source_id: str) -> None:
        self.sql.remove(source_id)
        if self.sources.remove(source_id):
            self.rebuild([source_id])

    def rebuild(self, source_ids: list[str] | None = None, piece: int = 3) -> tuple[int, int]:
        event: Mapping[str, Any] = {} if source_ids is None else {"source_ids": source_ids}
        while True:
            counts = Rebuilder(self.table, piece=piece).run(RebuildCanonical.of_json(event))
            if counts.done:
                return counts.examined, counts.changed
            event = counts.to_json()

    def source_priority(self, source_id: str) -> SourcePriority | None:
        """Return how a source stands now: what a poll that begins now will write."""
        return Canonical(self.table).source_priorities([source_id]).get(source_id)

    def day(self, source_id: str, moment: datetime) -> str:
        return moment.astimezone(ZoneInfo(self.zones.get(source_id, "UTC"))).date().isoformat()

    def scrape(
        self,
        source_id: str,
        moment: datetime,
        rows: Mapping[Target, float] | Sequence[tuple[Target, float]],
        *,
        source_priority: SourcePriority | None = None,
        meanwhile: Callable[[], None] | None = None,
    ) -> None:
        """Store what a source said at a moment.

        Args:
            source_id: of the source.
            moment: of the scrape.
            rows: what it said.
            source_priority: of the source when the poll began, if that is not its present one.
            meanwhile: something that happens between the beginning of the poll and its writes.
        """
        figures = list(dict(rows).items())
        day = self.day(source_id, moment)
        scraped_at = isoformat(moment, "milliseconds")
        source_priority = source_priority or self.source_priority(source_id) or SourcePriority(999)
        canonical = Canonical(self.table)
        canonical.ensure([target for target, _ in figures], KINDS)
        if meanwhile is not None:
            meanwhile()
        self.sql.scrape(source_id, scraped_at, day, figures)
        self.table.put({**keys.observing_source(source_id), "source_id": source_id, "rows": len(figures)})
        adapter = ObservationAdapter(None, self.table, None, workers=1)  # type: ignore[arg-type]
        adapter.store(
            Scrape(source_id, scraped_at, day),
            [observed(target, rate, number) for number, (target, rate) in enumerate(figures, 1)],
            source_priority,
        )

    def latest(self) -> list[tuple[Any, ...]]:
        """Return /latest in the form of the SQL model."""
        return sorted(
            (
                row["bank_name"],
                row["series_code"],
                code_of(row["term"]),
                row["source_id"],
                row["rate_pct"],
                row["observed_day"],
                row["scraped_at"],
                row["source_priority"],
            )
            for row in all_items(self.reader.latest)
        )

    def history(self, target: Target) -> list[tuple[Any, ...]]:
        """Return /history in the form of the SQL model."""
        bank, series, term = target
        months = None if term == NO_TERM else f"{int(term[1:])}{term[0]}"
        answer = self.reader.history(bank_name=bank, series_code=series, term_months=months)
        assert answer["next_cursor"] is None
        return [
            (point["observed_day"], point["source_id"], point["rate_pct"], point["scraped_at"])
            for point in answer["items"]
        ]

    def raw(self) -> list[tuple[Any, ...]]:
        """Return the raw layer in the form of the SQL model."""
        return sorted(
            (*target, one.observed_day, one.source_id, one.rate_pct)
            for target in self.reader.targets()
            for one in self.reader.observations(target)
        )


def code_of(term: str | None) -> str:
    if term is None:
        return NO_TERM
    return f"{term[-1]}{int(term[:-1]):0{5 if term[-1] == 'D' else 4}d}"
