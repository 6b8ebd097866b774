"""`Room` has the calls of dispatch in one line each; each test has a database of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from psycopg.types.json import Jsonb

from support.flow import Flow
from support.workers import start  # noqa: F401 - a fixture

if TYPE_CHECKING:
    from collections.abc import Callable

    import psycopg

    Connection = psycopg.Connection[dict[str, Any]]
    Rows = list[dict[str, Any]]


class Room(Flow):
    """Calls of omd_dispatch over one connection; the family is F and the type T."""

    def call(self, routine: str, /, **arguments: Any) -> dict[str, Any]:
        name = routine if "." in routine else f"omd_dispatch.{routine}"
        return super().call(name, **arguments)

    def family(self, code: str = "F", key: tuple[str, ...] = (), /, **arguments: Any) -> None:
        given = {"criteria": {"CODE": "text"}, **arguments}
        self.call("register_family", family_code=code, key_criteria=list(key), **given)
        self.type(family_code=code)

    def type(self, task_type: str = "T", /, **arguments: Any) -> None:
        given = {"family_code": "F", "handler": "PYTHON", "target": "m:f", **arguments}
        self.call("register_task_type", task_type=task_type, **given)

    def create(self, code: str | None = "a", /, **arguments: Any) -> int:
        given = {"family_code": "F", "task_type": "T", "criteria": {"CODE": code}, **arguments}
        return int(self.call("create_task", **given)["task_id"])

    def create_many(self, tasks: Any, /, **arguments: Any) -> dict[str, Any]:
        given = {"family_code": "F", "task_type": "T", **arguments}
        return self.call("create_tasks", tasks=Jsonb(tasks), **given)

    def member(self, backend_id: str = "w1", group: str = "WORKER", /, **arguments: Any) -> str:
        self.call("register_backend", backend_type=group, backend_id=backend_id, **arguments)
        return backend_id

    def claim(self, limit: int = 100, /, by: str = "w1") -> Rows:
        return self.rows("SELECT * FROM omd_dispatch.claim_tasks(%s, %s)", by, limit)

    def complete(
        self, tasks: Rows, outcome: str | None = "S", /, by: str = "w1", **result: Any
    ) -> list[int]:
        """Complete claimed tasks; return those that are refused."""
        results = [
            {
                "task_id": task["task_id"],
                "claim_token": task["claim_token"],
                "outcome": outcome,
                **result,
            }
            for task in tasks
        ]
        return list(self.call("complete_tasks", backend_id=by, results=Jsonb(results))["refused"])

    def exchange(self, done: Rows, results: Rows = [], /, by: str = "w1") -> list[int]:  # noqa: B006
        """Tell as a worker does which claimed tasks are done; return those that are refused."""
        told = [
            {
                "family_code": task["family_code"],
                "partition_code": task["partition_code"],
                "claim_token": task["claim_token"],
                "task_ids": [task["task_id"]],
            }
            for task in done
        ]
        rows = self.rows(
            "SELECT task_id FROM omd_dispatch.complete_and_claim(%s, %s, 0, FALSE, %s)",
            by,
            Jsonb(results),
            Jsonb(told),
        )
        return [row["task_id"] for row in rows]

    def task(self, task_id: int, /, family: str = "f") -> dict[str, Any]:
        (row,) = self.rows(
            f"SELECT * FROM omd_dispatch.task_data_{family} WHERE task_id = %s", task_id
        )
        return row

    def reason(self, task_id: int, /) -> str:
        return str(self.one("SELECT reason FROM omd_dispatch.explain_task(%s)", task_id))

    def maintain(self) -> dict[str, Any]:
        return self.call("maintain")

    def make_due(self, task_id: int, /) -> None:
        """Let a task that waits be due now."""
        self.owner(
            "UPDATE omd_dispatch.task_data_f SET execution_time = clock_timestamp()"
            " WHERE task_id = %s",
            task_id,
        )


@pytest.fixture
def room(conn: Connection) -> Room:
    conn.execute("DELETE FROM omd_dispatch.task_schedule")  # the one that is shipped
    return Room(conn)


@pytest.fixture
def another(connect: Callable[..., Connection]) -> Callable[..., Room]:
    """A function that returns the calls over a connection of their own, also as a role."""
    return lambda **arguments: Room(connect(**arguments))
