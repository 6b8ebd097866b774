"""Tokens of the form with which one logs in, before there is a session."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time

LIFE = 1800.0


class Stamps:
    """Makes tokens that it does not keep; it remembers used ones until they are over."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._used: dict[str, float] = {}

    def make(self) -> str:
        """Return a token."""
        content = f"{time.monotonic() + LIFE:.0f}.{secrets.token_urlsafe(16)}"
        return f"{content}.{self._sign(content)}"

    def spend(self, token: str) -> bool:
        """Return whether this is a token that has not been used yet, and take it."""
        content, _, sign = token.rpartition(".")
        if not hmac.compare_digest(sign.encode(), self._sign(content).encode()):
            return False
        now = time.monotonic()
        self._used = {used: over for used, over in self._used.items() if over > now}
        over = float(content.partition(".")[0])
        if content in self._used or over <= now:
            return False
        self._used[content] = over
        return True

    def _sign(self, content: str) -> str:
        return hmac.new(self._key, content.encode("utf-8", "replace"), hashlib.sha256).hexdigest()
