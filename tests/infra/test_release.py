"""The files of a release."""

from __future__ import annotations

import gzip
import io
import re
import tarfile

import pytest

from infra.release import packed
from tests.templates import ROOT

pytestmark = pytest.mark.infra


def test_an_archive_depends_on_nothing_but_its_files() -> None:
    files = [("b/run", b"#!/bin/sh\n", True), ("a", b"text", False)]
    made = packed(files, "thing-1.0", 1_790_000_000)
    assert made == packed(reversed(files), "thing-1.0", 1_790_000_000)
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(made))) as tar:
        entries = {one.name: (one.mtime, one.mode, one.uid, one.uname) for one in tar}
    assert entries == {
        "thing-1.0/a": (1_790_000_000, 0o644, 0, ""),
        "thing-1.0/b/run": (1_790_000_000, 0o755, 0, ""),
    }


def test_the_workflow_publishes_what_make_release_builds_under_the_version_s_tag() -> None:
    workflow = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
    commands = set(re.findall(r"run: make (\S+)", workflow))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), flags=re.MULTILINE))
    assert commands == {"test", "upgrade", "release"}
    assert commands <= targets
    assert "dist/*" in workflow
