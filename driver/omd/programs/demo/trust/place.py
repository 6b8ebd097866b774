"""The place of the demo on a server that is somebody else's: it is made, and removed again.

Where the database has no OMD, OMD is installed there for as long as the demo lasts. Where it has,
people work with it, and whatever the demo did would be in their logs, metrics and alerts for good;
so the demo makes a database of its own beside it.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg.rows import tuple_row

from omd._core.errors import OmdError
from omd.programs import install

NAME = "trust_demo"  # of the schema, and of the database if there is one of its own
_COMMENT = "Made by omd demo trust, which removes it."
_PATIENCE = 30.0  # seconds for which a removal waits for what was killed a moment ago
_LAST = "omd_owner"  # with its rights the others are given back

_OUTSIDE = {
    "schema": (
        "SELECT n.nspname FROM pg_namespace AS n WHERE n.nspname ~ '^(omd(_.*)?|trust_demo)$'"
    ),
    "role": "SELECT r.rolname FROM pg_roles AS r WHERE r.rolname ~ '^omd_'",
    "database": "SELECT d.datname FROM pg_database AS d WHERE d.datname = 'trust_demo'",
    "grant on the database": (
        "SELECT r.rolname || ' ' || a.privilege_type FROM pg_database AS d"
        " CROSS JOIN LATERAL aclexplode(d.datacl) AS a"
        " INNER JOIN pg_roles AS r ON r.oid = a.grantee"
        " WHERE d.datname = current_database() AND r.rolname ~ '^omd_'"
    ),
}
_MEMBERS = """
SELECT r.rolname, m.rolname, g.rolname, {options}
  FROM pg_auth_members AS a
 INNER JOIN pg_roles AS r ON r.oid = a.roleid
 INNER JOIN pg_roles AS m ON m.oid = a.member
 INNER JOIN pg_roles AS g ON g.oid = a.grantor
 WHERE r.rolname ~ '^omd_' OR m.rolname ~ '^omd_'
"""
_LOOK = """
SELECT pg_backend_pid(),
       pg_is_in_recovery(),
       to_regnamespace(%(name)s) IS NOT NULL,
       EXISTS (SELECT FROM pg_database AS d WHERE d.datname = %(name)s),
       (SELECT r.rolsuper OR r.rolcreatedb FROM pg_roles AS r WHERE r.rolname = current_user),
       current_user,
       current_database()
