"""The labelled texts: the public sets beside the project, and headlines labelled by its authors.

Labels are -1 negative, 0 neutral, 1 positive throughout. The public sets lie in
``../shared/data/sentiment`` (or where SOURCEBOOK_SHARED says) and are read, never copied.
"""

from __future__ import annotations

import csv
import hashlib
import os
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from training.statements import statements

ROOT: Final = Path(__file__).resolve().parent.parent
OWN: Final = Path(__file__).resolve().parent / "headlines"

TOPICS: Final = ("technology", "finance", "general", "superlatives", "reversals")
"""Files of headlines of our own."""

UNSEEN_FINANCE: Final = "Unseen finance"
"""A development set that nothing is trained, calibrated or chosen by."""

DEVELOPMENT_STORIES: Final = frozenset(
    {
        "digRyFUSraoPWuM6Zu4DdpKxUVOGM",  # Sprint and T-Mobile
        "d9U18-FbnX6iAeMfWCPiWF-ATySKM",  # GM's recall
        "djvA-kSZxWVLPwM4kiW9vhu4H1sLM",  # speed reading
        "dTtx9G2RDbmc5YMasGm422Zcm7TVM",  # Flappy Bird
    }
)
"""Whole stories are held out: two titles of one story say the same thing in nearly the same words."""


@dataclass(frozen=True, slots=True)
class Example:
    """A text and its label.

    Attributes:
        text: the headline.
        label: -1, 0 or 1.
        weight: how much a mistake on it counts while training.
    """

    text: str
    label: int
    weight: float = 1.0


def shared() -> Path:
    """Return the folder of public sets.

    Raises:
        SystemExit: if it is not there.
    """
    folder = Path(os.environ.get("SOURCEBOOK_SHARED", ROOT.parent / "shared")) / "data" / "sentiment"
    if not folder.is_dir():
        raise SystemExit(
            f"{folder} does not exist: the labelled sets are kept beside the project; "
            "say where in SOURCEBOOK_SHARED"
        )
    return folder


def development() -> dict[str, list[Example]]:
    """Return the development sets by name; no text of theirs is trained on."""
    return {
        "SEntFiN dev": _read(shared() / "sentfin_dev.tsv"),
        "TFNS held out": [e for e in _read(shared() / "tfns_train.tsv") if bucket(e.text) == 0],
        "NewsMTSC held out": [e for e in _read(shared() / "newsmtsc_train.tsv") if bucket(e.text) == 0],
        "Own technology": own("technology", held_out=True),
        "Own finance": own("finance", held_out=True),
        "Own general": own("general", held_out=True),
        "Own superlatives": own("superlatives", held_out=True),
        "Own reversals": own("reversals", held_out=True),
        "UCI technology": uci(held_out=True),
        UNSEEN_FINANCE: _read(OWN / "finance_unseen.tsv"),
    }


def training(seed: int) -> list[Example]:
    """Return one epoch of training examples, drawn anew for each seed and shuffled."""
    draw = random.Random(seed)
    ours = [e for topic in TOPICS for e in own(topic, held_out=False)]
    examples = [
        *financial(),
        *tweets(),
        *draw.sample(political(), 1200),
        *(renamed(e, draw) for e in ours),
        *(renamed(e, draw) for e in ours),
        *(renamed(e, draw) for e in own("superlatives", held_out=False) for _ in range(3)),
        *uci(held_out=False),
        *generated(draw, 700),
    ]
    draw.shuffle(examples)
    return examples


def financial() -> list[Example]:
    """Return SEntFiN's training headlines."""
    return _read(shared() / "sentfin_train.tsv")


def tweets() -> list[Example]:
    """Return TFNS's training tweets.

    Neutral ones keep their share, two in three: what marks a tweet is also how often it has no opinion.
    """
    return [e for e in _read(shared() / "tfns_train.tsv") if bucket(e.text) != 0]


def political() -> list[Example]:
    """Return NewsMTSC's training sentences."""
    return [e for e in _read(shared() / "newsmtsc_train.tsv") if bucket(e.text) != 0]


