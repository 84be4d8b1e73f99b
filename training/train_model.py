"""Fine-tune MiniLM-L6 on texts and targets and keep the weights: `python -m training.train_model OUT`."""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from training.corpora import development
from training.epochs import CLOSING, OPENING, Lesson, Shares, lessons
from training.measures import accuracy, macro_f1
from training.network import (
    LOWER,
    MAX_TOKENS,
    Marked,
    SentimentNetwork,
    encode,
    encode_targets,
    logits,
    padded,
    target_logits,
    text_batch,
    tokenizer,
)
from training.targets import development_targets

BATCH = 32
CLASS_WEIGHTS = (1.1, 0.95, 1.05)
WARM_UP = 100
"""Steps until the rate is whole."""

AVERAGED_EVERY = 8
"""Steps from one entry in the running mean of the weights to the next; each copies all of them."""

SAVED_EVERY = 200
"""Steps from one file of weights to the next, so that training may be stopped at any time."""


@dataclass(frozen=True, slots=True)
class EncodedLesson:
    """A lesson as tokens.

    Attributes:
        ids: the text's tokens.
        label: of the whole, or None.
        targets: for each target, a mask over the tokens and its label.
        teacher_logits: those of the earlier model for the whole, or None.
    """

    ids: tuple[int, ...]
    label: int | None
    targets: tuple[tuple[list[int], int], ...]
    teacher_logits: torch.Tensor | None


class FrozenStates:
    """The states of texts after the frozen lowest layers, kept for each text that may come again."""

    def __init__(self, network: SentimentNetwork, layers: int) -> None:
        """Keep the states after so many layers of the network."""
        self._network = network
        self.layers = layers
        self._known: dict[tuple[int, ...], torch.Tensor] = {}

    def of(self, rows: Sequence[tuple[int, ...]]) -> torch.Tensor:
        """Return the states of texts as one batch, filled up with zeros."""
        new = list(dict.fromkeys(row for row in rows if row not in self._known))
        if new:
            ids, mask = text_batch(new)
            self._network.eval()
            with torch.no_grad():
                states = self._network.beginning(ids, mask, self.layers).to(torch.bfloat16)
            self._network.train()
            for row, state in zip(new, states, strict=True):
                self._known[row] = state[: len(row)].clone()
        return nn.utils.rnn.pad_sequence([self._known[row] for row in rows], batch_first=True).float()

    def forget(self, kept: int = 60_000) -> None:
        """Drop everything if more than so many texts are known."""
        if len(self._known) > kept:
            self._known.clear()


def main() -> None:
    """Train, printing the scores on the development sets as it goes."""
    chosen = _arguments()
    torch.set_num_threads(1)
    torch.manual_seed(chosen.seed)

    network = SentimentNetwork()
    if chosen.start:
        network.load_state_dict(torch.load(chosen.start, weights_only=True))
    network.freeze(chosen.frozen)
    shares = CLOSING if chosen.closing else OPENING
    teacher = _teacher_logits(network, shares, bf16=chosen.bf16) if chosen.taught else {}
    optimizer = _optimizer(network, chosen)
    peaks = [group["lr"] for group in optimizer.param_groups]
    averaged = AveragedModel(network, multi_avg_fn=get_ema_multi_avg_fn(chosen.averaging**AVERAGED_EVERY))
    objective = DistillationLoss(network, FrozenStates(network, chosen.frozen), chosen.taught)
    draw = random.Random(chosen.seed)
    started, worked = time.monotonic(), time.process_time()
    step, epoch, progress = 0, 0, 0.0
    while progress < 1:
        objective.beginnings.forget()
        for batch in _batches(lessons(chosen.seed + epoch, shares), teacher, draw):
            progress = max(
                (time.process_time() - worked) / 60 / chosen.minutes,
                (time.monotonic() - started) / 60 / (chosen.clock or 10_000),
            )
            if progress >= 1:
                break
            rate = min(1.0, (step + 1) / WARM_UP, (1 - progress) / max(1e-9, 1 - chosen.fall_from))
            for group, peak in zip(optimizer.param_groups, peaks, strict=True):
                group["lr"] = peak * rate
            network.train()
            with torch.autocast("cpu", torch.bfloat16, enabled=chosen.bf16):
                loss = objective.loss(batch)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            step += 1
            if step % AVERAGED_EVERY == 0:
                averaged.update_parameters(network)
            if step % 100 == 0:
                print(
                    f"step {step} epoch {epoch} progress {progress:.2f} "
                    f"{(time.process_time() - worked) / 60:.1f} min of work, "
                    f"{(time.monotonic() - started) / 60:.1f} by the clock; loss {objective.summary()}",
                    flush=True,
                )
            if step % SAVED_EVERY == 0:
                torch.save(averaged.module.state_dict(), chosen.out)
            if step % chosen.report_every == 0:
                report(averaged.module, chosen.most)
        epoch += 1
    torch.save(averaged.module.state_dict(), chosen.out)
    print(f"{step} steps: {chosen.out}", flush=True)
    report(averaged.module)


