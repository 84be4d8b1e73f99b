from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

import pytest

from sourcebook_local import deploy
from sourcebook_local.cloud import LocalCloud
from sourcebook_local.project import LocalCloudError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CONTEXT = {"target": "local"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("infra/stack.py", "lambdas/api/handler.py", "layers/core/requirements.txt", "README.md"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (tmp_path / "app.py").write_text("app")
    return tmp_path


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "app.py").write_text("changed"),
        lambda root: (root / "infra" / "stack.py").write_text("changed"),
        lambda root: (root / "layers" / "core" / "requirements.txt").write_text("changed"),
        lambda root: (root / "lambdas" / "api" / "new.py").write_text(""),
        lambda root: (root / "lambdas" / "api" / "handler.py").rename(root / "lambdas" / "api" / "other.py"),
        lambda root: (root / "lambdas" / "api" / "handler.py").unlink(),
    ],
    ids=["app", "stack", "requirements", "new file", "renamed file", "removed file"],
)
def test_whatever_shapes_the_stacks_changes_the_hash(project: Path, change: Callable[[Path], object]) -> None:
    before = deploy.content_hash(project, CONTEXT)
    change(project)
    assert deploy.content_hash(project, CONTEXT) != before


def test_the_context_changes_the_hash(project: Path) -> None:
    before = deploy.content_hash(project, CONTEXT)
    assert deploy.content_hash(project, CONTEXT | {"contact": "me@example.org"}) != before


def test_what_is_compiled_hidden_or_mere_text_leaves_the_hash(project: Path) -> None:
    before = deploy.content_hash(project, CONTEXT)
    (project / "README.md").write_text("changed")
    (project / "infra" / "__pycache__").mkdir()
    (project / "infra" / "__pycache__" / "stack.cpython-311.pyc").write_text("compiled")
    (project / "infra" / ".stack.py.swp").write_text("being edited")
    assert deploy.content_hash(project, CONTEXT) == before


def test_the_stacks_of_an_assembly_are_named(tmp_path: Path) -> None:
    artifacts = {
        "Data": {"type": "aws:cloudformation:stack", "properties": {"stackName": "SourcebookData"}},
        "Pipeline": {"type": "aws:cloudformation:stack", "properties": {}},
        "Data.assets": {"type": "cdk:asset-manifest"},
    }
    (tmp_path / "manifest.json").write_text(json.dumps({"artifacts": artifacts}))
    assert deploy.stack_names(tmp_path) == ["SourcebookData", "Pipeline"]


def test_a_missing_cdk_says_how_to_get_it(project: Path, tmp_path: Path) -> None:
    cloud = LocalCloud(tmp_path / "home")
    with pytest.raises(LocalCloudError, match="make install"):
        deploy.synthesize(cloud, tmp_path / "assembly", context=CONTEXT, project=project)


def test_a_failed_synthesis_shows_the_end_of_the_output_and_is_not_taken_for_done(
    project: Path, tmp_path: Path
) -> None:
    cloud = LocalCloud(tmp_path / "home")
    cloud.home.mkdir()
    (cloud.home / "cloud.json").write_text('{"port": 4610}')
    cdk = project / "node_modules" / ".bin" / "cdk"
    cdk.parent.mkdir(parents=True)
    cdk.write_text("#!/bin/sh\necho 'no such construct: Tabel'\nexit 1\n")
    cdk.chmod(0o755)
    for _ in range(2):
        with pytest.raises(LocalCloudError, match="no such construct: Tabel"):
            deploy.synthesize(cloud, tmp_path / "assembly", context=CONTEXT, project=project)


@pytest.fixture
def cloud(project: Path, tmp_path: Path) -> LocalCloud:
    """A cloud that is not there, and a CDK that writes an assembly where it is told to."""
    cdk = project / "node_modules" / ".bin" / "cdk"
    cdk.parent.mkdir(parents=True)
    cdk.write_text(
        '#!/bin/sh\nmkdir -p "$4"\necho \'{"artifacts": {}}\' > "$4/manifest.json"\n'
        'echo \'{"files": {"x": {"source": {"path": "asset.used.zip"}}}}\' > "$4/Data.assets.json"\n'
    )
    cdk.chmod(0o755)
    cloud = LocalCloud(tmp_path / "home")
    cloud.home.mkdir()
    (cloud.home / "cloud.json").write_text('{"port": 4610}')
    return cloud


def test_an_unchanged_project_is_synthesized_once_and_stale_assets_go(
    cloud: LocalCloud, project: Path, tmp_path: Path
) -> None:
    assembly = tmp_path / "assembly"
    (assembly / "asset.stale").mkdir(parents=True)
    (assembly / "asset.used.zip").write_text("")
    assert deploy.synthesize(cloud, assembly, context=CONTEXT, project=project)
    assert not deploy.synthesize(cloud, assembly, context=CONTEXT, project=project)
    assert sorted(path.name for path in assembly.glob("asset.*")) == ["asset.used.zip"]
    (project / "app.py").write_text("changed")
    assert deploy.synthesize(cloud, assembly, context=CONTEXT, project=project)


def test_nobody_makes_an_assembly_anew_while_others_deploy_from_it(
    cloud: LocalCloud, project: Path, tmp_path: Path
) -> None:
    assembly = tmp_path / "assembly"
    made = partial(deploy._made, assembly=assembly, context=CONTEXT, project=project, say=print)
    with ThreadPoolExecutor(1) as pool:
        with made(cloud) as (first, synthesized):
            assert synthesized
            assert first == deploy.content_hash(project, CONTEXT)
            with made(cloud) as again:
                assert again == (first, False), "a second deployment reads it at the same time"
            (project / "app.py").write_text("changed")
            newer = pool.submit(deploy.synthesize, cloud, assembly, context=CONTEXT, project=project)
            with pytest.raises(TimeoutError):
                newer.result(timeout=0.5)
            assert deploy._stamp(assembly).read_text() == first
        assert newer.result(timeout=20)
    assert deploy._stamp(assembly).read_text() == deploy.content_hash(project, CONTEXT) != first
