"""Who is logged in: sessions in memory, and the tokens of their forms (A2, A4)."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass, field

from omd.programs.web.person import Person

COOKIE = "omd_web"
LONGEST = 12 * 3600.0
IDLE = 30 * 60.0
_FORMS = 1000  # so many open forms of a session; older ones have to be opened again


@dataclass
class Session:
    """One login in one browser."""

    person: Person
    began: float
    seen: float
    _forms: OrderedDict[str, tuple[str, object]] = field(default_factory=OrderedDict)

    @classmethod
    def of(cls, person: Person) -> Session:
        """Return a new session, which has no cookie yet."""
        now = time.monotonic()
        return cls(person, now, now)

    def form_token(self, path: str, shown: object = True) -> str:
        """Return a token for a form that is sent to a path, without the prefix of the page.

        Args:
            path: of the form.
            shown: what the form shows, for which its token stands.
        """
        token = secrets.token_urlsafe(24)
        self._forms[token] = (path, shown)
        while len(self._forms) > _FORMS:
            self._forms.popitem(last=False)
        return token

    def spend(self, token: str, path: str) -> object:
        """Return what the form of a token showed, and take the token: it works once.

        None: it is no token of a form of this path.
        """
        sent_to, shown = self._forms.pop(token, ("", None))
        return shown if sent_to == path else None


class Sessions:
    """All logins; of a cookie only the hash is kept."""

    def __init__(self, idle: float = IDLE) -> None:
        self._idle = idle
        self._all: dict[bytes, Session] = {}

    def begin(self, session: Session) -> str:
        """Keep a session and return its cookie."""
        cookie = secrets.token_urlsafe(32)
        self._all[_hash(cookie)] = session
        return cookie

    def of(self, cookie: str | None, *, looks: bool = True) -> Session | None:
        """Return the session of a cookie; a request that nobody made does not keep it awake."""
        session = self._all.get(_hash(cookie)) if cookie else None
        if session is None or self._is_over(session):
            return None
        if looks:
            session.seen = time.monotonic()
        return session

    def end(self, cookie: str) -> Session | None:
        """End a session."""
        return self._all.pop(_hash(cookie), None)

    def ended(self) -> list[Session]:
        """Remove and return the sessions that are over."""
        over = [key for key, session in self._all.items() if self._is_over(session)]
        return [self._all.pop(key) for key in over]

    def all(self) -> list[Session]:
        """Return the sessions that are there."""
        return list(self._all.values())

    def _is_over(self, session: Session) -> bool:
        now = time.monotonic()
        return now - session.began > LONGEST or now - session.seen > self._idle


def _hash(cookie: str) -> bytes:
    return hashlib.sha256(cookie.encode("utf-8", "replace")).digest()
