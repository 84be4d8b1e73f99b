from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import sys
import threading
import time
import traceback
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sourcebook_local import launcher
from sourcebook_local.project import ROOT


def test_the_pinned_version_is_the_one_that_gets_installed() -> None:
    for name in ("cloud.in", "cloud.txt"):
        text = (ROOT / "requirements" / name).read_text()
        assert re.findall(r"^ministack==(\S+)", text, re.MULTILINE) == [launcher.PINNED_VERSION], name


@pytest.mark.parametrize(
    ("module", "besides"),
    [
        ("launcher", {"saving"}),  # for its types alone
        ("request_guard", {"botocore"}),
        ("saved_objects", set()),
        ("saving", set()),
        ("snapshots", set()),
    ],
)
def test_it_imports_nothing_that_ministacks_environment_may_not_have(module: str, besides: set[str]) -> None:
    tree = ast.parse(Path(launcher.__file__).with_name(f"{module}.py").read_text())
    imported = {
        alias.name if isinstance(node, ast.Import) else node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert {str(name).split(".")[0] for name in imported} <= sys.stdlib_module_names | besides


def test_it_rewrites_no_source() -> None:
    tree = ast.parse(Path(launcher.__file__).read_text())
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not {"exec", "eval", "getsource"} & names


def a_service(answer: dict[str, Any]) -> ModuleType:
    service = ModuleType("service")
    service.__dict__["answer"] = answer
    source = """
def _execute_function_warm(func, event, request_id):
    error_type = "Runtime.HandlerError"
    return answer
"""
    exec(source, service.__dict__)  # noqa: S102
    return service


class Outer:
    class NestedError(Exception):
        pass


def raised(error: Exception, *, cause: Exception | None = None) -> str:
    """Return the traceback of an error that was raised here, while another one was handled."""
    error.__context__ = cause
    with contextlib.suppress(Exception):
        raise error
    return "".join(traceback.format_exception(error))


def with_note(error: Exception) -> Exception:
    error.add_note("a note: of two\nlines")
    return error


@pytest.mark.parametrize(
    ("error", "cause", "name"),
    [
        (ValueError("plain"), None, "ValueError"),
        (ValueError(), None, "ValueError"),
        (KeyError("key"), None, "KeyError"),
        (Outer.NestedError("of a module"), None, "NestedError"),
        (ValueError("two\nlines: OSError: of text\n"), None, "ValueError"),
        (ValueError("TypeError: x"), TypeError("x"), "ValueError"),
        (ValueError("x"), TypeError("x"), "ValueError"),
        (with_note(ValueError("noted")), None, "ValueError"),
        (ExceptionGroup("several", [OSError("x"), OSError("several")]), None, "ExceptionGroup"),
        (ValueError(f"said: {raised(TypeError('inner'))}"), None, "ValueError"),
    ],
)
def test_the_class_of_an_exception_is_found_in_its_traceback(
    error: Exception, cause: Exception | None, name: str
) -> None:
    log = f"a line of the log: {error}\n{raised(error, cause=cause)}"
    body = {"errorMessage": str(error), "errorType": launcher.HANDLER_ERROR}
    service = a_service({"body": body, "error": True, "log": log})
    launcher.report_exception_classes(service)
    assert service._execute_function_warm({}, {}, "id")["body"]["errorType"] == name


@pytest.mark.parametrize(
    ("kind", "log"),
    [
        ("Runtime.HandlerError", "Worker process died"),
        ("Runtime.HandlerError", "ValueError: Worker process died"),
        ("Sandbox.Timedout", raised(ValueError("Worker process died"))),
    ],
)
def test_what_is_no_exception_of_a_handler_keeps_its_type(kind: str, log: str) -> None:
    body = {"errorMessage": "Worker process died", "errorType": kind}
    service = a_service({"body": body, "error": True, "log": log})
    launcher.report_exception_classes(service)
    assert service._execute_function_warm({}, {}, "id")["body"]["errorType"] == kind


def test_a_module_that_cannot_be_imported_is_reported_as_on_aws() -> None:
    body = {"errorMessage": "Worker init failed: No module named 'x'", "errorType": "RuntimeError"}
    service = a_service({"body": body, "error": True, "log": ""})
    launcher.report_exception_classes(service)
    assert service._execute_function_warm({}, {}, "id")["body"]["errorType"] == "Runtime.ImportModuleError"


class WorkerInACall:
    def __init__(self) -> None:
        self._lock = threading.Lock()

    def invoke(self) -> None:
        self._lock.acquire()


def pool(*, invalidate: str = "kill_workers(workers)", worker: type = WorkerInACall) -> ModuleType:
    """Return a module that ends workers as MiniStack does, but for what is changed."""
    runtime = ModuleType("runtime")
    source = f"""
ended = []

def kill_workers(workers):
    ended.extend(workers)

def invalidate_worker(workers):
    {invalidate}
"""
    exec(source, runtime.__dict__)  # noqa: S102
    runtime.__dict__["Worker"] = worker
    return runtime


def test_a_worker_is_ended_when_its_call_is() -> None:
    runtime = pool()
    launcher.finish_calls(runtime)
    idle, busy = WorkerInACall(), WorkerInACall()
    busy.invoke()
    others = set(threading.enumerate())
    runtime.invalidate_worker([idle, busy])
    assert runtime.ended == [idle]
    busy._lock.release()
    for thread in set(threading.enumerate()) - others:
        thread.join()
    assert runtime.ended == [idle, busy]


@pytest.mark.parametrize("changed", [{"invalidate": "workers.clear()"}, {"worker": object}])
def test_another_way_to_end_workers_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(launcher.UnexpectedError, match=r"does not use kill_workers|has no function invoke"):
        launcher.finish_calls(pool(**changed))


def test_a_service_that_says_something_else_of_exceptions_is_refused_and_left_alone() -> None:
    service = ModuleType("service")
    exec("def _execute_function_warm(func, event, request_id): return {}", service.__dict__)  # noqa: S102
    execute = service._execute_function_warm
    with pytest.raises(launcher.UnexpectedError, match=r"does not use Runtime\.HandlerError"):
        launcher.report_exception_classes(service)
    assert service._execute_function_warm is execute


def test_of_two_threads_one_waits_until_the_other_has_registered_its_session() -> None:
    sts = ModuleType("sts")
    inside: list[str] = []
    seen: list[int] = []

    def register(access_key: str, session: dict[str, object]) -> None:
        inside.append(access_key)
        time.sleep(0.02)  # room for another thread to come in
        seen.append(len(inside))
        inside.remove(access_key)

    sts.__dict__["register_session"] = register
    launcher.register_sessions_in_turn(sts)
    threads = [threading.Thread(target=sts.register_session, args=(str(n), {})) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [1, 1, 1]


def test_an_expression_is_read_once_and_its_tokens_cannot_be_changed() -> None:
    dynamodb = ModuleType("dynamodb")
    read: list[str] = []

    def tokenize(expression: str) -> list[str]:
        read.append(expression)
        return expression.split()

    def check(expression: str, slot: str) -> str | None:
        read.append(slot)
        return None if "=" in expression else f"Invalid {slot}"

    dynamodb.__dict__.update(_tokenize=tokenize, _condition_syntax_error=check)
    launcher.read_expressions_once(dynamodb)
    for _ in range(3):
        assert dynamodb._tokenize("PK = :p") == ("PK", "=", ":p")
        assert dynamodb._condition_syntax_error("PK = :p", "KeyConditionExpression") is None
        assert dynamodb._condition_syntax_error("PK :p", "FilterExpression") == "Invalid FilterExpression"
    assert read == ["PK = :p", "KeyConditionExpression", "FilterExpression"]


def test_another_way_to_read_expressions_is_refused() -> None:
    dynamodb = ModuleType("dynamodb")
    dynamodb.__dict__.update(_tokenize=str.split, _condition_syntax_error=str.split)
    with pytest.raises(launcher.UnexpectedError, match="has no function _tokenize"):
        launcher.read_expressions_once(dynamodb)


@pytest.mark.parametrize("mend", [launcher.keep_to_one_port, launcher.report_exception_classes])
def test_a_name_that_is_gone_is_named(mend: object) -> None:
    module = ModuleType("another_version")
    with pytest.raises(launcher.UnexpectedError, match="another_version has no function _"):
        mend(module)  # type: ignore[operator]


def layer(text: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("python/module.py", text)
    return content.getvalue()


def test_a_layer_is_unpacked_once_and_keeps_the_bytecode_that_its_use_has_left(tmp_path: Path) -> None:
    layers = launcher.UnpackedLayers(tmp_path)
    [folder] = layers.folders(layer("x = 1"))
    assert (Path(folder) / "python" / "module.py").read_text() == "x = 1"
    (Path(folder) / "python" / "module.pyc").write_text("compiled")
    assert layers.folders(layer("x = 1")) == [folder]
    assert launcher.UnpackedLayers(tmp_path).folders(layer("x = 1")) == [folder]
    assert (Path(folder) / "python" / "module.pyc").exists()


def test_a_layer_that_nobody_needed_since_the_start_before_is_removed(tmp_path: Path) -> None:
    [old] = launcher.UnpackedLayers(tmp_path).folders(layer("x = 1"))
    [new] = launcher.UnpackedLayers(tmp_path).folders(layer("x = 2"))
    assert Path(old).exists(), "needed before the last start"
    launcher.UnpackedLayers(tmp_path)
    assert not Path(old).exists()
    assert Path(new).exists()


def test_what_a_kill_has_left_half_unpacked_is_no_layer(tmp_path: Path) -> None:
    (tmp_path / "tmp1x2y" / "python").mkdir(parents=True)
    [folder] = launcher.UnpackedLayers(tmp_path).folders(layer("x = 1"))
    assert [path for path in tmp_path.iterdir() if path.is_dir()] == [Path(folder)]


def test_a_layer_that_ministack_does_not_hold_has_no_folder(tmp_path: Path) -> None:
    assert launcher.UnpackedLayers(tmp_path).folders(None) == []


def runtime_of(**changed: object) -> tuple[ModuleType, ModuleType]:
    """Return modules that start workers as MiniStack does, but for what is changed."""

    class Worker:
        def __init__(self, config: dict[str, Any]) -> None:
            self.config = config
            self.unpacked: list[object] = []
            self.environment: dict[str, str] = {}

        def _spawn(self) -> str:
            variables = self.config.get("Environment", {}).get("Variables", {})
            self.environment = {**os.environ, **variables}
            self.unpacked = self.config.get("Layers", [])
            if self.unpacked:
                self.environment["_LAMBDA_LAYERS_DIRS"] = "unpacked anew"
            return "started"

    def _resolve_layer_zip(attachment: object) -> bytes | None:
        return {"one": layer("x = 1"), "two": layer("x = 2")}.get(str(attachment))

    runtime, service = ModuleType("runtime"), ModuleType("service")
    names = {
        "Worker": Worker,
        "_PYTHON_WORKER_SCRIPT": "os.environ['_LAMBDA_LAYERS_DIRS']",
        "_RESERVED_RUNTIME_ENV_VARS": {"AWS_REGION"},
        "_resolve_layer_zip": _resolve_layer_zip,
        **changed,
    }
    for name, value in names.items():
        (service if name == "_resolve_layer_zip" else runtime).__dict__[name] = value
    return runtime, service


def test_a_worker_gets_the_place_of_its_layers_and_unpacks_none(tmp_path: Path) -> None:
    runtime, service = runtime_of()
    launcher.unpack_layers_once(runtime, service, tmp_path)
    config = {
        "Runtime": "python3.13",
        "Layers": ["one", "nobody's", "two"],
        "Environment": {"Variables": {"A": "b"}},
    }
    worker = runtime.Worker(config)

    assert worker._spawn() == "started"

    assert worker.unpacked == []
    one, two = worker.environment["_LAMBDA_LAYERS_DIRS"].split(os.pathsep)
    texts = [(Path(folder) / "python" / "module.py").read_text() for folder in (one, two)]
    assert texts == ["x = 1", "x = 2"]
    assert worker.environment["A"] == "b"
    assert worker.config is config
    assert config["Layers"] == ["one", "nobody's", "two"]


@pytest.mark.parametrize("config", [{"Runtime": "python3.13"}, {"Runtime": "nodejs22.x", "Layers": ["one"]}])
def test_a_worker_without_layers_or_of_another_language_is_started_as_ever(
    tmp_path: Path, config: dict[str, Any]
) -> None:
    runtime, service = runtime_of()
    launcher.unpack_layers_once(runtime, service, tmp_path)
    worker = runtime.Worker(config)
    worker._spawn()
    assert worker.unpacked == config.get("Layers", [])
    assert list(tmp_path.iterdir()) == []


class AnotherWorker:
    def _spawn(self) -> None:
        """Unpack nothing."""


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"Worker": AnotherWorker}, r"Worker\._spawn does not use"),
        ({"Worker": object}, "object has no function _spawn"),
        ({"_resolve_layer_zip": None}, "has no function _resolve_layer_zip"),
        ({"_PYTHON_WORKER_SCRIPT": "os.environ['LAYERS']"}, "does not read _LAMBDA_LAYERS_DIRS"),
        ({"_RESERVED_RUNTIME_ENV_VARS": {"_LAMBDA_LAYERS_DIRS"}}, "does not read _LAMBDA_LAYERS_DIRS"),
    ],
)
def test_a_worker_that_is_started_in_another_way_is_refused_and_left_alone(
    tmp_path: Path, changed: dict[str, object], message: str
) -> None:
    runtime, service = runtime_of(**changed)
    before = getattr(runtime.Worker, "_spawn", None)
    with pytest.raises(launcher.UnexpectedError, match=message):
        launcher.unpack_layers_once(runtime, service, tmp_path)
    assert getattr(runtime.Worker, "_spawn", None) is before


