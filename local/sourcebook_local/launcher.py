"""Start MiniStack with what this project needs of it mended.

Runs in MiniStack's own interpreter, where nothing of the project can be imported: Lambdas run in
the same interpreter, and a dependency missing from a layer must be missing there too.

Mended, each only if the text or name it replaces is where the pinned version has it:

* An exception of a Python handler is reported with its class name as ``errorType``, as on AWS.
  MiniStack says ``Runtime.HandlerError`` for all, so Retry and Catch by class never match.
* With TLS on and the right to do so, MiniStack would also take port 443: it gets its own port only.
* Each process of a function would unpack all layers anew, in the one thread that serves, and compile what it
  imports of them: a minute of work on two cores until the sample nova is there. Each layer is unpacked once.
* DynamoDB reads and checks a condition anew for each item of a partition that a query passes: with ten
  thousand articles that is three quarters of a query's time. Each expression is read once.
* Processes of a function that start at one moment each look through the sessions of STS while another one
  adds its own, and one that fails there has the others killed. They do it one after another.
* Told to stop, it waits for its clients first and writes its state after, so that one open TLS
  connection or long poll keeps it from both: after `PATIENCE_SECONDS` it writes and ends all the same.

Drop a mend when upstream has it; a new MiniStack version is a change of `PINNED_VERSION`, of
requirements/cloud.in, and a look at what this file replaces.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import importlib
import importlib.metadata
import inspect
import io
import os
import shutil
import signal
import sys
import tempfile
import textwrap
import threading
import zipfile
from pathlib import Path
from types import FunctionType, ModuleType

PINNED_VERSION = "1.5.33"
PATIENCE_SECONDS = 4.0

WORKER_REPORTS = '"error": str(e), "trace": traceback.format_exc()}'
WORKER_REPORTS_CLASS = '"error": str(e), "error_type": type(e).__name__, "trace": traceback.format_exc()}'
INVOCATION_READS = 'error_type = "Runtime.HandlerError"'
INVOCATION_READS_CLASS = 'error_type = result.get("error_type") or "Runtime.HandlerError"'
LAYERS_FOLDER = "SOURCEBOOK_LAYERS"
"""Environment variable: the folder for unpacked layers, which outlives the process."""
LAYER_OF_A_WORKER = "layer_data = _resolve_layer_zip(layer_ref)"
# What follows would unpack `layer_data`; there is none left.
LAYER_FOR_ALL = "layers_dirs += _unpacked_layers.folders(_resolve_layer_zip(layer_ref)); layer_data = None"


class UnexpectedError(Exception):
    """MiniStack is not what this launcher was written for."""


def replaced_once(text: str, old: str, new: str, where: str) -> str:
    """Return `text` with the one occurrence of `old` replaced.

    Raises:
        UnexpectedError: if `old` stands there not once.
    """
    count = text.count(old)
    if count != 1:
        raise UnexpectedError(f"{where} should contain {old!r} once, found {count} times")
    return text.replace(old, new)


def check_version() -> None:
    """Raise `UnexpectedError` unless the installed MiniStack is the pinned one."""
    installed = importlib.metadata.version("ministack")
    if installed != PINNED_VERSION:
        raise UnexpectedError(f"ministack {installed} is installed, {PINNED_VERSION} is expected")


def attribute(module: ModuleType, name: str) -> object:
    """Return an attribute that must be there.

    Raises:
        UnexpectedError: if it is not.
    """
    try:
        return getattr(module, name)
    except AttributeError:
        raise UnexpectedError(f"{module.__name__} has no {name}") from None


def report_exception_classes(runtime: ModuleType, service: ModuleType) -> None:
    """Have the worker send the exception's class name, and the invocation hand it on."""
    script = attribute(runtime, "_PYTHON_WORKER_SCRIPT")
    if not isinstance(script, str):
        raise UnexpectedError("_PYTHON_WORKER_SCRIPT is not a text")
    runtime._PYTHON_WORKER_SCRIPT = replaced_once(  # type: ignore[attr-defined]
        script, WORKER_REPORTS, WORKER_REPORTS_CLASS, "the Python worker's script"
    )
    name = "_execute_function_warm"
    function = attribute(service, name)
    if not isinstance(function, FunctionType):
        raise UnexpectedError(f"{name} is not a function")
    source = replaced_once(inspect.getsource(function), INVOCATION_READS, INVOCATION_READS_CLASS, name)
    # Compiled under the name of its file, so that a traceback still says where it comes from.
    exec(compile(source, inspect.getfile(function), "exec"), service.__dict__)  # noqa: S102


class UnpackedLayers:
    """Layers by the digest of their archive, each unpacked once, with the bytecode that comes of its use.

    A layer that no function has needed from one start to the next is removed, so that those which were
    deployed while something was being written do not add up.
    """

    def __init__(self, folder: Path) -> None:
        """Take over what an earlier process has left in `folder`."""
        self._folder = folder
        self._lock = threading.Lock()
        folder.mkdir(parents=True, exist_ok=True)
        for layer in [path for path in folder.iterdir() if path.is_dir()]:
            needed = self._note_of(layer)
            if needed.exists():
                needed.unlink()
            else:
                shutil.rmtree(layer)

    def folders(self, archive: bytes | None) -> list[str]:
        """Return the folder of an unpacked layer; none if MiniStack does not hold the layer."""
        if not archive:
            return []
        layer = self._folder / hashlib.sha256(archive).hexdigest()
        with self._lock:
            if not layer.exists():
                # Whole or not at all: the process may be killed meanwhile.
                fresh = tempfile.mkdtemp(dir=self._folder)
                with zipfile.ZipFile(io.BytesIO(archive)) as content:
                    content.extractall(fresh)
                Path(fresh).rename(layer)
            self._note_of(layer).touch()
        return [str(layer)]

    @staticmethod
    def _note_of(layer: Path) -> Path:
        """Return the file that says that a layer has been needed since the last start."""
        return layer.with_name(f"{layer.name}.needed")


