"""Declaring and removing sources of observations, with what that means for the canonical layer."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from boto3.dynamodb.conditions import Attr

from sourcebook.clock import Clock, isoformat, utc_now
from sourcebook.observations.canonical import SourcePriority
from sourcebook.observations.kinds import KINDS
from sourcebook.observations.options import read_observation_options
from sourcebook.sources.model import SourceSpec, declared
from sourcebook.sources.registry import SourceRegistry
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed


@dataclass(frozen=True, slots=True)
class Declared:
    """The outcome of declaring a source.

    Attributes:
        new: whether it was not known before.
        rebuild: whether the canonical layer must be rebuilt for it.
    """

    new: bool
    rebuild: bool


@dataclass(frozen=True, slots=True)
class ObservationSources:
    """Sources of observations in the registry of all sources."""

    registry: SourceRegistry
    clock: Clock = utc_now

    def declare(self, spec: SourceSpec) -> Declared:
        """Add a source, or bring the declaration of a known one up to date.

        Its figures stand in the canonical layer with the priority and age that it had when they came. So
        after a change of either, and after a removed source comes back, the layer is to be rebuilt.

        Raises:
            InvalidInput: if its options are wrong.
        """
        if spec.kind not in KINDS:
            return Declared(self.registry.register(spec), rebuild=False)
        read_observation_options(spec)
        before = self.registry.table.get(keys.source(spec.source_id), consistent=True)
        new = self.registry.register(spec)
        if before is None:
            seen = self.registry.table.get(keys.observing_source(spec.source_id), consistent=True)
            return Declared(new, rebuild=seen is not None)
        return Declared(new, rebuild=SourcePriority.of(before) != SourcePriority.of(declared(spec)))

    def remove(self, source_id: str) -> bool:
        """Remove a source of observations; the canonical layer is to be rebuilt then.

        What it brought stays in the raw layer, and counts again when the source is declared again. Return
        False if there is no such source of observations.
        """
        table = self.registry.table
        state = table.get(keys.source(source_id), consistent=True)
        if state is None or state["kind"] not in KINDS:
            return False
        table.delete(keys.source(source_id))
        with suppress(ConditionFailed):  # it was never scraped
            table.update(
                keys.observing_source(source_id),
                assign={"removed_at": isoformat(self.clock())},
                condition=Attr("PK").exists(),
            )
        return True
