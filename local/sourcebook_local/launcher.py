"""Start MiniStack with some of its functions replaced.

Runs in MiniStack's own interpreter, where nothing of the project can be imported: Lambdas run in
the same interpreter, and a dependency missing from a layer must be missing there too.

Each replacement is refused if what it replaces or relies on is not as in the pinned version
(docs/decisions/0391):

* An exception of a Python handler is reported with its class name as ``errorType``, as on AWS.
  MiniStack reports ``Runtime.HandlerError`` for all, so Retry and Catch by class never match.
* An update of a function kills its processes with the calls in them, which AWS lets finish: they do here too.
* With TLS on and the right to do so, MiniStack would also take port 443: it gets its own port only.
* Each process of a function would unpack all layers anew, in the one thread that serves, and compile what it
  imports of them: a minute of work on two cores until the sample nova is there. Each layer is unpacked once.
* DynamoDB reads and checks a condition anew for each item of a partition that a query passes: with ten
  thousand articles that is three quarters of a query's time. Each expression is read once.
* What a statement of PartiQL changes does not enter the table's stream: it does here.
* DynamoDB makes each page of an index of all entries of its partition. `sorted_indexes` keeps them in order.
* Processes of a function that start at one moment each look through the sessions of STS while another one
  adds its own, and one that fails there has the others killed. They do it one after another.
* At SIGTERM, it waits for its clients first and writes its state after, so that one open TLS
  connection or long poll keeps it from both: after `PATIENCE_SECONDS` it writes and ends all the same.
* An object that cannot be written it would keep in memory and only log that: the call fails.
* It saves at a stop only, service by service, and goes on without what it cannot write or read. `saving`
  saves every minute too, all or nothing, and it does not end before the state is saved.
* It answers everybody, pages of other sites in a browser too. `request_guard` stands before it.

Remove a replacement when MiniStack does it itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
import hashlib
import importlib
import importlib.metadata
import importlib.util
import inspect
import io
import logging
import os
import re
import shutil
import signal
import sys
import tempfile
import threading
import zipfile
from collections.abc import Callable, Collection, Sequence
from http import HTTPStatus
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from .saving import State

Application: TypeAlias = Callable[..., Any]
"""An ASGI application."""

_log = logging.getLogger("sourcebook")

PINNED_VERSION = "1.5.33"
PATIENCE_SECONDS = 4.0

HANDLER_ERROR = "Runtime.HandlerError"
"""The type of every exception of a handler to MiniStack."""
START_ERROR = "Worker init failed"
"""The beginning of MiniStack's message of a module that cannot be imported."""
_TRACEBACK = "Traceback (most recent call last):"
_CLASS = re.compile(r"[\s|]*(?:[\w<>]+\.)*(?P<name>\w+)")
LAYERS_FOLDER = "SOURCEBOOK_LAYERS"
"""Environment variable: the folder for unpacked layers, which outlives the process."""
SAVE_EVERY = "SOURCEBOOK_SAVE_SECONDS"
"""Environment variable: seconds between two saves of the state."""
RECORDED_CALLS = "SOURCEBOOK_RECORDED_CALLS"
"""Environment variable: the file for the recorded calls of functions; without it, none are recorded."""
WHERE_LAYERS_ARE = "_LAMBDA_LAYERS_DIRS"
"""Environment variable in which a worker gets the folders of its layers."""


class UnexpectedError(Exception):
    """MiniStack is not as in the version that this launcher was written for."""


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


def function(
    owner: object, name: str, *, takes: Sequence[str] | None = None, uses: Collection[str] = ()
) -> Callable[..., Any]:
    """Return a function that must be as the pinned version has it.

    Args:
        owner: the module or class that has it.
        name: its name.
        takes: the names of all its parameters; None for any.
        uses: names and texts that its code has among others.

    Raises:
        UnexpectedError: if there is no such function, or it is another one.
    """
    found, where = getattr(owner, name, None), getattr(owner, "__name__", str(owner))
    if not isinstance(found, FunctionType):
        raise UnexpectedError(f"{where} has no function {name}")
    if takes is not None and list(inspect.signature(found).parameters) != list(takes):
        raise UnexpectedError(f"{where}.{name} takes other parameters than {', '.join(takes)}")
    if missing := set(uses) - {*found.__code__.co_names, *map(str, found.__code__.co_consts)}:
        raise UnexpectedError(f"{where}.{name} does not use {', '.join(sorted(missing))}")
    return found


