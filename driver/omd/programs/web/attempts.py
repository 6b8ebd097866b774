"""How often one may fail to log in, and how soon one hears of it (A5)."""

from __future__ import annotations

import asyncio
import ipaddress
import math
from collections import deque
from time import monotonic

MINUTE = 60.0
PER_NAME = 5
PER_ADDRESS = 20
_MOST = 100_000  # entries; beyond it the oldest are forgotten


class Attempts:
    """The logins of the last minute that have failed, or are on their way."""

    def __init__(self) -> None:
        self._all: deque[tuple[float, str, str]] = deque()

    def wait(self, name: str, address: str) -> int | None:
        """Return the seconds until another attempt is looked at; None: it is looked at now."""
        now, place = monotonic(), _place(address)
        while self._all and (self._all[0][0] <= now - MINUTE or len(self._all) > _MOST):
            self._all.popleft()
        here = [at for at, other, _ in self._all if other == place]
        so = [at for at, other, its in self._all if other == place and its == name]
        waits = [
            ats[-most] + MINUTE - now
            for ats, most in ((here, PER_ADDRESS), (so, PER_NAME))
            if len(ats) >= most
        ]
        return max(1, math.ceil(max(waits))) if waits else None

    def begin(self, name: str, address: str) -> tuple[float, str, str]:
        """Count an attempt before it is made, so that many at once are counted too."""
        attempt = (monotonic(), _place(address), name)
        self._all.append(attempt)
        return attempt

    def succeeded(self, attempt: tuple[float, str, str]) -> None:
        """Forget an attempt that was none of guessing."""
        if attempt in self._all:
            self._all.remove(attempt)


async def whole_second(began: float) -> None:
    """Wait until a whole number of seconds has passed, at least one.

    So it looks alike from outside, whatever was wrong.
    """
    passed = monotonic() - began
    await asyncio.sleep(max(1, math.ceil(passed)) - passed)


def _place(address: str) -> str:
    """Return what counts as one address: whoever has one of IPv6 has 2**64 of them."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is None:
        return str(ipaddress.ip_network((parsed, 64), strict=False))
    return address
