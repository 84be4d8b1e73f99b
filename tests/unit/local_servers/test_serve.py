from __future__ import annotations

import gzip
import http.client
import os
import shutil
import signal
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from pathlib import Path

import pytest

from tests.unit.local_servers.conftest import RSS, Answer, RunningServer, Serve, start_server

FEED = "/feeds/news.xml"
KEYS = {"tiingo": "sample-tiingo-key", "finnhub": "sample-finnhub-key"}


@pytest.fixture(scope="module")
def folder_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, RunningServer]]:
    place = tmp_path_factory.mktemp("served") / "feeds"
    place.mkdir()
    with ExitStack() as stack:
        yield place, start_server(stack, "--folder", place)


@pytest.fixture
def folder(folder_server: tuple[Path, RunningServer]) -> Path:
    """The folder of the one process for all tests, as new."""
    place, _ = folder_server
    for path in place.parent.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    place.mkdir()
    (place / "news.xml").write_text(RSS.format("word " * 200))
    return place


@pytest.fixture
def server(folder: Path, folder_server: tuple[Path, RunningServer]) -> RunningServer:
    """The one process for all tests; each begins with no trouble staged and nothing counted."""
    _, running = folder_server
    running.ask("/_control", method="DELETE")
    running.ask("/_stats", method="DELETE")
    return running


