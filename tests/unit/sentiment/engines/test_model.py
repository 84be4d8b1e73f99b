from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sourcebook.sentiment.engines import SENTIMENTS, Target
from sourcebook.sentiment.engines import model as module
from sourcebook.sentiment.engines.model import MODEL_PACKAGE, ModelEngine, ModelUnavailable, Pin
from tests.unit.sentiment.engines.behaviour import behaviour, mistakes
from training.targets import own_targets, parsed

HEADLINES = [row["text"] for row in behaviour()]


@pytest.fixture(scope="module")
def engine() -> ModelEngine:
    return ModelEngine()


def test_behaves_as_a_reader_would_on_85_percent_of_the_behaviour_list(engine: ModelEngine) -> None:
    wrong = mistakes(engine)
    assert len(wrong) <= 0.15 * len(HEADLINES), "\n".join(wrong)


def test_a_text_gets_the_same_label_whatever_stands_beside_it(engine: ModelEngine) -> None:
    together = engine.label(HEADLINES)
    for text, label in zip(HEADLINES[::8], together[::8], strict=True):
        [alone] = engine.label([text])
        assert alone.sentiment == label.sentiment
        assert alone.confidence == pytest.approx(label.confidence, abs=0.002)
    assert [label.sentiment for label in engine.label(HEADLINES[::-1])] == [
        label.sentiment for label in together[::-1]
    ]


def test_scores_are_the_probabilities_of_the_three_classes(engine: ModelEngine) -> None:
    for label in engine.label(HEADLINES[:10]):
        assert sum(label.scores.values()) == pytest.approx(1, abs=0.001)
        assert label.confidence == max(label.scores.values()) == label.scores[label.sentiment]
        assert label.polarity == pytest.approx(label.scores["positive"] - label.scores["negative"], abs=0.001)


CONFLICTS = """
{+Kestrel} profit doubles, {-Lumora} sinks to a loss
{-Lumora} downgraded, {+Kestrel} upgraded at Morgan Stanley
{+Kestrel} up 5%, {-Lumora} down 4% in mixed trade
{+Rival}'s chip beats {-Aurora}'s; {-Aurora} slides
{+Nvidia} soars as {-Intel} cuts jobs
{-Boeing} recalls jets; {+Airbus} posts record profit
{+Apple} raises outlook as {-Samsung} warns on profit
{+Uber} rises after results, {-Lyft} tumbles on outlook
{-Tesla} misses estimates, {+Ford} beats them
{+Netflix} adds subscribers as {-Disney} loses them
{-Aurora} shares tumble while {+Kestrel} jumps 12%
{-Kestrel} slides as {+Lumora} takes the lead
""".strip().splitlines()


def test_targets_of_one_text_get_labels_of_their_own(engine: ModelEngine) -> None:
    examples = [example for line in CONFLICTS for example in parsed(line)]
    labels = engine.label_targets([example.target for example in examples])
    wrong = [
        f"{example.name} in {example.text!r}: {label.sentiment}"
        for example, label in zip(examples, labels, strict=True)
        if label.sentiment != SENTIMENTS[example.label + 1]
    ]
    assert len(wrong) <= 0.2 * len(examples), "\n".join(wrong)


def test_targets_of_our_own_headlines_are_judged_better_than_by_the_label_of_their_text(
    engine: ModelEngine,
) -> None:
    examples = [e for held_out in (True, False) for group in own_targets(held_out=held_out) for e in group]
    truth = [SENTIMENTS[example.label + 1] for example in examples]
    own = engine.label_targets([example.target for example in examples])
    whole = engine.label([example.text for example in examples])
    right, right_as_texts = (
        sum(label.sentiment == true for label, true in zip(labels, truth, strict=True))
        for labels in (own, whole)
    )
    assert right >= 0.7 * len(examples)
    assert right >= right_as_texts + 0.15 * len(examples)


def test_a_target_gets_the_same_label_whatever_stands_beside_it(engine: ModelEngine) -> None:
    targets = [example.target for line in CONFLICTS for example in parsed(line)]
    together = engine.label_targets(targets)
    for target, label in zip(targets[::5], together[::5], strict=True):
        [alone] = engine.label_targets([target])
        assert alone.sentiment == label.sentiment
        assert alone.confidence == pytest.approx(label.confidence, abs=0.002)
    assert engine.label_targets([]) == []


