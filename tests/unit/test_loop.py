from __future__ import annotations

import asyncio
import gc
import threading

import pytest

from sourcebook.loop import OneLoop


async def where() -> tuple[asyncio.AbstractEventLoop, str]:
    name = await asyncio.to_thread(lambda: threading.current_thread().name)
    return asyncio.get_running_loop(), name


def test_all_run_in_one_loop_with_its_threads() -> None:
    one = OneLoop()
    (first, thread), (second, same_thread) = one.run(where()), one.run(where())
    assert first is second
    assert thread == same_thread


def test_an_error_is_raised_and_the_next_one_runs() -> None:
    async def fail() -> None:
        raise ValueError("staged")

    one = OneLoop()
    with pytest.raises(ValueError, match="staged"):
        one.run(fail())
    assert one.run(asyncio.sleep(0, "fine")) == "fine"


def test_nothing_of_one_goes_on_in_the_next() -> None:
    ended: list[str] = []

    async def linger() -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            ended.append("cancelled")

    async def leave_it() -> asyncio.Task[None]:
        task = asyncio.create_task(linger())
        await asyncio.sleep(0)
        return task

    async def others() -> int:
        return len(asyncio.all_tasks()) - 1

    one = OneLoop()
    assert one.run(leave_it()).cancelled()
    assert ended == ["cancelled"]
    assert one.run(others()) == 0


def test_the_loop_is_closed_with_its_owner() -> None:
    one = OneLoop()
    loop, _ = one.run(where())
    del one
    gc.collect()
    assert loop.is_closed()
