"""Fine-tune MiniLM-L6 on the training sets and keep the weights: `python -m training.train_model OUT`."""

from __future__ import annotations

import argparse
import random
import time
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from training.corpora import Example, development, training
from training.measures import accuracy, macro_f1
from training.network import (
    LOWER,
    MAX_TARGET_TOKENS,
    SentimentNetwork,
    encode,
    encode_targets,
    logits,
    target_batch,
    target_logits,
    text_batch,
    tokenizer,
)
from training.targets import TargetExample, development_targets, training_targets

BATCH = 32
CLASS_WEIGHTS = (1.1, 0.95, 1.05)
AVERAGED_EVERY = 8
"""Steps from one entry in the running mean of the weights to the next; each copies all of them."""

SAVED_EVERY = 100
"""Steps from one file of weights to the next, so that training may be stopped at any time."""


@dataclass(slots=True)
class Batch:
    """Texts, or targets in texts, that are learnt from in one step.

    Attributes:
        inputs: what the network takes; a third tensor marks targets.
        labels: -1, 0 or 1 for each.
        lower: what the lower layers make of the texts, kept while those layers are.
    """

    inputs: tuple[torch.Tensor, ...]
    labels: list[int]
    lower: torch.Tensor | None = None

    def logits(self, network: SentimentNetwork, *, keep_lower: bool) -> torch.Tensor:
        """Return what the network says of them."""
        lower = self._lower(network) if keep_lower else network.lower(*self.inputs[:2])
        judge = network.judge_texts if len(self.inputs) == 2 else network.judge_targets
        logits: torch.Tensor = judge(lower, *self.inputs[1:])
        return logits

    def _lower(self, network: SentimentNetwork) -> torch.Tensor:
        if self.lower is None:
            network.eval()
            with torch.no_grad():
                self.lower = network.lower(*self.inputs[:2]).to(torch.bfloat16)
            network.train()
        return self.lower.float()


def main() -> None:
    """Train, printing the scores on the development sets as it goes."""
    chosen = _arguments()
    torch.set_num_threads(chosen.threads)
    torch.manual_seed(chosen.seed)

    network = SentimentNetwork()
    if chosen.start:
        network.load_state_dict(torch.load(chosen.start, weights_only=True))
    network.freeze(chosen.frozen)
    optimizer = _optimizer(network, chosen.rate, chosen.head_rate)
    peaks = [group["lr"] for group in optimizer.param_groups]
    averaged = AveragedModel(network, multi_avg_fn=get_ema_multi_avg_fn(chosen.averaging**AVERAGED_EVERY))
    loss_of = nn.CrossEntropyLoss(weight=torch.tensor(CLASS_WEIGHTS), label_smoothing=0.05)
    draw = random.Random(chosen.seed)
    started, step, progress = time.monotonic(), 0, 0.0
    totals: dict[int, list[float]] = {2: [], 3: []}
    batches: list[Batch] = []
    for epoch in range(chosen.epochs):
        if epoch % chosen.redraw == 0:
            batches = _epoch(chosen.seed + epoch, chosen.texts, chosen.targets, draw)
        draw.shuffle(batches)
        for number, batch in enumerate(batches):
            spent = (time.monotonic() - started) / 60 / chosen.minutes
            progress = max(spent, (epoch + number / len(batches)) / chosen.epochs)
            if progress >= 1:
                break
            rate = min(1.0, (step + 1) / 100) * (1 - progress)
            for group, peak in zip(optimizer.param_groups, peaks, strict=True):
                group["lr"] = peak * rate
            network.train()
            with torch.autocast("cpu", torch.bfloat16, enabled=chosen.bf16):
                found = batch.logits(network, keep_lower=chosen.frozen >= LOWER)
            loss = loss_of(found.float(), torch.tensor(batch.labels) + 1)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            step += 1
            if step % AVERAGED_EVERY == 0:
                averaged.update_parameters(network)
            totals[len(batch.inputs)].append(loss.item())
            if step % 50 == 0:
                shown = " ".join(
                    f"{kind} {sum(s) / max(1, len(s)):.3f}"
                    for kind, s in zip(("texts", "targets"), totals.values(), strict=True)
                )
                minutes = (time.monotonic() - started) / 60
                print(
                    f"step {step} epoch {epoch} progress {progress:.2f} {minutes:.1f} min loss {shown}",
                    flush=True,
                )
                totals = {2: [], 3: []}
            if step % SAVED_EVERY == 0:
                torch.save(averaged.module.state_dict(), chosen.out)
            if step % chosen.report_every == 0:
                _report(averaged.module)
    _report(averaged.module, whole=True)
    torch.save(averaged.module.state_dict(), chosen.out)
    print(f"{step} steps in {(time.monotonic() - started) / 60:.1f} minutes: {chosen.out}")


