"""What one source's poll may take: time, CPU time and memory. What takes more is ended; the process lives.

Three things run in a poll, and each is ended in its own way:

- a coroutine that waits is cancelled (`asyncio.timeout`, in `sourcebook.sources.poll`);
- a coroutine that computes is interrupted by a signal, since the event loop itself stands still;
- a thread that computes gets an exception raised in it, at its next step of Python.

Nothing ends one call of a C function, such as one search of a regular expression. Then the function times
out, and the poll is charged when its message comes again: see `sourcebook.sources.poll.Poller`.
"""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import threading
import time
import traceback
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any, Final, ParamSpec, TypeVar

Params = ParamSpec("Params")
ResultT = TypeVar("ResultT")
ErrorT = TypeVar("ErrorT", bound=BaseException)

POLL_SECONDS: Final = 75.0
"""For one poll: its fetch, with what it waits for its host, and the storing of what is new."""
POLL_CPU_SECONDS: Final = 20.0
"""CPU time of a poll's thread. The readers promise 5 s for the largest input; the rest is for storing."""
READ_AT_ONCE_BYTES: Final = 10_000_000
"""Of documents that are read at the same time: as much as the largest body has."""
_GRACE_SECONDS: Final = 3.0
"""For a thread that was interrupted to end, before it is left alone."""
_TICK_SECONDS: Final = 0.5
_THREADS: Final = 6
"""As many as keep the interpreter at work while the table answers after 5 ms; more only wait for its lock."""
_SPARE_BYTES: Final = 160 * 1024 * 1024
"""Of a function's memory: for the runtime beside this process, and for what reports a failure."""
_STACKS_BYTES: Final = 28 * 8 * 1024 * 1024
"""Stacks of threads that are yet to come: each is counted in full, and hardly used."""


class PollEnded(BaseException):
    """A poll has used up its time. No `Exception`, so that no reader takes it for a fault of its input."""


class PollThreads(ThreadPoolExecutor):
    """Threads whose work is interrupted when its future is cancelled, or when it has used up its CPU time."""

    def __init__(self) -> None:
        super().__init__(_THREADS, thread_name_prefix="poll")
        self._running: set[_Work] = set()

    def submit(
        self, fn: Callable[Params, ResultT], /, *args: Params.args, **kwargs: Params.kwargs
    ) -> Future[ResultT]:
        """Run a function in a thread; return its future."""
        work = _Work(lambda: fn(*args, **kwargs), self._running)
        future = super().submit(work)
        cancel = future.cancel

        def cancel_or_interrupt() -> bool:
            return cancel() or work.interrupt()

        future.cancel = cancel_or_interrupt  # type: ignore[method-assign]
        return future

    def interrupt_greedy(self, cpu_seconds: float) -> None:
        """Interrupt what has used more CPU time than it may."""
        for work in tuple(self._running):
            if work.cpu_seconds() > cpu_seconds:
                work.interrupt()

    async def settle(self) -> bool:
        """Wait for what was interrupted to end; return whether all of it did."""
        until = time.monotonic() + _GRACE_SECONDS
        while interrupted := [work for work in tuple(self._running) if work.interrupted]:
            if time.monotonic() > until:
                return False
            await asyncio.sleep(0.02)
            for work in interrupted:
                work.interrupt()  # once more: what was raised may have been caught
        return True


class _Work:
    """One call in a thread."""

    __slots__ = ("_began", "_call", "_ident", "_lock", "_running", "interrupted")

    def __init__(self, call: Callable[[], Any], running: set[_Work]) -> None:
        self._call = call
        self._running = running
        self._lock = threading.Lock()
        self._ident: int | None = None
        self._began = 0.0
        self.interrupted = False

    def __call__(self) -> Any:  # noqa: ANN401 - whatever the function returns
        self._began = time.thread_time()
        self._ident = threading.get_ident()
        self._running.add(self)
        try:
            return self._call()
        finally:
            with self._lock:
                ident, self._ident = self._ident, None
                if self.interrupted and ident is not None:
                    _raise_in(ident, None)
            self._running.discard(self)

    def interrupt(self) -> bool:
        """Raise `PollEnded` in the thread; return False if the call is not under way."""
        with self._lock:
            if self._ident is None:
                return False
            self.interrupted = True
            _raise_in(self._ident, PollEnded)
            return True

    def cpu_seconds(self) -> float:
        """Return the CPU time that the call has used, 0 where the system does not tell."""
        with self._lock:
            if self._ident is None or not hasattr(time, "pthread_getcpuclockid"):
                return 0.0
            with suppress(OSError):
                return time.clock_gettime(time.pthread_getcpuclockid(self._ident)) - self._began
            return 0.0


def _raise_in(ident: int, error: type[BaseException] | None) -> None:
    """Raise an exception in a thread at its next step, or cancel that."""
    import ctypes  # noqa: PLC0415 - a hundredth of a start, for what hardly ever happens

    raised = ctypes.py_object(error) if error is not None else None
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), raised)


_threads: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, PollThreads] = weakref.WeakKeyDictionary()


