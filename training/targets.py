"""Labelled targets: what a text feels about one thing that it names, at characters `start` to `end`.

SEntFiN and NewsMTSC lie beside the project and are read, never copied; the headlines of several subjects in
``headlines/targets.txt`` are ours.
"""

from __future__ import annotations

import csv
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sourcebook.sentiment.engines import Target
from training.corpora import INVENTED, NAMES, OWN, bucket, shared, unquoted

_MARKS: Final = {"+": 1, "=": 0, "-": -1}
_MARKED: Final = re.compile(r"\{([+=-])([^{}]+)\}")
_JOINTS: Final = (
    "; ",
    ", ",
    ", while ",
    ", but ",
    " as ",
    " even as ",
    ". ",
    " | ",
    ", and ",
    " - ",
    "; meanwhile ",
)
"""What two headlines are joined by into one of which each half feels something else."""


@dataclass(frozen=True, slots=True)
class TargetExample:
    """A place in a text, and what the text says of what stands there.

    Attributes:
        target: the place.
        label: -1, 0 or 1.
    """

    target: Target
    label: int

    @property
    def text(self) -> str:
        """The whole text."""
        return self.target.text

    @property
    def name(self) -> str:
        """The words of the target."""
        return self.text[self.target.start : self.target.end]

    def renamed(self, name: str) -> TargetExample:
        """Return the same with another name in the target's place."""
        start = self.target.start
        text = f"{self.text[:start]}{name}{self.text[self.target.end :]}"
        return TargetExample(Target(text, start, start + len(name)), self.label)

    def within(self, before: str, after: str) -> TargetExample:
        """Return the same with more text around it."""
        start, end = self.target.start + len(before), self.target.end + len(before)
        return TargetExample(Target(f"{before}{self.text}{after}", start, end), self.label)


def development_targets() -> dict[str, list[TargetExample]]:
    """Return the development sets by name; no text of theirs is trained on."""
    sets = {
        "SEntFiN targets dev": _read(shared() / "sentfin_targets_dev.tsv"),
        "NewsMTSC targets held out": [
            t for t in _read(shared() / "newsmtsc_targets_train.tsv") if bucket(unquoted(t.text)) == 0
        ],
        "Own targets": [t for group in own_targets(held_out=True) for t in group],
        "Unseen targets": [t for group in _groups("targets_unseen.txt") for t in group],
    }
    return {**sets, **{f"{name}, conflicting": conflicting(found) for name, found in sets.items()}}


def read_targets() -> list[tuple[TargetExample, tuple[int, int]]]:
    """Return targets of SEntFiN's development set with the labels of two readers who did not see the set's.

    The repository holds row numbers and labels only; the headlines come from the set itself.
    """
    targets = _read(shared() / "sentfin_targets_dev.tsv")
    with (OWN / "sentfin_readings.tsv").open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t")
        return [(targets[int(row["row"])], (int(row["first"]), int(row["second"]))) for row in rows]


def conflicting(targets: Sequence[TargetExample]) -> list[TargetExample]:
    """Return the targets of the texts whose targets have different labels."""
    labels: dict[str, set[int]] = {}
    for target in targets:
        labels.setdefault(target.text, set()).add(target.label)
    return [target for target in targets if len(labels[target.text]) > 1]


def financial_targets() -> list[TargetExample]:
    """Return the targets of SEntFiN's training headlines."""
    return _read(shared() / "sentfin_targets_train.tsv")


def political_targets() -> list[TargetExample]:
    """Return the targets of NewsMTSC's training sentences."""
    return [t for t in _read(shared() / "newsmtsc_targets_train.tsv") if bucket(unquoted(t.text)) != 0]


def own_targets(*, held_out: bool) -> list[list[TargetExample]]:
    """Return the targets of our own headlines, those of one headline together."""
    return [group for group in _groups("targets.txt") if (bucket(group[0].text, 6) == 0) == held_out]


def _groups(name: str) -> list[list[TargetExample]]:
    """Return the targets of a file of our own headlines, those of one headline together."""
    lines = (OWN / name).read_text("utf-8").splitlines()
    return [parsed(line) for line in lines if line and not line.startswith("#")]


def parsed(line: str) -> list[TargetExample]:
    """Return the targets of a line in which each is marked: ``{+this one} gains on {-that one}``."""
    text, places, last = "", [], 0
    for match in _MARKED.finditer(line):
        text += line[last : match.start()]
        places.append((len(text), len(text) + len(match[2]), _MARKS[match[1]]))
        text += match[2]
        last = match.end()
    text += line[last:]
    return [TargetExample(Target(text, start, end), label) for start, end, label in places]


def given_names(group: Sequence[TargetExample], draw: random.Random) -> Iterator[TargetExample]:
    """Yield the targets of one headline, the names exchanged most of the time, so that none means a label."""
    if draw.random() < 0.3:
        yield from group
        return
    pool: Sequence[str] = NAMES if draw.random() < 0.6 else INVENTED
    given: dict[str, str] = {}
    text, places, last = "", [], 0
    for target in group:
        kept = not target.name[0].isupper() or target.name in _KEPT
        name = target.name if kept else given.setdefault(target.name, _unused(pool, given, draw))
        text += target.text[last : target.target.start]
        places.append((len(text), len(text) + len(name), target.label))
        text += name
        last = target.target.end
    text += group[-1].text[last:]
    for start, end, label in places:
        yield TargetExample(Target(text, start, end), label)


_KEPT: Final = frozenset(
    """Regulator Senator Minister Mayor Judge Watchdog Institute Fed ECB RBI Sensex Rupee Dollar Gold
    Oil Crude Exporters Importers Cotton Steel Banks""".split()
)
"""Targets whose headline makes no sense with a company's name in their place."""


def _unused(pool: Sequence[str], given: dict[str, str], draw: random.Random) -> str:
    return draw.choice([name for name in pool if name not in given.values()])


def joined(targets: Sequence[TargetExample], draw: random.Random, count: int) -> Iterator[TargetExample]:
    """Yield targets in a text of two headlines, the other one mostly of another label.

    What is felt about the target stands in its own half: the other half is not to be heeded.
    """
    for _ in range(count):
        first, second = draw.choice(targets), draw.choice(targets)
        if first.label == second.label:
            second = draw.choice(targets)
        if first.name.lower() in second.text.lower():
            continue
        joint = draw.choice(_JOINTS)
        yield (
            first.within("", joint + second.text)
            if draw.random() < 0.5
            else first.within(second.text + joint, "")
        )


def _read(path: Path) -> list[TargetExample]:
    with path.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [
            TargetExample(Target(row["text"], int(row["start"]), int(row["end"])), int(row["label"]))
            for row in rows
        ]
