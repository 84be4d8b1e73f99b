"""The default engine: a small fine-tuned transformer (MiniLM-L6) in int8, run by onnxruntime.

Its files lie in the package `sourcebook_model`, which comes with the sentiment layer; what they must be
is pinned by ``model.json`` beside this module. ``docs/model-card.md`` has how it was made and how good
it is.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sourcebook.errors import InvalidInput, Terminal
from sourcebook.messages import Message
from sourcebook.sentiment.engines import EMPTY, Label, Target, from_probabilities
from sourcebook.sentiment.engines.clauses import clause_of
from sourcebook.sentiment.engines.fallback import FallbackEngine

MODEL_PACKAGE: Final = "sourcebook_model"
PIN: Final = Path(__file__).with_name("model.json")

NO_TELEMETRY: Final = "ORT_DISABLE_TELEMETRY"
"""The environment variable that keeps onnxruntime from reporting; the stack's functions have it too."""

MAX_TOKENS: Final = 96
"""A text is judged by its first tokens, about 70 words: headline and opening of its summary."""

_LONGEST: Final = 2000
"""Characters that are looked at; MAX_TOKENS are found long before."""

_AROUND: Final = 150
"""Characters before a target that are looked at if it stands behind MAX_TOKENS."""

_TOKENS_AT_ONCE: Final = 320
"""Tokens of a batch, padding included. A batch of long texts would need 200 MB more than one of headlines."""


class ModelUnavailable(Terminal):
    """The model cannot be loaded here: its layer is missing, or is not the one that this code pins."""


@dataclass(frozen=True, slots=True)
class Pin(Message):
    """The model that this code was made with.

    Attributes:
        name: name and version.
        files: SHA-256 of each file, in hexadecimal.
        temperature: what the logits are divided by so that confidences are calibrated (Guo et al., 2017).
        companion: how much the n-grams' word counts beside the transformer's, which counts one.
        target_temperature: the same for the logits of targets.
        target_companion: how much the n-grams' word on a target's clause counts.
    """

    name: str
    files: Mapping[str, str]
    temperature: float
    companion: float
    target_temperature: float
    target_companion: float

    @classmethod
    def read(cls, path: Path = PIN) -> Pin:
        """Read the pin that comes with this package.

        Raises:
            ModelUnavailable: if it is not there or says something else.
        """
        try:
            content = json.loads(path.read_text("utf-8"))
            return cls.of_json(content | {"name": f"{content['name']}-{content['version']}"})
        except (OSError, ValueError, KeyError, InvalidInput) as error:
            raise ModelUnavailable(
                f"{path} does not pin a model ({type(error).__name__}: {error}): "
                "run `python -m training.export_model`"
            ) from error


