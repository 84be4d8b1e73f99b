"""Feeds from the network to the stored record, beside the feed reader `reader` in one run.

    python bench/ingest_feeds.py CORPUS [--feeds 200] [--rounds 3] [--reader PYTHON] [--peers FOLDER]
                                 [--json FILE]

CORPUS is a folder of feed files; a server on loopback gives out as many of them as asked, with ETag,
Last-Modified and 304. PYTHON is an interpreter that has `reader` (a virtual environment of its own); without
one only our figures are printed.

What is measured of ours is the function `fetch_sources` itself, called with the messages that dispatch would
send: fetching, parsing, deduplication, storing, announcing, its log and its metrics. **Our storage is stubbed
at the HTTP boundary**: a second server on loopback, in a process of its own, answers in place of DynamoDB,
SNS and EventBridge. It keeps what is put, honours the condition of a create and answers at once. So all that
this project and boto3 do is in the figures, and the work of DynamoDB is not; `reader` keeps its records in
SQLite, whose work is in its figures. Latencies of a real table are in none.

Beside them run, where they are to be had: `bench_naive.py` of FOLDER (by default `bench` beside the folder
that CORPUS is in), httpx with feedparser and SQLite, started by PYTHON; newsboat, a reader in C++ with SQLite
that looks for no duplicates; and our own fetching and parsing without anything that comes after them: the
least that the first pass can take.

CPU seconds are those of the measured process, of the passes only: not of its start, but for newsboat, which
is started for each pass (less than 0.05 s). They take turns, and
the best of the rounds counts for each. The first pass meets new feeds, the second unchanged ones.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import io
import json
import os
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
READER = "reader"
NAIVE = "httpx + feedparser"
NEWSBOAT = "newsboat"
OURS = "sourcebook"
FLOOR = "fetch and parse"
NOT_FEEDS = frozenset(("index.json", "README.md"))
FEEDS_IN_MESSAGE = 20
FIRST_PASS, UNCHANGED_PASS = 3, 6
"""Goals: reader's CPU seconds ÷ ours."""
REGION = "us-east-1"
# Linux has all of 127.0.0.0/8; elsewhere there is one loopback address.
HOSTS = [f"127.0.0.{n}" for n in range(1, FEEDS_IN_MESSAGE + 1)] if sys.platform == "linux" else ["127.0.0.1"]


def feed_urls(feeds: str, count: int) -> list[str]:
    """Return the feeds that all readers are given: of several hosts, as in life."""
    return [f"{feeds.replace(HOSTS[0], HOSTS[n % len(HOSTS)])}/feed/{n}" for n in range(count)]


# --- the two servers -----------------------------------------------------------------------------


class Http(asyncio.Protocol):
    """Just enough of HTTP/1.1 with connections that are kept."""

    def __init__(self, answer: Callable[[str, dict[str, str], bytes], bytes]) -> None:
        self.answer = answer
        self.received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport

    def data_received(self, data: bytes) -> None:
        self.received += data
        while (end := self.received.find(b"\r\n\r\n")) >= 0:
            first, *lines = self.received[:end].decode("latin-1").split("\r\n")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
            length = int(headers.get("content-length", 0))
            if len(self.received) < end + 4 + length:
                if headers.get("expect") == "100-continue":
                    self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                return
            body = self.received[end + 4 : end + 4 + length]
            self.received = self.received[end + 4 + length :]
            self.transport.write(self.answer(first.split(" ")[1], headers, body))


