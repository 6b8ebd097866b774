"""What an installation makes outside the schemas of OMD: roles, memberships and one privilege.

This foretells what ``sql/roles.sql`` does; nothing else outside the schemas is ever touched.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
from psycopg.rows import tuple_row

from omd.programs.install.manifest import Kind
from omd.programs.install.planning import Action, Part, Step

ROLES = (
    "omd_owner",
    "omd_guest",
    "omd_runner",
    "omd_admin",
    "omd_reader",
    "omd_data_reader",
    "omd_data_writer",
)
MEMBERSHIPS = (
    ("omd_runner", "omd_reader"),
    ("omd_admin", "omd_reader"),
    ("pg_monitor", "omd_reader"),
    ("omd_runner", "omd_data_reader"),
    ("omd_data_writer", "omd_data_reader"),
    ("omd_owner", "omd_guest"),
)
# omd_owner gets the first that the installer may grant.
_STATISTICS = ("pg_read_all_stats", "pg_monitor")


def plan_outside(
    conn: psycopg.Connection[Any], *, only: Part | None = None, installer: str | None = None
) -> list[Step]:
    """Return what ``install`` would do outside the schemas, as this user; changes nothing."""
    if only is Part.OBJECTS:
        return []
    return list(_Server(conn).plan(only, installer))


class _Server:
    """What the server says about roles.

    Attributes:
        me: the role that would install.
        there: the roles of OMD that exist.
        since_16: who creates a role is a member of it, and CREATEROLE alone grants no other.
    """

    def __init__(self, conn: psycopg.Connection[Any]) -> None:
        self._conn = conn
        self.since_16 = conn.info.server_version >= 160000
        self.me, self.is_superuser, self.creates_roles, self.database = self._row(
            "SELECT current_user::pg_catalog.text, r.rolsuper, r.rolcreaterole,"
            " pg_catalog.quote_ident(pg_catalog.current_database())"
            " FROM pg_catalog.pg_roles AS r WHERE r.rolname OPERATOR(pg_catalog.=) current_user"
        )
        self.there = {role for role in ROLES if self._exists(role)}

    def plan(self, only: Part | None, installer: str | None) -> Iterator[Step]:
        for role in ROLES:
            yield _step(f"role {role}", is_there=role in self.there)
        memberships = dict.fromkeys(self._memberships(only, installer))
        for member, role, is_there in memberships:
            yield _step(f"membership of {self._quoted(member)} in {role}", is_there=is_there)
        grantee = "omd_owner" if "omd_owner" in self.there else "public"
        yield _step(
            f"CREATE on database {self.database}",
            is_there=self._is(
                "SELECT pg_catalog.has_database_privilege("
                "%s, pg_catalog.current_database(), 'CREATE')",
                grantee,
            ),
        )

    def _memberships(
        self, only: Part | None, installer: str | None
    ) -> Iterator[tuple[str, str, bool]]:
        if self.since_16 and not self.is_superuser:
            for role in ROLES:
                if role not in self.there or self._is_listed(self.me, role):
                    yield self.me, role, role in self.there
        for member, role in MEMBERSHIPS:
            exists = role in self.there and (member in self.there or member == "pg_monitor")
            if exists and self._has(member, role, "MEMBER"):
                yield member, role, True
            elif role not in self.there or self._may_grant(role):
                yield member, role, False
        yield from self._statistics()
        installers = [self.me] if installer is None else [self.me, installer]
        if only is Part.ROLES:
            installers = installers[-1:]
        for name in installers:
            if "omd_owner" not in self.there:
                if not self._is_a_superuser(name):
                    yield name, "omd_owner", False
            elif not self._has(name, "omd_owner", "SET" if self.since_16 else "MEMBER"):
                if self._may_grant("omd_owner"):
                    yield name, "omd_owner", False
            elif self._is_listed(name, "omd_owner"):
                yield name, "omd_owner", True

    def _statistics(self) -> Iterator[tuple[str, str, bool]]:
        if "omd_owner" in self.there and self._has("omd_owner", _STATISTICS[0], "MEMBER"):
            for role in _STATISTICS:
                if self._is_listed("omd_owner", role):
                    yield "omd_owner", role, True
            return
        for role in _STATISTICS:
            if self._may_grant(role):
                yield "omd_owner", role, False
                return

    def _may_grant(self, role: str) -> bool:
        may_any = self.is_superuser or (self.creates_roles and not self.since_16)
        return may_any or self._has(self.me, role, "MEMBER WITH ADMIN OPTION")

    def _has(self, member: str, role: str, privilege: str) -> bool:
        return self._exists(member) and self._is(
            "SELECT pg_catalog.pg_has_role(%s::pg_catalog.name, %s::pg_catalog.name, %s)",
            member,
            role,
            privilege,
        )

    def _is_listed(self, member: str, role: str) -> bool:
        """Return whether one is directly a member of the other."""
        return self._is(
            "SELECT EXISTS (SELECT FROM pg_catalog.pg_auth_members AS m"
            " JOIN pg_catalog.pg_roles AS r ON r.oid OPERATOR(pg_catalog.=) m.roleid"
            " JOIN pg_catalog.pg_roles AS u ON u.oid OPERATOR(pg_catalog.=) m.member"
            " WHERE u.rolname OPERATOR(pg_catalog.=) %s::pg_catalog.name"
            " AND r.rolname OPERATOR(pg_catalog.=) %s::pg_catalog.name)",
            member,
            role,
        )

    def _is_a_superuser(self, role: str) -> bool:
        return self._is(
            "SELECT EXISTS (SELECT FROM pg_catalog.pg_roles AS r"
            " WHERE r.rolname OPERATOR(pg_catalog.=) %s::pg_catalog.name AND r.rolsuper)",
            role,
        )

    def _exists(self, role: str) -> bool:
        return self._is(
            "SELECT EXISTS (SELECT FROM pg_catalog.pg_roles AS r"
            " WHERE r.rolname OPERATOR(pg_catalog.=) %s::pg_catalog.name)",
            role,
        )

    def _quoted(self, name: str) -> str:
        return str(self._row("SELECT pg_catalog.quote_ident(%s)", name)[0])

    def _is(self, query: str, *values: str) -> bool:
        return bool(self._row(query, *values)[0])

    def _row(self, query: str, *values: str) -> tuple[Any, ...]:
        with self._conn.cursor(row_factory=tuple_row) as cur:
            # The texts are those above, in which values are parameters.
            row = cur.execute(query, values).fetchone()
        assert row is not None  # noqa: S101 - each of them returns one
        return row


def _step(path: str, *, is_there: bool) -> Step:
    if is_there:
        return Step(Action.KEEP, path, Kind.OUTSIDE, "unchanged")
    return Step(Action.APPLY, path, Kind.OUTSIDE, "new")