def report_exception_classes(service: ModuleType) -> None:
    """Give an error the class of its exception as its type: the log of the call ends with the traceback.

    A module that cannot be imported has the type that AWS gives an ImportError, whatever it has raised: its
    class is not known here.
    """
    execute = function(service, "_execute_function_warm", uses={HANDLER_ERROR})

    @functools.wraps(execute)
    def with_class(func: object, event: object, request_id: str) -> dict[str, Any]:
        answer: dict[str, Any] = execute(func, event, request_id)
        body = answer.get("body")
        if answer.get("error") and isinstance(body, dict):
            message = str(body.get("errorMessage"))
            if message.startswith(START_ERROR):
                body["errorType"] = "Runtime.ImportModuleError"
            elif body.get("errorType") == HANDLER_ERROR:
                body["errorType"] = class_in(str(answer.get("log")), message) or HANDLER_ERROR
        return answer

    service._execute_function_warm = with_class  # type: ignore[attr-defined]


def finish_calls(runtime: ModuleType) -> None:
    """Let a process finish its call before it is ended: MiniStack ends those of a function that is updated.

    Raises:
        UnexpectedError: if MiniStack ends processes in another way than the pinned version.
    """
    end = function(runtime, "kill_workers")
    function(runtime, "invalidate_worker", uses={"kill_workers"})
    function(attribute(runtime, "Worker"), "invoke", uses={"_lock"})

    def end_after_its_call(worker: Any) -> None:  # noqa: ANN401 - a worker of MiniStack
        with worker._lock:
            end([worker])

    @functools.wraps(end)
    def end_when_idle(workers: Collection[Any]) -> None:
        in_a_call = [worker for worker in workers if worker._lock.locked()]
        for worker in in_a_call:
            threading.Thread(target=end_after_its_call, args=(worker,), daemon=True).start()
        end([worker for worker in workers if worker not in in_a_call])

    runtime.kill_workers = end_when_idle  # type: ignore[attr-defined]


def class_in(log: str, message: str) -> str:
    """Return the name of the class of the exception whose traceback a log ends with, "" without one."""
    text, message = f"{log.rstrip()}\n", message.rstrip()
    if _TRACEBACK not in text:
        return ""
    # Notes may follow the message, so it need not be the end.
    end = text.rfind(f": {message}\n") if message else len(text) - 1
    found = _CLASS.fullmatch(text[:end].rpartition("\n")[2]) if end >= 0 else None
    return found["name"] if found else ""


class UnpackedLayers:
    """Unpacked layers by the digest of their archive, with the bytecode that their use has written.

    A layer that no function has needed from one start to the next is removed, so that those which were
    deployed while something was being written do not add up.
    """

    def __init__(self, folder: Path) -> None:
        """Take over the layers that an earlier process has left in `folder`."""
        self._folder = folder
        self._lock = threading.Lock()
        self._digests: dict[int, tuple[bytes, str]] = {}
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
        with self._lock:
            # MiniStack gives one object each time, and every start of a process would read up to 140 MB.
            known, digest = self._digests.get(id(archive), (b"", ""))
            if known is not archive:
                digest = hashlib.sha256(archive).hexdigest()
                self._digests[id(archive)] = (archive, digest)
            layer = self._folder / digest
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