class ModelEngine:
    """Labels headlines in English. One thread; about 100 MB."""

    def __init__(self, folder: Path | None = None, pin: Pin | None = None) -> None:
        """Load the model and its tokenizer.

        Args:
            folder: where its files lie; the package `sourcebook_model` unless given.
            pin: what they must be; what this package pins unless given.

        Raises:
            ModelUnavailable: if it cannot be loaded, whatever the cause.
        """
        pin = pin or Pin.read()
        self.name = pin.name
        self._pin = pin
        self._companion = FallbackEngine()
        folder = folder or _installed()
        _verify(folder, pin)
        # The library reports to its maker unless this is set before it is loaded.
        os.environ[NO_TELEMETRY] = "1"
        try:
            import numpy as np  # noqa: PLC0415 - only this engine needs these, and they may be missing
            import onnxruntime  # noqa: PLC0415
            from tokenizers import Tokenizer  # noqa: PLC0415
        except ImportError as error:
            raise ModelUnavailable(
                f"model {pin.name}: {error}; attach the sentiment layer, or run `make install`"
            ) from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._session: Any = onnxruntime.InferenceSession(
                str(folder / "model.onnx"),
                options,
                providers=["CPUExecutionProvider"],
                # onnxruntime's fusion of sums with their normalization is slower than the two by themselves.
                disabled_optimizers=["SkipLayerNormFusion"],
            )
            self._tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:
            raise ModelUnavailable(f"model {pin.name}: {type(error).__name__}: {error}") from error
        # A tokenizer that pads to a fixed length makes every text neutral.
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._np: Any = np

    def label(self, texts: Sequence[str]) -> list[Label]:
        """Label each text, in order. An empty text is neutral."""
        labels = [EMPTY] * len(texts)
        spoken = [index for index, text in enumerate(texts) if text.strip()]
        encodings = self._tokenizer.encode_batch([_readable(texts[index]) for index in spoken])
        for part in _alike([encoding.ids for encoding in encodings]):
            logits, _ = self._logits([encodings[position].ids for position in part])
            for position, row in zip(part, logits, strict=True):
                text = texts[spoken[position]]
                labels[spoken[position]] = self._pool(row, text, self._pin.companion, self._pin.temperature)
        return labels

    def label_targets(self, targets: Sequence[Target]) -> list[Label]:
        """Label each target, in order. Targets of one text share half of the work."""
        labels = [EMPTY] * len(targets)
        marked = self._mark(targets)
        for part in _alike([one.ids for one in marked]):
            texts = list(dict.fromkeys(marked[position].text for position in part))
            ids = {marked[position].text: marked[position].ids for position in part}
            _, logits = self._logits(
                [ids[text] for text in texts],
                [(texts.index(marked[position].text), marked[position].mask) for position in part],
            )
            for position, row in zip(part, logits, strict=True):
                clause = clause_of(targets[position])
                labels[position] = self._pool(
                    row, clause, self._pin.target_companion, self._pin.target_temperature
                )
        return labels

    def _mark(self, targets: Sequence[Target]) -> list[_Marked]:
        """Return the tokens of each target's text, and which of them are the target's."""
        texts = list(dict.fromkeys(_readable(target.text) for target in targets))
        encodings = dict(zip(texts, self._tokenizer.encode_batch(texts), strict=True))
        marked = []
        for target in targets:
            text, start, end = _readable(target.text), target.start, target.end
            encoding = encodings[text]
            mask = target_mask(encoding.offsets, start, end)
            if not any(mask):
                # It stands behind what is looked at: look at what stands around it.
                begin = max(0, start - _AROUND)
                text = _readable(target.text[begin:])
                encoding = self._tokenizer.encode(text)
                mask = target_mask(encoding.offsets, start - begin, end - begin)
            marked.append(_Marked(text, encoding.ids, mask if any(mask) else [1] * len(mask)))
        return marked

    def _pool(self, logits: Sequence[float], text: str, companion: float, temperature: float) -> Label:
        """Pool the transformer's and the n-grams' opinions: they seldom err on the same texts."""
        pooled = [
            logit + companion * other
            for logit, other in zip(logits, self._companion.log_probabilities(text), strict=True)
        ]
        return from_probabilities(_softmax(pooled, temperature))

    def _logits(
        self, ids: Sequence[Sequence[int]], targets: Sequence[tuple[int, Sequence[int]]] = ()
    ) -> tuple[list[list[float]], list[list[float]]]:
        """Return the logits of texts, or those of targets in them if there are any.

        Args:
            ids: the tokens of each text.
            targets: for each, the number of its text and a mask over that text's tokens.
        """
        longest = max(map(len, ids))
        padded = self._padded(ids, longest)
        attended = self._padded([[1] * len(tokens) for tokens in ids], longest)
        rows = [] if targets else range(len(ids))
        logits, target_logits = self._session.run(
            None,
            {
                "input_ids": padded,
                "attention_mask": attended,
                "text_rows": self._np.array(rows, self._np.int64),
                "target_rows": self._np.array([row for row, _ in targets], self._np.int64),
                "target_masks": self._padded([mask for _, mask in targets], longest),
            },
        )
        return logits.tolist(), target_logits.tolist()

    def _padded(self, rows: Sequence[Sequence[int]], longest: int) -> Any:  # noqa: ANN401 - numpy is imported late
        padded = self._np.zeros((len(rows), longest), self._np.int64)
        for number, row in enumerate(rows):
            padded[number, : len(row)] = row
        return padded


@dataclass(frozen=True, slots=True)
class _Marked:
    """The tokens of a text and a mask over them: 1 for those of the target."""

    text: str
    ids: list[int]
    mask: list[int]


def _installed() -> Path:
    found = importlib.util.find_spec(MODEL_PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise ModelUnavailable(
            f"package {MODEL_PACKAGE} is not installed: attach the sentiment layer, or run `make install`"
        )
    return Path(found.submodule_search_locations[0])


def _verify(folder: Path, pin: Pin) -> None:
    for name, expected in pin.files.items():
        try:
            with (folder / name).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise ModelUnavailable(
                f"model {pin.name}: {folder / name} cannot be read ({error.strerror}): "
                "check out the repository whole, or run `python -m training.export_model`"
            ) from error
        if found != expected:
            raise ModelUnavailable(
                f"model {pin.name}: {folder / name} is not the file that {PIN.name} pins: "
                "layer and code must come from the same commit"
            )


def _readable(text: str) -> str:
    """Return the text's beginning, with half a surrogate pair, which no tokenizer takes, replaced."""
    return text[:_LONGEST].encode("utf-8", "replace").decode("utf-8")


def target_mask(offsets: Sequence[tuple[int, int]], start: int, end: int) -> list[int]:
    """Return 1 for each token of a text that lies in a target, by where the tokens begin and end."""
    return [int(first < end and last > start and last > first) for first, last in offsets]


def _alike(ids: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Yield batches of positions whose texts are of like length, so that little is computed for padding."""
    part: list[int] = []
    for position in sorted(range(len(ids)), key=lambda position: len(ids[position])):
        if part and (len(part) + 1) * len(ids[position]) > _TOKENS_AT_ONCE:
            yield part
            part = []
        part.append(position)
    if part:
        yield part


def _softmax(logits: Sequence[float], temperature: float) -> list[float]:
    top = max(logits)
    powers = [math.exp((logit - top) / temperature) for logit in logits]
    total = sum(powers)
    return [power / total for power in powers]
