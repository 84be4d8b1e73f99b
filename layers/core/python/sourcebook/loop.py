"""One event loop for all invocations of a function."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Coroutine
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")


class OneLoop:
    """Runs coroutines one after another, each as `asyncio.run` does, in one event loop with its threads.

    `asyncio.run` makes both anew each time, and waits for the threads to end. What is more, it minds SIGINT,
    which nobody sends a function, and thereby writes out all that the coroutine has returned, since
    `signal.signal` makes an error message of the handler, which holds the task. That is a tenth of the CPU
    of a round of feeds without news.

    For one thread. The loop is made with the first coroutine.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, coroutine: Coroutine[Any, Any, ResultT]) -> ResultT:
        """Return what a coroutine returns. Tasks that it leaves behind are cancelled: none goes on later."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            weakref.finalize(self, self._loop.close)
        try:
            return self._loop.run_until_complete(coroutine)
        finally:
            if left := asyncio.all_tasks(self._loop):
                for task in left:
                    task.cancel()
                self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
