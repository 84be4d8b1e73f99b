"""The page's files as they are served."""

from __future__ import annotations

import base64
import gzip
from pathlib import Path
from typing import Any

import pytest

from sourcebook.api.page import POLICY, StaticFiles

SCRIPT = b"console.log('x');" * 100


@pytest.fixture
def files(tmp_path: Path) -> StaticFiles:
    (tmp_path / "index.html").write_bytes(b"<!doctype html>")
    (tmp_path / "app-ABC.js").write_bytes(SCRIPT)
    (tmp_path / "app-ABC.js.gz").write_bytes(gzip.compress(SCRIPT))
    (tmp_path / "icon.svg").write_bytes(b"<svg/>")
    (tmp_path / "__init__.py").write_text("secret = 1")
    return StaticFiles(tmp_path)


def get(files: StaticFiles, name: str | None = None, **headers: str) -> dict[str, Any]:
    event: dict[str, Any] = {"headers": {key.replace("_", "-"): value for key, value in headers.items()}}
    if name is not None:
        event["pathParameters"] = {"name": name}
    return files.answer(event)


def body(answer: dict[str, Any]) -> bytes:
    assert answer["isBase64Encoded"] is True
    return base64.b64decode(answer["body"])


def test_the_root_is_the_index_which_is_asked_about_each_time_and_may_load_nothing_from_elsewhere(
    files: StaticFiles,
) -> None:
    answer = get(files)
    assert (answer["statusCode"], body(answer)) == (200, b"<!doctype html>")
    assert answer["headers"]["content-type"] == "text/html; charset=utf-8"
    assert answer["headers"]["cache-control"] == "no-cache"
    assert answer["headers"]["content-security-policy"] == POLICY
    assert "unsafe" not in POLICY
    assert "http" not in POLICY


def test_a_bundle_is_kept_for_ever_and_comes_compressed_to_who_takes_it(files: StaticFiles) -> None:
    plain = get(files, "app-ABC.js")
    assert body(plain) == SCRIPT
    assert "content-encoding" not in plain["headers"]
    packed = get(files, "app-ABC.js", accept_encoding="br, gzip")
    assert packed["headers"]["content-encoding"] == "gzip"
    assert gzip.decompress(body(packed)) == SCRIPT
    assert "immutable" in packed["headers"]["cache-control"]
    assert packed["headers"]["x-content-type-options"] == "nosniff"
    assert get(files, "icon.svg")["headers"]["cache-control"] == "no-cache"


def test_what_is_known_is_not_sent_again(files: StaticFiles) -> None:
    tag = get(files)["headers"]["etag"]
    again = get(files, if_none_match=f"W/{tag}")
    assert (again["statusCode"], body(again)) == (304, b"")
    assert get(files, if_none_match='"other"')["statusCode"] == 200


@pytest.mark.parametrize("name", ["nothing.js", "__init__.py", "../index.html", "app-ABC.js.gz", ""])
def test_there_is_nothing_but_the_files(files: StaticFiles, name: str) -> None:
    answer = get(files, name)
    assert answer["statusCode"] == 404
    assert answer["headers"]["cache-control"] == "no-store"


def test_head_has_no_body_and_other_methods_are_refused(files: StaticFiles) -> None:
    def ask(method: str) -> dict[str, Any]:
        return files.answer({"requestContext": {"http": {"method": method}}})

    head = ask("HEAD")
    assert (head["statusCode"], head["body"], head["headers"]["etag"]) == (
        200,
        "",
        get(files)["headers"]["etag"],
    )
    assert (ask("POST")["statusCode"], ask("POST")["headers"]["allow"]) == (405, "GET, HEAD")
    assert ask("OPTIONS")["statusCode"] == 204