@dataclass(slots=True)
class DistillationLoss:
    """The loss of batches of lessons: by their labels, and by distillation from the earlier model.

    Attributes:
        network: the one that is trained.
        beginnings: the states of texts after its frozen layers.
        taught: weight of the earlier model's logits beside the labels.
        losses: means of the batches so far, of texts and of targets.
    """

    network: SentimentNetwork
    beginnings: FrozenStates
    taught: float
    losses: dict[str, list[float]] = field(default_factory=lambda: {"texts": [], "targets": []})

    def loss(self, batch: Sequence[EncodedLesson]) -> torch.Tensor:
        """Return the loss of a batch, and note its parts."""
        mask = padded([[1] * len(one.ids) for one in batch])
        beginnings = self.beginnings
        states = beginnings.of([one.ids for one in batch])
        lower = self.network.lower_from(states, mask, beginnings.layers)
        loss = torch.zeros(())
        texts = [n for n, one in enumerate(batch) if one.label is not None or one.teacher_logits is not None]
        if texts:
            found = self.network.judge_texts(lower[texts], mask[texts]).float()
            of_texts = self._of_texts(found, [batch[n] for n in texts])
            self.losses["texts"].append(of_texts.item() / len(texts))
            loss = loss + of_texts
        places = [(n, *target) for n, one in enumerate(batch) for target in one.targets]
        if places:
            rows = [n for n, _, _ in places]
            masks = torch.tensor([[*marked, *[0] * (mask.shape[1] - len(marked))] for _, marked, _ in places])
            found = self.network.judge_targets(lower[rows], mask[rows], masks).float()
            of_targets = _cross_entropy(found, [label for _, _, label in places]).sum()
            self.losses["targets"].append(of_targets.item() / len(places))
            loss = loss + of_targets
        return loss / len(batch)

    def _of_texts(self, found: torch.Tensor, batch: Sequence[EncodedLesson]) -> torch.Tensor:
        """Return the loss on whole texts: by their labels, and by the earlier model's logits."""
        loss = torch.zeros(())
        labels = [(n, one.label, one.teacher_logits) for n, one in enumerate(batch) if one.label is not None]
        if labels:
            wrong = _cross_entropy(found[[n for n, _, _ in labels]], [label for _, label, _ in labels])
            shares = [1.0 if teacher_logits is None else 1 - self.taught for _, _, teacher_logits in labels]
            loss = loss + (wrong * torch.tensor(shares)).sum()
        taught = [(n, one.teacher_logits) for n, one in enumerate(batch) if one.teacher_logits is not None]
        if taught:
            opinions = torch.stack([teacher_logits for _, teacher_logits in taught]).log_softmax(1)
            now = found[[n for n, _ in taught]].log_softmax(1)
            away = nn.functional.kl_div(now, opinions, log_target=True, reduction="sum")
            loss = loss + self.taught * away
        return loss

    def summary(self) -> str:
        """Return the mean losses since the last summary, as words."""
        means = {kind: sum(found) / max(1, len(found)) for kind, found in self.losses.items()}
        self.losses = {kind: [] for kind in self.losses}
        return " ".join(f"{kind} {mean:.3f}" for kind, mean in means.items())


