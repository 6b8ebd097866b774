"""Which requests the page takes: its own Host, its own Origin, its own peers (A3 to A6, W3)."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from omd.programs.web import peers

if TYPE_CHECKING:
    from starlette.requests import Request

    Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_DEFAULT_PORTS = {"http": 80, "https": 443}


class Refused(Exception):  # noqa: N818 - it says what happened
    """A request that the page does not take.

    Args:
        status: of the answer.
        title: what is wrong.
        text: what can be done about it.
    """

    def __init__(self, status: int, title: str, text: str) -> None:
        super().__init__(title)
        self.status = status
        self.title = title
        self.text = text


@dataclass(frozen=True)
class Guard:
    """What the page takes for its own.

    Attributes:
        public_url: the address under which browsers reach it; None: it is that of the socket.
        host: the address it listens on.
        proxies: who may say who asks, and from where.
        peer_uids: the accounts of this host that may ask over loopback.
        is_personal: whether only these may ask (login ``token``).
        is_behind_proxy: whether only the proxies may ask (login ``header``).
    """

    public_url: str | None = None
    host: str = "127.0.0.1"
    proxies: tuple[Network, ...] = ()
    peer_uids: frozenset[int] = frozenset()
    is_personal: bool = False
    is_behind_proxy: bool = False

    @property
    def public_origin(self) -> str | None:
        """Scheme, host and port of the public address, as browsers write them."""
        if self.public_url is None:
            return None
        parts = urlsplit(self.public_url)
        port = "" if parts.port in (None, _DEFAULT_PORTS[parts.scheme]) else f":{parts.port}"
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        return f"{parts.scheme}://{host}{port}"

    def check(self, request: Request) -> None:
        """Look at host, peer and, of a POST, origin.

        Raises:
            Refused: the request is not taken.
        """
        self._check_host(request)
        self._check_peer(request)
        if request.method == "POST":
            self._check_origin(request)

    def address(self, request: Request) -> str:
        """Return the address of who asks; a proxy says it by X-Forwarded-For."""
        peer = request.client.host if request.client else None
        if peer is not None and not (self._is_proxy(peer) and self._is_ours(request)):
            return peer
        stations = [
            station.strip()
            for line in request.headers.getlist("x-forwarded-for")
            for station in line.split(",")
        ]
        for station in reversed(stations):
            try:
                address = ipaddress.ip_address(station)
            except ValueError:
                break  # nobody can tell who wrote what comes before it
            if not self._is_proxy(str(address)):
                return str(address)
        return peer or "socket"

    def own_hosts(self, scope: Any) -> set[str]:
        """Return the values of Host that are the page's own."""
        port = (scope.get("server") or (None, None))[1]
        given = f"[{self.host}]" if ":" in self.host else self.host
        names = {*_LOOPBACK}
        if not peers.is_unspecified(self.host):
            names.add(given.lower())
        hosts = names if port in (None, _DEFAULT_PORTS.get(scope["scheme"])) else set()
        hosts = hosts | {f"{name}:{port}" for name in names if port is not None}
        public = self.public_origin
        return hosts | ({public.partition("://")[2].lower()} if public else set())

    def _check_host(self, request: Request) -> None:
        host = request.headers.get("host", "").lower()
        if host not in self.own_hosts(request.scope):
            known = self.public_origin or "the address that omd web has printed"
            raise Refused(421, "This is not the page's own address", f"Use {known}.")

    def _check_peer(self, request: Request) -> None:
        if request.client is None:
            return  # a Unix socket: the mode of its file says who may connect
        host = request.client.host
        if self.is_behind_proxy and not self._is_proxy(host):
            raise Refused(403, "Only the proxy may ask", "Use the address of the proxy.")
        if self.is_personal and not peers.is_loopback(host):
            raise Refused(403, "Only this machine may ask", "The login token is for loopback.")
        if (self.is_personal or self.is_behind_proxy) and not self._is_ours(request):
            text = "omd web --peer-uid names accounts of this host that may ask too."
            raise Refused(403, "This account of the host may not ask", text)

    def _is_ours(self, request: Request) -> bool:
        """Return whether the other end is of another machine, or of an account that may ask."""
        if request.client is None or not peers.is_loopback(request.client.host):
            return True
        client, server = (request.client.host, request.client.port), request.scope.get("server")
        uid = peers.uid_of(client, server) if server else None
        return uid is not None and uid in {os.geteuid(), *self.peer_uids}

    def _check_origin(self, request: Request) -> None:
        origins = request.headers.getlist("origin")
        host, public = request.headers["host"].lower(), self.public_origin
        own = {public}
        if public is None or host != public.partition("://")[2]:
            own.add(f"{request.scope['scheme']}://{host}")
        if origins:
            is_own = len(origins) == 1 and origins[0].lower() in own
        else:
            is_own = request.headers.get("sec-fetch-site") == "same-origin"
        if not is_own:
            raise Refused(403, "This form is not from this page", "Open it here and send it again.")

    def _is_proxy(self, host: str) -> bool:
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return False
        address = getattr(address, "ipv4_mapped", None) or address
        return any(address in network for network in self.proxies)


def networks(names: Sequence[str]) -> tuple[Network, ...]:
    """Return the addresses or networks of trusted proxies.

    Raises:
        ValueError: one is neither.
    """
    return tuple(ipaddress.ip_network(name) for name in names)
