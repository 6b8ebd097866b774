"""The page as a program: its socket, and the server that answers on it."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import uvicorn

if TYPE_CHECKING:
    from omd.web.application import Application

GRACE = 3  # seconds that requests have to end after SIGTERM


class Server(uvicorn.Server):
    """A server that ends quietly after SIGTERM or Ctrl-C."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals in the loop; uvicorn itself would raise them again at the end."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End; streams, which would go on for ever, end at once."""
        application: Application = self.config.app  # type: ignore[assignment]
        for end in application.site.at_end:
            end()
        await super().shutdown(sockets)


def bound(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 is one that is free."""
    places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, kind, protocol, _, address = min(places, key=lambda p: p[0] != socket.AF_INET)
    listening = socket.socket(family, kind, protocol)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(address)
    listening.listen(128)
    return listening


def configured(application: Application, **tls: Any) -> uvicorn.Config:
    """Return the settings of the server: it trusts no header and adds none."""
    return uvicorn.Config(
        application,
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=GRACE,
        **tls,
    )


def serve(application: Application, listening: socket.socket, **tls: Any) -> None:
    """Answer until SIGTERM or Ctrl-C."""
    try:
        asyncio.run(Server(configured(application, **tls)).serve(sockets=[listening]))
    finally:
        application.site.close()