def _cross_entropy(found: torch.Tensor, labels: Sequence[int]) -> torch.Tensor:
    return nn.functional.cross_entropy(
        found,
        torch.tensor(labels) + 1,
        weight=torch.tensor(CLASS_WEIGHTS),
        label_smoothing=0.05,
        reduction="none",
    )


def _teacher_logits(network: SentimentNetwork, shares: Shares, *, bf16: bool) -> dict[str, torch.Tensor]:
    """Return the network's logits, before it is trained further, of texts that are the same in each epoch."""
    texts = list(dict.fromkeys(one.text for seed in range(4) for one in lessons(seed, shares) if one.taught))
    with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
        found = logits(network, encode(texts, tokenizer(MAX_TOKENS)))
    return dict(zip(texts, found, strict=True))


def _batches(
    chosen: Sequence[Lesson], teacher: dict[str, torch.Tensor], draw: random.Random
) -> Iterator[list[EncodedLesson]]:
    """Yield batches of lessons of like length, without targets that lie beyond the longest text."""
    words = tokenizer(MAX_TOKENS)
    ids = encode([one.text for one in chosen], words)
    marked: list[Marked] = encode_targets([t.target for one in chosen for t in one.targets], words)
    left = iter(marked)
    read = []
    for one, row in zip(chosen, ids, strict=True):
        targets = [(next(left).mask, target.label) for target in one.targets]
        kept = tuple((mask, label) for mask, label in targets if any(mask))
        read.append(EncodedLesson(tuple(row), one.label, kept, teacher.get(one.text) if one.taught else None))
    order = sorted(range(len(read)), key=lambda n: len(read[n].ids) + draw.uniform(0, 3))
    parts = [order[start : start + BATCH] for start in range(0, len(order), BATCH)]
    draw.shuffle(parts)
    for part in parts:
        yield [read[n] for n in part]


def _optimizer(network: SentimentNetwork, chosen: argparse.Namespace) -> torch.optim.AdamW:
    """Return what changes the layers of texts, those of targets and the heads, each at its rate."""
    fresh = [*network.head.parameters(), *network.target_head.parameters(), network.mark]
    return torch.optim.AdamW(
        [
            {"params": [p for p in network.encoder.parameters() if p.requires_grad], "lr": chosen.rate},
            {"params": list(network.target_layers.parameters()), "lr": chosen.target_rate},
            {"params": fresh, "lr": chosen.head_rate},
        ],
        weight_decay=0.01,
        fused=True,
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("out", type=Path, help="where to write the weights")
    parser.add_argument("--start", type=Path, help="weights to go on from")
    parser.add_argument("--minutes", type=float, default=60, help="of processor time; the schedule fits")
    parser.add_argument("--clock", type=float, help="minutes by the clock after which it ends at the latest")
    parser.add_argument(
        "--frozen",
        type=int,
        default=2,
        choices=range(LOWER + 1),
        help="lowest layers that keep their weights",
    )
    parser.add_argument("--rate", type=float, default=5e-5, help="of the layers of texts")
    parser.add_argument("--target-rate", type=float, default=1.5e-4, help="of the layers of targets")
    parser.add_argument("--head-rate", type=float, default=5e-4)
    parser.add_argument(
        "--averaging",
        type=float,
        default=0.998,
        help="weight of what was, in the running mean of the weights",
    )
    parser.add_argument(
        "--taught", type=float, default=0.0, help="weight of what the network says of texts before it learns"
    )
    parser.add_argument("--closing", action="store_true", help="draw the examples as for the end")
    parser.add_argument(
        "--fall-from", type=float, default=0.5, help="share of the time after which the rate falls to nothing"
    )
    parser.add_argument("--report-every", type=int, default=1000, metavar="STEPS")
    parser.add_argument("--most", type=int, default=400, help="examples of each set scored on the way")
    parser.add_argument("--bf16", action="store_true", help="compute in bfloat16, on processors that have it")
    parser.add_argument("--seed", type=int, default=5)
    return parser.parse_args()


def report(network: SentimentNetwork, most: int | None = None) -> None:
    """Print the scores on the development sets, or on the beginnings of them."""
    for name, examples in development().items():
        ids = encode([e.text for e in examples[:most]], tokenizer(96))
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
