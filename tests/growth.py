"""Inputs that grow: a reader's CPU time and memory must grow with the size of its input, and stay bounded.

A case repeats a unit until the input has a certain size. The reader is run in a process of its own, whose CPU
time and memory are limited, on inputs that double up to the largest. `check_growth` fails when one of them
costs more than is allowed, and when a doubling costs much more than double.

The quick tests grow to 400 kB, `make fuzz` to 10 MB, which is the longest body that is ever read.

    def read(body: bytes) -> object:          # a function of a test module, at its top level
        return parse(body)

    def test_growth() -> None:
        check_growth(read, Growth("many rows", "<table>", "<tr><td>{n}</td></tr>", "</table>"))

"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from sourcebook.errors import SourcebookError

FULL = "SOURCEBOOK_FUZZ" in os.environ
LARGEST = 10_000_000 if FULL else 400_000
"""Bytes of the largest input."""
MOST_SECONDS = 5.0
"""CPU seconds that an input of 10 MB may take."""
MOST_BYTES = 600_000_000
"""Memory that a process may take that reads an input of 10 MB, all that it has loaded included."""
LEAST_SECONDS = 1.5 if FULL else 3.0
"""CPU seconds that any input may take: the quick tests also run on slow and busy machines."""
_FULL_SIZE = 10_000_000
_STEEPEST = 3.0 if FULL else 3.6
"""Times as long that an input may take that is twice as long: 2 is linear, 4 quadratic."""
_DOUBLINGS = 4 if FULL else 2
_TELLING = 0.15
"""CPU seconds from which a measurement says something."""


@dataclass(frozen=True, slots=True)
class Growth:
    """An input of any size: `unit` repeated between `head` and `tail`.

    Attributes:
        name: for messages.
        head, unit, tail: of the input; in `unit`, `{n}` stands for the number of the repetition.
        closing: repeated as often as `unit`, before `tail`: end tags, say.
    """

    name: str
    head: str = ""
    unit: str = "x"
    tail: str = ""
    closing: str = ""

    def of_size(self, size: int) -> bytes:
        """Return the input, of about `size` bytes."""
        numbered = "{n}" in self.unit
        length = len((self.unit + self.closing).encode("utf-8", "surrogatepass"))
        length += len(str(size // length)) - 3 if numbered else 0
        times = max(1, (size - len(self.head) - len(self.tail)) // max(1, length))
        if numbered:
            middle = "".join(self.unit.replace("{n}", str(n)) for n in range(times))
        else:
            middle = self.unit * times
        return f"{self.head}{middle}{self.closing * times}{self.tail}".encode("utf-8", "surrogatepass")


@dataclass(frozen=True, slots=True)
class Cost:
    """What one input cost.

    Attributes:
        size: bytes of the input.
        seconds: CPU time of the process.
        peak: bytes of memory that the process held at most, its start included.
        outcome: "read", or the refusal in words.
    """

    size: int
    seconds: float
    peak: int
    outcome: str


class TooCostly(AssertionError):
    """An input that takes more than it may."""


def check_growth(
    reader: Callable[[bytes], object],
    *cases: Growth,
    largest: int = LARGEST,
    seconds: float = MOST_SECONDS,
    memory: int = MOST_BYTES,
) -> list[Cost]:
    """Run a reader on inputs that grow; return the cost of the largest input of each case.

    Args:
        reader: a function at the top level of a module. It may refuse an input by an error of ours.
        cases: the inputs.
        largest: size of the largest input.
        seconds: CPU time that an input of 10 MB may take; a smaller one may take its share, and
            `LEAST_SECONDS` at least.
        memory: memory of the process while it reads the largest input.

    Raises:
        TooCostly: if an input takes more, or grows much steeper than its size.
        AssertionError: if the reader raises an error that is not ours.
    """
    allowed = max(LEAST_SECONDS, seconds * largest / _FULL_SIZE)
    sizes = [largest >> n for n in reversed(range(_DOUBLINGS + 1))]
    with _reading(reader, seconds=allowed * 4, memory=memory * 3) as process:
        return [_checked(case, process, sizes, allowed, memory) for case in cases]


_kept: dict[tuple[object, ...], _Reading] = {}


@contextmanager
def _reading(reader: Callable[[bytes], object], *, seconds: float, memory: int) -> Iterator[_Reading]:
    """Yield a process that reads; the quick tests keep it for the next cases of the same reader."""
    wanted = (reader, seconds, memory)
    process = _kept.pop(wanted, None)
    _end_kept()
    process = process or _Reading(reader, seconds=seconds, memory=memory)
    try:
        yield process
    except BaseException:
        process.end()
        raise
    if FULL:
        process.end()
    else:
        _kept[wanted] = process


@atexit.register
def _end_kept() -> None:
    while _kept:
        _kept.popitem()[1].end()


def _checked(case: Growth, process: _Reading, sizes: Sequence[int], allowed: float, memory: int) -> Cost:
    before: Cost | None = None
    for size in sizes:
        body = case.of_size(size)
        cost = process.read(case.name, body)
        if cost.seconds > allowed and cost.peak <= memory:
            cost = min(cost, process.read(case.name, body), key=_seconds)  # others may have disturbed it
        said = f"{case.name}: {cost.size:,} bytes took {cost.seconds:.2f} s and {cost.peak / 1e6:.0f} MB"
        if cost.seconds > allowed or cost.peak > memory:
            raise TooCostly(f"{said}; at most {allowed:.2f} s and {memory / 1e6:.0f} MB are allowed")
        if before is not None and _is_steep(before, cost):
            before = min(before, process.read(case.name, case.of_size(size // 2)), key=_seconds)
            cost = min(cost, process.read(case.name, body), key=_seconds)
            if _is_steep(before, cost):
                raise TooCostly(f"{said}; half of it took {before.seconds:.2f} s: that is not linear")
        before = cost
    assert before is not None
    return before


def _seconds(cost: Cost) -> float:
    return cost.seconds


def _is_steep(half: Cost, whole: Cost) -> bool:
    return half.seconds >= _TELLING and whole.seconds > _STEEPEST * half.seconds


def random_cases(
    pieces: Sequence[str], count: int, *, seed: int, heads: Sequence[str] = ("",)
) -> list[Growth]:
    """Return cases made of random pieces, to look for inputs that nobody thought of.

    Args:
        pieces: what an input may consist of, such as tags, quotes and references.
        count: cases.
        seed: the same seed gives the same cases.
        heads: beginnings, of which each case has one, so that the reader takes the input for its own.
    """
    draw = random.Random(seed)

    def some(most: int) -> str:
        return "".join(draw.choice(pieces) for _ in range(draw.randint(0, most)))

    made = []
    for _ in range(count):
        head, unit = draw.choice(heads) + some(2), some(4) or draw.choice(pieces)
        closing, tail = (some(1) if draw.random() < 0.3 else ""), some(2)
        made.append(Growth(f"{head!r} {unit!r}… {closing!r}… {tail!r}", head, unit, tail, closing))
    return made


class _Reading:
    """A process that reads inputs with a reader, one after another."""

    def __init__(self, reader: Callable[[bytes], object], *, seconds: float, memory: int) -> None:
        self._command = [
            *(sys.executable, "-m", "tests.growth"),
            *(reader.__module__, reader.__qualname__, str(seconds), str(memory)),
        ]
        self._process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        root = Path(__file__).parents[1]
        return subprocess.Popen(self._command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()

    def read(self, name: str, body: bytes) -> Cost:
        """Let the process read an input."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(len(body).to_bytes(8) + body)
            self._process.stdin.flush()
        except BrokenPipeError:
            pass
        answer = self._process.stdout.readline()
        if not answer:
            status = self._process.wait()
            raise TooCostly(f"{name}: {len(body):,} bytes ended the process with status {status}")
        answered = json.loads(answer)
        assert "bug" not in answered, f"{name}: {len(body):,} bytes raised {answered['bug']}"
        return Cost(**answered)