def unpack_layers_once(runtime: ModuleType, folder: Path) -> None:
    """Have all workers share what is unpacked of a layer, which on AWS they can only read either."""
    worker = attribute(runtime, "Worker")
    spawn = getattr(worker, "_spawn", None)
    if not isinstance(spawn, FunctionType):
        raise UnexpectedError("Worker._spawn is not a function")
    source = replaced_once(
        textwrap.dedent(inspect.getsource(spawn)), LAYER_OF_A_WORKER, LAYER_FOR_ALL, "Worker._spawn"
    )
    names = runtime.__dict__
    exec(compile(source, inspect.getfile(spawn), "exec"), names)  # noqa: S102
    worker._spawn = names.pop(spawn.__name__)  # type: ignore[attr-defined]
    names["_unpacked_layers"] = UnpackedLayers(folder)


def read_expressions_once(dynamodb: ModuleType) -> None:
    """Have DynamoDB remember what it has read of an expression, which depends on nothing else."""
    tokenize, check = attribute(dynamodb, "_tokenize"), attribute(dynamodb, "_condition_syntax_error")
    if not isinstance(tokenize, FunctionType) or not isinstance(check, FunctionType):
        raise UnexpectedError("_tokenize or _condition_syntax_error is not a function")

    @functools.lru_cache(maxsize=4096)
    def tokens(expression: str) -> tuple[object, ...]:
        return tuple(tokenize(expression))  # one that nobody can change, for all who ask

    dynamodb._tokenize = tokens  # type: ignore[attr-defined]
    dynamodb._condition_syntax_error = functools.lru_cache(maxsize=4096)(check)  # type: ignore[attr-defined]


def register_sessions_in_turn(sts: ModuleType) -> None:
    """Let no thread change the sessions while another one looks through them."""
    register = attribute(sts, "register_session")
    if not isinstance(register, FunctionType):
        raise UnexpectedError("register_session is not a function")
    lock = threading.Lock()

    @functools.wraps(register)
    def in_turn(access_key: str, session: dict[str, object]) -> None:
        with lock:
            register(access_key, session)

    sts.register_session = in_turn  # type: ignore[attr-defined]


def keep_to_one_port(app: ModuleType) -> None:
    """Answer MiniStack's question whether it may take port 443 as well."""
    attribute(app, "_port_is_bindable")
    app._port_is_bindable = lambda host, port: False  # type: ignore[attr-defined]  # noqa: ARG005


def end_in_time(app: ModuleType, server: ModuleType) -> None:
    """Have the state written within `PATIENCE_SECONDS` of SIGTERM, whoever is still connected."""
    save_all, states = attribute(app, "save_all"), attribute(app, "_build_persistence_save_dict")
    serve = attribute(server, "serve")
    if not (isinstance(save_all, FunctionType) and isinstance(states, FunctionType)):
        raise UnexpectedError("save_all or _build_persistence_save_dict is not a function")
    if "shutdown_trigger" not in inspect.signature(serve).parameters:  # type: ignore[arg-type]
        raise UnexpectedError("hypercorn's serve takes no shutdown_trigger")
    saved = asyncio.Event()

    def save_and_note(wanted: dict[str, object]) -> None:
        save_all(wanted)
        saved.set()

    def end() -> None:
        if not saved.is_set():
            save_and_note(states())
        # Not sys.exit: threads that serve Lambda calls would be waited for.
        os._exit(0)

    async def serve_until_told(application: object, config: object) -> None:
        loop, told = asyncio.get_running_loop(), asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, told.set)

        async def until_told() -> None:
            await told.wait()
            loop.call_later(PATIENCE_SECONDS, end)

        await serve(application, config, shutdown_trigger=until_told)  # type: ignore[operator]

    app.save_all = save_and_note  # type: ignore[attr-defined]
    server.serve = serve_until_told  # type: ignore[attr-defined]


def main() -> None:
    """Mend MiniStack and run it until it is told to stop."""
    os.environ["BIND_HOST"] = "127.0.0.1"
    # What is left in the environment every Lambda would get.
    layers = os.environ.pop(LAYERS_FOLDER, "")
    try:
        check_version()
        app = importlib.import_module("ministack.app")
        runtime = importlib.import_module("ministack.core.lambda_runtime")
        report_exception_classes(runtime, importlib.import_module("ministack.services.lambda_svc"))
        if layers:
            unpack_layers_once(runtime, Path(layers))
        register_sessions_in_turn(importlib.import_module("ministack.services.sts"))
        read_expressions_once(importlib.import_module("ministack.services.dynamodb"))
        keep_to_one_port(app)
        end_in_time(app, importlib.import_module("hypercorn.asyncio"))
    except (UnexpectedError, ImportError, importlib.metadata.PackageNotFoundError) as error:
        sys.exit(
            f"The embedded cloud cannot start: {error}. Remove its environment "
            f"({sys.prefix}) and start again; if that does not help, "
            "requirements/cloud.txt and local/sourcebook_local/launcher.py do not fit each other."
        )
    sys.argv = ["ministack"]
    app.main()


if __name__ == "__main__":
    main()
