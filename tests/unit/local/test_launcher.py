from __future__ import annotations

import ast
import re
import sys
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


@pytest.mark.parametrize("mend", [launcher.keep_to_one_port, launcher.report_exception_classes])
def test_a_name_that_is_gone_is_named(mend: object) -> None:
    module = ModuleType("another_version")
    arguments = (module,) if mend is launcher.keep_to_one_port else (module, module)
    with pytest.raises(launcher.UnexpectedError, match="another_version has no _"):
        mend(*arguments)  # type: ignore[operator]


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
