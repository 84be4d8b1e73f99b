"""Requests and results of the tasks of curation. Free of pydantic, since the API loads the workflows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sourcebook.messages import TaskRequest, TaskResult


class Action(StrEnum):
    """What a person may decide of a nova."""

    MERGE = "MERGE"
    SPLIT = "SPLIT"
    DEPRECATE = "DEPRECATE"
    RESTORE = "RESTORE"


class CurationOutcome(StrEnum):
    """What came of a decision."""

    MERGED = "MERGED"
    SPLIT = "SPLIT"
    DEPRECATED = "DEPRECATED"
    RESTORED = "RESTORED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Curated(TaskResult):
    """What came of a decision.

    Attributes:
        nova_id: the nova that it was about.
        merged_into: where it went, if it was merged.
        moved: how many names, references, spectra and uploads of photometry were moved.
    """

    outcome: CurationOutcome
    nova_id: str
    merged_into: str | None = None
    moved: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CurateNova(TaskRequest):
    """Asks for what a person has decided of a nova.

    Attributes:
        into: the nova that it is merged into, with `Action.MERGE` only.
        reason: why.
        decided_by: who says so.
    """

    function = "curate_nova"
    results = (Curated,)
    action: Action
    nova_id: str
    into: str | None = None
    reason: str
    decided_by: str | None = None
