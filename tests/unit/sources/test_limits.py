"""Room for the documents that are read at the same time."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import suppress

import pytest

from sourcebook.sources.limits import READ_AT_ONCE_BYTES, Room, read_document


class Readers:
    """Counts those that read at the same time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.now = self.most = 0

    def read(self) -> None:
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        time.sleep(0.05)
        with self.lock:
            self.now -= 1


@pytest.mark.parametrize(
    ("size", "together"),
    [(READ_AT_ONCE_BYTES, 1), (10 * READ_AT_ONCE_BYTES, 1), (READ_AT_ONCE_BYTES // 3, 3)],
)
async def test_large_documents_are_read_one_at_a_time(size: int, together: int) -> None:
    readers = Readers()
    await asyncio.gather(*(read_document(readers.read, size) for _ in range(6)))
    assert readers.most <= together


async def test_small_documents_are_read_beside_one_another() -> None:
    meet = threading.Barrier(3, timeout=30)
    await asyncio.gather(*(read_document(meet.wait, 100_000) for _ in range(3)))


@pytest.mark.parametrize("error", [ValueError, MemoryError])
async def test_a_reader_that_fails_leaves_its_room(error: type[Exception]) -> None:
    def fail() -> None:
        raise error

    for _ in range(3):
        with pytest.raises(error):
            await read_document(fail, READ_AT_ONCE_BYTES)
    assert await read_document(lambda: "read", READ_AT_ONCE_BYTES) == "read"


async def hold(room: Room, size: int, done: list[int], until: asyncio.Event) -> None:
    async with room.hold(size):
        done.append(size)
        await until.wait()


async def steps() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_turns_come_in_order_and_a_large_one_is_not_passed() -> None:
    room, done, until = Room(10), list[int](), asyncio.Event()
    tasks = []
    for size in (6, 7, 1, 2):
        tasks.append(asyncio.create_task(hold(room, size, done, until)))
        await steps()
    assert done == [6]
    until.set()
    await asyncio.gather(*tasks)
    assert done == [6, 7, 1, 2]


@pytest.mark.parametrize("its_turn_has_come", [False, True])
async def test_one_that_is_cancelled_while_it_waits_leaves_its_room(its_turn_has_come: bool) -> None:
    room, done = Room(10), list[int]()
    first_until, until = asyncio.Event(), asyncio.Event()
    first = asyncio.create_task(hold(room, 10, done, first_until))
    await steps()
    second = asyncio.create_task(hold(room, 9, done, until))
    third = asyncio.create_task(hold(room, 8, done, until))
    await steps()
    if its_turn_has_come:
        first_until.set()
        await asyncio.sleep(0)  # the first one ends; the second one has its turn, and has not run yet
    second.cancel()
    with suppress(asyncio.CancelledError):
        await second
    first_until.set()
    await first
    until.set()
    await asyncio.wait_for(third, 10)
    async with asyncio.timeout(10), room.hold(10):
        pass
