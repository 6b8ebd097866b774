"""Who looks: the rights to read, and the connections that nobody else uses (A1, A2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from psycopg import sql

from omd.programs.web.opening import Connection
from omd.programs.web.personal import Personal
from omd.programs.web.selects import Row, Select


@dataclass(frozen=True)
class Rights:
    """What a database user may do.

    Attributes:
        user: the name.
        is_there: whether there is such a role.
        roles: those of OMD that the user has.
        can_log_in: whether the role may log in and its password is not over.
        is_mighty: whether it is, or may become, a role that no proxy can let in.
        may_be_taken: whether the page's login may take on this role.
        page: the page's login.
        version: of the server, as libpq has it.
        actions: the codes of the actions whose routine the user may call.
    """

    user: str = ""
    is_there: bool = False
    roles: tuple[str, ...] = ()
    can_log_in: bool = False
    is_mighty: bool = True
    may_be_taken: bool = False
    page: str = ""
    version: int = 0
    actions: frozenset[str] = frozenset()

    @property
    def is_reader(self) -> bool:
        """Whether the user may look at all."""
        return "omd_reader" in self.roles

    @property
    def is_data_reader(self) -> bool:
        """Whether the user may see business rows and the texts of errors."""
        return "omd_data_reader" in self.roles

    @property
    def grant(self) -> str:
        """The statement by which the page's login may take on this role."""
        options = " WITH INHERIT FALSE, SET TRUE" if self.version >= 160000 else ""
        return f"GRANT {_quoted(self.user)} TO {_quoted(self.page)}{options};"

    @property
    def reader_grant(self) -> str:
        """The statement by which the user may look."""
        return f"GRANT omd_reader TO {_quoted(self.user)};"


_RIGHTS = """\
SELECT
    u.rolname AS "user",
    TRUE AS is_there,
    u.rolcanlogin AND coalesce(u.rolvaliduntil > pg_catalog.now(), TRUE) AS can_log_in,
    u.rolname LIKE 'omd\\_%%' OR EXISTS (
        SELECT FROM pg_catalog.pg_roles AS m
        WHERE (
            m.rolsuper OR m.rolcreaterole OR m.rolreplication OR m.rolname IN (
                'omd_owner', 'pg_read_server_files', 'pg_write_server_files',
                'pg_execute_server_program'
            )
        ) AND pg_catalog.pg_has_role(u.oid, m.oid, 'MEMBER')
    ) AS is_mighty,
    pg_catalog.pg_has_role(
        session_user, u.oid, CASE WHEN v.version >= 160000 THEN 'SET' ELSE 'MEMBER' END
    ) AS may_be_taken,
    session_user AS page,
    v.version,
    ARRAY(
        SELECT r.rolname::text FROM pg_catalog.pg_roles AS r
        WHERE r.rolname IN (
            'omd_reader', 'omd_data_reader', 'omd_data_writer', 'omd_runner', 'omd_admin',
            'omd_owner'
        ) AND pg_catalog.pg_has_role(u.oid, r.oid, 'USAGE')
        ORDER BY r.oid
    ) AS roles
FROM pg_catalog.pg_roles AS u
CROSS JOIN
    (SELECT pg_catalog.current_setting('server_version_num')::integer AS version) AS v
WHERE u.rolname = %(user)s"""

_ACTIONS = """\
SELECT a.action_code
FROM omd_web.action AS a
INNER JOIN pg_catalog.pg_roles AS u ON u.rolname = %(user)s
WHERE pg_catalog.has_function_privilege(
    u.oid, pg_catalog.to_regproc(a.routine)::oid, 'EXECUTE'
)"""


def rights_of(user: str, read: Callable[[Select], list[Row]]) -> Rights:
    """Return the rights of a database user."""
    for row in read(Select(_RIGHTS, {"user": user})):
        actions = frozenset(row["action_code"] for row in read(Select(_ACTIONS, {"user": user})))
        return Rights(**{**row, "roles": tuple(row["roles"]), "actions": actions})
    return Rights(user)


def _quoted(name: str) -> str:
    return sql.Identifier(name).as_string(None)


class Person:
    """A database user who looks, with at most two connections of their own.

    Args:
        user: the name in the database.
        open_: opens a connection that acts as this user.
        is_shown_only: whether actions that run a user's SQL are only shown (login ``header``).
    """

    def __init__(
        self, user: str, open_: Callable[[], Connection], *, is_shown_only: bool = False
    ) -> None:
        self.user = user
        self.is_shown_only = is_shown_only
        self.rights = Rights()
        self.judged_at = float("-inf")  # time.monotonic() when the rights were looked at
        self.personal = Personal(open_)
        self.share: Any = None  # of the connections that read for all; it belongs to the loop
        self.fetches = 0  # tables that are sent as CSV now

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
