"""What a bench has found, in the form in which `run.py` makes one table of all of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Figure:
    """One thing that was measured.

    Attributes:
        what: was measured.
        value: the ratio, or the amount, that a goal is set for.
        unit: of `value`; "times" for a ratio, empty for a number of what `what` says.
        ours: what `value` was computed from, on our side.
        baseline: and on the other; empty for an amount, which stands for itself.
        at_least: the goal, if more is better.
        at_most: the goal, if less is better.
    """

    what: str
    value: float
    unit: str
    ours: str = ""
    baseline: str = ""
    at_least: float | None = None
    at_most: float | None = None

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None without one."""
        if self.at_least is not None:
            return self.value >= self.at_least
        return None if self.at_most is None else self.value <= self.at_most

    @property
    def result(self) -> str:
        """The value with its unit."""
        match self.unit:
            case "times":
                return f"{amount(self.value)} ×"
            case "dollars":
                return f"${self.value:,.2f}"
            case "%":
                return f"{self.value:.2f} %"
        return f"{amount(self.value)} {self.unit}".rstrip()

    @property
    def goal(self) -> str:
        """The goal in words; empty without one."""
        if self.at_least is not None:
            return f"≥ {amount(self.at_least)}"
        return "" if self.at_most is None else f"≤ {amount(self.at_most)}"

    @property
    def verdict(self) -> str:
        """Met or missed; empty without a goal."""
        return {True: "met", False: "missed", None: ""}[self.met]


def amount(value: float) -> str:
    """Return a number with as many digits as a person wants: three, and all of a larger one."""
    if value == 0:
        return "0"
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def save(path: Path | None, figures: Sequence[Figure], measured: Mapping[str, object] | None = None) -> None:
    """Write what a bench has found, for who runs it; nothing without a path.

    Args:
        path: from the option `--json`.
        figures: for the table.
        measured: for other benches, such as service times.
    """
    if path is not None:
        content = {"figures": [asdict(figure) for figure in figures], "measured": dict(measured or {})}
        path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", "utf-8")


def load(path: Path) -> tuple[list[Figure], dict[str, object]]:
    """Return the figures and the measured values that a bench has saved."""
    content = json.loads(path.read_text("utf-8"))
    return [Figure(**figure) for figure in content["figures"]], content["measured"]
