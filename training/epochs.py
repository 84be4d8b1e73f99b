"""What is learnt from in one epoch: texts with the label of the whole, with targets in them, or with both.

A text is computed once for all that is known of it, so that its own label and those of its targets are
learnt together.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sourcebook.sentiment.engines import Target
from training.corpora import (
    INVENTED,
    NAMES,
    TOPICS,
    Example,
    financial,
    generated,
    own,
    political,
    renamed,
    tweets,
    uci,
    uci_unlabelled,
)
from training.couples import couples
from training.targets import (
    TargetExample,
    financial_targets,
    given_names,
    joined,
    own_targets,
    political_targets,
)

_COMPANY: Final = re.compile(rf"\b({'|'.join(map(re.escape, [*NAMES, *INVENTED]))})\b")
_CASHTAG: Final = re.compile(r"\$[A-Za-z]{1,5}\b")


@dataclass(frozen=True, slots=True)
class Lesson:
    """A text and what is known of it.

    Attributes:
        text: the headline or sentence.
        label: of the whole, -1, 0 or 1; None if it is not known.
        targets: the targets in it that are labelled.
        taught: whether the earlier model's opinion of the whole is learnt as well.
    """

    text: str
    label: int | None
    targets: tuple[TargetExample, ...] = ()
    taught: bool = False


@dataclass(frozen=True, slots=True)
class Shares:
    """How many of each kind an epoch has, where not all of them are taken.

    Attributes:
        finance: texts of SEntFiN with one target or none.
        politics: sentences of NewsMTSC whose targets agree.
        tweets: of TFNS.
        couples: generated headlines of several subjects.
        joined: texts of two headlines.
        ours: times that each of our own headlines of several subjects is taken.
    """

    finance: int
    politics: int
    tweets: int
    couples: int
    joined: int
    ours: int


OPENING: Final = Shares(finance=2600, politics=1500, tweets=1800, couples=500, joined=700, ours=2)
CLOSING: Final = Shares(finance=5200, politics=1600, tweets=1500, couples=250, joined=300, ours=2)
"""While the rate falls: what is like the texts that will be labelled."""


def lessons(seed: int, shares: Shares = OPENING) -> list[Lesson]:
    """Return one epoch of lessons, drawn anew for each seed and shuffled."""
    draw = random.Random(seed)
    finance = _grouped(financial(), financial_targets())
    names = [t.name for lesson in finance for t in lesson.targets]
    several = [lesson for lesson in finance if len(lesson.targets) > 1]
    others = [lesson for lesson in finance if len(lesson.targets) <= 1]
    torn = [lesson for lesson in several if _is_torn(lesson)]
    news = _grouped(political(), political_targets())
    torn_news = [lesson for lesson in news if _is_torn(lesson)]
    chosen = [
        *several,
        *(_exchanged(lesson, names, draw) for lesson in torn),
        *(
            _exchanged(lesson, names, draw) if lesson.targets and draw.random() < 0.15 else lesson
            for lesson in draw.sample(others, shares.finance)
        ),
        *torn_news,
        *draw.sample([lesson for lesson in news if not _is_torn(lesson)], shares.politics),
        *(_with_cashtag(e) for e in draw.sample(tweets(), shares.tweets)),
        *(
            _with_company(renamed(e, draw))
            for topic in (*TOPICS, "finance", "general")
            for e in own(topic, held_out=False)
        ),
        *(_of(renamed(e, draw)) for _ in range(2) for e in own("superlatives", held_out=False)),
        *(_of(e, taught=True) for e in uci(held_out=False)),
        *(Lesson(text, None, taught=True) for text in draw.sample(uci_unlabelled(), 500)),
        *(_of(e) for e in generated(draw, 450)),
        *(
            _together(given_names(group, draw))
            for _ in range(shares.ours)
            for group in own_targets(held_out=False)
        ),
        *(_together(couple) for couple in couples(draw, shares.couples)),
        *(
            _together([target])
            for target in joined(
                [t for one in finance for t in one.targets if len(t.text) < 90], draw, shares.joined
            )
        ),
    ]
    draw.shuffle(chosen)
    return chosen


def _grouped(texts: Sequence[Example], targets: Sequence[TargetExample]) -> list[Lesson]:
    """Return one lesson for each text, labelled as a whole or not."""
    labels: Mapping[str, int] = {e.text: e.label for e in texts}
    found: dict[str, list[TargetExample]] = {}
    for target in targets:
        found.setdefault(target.text, []).append(target)
    lessons = [Lesson(text, labels.get(text), tuple(group), taught=True) for text, group in found.items()]
    return lessons + [_of(e, taught=True) for e in texts if e.text not in found]


def _of(example: Example, *, taught: bool = False) -> Lesson:
    return Lesson(example.text, example.label, taught=taught)


def _is_torn(lesson: Lesson) -> bool:
    return len({target.label for target in lesson.targets}) > 1


def _together(targets: Iterator[TargetExample] | Sequence[TargetExample]) -> Lesson:
    group = tuple(targets)
    return Lesson(group[0].text, None, group)


def _exchanged(lesson: Lesson, names: Sequence[str], draw: random.Random) -> Lesson:
    """Give the targets of a text other names, each with even chances, so that none comes to mean a label."""
    places = sorted(lesson.targets, key=lambda t: t.target.start)
    if any(a.target.end > b.target.start for a, b in itertools.pairwise(places)):
        return lesson
    text, found, last = "", [], 0
    for target in places:
        name = draw.choice(names if draw.random() < 0.7 else INVENTED) if draw.random() < 0.5 else target.name
        text += lesson.text[last : target.target.start]
        found.append((len(text), len(text) + len(name), target.label))
        text += name
        last = target.target.end
    text += lesson.text[last:]
    targets = tuple(TargetExample(Target(text, start, end), label) for start, end, label in found)
    return Lesson(text, lesson.label if text == lesson.text else None, targets)


def _with_cashtag(example: Example) -> Lesson:
    """Return a tweet; what it says is said of its cashtag, if there is just one."""
    return _with_only(example, _CASHTAG, taught=True)


def _with_company(example: Example) -> Lesson:
    """Return a headline; what it says is said of its company, if it names just one."""
    return _with_only(example, _COMPANY, taught=False)


def _with_only(example: Example, pattern: re.Pattern[str], *, taught: bool) -> Lesson:
    places = list(pattern.finditer(example.text))
    if len(places) != 1:
        return _of(example, taught=taught)
    target = TargetExample(Target(example.text, *places[0].span()), example.label)
    return Lesson(example.text, example.label, (target,), taught=taught)
