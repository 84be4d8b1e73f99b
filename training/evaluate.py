"""Score engines side by side on the development sets: `python -m training.evaluate [ENGINE …]`."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sourcebook.sentiment.engines import Label, Sentiment, SentimentEngine
from sourcebook.sentiment.engines.loading import engine_named
from training.corpora import development
from training.measures import accuracy, calibration_error, confusion, macro_f1, reliability
from training.targets import development_targets, read_targets

VALUES: dict[Sentiment, int] = {"negative": -1, "neutral": 0, "positive": 1}


def main() -> None:
    """Print a table of scores, and for each engine its confusion matrix and calibration over all sets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engines", nargs="*", default=["model", "fallback", "vader"])
    parser.add_argument("--json", type=Path, help="also write the numbers there")
    parser.add_argument("--figure", type=Path, help="also draw the calibration there (PNG)")
    chosen = parser.parse_args()
    sets = development()
    engines = {name: engine_of(name) for name in chosen.engines}
    results: dict[str, Any] = {name: scores_of(engine.label, sets) for name, engine in engines.items()}
    print("| set | n | " + " | ".join(results) + " |")
    print("|---|---|" + "---|" * len(results))
    for held in [*sets, "all"]:
        cells = [results[name]["sets"][held] for name in results]
        shown = " | ".join(f"{c['accuracy']:.2f} / {c['macro_f1']:.2f} / {c['ece']:.3f}" for c in cells)
        print(f"| {held} | {cells[0]['n']} | {shown} |")
    for name, result in results.items():
        print(
            f"\n{name}: {result['per_second']:.0f} texts a second; "
            "true class in rows, label in columns (-1, 0, 1)"
        )
        for row in result["confusion"]:
            print("  " + "".join(f"{count:7}" for count in row))
        for count, sure, right in result["reliability"]:
            print(f"  confidence {sure:.2f} right {right:.2f} n {count}")
    _print_targets(engines)
    _print_readings(engines)
    if chosen.json:
        chosen.json.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    if chosen.figure:
        draw(results, chosen.figure)


def _print_targets(engines: Mapping[str, SentimentEngine]) -> None:
    """Print a table of the scores on targets, beside those of giving each target its text's label."""
    print("\n| targets | n | " + " | ".join(f"{name}: text's label | {name}" for name in engines) + " |")
    print("|---|---|" + "---|---|" * len(engines))
    sets = development_targets()
    for name, examples in sets.items():
        truth, cells = [e.label for e in examples], []
        for engine in engines.values():
            for labels in (
                engine.label([e.text for e in examples]),
                engine.label_targets([e.target for e in examples]),
            ):
                given = [VALUES[label.sentiment] for label in labels]
                cells.append(f"{accuracy(truth, given):.3f} / {macro_f1(truth, given):.3f}")
        print(f"| {name} | {len(examples)} | {' | '.join(cells)} |")


def _print_readings(engines: Mapping[str, SentimentEngine]) -> None:
    """Print how far SEntFiN, two readers who did not see its labels, and the engines agree on targets."""
    examples = read_targets()
    given = {
        "the set": [example.label for example, _ in examples],
        "reader 1": [first for _, (first, _) in examples],
        "reader 2": [second for _, (_, second) in examples],
    }
    for name, engine in engines.items():
        labels = engine.label_targets([example.target for example, _ in examples])
        given[name] = [VALUES[label.sentiment] for label in labels]
    print(f"\n| {len(examples)} targets of SEntFiN | " + " | ".join(given) + " |")
    print("|---|" + "---|" * len(given))
    for name, truth in given.items():
        print(f"| {name} | " + " | ".join(f"{macro_f1(truth, other):.3f}" for other in given.values()) + " |")


def draw(results: dict[str, Any], path: Path) -> None:
    """Draw for each engine how often labels of a confidence are right."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 4.6), dpi=110)
    axes.plot([0.3, 1], [0.3, 1], color="0.7", linewidth=1, label="perfect")
    for name, result in results.items():
        bins = [found for found in result["reliability"] if found[0] >= 10]
        error = result["sets"]["all"]["ece"]
        axes.plot([b[1] for b in bins], [b[2] for b in bins], marker="o", label=f"{name} (error {error:.3f})")
    axes.set(xlabel="confidence", ylabel="share of labels that are right", xlim=(0.3, 1), ylim=(0.2, 1))
    axes.legend(frameon=False)
    axes.grid(color="0.92")
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Software": None})


def engine_of(name: str) -> SentimentEngine:
    """Return an engine by its name; `finvader` needs its package."""
    if name == "finvader":
        from training.finvader import FinVaderEngine

        return FinVaderEngine()
    return engine_named(name)


def scores_of(label: Callable[[Sequence[str]], list[Label]], sets: dict[str, list[Any]]) -> dict[str, Any]:
    """Return an engine's scores on each set and on all of them together."""
    found: dict[str, Any] = {"sets": {}}
    all_truth: list[int] = []
    all_labels: list[Label] = []
    spent = 0.0
    for name, examples in sets.items():
        started = time.process_time()
        labels = label([e.text for e in examples])
        spent += time.process_time() - started
        truth = [e.label for e in examples]
        found["sets"][name] = _scores(truth, labels)
        all_truth += truth
        all_labels += labels
    found["sets"]["all"] = _scores(all_truth, all_labels)
    given = [VALUES[label.sentiment] for label in all_labels]
    right = [a == b for a, b in zip(all_truth, given, strict=True)]
    found["confusion"] = confusion(all_truth, given)
    found["reliability"] = reliability(right, [label.confidence for label in all_labels])
    found["per_second"] = len(all_truth) / spent
    return found


def _scores(truth: list[int], labels: list[Label]) -> dict[str, float]:
    given = [VALUES[label.sentiment] for label in labels]
    right = [a == b for a, b in zip(truth, given, strict=True)]
    return {
        "n": len(truth),
        "accuracy": accuracy(truth, given),
        "macro_f1": macro_f1(truth, given),
        "ece": calibration_error(right, [label.confidence for label in labels]),
    }


if __name__ == "__main__":
    main()
