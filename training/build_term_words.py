"""Make the list of words for terms, from the locale data of CLDR that Babel carries.

Run it when Babel is updated; nothing that runs in production needs Babel. For each word, the file that it
writes has the units that it stands for and the languages in which it does.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from babel import localedata

from sourcebook.observations.words import key

TARGET: Final = (
    Path(__file__).parent.parent / "layers/core/python/sourcebook/observations/data/term_words.json"
)
UNITS: Final = {"duration-day": "D", "duration-week": "W", "duration-month": "M", "duration-year": "Y"}
SHARES: Final = {"concentr-percent": "%", "concentr-permille": "‰", "concentr-permyriad": "‱"}
COUNTS: Final = {"one": 1, "two": 2}

NOT_IN_CLDR: Final = {
    "D": {"vi": ["n"]},
    "W": {"en": ["wk", "wks"]},
    "M": {
        "en": ["mo", "mos", "mth", "mths"],
        "de": ["Mt", "Mte", "Monats"],
        "vi": ["t", "th"],
        "zh": ["月"],
        "ja": ["月"],
    },
    "Y": {"en": ["yr", "yrs"], "fr": ["année", "années"], "it": ["anno", "anni"]},
    "%": {"en": ["pct", "pc", "per cent", "percent"], "vi": ["phần trăm"]},
    "‱": {"en": ["bp", "bps", "basis point", "basis points"], "de": ["Basispunkt", "Basispunkte"]},
}
"""Abbreviations of rate pages that CLDR does not list (any more)."""

NOTICE: Final = (
    "From the Unicode Common Locale Data Repository, through Babel, by training/build_term_words.py. "
    "Copyright 2004-2026 Unicode, Inc.; Unicode License V3, https://www.unicode.org/license.txt"
)


def texts(value: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - nested data of Babel
    """Yield every text of a nested mapping, with the key that it stands under."""
    for name, inner in value.items():
        if isinstance(inner, str):
            yield name, inner
        elif hasattr(inner, "items"):
            yield from texts(inner)


def main() -> int:  # noqa: C901, PLR0912 - one pass over the data
    """Write the file."""
    after: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    before: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    alone: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    per: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))

    def add(pattern: str, plural: str, unit: str, language: str) -> None:
        head, found, tail = pattern.partition("{0}")
        if plural == "per":
            if not key(head):
                per[key(tail)][unit].add(language)
        elif not found:
            if plural in COUNTS and unit in "DWMY":
                alone[key(pattern)][f"{COUNTS[plural]}{unit}"].add(language)
        elif key(tail) and not key(head):
            after[key(tail)][unit].add(language)
        elif key(head) and not key(tail) and head.endswith((" ", "\u00a0")):
            before[key(head)][unit].add(language)

    for identifier in localedata.locale_identifiers():
        language = identifier.partition("_")[0]
        if language == "root":
            continue
        data = localedata.load(identifier)
        for name, unit in (UNITS | SHARES).items():
            for plural, pattern in texts(data.get("unit_patterns", {}).get(name, {})):
                add(pattern, plural, unit, language)
        for name, unit in UNITS.items():
            for _, text in texts({"": data.get("unit_display_names", {}).get(name, {})}):
                after[key(text)][unit].add(language)
            # "in 6 Monaten": the case that follows a preposition.
            for form in ("future", "past"):
                fields = data.get("date_fields", {}).get(name.removeprefix("duration-"), {})
                for _, pattern in texts({"": fields.get(form, {})}):
                    tail = pattern.partition("{0}")[2]
                    if not pattern.startswith("{0}") and tail[:1].isspace() and len(tail.split()) == 1:
                        after[key(tail)][unit].add(language)
    for unit, languages in NOT_IN_CLDR.items():
        for language, words in languages.items():
            for word in words:
                after[key(word)][unit].add(language)
    for table in (after, before, alone, per):
        table.pop("", None)

    # A word of several units within one language is no unit's: it came out of a phrase ("6 months ago").
    for table in (after, before, per):
        for word, units in list(table.items()):
            for language in set.union(*units.values()):
                if sum(language in names for names in units.values()) > 1:
                    for names in units.values():
                        names.discard(language)
            table[word] = {unit: names for unit, names in units.items() if names}
    # D, W, M and Y are the same everywhere, but where a language reads the letter as another unit.
    for table, prefix in ((after, ""), (per, "/")):
        for unit in "DWMY":
            table.get(f"{prefix}{unit.lower()}", {}).pop(unit, None)

    def plain(table: dict[str, dict[str, set[str]]]) -> dict[str, str]:
        return {
            word: ";".join(f"{unit}:{','.join(sorted(names))}" for unit, names in sorted(units.items()))
            for word, units in sorted(table.items())
            if units
        }

    content = {
        "notice": NOTICE,
        "after": plain(after),
        "before": plain(before),
        "alone": plain(alone),
        "per": plain(per),
    }
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(json.dumps(content, ensure_ascii=False, indent=0, sort_keys=False) + "\n", "utf-8")
    sys.stdout.write(", ".join(f"{len(v)} {k}" for k, v in content.items() if k != "notice") + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
