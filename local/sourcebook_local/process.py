"""Processes by identity, for a pid may be used again."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Iterator

_PROC = Path("/proc")
_children: dict[int, subprocess.Popen[bytes]] = {}


@atexit.register
def _leave_children_running() -> None:
    """Suppress Popen's warning, at the end of this process, about children that outlive it."""
    for child in _children.values():
        if child.poll() is None:
            child.returncode = 0


def start_identity(pid: int) -> str | None:
    """Return what distinguishes a process from others with the same pid.

    On Linux the boot and the start in clock ticks since then; elsewhere the start as ``ps`` gives it.
    None if there is no such process, or it has ended and only waits for its parent (a zombie).
    """
    child = _children.get(pid)
    if child is not None and child.poll() is not None:
        del _children[pid]
        return None
    if sys.platform == "linux":
        try:
            stat = (_PROC / str(pid) / "stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return None
        # The command name, in parentheses, may itself contain spaces and parentheses.
        fields = stat[stat.rindex(")") + 2 :].split()
        if fields[0] in "ZX":
            return None
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}:{fields[19]}"
    shown = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    ).stdout.split(maxsplit=1)
    return shown[1].strip() if len(shown) == 2 and not shown[0].startswith("Z") else None


def is_running(pid: int, identity: str) -> bool:
    """Return whether the process that had this identity still runs."""
    return start_identity(pid) == identity


def command_lines() -> dict[int, str]:
    """Return the command line of each process that this user may see, by pid."""
    if sys.platform == "linux":
        found = {}
        for folder in _PROC.iterdir():
            if folder.name.isdigit():
                with contextlib.suppress(OSError):
                    line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").strip()
                    found[int(folder.name)] = line.decode(errors="replace")
        return found
    shown = subprocess.run(
        ["ps", "-A", "-ww", "-o", "pid=,command="], capture_output=True, text=True, check=True
    ).stdout
    return {int(pid): line for pid, line in re.findall(r"^\s*(\d+) (.*)$", shown, re.MULTILINE)}


def pids_running(text: str) -> list[int]:
    """Return the pids whose command line contains `text`."""
    return sorted(pid for pid, line in command_lines().items() if text in line)


def send(pid: int, number: signal.Signals) -> None:
    """Send a signal; do nothing if the process is gone."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def wait_until_gone(pid: int, identity: str, timeout: float) -> bool:
    """Wait up to `timeout` seconds for a process to end; return whether it has."""
    deadline = time.monotonic() + timeout
    while is_running(pid, identity):
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.05)
    return True


def spawn(command: list[str], *, environment: dict[str, str], folder: Path, log: Path) -> int:
    """Start a process that outlives this one, its output appended to `log`; return its pid.

    It gets a session of its own: an interrupt typed at the terminal is not for it.
    """
    with log.open("ab") as output:
        # The handle is kept, so that this process can take note of the child's end.
        child = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    _children[child.pid] = child
    return child.pid


@contextlib.contextmanager
def lock(path: Path, *, shared: bool = False, waiting: Callable[[], None] | None = None) -> Iterator[None]:
    """Hold a lock on a file, which ends with this process at the latest.

    Args:
        path: the file; it is made if it is not there.
        shared: whether others may hold it at the same time, if they hold it shared too.
        waiting: called once if another process holds it now.
    """
    wanted = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    with path.open("a") as file:
        try:
            fcntl.flock(file, wanted | fcntl.LOCK_NB)
        except BlockingIOError:
            if waiting:
                waiting()
            fcntl.flock(file, wanted)
        yield
