"""moto of this process, for other processes to reach: what they have written outlives them."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import requests

_SCOPE = re.compile(r"Credential=[^/]+/\d+/(?P<region>[^/]+)/(?P<service>[^/]+)/")


class _Forward(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        scope = _SCOPE.search(self.headers["Authorization"])
        assert scope is not None
        host = f"{scope['service']}.{scope['region']}.amazonaws.com"
        headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
        answer = requests.request(
            self.command, f"https://{host}{self.path}", data=body, headers=headers, timeout=60
        )
        self.send_response(answer.status_code)
        self.send_header("Content-Type", answer.headers.get("Content-Type", ""))
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    def do_GET(self) -> None:
        self.do_POST()

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def cloud_over_http() -> Iterator[str]:
    """Yield the address at which moto answers every service; within `mock_aws`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Forward)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
