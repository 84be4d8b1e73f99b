from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from sourcebook.errors import InvalidInput
from sourcebook.http.policy import ports_in
from sourcebook_local import process
from sourcebook_local.folder import (
    SAMPLES,
    SERVED_PORTS,
    feeds_in,
    forget,
    remembered,
    start_remembered,
    start_server,
    stop_servers,
)
from sourcebook_local.project import LocalCloudError
from tests.unit.local_servers.conftest import NOW, RSS

REPOSITORY = Path(__file__).resolve().parents[3]
SHARED = Path(os.environ.get("SOURCEBOOK_SHARED", REPOSITORY.parent / "shared"))

ATOM = '<?xml version="1.0"?>\n<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title></feed>'
RDF = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"/>'
JSON_FEED = {"title": "T", "items": [], "version": "https://jsonfeed.org/version/1.1"}


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / ".sourcebook"
    yield place
    stop_servers(place)


def get(url: str) -> tuple[int, bytes]:
    host, path = re.fullmatch(r"http://([^/]+)(/.*)?", url).groups()  # type: ignore[union-attr]
    connection = http.client.HTTPConnection(host, timeout=5)
    try:
        connection.request("GET", path or "/")
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.xml", RSS.encode()),
        ("a.rss", RSS.encode()),
        ("a.atom", ATOM.encode()),
        ("a.rdf", RDF.encode()),
        ("A.XML", ATOM.encode()),
        ("no-suffix", ATOM.encode()),
        ("a.json", json.dumps(JSON_FEED).encode()),
        ("json-without-suffix", json.dumps(JSON_FEED).encode()),
        ("bom.xml", b"\xef\xbb\xbf" + RSS.encode()),
        ("utf16.xml", RSS.replace("1.0", "1.0").encode("utf-16")),
        ("blank.xml", b"\n\n " + RSS.encode()),
        ("prefixed.xml", b'<atom:feed xmlns:atom="http://www.w3.org/2005/Atom"/>'),
        ("comment.xml", b"<!-- <html> --><!-- " + b"x" * 2000 + b"-->" + RSS.encode()),
        ("stylesheet.xml", b'<?xml-stylesheet href="a.xsl"?>' + ATOM.encode()),
        ("cut.xml", RSS.encode()[:120]),
        ("cut.json", b'{"version": "https://jsonfeed.org/version/1", "items": [{'),
    ],
)
def test_a_feed_is_known_by_its_content(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)

    feeds, skipped = feeds_in(tmp_path)

    assert skipped == []
    assert [path.name for path, _ in feeds] == [name]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("README.md", b"<rss>", "suffix"),
        ("page.html", b"<html>", "suffix"),
        ("page.xml", b"<html><body><rss> is a format</body></html>", "root element"),
        ("sitemap.xml", b"<urlset/>", "root element"),
        ("opml.xml", b"<opml version='2.0'/>", "root element"),
        ("notes", b"buy milk", "root element"),
        ("index.json", b'[{"file": "a.xml"}]', "JSON Feed version"),
        ("package.json", b'{"version": "1.0.0"}', "JSON Feed version"),
        ("link.json", b'{"version": "1", "see": "https://jsonfeed.org/version/1"}', "JSON Feed version"),
        ("broken.json", b"[1, 2", "JSON Feed version"),
        ("empty.xml", b"", "empty"),
        (".hidden.xml", RSS.encode(), "hidden"),
    ],
)
def test_another_file_is_skipped_with_the_reason(
    tmp_path: Path, name: str, content: bytes, reason: str
) -> None:
    (tmp_path / name).write_bytes(content)

    feeds, skipped = feeds_in(tmp_path)

    assert feeds == []
    [(path, why)] = skipped
    assert path.name == name
    assert reason in why


def test_folders_and_links_are_skipped(tmp_path: Path) -> None:
    place = tmp_path / "feeds"
    (place / "sub").mkdir(parents=True)
    (tmp_path / "outside.xml").write_text(RSS)
    (place / "link.xml").symlink_to(tmp_path / "outside.xml")

    feeds, skipped = feeds_in(place)

    assert feeds == []
    assert [(path.name, why.split(";")[0]) for path, why in skipped] == [
        ("link.xml", "a symbolic link"),
        ("sub", "not a file"),
    ]


def test_source_ids_come_from_the_names_and_are_unique(tmp_path: Path) -> None:
    names = [
        "006ae196b4d4.xml",
        "My Feed (new).xml",
        "my-feed-new.rss",
        "Phố Sông.xml",
        "港.xml",
        "雲.xml",
        "-.xml",
        f"{'x' * 80}.xml",
        f"{'x' * 81}.xml",
    ]
    for name in names:
        (tmp_path / name).write_text(RSS)

    feeds, _ = feeds_in(tmp_path, "http://127.0.0.1:8460/")
    by_name = {path.name: spec for path, spec in feeds}

    assert by_name["006ae196b4d4.xml"].source_id == "006ae196b4d4"
    assert by_name["My Feed (new).xml"].source_id == "my-feed-new"
    assert by_name["Phố Sông.xml"].source_id == "pho-song"
    ids = [spec.source_id for spec in by_name.values()]
    assert len(set(ids)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9-]{0,62}", source_id) for source_id in ids)
    assert by_name["My Feed (new).xml"].url == "http://127.0.0.1:8460/feeds/My%20Feed%20%28new%29.xml"
    assert [spec.source_id for _, spec in feeds_in(tmp_path)[0]] == [spec.source_id for _, spec in feeds]


