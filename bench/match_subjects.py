"""How many headlines a second the matcher looks through, and how that depends on the number of names.

    .venv/bin/python -m bench.match_subjects [--aliases 5000] [--headlines 20000] [--json FILE]

Names are the default subjects, and as many made of words of this list as are missing; with the folder
../shared beside the project (or SOURCEBOOK_SHARED), those of its list of companies, and its headlines. The
baseline in the same run is one compiled regular expression with every name as an alternative.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import time
from collections.abc import Callable
from pathlib import Path

from bench.figures import Figure, save
from sourcebook.records.subject import Subject
from sourcebook.sentiment.matching import Matcher
from sourcebook.sentiment.subjects import TOOL_ID, default_subjects

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("SOURCEBOOK_SHARED", ROOT.parent / "shared")) / "data" / "sentiment"
WORDS = (ROOT / "tests" / "unit" / "sentiment" / "data" / "labelled_headlines.tsv").read_text("utf-8").split()


def subjects(aliases: int, rng: random.Random) -> list[Subject]:
    found = default_subjects()
    if (SHARED / "company_aliases.tsv").exists():
        for line in (SHARED / "company_aliases.tsv").read_text("utf-8").splitlines()[1:]:
            symbol, names = line.split("\t")
            spelled = tuple(name.strip() for name in names.split(",") if len(name.strip()) > 1)
            if spelled and TOOL_ID.fullmatch(symbol):
                found.append(Subject(symbol, spelled[0], "company", spelled[1:50]))
    count = sum(1 + len(subject.aliases) for subject in found)
    while count < aliases:
        name = f"{rng.choice(WORDS)} {rng.choice(WORDS)} {count}"
        found.append(Subject(f"made-{count}", name, "company", (f"{rng.choice(WORDS)}{count}",)))
        count += 2
    return found


def headlines(number: int, rng: random.Random) -> list[str]:
    files = [SHARED / "sentfin_train.tsv", SHARED / "tfns_train.tsv"]
    if all(file.exists() for file in files):
        lines = [line.split("\t")[1] for file in files for line in file.read_text("utf-8").splitlines()[1:]]
        return [rng.choice(lines) for _ in range(number)]
    return [" ".join(rng.choices(WORDS, k=11)) for _ in range(number)]


def per_second(find: Callable[[str], object], texts: list[str]) -> float:
    best = float("inf")
    for _ in range(3):
        started = time.process_time()
        for text in texts:
            find(text)
        best = min(best, time.process_time() - started)
    return len(texts) / best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--aliases", type=int, default=5_000)
    parser.add_argument("--headlines", type=int, default=20_000)
    parser.add_argument("--json", type=Path, metavar="FILE")
    asked = parser.parse_args()
    rng = random.Random(5)  # noqa: S311 - the same list each time
    texts = headlines(asked.headlines, rng)
    print(f"{'names':>7} {'headlines/s':>12} {'regex':>10} {'ratio':>7} {'build':>8}")
    for aliases in (asked.aliases // 10, asked.aliases):
        chosen = subjects(aliases, rng)
        started = time.process_time()
        matcher = Matcher(chosen)
        built = time.process_time() - started
        names = [name for subject in chosen for name in (subject.name, *subject.aliases)]
        pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(names, key=len, reverse=True)))})\b")
        ours = per_second(matcher.find, texts)
        theirs = per_second(pattern.findall, texts[:200])
        print(f"{len(names):>7} {ours:>12,.0f} {theirs:>10,.0f} {ours / theirs:>6.0f}x {built:>7.2f}s")
    # Of the last, which are all names that were asked for.
    save(
        asked.json,
        [
            Figure(f"headlines in a second of CPU, {len(names):,} names", ours, "", at_least=15_000),
            Figure(
                "the same, beside another way",
                ours / theirs,
                "times",
                f"{ours:,.0f}/s",
                f"one regex: {theirs:,.0f}/s",
            ),
        ],
    )


if __name__ == "__main__":
    main()
