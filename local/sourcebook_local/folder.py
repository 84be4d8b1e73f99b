"""Serves folders of feed files, and remembers the loopback servers.

Which folder was served on which port is remembered in ``servers.json``, so that the addresses in the table
stay right when everything is stopped and started again.
"""

from __future__ import annotations

import fcntl
import hashlib
import http.client
import json
import os
import re
import signal
import socket
import sys
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import quote

from sourcebook.clock import Clock, isoformat, parse_iso, utc_now
from sourcebook.errors import InvalidInput, Terminal
from sourcebook.sources.model import SourceSpec
from sourcebook_local import process
from sourcebook_local.project import LocalCloudError, tail
from sourcebook_local.samples import edition_hour

FeedFormat: TypeAlias = Literal["rss", "rdf", "atom", "json"]

SNIFFED_BYTES: Final = 4096
"""How much of a file is looked at for its root element; prologs and comments may come before it."""

LARGEST_FEED: Final = 64 * 1024 * 1024
"""A file above this many bytes is not served as a feed."""

SAMPLES: Final = "samples"
"""The name under which the sample server is remembered; a folder's name is its path."""

SERVED_PORTS: Final = "served-ports"
"""The file, in a home, with the port of each server that was started and not stopped, one a line."""

_SUFFIXES: Final = frozenset({"", ".xml", ".rss", ".atom", ".rdf", ".json"})
_ROOTS: Final[tuple[tuple[re.Pattern[str], FeedFormat], ...]] = (
    (re.compile(r"<(?:\w+:)?RDF[\s>]", re.IGNORECASE), "rdf"),
    (re.compile(r"<(?:\w+:)?rss[\s>]", re.IGNORECASE), "rss"),
    (re.compile(r"<(?:\w+:)?feed[\s>]"), "atom"),
    (re.compile(r"<channel[\s>]", re.IGNORECASE), "rss"),
)
_JSON_FEED_VERSION = re.compile(r"https?://(?:www\.)?jsonfeed\.org/version/")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_EDITION_LIFE: Final = timedelta(hours=24)


class NotAFeedError(Terminal):
    """A file is not a feed; the message has the reason."""


def feed_format(path: Path) -> FeedFormat:
    """Return the format of a feed file.

    XML feeds are known by their root element within the first `SNIFFED_BYTES`, whatever comes after it, so a
    broken feed is still a feed. JSON must declare a JSON Feed version.

    Raises:
        NotAFeedError: if it is not a feed, with the reason.
        OSError: if the file cannot be read.
    """
    if path.is_symlink():
        raise NotAFeedError("a symbolic link; only files of the folder itself are served")
    if not path.is_file():
        raise NotAFeedError("not a file; only files directly in the folder are served")
    if path.name.startswith("."):
        raise NotAFeedError("a hidden file")
    if path.suffix.lower() not in _SUFFIXES:
        raise NotAFeedError(f"{path.suffix} is not the suffix of a feed (xml, rss, atom, rdf, json or none)")
    size = path.stat().st_size
    if size == 0:
        raise NotAFeedError("empty")
    if size > LARGEST_FEED:
        raise NotAFeedError(f"larger than {LARGEST_FEED // 2**20} MiB")
    return _sniff(path)


def _sniff(path: Path) -> FeedFormat:
    with path.open("rb") as file:
        head = _decode(file.read(SNIFFED_BYTES))
    if head.startswith("{") or path.suffix.lower() == ".json":
        if _declares_json_feed(path, head):
            return "json"
        raise NotAFeedError("JSON that declares no JSON Feed version")
    kind = sniff_xml(head)
    if kind is None:
        raise NotAFeedError("no RSS, RDF or Atom root element near its beginning")
    return kind


def sniff_xml(head: str) -> FeedFormat | None:
    """Return the XML feed format of a document by its root element, given its beginning."""
    text = _COMMENT.sub("", head)
    found = [(match.start(), kind) for pattern, kind in _ROOTS if (match := pattern.search(text))]
    html = re.search(r"<html[\s>]", text, re.IGNORECASE)
    if not found or (html and html.start() < min(found)[0]):
        return None
    return min(found)[1]


