"""Whose process is at the other end of a connection over loopback (W3).

All accounts of a host share loopback, so the address says nothing about who asks. Linux says in
/proc/net/tcp to which account the socket of the other end belongs.
"""

from __future__ import annotations

import ipaddress
import struct
from pathlib import Path

_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_TRIES = 3  # the table may change while it is read


def can_tell() -> bool:
    """Return whether this system says whose a socket is."""
    return _TABLES[0].exists()


def is_loopback(host: str) -> bool:
    """Return whether an address or name is this machine's own, which no other machine reaches."""
    if host.lower() == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)


def is_unspecified(host: str) -> bool:
    """Return whether an address stands for all of this machine."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


def uid_of(client: tuple[str, int], server: tuple[str, int]) -> int | None:
    """Return the account whose process holds the client's end; None: there is no such process.

    A socket whose process has closed it has no inode, and is shown as root's.
    """
    ends = {
        f"{_written(client[0], is_v6)}:{client[1]:04X} {_written(server[0], is_v6)}:{server[1]:04X}"
        for is_v6 in (False, True)
    }
    for _ in range(_TRIES):
        for table in _TABLES:
            for line in (
                table.read_text(encoding="ascii").splitlines()[1:] if table.exists() else ()
            ):
                fields = line.split()
                if f"{fields[1]} {fields[2]}" in ends and fields[9] != "0":
                    return int(fields[7])
    return None


def _written(host: str, is_v6: bool) -> str:
    """Return an address as the tables of the kernel have it: words in the order of the machine."""
    address = ipaddress.ip_address(host.partition("%")[0])
    mapped = getattr(address, "ipv4_mapped", None) or address
    if isinstance(mapped, ipaddress.IPv4Address):
        packed = (b"\0" * 10 + b"\xff\xff" if is_v6 else b"") + mapped.packed
    elif is_v6:
        packed = mapped.packed
    else:
        return "none"
    return "".join(f"{word:08X}" for word in struct.unpack(f"={len(packed) // 4}I", packed))
