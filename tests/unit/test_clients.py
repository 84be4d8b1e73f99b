"""What is made when it is first asked for."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from sourcebook.clients import on_demand


class Client:
    made = 0

    def __init__(self) -> None:
        type(self).made += 1
        time.sleep(0.01)  # so that the others come meanwhile

    def call(self, value: int) -> int:
        return value


def test_a_client_is_made_once_by_whoever_calls_first() -> None:
    Client.made = 0
    client = on_demand(Client)
    assert Client.made == 0
    together = Barrier(8)

    def call(value: int) -> int:
        together.wait()
        return client.call(value)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(call, range(8))) == [*range(8)]
    assert Client.made == 1


def test_what_fails_to_be_made_is_tried_again() -> None:
    tries = []

    def make() -> Client:
        tries.append(1)
        if len(tries) == 1:
            raise OSError("no network yet")
        return Client()

    client = on_demand(make)
    outcomes: list[int | None] = []
    for value in (1, 2):
        try:
            outcomes.append(client.call(value))
        except OSError:
            outcomes.append(None)
    assert outcomes == [None, 2]


def test_one_that_is_made_on_demand_may_ask_for_another_one() -> None:
    inner = on_demand(Client)

    def outer() -> Client:
        assert inner.call(1) == 1
        return Client()

    assert on_demand(outer).call(2) == 2
