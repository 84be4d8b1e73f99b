"""A site on loopback whose pages a test changes between two polls."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Page:
    """What the site answers; headers that are None are not sent."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Site:
    """Attributes:
    pages: by path. One with an ETag answers 304 to a request that names it.
    before: by path, what is done before the page is answered.
    asked: the headers of every request, in order, in lower case.
    """

    url: str
    pages: dict[str, Page] = field(default_factory=dict)
    before: dict[str, Callable[[], None]] = field(default_factory=dict)
    asked: list[dict[str, str]] = field(default_factory=list)


@contextmanager
def serve_site() -> Iterator[Site]:
    """Serve a site until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.asked.append({name.lower(): value for name, value in self.headers.items()})
            path = urlsplit(self.path).path
            site.before.get(path, lambda: None)()
            page = site.pages.get(path, Page(status=404))
            etag = page.headers.get("ETag")
            if page.status == 200 and etag and self.headers.get("If-None-Match") == etag:
                page = Page(status=304, headers={"ETag": etag})
            self.send_response(page.status)
            for name, value in page.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(page.body)))
            self.end_headers()
            self.wfile.write(page.body)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site = Site(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
