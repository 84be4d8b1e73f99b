from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from typing import TYPE_CHECKING

import pytest

from sourcebook_local import process

if TYPE_CHECKING:
    from pathlib import Path


def sleeper(tmp_path: Path, name: str = "sleeper") -> int:
    # The name is only there to be found on the command line.
    return process.spawn(
        [sys.executable, "-c", "import time; time.sleep(60)", name],
        environment={},
        folder=tmp_path,
        log=tmp_path / "log",
    )


def test_a_process_is_known_by_more_than_its_number(tmp_path: Path) -> None:
    pid = sleeper(tmp_path)
    identity = process.start_identity(pid)
    assert identity is not None
    assert process.is_running(pid, identity)
    assert not process.is_running(pid, f"{identity}0")
    assert not process.is_running(os.getpid(), identity)
    process.send(pid, signal.SIGKILL)
    assert process.wait_until_gone(pid, identity, 10)
    assert process.start_identity(pid) is None


def test_a_dead_child_that_nobody_waited_for_does_not_count_as_running() -> None:
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    try:
        deadline = time.monotonic() + 10
        while process.start_identity(child.pid) is not None:
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        child.wait()


def test_waiting_for_a_process_that_goes_on_ends_in_time(tmp_path: Path) -> None:
    pid = sleeper(tmp_path)
    identity = process.start_identity(pid)
    assert identity is not None
    begun = time.monotonic()
    assert not process.wait_until_gone(pid, identity, 0.2)
    assert time.monotonic() - begun < 5
    process.send(pid, signal.SIGKILL)
    assert process.wait_until_gone(pid, identity, 10)


def test_processes_are_found_by_their_command_line(tmp_path: Path) -> None:
    name = f"named-{os.getpid()}-{time.monotonic_ns()}"
    pid = sleeper(tmp_path, name)
    deadline = time.monotonic() + 10
    while process.pids_running(name) != [pid]:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    identity = process.start_identity(pid)
    assert identity is not None
    process.send(pid, signal.SIGKILL)
    assert process.wait_until_gone(pid, identity, 10)
    assert process.pids_running(name) == []


def test_a_signal_to_a_process_that_is_gone_is_no_error() -> None:
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    process.send(child.pid, signal.SIGTERM)


def test_a_shared_lock_is_shared_and_keeps_the_others_out(tmp_path: Path) -> None:
    shared = partial(process.lock, tmp_path / "lock", shared=True)
    with shared(), shared(), (tmp_path / "lock").open("a") as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with process.lock(tmp_path / "lock"):
        pass


def test_a_lock_makes_the_second_wait_for_the_first(tmp_path: Path) -> None:
    waiter = (
        "import sys, time, pathlib; from sourcebook_local import process\n"
        "with process.lock(pathlib.Path(sys.argv[1])): print(time.time())"
    )
    with process.lock(tmp_path / "lock"):
        second = subprocess.Popen(
            [sys.executable, "-c", waiter, str(tmp_path / "lock")], stdout=subprocess.PIPE, text=True
        )
        time.sleep(1)
        assert second.poll() is None
        released = time.time()
    output, _ = second.communicate(timeout=20)
    assert float(output) >= released


def test_one_who_waits_for_a_lock_gets_one_message(tmp_path: Path) -> None:
    said: list[str] = []
    with process.lock(tmp_path / "lock", waiting=lambda: said.append("first")):
        second = threading.Thread(target=hold, args=(tmp_path / "lock", said))
        second.start()
        deadline = time.monotonic() + 10
        while "second waits" not in said and time.monotonic() < deadline:
            time.sleep(0.01)
        assert said == ["second waits"]
    second.join(10)
    assert said == ["second waits", "second has it"]


def hold(path: Path, said: list[str]) -> None:
    with process.lock(path, waiting=lambda: said.append("second waits")):
        said.append("second has it")