def unpack_layers_once(runtime: ModuleType, service: ModuleType, folder: Path) -> None:
    """Let all workers share one unpacked copy of each layer, which they only read, as on AWS.

    A worker gets the folders of its layers in the variable that MiniStack uses, and none to unpack.

    Raises:
        UnexpectedError: if MiniStack starts workers in another way than the pinned version.
    """
    worker, script = attribute(runtime, "Worker"), attribute(runtime, "_PYTHON_WORKER_SCRIPT")
    reserved = attribute(runtime, "_RESERVED_RUNTIME_ENV_VARS")
    content_of = function(service, "_resolve_layer_zip")
    used = {"config", "Layers", "Environment", "Variables", WHERE_LAYERS_ARE, "environ"}
    spawn = function(worker, "_spawn", uses=used)
    if WHERE_LAYERS_ARE not in str(script) or WHERE_LAYERS_ARE in reserved:  # type: ignore[operator]
        raise UnexpectedError(f"a worker does not read {WHERE_LAYERS_ARE} of its function's environment")
    layers = UnpackedLayers(folder)

    @functools.wraps(spawn)
    def with_unpacked(self: Any) -> object:  # noqa: ANN401 - a worker of MiniStack
        config = self.config
        if not config.get("Layers") or not str(config.get("Runtime")).startswith("python"):
            return spawn(self)
        folders = [folder for layer in config["Layers"] for folder in layers.folders(content_of(layer))]
        variables = {
            **config.get("Environment", {}).get("Variables", {}),
            WHERE_LAYERS_ARE: os.pathsep.join(folders),
        }
        self.config = {**config, "Layers": [], "Environment": {"Variables": variables}}
        try:
            return spawn(self)
        finally:
            self.config = config

    worker._spawn = with_unpacked  # type: ignore[attr-defined]


def read_expressions_once(dynamodb: ModuleType) -> None:
    """Let DynamoDB cache the tokens and the errors of an expression, which depend on nothing else."""
    tokenize, check = function(dynamodb, "_tokenize"), function(dynamodb, "_condition_syntax_error")

    @functools.lru_cache(maxsize=4096)
    def tokens(expression: str) -> tuple[object, ...]:
        return tuple(tokenize(expression))  # one that nobody can change, for all who ask

    dynamodb._tokenize = tokens  # type: ignore[attr-defined]
    dynamodb._condition_syntax_error = functools.lru_cache(maxsize=4096)(check)  # type: ignore[attr-defined]


def put_statements_into_streams(dynamodb: ModuleType) -> None:
    """Enter what a statement of PartiQL changes into the table's stream, as any other write."""
    emit = function(
        dynamodb,
        "_emit_stream_event",
        takes=("table_name", "event_name", "old_item", "new_item", "replicate"),
    )
    key_of = function(dynamodb, "_extract_key_val")

    def recorded(name: str, event: str) -> Callable[..., Any]:
        execute = function(dynamodb, name, uses={"_set_item"})

        @functools.wraps(execute)
        def with_record(table: dict[str, Any], parsed: dict[str, Any], *data: object) -> tuple[Any, ...]:
            named = parsed.get("item") or {attribute: value for attribute, _, value in parsed["conditions"]}
            partition, sort = key_of(named.get(table["pk_name"])), key_of(named.get(table["sk_name"]))
            before = table["items"].get(partition, {}).get(sort)
            answer: tuple[Any, ...] = execute(table, parsed, *data)
            if answer[0] == HTTPStatus.OK:
                emit(parsed["table"], event, before, table["items"][partition][sort])
            return answer

        return with_record

    for name, event in (("_partiql_insert", "INSERT"), ("_partiql_update", "MODIFY")):
        setattr(dynamodb, name, recorded(name, event))


def sort_indexes(dynamodb: ModuleType) -> None:
    """Keep the entries of DynamoDB's indexes in order.

    Raises:
        UnexpectedError: if MiniStack does not keep its indexes as the pinned version does.
    """
    module = beside("sorted_indexes")
    try:
        module.SortedIndexes(dynamodb)
    except module.ChangedError as error:
        raise UnexpectedError(str(error)) from None


def register_sessions_in_turn(sts: ModuleType) -> None:
    """Let no thread change the sessions while another one looks through them."""
    register = function(sts, "register_session")
    lock = threading.Lock()

    @functools.wraps(register)
    def in_turn(access_key: str, session: dict[str, object]) -> None:
        with lock:
            register(access_key, session)

    sts.register_session = in_turn  # type: ignore[attr-defined]


def keep_to_one_port(app: ModuleType) -> None:
    """Keep MiniStack from taking port 443 as well."""
    function(app, "_port_is_bindable", takes=["host", "port"])
    app._port_is_bindable = lambda host, port: False  # type: ignore[attr-defined]  # noqa: ARG005