def poll_threads() -> PollThreads:
    """Return the threads of the running loop: those that `asyncio.to_thread` uses from now on."""
    loop = asyncio.get_running_loop()
    threads = _threads.get(loop)
    if threads is None:
        threads = PollThreads()
        loop.set_default_executor(threads)
        _threads[loop] = threads
    return threads


def replace_threads() -> None:
    """Replace the threads of the running loop, because one of them does not end."""
    threads = _threads.pop(asyncio.get_running_loop(), None)
    if threads is not None:
        threads.shutdown(wait=False)
    poll_threads()


class Room:
    """Room for what is read at one time, in bytes: who needs more than there is waits for its turn."""

    def __init__(self, most: int) -> None:
        self._most = self._free = most
        self._first = asyncio.Lock()
        self._freed = asyncio.Event()

    @asynccontextmanager
    async def hold(self, size: int) -> AsyncIterator[None]:
        """Reserve room for so many bytes while the block runs; what is larger than all of it reserves all."""
        size = min(size, self._most)
        async with self._first:  # the others wait behind whoever came first, however little they need
            while size > self._free:
                self._freed.clear()
                await self._freed.wait()
            self._free -= size
        try:
            yield
        finally:
            self._free += size
            self._freed.set()


_rooms: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Room] = weakref.WeakKeyDictionary()


async def read_document(read: Callable[[], ResultT], size: int) -> ResultT:
    """Read a document in a thread: one that is as large as may be alone, smaller ones beside one another.

    A reader may need sixty times the size of its document, so that four of 10 MB would not fit into a
    function together.

    Args:
        read: parses the document; what it raises is raised.
        size: bytes of the document.
    """
    room = _rooms.setdefault(asyncio.get_running_loop(), Room(READ_AT_ONCE_BYTES))
    async with room.hold(size):
        return await asyncio.to_thread(read)


class Watch:
    """Looks at the polls of a round: by a signal at those that keep the loop, by a task at their threads."""

    def __init__(self, cpu_seconds: float = POLL_CPU_SECONDS) -> None:
        self._cpu_seconds = cpu_seconds
        self._deadlines: dict[asyncio.Task[Any], float] = {}

    @contextmanager
    def poll(self, seconds: float) -> Iterator[None]:
        """Watch the current task while the block runs."""
        if (task := asyncio.current_task()) is None:
            raise RuntimeError("no task runs")
        self._deadlines[task] = time.monotonic() + seconds
        try:
            yield
        finally:
            del self._deadlines[task]

    @contextmanager
    def running(self) -> Iterator[None]:
        """Check the limits now and then while the block runs."""
        global _watching  # noqa: PLW0603 - a signal has one handler in a process
        threads = asyncio.create_task(self._watch_threads())
        before, _watching = _watching, self
        armed = _arm(_TICK_SECONDS)
        try:
            yield
        finally:
            if armed:
                _arm(0)
            _watching = before
            threads.cancel()

    async def _watch_threads(self) -> None:
        while True:
            await asyncio.sleep(_TICK_SECONDS)
            poll_threads().interrupt_greedy(self._cpu_seconds)

    def look(self) -> None:
        """Raise `PollEnded` if the task that runs at this moment is a poll whose time is over.

        One second later than `asyncio.timeout`, which ends whatever lets the loop work.
        """
        with suppress(RuntimeError):  # no loop runs
            task = asyncio.current_task()
            if task is not None and time.monotonic() > self._deadlines.get(task, float("inf")) + 1:
                raise PollEnded


_watching: Watch | None = None


def _look(_signal: int, _frame: FrameType | None) -> None:
    if _watching is not None:
        _watching.look()


def _arm(seconds: float) -> bool:
    """Send the signal every so many seconds, 0 for never again; return False where it cannot be used."""
    if threading.current_thread() is not threading.main_thread():
        return False
    handler = signal.getsignal(signal.SIGALRM)
    if handler is signal.SIG_DFL:
        signal.signal(signal.SIGALRM, _look)
    elif handler is not _look:  # somebody else uses it
        return False
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    return True


def limit_memory() -> None:
    """Limit the process to the function's memory, so that allocations raise `MemoryError`.

    The system counts what is allocated, also where it is not used. Where it cannot limit that, or where no
    function runs, nothing is limited.
    """
    megabytes = os.environ.get("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "")
    try:
        pages = Path("/proc/self/statm").read_text().split()
    except OSError:
        return
    if not megabytes.isdecimal():
        return
    page = os.sysconf("SC_PAGE_SIZE")
    resident, allocated = int(pages[1]) * page, int(pages[5]) * page
    most = allocated + _STACKS_BYTES + max(0, int(megabytes) * 1024 * 1024 - _SPARE_BYTES - resident)
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def let_go(error: ErrorT) -> ErrorT:
    """Return an error that can be kept for the log: it refers to no local variables any more.

    They may be all that a poll has read: the next one needs the memory.
    """
    known: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        current = waiting.pop()
        if current is None or id(current) in known:
            continue
        known.add(id(current))
        traceback.clear_frames(current.__traceback__)
        waiting += [current.__cause__, current.__context__]
        if isinstance(current, BaseExceptionGroup):
            waiting += current.exceptions
    return error