def test_a_folder_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="check the path"):
        feeds_in(tmp_path / "missing")


@pytest.mark.skipif(
    not (SHARED / "data" / "feeds").is_dir(), reason=f"the real feeds are not beside the project ({SHARED})"
)
def test_all_real_feeds_are_recognised() -> None:
    feeds, skipped = feeds_in(SHARED / "data" / "feeds")

    assert len(feeds) == 153
    assert {path.name for path, _ in skipped} == {"README.md", "index.json"}


def test_a_started_server_serves_what_was_declared_and_is_not_started_twice(home: Path, folder: Path) -> None:
    server = start_server(home, folder)
    again = start_server(home, folder)
    [(path, spec)] = feeds_in(folder, server.url)[0]

    assert again == server
    assert get(spec.url) == (200, path.read_bytes())
    assert os.getsid(server.pid or 0) == server.pid, "detached from this terminal"
    assert "GET /feeds/news.xml 200" in "".join(log.read_text() for log in (home / "log").iterdir())


def test_a_stopped_server_comes_back_on_its_port(home: Path, folder: Path) -> None:
    first, samples = start_server(home, folder), start_server(home)

    stopped = stop_servers(home)

    assert {server.name for server in stopped} == {str(folder), SAMPLES}
    assert not any(server.running for server in (first, samples))
    with pytest.raises(ConnectionRefusedError):
        get(first.url)
    started, failed = start_remembered(home)
    assert failed == []
    assert {server.name: server.url for server in started} == {str(folder): first.url, SAMPLES: samples.url}
    assert get(first.url)[0] == 200


def test_the_ports_that_functions_may_fetch_from_are_those_of_servers_that_were_not_stopped(
    home: Path, folder: Path
) -> None:
    first, samples = start_server(home, folder), start_server(home)
    assert ports_in(home / SERVED_PORTS) == {first.port, samples.port}
    forget(home, folder)
    assert ports_in(home / SERVED_PORTS) == {samples.port}
    stop_servers(home)
    assert ports_in(home / SERVED_PORTS) == frozenset()


def test_the_list_of_ports_is_made_for_a_server_of_a_release_that_had_none(home: Path, folder: Path) -> None:
    server = start_server(home, folder)
    (home / SERVED_PORTS).unlink()
    assert start_server(home, folder) == server
    assert ports_in(home / SERVED_PORTS) == {server.port}


def test_a_port_that_is_taken_by_now_is_replaced(home: Path, folder: Path) -> None:
    first = start_server(home, folder)
    stop_servers(home)
    with socket.create_server(("127.0.0.1", first.port)):
        second = start_server(home, folder)

    assert second.port != first.port
    assert get(second.url)[0] == 200


def test_a_server_that_died_is_started_again(home: Path, folder: Path) -> None:
    first = start_server(home, folder)
    process.send(first.pid or 0, signal.SIGKILL)
    assert process.wait_until_gone(first.pid or 0, first.identity or "", 5)

    second = start_server(home, folder)

    assert second.pid != first.pid
    assert second.url == first.url
    assert get(second.url)[0] == 200


def test_a_process_that_got_the_pid_of_a_server_is_left_alone(home: Path, folder: Path) -> None:
    server = start_server(home, folder)
    stop_servers(home)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as stranger:
        entry = json.loads((home / "servers.json").read_text())[0]
        entry |= {"pid": stranger.pid, "identity": server.identity}
        (home / "servers.json").write_text(json.dumps([entry]))

        assert stop_servers(home) == []
        assert stranger.poll() is None
        stranger.communicate(b"\n")


def test_the_samples_stay_the_same_for_a_day_and_then_are_a_new_edition(home: Path) -> None:
    first = start_server(home, clock=lambda: NOW)
    stop_servers(home)
    same_day = start_server(home, clock=lambda: NOW + timedelta(hours=20))
    stop_servers(home)
    next_day = start_server(home, clock=lambda: NOW + timedelta(hours=25))

    assert first.now == same_day.now == "2026-11-27T21:00:00Z"
    assert next_day.now == "2026-11-28T22:00:00Z"
    assert b"20261128" in get(f"{next_day.url}/feeds/harbor-ledger.rss")[1]


def test_a_forgotten_folder_is_not_started_again(home: Path, folder: Path) -> None:
    server = start_server(home, folder)

    forget(home, folder)

    assert not server.running
    assert remembered(home) == []
    assert start_remembered(home) == ([], [])


def test_a_folder_that_has_gone_is_reported_and_the_others_start(
    home: Path, folder: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    start_server(home, other)
    start_server(home, folder)
    stop_servers(home)
    other.rmdir()

    started, failed = start_remembered(home)

    assert [server.folder for server in started] == [folder]
    [(name, why)] = failed
    assert name == str(other)
    assert "check the path" in why


def test_a_server_that_does_not_come_up_is_an_error_with_its_log(
    home: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/ls")

    with pytest.raises(LocalCloudError, match="does not answer") as caught:
        start_server(home, folder, timeout=3)

    assert "ls:" in str(caught.value)


def test_a_memory_that_cannot_be_read_says_what_to_do(home: Path) -> None:
    home.mkdir()
    (home / "servers.json").write_text("{")

    with pytest.raises(LocalCloudError, match="delete it"):
        remembered(home)
    (home / "servers.json").unlink()
