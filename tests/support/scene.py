"""`Scene` creates sources, topics and steps of lineage in one line each.

Tables are created by a superuser; omd_admin registers, and omd_runner takes the steps, with the
rights that the documentation names and no others.

Times are minutes after NOON, long ago, so that no delay matters unless a test gives one. The row of
a source with the greatest time is never taken, because more rows of that time may arrive.
"""

from __future__ import annotations

import contextlib
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, NamedTuple

import psycopg
import pytest
from psycopg.pq import TransactionStatus
from psycopg.types.composite import CompositeInfo, register_composite
from psycopg.types.datetime import TimestamptzLoader

from support import user_code
from support.flow import Flow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Connection = psycopg.Connection[dict[str, Any]]

NOON = datetime(2020, 1, 1, 12, tzinfo=timezone.utc)
FIRST = datetime.min.replace(tzinfo=timezone.utc)  # -infinity
LEAST_ID = -(2**63)

# What a destination needs; a RELOAD needs TRUNCATE too.
RIGHTS = "SELECT, INSERT, DELETE"
_OF_ADMINS = {"cancel_restate", "register_topic", "release", "remove_topic", "retry"}


class Endless(TimestamptzLoader):
    """Reads infinite times, which Python lacks; an offset has one before its first block."""

    def load(self, data: Any) -> datetime:
        return FIRST if bytes(data) == b"-infinity" else super().load(data)


def at(minute: float) -> datetime:
    return NOON + timedelta(minutes=minute)


class Step(NamedTuple):
    """The answer of a step."""

    outcome: str
    id: int | None
    rows: int | None
    detail: str | None


class Scene(Flow):
    """Calls of omd_lineage over one connection."""

    def __init__(self, conn: Connection, *, changes_role: bool = True) -> None:
        super().__init__(conn)
        self.changes_role = changes_role
        conn.adapters.register_loader("timestamptz", Endless)
        info = CompositeInfo.fetch(conn, "omd_lineage.row_position")
        assert info
        register_composite(info, conn)

    # Roles

    @contextlib.contextmanager
    def role(self, name: str) -> Iterator[None]:
        """Do what follows as a role of OMD, unless the session has been given one for good."""
        if not self.changes_role:
            yield
            return
        self.conn.execute(f"SET ROLE {name}".encode())
        try:
            yield
        finally:
            # The rollback of a transaction that has failed takes the role back.
            if not self.conn.closed and self.conn.info.transaction_status in {
                TransactionStatus.IDLE,
                TransactionStatus.INTRANS,
            }:
                self.conn.execute("RESET ROLE")

    def call(self, routine: str, /, **arguments: Any) -> dict[str, Any]:
        """Call a routine of lineage as the role that it is for, and any other as a superuser."""
        schema, _, name = routine.rpartition(".")
        if schema != "omd_lineage" and routine != "omd.retry":
            return super().call(routine, **arguments)
        with self.role("omd_admin" if name in _OF_ADMINS else "omd_runner"):
            return super().call(routine, **arguments)

    # Tables

    def base(
        self, table: str = "dwh.src", *, pos: str = "pos", id: str = "id", extra: str = ""
    ) -> str:
        """Create a base table with its index; a destination can be one too."""
        self.conn.execute(
            f'CREATE TABLE {table} ("{pos}" timestamptz, "{id}" bigint, v int,'
            f" omd_insert_module_instance_id bigint{extra});"
            f'CREATE INDEX ON {table} ("{pos}", "{id}")'.encode()
        )
        return table

    def insert(self, *rows: float | tuple[float, int], into: str = "dwh.src") -> None:
        """Insert rows at these minutes; the id is the minute unless it is given."""
        self.conn.cursor().executemany(
            f"INSERT INTO {into} VALUES (%s, %s, 1)".encode(),
            [(at(m), i) for m, i in (r if isinstance(r, tuple) else (r, int(r)) for r in rows)],
        )

    def source(self, table: str = "dwh.src", *minutes: float, **attributes: Any) -> str:
        """Create and register a base table with rows at these minutes."""
        self.base(table)
        self.insert(*minutes, into=table)
        self.register(table, **attributes)
        return table

    def view(self, name: str, base: str, *, select: str = "t.pos, t.id, t.v") -> str:
        self.conn.execute(
            f"CREATE OR REPLACE VIEW {name} AS SELECT {select} FROM {base} AS t"
            " WHERE omd_lineage.in_block(t.pos, t.id)".encode()
        )
        return name

    # Topics

    def register(self, topic: str, /, **attributes: Any) -> int:
        return self.call("omd_lineage.register_topic", topic=topic, **attributes)["topic_id"]

    def topic(self, topic: str = "dwh.f", *depends_on: str, **attributes: Any) -> str:
        """Register a topic that copies its base table (dwh.src) to a table of its own."""
        depends_on = depends_on or ("dwh.src",)
        table = topic.split("#", maxsplit=1)[0].split(":", maxsplit=1)[0]
        if not self.one("SELECT to_regclass(%s) IS NOT NULL", table):
            self.base(table)
        if "transforms" not in attributes:
            name = "dwh.v_" + "".join(c if c.isalnum() else "_" for c in topic)
            if not self.one("SELECT to_regclass(%s) IS NOT NULL", name):
                self.view(name, depends_on[0].split("#", maxsplit=1)[0].split(":", maxsplit=1)[0])
            attributes["transforms"] = [name]
        attributes.setdefault("repeat", timedelta(0))
        self.register(topic, depends_on=list(depends_on), **attributes)
        return topic

    # Steps

    def step(self, topic: str = "dwh.f", **arguments: Any) -> Step:
        row = self.call("omd_lineage.step", topic=topic, **arguments)
        return Step(row["outcome"], row["module_instance_id"], row["rows"], row["detail"])

    def steps(self, topic: str = "dwh.f") -> list[int]:
        """Run steps until there is nothing to do; returns how many rows each has written."""
        written = []
        while (step := self.step(topic)).outcome == "DONE":
            written.append(step.rows or 0)
            assert len(written) < 1000, "it does not come to an end"
        assert step.outcome == "NOJOBS", step
        return written

    def fails(self, topic: str = "dwh.f") -> Step:
        """Run a step that divides by zero."""
        self.register(topic, after_sql=["SELECT 1 / 0"])
        step = self.step(topic)
        self.register(topic, after_sql=[])
        assert step.outcome == "ERROR", step
        return step

    # What there is

    def offset(self, topic: str = "dwh.f") -> dict[str, Any]:
        (row,) = self.rows("SELECT * FROM omd_lineage.offsets WHERE topic = %s", topic)
        return row

    def last(self, topic: str = "dwh.f") -> tuple[datetime, int]:
        return tuple(self.offset(topic)["last"])

    def ready(self, topic: str = "dwh.f") -> dict[str, Any]:
        (row,) = self.rows("SELECT * FROM omd_report.lineage_ready WHERE topic = %s", topic)
        return row

    def reason(self, topic: str = "dwh.f") -> tuple[bool, str]:
        row = self.ready(topic)
        return row["is_ready"], row["reason"]

    def plan(self, topic: str = "dwh.f") -> dict[str, Any]:
        with self.role("omd_runner"):
            (row,) = self.rows("SELECT * FROM omd_lineage.plan(%s)", topic)
        return row

    def probe(self) -> int:
        return self.call("omd_lineage.probe_sources")["moved"]

    def ids(self, table: str = "dwh.f") -> list[int]:
        return [row["id"] for row in self.rows(f"SELECT id FROM {table} ORDER BY id, pos")]

    def waits(self, **duration: float) -> None:
        """Let so much of the pause of every Module pass."""
        self.owner(
            "UPDATE omd.module_state SET not_before = not_before - %s", timedelta(**duration)
        )

    def long_ago(self, topic: str = "dwh.f", **past: timedelta) -> None:
        """Move the last run of the topic, and its last progress, into the past."""
        for column, ago in past.items():
            self.owner(
                f"UPDATE omd_lineage.offsets SET {column} = now() - %s WHERE topic = %s", ago, topic
            )


