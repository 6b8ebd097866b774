"""A receiver of webhooks that does what a test tells it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Request:
    path: str
    headers: Mapping[str, str]  # by names in lower case
    body: str
    client: tuple[str, int]


Answer = Callable[[BaseHTTPRequestHandler, Request], None]


def answers(status: int, text: str = "", **headers: str) -> Answer:
    """Return what answers with this status; `Retry_After` is the header Retry-After."""

    def answer(handler: BaseHTTPRequestHandler, _request: Request) -> None:
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(text)))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(text.encode())

    return answer


@dataclass
class Receiver:
    url: str = ""
    requests: list[Request] = field(default_factory=list)
    answer: Answer = field(default_factory=lambda: answers(200))
    news: threading.Condition = field(default_factory=threading.Condition)

    def wait_for(self, count: int) -> None:
        """Wait until so many requests have come."""
        with self.news:
            assert self.news.wait_for(lambda: len(self.requests) >= count, 60), self.requests


@contextmanager
def receiving(answer: Answer | None = None) -> Iterator[Receiver]:
    receiver = Receiver()
    if answer is not None:
        receiver.answer = answer

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Request(self.path, headers, body, self.client_address)
            with receiver.news:
                receiver.requests.append(request)
                receiver.news.notify_all()
            receiver.answer(self, request)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    thread = threading.Thread(target=server.serve_forever, args=[0.05], daemon=True)
    thread.start()
    receiver.url = f"http://127.0.0.1:{server.server_port}/hook/T0KEN?q=1"
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
