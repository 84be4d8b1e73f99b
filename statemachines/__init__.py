"""The workflows, each declared by the module of its name: its input, its lock, its outcomes, its own steps.

The other modules are what the workflows have in common: `states` builds single states, `bookkeeping` those
that record the run and take its lock, `checks` the check of an input, `declaration` a whole workflow, and
`shared` has inputs and steps that several workflows use.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from statemachines.declaration import Workflow

_COMMON: Final = frozenset({"bookkeeping", "checks", "declaration", "shared", "states"})


@cache
def names() -> tuple[str, ...]:
    """Return the names of all workflows, in order."""
    return tuple(sorted({module.name for module in iter_modules(__path__)} - _COMMON))


@cache
def workflow(name: str) -> Workflow:
    """Return a workflow by its name, loading its module alone. Raise KeyError if there is none."""
    if name not in names():
        raise KeyError(name)
    return cast("Workflow", import_module(f"statemachines.{name}").WORKFLOW)