def test_a_server_without_a_shutdown_trigger_is_refused() -> None:
    def save_all(_states: object) -> None: ...
    async def serve(_application: object, _config: object) -> None: ...

    app, server = ModuleType("app"), ModuleType("server")
    app.__dict__["save_all"] = save_all
    server.__dict__["serve"] = serve
    with pytest.raises(launcher.UnexpectedError, match="shutdown_trigger"):
        launcher.end_in_time(app, server, lambda application: application, None, 60)  # type: ignore[arg-type]


def test_a_ministack_that_finds_secrets_or_routes_in_another_way_is_refused() -> None:
    evaluator, app = ModuleType("evaluator"), ModuleType("app")

    def resolve_credential(key: str) -> None: ...

    evaluator.__dict__.update(resolve_credential=resolve_credential, CredentialResolutionError=Exception)
    with pytest.raises(launcher.UnexpectedError, match=r"resolve_credential takes other parameters"):
        launcher.secrets_of(evaluator, "000000000000")
    with pytest.raises(launcher.UnexpectedError, match="app has no function _parse_execute_api_url"):
        launcher.signed_routes_of(app)


def s3_that_writes(tmp_path: Path) -> ModuleType:
    """Return a module that stores an object as MiniStack does: what goes wrong is logged only."""
    s3 = ModuleType("s3")
    source = """
def _atomic_write(fpath, data, *, text=False):
    raise NotImplementedError

def _persist_object(bucket, key, obj):
    try:
        _atomic_write(f"{folder}/{key}", obj["body"])
        obj["body"] = None
    except Exception:
        pass

async def handle_request(key, body):
    _persist_object("bucket", key, {"body": body})
    return 200, {}, b""
"""
    s3.__dict__["folder"] = tmp_path
    exec(source, s3.__dict__)  # noqa: S102
    return s3


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_an_object_that_cannot_be_written_fails_its_own_call_only(tmp_path: Path) -> None:
    s3 = s3_that_writes(tmp_path)
    launcher.fail_unwritten_objects(s3)
    assert (await s3.handle_request("kept", b"content"))[0] == 200
    (tmp_path / "folder").mkdir()
    status, _, body = await s3.handle_request("folder", b"content")
    assert (status, b"InternalError" in body) == (500, True)
    assert (await s3.handle_request("other", b"content"))[0] == 200
    assert names_in(tmp_path) == ["folder", "kept", "other"]
    assert (tmp_path / "kept").read_bytes() == b"content"


def test_another_way_to_write_objects_is_refused(tmp_path: Path) -> None:
    s3 = s3_that_writes(tmp_path)
    s3.__dict__["_persist_object"] = lambda bucket, key: None  # noqa: ARG005
    with pytest.raises(launcher.UnexpectedError, match="_persist_object takes other parameters"):
        launcher.fail_unwritten_objects(s3)
