"""`Receiver` is an HTTP server that answers as a test tells it, and keeps what it got."""

from __future__ import annotations

import gzip
import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass
class Answer:
    """An answer; the body is given with its length unless it is None: then nothing is said."""

    status: int | None = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


class Receiver:
    """Listens on loopback; `answer` decides about each request, and `got` has the bodies taken."""

    def __init__(self) -> None:
        self.answer: Callable[[dict[str, Any]], Answer] = lambda _event: Answer()
        self.got: list[bytes] = []  # what was answered with 2xx
        self.asked: list[bytes] = []  # all requests
        self.headers: list[dict[str, str]] = []
        self.released = threading.Event()  # ends requests that get no answer
        self.came = threading.Condition()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                answer = receiver.answer(json.loads(body))
                with receiver.came:
                    receiver.asked.append(body)
                    receiver.headers.append(dict(self.headers.items()))
                    if answer.status is not None and 200 <= answer.status < 300:
                        receiver.got.append(body)
                    receiver.came.notify_all()
                if answer.status is None:
                    receiver.released.wait()
                    self.close_connection = True
                    return
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body)

            def log_message(self, *_: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

        self._server = Server(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()

    def wait(self, condition: Callable[[Receiver], bool], seconds: float = 30) -> None:
        """Wait until something is true of what has come."""
        with self.came:
            assert self.came.wait_for(lambda: condition(self), seconds), self.asked

    def events(self) -> list[tuple[str, str]]:
        """Return type and job of what was taken."""
        events = [json.loads(body) for body in self.got]
        return [(event["eventType"], event["job"]["name"]) for event in events]


@contextmanager
def listening() -> Iterator[Receiver]:
    """A receiver, which is closed at the end."""
    receiver = Receiver()
    try:
        yield receiver
    finally:
        receiver.close()
