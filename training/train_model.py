"""Fine-tune MiniLM-L6 on the training sets and keep the weights: `python -m training.train_model OUT`."""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from training.corpora import Example, development, training
from training.measures import accuracy, macro_f1
from training.network import SentimentNetwork, encode, logits, padded, tokenizer

BATCH = 32
CLASS_WEIGHTS = (1.1, 0.95, 1.05)
AVERAGED_EVERY = 4
"""Steps from one entry in the running mean of the weights to the next; each copies all of them."""


def main() -> None:
    """Train, printing the scores on the development sets as it goes."""
    chosen = _arguments()
    torch.set_num_threads(chosen.threads)
    torch.manual_seed(chosen.seed)

    network = SentimentNetwork()
    if chosen.start:
        network.load_state_dict(torch.load(chosen.start, weights_only=True))
    network.freeze(chosen.frozen)
    optimizer = torch.optim.AdamW(
        [
            {"params": [p for p in network.encoder.parameters() if p.requires_grad], "lr": chosen.rate},
            {"params": network.head.parameters(), "lr": 1e-3},
        ],
        weight_decay=0.01,
        fused=True,
    )
    peaks = [group["lr"] for group in optimizer.param_groups]
    averaged = AveragedModel(network, multi_avg_fn=get_ema_multi_avg_fn(chosen.averaging**AVERAGED_EVERY))
    loss_of = nn.CrossEntropyLoss(weight=torch.tensor(CLASS_WEIGHTS), label_smoothing=0.05)
    words = tokenizer()
    draw = random.Random(chosen.seed)
    started, step, progress, total = time.monotonic(), 0, 0.0, 0.0
    for epoch in range(chosen.epochs):
        batches = _batches(training(chosen.seed + epoch), words, draw)
        for number, (ids, labels) in enumerate(batches):
            spent = (time.monotonic() - started) / 60 / chosen.minutes
            progress = max(spent, (epoch + number / len(batches)) / chosen.epochs)
            if progress >= 1:
                break
            rate = min(1.0, (step + 1) / 100) * (1 - progress)
            for group, peak in zip(optimizer.param_groups, peaks, strict=True):
                group["lr"] = peak * rate
            network.train()
            loss = loss_of(network(*padded(ids)), torch.tensor(labels) + 1)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            step += 1
            if step % AVERAGED_EVERY == 0:
                averaged.update_parameters(network)
            total += loss.item()
            if step % 50 == 0:
                print(f"step {step} epoch {epoch} progress {progress:.2f} loss {total / 50:.3f}", flush=True)
                total = 0.0
            if step % 400 == 0:
                _report(averaged.module)
                torch.save(averaged.module.state_dict(), chosen.out)
    _report(averaged.module)
    torch.save(averaged.module.state_dict(), chosen.out)
    print(f"{step} steps in {(time.monotonic() - started) / 60:.1f} minutes: {chosen.out}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("out", type=Path, help="where to write the weights")
    parser.add_argument("--start", type=Path, help="weights to go on from")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument(
        "--minutes", type=float, default=60, help="stop then at the latest; the schedule fits"
    )
    parser.add_argument("--frozen", type=int, default=2, help="lowest layers that keep their weights")
    parser.add_argument("--rate", type=float, default=1.5e-4)
    parser.add_argument(
        "--averaging", type=float, default=0.99, help="weight of what was, in the running mean of the weights"
    )
    parser.add_argument("--threads", type=int, default=1, help="more only pay on cores that are free")
    parser.add_argument("--seed", type=int, default=5)
    return parser.parse_args()


def _batches(
    examples: list[Example], words: object, draw: random.Random
) -> list[tuple[list[list[int]], list[int]]]:
    """Return batches of texts of like length, in random order."""
    ids = encode([example.text for example in examples], words)  # type: ignore[arg-type]
    order = sorted(range(len(ids)), key=lambda index: len(ids[index]) + draw.uniform(0, 3))
    parts = [order[start : start + BATCH] for start in range(0, len(order), BATCH)]
    draw.shuffle(parts)
    return [([ids[i] for i in part], [examples[i].label for i in part]) for part in parts]


def _report(network: SentimentNetwork) -> None:
    words = tokenizer()
    for name, examples in development().items():
        chosen = examples[:500]
        found = logits(network, encode([e.text for e in chosen], words)).argmax(1) - 1
        truth = [e.label for e in chosen]
        labels = [int(label) for label in found.tolist()]
        scores = f"accuracy {accuracy(truth, labels):.3f} macro-F1 {macro_f1(truth, labels):.3f}"
        print(f"  {name:18} n {len(truth):4} {scores}", flush=True)


if __name__ == "__main__":
    main()