def _serve(module: str, function: str, seconds: float, memory: int) -> None:
    reader: Callable[[bytes], object] = getattr(importlib.import_module(module), function)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a reader prints is no answer
    resource.setrlimit(resource.RLIMIT_AS, (_status("VmSize") + memory, resource.RLIM_INFINITY))
    while head := sys.stdin.buffer.read(8):
        body = sys.stdin.buffer.read(int.from_bytes(head))
        gc.collect()
        _forget_peak()
        used = time.process_time()
        resource.setrlimit(resource.RLIMIT_CPU, (int(used + seconds) + 1, resource.RLIM_INFINITY))
        try:
            reader(body)
            outcome = "read"
        except SourcebookError as error:
            outcome = f"{type(error).__name__}: {error}"[:300]
        except Exception as error:  # noqa: BLE001 - the test says that it is a bug
            print(json.dumps({"bug": f"{type(error).__name__}: {error}"[:1000]}), file=answers, flush=True)
            continue
        cost = Cost(len(body), time.process_time() - used, peak_memory(), outcome)
        print(json.dumps(asdict(cost)), file=answers, flush=True)


def _forget_peak() -> None:
    """Let the kernel measure the highest memory anew, where it can."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def peak_memory() -> int:
    """Return the most memory that this process has needed, in bytes."""
    peak = _status("VmHWM")
    if peak:
        return peak
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def _status(name: str) -> int:
    """Return a size that the kernel keeps of this process, 0 where there is none."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:")), 0)


if __name__ == "__main__":
    _serve(sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4]))
