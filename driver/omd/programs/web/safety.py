"""Which ways to start the page are refused, since others could take what is not theirs (A7)."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from urllib.parse import urlsplit

from omd.programs.web import peers


def way_out(
    *,
    login: str,
    host: str,
    is_socket: bool,
    is_tls: bool,
    public_url: str | None,
    proxies: Sequence[str],
    prefix: str,
) -> str | None:
    """Return what has to be given instead; None: the page may be started so."""
    is_local = is_socket or peers.is_loopback(host)
    is_https = is_tls or (public_url is not None and urlsplit(public_url).scheme == "https")
    if login == "token" and not is_local:
        return (
            f"The login token is for one person on this machine, not for {host}. Others log in with"
            " --login database, or with --login header behind a proxy that knows them."
        )
    if login == "database" and not is_local and not is_https:
        return (
            f"Passwords would cross the network to {host} as they are. Give --tls-cert and"
            " --tls-key, or the https address of a proxy as --public-url."
        )
    if login == "header" and not proxies and not is_socket:
        return (
            "Anybody could send the header. Name the proxy from which it counts: --trusted-proxy"
            " ADDRESS, or --socket FILE that the proxy alone can reach."
        )
    if not is_socket and not peers.can_tell() and _asks_whose(login, proxies):
        return (
            "This system does not say whose a connection over loopback is, and all accounts of the"
            " host share it. Use --socket FILE."
        )
    path = urlsplit(public_url).path.rstrip("/") if public_url is not None else ""
    if path not in ("", prefix):
        return f"--public-url has the path {path}; give --prefix {path} too."
    return None


def _asks_whose(login: str, proxies: Sequence[str]) -> bool:
    """Return whether the account at the other end of loopback counts."""
    networks = [ipaddress.ip_network(name) for name in proxies]
    return login == "token" or (
        login == "header" and any(network.is_loopback for network in networks)
    )
