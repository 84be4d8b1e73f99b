"""What `sourcebook doctor` finds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from sourcebook_cli import doctor
from sourcebook_cli.doctor import Diagnosis
from sourcebook_cli.main import main


@pytest.mark.parametrize(
    ("said", "verdict"),
    [("v20.1.0", "ok"), ("v18.0.0", "ok"), ("v16.20.2", "wrong"), (None, "wrong"), ("nonsense", "wrong")],
)
def test_node_must_be_there_and_new_enough(said: str | None, verdict: str) -> None:
    finding = doctor._node(said)
    assert finding.verdict == verdict
    assert bool(finding.todo) == (verdict == "wrong")


LOCK = """\
apple==1.2 \\
    --hash=sha256:aa
pear==3.0 ; sys_platform == 'nowhere' \\
    --hash=sha256:bb
fig[jam]==2.0 ; python_version >= '3' \\
    --hash=sha256:cc
"""


def test_packages_are_held_against_the_lock_and_those_of_other_machines_are_passed_over() -> None:
    there = {"apple": "1.2", "fig": "2.0"}
    assert doctor._packages(LOCK, there.get) == Diagnosis(
        "Python packages", "ok", "as in requirements/dev.txt"
    )
    found = doctor._packages(LOCK, {"apple": "1.1"}.get)
    assert (found.verdict, found.found) == ("wrong", "apple 1.1, not ==1.2; fig missing, not ==2.0")
    assert "make install" in found.todo


@pytest.mark.parametrize(
    ("status", "verdict"),
    [("UPDATE_COMPLETE", "ok"), ("UPDATE_IN_PROGRESS", "look"), ("UPDATE_ROLLBACK_COMPLETE", "wrong")],
)
def test_the_state_of_a_stack_is_judged(status: str, verdict: str) -> None:
    assert doctor._status(status).verdict == verdict


def test_another_version_is_reported() -> None:
    assert doctor._version("0.1.0", "0.1.0").verdict == "ok"
    assert doctor._version(None, "0.1.0").verdict == "look"
    assert "0.0.9 is deployed" in doctor._version("0.0.9", "0.1.0").found


@pytest.mark.parametrize(
    ("quota", "asked", "verdict"),
    [(1000, 76, "ok"), (1000, 0, "ok"), (100, 76, "ok"), (50, 76, "look"), (50, 0, "look"), (10, 76, "look")],
)
def test_what_the_queues_may_take_is_held_against_the_accounts_quota(
    quota: int, asked: int, verdict: str
) -> None:
    finding = doctor._concurrency(quota, asked)
    assert finding.verdict == verdict
    if verdict == "look":
        assert "service-quotas" in finding.todo
        choices = json.loads(finding.todo[finding.todo.index("{") : finding.todo.index("}") + 1])
        assert set(choices) == {"fetch_concurrency", "analyze_concurrency"}
        assert min(choices.values()) >= 2, "the least that an event source takes"
        assert sum(choices.values()) + doctor.SMALL_QUEUES <= quota


def test_without_a_cloud_the_next_step_is_named(tmp_path: Path) -> None:
    first = next(doctor.local_stack(tmp_path))
    assert (first.verdict, first.todo) == ("look", "`make up` starts it")


def test_a_program_gets_json_and_an_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "local_stack", lambda: [Diagnosis("Stack", "ok", "fine")])
    monkeypatch.setattr(doctor, "machine", lambda: [Diagnosis("Node", "wrong", "not found", "install it")])
    result = CliRunner().invoke(main, ["doctor", "--json"])
    assert result.exit_code == 1
    assert json.loads(result.stdout)[0] == {
        "what": "Node",
        "verdict": "wrong",
        "found": "not found",
        "todo": "install it",
    }
    monkeypatch.setattr(doctor, "machine", list)
    result = CliRunner().invoke(main, ["doctor"])
    assert (result.exit_code, "Nothing is wrong." in result.stdout) == (0, True)


def test_a_profile_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    result = CliRunner().invoke(main, ["--profile", "nobody", "doctor", "--json"])
    assert result.exit_code == 1
    (wrong,) = [finding for finding in json.loads(result.stdout) if finding["what"] == "Credentials"]
    assert "nobody" in wrong["found"]
    result = CliRunner().invoke(main, ["--profile", "nobody", "status"])
    assert result.exit_code == 1
    assert "nobody" in result.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_completion(shell: str) -> None:
    result = CliRunner().invoke(main, ["completion", shell])
    assert result.exit_code == 0
    assert "_SOURCEBOOK_COMPLETE" in result.stdout