def _optimizer(network: SentimentNetwork, rate: float, head_rate: float) -> torch.optim.AdamW:
    """Return what changes the layers at one rate, and what is on top of them at another."""
    fresh = [*network.head.parameters(), *network.target_head.parameters(), network.mark]
    layers = [*network.encoder.parameters(), *network.target_layers.parameters()]
    return torch.optim.AdamW(
        [
            {"params": [p for p in layers if p.requires_grad], "lr": rate},
            {"params": fresh, "lr": head_rate},
        ],
        weight_decay=0.01,
        fused=True,
    )


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
    parser.add_argument("--head-rate", type=float, default=1e-3)
    parser.add_argument(
        "--averaging", type=float, default=0.99, help="weight of what was, in the running mean of the weights"
    )
    parser.add_argument("--texts", type=float, default=0.0, help="share of the texts in each epoch")
    parser.add_argument("--targets", type=float, default=1.0, help="share of the targets in each epoch")
    parser.add_argument(
        "--redraw", type=int, default=1, metavar="EPOCHS", help="draw the examples anew so often"
    )
    parser.add_argument("--report-every", type=int, default=400, metavar="STEPS")
    parser.add_argument("--bf16", action="store_true", help="compute in bfloat16, on processors that have it")
    parser.add_argument("--threads", type=int, default=1, help="more only pay on cores that are free")
    parser.add_argument("--seed", type=int, default=5)
    return parser.parse_args()


def _epoch(seed: int, of_texts: float, of_targets: float, draw: random.Random) -> list[Batch]:
    """Return a share of the batches of texts and of those of targets in random order."""
    texts = _text_batches(training(seed), draw) if of_texts else []
    targets = _target_batches(training_targets(seed), draw) if of_targets else []
    batches = draw.sample(texts, round(of_texts * len(texts)))
    return batches + draw.sample(targets, round(of_targets * len(targets)))


def _text_batches(examples: list[Example], draw: random.Random) -> list[Batch]:
    """Return batches of texts of like length."""
    ids = encode([example.text for example in examples], tokenizer())
    return [
        Batch(text_batch([ids[i] for i in part]), [examples[i].label for i in part])
        for part in _alike([len(row) for row in ids], draw)
    ]


def _target_batches(targets: list[TargetExample], draw: random.Random) -> list[Batch]:
    """Return batches of targets in texts of like length, without those that lie beyond the longest text."""
    everything = zip(
        encode_targets([t.target for t in targets], tokenizer(MAX_TARGET_TOKENS)), targets, strict=True
    )
    held = [(marked, target.label) for marked, target in everything if any(marked.mask)]
    return [
        Batch(target_batch([held[i][0] for i in part]), [held[i][1] for i in part])
        for part in _alike([len(marked.ids) for marked, _ in held], draw)
    ]


def _alike(lengths: list[int], draw: random.Random) -> list[list[int]]:
    order = sorted(range(len(lengths)), key=lambda index: lengths[index] + draw.uniform(0, 3))
    return [order[start : start + BATCH] for start in range(0, len(order), BATCH)]


def _report(network: SentimentNetwork, *, whole: bool = False) -> None:
    """Print the scores on the development sets, or on the beginnings of them."""
    most = None if whole else 400
    for name, examples in development().items():
        ids = encode([e.text for e in examples[:most]], tokenizer())
        _print_scores(name, logits(network, ids), [e.label for e in examples[:most]])
    for name, targets in development_targets().items():
        marked = encode_targets([t.target for t in targets[:most]], tokenizer(96))
        _print_scores(name, target_logits(network, marked), [t.label for t in targets[:most]])


def _print_scores(name: str, found: torch.Tensor, truth: list[int]) -> None:
    labels = [int(label) for label in (found.argmax(1) - 1).tolist()]
    scores = f"accuracy {accuracy(truth, labels):.3f} macro-F1 {macro_f1(truth, labels):.3f}"
    print(f"  {name:40} n {len(truth):4} {scores}", flush=True)


if __name__ == "__main__":
    main()