def test_a_target_far_behind_what_is_looked_at_is_judged_by_what_stands_around_it(
    engine: ModelEngine,
) -> None:
    text = "The week in review, with all of the appointments. " * 60 + "Kestrel profit jumps to a record."
    start = text.index("Kestrel")
    [label] = engine.label_targets([Target(text, start, start + len("Kestrel"))])
    assert label.sentiment == "positive"


@pytest.mark.parametrize("text", [" \n\t", "\ud800\ud800", "🚀" * 50, "利益が増加した", "x" * 30_000])
def test_any_place_gets_a_label(engine: ModelEngine, text: str) -> None:
    [first, last] = engine.label_targets([Target(text, 0, 1), Target(text, len(text) - 1, len(text))])
    assert 0 < first.confidence <= 1
    assert 0 < last.confidence <= 1


def test_an_empty_text_is_neutral_and_keeps_its_place(engine: ModelEngine) -> None:
    labels = engine.label(["Profit jumps to a record", " \n", "Ransomware attack cripples hospital"])
    assert [label.sentiment for label in labels] == ["positive", "neutral", "negative"]


def test_no_texts_have_no_labels(engine: ModelEngine) -> None:
    assert engine.label([]) == []


@pytest.mark.parametrize(
    "text", ["word " * 20_000, "\ud800", "🚀" * 50, "\x00", "利益が増加した", "<b>&amp;</b>"]
)
def test_any_text_gets_a_label(engine: ModelEngine, text: str) -> None:
    [label] = engine.label([text])
    assert 0 < label.confidence <= 1


def test_files_other_than_the_pinned_ones_are_not_loaded(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(ModelUnavailable, match=r"not the file that model\.json pins"):
        ModelEngine(tmp_path)


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"model\.onnx cannot be read"):
        ModelEngine(tmp_path)


def test_a_file_that_is_no_model_makes_the_model_unavailable(tmp_path: Path) -> None:
    import hashlib

    for name in ("model.onnx", "tokenizer.json"):
        (tmp_path / name).write_bytes(b"not a model")
    digest = hashlib.sha256(b"not a model").hexdigest()
    with pytest.raises(ModelUnavailable):
        ModelEngine(tmp_path, replace(Pin.read(), files={"model.onnx": digest, "tokenizer.json": digest}))


def test_a_missing_package_makes_the_model_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MODEL_PACKAGE", "sourcebook_model_that_is_not_there")
    with pytest.raises(ModelUnavailable, match="sentiment layer"):
        ModelEngine()


def test_a_damaged_pin_makes_the_model_unavailable(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text(json.dumps({"name": "x"}), "utf-8")
    with pytest.raises(ModelUnavailable, match="does not pin a model"):
        Pin.read(tmp_path / "model.json")


def test_the_packaged_tokenizer_does_not_pad(engine: ModelEngine) -> None:
    import importlib.util

    package = importlib.util.find_spec(MODEL_PACKAGE)
    assert package is not None
    assert package.submodule_search_locations
    content = json.loads((Path(package.submodule_search_locations[0]) / "tokenizer.json").read_text("utf-8"))
    assert content["padding"] is None


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads Linux's own account of memory")
def test_first_label_takes_little_time_and_memory() -> None:
    """Processor time, not the clock's: other tests run beside this one."""
    program = """
import time
from dataclasses import replace
from pathlib import Path
from sourcebook.sentiment.engines.model import ModelEngine
engine = ModelEngine()
engine.label(["Apple beats expectations"])
seconds = time.process_time()
engine.label(["Apple beats expectations again and again"] * 64 + ["A much longer story " * 200] * 8)
# Not ru_maxrss: that begins at what the parent had when it started this process.
[peak] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
print(seconds, int(peak.split()[1]) / 1024)
"""
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    seconds, megabytes = map(float, finished.stdout.split())
    assert seconds <= 1.5
    assert megabytes <= 150