def raw(port: int, request: bytes) -> bytes:
    """Send bytes that no well-behaved client would send, and read until the server closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        chunks = []
        while chunk := connection.recv(65536):
            chunks.append(chunk)
        return b"".join(chunks)


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def test_a_feed_comes_with_validators_and_its_media_type(server: RunningServer, folder: Path) -> None:
    os.utime(folder / "news.xml", (1_790_000_000, 1_790_000_000))
    answer = server.ask(FEED)

    assert answer.status == 200
    assert answer.body == (folder / "news.xml").read_bytes()
    assert answer.headers["content-type"] == "application/rss+xml"
    assert answer.headers["etag"].startswith('"')
    assert parsedate_to_datetime(answer.headers["last-modified"]).timestamp() == 1_790_000_000


def test_an_unchanged_feed_is_not_sent_again(server: RunningServer, folder: Path) -> None:
    first = server.ask(FEED)
    etag, modified = first.headers["etag"], first.headers["last-modified"]
    earlier = format_datetime(parsedate_to_datetime(modified) - timedelta(seconds=1), usegmt=True)

    by_tag = server.ask(FEED, headers={"If-None-Match": etag})
    by_weak_tag = server.ask(FEED, headers={"If-None-Match": f'"other", W/{etag}'})
    by_time = server.ask(FEED, headers={"If-Modified-Since": modified})
    older = server.ask(FEED, headers={"If-Modified-Since": earlier})
    other_tag_wins_over_time = server.ask(
        FEED, headers={"If-None-Match": '"other"', "If-Modified-Since": modified}
    )
    nonsense = server.ask(FEED, headers={"If-Modified-Since": "last week"})

    assert [by_tag.status, by_weak_tag.status, by_time.status] == [304, 304, 304]
    assert by_tag.body == b""
    assert by_tag.headers["etag"] == etag
    assert [older.status, other_tag_wins_over_time.status, nonsense.status] == [200, 200, 200]


def test_a_changed_file_is_seen_at_the_next_poll(server: RunningServer, folder: Path) -> None:
    first = server.ask(FEED)

    (folder / "news.xml").write_text(RSS.format("something else"))
    second = server.ask(FEED, headers={"If-None-Match": first.headers["etag"]})

    assert second.status == 200
    assert b"something else" in second.body
    assert second.headers["etag"] != first.headers["etag"]


def test_gzip_is_sent_only_to_who_asks_and_has_a_tag_of_its_own(server: RunningServer, folder: Path) -> None:
    plain = server.ask(FEED)
    packed = server.ask(FEED, headers={"Accept-Encoding": "br, gzip;q=0.8"})
    refused = server.ask(FEED, headers={"Accept-Encoding": "gzip;q=0"})
    again = server.ask(FEED, headers={"Accept-Encoding": "gzip", "If-None-Match": packed.headers["etag"]})

    assert packed.headers["content-encoding"] == "gzip"
    assert len(packed.body) < len(plain.body)
    assert gzip.decompress(packed.body) == plain.body
    assert packed.headers["etag"] != plain.headers["etag"]
    assert packed.headers["vary"] == "Accept-Encoding"
    assert "content-encoding" not in refused.headers
    assert again.status == 304


def test_head_sends_the_length_and_no_body(server: RunningServer, folder: Path) -> None:
    connection = server.connect()

    head = server.ask(FEED, method="HEAD", connection=connection)
    # A body sent by mistake would be read as the beginning of the next answer.
    after = server.ask(FEED, connection=connection)
    connection.close()

    assert head.status == 200
    assert head.body == b""
    assert int(head.headers["content-length"]) == len(after.body)


def test_one_connection_serves_many_requests(server: RunningServer, folder: Path) -> None:
    connection = server.connect()
    server.ask(FEED, connection=connection)
    own_port = connection.sock.getsockname()[1]

    statuses = [server.ask(FEED, connection=connection).status for _ in range(5)]

    assert statuses == [200] * 5
    assert connection.sock.getsockname()[1] == own_port
    connection.close()


def test_a_client_that_asks_for_the_end_of_the_connection_gets_it(
    server: RunningServer, folder: Path
) -> None:
    answer = raw(server.port, b"GET /feeds/news.xml HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")

    assert status_of(answer) == 200
    assert b"Connection: close" in answer


def test_the_index_lists_the_feeds_and_nothing_else(server: RunningServer, folder: Path) -> None:
    (folder / "a <b>.rss").write_text(RSS)
    (folder / "README.md").write_text("no feed")
    page = server.ask("/").body.decode()

    assert "2 feeds" in page
    assert 'href="/feeds/a%20%3Cb%3E.rss">a &lt;b&gt;.rss<' in page
    assert "README" not in page


@pytest.mark.parametrize(
    "target",
    [
        "/feeds/../secret.xml",
        "/feeds/%2e%2e/secret.xml",
        "/feeds/..%2fsecret.xml",
        "/feeds/%2e%2e%2fsecret.xml",
        "/feeds/..%5csecret.xml",
        "/../secret.xml",
        "/feeds//etc/passwd",
        "/feeds/%2fetc%2fpasswd",
        "/feeds/news.xml%00.rss",
        "/feeds/sub/inner.xml",
        "/feeds/link.xml",
        "/feeds/.hidden.xml",
        "/feeds/sub",
        "/feeds/pipe.xml",
        "/feeds/",
        "/feeds/..",
    ],
)
def test_nothing_but_the_files_of_the_folder_is_served(
    server: RunningServer, folder: Path, target: str
) -> None:
    (folder.parent / "secret.xml").write_text(RSS)
    (folder / "link.xml").symlink_to(folder.parent / "secret.xml")
    (folder / ".hidden.xml").write_text(RSS)
    (folder / "sub").mkdir()
    (folder / "sub" / "inner.xml").write_text(RSS)
    os.mkfifo(folder / "pipe.xml")
    answer = raw(
        server.port, f"GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
    )

    assert status_of(answer) == 404
    assert b"<rss" not in answer


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/2\r\nHost: localhost\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
        (b"GET / HTT", 400),
        (b"GET / HTTP/1.1\r\nX: " + b"x" * 40_000 + b"\r\n\r\n", 431),
        (b"POST /_control HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", 413),
        (b"POST /_control HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
        (b"POST /_control HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411),
        (b"POST / HTTP/1.0\r\n\r\n", 405),
        (b"GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", 421),
        (b"GET /nothing HTTP/1.0\r\n\r\n", 404),
    ],
)
def test_a_bad_request_gets_its_status_and_harms_nobody(
    samples_server: RunningServer, request_bytes: bytes, status: int
) -> None:
    assert status_of(raw(samples_server.port, request_bytes)) == status
    assert samples_server.ask("/").status == 200


def test_requests_are_counted_by_path_and_kind(server: RunningServer, folder: Path) -> None:
    first = server.ask(FEED + "?token=secret")
    server.ask(FEED, headers={"If-None-Match": first.headers["etag"]})
    server.ask(FEED, headers={"Accept-Encoding": "gzip"})
    server.ask("/feeds/missing.xml")

    stats = server.stats(FEED)

    assert stats == {
        "requests": 3,
        "conditional": 1,
        "not_modified": 1,
        "gzip": 1,
        "bytes": stats["bytes"],
        "by_status": {"200": 2, "304": 1},
    }
    assert stats["bytes"] > len(first.body)
    assert server.stats("/feeds/missing.xml")["by_status"] == {"404": 1}
    server.ask("/_stats", method="DELETE")
    assert server.ask("/_stats").json["paths"] == {}


def test_many_requests_at_once_are_all_answered(server: RunningServer, folder: Path) -> None:
    with ThreadPoolExecutor(40) as pool:
        statuses = list(pool.map(lambda _: server.ask(FEED).status, range(300)))

    assert statuses == [200] * 300
    assert server.stats(FEED)["requests"] == 300


def test_sigterm_lets_the_request_in_work_end_and_closes_idle_connections(
    serve: Serve, folder: Path, tmp_path: Path
) -> None:
    pid_file = tmp_path / "pid"
    server = serve("--folder", folder, "--pid-file", pid_file)
    assert int(pid_file.read_text()) == server.process.pid
    idle = server.connect()
    server.ask(FEED, connection=idle)
    server.ask("/_control", method="POST", body={"rules": [{"path": FEED, "delay": 0.6}]})
    answers = []
    asking = threading.Thread(target=lambda: answers.append(server.ask(FEED).status))
    asking.start()
    time.sleep(0.25)

    began = time.monotonic()
    server.process.send_signal(signal.SIGTERM)
    asking.join()

    assert server.process.wait(timeout=5) == 0
    assert time.monotonic() - began < 4
    assert answers == [200]
    assert not pid_file.exists()
    idle.close()


def test_a_query_never_reaches_the_log(serve: Serve, folder: Path, tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    server = serve("--folder", folder, "--log", log)

    server.ask(FEED + "?token=very-secret")
    server.ask("/feeds/a%0Ab.xml")

    lines = log.read_text()
    assert "GET /feeds/news.xml 200" in lines
    assert "GET /feeds/a%0Ab.xml 404" in lines
    assert "secret" not in lines


def test_a_taken_port_is_an_error_that_says_what_to_check(
    samples_server: RunningServer, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    from sourcebook_local.serve import main

    assert main(["--port", str(samples_server.port), "--folder", str(folder)]) == 1
    assert "check the folder and the port" in capsys.readouterr().err


def test_trouble_is_staged_as_often_as_asked_for(samples_server: RunningServer) -> None:
    path = "/feeds/harbor-ledger.rss"
    rule = {"path": "/feeds/harbor*", "times": 2, "status": 429, "retry_after": 30}

    staged = samples_server.ask("/_control", method="POST", body={"rules": [rule]})
    answers = [samples_server.ask(path) for _ in range(3)]

    assert staged.json["rules"][0]["retry_after"] == "30"
    assert [answer.status for answer in answers] == [429, 429, 200]
    assert answers[0].headers["retry-after"] == "30"
    assert samples_server.stats(path)["by_status"] == {"429": 2, "200": 1}
    assert samples_server.ask("/_control").json["rules"] == []


def test_redirects_other_bodies_and_slow_answers_can_be_staged(samples_server: RunningServer) -> None:
    rules = [
        {"path": "/feeds/a", "status": 301, "location": "/feeds/harbor-ledger.rss"},
        {"path": "/feeds/b", "status": 200, "body": "<html>parked</html>"},
        {"path": "/feeds/c", "status": 204},
        {"path": "/feeds/pho-song-tin.atom", "delay": 0.3},
    ]
    samples_server.ask("/_control", method="POST", body={"rules": rules})

    moved, parked, empty = (samples_server.ask(f"/feeds/{name}") for name in "abc")
    began = time.monotonic()
    slow = samples_server.ask("/feeds/pho-song-tin.atom")

    assert (moved.status, moved.headers["location"]) == (301, "/feeds/harbor-ledger.rss")
    assert (parked.status, parked.body) == (200, b"<html>parked</html>")
    assert parked.headers["content-type"].startswith("text/html")
    assert "etag" not in parked.headers
    assert (empty.status, empty.body) == (204, b"")
    assert slow.status == 200
    assert time.monotonic() - began >= 0.3


def test_broken_connections_can_be_staged(samples_server: RunningServer) -> None:
    path = "/feeds/harbor-ledger.rss"
    samples_server.ask("/_control", method="POST", body={"rules": [{"path": path, "drop": True}]})
    with pytest.raises(http.client.RemoteDisconnected):
        samples_server.ask(path)

    samples_server.ask("/_control", method="POST", body={"rules": [{"path": path, "cut": 100}]})
    with pytest.raises(http.client.IncompleteRead) as caught:
        samples_server.ask(path)

    assert len(caught.value.partial) == 100
    assert samples_server.ask(path).status == 200
    assert samples_server.stats(path)["by_status"] == {"dropped": 1, "200": 2}


def test_staged_trouble_ends_on_request(samples_server: RunningServer) -> None:
    body = {"rules": [{"path": "/*", "times": None, "status": 503}], "edited": True}
    samples_server.ask("/_control", method="POST", body=body)
    assert [samples_server.ask("/").status for _ in range(3)] == [503] * 3

    samples_server.ask("/_control", method="DELETE")

    assert samples_server.ask("/").status == 200
    assert b"fingerprinting" not in samples_server.ask("/feeds/circuit-review.atom").body


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"rules": [{"path": "feeds"}]}, "rules.0.path"),
        ({"rules": [{"path": "/", "times": 0}]}, "rules.0.times"),
        ({"rules": [{"path": "/", "status": 99}]}, "rules.0.status"),
        ({"rules": [{"path": "/", "delay": 1e9}]}, "rules.0.delay"),
        ({"rules": [{"path": "/", "location": "a\r\nSet-Cookie: b"}]}, "rules.0.location"),
        ({"rules": [{"path": "/", "stauts": 500}]}, "rules.0.stauts"),
        ({"rules": [{}]}, "rules.0.path"),
        ({"rules": {}}, "rules"),
        ({"edited": "perhaps"}, "edited"),
        ({"unknown": 1}, "unknown"),
        ([], "body"),
    ],
)
def test_a_wrong_control_names_its_field_and_changes_nothing(
    samples_server: RunningServer, body: object, named: str
) -> None:
    answer = samples_server.ask("/_control", method="POST", body=body)

    assert answer.status == 400
    assert answer.json["error"].startswith(f"{named}: ")
    assert samples_server.ask("/_control").json["rules"] == []


def test_a_web_page_cannot_stage_trouble(samples_server: RunningServer) -> None:
    answer = samples_server.ask(
        "/_control",
        method="POST",
        body={"rules": [{"path": "/", "status": 500}]},
        headers={"Content-Type": "text/plain"},
    )

    assert answer.status == 400
    assert "application/json" in answer.json["error"]


def test_a_removed_file_is_missing_and_the_others_stay(server: RunningServer, folder: Path) -> None:
    (folder / "gone.xml").write_text(RSS)
    assert server.ask("/feeds/gone.xml").status == 200

    (folder / "gone.xml").unlink()

    assert server.ask("/feeds/gone.xml").status == 404
    assert server.ask(FEED).status == 200


def test_samples_keep_their_validators_between_polls(samples_server: RunningServer) -> None:
    path = "/feeds/circuit-review.atom"
    first = samples_server.ask(path)
    assert samples_server.ask(path, headers={"If-None-Match": first.headers["etag"]}).status == 304

    samples_server.ask("/_control", method="POST", body={"edited": True})
    edited = samples_server.ask(path, headers={"If-None-Match": first.headers["etag"]})

    assert edited.status == 200
    assert edited.headers["last-modified"] != first.headers["last-modified"]
    other = "/feeds/harbor-ledger.rss"
    assert (
        samples_server.ask(other, headers={"If-None-Match": samples_server.ask(other).headers["etag"]}).status
        == 304
    )


@pytest.mark.parametrize(
    ("path", "given"),
    [
        ("/tiingo/news?token={tiingo}", {}),
        ("/tiingo/news", {"Authorization": "Token {tiingo}"}),
        ("/finnhub/api/v1/company-news?symbol=NWSX&from=2026-11-20&to=2026-11-27&token={finnhub}", {}),
        (
            "/finnhub/api/v1/company-news?symbol=NWSX&from=2026-11-20&to=2026-11-27",
            {"X-Finnhub-Token": "{finnhub}"},
        ),
    ],
)
def test_the_apis_take_their_key_in_either_place_and_no_other_key(
    samples_server: RunningServer, path: str, given: dict[str, str]
) -> None:
    def ask(keys: dict[str, str]) -> Answer:
        headers = {name: value.format(**keys) for name, value in given.items()}
        return samples_server.ask(path.format(**keys), headers=headers)

    right, wrong = ask(KEYS), ask(dict.fromkeys(KEYS, "wrong"))
    missing = samples_server.ask(path.replace("token=", "ignored="))

    assert right.status == 200
    assert right.json
    assert [wrong.status, missing.status] == [401, 401]


def test_tiingo_filters_pages_and_has_the_documented_shape(samples_server: RunningServer) -> None:
    def ask(query: str) -> list[dict[str, object]]:
        answer = samples_server.ask(f"/tiingo/news?token={KEYS['tiingo']}&{query}")
        assert answer.status == 200
        found: list[dict[str, object]] = answer.json
        return found

    everything = ask("")
    some = ask("tickers=nwsx,HLCR")
    paged = ask("limit=4") + ask("limit=4&offset=4") + ask("limit=100&offset=8")
    today = ask("startDate=2026-11-27&endDate=2026-11-27")

    fields = {"id", "title", "url", "description", "publishedDate", "crawlDate", "source", "tickers", "tags"}
    assert all(set(article) == fields for article in everything)
    assert len({article["id"] for article in everything}) == len(everything) == 15
    dates = [str(article["publishedDate"]) for article in everything]
    assert dates == sorted(dates, reverse=True)
    assert paged == everything
    assert {ticker for article in some for ticker in article["tickers"]} == {"nwsx", "hlcr"}  # type: ignore[attr-defined]
    assert 0 < len(today) < len(everything)
    assert all(str(article["publishedDate"]).startswith("2026-11-27") for article in today)


def test_finnhub_answers_for_one_symbol_and_has_the_documented_shape(samples_server: RunningServer) -> None:
    def ask(symbol: str, start: str = "2026-11-20") -> list[dict[str, object]]:
        query = f"symbol={symbol}&from={start}&to=2026-11-27&token={KEYS['finnhub']}"
        found: list[dict[str, object]] = samples_server.ask(f"/finnhub/api/v1/company-news?{query}").json
        return found

    northwind, halcyon = ask("NWSX"), ask("HLCR")

    fields = {"category", "datetime", "headline", "id", "image", "related", "source", "summary", "url"}
    assert all(set(article) == fields for article in northwind)
    assert {article["related"] for article in northwind} == {"NWSX"}
    assert {a["id"] for a in northwind} & {a["id"] for a in halcyon}, "one article of two companies"
    moments = [datetime.fromtimestamp(int(str(a["datetime"])), UTC) for a in northwind]
    assert moments == sorted(moments, reverse=True)
    assert 0 < len(ask("NWSX", "2026-11-27")) < len(northwind)
    assert ask("NOPE") == []


@pytest.mark.parametrize(
    ("path", "status", "named"),
    [
        ("/tiingo/news?token={tiingo}&startDate=yesterday", 400, "startDate"),
        ("/tiingo/news?token={tiingo}&limit=5000", 400, "limit"),
        ("/tiingo/news?token={tiingo}&offset=-1", 400, "offset"),
        ("/finnhub/api/v1/company-news?token={finnhub}&symbol=A&from=x&to=2026-11-27", 400, "from"),
        ("/finnhub/api/v1/company-news?token={finnhub}&from=2026-11-20&to=2026-11-27", 422, "symbol"),
    ],
)
def test_a_wrong_api_parameter_is_named(
    samples_server: RunningServer, path: str, status: int, named: str
) -> None:
    answer = samples_server.ask(path.format(**KEYS))

    assert answer.status == status
    assert named in answer.json["error"]


def test_a_folder_has_no_apis_and_is_edited_in_its_files(server: RunningServer, folder: Path) -> None:
    assert server.ask("/tiingo/news").status == 404
    refused = server.ask("/_control", method="POST", body={"edited": True})
    assert refused.status == 400
    assert "edit its files" in refused.json["error"]