def feeds_in(
    folder: Path, base_url: str = "http://127.0.0.1"
) -> tuple[list[tuple[Path, SourceSpec]], list[tuple[Path, str]]]:
    """Return the feeds among the files of a folder.

    Args:
        folder: the folder that is, or will be, served.
        base_url: where it is served; the URL of a file is ``<base_url>/feeds/<file name>``.

    Returns:
        The feeds with their declarations, and the other entries with the reason why they are none; both in
        the order of the file names.

    Raises:
        InvalidInput: if `folder` is no folder that can be read.
    """
    try:
        paths = sorted(folder.iterdir(), key=lambda path: path.name)
    except OSError as error:
        raise InvalidInput(
            "folder", str(folder), f"a folder that can be read ({error.strerror}); check the path"
        ) from error
    feeds: list[tuple[Path, SourceSpec]] = []
    skipped: list[tuple[Path, str]] = []
    taken: set[str] = set()
    for path in paths:
        try:
            path.name.encode()
            feed_format(path)
        except UnicodeEncodeError:
            skipped.append((path, "its name is not UTF-8, so that no URL can name it"))
            continue
        except NotAFeedError as error:
            skipped.append((path, str(error)))
            continue
        except OSError as error:
            skipped.append((path, f"cannot be read: {error.strerror}"))
            continue
        source_id = _source_id(path.name, taken)
        taken.add(source_id)
        url = f"{base_url.rstrip('/')}/feeds/{quote(path.name)}"
        feeds.append((path, SourceSpec(source_id=source_id, kind="feed", url=url, name=path.stem[:200])))
    return feeds, skipped


