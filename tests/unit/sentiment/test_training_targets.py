"""What the targets' layers learn from: each place is where its name stands, however names are exchanged."""

from __future__ import annotations

import random

from training.couples import couples
from training.targets import conflicting, given_names, joined, own_targets


def test_generated_texts_name_their_targets_and_have_nothing_left_to_fill_in() -> None:
    made = list(couples(random.Random(7), 2000))
    for group in made:
        text = group[0].text
        assert not set("{}") & set(text), text
        for one in group:
            assert one.text == text
            assert one.name
            assert one.name == one.name.strip()
    torn = conflicting([one for group in made for one in group])
    assert len({one.text for one in torn}) > len(made) / 2
    assert {one.label for one in torn} == {-1, 0, 1}


def test_labels_go_with_places_and_not_with_names() -> None:
    """A name that had one label most of the time would come to mean it."""
    labels: dict[str, list[int]] = {}
    for group in couples(random.Random(8), 6000):
        for one in group:
            labels.setdefault(one.name, []).append(one.label)
    for name in ("Nvidia", "Infosys", "Shell", "Kestrel"):
        found = labels[name]
        assert max(found.count(label) for label in (-1, 0, 1)) < 0.7 * len(found), name


def test_names_are_exchanged_in_all_of_a_headline_alike() -> None:
    draw = random.Random(9)
    for group in own_targets(held_out=False):
        given = list(given_names(group, draw))
        assert [one.label for one in given] == [one.label for one in group]
        assert len({one.text for one in given}) == 1
        names = {old.name: new.name for old, new in zip(group, given, strict=True)}
        assert [names[old.name] for old in group] == [new.name for new in given]


def test_a_headline_joined_to_another_keeps_its_target() -> None:
    targets = [one for group in own_targets(held_out=False) for one in group]
    names = {one.name for one in targets}
    made = list(joined(targets, random.Random(10), 300))
    assert len(made) > 200
    assert {one.name for one in made} <= names