def http_answer(status: int, body: bytes = b"", headers: Mapping[str, str] | None = None) -> bytes:
    lines = [f"HTTP/1.1 {status} Any", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


def feeds_server(corpus: str, count: str) -> Callable[[str, dict[str, str], bytes], bytes]:
    """Return a server of the corpus, spread evenly, its files repeated if there are too few."""
    files = [path for path in sorted(Path(corpus).iterdir()) if path.is_file() and path.name not in NOT_FEEDS]
    bodies = [body for body in (path.read_bytes() for path in files) if body.lstrip()[:1] != b"{"]
    wanted = int(count)
    chosen = (bodies[:: max(1, len(bodies) // wanted)] + bodies * (wanted // len(bodies) + 1))[:wanted]
    answers = []
    for body in chosen:
        etag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        validators = {"ETag": etag, "Last-Modified": "Tue, 01 Sep 2026 10:00:00 GMT"}
        full = http_answer(200, body, {"Content-Type": "application/xml", **validators})
        answers.append((etag, full, http_answer(304, headers=validators)))

    def answer(path: str, headers: dict[str, str], _: bytes) -> bytes:
        name, _, number = path.rpartition("/")
        if name != "/feed" or not number.isdigit():
            return http_answer(404)
        etag, full, unchanged = answers[int(number) % len(answers)]
        return unchanged if etag in headers.get("if-none-match", "") else full

    return answer


class Storage:
    """Items by key, and the few requests that are made of them."""

    def __init__(self) -> None:
        self.items: dict[tuple[str, str], dict[str, Any]] = {}
        self.requests: dict[str, int] = {}

    def answer(self, path: str, headers: dict[str, str], body: bytes) -> bytes:
        if path == "/_requests":
            counted, self.requests = json.dumps(self.requests).encode(), {}
            return http_answer(200, counted)
        operation = headers.get("x-amz-target", "").rpartition(".")[2]
        if not operation:
            self.requests["Publish"] = self.requests.get("Publish", 0) + 1
            xml = (
                '<PublishBatchResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishBatchResult>'
                "<Successful/><Failed/></PublishBatchResult></PublishBatchResponse>"
            )
            return http_answer(200, xml.encode(), {"Content-Type": "text/xml"})
        self.requests[operation] = self.requests.get(operation, 0) + 1
        request = json.loads(body)
        status, result = getattr(self, re.sub(r"(?<!^)(?=[A-Z])", "_", operation).lower())(request)
        return http_answer(
            status, json.dumps(result).encode(), {"Content-Type": "application/x-amz-json-1.0"}
        )

    @staticmethod
    def key(item: dict[str, Any]) -> tuple[str, str]:
        return item["PK"]["S"], item["SK"]["S"]

    def put_item(self, request: dict[str, Any]) -> tuple[int, Any]:
        key = self.key(request["Item"])
        if "attribute_not_exists" in request.get("ConditionExpression", "") and key in self.items:
            kind = "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException"
            return 400, {"__type": kind, "message": "failed", "Item": self.items[key]}
        self.items[key] = request["Item"]
        return 200, {}

    def delete_item(self, request: dict[str, Any]) -> tuple[int, Any]:
        self.items.pop(self.key(request["Key"]), None)
        return 200, {}

    def get_item(self, request: dict[str, Any]) -> tuple[int, Any]:
        item = self.items.get(self.key(request["Key"]))
        return 200, {"Item": item} if item else {}

    def batch_get_item(self, request: dict[str, Any]) -> tuple[int, Any]:
        answers = {
            table: [self.items[key] for key in map(self.key, wanted["Keys"]) if key in self.items]
            for table, wanted in request["RequestItems"].items()
        }
        return 200, {"Responses": answers, "UnprocessedKeys": {}}

    def update_item(self, request: dict[str, Any]) -> tuple[int, Any]:
        item = self.items.setdefault(self.key(request["Key"]), dict(request["Key"]))
        names = request.get("ExpressionAttributeNames", {})
        values = request.get("ExpressionAttributeValues", {})
        words = re.split(r"\b(SET|REMOVE|ADD) ", request["UpdateExpression"])[1:]
        for verb, parts in zip(words[::2], words[1::2], strict=True):
            for part in parts.strip().split(", "):
                path, _, value = part.replace(" = ", " ").partition(" ")
                *parents, name = (names[placeholder] for placeholder in path.split("."))
                target = item
                for parent in parents:
                    target = target[parent]["M"]
                if verb == "SET":
                    target[name] = values[value]
                elif verb == "REMOVE":
                    target.pop(name, None)
                else:
                    before = int(target.get(name, {"N": "0"})["N"])
                    target[name] = {"N": str(before + int(values[value]["N"]))}
        return 200, {"Attributes": item} if "ReturnValues" in request else {}

    def batch_execute_statement(self, request: dict[str, Any]) -> tuple[int, Any]:
        """Creations, or changes on a condition, several in one request."""
        responses: list[dict[str, Any]] = []
        for statement in request["Statements"]:
            if statement["Statement"].startswith("UPDATE"):
                responses.append(self._alter(statement))
                continue
            names = re.findall(r"'([^']+)'\s*:\s*\?", statement["Statement"])
            item = dict(zip(names, statement["Parameters"], strict=True))
            existing = self.items.setdefault(self.key(item), item)
            error = {"Code": "DuplicateItem", "Message": "failed", "Item": existing}
            responses.append({} if existing is item else {"Error": error})
        return 200, {"Responses": responses}

    def _alter(self, statement: dict[str, Any]) -> dict[str, Any]:
        changes, _, condition = statement["Statement"].partition(" WHERE ")
        values = iter(statement["Parameters"])
        assigned = {path: next(values) for path in re.findall(r'SET "(.+?)" = \?', changes)}
        expected = {name: next(values) for name in re.findall(r'"([^"]+)" = \?', condition)}
        item = self.items.get((expected.pop("PK")["S"], expected.pop("SK")["S"]), {})
        if not item or any(item.get(name) != value for name, value in expected.items()):
            return {"Error": {"Code": "ConditionalCheckFailed", "Message": "failed"}}
        for path, value in assigned.items():
            *parents, name = path.split('"."')
            target = item
            for parent in parents:
                target = target[parent]["M"]
            target[name] = value
        for name in re.findall(r'REMOVE "([^"]+)"', changes):
            item.pop(name, None)
        return {}

    def transact_write_items(self, request: dict[str, Any]) -> tuple[int, Any]:
        """One of two articles that were made at the same time gives way to the other."""
        delete, check = request["TransactItems"]
        gone, survivor = self.key(delete["Delete"]["Key"]), self.key(check["ConditionCheck"]["Key"])
        untouched = self.items.get(gone, {}).get("revision") == {"N": "1"}
        if not untouched or survivor not in self.items:
            kind = "com.amazonaws.dynamodb.v20120810#TransactionCanceledException"
            return 400, {"__type": kind, "CancellationReasons": [{"Code": "ConditionalCheckFailed"}]}
        del self.items[gone]
        return 200, {}

    def put_events(self, request: dict[str, Any]) -> tuple[int, Any]:
        return 200, {"FailedEntryCount": 0, "Entries": [{"EventId": "1"} for _ in request["Entries"]]}


async def serve(answer: Callable[[str, dict[str, str], bytes], bytes]) -> None:
    """Serve until killed, at each of `HOSTS`; the port is printed."""
    listen = partial(asyncio.get_running_loop().create_server, lambda: Http(answer), backlog=512)
    first = await listen(host=HOSTS[0], port=0)
    port = first.sockets[0].getsockname()[1]
    others = [await listen(host=host, port=port) for host in HOSTS[1:]]
    print(port, flush=True)
    await asyncio.gather(*(one.serve_forever() for one in (first, *others)))


@contextlib.contextmanager
def server(*arguments: str) -> Iterator[str]:
    """Run one of the servers in a process of its own, and give its address."""
    process = subprocess.Popen([sys.executable, __file__, *arguments], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield f"http://{HOSTS[0]}:{int(process.stdout.readline())}"
    finally:
        process.kill()
        process.wait()


# --- what is measured ----------------------------------------------------------------------------


def measured(work: Callable[[], dict[str, int]]) -> dict[str, Any]:
    """Do a pass, and return what it counts with its CPU and wall-clock seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    counts = work()
    return {**counts, "cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}


def report(passes: list[dict[str, Any]]) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"passes": passes, "peak_mb": peak}), flush=True)


def read_by_reader(feeds: str, count: str) -> None:
    """Both passes of `reader`, as its documentation runs many feeds: with workers."""
    import logging  # noqa: PLC0415
    import warnings  # noqa: PLC0415

    import reader  # noqa: PLC0415

    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    with contextlib.suppress(ImportError):
        import structlog  # noqa: PLC0415

        structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    with tempfile.TemporaryDirectory() as folder:
        library = reader.make_reader(str(Path(folder) / "db.sqlite"))
        for url in feed_urls(feeds, int(count)):
            library.add_feed(url)

        def work() -> dict[str, int]:
            new = failed = 0
            for update in library.update_feeds_iter(scheduled=False, workers=10):
                if isinstance(update.value, Exception):
                    failed += 1
                elif update.value:
                    new += update.value.new
            return {"new": new, "failed": failed}

        report([measured(work), measured(work)])


class Context:
    """What the handler asks of its Lambda context."""

    function_name = memory_limit_in_mb = invoked_function_arn = aws_request_id = "bench"

    @staticmethod
    def get_remaining_time_in_millis() -> int:
        return 110_000


def only_fetched_and_parsed(feeds: str, count: str) -> None:
    """Fetch and parse, and nothing else: what remains if what is found were stored for nothing."""
    from ipaddress import ip_network  # noqa: PLC0415

    from sourcebook.feeds.parse import parse_feed  # noqa: PLC0415
    from sourcebook.http.client import HttpClient  # noqa: PLC0415
    from sourcebook.http.policy import HttpPolicy  # noqa: PLC0415

    policy = HttpPolicy(allowed_networks=(ip_network("127.0.0.0/8"),))

    async def one(http: HttpClient, url: str) -> int:
        response = await http.get(url)
        return len(parse_feed(response.body, url=url, charset=response.charset).entries)

    async def chunk(urls: list[str]) -> list[int]:
        async with HttpClient(policy) as http:
            return await asyncio.gather(*(one(http, url) for url in urls))

    def work() -> dict[str, int]:
        urls = feed_urls(feeds, int(count))
        chunks = [urls[at : at + FEEDS_IN_MESSAGE] for at in range(0, len(urls), FEEDS_IN_MESSAGE)]
        return {"new": sum(sum(asyncio.run(chunk(part))) for part in chunks), "failed": 0}

    report([measured(work)])


def fetched_by_us(feeds: str, storage: str, count: str) -> None:
    """Both passes of `fetch_sources`."""
    os.environ |= {
        "AWS_ACCESS_KEY_ID": "bench",
        "AWS_SECRET_ACCESS_KEY": "bench",
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ENDPOINT_URL": storage,
        "TABLE_NAME": "bench",
        "BUCKET_NAME": "bench",
        "EVENT_BUS_NAME": "bench",
        "ARTICLE_TOPIC_ARN": f"arn:aws:sns:{REGION}:000000000000:bench",
        "HTTP_ALLOWED_NETWORKS": "127.0.0.0/8",
        "POWERTOOLS_METRICS_NAMESPACE": "Sourcebook",
        "POWERTOOLS_SERVICE_NAME": "fetch_sources",
    }
    import importlib.util  # noqa: PLC0415
    import logging  # noqa: PLC0415

    spec = importlib.util.spec_from_file_location(
        "handler", ROOT / "lambdas" / "fetch_sources" / "handler.py"
    )
    assert spec is not None
    assert spec.loader is not None
    log = io.StringIO()
    with contextlib.redirect_stdout(log):
        function = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(function)

    from sourcebook.events import FetchRequested, SourceDue  # noqa: PLC0415
    from sourcebook.sources.model import SourceSpec  # noqa: PLC0415
    from sourcebook.sources.registry import SourceRegistry  # noqa: PLC0415

    registry = SourceRegistry(function.table)
    urls = feed_urls(feeds, int(count))
    ids = [f"feed-{n}" for n in range(len(urls))]
    for source_id, url in zip(ids, urls, strict=True):
        registry.add(SourceSpec(source_id=source_id, url=url))

    def messages() -> list[dict[str, Any]]:
        known = registry.get_many(ids)
        due = [SourceDue(source_id=i, kind="feed", due_at=known[i].next_fetch_time) for i in ids]
        chunks = [due[start : start + FEEDS_IN_MESSAGE] for start in range(0, len(due), FEEDS_IN_MESSAGE)]
        bodies = [FetchRequested(correlation_id="bench", sources=tuple(c)).model_dump_json() for c in chunks]
        return [{"Records": [{"messageId": str(n), "body": body}]} for n, body in enumerate(bodies)]

    def one_pass(events: list[dict[str, Any]]) -> dict[str, int]:
        start = log.tell()
        with contextlib.redirect_stdout(log):
            for event in events:
                answer = function.handler(event, Context)
                if answer != {"batchItemFailures": []}:
                    raise SystemExit(f"a message failed: {log.getvalue()[-3000:]}")
        lines = [json.loads(line) for line in log.getvalue()[start:].splitlines()]
        fetched = [line for line in lines if line.get("message") == "source_fetched"]
        verdicts = [line["verdict"] for line in fetched]
        return {
            "new": sum(line["articles_created"] + line["articles_merged"] for line in fetched),
            "failed": len(ids) - len(fetched),
            "unchanged": verdicts.count("unchanged"),
        }

    def requests_since() -> dict[str, int]:
        with urllib.request.urlopen(f"{storage}/_requests") as answer:  # noqa: S310 - our own server
            counted: dict[str, int] = json.load(answer)
        return counted

    logging.getLogger().handlers.clear()
    passes = []
    for _ in range(2):
        events = messages()
        requests_since()  # those of registering the feeds and of finding them due are no part of a pass
        found = measured(partial(one_pass, events))
        passes.append(found | {"requests": requests_since()})
    report(passes)


# --- the comparison ------------------------------------------------------------------------------


def run(interpreter: str, *arguments: str) -> dict[str, Any]:
    done = subprocess.run([interpreter, __file__, *arguments], stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


_PASS = re.compile(r"'err': (\d+), 'new': (\d+).* wall=([\d.]+)s cpu=([\d.]+)s .* rss=(\d+)MB")


def by_httpx_and_feedparser(interpreter: str, script: Path, feeds: str, count: int) -> dict[str, Any]:
    """Return both passes of httpx with feedparser and SQLite, ten feeds at a time."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = [feeds, str(count), "10", str(Path(folder) / "db.sqlite"), "feedparser"]
        done = subprocess.run(
            [interpreter, str(script), *arguments], stdout=subprocess.PIPE, text=True, check=True
        )
    found = [[float(number) for number in numbers] for numbers in _PASS.findall(done.stdout)]
    passes = [
        {"failed": int(failed), "new": int(new), "wall": wall, "cpu": cpu}
        for failed, new, wall, cpu, _ in found
    ]
    return {"passes": passes, "peak_mb": max(peak for *_, peak in found)}


def by_newsboat(program: str, feeds: str, count: int) -> dict[str, Any]:
    """Return both passes of newsboat, ten feeds at a time; it is a program of its own for each."""
    with tempfile.TemporaryDirectory() as folder:
        urls, configuration, database = (Path(folder) / name for name in ("urls", "config", "cache.db"))
        urls.write_text("".join(f"{url}\n" for url in feed_urls(feeds, count)), "utf-8")
        configuration.write_text("reload-threads 10\ndownload-retries 1\n", "utf-8")
        command = [program, "-u", str(urls), "-C", str(configuration), "-c", str(database)]
        passes: list[dict[str, Any]] = []
        peak, stored = 0.0, 0
        for _ in range(2):
            begun = time.perf_counter()
            process = subprocess.Popen(
                [*command, "-x", "reload"],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "HOME": folder},
            )
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                raise SystemExit(f"newsboat ended with {process.returncode}")
            wall, peak = time.perf_counter() - begun, max(peak, used.ru_maxrss / 1024)
            with contextlib.closing(sqlite3.connect(database)) as connection:
                items = connection.execute("SELECT count(*) FROM rss_item").fetchone()[0]
                known = connection.execute("SELECT count(*) FROM rss_feed").fetchone()[0]
            passes.append(
                {
                    "new": items - stored,
                    "failed": count - known,
                    "cpu": used.ru_utime + used.ru_stime,
                    "wall": wall,
                }
            )
            stored = items
    return {"passes": passes, "peak_mb": peak}


def has_modules(interpreter: str, *names: str) -> bool:
    return not subprocess.run(
        [interpreter, "-c", f"import {', '.join(names)}"], check=False, stderr=subprocess.DEVNULL
    ).returncode


def ours(feeds: str, count: int) -> dict[str, Any]:
    with server("serve-storage") as storage:
        return run(sys.executable, "run-ours", feeds, storage, str(count))


def best(results: list[dict[str, Any]], at: int, measure: str) -> float:
    return min(float(result["passes"][at][measure]) for result in results)


Results = dict[str, list[dict[str, Any]]]
"""What each program said in each round; nothing of one that is left out."""


def measure(corpus: str, count: int, rounds: int, interpreter: str, peers: Path) -> tuple[Results, float]:
    """Run all in turn, and return their results and our peak memory with 50 feeds."""
    has_reader = has_modules(interpreter, "reader")
    if not has_reader:
        print(
            f"reader is not installed for {interpreter}: it is left out; give --reader an interpreter with it"
        )
    naive = peers / "bench_naive.py"
    has_naive = naive.is_file() and has_modules(interpreter, "httpx", "feedparser")
    if not has_naive:
        print(f"httpx + feedparser is left out: it needs {naive}, and both of them in {interpreter}")
    newsboat = shutil.which(NEWSBOAT)
    if newsboat is None:
        print("newsboat is left out: it is not installed (Debian: apt-get install newsboat)")
    figures: Results = {name: [] for name in (READER, NAIVE, NEWSBOAT, OURS, FLOOR)}
    with server("serve-feeds", corpus, str(count)) as feeds:
        for _ in range(rounds):
            if has_reader:
                figures[READER].append(run(interpreter, "run-reader", feeds, str(count)))
            if has_naive:
                figures[NAIVE].append(by_httpx_and_feedparser(interpreter, naive, feeds, count))
            if newsboat:
                figures[NEWSBOAT].append(by_newsboat(newsboat, feeds, count))
            figures[OURS].append(ours(feeds, count))
            figures[FLOOR].append(run(sys.executable, "run-floor", feeds, str(count)))
        return figures, float(ours(feeds, 50)["peak_mb"])


def print_table(figures: Results, count: int, rounds: int) -> None:
    print(f"{count} feeds; best of {rounds} rounds in turn; our storage is a stub at the HTTP boundary\n")
    print(f"{'':<20}{'pass':<11}{'CPU s':>8}{'feeds/s':>9}{'new':>7}{'failed':>8}{'peak MB':>9}")
    for name, results in figures.items():
        for at, last in enumerate(results[-1]["passes"] if results else ()):
            print(
                f"{name:<20}{('first', 'unchanged')[at]:<11}{best(results, at, 'cpu'):>8.2f}"
                f"{count / best(results, at, 'wall'):>9.0f}{last['new']:>7}{last['failed']:>8}"
                f"{max(result['peak_mb'] for result in results):>9.0f}"
            )


def print_requests(result: Mapping[str, Any]) -> None:
    """Print the requests of both passes of ours, by operation."""
    for title, one in zip(("first", "unchanged"), result["passes"], strict=True):
        counted = sorted(one["requests"].items(), key=lambda item: -item[1])
        each = f", {sum(one['requests'].values()) / one['new']:.2f} an article" if one["new"] else ""
        operations = ", ".join(f"{operation} {number}" for operation, number in counted)
        print(f"\nrequests of the {title} pass: {sum(one['requests'].values())}{each} ({operations})")


def compare(figures: Results, peak: float) -> tuple[bool, float]:
    """Print the ratios; return whether all targets are reached, and the ratio of the unchanged pass."""

    def ratio(other: str, at: int, measure: str = "cpu", of: str = OURS) -> float:
        return best(figures[other], at, measure) / best(figures[of], at, measure)

    print(f"\npeak memory with 50 feeds: {peak:.0f} MB (target: below 200)")
    for other in (NAIVE, NEWSBOAT):
        if figures[other]:
            print(f"first pass: CPU seconds of {other} ÷ ours = {ratio(other, 0):.1f}")
            print(f"unchanged pass: CPU seconds of {other} ÷ ours = {ratio(other, 1):.1f}")
    if not figures[READER]:
        return peak < 200, 0.0
    first, again = ratio(READER, 0), ratio(READER, 1, "wall")
    print(f"first pass: reader's CPU seconds ÷ ours = {first:.1f} (target: {FIRST_PASS})")
    print(f"first pass: reader's CPU seconds ÷ {FLOOR} = {ratio(READER, 0, of=FLOOR):.1f}")
    unchanged = ratio(READER, 1)
    print(f"unchanged pass: reader's CPU seconds ÷ ours = {unchanged:.1f} (target: {UNCHANGED_PASS})")
    print(f"unchanged pass: our feeds/s ÷ reader's = {again:.1f} (target: 5)")
    return peak < 200 and first >= FIRST_PASS and unchanged >= UNCHANGED_PASS and again >= 5, again


def save_figures(
    path: Path, results: dict[str, list[dict[str, Any]]], count: int, peak: float, again: float
) -> None:
    """Write what `run.py` makes its table of."""
    sys.path.insert(0, str(ROOT))
    from bench.figures import Figure, save  # noqa: PLC0415 - reader's interpreter runs this file too

    ours = [best(results["sourcebook"], at, "cpu") for at in (0, 1)]
    titles = (f"{count} feeds, first pass, CPU", f"{count} feeds, unchanged, CPU")
    rows: list[Figure] = []
    if results[READER]:
        theirs = [best(results["reader"], at, "cpu") for at in (0, 1)]
        rows = [
            Figure(what, b / a, "times", f"{a:.2f} s", f"reader: {b:.2f} s", at_least=goal)
            for what, a, b, goal in zip(titles, ours, theirs, (FIRST_PASS, UNCHANGED_PASS), strict=True)
        ]
        speeds = [count / best(results[name], 1, "wall") for name in ("sourcebook", "reader")]
        rows.append(
            Figure(
                f"{count} feeds, unchanged, feeds a second by the clock",
                again,
                "times",
                f"{speeds[0]:.0f}/s",
                f"reader: {speeds[1]:.0f}/s",
                at_least=5,
            )
        )
    else:
        rows = [Figure(what, seconds, "s") for what, seconds in zip(titles, ours, strict=True)]
    for other in (NAIVE, NEWSBOAT):
        for at, what in enumerate(titles if results[other] else ()):
            seconds = best(results[other], at, "cpu")
            baseline = f"{other}: {seconds:.2f} s"
            rows.append(Figure(what, seconds / ours[at], "times", f"{ours[at]:.2f} s", baseline))
    first = results["sourcebook"][-1]["passes"][0]
    each = sum(first["requests"].values()) / first["new"]
    rows.append(Figure(f"{count} feeds, first pass, requests an article", each, ""))
    rows.append(Figure("memory with 50 feeds, at most", peak, "MB", at_most=200))
    save(path, rows)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--feeds", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--reader", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--peers", type=Path, metavar="FOLDER")
    parser.add_argument("--json", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    peers = arguments.peers or arguments.corpus.resolve().parent.parent / "bench"
    count, rounds = arguments.feeds, arguments.rounds
    figures, peak = measure(str(arguments.corpus), count, rounds, arguments.reader, peers)
    print_table(figures, count, rounds)
    print_requests(figures[OURS][-1])
    reached, again = compare(figures, peak)
    checked = (
        "All targets are reached."
        if figures[READER]
        else "The target of memory is reached, the others need reader."
    )
    print(f"\n{checked}" if reached else "\nA target is missed.")
    if arguments.json:
        save_figures(arguments.json, figures, count, peak, again)
    return 0 if reached else 1


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["serve-feeds", corpus, count]:
            asyncio.run(serve(feeds_server(corpus, count)))
        case ["serve-storage"]:
            asyncio.run(serve(Storage().answer))
        case ["run-reader", *arguments]:
            read_by_reader(*arguments)
        case ["run-floor", *arguments]:
            only_fetched_and_parsed(*arguments)
        case ["run-ours", *arguments]:
            fetched_by_us(*arguments)
        case _:
            raise SystemExit(main())
