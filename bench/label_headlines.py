"""How fast the sentiment engines label, how soon the first label is there, and what memory they take.

    .venv/bin/python bench/label_headlines.py [--engine model] [--texts 2000] [--rounds 3] [--json FILE]

One process on one core labels the project's own headlines (training/headlines) and generated statements of
results, which are longer, 50 at a time, as analyze_sentiment does; the best round counts. Processor seconds
are those of the process, whatever else the machine does, and are what a free core takes; wall seconds say how
free it was. The first label is measured in a process of its own, from its start by the operating system to
the label, interpreter and imports included.

Then the project's headlines that name two subjects (training/headlines/targets.txt), as analyze_sentiment
labels them: the headline and both subjects.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.figures import Figure, save  # noqa: E402
from sourcebook.sentiment.engines import Target  # noqa: E402
from sourcebook.sentiment.engines.loading import ENGINES, engine_named  # noqa: E402
from training.statements import statements  # noqa: E402
from training.targets import own_targets  # noqa: E402

_T = TypeVar("_T")

HEADLINES = ROOT / "training" / "headlines"
BATCH = 50
_HEADLINE = 100
"""Characters of a headline at most; what is longer are sentences."""

FIRST_LABEL = """
import sys, time
from sourcebook.sentiment.engines.loading import engine_named
engine_named(sys.argv[1]).label(["Chip maker's profit beats every forecast"])
print(time.clock_gettime(time.CLOCK_MONOTONIC), time.process_time())
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--engine", choices=[name for name in ENGINES if name != "comprehend"], default="model"
    )
    parser.add_argument("--texts", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, metavar="FILE")
    chosen = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    wall, processor = first_label(chosen.engine)
    found: dict[str, Any] = {
        "engine": chosen.engine,
        "first_label_wall_s": round(wall, 2),
        "first_label_processor_s": round(processor, 2),
        **throughput(chosen.engine, headlines(chosen.texts), chosen.rounds),
        **throughput_of_pairs(chosen.engine, chosen.texts, chosen.rounds),
        "peak_memory_mb": peak_memory(),
        "load_average": round(os.getloadavg()[0], 1),
    }
    print("\n".join(f"{name:28}{value}" for name, value in found.items()))
    figures = [
        Figure("headlines labelled in a second of CPU", found["per_second_processor"], "", at_least=500),
        Figure(
            "headlines of two subjects in a second of CPU",
            found["pairs_per_second_processor"],
            "",
            at_least=250,
        ),
        Figure("first label after a start, CPU", processor, "s", at_most=1.5),
    ]
    if found["peak_memory_mb"]:
        figures.append(Figure("memory of the model, at most", found["peak_memory_mb"], "MB", at_most=150))
    save(chosen.json, figures)


def headlines(count: int) -> list[str]:
    own = [
        line.partition("\t")[2]
        for path in sorted(HEADLINES.glob("*.tsv"))
        for line in path.read_text("utf-8").splitlines()[1:]
    ]
    generated = [text for text, _ in statements(random.Random(1), len(own))]  # noqa: S311 - the same each time
    mixed = [text for pair in zip(own, generated, strict=True) for text in pair]
    return (mixed * (count // len(mixed) + 1))[:count]


def throughput(name: str, texts: list[str], rounds: int) -> dict[str, float]:
    engine = engine_named(name)
    wall, processor = _fastest(
        rounds, [texts[at : at + BATCH] for at in range(0, len(texts), BATCH)], engine.label
    )
    return {
        "headlines": len(texts),
        "words_each": round(sum(len(text.split()) for text in texts) / len(texts), 1),
        "per_second_wall": round(len(texts) / wall),
        "per_second_processor": round(len(texts) / processor),
    }


def throughput_of_pairs(name: str, count: int, rounds: int) -> dict[str, float]:
    engine = engine_named(name)
    own = [*own_targets(held_out=False), *own_targets(held_out=True)]
    pairs = [
        [e.target for e in group] for group in own if len(group) == 2 and len(group[0].text) <= _HEADLINE
    ]
    pairs = (pairs * (count // len(pairs) + 1))[:count]

    def label(part: list[list[Target]]) -> None:
        engine.label([targets[0].text for targets in part])
        engine.label_targets([target for targets in part for target in targets])

    wall, processor = _fastest(rounds, [pairs[at : at + BATCH] for at in range(0, count, BATCH)], label)
    return {
        "pairs_per_second_wall": round(count / wall),
        "pairs_per_second_processor": round(count / processor),
    }


def _fastest(rounds: int, parts: list[_T], label: Callable[[_T], object]) -> tuple[float, float]:
    """Return wall and processor seconds that labelling all parts takes, the least of all rounds."""
    label(parts[0])
    walls, processors = [], []
    for _ in range(rounds):
        wall, processor = time.perf_counter(), time.process_time()
        for part in parts:
            label(part)
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    return min(walls), min(processors)


def first_label(name: str) -> tuple[float, float]:
    """Return wall and processor seconds from a process's start to its first label; the best of three."""
    found = []
    for _ in range(3):
        started = time.clock_gettime(time.CLOCK_MONOTONIC)
        finished = subprocess.run(
            [sys.executable, "-c", FIRST_LABEL, name], capture_output=True, text=True, check=True
        )
        ended, processor = map(float, finished.stdout.split())
        found.append((ended - started, processor))
    return min(found)


def peak_memory() -> float | None:
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    [peak] = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
    return round(int(peak.split()[1]) / 1024)


if __name__ == "__main__":
    main()