def secrets_of(evaluator: ModuleType, account: str) -> Callable[[str, str], str | None]:
    """Return a function that finds the secret of an access key of the account or of MiniStack's own."""
    resolve = function(
        evaluator, "resolve_credential", takes=["access_key_id", "account_id", "session_token"]
    )
    refusal = attribute(evaluator, "CredentialResolutionError")
    if not isinstance(refusal, type):
        raise UnexpectedError("CredentialResolutionError is not a class")

    def secret_of(access_key: str, token: str) -> str | None:
        # An empty key is the account's own to MiniStack.
        found = resolve(access_key, account, token) if access_key else None
        secret = None if isinstance(found, refusal) else getattr(found, "secret_access_key", None)
        return secret if isinstance(secret, str) and secret else None

    return secret_of


def signed_routes_of(app: ModuleType) -> Callable[[str, str], bool]:
    """Return a function that returns whether a route of an HTTP API needs a signature."""
    parse, resolve, authorization = (
        function(app, name)
        for name in ("_parse_execute_api_url", "_resolve_stage_and_path", "_execute_api_authorization_type")
    )

    def needs_signature(method: str, path: str) -> bool:
        parsed = parse("", path)
        if parsed is None:
            return True
        api, stage, rest = parsed
        stage, rest = resolve(api, stage, rest)
        return bool(authorization(api, stage, method, rest) == "AWS_IAM")

    return needs_signature


def recording(file: str, account: str) -> Callable[..., None] | None:
    """Return a recorder of the calls of functions, or None without a file for it."""
    if not file:
        return None
    evaluator = importlib.import_module("ministack.core.iam_evaluator")
    resolve = function(evaluator, "resolve_credential")

    def arn_of(access_key: str) -> str:
        # The guard has checked the token.
        return str(getattr(resolve(access_key, account), "principal_arn", ""))

    record: Callable[..., None] = beside("recorded_calls").CallRecord(Path(file), arn_of)
    return record


def guarded(app: ModuleType, port: int, recorded: str = "") -> Callable[[Application], Application]:
    """Return a function that puts the guard before an application.

    Args:
        app: MiniStack's.
        port: that it listens on.
        recorded: the file for the calls of functions; "" for none.

    Raises:
        UnexpectedError: if MiniStack resolves credentials or routes in another way than the pinned version.
    """
    evaluator = importlib.import_module("ministack.core.iam_evaluator")
    secret_of = secrets_of(evaluator, os.environ["MINISTACK_ACCOUNT_ID"])
    needs_signature = signed_routes_of(app)
    guard = beside("request_guard").RequestGuard
    return functools.partial(
        guard, port=port, secret_of=secret_of, needs_signature=needs_signature,
        log=_log.warning, record=recording(recorded, os.environ["MINISTACK_ACCOUNT_ID"]),
    )  # fmt: skip


