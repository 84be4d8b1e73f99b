"""The saving of MiniStack's state, every minute and at its stop: all services or none.

MiniStack saves at a stop only, service by service, and goes on without what it cannot write or read.

Runs in MiniStack's interpreter: only the standard library is imported.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import functools
import json
import logging
import os
import select
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

_log = logging.getLogger("sourcebook")

RETRY_SECONDS = 2.0
PROGRESS_SECONDS = 10.0
"""A process that saves and writes nothing for twice as long is stuck: another one is forked."""


class State:
    """Saves MiniStack's state, and restores the newest save.

    A process that is forked writes it: the state of one moment, while this one goes on.
    """

    def __init__(
        self,
        app: ModuleType,
        persistence: ModuleType,
        folder: Path,
        snapshots: ModuleType,
        saved_objects: ModuleType,
    ) -> None:
        """Find the newest snapshot, and let MiniStack read that.

        Args:
            app: MiniStack's.
            persistence: MiniStack's, which writes and reads the states of its services.
            folder: of the snapshots.
            snapshots: the module of that name.
            saved_objects: the module of that name.

        Raises:
            DamagedError: if no snapshot is whole.
        """
        self._app: Any = app
        self._persistence: Any = persistence
        self._objects, self._damaged = saved_objects, snapshots.DamagedError
        self._folder, self._snapshots = folder, snapshots.Snapshots(folder)
        self._content: str = snapshots.CONTENT
        self._lock = threading.Lock()
        # Written in advance: on a full disk there is room for what went wrong.
        self._trouble = folder / "trouble"
        self._note("")
        newest, damaged = self._snapshots.newest()
        for trouble in damaged:
            _log.error("Failed to restore persisted state of %s: the save before it is used", trouble)
        self._persistence.STATE_DIR = str(newest or folder)  # type: ignore[attr-defined]
        self._app._load_persisted_state = self._load  # type: ignore[attr-defined]

    def _load(self) -> None:
        """Restore every service, or none: an unreadable state would be overwritten by an empty one.

        Raises:
            DamagedError: if the state of a service cannot be read.
        """
        folder = Path(self._persistence.STATE_DIR)
        for key, name in self._app._state_map.items():
            if (folder / f"{key}.json").exists():
                data = self._persistence.load_state(key)
                if data is None:
                    raise self._damaged(f"the saved state of {key} cannot be read")
                self._app._get_module(name).load_persisted_state(data)

    def save(self) -> str:
        """Save the state; return what went wrong, "" if nothing did."""
        with self._lock:
            try:
                return self._save()
            except OSError as error:  # no process or no file can be opened: whoever asked tries again
                _log.error("Persistence: failed to save: %s", error)
                return str(error)

    def _save(self) -> str:
        parent, (reader, writer) = os.getpid(), os.pipe()
        child = os.fork()
        if child == 0:
            self._save_and_exit(parent, writer)
        os.close(writer)
        with os.fdopen(reader, "rb") as answer:
            seen = -1
            while not select.select([answer], [], [], PROGRESS_SECONDS)[0]:
                # A thread that held a lock when this process was forked is not in the child to give it back.
                if (now := self._snapshots.progress()[1]) == seen:
                    os.kill(child, signal.SIGKILL)
                seen = now
            trouble = answer.read().decode(errors="replace")
        _, status = os.waitpid(child, 0)
        trouble = trouble or (f"the process that saves ended with {status}" if status else "")
        self._note(trouble)
        if trouble:
            _log.error("Persistence: failed to save: %s", trouble)
        return trouble

    def _save_and_exit(self, parent: int, writer: int) -> None:
        trouble = ""
        try:
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
        except ValueError:
            pass  # not in the main thread, where no signal is handled
        try:
            # Nobody changes this process's memory: what MiniStack would copy can be written as it is.
            copy.deepcopy = lambda value, _memo=None: value  # type: ignore[assignment, misc]
            files = {}
            items = 0
            for name, state in self._app._build_persistence_save_dict().items():
                if (data := state()) is not None:
                    if name == "dynamodb":
                        items = sum(table["ItemCount"] for _, table in data["tables"].all_items())
                    form = self._persistence._state_format_version(name)
                    content = {"__ministack_format__": form, "payload": data}
                    files[f"{name}.json"] = functools.partial(
                        pieces, content, self._persistence._json_default
                    )
            files[self._content] = functools.partial(self._what_is_saved, items)
            if os.getppid() == parent:
                self._snapshots.write(files)
                for old in self._folder.glob("*.json"):
                    old.unlink()
        except BaseException as error:  # noqa: BLE001 - the process ends here, and says why
            trouble = f"{type(error).__name__}: {error}"
        with contextlib.suppress(OSError), os.fdopen(writer, "wb") as answer:
            answer.write(trouble.encode()[:2000])
        os._exit(1 if trouble else 0)

    def _what_is_saved(self, items: int) -> Iterator[str]:
        known: dict[str, object] = {}
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
            before = json.loads(self._snapshots.last_text(self._content))["objects"]
            known = {path: self._objects.Saved(*values) for path, values in before.items()}
        objects = self._objects.inventory(self._folder / "s3", known)
        yield json.dumps({"items": items, "objects": objects})

    def save_at_last(self) -> None:
        """Save the state, however often it takes: this process holds the only copy."""
        while self.save():
            time.sleep(RETRY_SECONDS)

    def _note(self, trouble: str) -> None:
        with self._trouble.open("r+b" if self._trouble.exists() else "wb") as file:
            file.write(trouble.encode()[:2000].ljust(4096))

    async def save_now_and_then(self, seconds: float) -> None:
        """Save every so many seconds, for a tenth of the time at most."""
        pause = seconds
        while True:
            await asyncio.sleep(pause)
            begun = time.monotonic()
            await asyncio.to_thread(self.save)
            pause = max(seconds, 10 * (time.monotonic() - begun))


def pieces(value: object, encode: Callable[[object], object], depth: int = 7) -> Iterator[str]:
    """Yield a value as JSON in pieces, so that the progress of writing shows."""
    if depth and not isinstance(value, str | int | float | bool | list | tuple | dict | None):
        value = encode(value)
    if depth and isinstance(value, dict) and all(isinstance(key, str) for key in value):
        opening = "{"
        for key, held in value.items():
            yield f"{opening}{json.dumps(key)}:"
            yield from pieces(held, encode, depth - 1)
            opening = ","
        yield "{}" if opening == "{" else "}"
    else:
        yield json.dumps(value, default=encode)
