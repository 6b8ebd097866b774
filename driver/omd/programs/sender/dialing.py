"""Which addresses a sender connects to, where nobody who runs it has named the receiver.

Who registers a sink administers OMD, and is no user of this host or its network. A name is looked
up once, and the address that was looked at is the one that is connected to.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import time


class NotPublic(OSError):  # noqa: N818 - it says what was found
    """A host has no address that everybody on the internet may reach."""


def is_public(address: str) -> bool:
    """Return whether an address is one of the internet, and not of this host or its networks.

    An IPv6 address by which a gateway reaches an IPv4 address is not: nobody can say which network
    that is.
    """
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:
            return is_public(str(parsed.ipv4_mapped))
        if parsed.is_site_local or parsed.sixtofour or parsed.teredo:
            return False
    return parsed.is_global and not (parsed.is_multicast or parsed.is_reserved)


def dial(host: str, port: int, timeout: float, *, anywhere: bool) -> socket.socket:
    """Connect to a host.

    Args:
        host: its name or address.
        port: the port.
        timeout: seconds for all of it, and then for each read.
        anywhere: whether its address may be any.

    Raises:
        NotPublic: none of its addresses is public, and only such may be.
        OSError: it can't be reached.
    """
    until = time.monotonic() + timeout
    failure: OSError = NotPublic()
    for family, kind, protocol, _, place in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        if not (anywhere or is_public(str(place[0]))):
            continue
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        sock = socket.socket(family, kind, protocol)
        try:
            sock.settimeout(left)
            sock.connect(place)
            sock.settimeout(timeout)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            sock.close()
            failure = error
        else:
            return sock
    raise failure


class Connection(http.client.HTTPConnection):
    """Talks HTTP with a host.

    Args:
        host: its name or address.
        port: the port.
        timeout: seconds for the connection, and then for each read.
        anywhere: whether its address may be any.
    """

    def __init__(self, host: str, port: int, timeout: float, *, anywhere: bool) -> None:
        super().__init__(host, port, timeout=timeout)
        self._seconds = timeout
        self._anywhere = anywhere

    def connect(self) -> None:
        """Connect to an address that may be."""
        self.sock = dial(self.host, self.port, self._seconds, anywhere=self._anywhere)


class TLSConnection(Connection):
    """Talks HTTPS with a host, whose certificate has to be valid for its name."""

    default_port = http.client.HTTPS_PORT

    def connect(self) -> None:
        """Connect to an address that may be, and see that it is the host."""
        super().connect()
        context = ssl.create_default_context()
        self.sock = context.wrap_socket(self.sock, server_hostname=self.host)
