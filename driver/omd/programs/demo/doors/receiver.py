"""The receiver of the demo: a small server of HTTP that verifies what it gets, and can go down."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PATH = "/doors"
_TOLERANCE = 300  # seconds between its clock and the one of the sender


@dataclass(frozen=True)
class Receipt:
    """A request that has come."""

    headers: Mapping[str, str]  # by names in lower case
    body: bytes
    is_signed: bool  # whether its signature fits
    is_answered: bool  # whether the sender knows that it has arrived


class Receiver:
    """Listens on a free port of the loopback device while its block is open."""

    def __init__(self) -> None:
        self.secret = "whsec_" + base64.b64encode(secrets.token_bytes(24)).decode()
        self.receipts: list[Receipt] = []
        self._is_down = False
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}{PATH}"

    def __enter__(self) -> Receiver:
        threading.Thread(target=self._server.serve_forever, args=[0.05], daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def go_down(self) -> None:
        """Break down at the next request: from then on nobody gets an answer."""
        self._is_down = True

    def come_back(self) -> None:
        """Answer again."""
        self._is_down = False

    @property
    def unanswered(self) -> int:
        """The number of requests that have got no answer."""
        return sum(not receipt.is_answered for receipt in self.receipts)

    def receive(self, headers: Mapping[str, str], body: bytes) -> bool:
        """Keep a request; returns whether it is answered."""
        is_answered = not self._is_down
        is_signed = verifies(headers, body, self.secret, time.time())
        self.receipts.append(Receipt(headers, body, is_signed, is_answered))
        return is_answered


def verifies(headers: Mapping[str, str], body: bytes, secret: str, now: float) -> bool:
    """Return whether a request is signed with a secret, as Standard Webhooks say."""
    moment = headers.get("webhook-timestamp", "")
    if not moment.isdecimal() or abs(now - int(moment)) > _TOLERANCE:
        return False
    content = f"{headers.get('webhook-id', '')}.{moment}.".encode() + body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    wanted = "v1," + base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode()
    return any(
        hmac.compare_digest(wanted.encode(), given.encode())
        for given in headers.get("webhook-signature", "").split()
    )


def _handler(receiver: Receiver) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            if receiver.receive(headers, body):
                self.send_response(204)
                self.end_headers()
            else:
                self.close_connection = True  # without a word

        def log_message(self, *_: Any) -> None:
            pass

    return Handler
