"""A loopback web server with simulated feeds, Tiingo and Finnhub, and staged faults.

::

    python -m sourcebook_local.serve --port 8460 --folder DIR
    python -m sourcebook_local.serve --port 8460 --samples

============================  ================================================================================
GET /                         a page that lists the feeds
GET /feeds/NAME               a feed: ETag, Last-Modified, conditional GET, gzip; fresh when it has changed
GET /tiingo/news              with ``--samples``: Tiingo's news endpoint
GET /finnhub/api/v1/…         with ``--samples``: Finnhub's company news
GET /observations/NAME        with ``--samples``: pages of figures
GET, DELETE /_stats           what was asked for since the start, by path; DELETE begins to count anew
GET, POST, DELETE /_control   trouble to stage, see `Rule`; DELETE ends all of it
============================  ================================================================================

It listens on 127.0.0.1 only and answers only requests that name this machine as their host, so that a web
page that a browser shows cannot read it under another name. Queries (which may carry a key) are never logged.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import html
import logging
import logging.handlers
import os
import re
import signal
import stat
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Any, Final, Protocol
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sourcebook.clock import isoformat, parse_iso, utc_now
from sourcebook.errors import InvalidInput
from sourcebook.validation import first_wrong
from sourcebook_local import samples, samples_observations
from sourcebook_local.astronomy import services as astronomy
from sourcebook_local.folder import LARGEST_FEED, NotAFeedError, feed_format, sniff_xml
from sourcebook_local.output import say
from sourcebook_local.webserver import (
    HOST,
    Document,
    Request,
    Response,
    WebServer,
    document_response,
    json_response,
    text_response,
)

_log = logging.getLogger("sourcebook_local.serve")

_MOST_PATHS_COUNTED: Final = 2000
_MOST_DOCUMENTS_KEPT: Final = 256

HeaderValue = Annotated[str, Field(pattern=r"^[\x20-\x7e]+$")]
"""Printable ASCII."""

_HOST_NAME = re.compile(r"(?:127\.0\.0\.1|\[::1\]|(?:[a-z0-9-]+\.)*localhost)(?::\d+)?", re.IGNORECASE)
_CONTENT_TYPES: Final = {
    "rss": "application/rss+xml",
    "rdf": "application/rdf+xml",
    "atom": "application/atom+xml",
    "json": "application/feed+json",
}


class Site(Protocol):
    """The content of a server."""

    def feed_names(self) -> list[str]:
        """Return the file names under ``/feeds/`` for the index page."""

    def feed(self, name: str) -> Document | None:
        """Return a feed as it is now, None if there is none of this name."""

    def api(self, request: Request) -> Response | None:
        """Answer for an API of this site, None if the path is none of its."""

    def set_edited(self, *, edited: bool) -> None:
        """Set whether a publisher has edited a headline."""


class FolderSite:
    """The feed files directly in one folder; never a file outside of it, never through a symbolic link."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve(strict=True)
        self._lock = threading.Lock()
        self._documents: OrderedDict[str, tuple[tuple[int, int, int], Document]] = OrderedDict()

    def feed_names(self) -> list[str]:
        """Return the names of the files that are feeds."""
        names = []
        for path in sorted(self._folder.iterdir(), key=lambda path: path.name):
            with contextlib.suppress(NotAFeedError, OSError):
                feed_format(path)
                names.append(path.name)
        return names

    def feed(self, name: str) -> Document | None:
        """Return a file as it is now.

        Raises:
            OSError: if it is there and cannot be read.
        """
        if not name or name.startswith(".") or "/" in name or "\\" in name or "\0" in name:
            return None
        try:
            # Opened first and looked at then: nobody can put a link in its place in between.
            handle = os.open(self._folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError as error:
            _log.debug("no file for a request: %s", error.strerror)
            if isinstance(error, PermissionError):
                raise
            return None
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST_FEED:
            os.close(handle)
            return None
        with os.fdopen(handle, "rb") as file:
            version = (status.st_mtime_ns, status.st_size, status.st_ino)
            with self._lock:
                kept = self._documents.get(name)
            if kept is not None and kept[0] == version:
                return kept[1]
            body = file.read(LARGEST_FEED)
        document = Document.of(body, content_type(name, body), datetime.fromtimestamp(status.st_mtime, UTC))
        with self._lock:
            self._documents[name] = (version, document)
            while len(self._documents) > _MOST_DOCUMENTS_KEPT:
                self._documents.popitem(last=False)
        return document

    def api(self, request: Request) -> Response | None:  # noqa: ARG002 - the protocol's
        """Return None: a folder has no API."""
        return None

    def set_edited(self, *, edited: bool) -> None:
        """Refuse: a folder is edited by editing its files.

        Raises:
            InvalidInput: if `edited`.
        """
        if edited:
            raise InvalidInput("edited", edited, "false or nothing for a folder; edit its files instead")


class SampleSite:
    """The sample feeds and news APIs, rendered for one hour so that polls find them unchanged."""

    def __init__(self, now: datetime) -> None:
        self.now = samples.edition_hour(now)
        self.edited = False
        self._edited_at = self.now
        self._documents: dict[tuple[str, bool], tuple[int, Document]] = {}

    def feed_names(self) -> list[str]:
        """Return the names of the sample feeds."""
        return samples.feed_names()

    def feed(self, name: str) -> Document | None:
        """Return a sample feed; a change of its template shows at once."""
        if name not in samples.feed_names():
            return None
        version = (samples.FEEDS_FOLDER / name).stat().st_mtime_ns
        kept = self._documents.get((name, self.edited))
        if kept is not None and kept[0] == version:
            return kept[1]
        body = samples.render_feed(name, self.now, edited=self.edited)
        changed = self.edited and body != samples.render_feed(name, self.now)
        modified = self._edited_at if changed else self.now
        document = Document.of(body, content_type(name, body), modified)
        self._documents[(name, self.edited)] = (version, document)
        return document

    def set_edited(self, *, edited: bool) -> None:
        """Set whether a publisher has edited a headline."""
        if edited and not self.edited:
            self._edited_at = utc_now()
        self.edited = edited
        self._documents.clear()

    def api(self, request: Request) -> Response | None:
        """Answer as Tiingo, Finnhub and the archives of astronomy do, errors included."""
        if request.path.startswith(f"{astronomy.PREFIX}/"):
            return astronomy.answer(request)
        if request.path.startswith(samples_observations.PATH):
            return self._observations(request)
        answer = {samples.TIINGO_PATH: self._tiingo, samples.FINNHUB_PATH: self._finnhub}.get(request.path)
        if answer is None:
            return None
        try:
            return answer(request)
        except InvalidInput as error:
            return json_response(400, {"detail": str(error), "error": str(error)})

    def _observations(self, request: Request) -> Response | None:
        name = request.path.removeprefix(samples_observations.PATH)
        if name not in samples_observations.page_names():
            return None
        return document_response(Document.of(*samples_observations.page(name)), request)

    def _tiingo(self, request: Request) -> Response:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        given = token.strip() if scheme.lower() == "token" else request.query.get("token", "")
        if given != samples.API_KEYS["tiingo"]:
            return json_response(401, {"detail": "The token is missing or is not known."})
        query = request.query
        return json_response(
            200,
            samples.tiingo_news(
                self.now,
                tickers=[ticker.strip() for ticker in query.get("tickers", "").split(",") if ticker.strip()],
                start=_day(query, "startDate"),
                end=_day(query, "endDate"),
                limit=_count(query, "limit", 100, 1000),
                offset=_count(query, "offset", 0, 1_000_000),
            ),
        )

    def _finnhub(self, request: Request) -> Response:
        given = request.headers.get("x-finnhub-token") or request.query.get("token", "")
        if given != samples.API_KEYS["finnhub"]:
            return json_response(401, {"error": "The API key is missing or is not known."})
        start, end = _day(request.query, "from"), _day(request.query, "to")
        symbol = request.query.get("symbol", "")
        if not symbol or start is None or end is None:
            return json_response(422, {"error": "symbol, from and to must be given."})
        return json_response(200, samples.finnhub_company_news(self.now, symbol=symbol, start=start, end=end))


class Rule(BaseModel):
    """Trouble staged for a path: ``POST /_control`` with ``{"rules": [{"path": …, …}]}``.

    Attributes:
        path: the path it is for; with ``*`` at the end, all paths that begin so.
        times: for how many requests; None until ``DELETE /_control``.
        status: answer with this status instead of the true answer.
        retry_after: value of a Retry-After header (seconds or an HTTP date).
        location: value of a Location header.
        content_type: of `body`.
        body: text to answer with instead of the true body.
        delay: seconds to wait before the answer.
        cut: send only so many bytes of the body, then break the connection off.
        drop: break the connection off without an answer.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", coerce_numbers_to_str=True)

    path: str = Field(pattern=r"^/")
    times: int | None = Field(default=1, ge=1)
    status: int | None = Field(default=None, ge=200, le=599)
    retry_after: HeaderValue | None = None
    location: HeaderValue | None = None
    content_type: HeaderValue | None = None
    body: str | None = None
    delay: float = Field(default=0.0, ge=0, le=300)
    cut: int | None = Field(default=None, ge=0)
    drop: bool = False

    def matches(self, path: str) -> bool:
        """Return whether the rule is for this path."""
        return path.startswith(self.path[:-1]) if self.path.endswith("*") else path == self.path

    def apply(self, true: Response) -> Response:
        """Return the staged answer in place of the true one."""
        headers = dict(true.headers)
        body = true.body
        if self.status is not None and not 200 <= self.status < 300:
            staged = json_response(self.status, {"error": f"staged status {self.status}"})
            body, headers = staged.body, dict(staged.headers)
        if self.body is not None:
            body = self.body.encode()
            headers = {"Content-Type": self.content_type or "text/html; charset=utf-8"}
        if self.retry_after is not None:
            headers["Retry-After"] = self.retry_after
        if self.location is not None:
            headers["Location"] = self.location
        status = true.status if self.status is None else self.status
        return Response(status, b"" if status in {204, 304} else body, headers, self.cut)


class Control(BaseModel):
    """The body of ``POST /_control``.

    Attributes:
        rules: trouble to add to what is staged already.
        edited: whether a publisher of the samples has edited a headline; None leaves it as it is.
    """

    model_config = ConfigDict(extra="forbid")

    rules: list[Rule] = []
    edited: bool | None = None


@dataclass(slots=True)
class PathStats:
    """The requests for one path.

    Attributes:
        requests: all of them.
        conditional: those that carried a validator.
        not_modified: those answered with 304.
        gzip: answers that were compressed.
        bytes: body bytes sent.
        by_status: number of answers by status; ``dropped`` for connections broken off without one.
    """

    requests: int = 0
    conditional: int = 0
    not_modified: int = 0
    gzip: int = 0
    bytes: int = 0
    by_status: dict[str, int] = field(default_factory=dict)

    def count(self, request: Request, response: Response | None) -> None:
        """Count one request and its answer, None if there was none."""
        self.requests += 1
        self.conditional += bool({"if-none-match", "if-modified-since"} & request.headers.keys())
        status = "dropped" if response is None else str(response.status)
        self.by_status[status] = self.by_status.get(status, 0) + 1
        if response is not None:
            self.not_modified += response.status == 304
            self.gzip += response.headers.get("Content-Encoding") == "gzip"
            self.bytes += 0 if request.method == "HEAD" else len(response.body)


class Outside:
    """A site with counted requests and staged faults."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._stats: dict[str, PathStats] = {}
        self._rules: list[Rule] = []
        self._started_at = utc_now()

    async def answer(self, request: Request) -> Response | None:
        """Answer one request and count it; None breaks the connection off."""
        if not _HOST_NAME.fullmatch(request.headers.get("host", "localhost")):
            return text_response(421, "this server answers only under the names of this machine")
        if request.path in {"/_stats", "/_control"}:
            return self._own(request)
        rule = self._take_rule(request.path)
        if rule is not None and rule.delay:
            await asyncio.sleep(rule.delay)
        response = None if rule is not None and rule.drop else await self._true_answer(request)
        if rule is not None and response is not None:
            response = rule.apply(response)
        known = request.path in self._stats or len(self._stats) < _MOST_PATHS_COUNTED
        self._stats.setdefault(request.path if known else "(others)", PathStats()).count(request, response)
        _log.info(
            "%s %s %s",
            request.method,
            quote(request.path),
            f"{response.status} {len(response.body)}" if response is not None else "dropped",
        )
        return response

    async def _true_answer(self, request: Request) -> Response:
        if request.method not in {"GET", "HEAD"}:
            return text_response(405, "only GET and HEAD", {"Allow": "GET, HEAD"})
        try:
            if request.path == "/":
                names = await asyncio.to_thread(self._site.feed_names)
                return Response(200, _index(names), {"Content-Type": "text/html; charset=utf-8"})
            if request.path.startswith("/feeds/"):
                name = request.path.removeprefix("/feeds/")
                document = await asyncio.to_thread(self._site.feed, name)
                return (
                    document_response(document, request)
                    if document
                    else text_response(404, "no such feed; / lists them")
                )
            return self._site.api(request) or text_response(404, "nothing here; / lists the feeds")
        except (OSError, ValueError, LookupError):
            # One bad file or template must not take the other feeds with it; the log has the cause.
            _log.exception("no answer for %s", quote(request.path))
            return text_response(500, "this server failed; its log says why")

    def _own(self, request: Request) -> Response:
        """Answer for /_stats and /_control."""
        try:
            match request.path, request.method:
                case "/_stats", "GET":
                    return json_response(200, self._report())
                case "/_stats", "DELETE":
                    self._stats.clear()
                case "/_control", "DELETE":
                    self._rules.clear()
                    self._site.set_edited(edited=False)
                case "/_control", "POST":
                    self._control(request)
                case "/_control", "GET":
                    pass
                case _:
                    return text_response(
                        405, "GET, DELETE; POST for /_control", {"Allow": "GET, DELETE, POST"}
                    )
        except InvalidInput as error:
            return json_response(400, {"error": str(error)})
        return json_response(200, {"rules": [rule.model_dump() for rule in self._rules]})

    def _report(self) -> dict[str, Any]:
        return {
            "server": "sourcebook_local.serve",
            "pid": os.getpid(),
            "started_at": isoformat(self._started_at),
            "paths": {path: asdict(stats) for path, stats in sorted(self._stats.items())},
        }

    def _control(self, request: Request) -> None:
        # A web page can post a form or plain text anywhere, but JSON only where it is allowed to.
        if request.headers.get("content-type", "").split(";")[0].strip() != "application/json":
            raise InvalidInput("Content-Type", request.headers.get("content-type"), "application/json")
        try:
            control = Control.model_validate_json(request.body)
        except ValidationError as error:
            raise first_wrong(error, "body") from error
        if control.edited is not None:
            self._site.set_edited(edited=control.edited)
        self._rules.extend(control.rules)

    def _take_rule(self, path: str) -> Rule | None:
        for index, rule in enumerate(self._rules):
            if rule.matches(path):
                if rule.times == 1:
                    del self._rules[index]
                elif rule.times is not None:
                    self._rules[index] = rule.model_copy(update={"times": rule.times - 1})
                return rule
        return None


def content_type(name: str, body: bytes) -> str:
    """Return the media type of a feed by its content, or by its suffix."""
    head = body[:4096].decode("latin-1")
    if head.lstrip("ï»¿ \t\r\n").startswith("{"):
        return _CONTENT_TYPES["json"] if "jsonfeed.org/version/" in head else "application/json"
    kind = sniff_xml(head)
    if kind is not None:
        return _CONTENT_TYPES[kind]
    suffix = Path(name).suffix.lower().lstrip(".")
    return {**_CONTENT_TYPES, "html": "text/html", "htm": "text/html", "xml": "application/xml"}.get(
        suffix, "application/octet-stream"
    )


def _index(names: list[str]) -> bytes:
    links = "\n".join(f'<li><a href="/feeds/{quote(name)}">{html.escape(name)}</a></li>' for name in names)
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Feeds served by Sourcebook</title></head>
<body><h1>{len(names)} feeds</h1>
<ul>
{links}
</ul>
<p>What was asked for: <a href="/_stats">/_stats</a></p></body></html>
""".encode()


def _day(query: Mapping[str, str], name: str) -> date | None:
    text = query.get(name)
    if not text:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise InvalidInput(name, text, "a day such as 2026-11-27") from error


def _count(query: Mapping[str, str], name: str, absent: int, most: int) -> int:
    text = query.get(name, str(absent))
    if not text.isascii() or not text.isdigit() or int(text) > most:
        raise InvalidInput(name, text, f"a whole number from 0 to {most}")
    return int(text)


async def serve(site: Site, port: int, *, listening: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT.

    Args:
        site: what to serve.
        port: on 127.0.0.1; 0 for any free one.
        listening: called with the base URL once requests are answered.

    Raises:
        OSError: if the port is taken.
    """
    server = WebServer(Outside(site).answer)
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    url = f"http://{HOST}:{await server.start(port)}"
    _log.info("listening on %s", url)
    listening(url)
    await ended.wait()
    await server.stop()
    _log.info("stopped")


def main(arguments: list[str] | None = None) -> int:
    """Run the server from the command line; the first line it prints is its URL."""
    parser = argparse.ArgumentParser(
        prog="python -m sourcebook_local.serve", description="Serve feed files, or the samples, on 127.0.0.1."
    )
    parser.add_argument("--port", type=int, required=True, help="0 for any free one")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--folder", type=Path, help="a folder of feed files")
    what.add_argument("--samples", action="store_true", help="the sample feeds and news APIs")
    parser.add_argument(
        "--now", type=parse_iso, help="the hour the samples are for, e.g. 2026-11-27T21:00:00Z"
    )
    parser.add_argument("--pid-file", type=Path, help="write the process id here while running")
    parser.add_argument("--log", type=Path, help="log here instead of to standard error")
    chosen = parser.parse_args(arguments)
    handler: logging.Handler = (
        logging.handlers.RotatingFileHandler(chosen.log, maxBytes=2**21, backupCount=1, encoding="utf-8")
        if chosen.log
        else logging.StreamHandler()
    )
    logging.basicConfig(
        level=logging.INFO, handlers=[handler], format="%(asctime)s %(levelname)s %(message)s"
    )

    def listening(url: str) -> None:
        if chosen.pid_file is not None:
            chosen.pid_file.write_text(f"{os.getpid()}\n", encoding="ascii")
        say(url)

    try:
        site: Site = SampleSite(chosen.now or utc_now()) if chosen.samples else FolderSite(chosen.folder)
        asyncio.run(serve(site, chosen.port, listening=listening))
    except OSError as error:
        say(f"cannot serve: {error}; check the folder and the port", err=True)
        return 1
    if chosen.pid_file is not None:
        chosen.pid_file.unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