def generated(draw: random.Random, count: int) -> list[Example]:
    """Return generated statements of results."""
    return [Example(text, label) for text, label in statements(draw, count)]


def _read(path: Path) -> list[Example]:
    with path.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [Example(unquoted(row["text"]), int(row["label"])) for row in rows]


def unquoted(text: str) -> str:
    """Undo the CSV quoting that some sets kept in their tab-separated copies."""
    if len(text) > 1 and text.startswith('"') and text.endswith('"'):
        text = text[1:-1].replace('""', '"')
    return text.strip()


def own(topic: str, *, held_out: bool) -> list[Example]:
    """Return our own headlines of a topic: those to develop with or those to train on."""
    return [e for e in _read(OWN / f"{topic}.tsv") if (bucket(e.text, 6) == 0) == held_out]


def bucket(text: str, of: int = 10) -> int:
    """Return in which of so many parts a text falls, always the same one."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") % of


def uci(*, held_out: bool) -> list[Example]:
    """Return the titles of the UCI sample that we labelled: those of the held-out stories or the others.

    The repository holds row numbers and labels only; the titles come from the set itself.
    """
    labels = dict(_uci_labels((OWN / "uci_labels.txt").read_text("utf-8").splitlines()))
    return [
        Example(title, labels[number])
        for number, story, title in _uci_titles()
        if number in labels and (story in DEVELOPMENT_STORIES) == held_out
    ]


def uci_unlabelled() -> list[str]:
    """Return the titles of the UCI sample that nobody labelled, without those of the held-out stories."""
    labels = dict(_uci_labels((OWN / "uci_labels.txt").read_text("utf-8").splitlines()))
    return [
        title
        for number, story, title in _uci_titles()
        if number not in labels and story not in DEVELOPMENT_STORIES
    ]


def _uci_titles() -> Iterator[tuple[int, str, str]]:
    """Yield number, story and title of each row of the UCI sample."""
    with (shared() / "uci_news_sample.tsv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            yield int(row["id"]), row["story"], unquoted(row["title"])


def _uci_labels(lines: Iterable[str]) -> Iterator[tuple[int, int]]:
    for line in lines:
        if line and not line.startswith("#"):
            label, numbers = line.split(":")
            for number in numbers.split():
                yield int(number), int(label)


NAMES: Final = """
Apple Google Microsoft Amazon Meta Facebook Nvidia Intel AMD Samsung Sony Nintendo Tesla Netflix
Spotify Oracle IBM Cisco Adobe Salesforce Uber Airbnb Zoom Slack Dropbox Twitter Snap Pinterest
Reddit TikTok OpenAI Anthropic Qualcomm Micron Dell HP Lenovo Nokia Ericsson Huawei Xiaomi Foxconn
TSMC Rivian Lucid Ford Toyota Boeing Airbus Siemens Bosch Philips SAP Shopify Stripe PayPal Square
Coinbase Palantir Snowflake Databricks Cloudflare Okta CrowdStrike Mozilla Docker GitHub GitLab
JetBrains Atlassian Twilio Peloton Fitbit Garmin GoPro Roku Sonos Verizon Vodafone Comcast T-Mobile
Sprint
""".split()
_NAME: Final = re.compile(rf"\b({'|'.join(map(re.escape, NAMES))})\b")
INVENTED: Final = """
Acme Northwind Contoso Globex Initech Helix Quantel Lumora Vantix Brightwave Corvus Arkeon Delphi
Zephyr Novexa Trillium Kestrel Ardent Solara Meridian Cobalt Fathom Pinnacle Rapidus Tessera Umbra
""".split()


def renamed(example: Example, draw: random.Random) -> Example:
    """Give a headline other companies, half of the time, so that no name comes to mean a label."""
    if draw.random() < 0.5:
        return example
    taken: dict[str, str] = {}

    def other(match: re.Match[str]) -> str:
        pool: Sequence[str] = NAMES if draw.random() < 0.7 else INVENTED
        return taken.setdefault(match[0], draw.choice(pool))

    return Example(_NAME.sub(other, example.text), example.label, example.weight)