@dataclass(frozen=True, slots=True)
class ServedFolder:
    """A loopback server as ``servers.json`` remembers it.

    Attributes:
        name: `SAMPLES`, or the path of the folder.
        port: its port on 127.0.0.1, kept from one start to the next.
        pid: its process, None when it was stopped.
        identity: distinguishes that process from a later one with the same pid.
        now: the hour that the samples are rendered for; None for a folder.
    """

    name: str
    port: int
    pid: int | None = None
    identity: str | None = None
    now: str | None = None

    @property
    def url(self) -> str:
        """Base URL of the server."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def folder(self) -> Path | None:
        """The served folder; None for the samples."""
        return None if self.name == SAMPLES else Path(self.name)

    @property
    def running(self) -> bool:
        """Whether the process that was started still runs."""
        return (
            self.pid is not None and self.identity is not None and process.is_running(self.pid, self.identity)
        )


def remembered(home: Path) -> list[ServedFolder]:
    """Return the servers that were started under this home, running or not.

    Raises:
        LocalCloudError: if ``servers.json`` is not what this module wrote.
    """
    path = home / "servers.json"
    try:
        return [ServedFolder(**entry) for entry in json.loads(path.read_text(encoding="utf-8"))]
    except FileNotFoundError:
        return []
    except (ValueError, TypeError) as error:
        raise LocalCloudError(
            f"{path} cannot be read ({error}); delete it and register the folders again"
        ) from error


def start_server(
    home: Path, folder: Path | None = None, *, clock: Clock = utc_now, timeout: float = 60.0
) -> ServedFolder:
    """Start the loopback server of a folder, or of the samples, unless it runs already.

    It is detached from the terminal, listens where it did the last time unless that port is taken by now,
    and logs to ``<home>/log/``. The samples keep the hour they were rendered for, so that starting them again
    brings nothing new, until that is a day ago: then they come out as a new edition.

    Args:
        home: the folder of all local state (``.sourcebook``).
        folder: what to serve; None for the samples.
        clock: the present.
        timeout: seconds to wait until it answers.

    Raises:
        InvalidInput: if `folder` is no folder.
        LocalCloudError: if it does not answer in time; the message ends with its log.
    """
    if folder is not None and not folder.is_dir():
        raise InvalidInput("folder", str(folder), "an existing folder of feed files; check the path")
    name = SAMPLES if folder is None else str(folder.resolve())
    with _locked(home):
        known = {server.name: server for server in remembered(home)}
        before = known.get(name)
        if before is not None and before.running and _answers(before):
            # The release that started it may have kept no list of ports, by which functions fetch from it.
            _remember(home, list(known.values()))
            return before
        if before is not None:
            _end(before, timeout=5)
        taken = {server.port for server in known.values() if server.name != name}
        server = ServedFolder(name=name, port=_free_port(before.port if before else 0, taken))
        if folder is None:
            server = replace(server, now=isoformat(_edition(before, clock)))
        server = _launch(home, server)
        _remember(home, [*(other for other in known.values() if other.name != name), server])
        _await(home, server, timeout)
        return server


def start_remembered(
    home: Path, *, clock: Clock = utc_now
) -> tuple[list[ServedFolder], list[tuple[str, str]]]:
    """Restart every server that was started under this home.

    Returns:
        The servers that run now, and the ones that could not be started with the reason, by name.
    """
    started: list[ServedFolder] = []
    failed: list[tuple[str, str]] = []
    for server in remembered(home):
        try:
            started.append(start_server(home, server.folder, clock=clock))
        except (InvalidInput, LocalCloudError) as error:
            failed.append((server.name, str(error)))
    return started, failed


def stop_servers(home: Path, *, timeout: float = 10.0) -> list[ServedFolder]:
    """Stop the servers of this home that run, gracefully; what they serve stays remembered.

    A process is ended only if it is the one that was started: a pid that belongs to another by now is left
    alone.

    Returns:
        The servers that were stopped.
    """
    with _locked(home):
        servers = remembered(home)
        stopped = [server for server in servers if server.running]
        for server in stopped:
            _end(server, timeout=timeout)
        _remember(home, [replace(server, pid=None, identity=None) for server in servers])
    return stopped


def forget(home: Path, folder: Path | None = None) -> None:
    """Stop one server and forget it."""
    name = SAMPLES if folder is None else str(folder.resolve())
    with _locked(home):
        servers = remembered(home)
        for server in servers:
            if server.name == name:
                _end(server, timeout=10)
        _remember(home, [server for server in servers if server.name != name])


def _decode(head: bytes) -> str:
    for bom, encoding in ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig")):
        if head.startswith(bom):
            return head.decode(encoding, errors="replace").lstrip()
    # Root elements are ASCII in every other encoding that feeds come in.
    return head.decode("latin-1").lstrip()


def _declares_json_feed(path: Path, head: str) -> bool:
    try:
        document: Any = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        # A broken feed is a feed: whoever fetches it reports what is wrong with it.
        return head.startswith("{") and _JSON_FEED_VERSION.search(head) is not None
    version = document.get("version") if isinstance(document, dict) else None
    return isinstance(version, str) and _JSON_FEED_VERSION.match(version) is not None


def _source_id(file_name: str, taken: set[str]) -> str:
    """Return the id for a file name; a digest distinguishes names that would give the same."""
    digest = hashlib.sha256(file_name.encode("utf-8", errors="surrogateescape")).hexdigest()[:8]
    plain = (
        unicodedata.normalize("NFKD", Path(file_name).stem).encode("ascii", errors="ignore").decode().lower()
    )
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    if not slug:
        return f"feed-{digest}"
    if len(slug) <= 63 and slug not in taken:
        return slug
    return f"{slug[:54].rstrip('-')}-{digest}"


@contextmanager
def _locked(home: Path) -> Iterator[None]:
    """Hold the lock under which servers are started and stopped."""
    home.mkdir(parents=True, exist_ok=True)
    with (home / "servers.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _remember(home: Path, servers: list[ServedFolder]) -> None:
    text = json.dumps([asdict(server) for server in servers], ensure_ascii=False, indent=2)
    part = home / "servers.json.part"
    part.write_text(f"{text}\n", encoding="utf-8")
    part.replace(home / "servers.json")
    part = home / f"{SERVED_PORTS}.part"
    part.write_text("".join(f"{server.port}\n" for server in servers if server.pid is not None))
    part.replace(home / SERVED_PORTS)


def _edition(before: ServedFolder | None, clock: Clock) -> datetime:
    hour = edition_hour(clock())
    if before is not None and before.now is not None:
        earlier = parse_iso(before.now)
        if hour - _EDITION_LIFE < earlier <= hour:
            return earlier
    return hour


def _free_port(wanted: int, taken: set[int]) -> int:
    for port in (wanted, *(0,) * 20):
        with socket.socket() as probe:
            # As the server does: a connection that was closed a moment ago does not hold the port.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            found = int(probe.getsockname()[1])
            if found not in taken:
                return found
    raise LocalCloudError("no free port on 127.0.0.1; close some programs that listen and try again")


def _log_of(home: Path, server: ServedFolder) -> Path:
    if server.folder is None:
        return home / "log" / "samples.log"
    return home / "log" / f"folder-{_source_id(server.folder.name or 'root', set())}-{server.port}.log"


def _launch(home: Path, server: ServedFolder) -> ServedFolder:
    log = _log_of(home, server)
    log.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "sourcebook_local.serve", "--port", str(server.port), "--log", str(log)]
    command += ["--samples", "--now", str(server.now)] if server.folder is None else ["--folder", server.name]
    pid = process.spawn(command, environment=dict(os.environ), folder=home, log=log)
    return replace(server, pid=pid, identity=process.start_identity(pid))


def _answers(server: ServedFolder) -> bool:
    """Return whether this server answers on its port."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=2)
    try:
        connection.request("GET", "/_stats")
        answer = json.loads(connection.getresponse().read())
    except (OSError, http.client.HTTPException, ValueError):
        return False
    finally:
        connection.close()
    return isinstance(answer, dict) and answer.get("pid") == server.pid


def _await(home: Path, server: ServedFolder, timeout: float) -> None:
    deadline = time.monotonic() + timeout
    while not _answers(server):
        if not server.running or time.monotonic() >= deadline:
            _end(server, timeout=2)
            raise LocalCloudError(
                f"the server of {server.name} does not answer on {server.url}; the end of its log says why:\n"
                f"{tail(_log_of(home, server))}"
            )
        time.sleep(0.05)


def _end(server: ServedFolder, *, timeout: float) -> None:
    """End the process of a server if it is still the one that was started."""
    if not server.running or server.pid is None or server.identity is None:
        return
    process.send(server.pid, signal.SIGTERM)
    if not process.wait_until_gone(server.pid, server.identity, timeout):
        process.send(server.pid, signal.SIGKILL)
        process.wait_until_gone(server.pid, server.identity, timeout)