@pytest.fixture
def scene(conn: Connection) -> Iterator[Scene]:
    """The calls over the connection of ``conn``; its tables and schemas are for steps."""
    conn.execute("SET statement_timeout = '60s'")  # it stops a step that waits by mistake
    conn.execute(b"GRANT USAGE ON SCHEMA dwh TO omd_runner, omd_admin")
    for_steps = (
        ("USAGE ON SCHEMAS", "omd_runner, omd_admin"),
        (f"{RIGHTS} ON TABLES", "omd_runner"),
        ("SELECT ON TABLES", "omd_admin"),
    )
    for rights, roles in for_steps:
        conn.execute(f"ALTER DEFAULT PRIVILEGES GRANT {rights} TO {roles}".encode())
    with user_code.spared(conn.info.dsn, "omd_runner", "omd_admin"):
        yield Scene(conn)
    with psycopg.connect(conn.info.dsn, autocommit=True) as superuser:
        for rights, roles in for_steps:
            superuser.execute(f"ALTER DEFAULT PRIVILEGES REVOKE {rights} FROM {roles}".encode())


@pytest.fixture
def replaced(conn: Connection) -> Iterator[Callable[[str, str, str], None]]:
    """A function that replaces a text in a routine of OMD, to show what the text is for."""
    with contextlib.ExitStack() as stack:

        def replace(routine: str, old: str, new: str) -> None:
            row = conn.execute(
                "SELECT pg_get_functiondef(%s::regproc) AS text", [routine]
            ).fetchone()
            assert row
            assert old in row["text"], f"{routine} has no {old!r}"
            stack.callback(conn.execute, row["text"])
            conn.execute(row["text"].replace(old, new).encode())

        yield replace
