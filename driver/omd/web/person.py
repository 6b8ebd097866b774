"""Who looks: the rights to read, and the connections that nobody else uses (A1, A2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count

from omd.web.opening import Connection
from omd.web.personal import Connections
from omd.web.section import Row, Select


@dataclass(frozen=True)
class Rights:
    """What a database user may read.

    Attributes:
        roles: those of OMD that the user has.
    """

    roles: tuple[str, ...] = ()

    @property
    def is_reader(self) -> bool:
        """Whether the user may look at all."""
        return "omd_reader" in self.roles

    @property
    def is_data_reader(self) -> bool:
        """Whether the user may see business rows and the texts of errors."""
        return "omd_data_reader" in self.roles


_RIGHTS = """\
SELECT r.rolname
FROM pg_catalog.pg_roles AS r
WHERE r.rolname IN (
    'omd_reader', 'omd_data_reader', 'omd_data_writer', 'omd_runner', 'omd_admin', 'omd_owner'
) AND EXISTS (
    SELECT FROM pg_catalog.pg_roles AS u
    WHERE u.rolname = %(user)s AND pg_catalog.pg_has_role(u.oid, r.oid, 'USAGE')
)
ORDER BY r.oid"""


def rights_of(user: str, read: Callable[[Select], list[Row]]) -> Rights:
    """Return the rights of a database user; one who is not there has none."""
    return Rights(tuple(row["rolname"] for row in read(Select(_RIGHTS, {"user": user}))))


class Person:
    """A database user who looks, with at most two connections of their own.

    Args:
        user: the name in the database.
        open_: opens a connection that acts as this user.
        is_shown_only: whether actions that run a user's SQL are only shown (login ``header``).
        connections: those of all people of the page; somebody who has logged in twice has no more.
    """

    def __init__(
        self,
        user: str,
        open_: Callable[[], Connection],
        *,
        is_shown_only: bool = False,
        connections: Connections | None = None,
    ) -> None:
        self.user = user
        self.is_shown_only = is_shown_only
        self.rights = Rights()
        self.judged_at = float("-inf")  # time.monotonic() when the rights were looked at
        self.personal = (connections or Connections()).of(user, str(next(_numbers)), open_)

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles of OMD that the user has."""
        return self.rights.roles

    @property
    def is_data_reader(self) -> bool:
        """Whether the user may see business rows and the texts of errors."""
        return self.rights.is_data_reader

    @contextmanager
    def own(self) -> Iterator[Connection]:
        """Lend a connection of this person's own, without an open transaction.

        Raises:
            AllAtWorkError: both were at work for 5 s.
        """
        with self.personal.connection() as connection:
            yield connection

    def read(self, select: Select, patience: str = "5s") -> list[Row]:
        """Return the rows of a query that only this person may see."""
        with self.own() as connection, connection.transaction():
            # One text would be one implicit transaction too, but would say less about an error.
            connection.execute(
                f"SET TRANSACTION READ ONLY; SET LOCAL statement_timeout = '{patience}'"
            )
            return connection.execute(select.sent.encode()).fetchall()

    def expire(self) -> None:
        """Close the idle connections; what is at work goes on."""
        self.personal.leave()

    def leave(self) -> None:
        """Close all connections; what they execute is cancelled."""
        self.personal.end()


_numbers = count(1)
