"""`Room` has the calls of the lake in one line each; the tests share the emptied database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psycopg.types.json import Jsonb

from support.emptied import conn, dsn
from support.flow import Flow, background, until_settled
from support.scene import Endless

if TYPE_CHECKING:
    from collections.abc import Callable

    import psycopg

    Connection = psycopg.Connection[dict[str, Any]]

__all__ = ["background", "conn", "dsn", "until_settled"]


class Room(Flow):
    """Calls of omd_lake over one connection. No file is read or written."""

    def __init__(self, conn: Connection) -> None:
        super().__init__(conn)
        conn.adapters.register_loader("timestamptz", Endless)

    def call(self, routine: str, /, **arguments: Any) -> dict[str, Any]:
        name = routine if "." in routine else f"omd_lake.{routine}"
        return super().call(name, **arguments)

    def module(self, code: str = "m", /, **attributes: Any) -> str:  # type: ignore[override]
        given = {
            "area_code": "HSTG",
            "table_code": f"lake.{code}",
            "table_type_code": "HSTG",
            "platform_code": "SPARK",
            "table_format_code": "ICEBERG",
            **attributes,
        }
        self.call("omd.register_module", module_code=code, **given)
        return code

    def scene(self, *tables: str) -> None:
        """Register the namespace lake, and for each table a Module and the table."""
        self.call("register_namespace", namespace="lake", location="/data/lake")
        for table in tables:
            self.module(table)
            self.call("register_table", table_code=f"lake.{table}", metadata_location=f"{table}.0")

    def begin(self, code: str = "m", **arguments: Any) -> int:
        row = self.call("omd.begin_module", module_code=code, **arguments)
        assert row["processing_indicator"] == "P", row
        return int(row["module_instance_id"])

    def open(self, instance: int | None, *tables: str) -> list[str]:
        row = self.call("open_commit", module_instance_id=instance, tables=list(tables))
        return list(row["metadata_locations"])

    def commit(self, instance: int | None, /, *commits: dict[str, Any]) -> list[int]:
        row = self.call("commit_tables", module_instance_id=instance, commits=Jsonb(list(commits)))
        return list(row["commit_ids"])

    def append(
        self, instance: int | None, /, *tables: str, write: int | None = 1, **changed: Any
    ) -> list[int]:
        """Open the tables and commit one write of ten rows to each, in one transaction."""
        with self.conn.transaction():
            found = self.open(instance, *tables)
            return self.commit(
                instance,
                *(
                    commit(table, before, write, **changed)
                    for table, before in zip(tables, found, strict=True)
                ),
            )

    def end_module(self, id: int, status: str) -> int:
        action = {"S": "success", "F": "failure"}[status]
        self.call(f"omd.module_{action}", module_instance_id=id)
        return id

    def refused_commit(
        self, sqlstate: str, tables: list[str], instance: int, /, *commits: dict[str, Any]
    ) -> str:
        """Open the tables and check that the commits are refused; return the DETAIL."""
        self.conn.execute("BEGIN")
        try:
            self.open(instance, *tables)
            return str(
                self.refused(
                    sqlstate,
                    "commit_tables",
                    module_instance_id=instance,
                    commits=Jsonb(list(commits)),
                )
            )
        finally:
            self.conn.execute("ROLLBACK")

    def location(self, table: str) -> str:
        return str(self.one("SELECT metadata_location FROM omd_lake.find_table(%s)", table))


def commit(table: str, before: str, write: int | None = 1, /, **changed: Any) -> dict[str, Any]:
    """Return a commit of an Iceberg table; its metadata files are counted: t.0, t.1, …"""
    name, _, number = before.rpartition(".")
    return {
        "table": table,
        "format": "ICEBERG",
        "from": before,
        "to": f"{name}.{int(number) + 1}",
        "sequence_number": int(number) + 1,
        "snapshot_id": 7_000_000_000_000_000_000 + int(number),
        "operation": "APPEND",
        "writes": [] if write is None else [{"write_number": write, "rows": 10}],
        "counts": {"added_files": 1, "added_rows": 10, "total_files": 1, "total_rows": 10},
        **changed,
    }


def delta(table: str, version: int, write: int | None = 1, /, **changed: Any) -> dict[str, Any]:
    """Return a commit of a Delta table."""
    return {
        "table": table,
        "format": "DELTA",
        "sequence_number": version,
        "operation": "APPEND",
        "writes": [] if write is None else [{"write_number": write, "rows": 10}],
        "counts": {"added_files": 1, "added_rows": 10},
        **changed,
    }


@pytest.fixture
def room(conn: Connection) -> Room:
    return Room(conn)


@pytest.fixture
def another(connect: Callable[..., Connection]) -> Callable[..., Room]:
    """A function that returns the calls over a connection of their own, also as a role."""
    return lambda **arguments: Room(connect(**arguments))
