"""An HTTP endpoint beside a program that runs for long: /metrics, /healthz and /readyz."""

from __future__ import annotations

import logging
import socket
import socketserver
import threading
from collections.abc import Callable
from concurrent.futures import Future
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Generic, TypeVar

T = TypeVar("T")

_log = logging.getLogger("omd.endpoint")

_TEXT = "text/plain; charset=utf-8"
_METRICS = "text/plain; version=0.0.4; charset=utf-8"
_AT_ONCE = 32  # so many requests at once; further ones are closed
_PATIENCE = 10.0  # seconds that a client has for its request


class Shared(Generic[T]):
    """Asks once for all who ask at the same time."""

    def __init__(self, ask: Callable[[], T]) -> None:
        self._ask = ask
        self._lock = threading.Lock()
        self._on_its_way: Future[T] | None = None

    def get(self) -> T:
        """Return the answer of the question that is on its way, or of a new one."""
        with self._lock:
            answer = self._on_its_way
            is_first = answer is None
            if answer is None:
                answer = self._on_its_way = Future()
        if is_first:
            try:
                result = self._ask()
            except Exception as error:  # noqa: BLE001 - all who wait for it get it
                self._on_its_way = None
                answer.set_exception(error)
            else:
                self._on_its_way = None
                answer.set_result(result)
        return answer.result()


class Endpoint:
    """Answers GET in threads of its own, as long as the block is open.

    Args:
        host: the address; empty: all of this machine.
        port: the port; 0: one that is free.
        metrics: returns the text of the metrics; it is asked once at a time.
        turns: returns whether the loop of the program turns.
        unready: returns why the program is not ready; None: it is.
    """

    def __init__(
        self,
        host: str,
        port: int,
        *,
        metrics: Callable[[], str],
        turns: Callable[[], bool],
        unready: Callable[[], str | None],
    ) -> None:
        self._metrics = Shared(metrics)
        self._turns = turns
        self._unready = Shared(unready)
        places = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        # Without a host both families are there; one socket for IPv4 is what others do too.
        family, *_, address = min(places, key=lambda entry: entry[0] != socket.AF_INET)
        self._server = _Server(family, address, self._handler())
        self._thread = threading.Thread(
            target=self._server.serve_forever, name="omd-endpoint", daemon=True
        )

    def __enter__(self) -> Endpoint:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """Where it answers."""
        host, port = self._server.server_address[:2]
        shown = host.decode() if isinstance(host, bytes) else host
        return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"

    def answer(self, path: str) -> tuple[HTTPStatus, str, str]:
        """Return status, type and text of the answer to a request."""
        try:
            if path == "/metrics":
                return HTTPStatus.OK, _METRICS, self._metrics.get()
            if path == "/healthz":
                if self._turns():
                    return HTTPStatus.OK, _TEXT, "ok\n"
                return HTTPStatus.SERVICE_UNAVAILABLE, _TEXT, "the loop does not turn\n"
            if path == "/readyz":
                why = self._unready.get()
                if why is None:
                    return HTTPStatus.OK, _TEXT, "ok\n"
                return HTTPStatus.SERVICE_UNAVAILABLE, _TEXT, f"{why}\n"
        except Exception as error:  # noqa: BLE001 - the next request may be answered
            # The message may name hosts and users; who may see it reads the log.
            _log.warning("%s can't be answered: %s", path, error)
            name = type(error).__name__
            return HTTPStatus.SERVICE_UNAVAILABLE, _TEXT, f"{name}; the log says more\n"
        return HTTPStatus.NOT_FOUND, _TEXT, "/metrics, /healthz, /readyz\n"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            timeout = _PATIENCE

            def do_GET(self) -> None:
                status, kind, text = endpoint.answer(self.path.partition("?")[0])
                body = text.encode()
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Cache-Control", "no-store")
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            do_HEAD = do_GET  # noqa: N815 - http.server finds it by this name

            def version_string(self) -> str:
                return "omd"

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                _log.debug(format, *args)

        return Handler


class _Server(ThreadingHTTPServer):
    """A server with a limit, which asks no name server for its own name."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, family: int, address: Any, handler: type[BaseHTTPRequestHandler]) -> None:
        self.address_family = family
        self._free = threading.BoundedSemaphore(_AT_ONCE)
        super().__init__(address, handler)

    def server_bind(self) -> None:
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, _request: Any, _client_address: Any) -> None:
        _log.debug("a client has gone", exc_info=True)
