from __future__ import annotations

import ast
import io
import re
import sys
import threading
import time
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from sourcebook_local import launcher
from sourcebook_local.project import ROOT


def test_the_pinned_version_is_the_one_that_gets_installed() -> None:
    for name in ("cloud.in", "cloud.txt"):
        text = (ROOT / "requirements" / name).read_text()
        assert re.findall(r"^ministack==(\S+)", text, re.MULTILINE) == [launcher.PINNED_VERSION], name


def test_it_imports_nothing_that_ministacks_environment_may_not_have() -> None:
    tree = ast.parse(Path(launcher.__file__).read_text())
    imported = {
        alias.name if isinstance(node, ast.Import) else node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert {str(name).split(".")[0] for name in imported} <= sys.stdlib_module_names


@pytest.mark.parametrize("text", ["nothing of it", "old and old"])
def test_a_text_that_is_not_there_exactly_once_is_not_replaced(text: str) -> None:
    with pytest.raises(launcher.UnexpectedError, match="somewhere should contain 'old' once"):
        launcher.replaced_once(text, "old", "new", "somewhere")


def test_an_unexpected_worker_script_is_refused_and_left_alone() -> None:
    runtime, service = ModuleType("runtime"), ModuleType("service")
    runtime.__dict__["_PYTHON_WORKER_SCRIPT"] = "print('another version')"
    with pytest.raises(launcher.UnexpectedError, match="the Python worker's script"):
        launcher.report_exception_classes(runtime, service)
    assert runtime.__dict__["_PYTHON_WORKER_SCRIPT"] == "print('another version')"


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
    with pytest.raises(launcher.UnexpectedError, match="_tokenize or _condition_syntax_error"):
        launcher.read_expressions_once(dynamodb)


@pytest.mark.parametrize("mend", [launcher.keep_to_one_port, launcher.report_exception_classes])
def test_a_name_that_is_gone_is_named(mend: object) -> None:
    module = ModuleType("another_version")
    arguments = (module,) if mend is launcher.keep_to_one_port else (module, module)
    with pytest.raises(launcher.UnexpectedError, match="another_version has no _"):
        mend(*arguments)  # type: ignore[operator]


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


class AnotherWorker:
    def _spawn(self) -> None:
        """Unpack nothing."""


def test_a_worker_that_unpacks_in_another_way_is_refused_and_left_alone(tmp_path: Path) -> None:
    runtime = ModuleType("runtime")
    runtime.__dict__["Worker"] = AnotherWorker
    spawn = AnotherWorker._spawn
    with pytest.raises(launcher.UnexpectedError, match=r"Worker\._spawn should contain"):
        launcher.unpack_layers_once(runtime, tmp_path)
    assert AnotherWorker._spawn is spawn


def test_a_server_without_a_shutdown_trigger_is_refused() -> None:
    def save_all(_states: object) -> None: ...
    def states() -> dict[str, object]:
        return {}

    async def serve(_application: object, _config: object) -> None: ...

    app, server = ModuleType("app"), ModuleType("server")
    app.__dict__.update(save_all=save_all, _build_persistence_save_dict=states)
    server.__dict__["serve"] = serve
    with pytest.raises(launcher.UnexpectedError, match="shutdown_trigger"):
        launcher.end_in_time(app, server)