"""
_HAS_OPTIONS = 160000  # since this version a membership says what it is good for


@dataclass(frozen=True)
class Footprint:
    """What OMD has outside of its schemas, and which schemas it has."""

    names: frozenset[tuple[str, str]]  # of what, and its name
    members: dict[tuple[str, str, str], tuple[bool, ...]]  # role, member, grantor: the options

    def more_than(self, before: Footprint) -> list[str]:
        """Return, in words, what is here and was not before, or the other way round."""
        changed = [f"{kind} {name}" for kind, name in sorted(self.names ^ before.names)]
        return changed + [
            f"membership of {member} in {role}"
            for role, member, grantor in sorted(self.members.keys() | before.members.keys())
            if self.members.get((role, member, grantor))
            != before.members.get((role, member, grantor))
        ]


def footprint(conn: psycopg.Connection[Any]) -> Footprint:
    """Return what there is now."""
    options = "a.admin_option"
    if conn.info.server_version >= _HAS_OPTIONS:
        options += ", a.inherit_option, a.set_option"
    with install.pinned(conn), conn.cursor(row_factory=tuple_row) as cursor:
        names = frozenset(
            (kind, name)
            for kind, query in _OUTSIDE.items()
            for (name,) in cursor.execute(query.encode()).fetchall()
        )
        rows = cursor.execute(_MEMBERS.format(options=options).encode()).fetchall()
    return Footprint(names, {(row[0], row[1], row[2]): tuple(row[3:]) for row in rows})


@dataclass
class Place:
    """Where the demo is played."""

    given: str  # the database that the user has named
    dsn: str  # that of the demo
    before: Footprint
    is_own: bool  # whether the demo makes its database
    user: str
    database: str
    host: str
    left: list[str] = field(default_factory=list)  # what could not be removed, in words

    def plan(self) -> list[str]:
        """Return what will be made, in sentences."""
        where = f"database {self.database} at {self.host}, as {self.user}"
        if self.is_own:
            return [
                f"In {where}, OMD is there already, and others work with it.",
                f"So the demo makes a database {NAME} beside it, installs OMD in it, and drops it.",
            ]
        return [
            f"In {where}, there is no OMD.",
            "The demo installs it there, as omd install does (omd install --plan shows each part),",
            f"makes a schema {NAME} with one table, and removes both at the end.",
        ]


def look(dsn: str) -> Place:
    """Return where the demo may be played; it changes nothing.

    Raises:
        OmdError: there is no place for it.
    """
    with _connect(dsn) as conn:
        info = conn.info
        if not 15 <= info.server_version // 10000 <= 18:
            raise OmdError(f"This is PostgreSQL {info.server_version // 10000}.", hint="omd doctor")
        with install.pinned(conn), conn.cursor(row_factory=tuple_row) as cursor:
            cursor.execute(_LOOK, {"name": NAME})
            [(pid, in_recovery, has_schema, has_database, may_create, user, database)] = cursor
        is_installed = install.is_installed(conn)
        if pid != info.backend_pid:
            raise OmdError(
                "There is a pooler before this server.",
                hint="Name the server itself: omd demo trust --dsn …",
            )
        if in_recovery:
            raise OmdError("This server is a standby, so nothing can be written here.")
        if has_schema:
            raise OmdError(
                f"The schema {NAME} is there already, so the demo does not touch this database.",
                hint=f"If an earlier demo was killed: DROP SCHEMA {NAME} CASCADE; omd uninstall",
            )
        if is_installed and has_database:
            raise OmdError(
                f"The database {NAME} is there already, and the demo makes one of this name.",
                hint=f"If an earlier demo was killed: DROP DATABASE {NAME};",
            )
        if is_installed and not may_create:
            raise OmdError(
                f"Others work with OMD in this database, and {user} may create no other one.",
                hint="Name a database without OMD: omd demo trust --dsn …",
            )
        return Place(
            given=dsn,
            dsn=make_conninfo(dsn, dbname=NAME) if is_installed else dsn,
            before=footprint(conn),
            is_own=is_installed,
            user=user,
            database=database,
            host=info.host or info.hostaddr or "local socket",
        )


@contextmanager
def made(place: Place, stop: Callable[[], None]) -> Iterator[psycopg.Connection[Any]]:
    """Make the place, and remove it afterwards, whatever has happened meanwhile.

    Args:
        place: what `look` has returned.
        stop: ends what still works in it, before the removal.
    """
    try:
        if place.is_own:
            with _connect(place.given) as conn:
                conn.execute(f"CREATE DATABASE {NAME}".encode())
                comment = sql.SQL("COMMENT ON DATABASE {} IS {}")
                conn.execute(comment.format(sql.Identifier(NAME), _COMMENT))
        with _connect(place.dsn) as conn:
            install.install(conn)
            _grant_roles(conn)
            with install.pinned(conn):
                conn.execute(f"CREATE SCHEMA {NAME}".encode())
                conn.execute(sql.SQL("COMMENT ON SCHEMA {} IS {}").format(_name(), _COMMENT))
            yield conn
    finally:
        with _undisturbed():
            stop()
            place.left = _removed(place)


def _name() -> sql.Identifier:
    return sql.Identifier(NAME)


def _connect(dsn: str) -> psycopg.Connection[Any]:
    conn = psycopg.connect(
        dsn,
        autocommit=True,
        application_name="omd demo trust",
        connect_timeout=10,
        prepare_threshold=None,
    )
    # The statements are for people, so they do not name the schema of each function; and no session
    # finds one that somebody put into public.
    conn.execute("SET search_path = pg_catalog, pg_temp")
    return conn


def _grant_roles(conn: psycopg.Connection[Any]) -> None:
    """Let the user register and run; a superuser may, and who has installed may grant it."""
    for role in ("omd_admin", "omd_runner"):
        with install.pinned(conn), conn.cursor(row_factory=tuple_row) as cursor:
            [(has,)] = cursor.execute("SELECT pg_has_role(%s, 'USAGE')", [role]).fetchall()
            if not has:
                grant = sql.SQL("GRANT {} TO CURRENT_USER")
                cursor.execute(grant.format(sql.Identifier(role)))


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let a second Ctrl-C not leave half of the demo on the server."""
    before = {}
    with suppress(ValueError):  # this is not the main thread, which alone gets signals
        for number in (signal.SIGINT, signal.SIGTERM):
            before[number] = signal.signal(number, signal.SIG_IGN)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _removed(place: Place) -> list[str]:
    """Remove what was made; return what could not be."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            with _connect(place.given) as conn:
                _remove(conn, place)
                return footprint(conn).more_than(place.before)
        except (psycopg.Error, OmdError) as error:
            # What was killed a moment ago may hold its locks, or be connected, a little longer.
            if time.monotonic() > until:
                text = str(error).strip().splitlines()[0]
                return [f"whatever the demo has made in {place.database}: {text}"]
            time.sleep(0.3)


def _remove(conn: psycopg.Connection[Any], place: Place) -> None:
    now = footprint(conn)
    if place.is_own:
        conn.execute(f"DROP DATABASE IF EXISTS {NAME}".encode())
    else:
        conn.execute("SET lock_timeout = '5s'")
        if ("schema", NAME) in now.names:
            conn.execute(f"DROP SCHEMA {NAME} CASCADE".encode())
        if now.names - place.before.names:
            # Roles that were there before belong to somebody, even where no database uses them.
            had_roles = ("role", "omd_owner") in place.before.names
            install.uninstall(conn, keep_roles=had_roles)
    _restore(conn, place.before)


def _restore(conn: psycopg.Connection[Any], before: Footprint) -> None:
    """Take back what the installation has granted to roles that were there, and stay."""
    now = footprint(conn)
    for kind, name in sorted(now.names - before.names):
        if kind == "grant on the database":
            grantee, _, privilege = name.partition(" ")
            revoke = sql.SQL("REVOKE {} ON DATABASE {} FROM {}").format(
                sql.SQL(privilege), sql.Identifier(conn.info.dbname), sql.Identifier(grantee)
            )
            conn.execute(revoke)
    has_options = conn.info.server_version >= _HAS_OPTIONS
    for key, options in sorted(now.members.items(), key=lambda item: item[0][0] == _LAST):
        if options == before.members.get(key):
            continue
        role, member, grantor = map(sql.Identifier, key)
        by = sql.SQL(" GRANTED BY {}").format(grantor) if has_options else sql.SQL("")
        if key not in before.members:
            conn.execute(sql.SQL("REVOKE {} FROM {}").format(role, member) + by)
        elif has_options:
            admin, inherit, may_set = (sql.SQL(str(on)) for on in before.members[key])
            conn.execute(
                sql.SQL("GRANT {} TO {} WITH ADMIN {}, INHERIT {}, SET {}").format(
                    role, member, admin, inherit, may_set
                )
                + by
            )