def beside(name: str) -> ModuleType:
    """Load a module of this file's folder, which is no package here: only this file is started."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    if spec is None or spec.loader is None:
        raise UnexpectedError(f"{name}.py is not beside {__file__}")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fail_unwritten_objects(s3: ModuleType) -> None:
    """Fail a call whose object is not on the disk, and write an object before its name appears.

    MiniStack catches what goes wrong as it writes, logs it, and answers that the object is stored.
    """
    handle = function(s3, "handle_request")
    keep = function(s3, "_persist_object", takes=["bucket", "key", "obj"])
    function(s3, "_atomic_write", takes=["fpath", "data", "text"])
    unwritten: contextvars.ContextVar[list[str] | None] = contextvars.ContextVar("unwritten", default=None)

    def note(trouble: str) -> None:
        if (noted := unwritten.get()) is not None:
            noted.append(trouble)

    def write_whole(fpath: str, data: str | bytes, *, text: bool = False) -> None:
        del text
        beside = Path(f"{fpath}.tmp")
        try:
            with beside.open("wb") as file:
                file.write(data.encode() if isinstance(data, str) else data)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(fpath)
        except OSError as error:
            note(str(error))
            with contextlib.suppress(OSError):
                beside.unlink()
            raise

    def keep_or_note(bucket: str, key: str, obj: object) -> None:
        keep(bucket, key, obj)
        # What was written, MiniStack keeps no longer.
        if isinstance(obj, dict) and obj.get("body") is not None:
            note("it is not on the disk")

    async def answer(*arguments: object, **named: object) -> tuple[object, ...]:
        noted: list[str] = []
        before = unwritten.set(noted)
        try:
            answered: tuple[object, ...] = await handle(*arguments, **named)
        finally:
            unwritten.reset(before)
        if not noted:
            return answered
        _log.error("S3: an object cannot be written: %s", noted[0])
        body = "<Error><Code>InternalError</Code><Message>The object cannot be written</Message></Error>"
        return 500, {"Content-Type": "application/xml"}, body.encode()

    s3._atomic_write = write_whole  # type: ignore[attr-defined]
    s3._persist_object = keep_or_note  # type: ignore[attr-defined]
    s3.handle_request = answer  # type: ignore[attr-defined]


def saved_state(app: ModuleType, persistence: ModuleType, folder: Path) -> State:
    """Return what saves MiniStack's state; MiniStack reads the newest snapshot of a folder.

    Raises:
        UnexpectedError: if MiniStack does not save as the pinned version does, or no snapshot is whole.
    """
    for name in ("_build_persistence_save_dict", "_load_persisted_state"):
        function(app, name)
    for name in ("_json_default", "_state_format_version", "load_state"):
        function(persistence, name)
    attribute(persistence, "STATE_DIR")
    snapshots = beside("snapshots")
    try:
        state: State = beside("saving").State(app, persistence, folder, snapshots, beside("saved_objects"))
    except snapshots.DamagedError as error:
        raise UnexpectedError(f"the saved state is damaged: {error}. `make reset` forgets it") from None
    return state


def end_in_time(
    app: ModuleType,
    server: ModuleType,
    before: Callable[[Application], Application],
    state: State,
    save_every: float,
) -> None:
    """Save the state within `PATIENCE_SECONDS` of SIGTERM, even with open connections.

    Args:
        app: MiniStack's.
        server: hypercorn's.
        before: puts something before the application that is served.
        state: saves it.
        save_every: seconds between two saves while the server runs.
    """
    function(app, "save_all")
    serve = function(server, "serve")
    if "shutdown_trigger" not in inspect.signature(serve).parameters:
        raise UnexpectedError("hypercorn's serve takes no shutdown_trigger")
    saved = asyncio.Event()

    def save_and_note(_wanted: object = None) -> None:
        if not saved.is_set():
            state.save_at_last()
            saved.set()

    def end() -> None:
        save_and_note()
        # Not sys.exit: threads that serve Lambda calls would be waited for.
        os._exit(0)

    async def serve_until_stopped(application: Application, config: object) -> None:
        loop, stopping = asyncio.get_running_loop(), asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stopping.set)
        saving = loop.create_task(state.save_now_and_then(save_every))

        async def until_stopped() -> None:
            await stopping.wait()
            saving.cancel()
            loop.call_later(PATIENCE_SECONDS, end)

        await serve(before(application), config, shutdown_trigger=until_stopped)

    app.save_all = save_and_note  # type: ignore[attr-defined]
    server.serve = serve_until_stopped  # type: ignore[attr-defined]


def main() -> None:
    """Replace functions of MiniStack, and run it until SIGTERM or SIGINT."""
    # What it writes holds secrets of the stack; only this user reads it.
    os.umask(0o077)
    os.environ["BIND_HOST"] = "127.0.0.1"
    # What is left in the environment every Lambda would get.
    layers = os.environ.pop(LAYERS_FOLDER, "")
    save_every = float(os.environ.pop(SAVE_EVERY, "60"))
    recorded = os.environ.pop(RECORDED_CALLS, "")
    try:
        check_version()
        app = importlib.import_module("ministack.app")
        runtime = importlib.import_module("ministack.core.lambda_runtime")
        service = importlib.import_module("ministack.services.lambda_svc")
        report_exception_classes(service)
        finish_calls(runtime)
        if layers:
            unpack_layers_once(runtime, service, Path(layers))
        register_sessions_in_turn(importlib.import_module("ministack.services.sts"))
        dynamodb = importlib.import_module("ministack.services.dynamodb")
        read_expressions_once(dynamodb)
        put_statements_into_streams(dynamodb)
        sort_indexes(dynamodb)
        fail_unwritten_objects(importlib.import_module("ministack.services.s3"))
        keep_to_one_port(app)
        guard = guarded(app, int(os.environ["GATEWAY_PORT"]), recorded)
        persistence = importlib.import_module("ministack.core.persistence")
        state = saved_state(app, persistence, Path(os.environ["STATE_DIR"]))
        end_in_time(app, importlib.import_module("hypercorn.asyncio"), guard, state, save_every)
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
