"""The story of the demo: a loader is killed in the middle, begins again, and no row is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.rows import tuple_row

import omd
from omd._core.program import python
from omd.programs.demo.trust import loader, place
from omd.programs.terminal.commands import ExitCode
from omd.programs.terminal.text import short
from omd.rooms.control.codes import Status

if TYPE_CHECKING:
    from omd.programs.demo.stage import Screen

ROWS = 100_000
_EMPTY = "m_trust_demo_empty"  # a Module whose runs write nothing
_RUNS = 200  # of it, to see what a run costs
_PATIENCE = 60.0  # seconds that one step of the story may take
_RUNS_AND_ROWS = """
SELECT l.module_instance_id AS run,
       l.execution_status_code AS status,
       count(o.order_id) AS rows_in_the_table
  FROM omd_report.module_execution_log AS l
  LEFT JOIN trust_demo.orders AS o ON o.omd_insert_module_instance_id = l.module_instance_id
 WHERE l.module_code = 'm_trust_demo_orders'
 GROUP BY l.module_instance_id, l.execution_status_code
 ORDER BY l.module_instance_id
"""
_CONTENTS = """
SELECT count(*) AS rows,
       count(DISTINCT o.order_id) AS orders,
       coalesce(sum(o.amount_cents), 0)::bigint AS cents,
       count(*) FILTER (WHERE l.execution_status_code IS DISTINCT FROM 'S') AS of_no_success
  FROM trust_demo.orders AS o
  LEFT JOIN omd_report.module_execution_log AS l
    ON l.module_instance_id = o.omd_insert_module_instance_id
"""
_PROGRAM = python("from omd.programs.demo.trust.loader import main; main()")


def play(
    where: place.Place, screen: Screen, *, rows: int = ROWS, kills: Sequence[int] = (1,)
) -> bool:
    """Play the demo where `place.look` has found a place; return whether the proof holds.

    Args:
        where: the place.
        screen: shows it.
        rows: how many are loaded.
        kills: the lives of the loader that are ended by SIGKILL, beginning with 1.

    Raises:
        OmdError: something did not happen in time, or something could not be removed.
    """
    story = _Story(where, screen, rows)
    try:
        screen.title("Getting ready")
        with place.made(where, story.stop) as connection:
            story.prepare(connection)
            story.load(kills)
            holds = story.prove()
            story.costs()
            screen.title("Removing it")
    finally:
        if where.left:
            screen.say("  ✗ This is left, and was not there before: " + "; ".join(where.left))
    if where.left:
        raise omd.errors.OmdError("Not everything could be removed.", hint="omd uninstall")
    screen.say(
        "  ✓ Schemas, roles, memberships and grants of OMD are as before. So is a dump: pg_dump -s."
    )
    return holds


@dataclass
class _Story:
    where: place.Place
    screen: Screen
    rows: int
    _process: subprocess.Popen[str] | None = None
    _connection: Any = None
    _wal: dict[str, int | None] = field(default_factory=dict)

    # Getting ready ------------------------------------------------------------------------------

    def prepare(self, connection: psycopg.Connection[Any]) -> None:
        """Make the table and register who loads it."""
        self._connection = connection
        self.screen.say(
            f"  OMD {omd.__version__} is installed, without a superuser if you are none: "
            f"{self._size() / 1e6:.1f} MB."
        )
        connection.execute(
            f"CREATE TABLE {loader.TABLE} (order_id bigint NOT NULL, amount_cents bigint NOT NULL,"
            " omd_insert_module_instance_id bigint NOT NULL)".encode()
        )
        with omd.connect(self.where.dsn, application_name="omd demo trust") as control:
            control.calls.omd.register_batch(loader.BATCH, batch_description="omd demo trust")
            control.calls.omd.register_module(
                loader.MODULE, area_code="HSTG", table_code=loader.TABLE
            )
            control.calls.omd.add_module_to_batch(loader.BATCH, loader.MODULE)
            control.calls.omd.register_module(_EMPTY, area_code="HSTG", table_code=loader.TABLE)
        self.screen.say(
            f"  {loader.TABLE} has no key and no constraint: a row that came twice would show."
        )

    # The loads ----------------------------------------------------------------------------------

    def load(self, kills: Sequence[int]) -> None:
        """Start the loader until one of its lives comes to its end."""
        life = 1
        while True:
            self.screen.title(f"Life {life} of the loader")
            at = self._lsn()
            if life in kills:
                self._live_and_die()
            else:
                self._live()
            self._wal[f"life {life}"] = self._wal_since(at)
            if life not in kills:
                return
            life += 1

    def _start(self, way: str) -> subprocess.Popen[str]:
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            [*_PROGRAM, str(self.rows), way],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # Ctrl-C is for the demo, which ends it
            env={**os.environ, "OMD_DSN": self.where.dsn},
        )
        return self._process

    def _live_and_die(self) -> None:
        process = self._begin("wait")
        self._read(process, "waits")
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        there = self._value("SELECT count(*) FROM trust_demo.orders")
        self.screen.say(
            f"  ! kill -9 {process.pid}, in transaction {loader.WAITS_IN} of {loader.PARTS}:"
            f" {there:,} of {self.rows:,} rows are committed, and nobody has cleaned up."
        )

    def _live(self) -> None:
        process = self._begin("go")
        self._read(process, f"committed {self.rows}")
        if process.wait(_PATIENCE) != 0:
            raise omd.errors.OmdError("The loader of the demo has failed; its messages are above.")
        self.screen.say(f"  {self.rows:,} rows are committed, and the loader has ended by itself.")

    def _begin(self, way: str) -> subprocess.Popen[str]:
        """Start the loader; while OMD believes that the one before lives, it is aborted."""
        until, is_said = time.monotonic() + _PATIENCE, False
        while True:
            process = self._start(way)
            line = self._read(process, "begun", "aborted")
            if line.startswith("begun"):
                self.screen.say(f"  The loader runs, as Module Instance {line.split()[1]}.")
                return process
            if process.wait(_PATIENCE) != ExitCode.ABORTED or time.monotonic() > until:
                raise omd.errors.OmdError("The demo has waited for a begin, in vain.")
            if not is_said:
                is_said = True
                self.screen.say(
                    f"  Started at once, it is {line}: the run before may be alive, until its lease"
                    f" of {loader.LEASE.seconds} s is over. It is tried again."
                )
            time.sleep(0.3)

    def _read(self, process: subprocess.Popen[str], *beginnings: str) -> str:
        """Read what the loader says up to a line that begins like that."""
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        for line in process.stdout:
            if line.startswith(beginnings):
                return line.strip()
        raise omd.errors.OmdError(
            "The loader of the demo has ended too early; its messages are above."
        )

    def stop(self) -> None:
        """End the loader, if it still runs."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            if self._process.stdout is not None:
                self._process.stdout.close()

    # The proof ----------------------------------------------------------------------------------

    def prove(self) -> bool:
        """Show which run wrote which row, and compare the table with what was to be loaded."""
        self.screen.title("The proof")
        self.screen.table(
            [{**row, "status": short(Status(row["status"]))} for row in self._all(_RUNS_AND_ROWS)]
        )
        [there] = self._all(_CONTENTS)
        cents = sum(loader.amount(order_id) for order_id in range(self.rows))
        wanted = {"rows": self.rows, "orders": self.rows, "cents": cents, "of_no_success": 0}
        self.screen.table([{"": "wanted", **wanted}, {"": "there", **there}])
        holds = wanted == there
        self.screen.say(
            "  ✓ Each row is there exactly once, and is of the run that succeeded."
            if holds
            else "  ✗ The proof does not hold."
        )
        return holds

    # What it costs ------------------------------------------------------------------------------

    def costs(self) -> None:
        """Show what the loads have written, and what a run costs that loads nothing."""
        self.screen.title("What it costs")
        at, size = self._lsn(), self._size()
        with omd.connect(self.where.dsn, application_name="omd demo trust") as control:
            began = time.monotonic()
            for _ in range(_RUNS):
                with control.module(_EMPTY):
                    pass
            seconds = time.monotonic() - began
        wal, size = self._wal_since(at), self._size() - size
        rows = [
            {"what": f"the loader, {life}", "WAL": _bytes(written), "on disk": ""}
            for life, written in self._wal.items()
        ]
        table = self._value("SELECT pg_total_relation_size('trust_demo.orders')")
        rows.append({"what": "the table", "WAL": "", "on disk": _bytes(table)})
        rows.append(
            {
                "what": f"OMD, a run that loads nothing ({seconds / _RUNS * 1000:.1f} ms)",
                "WAL": _bytes(None if wal is None else wal // _RUNS),
                "on disk": _bytes(size // _RUNS),
            }
        )
        self.screen.table(rows)
        self.screen.say("  WAL is that of the whole server: others who write now are in it.")

    def _lsn(self) -> str | None:
        """Return how far the WAL is; None where a server does not tell."""
        with suppress(psycopg.Error):
            lsn: str = self._value("SELECT pg_current_wal_insert_lsn()::text")
            return lsn
        return None

    def _wal_since(self, lsn: str | None) -> int | None:
        if lsn is None:
            return None
        cursor = self._connection.execute(
            "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), %s::pg_lsn)::bigint", [lsn]
        )
        written: int = cursor.fetchall()[0][0]
        return written

    def _size(self) -> int:
        """Return the bytes of what OMD has in the database."""
        size: int = self._value(
            "SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class AS c"
            " WHERE c.relkind IN ('r', 'm', 'S') AND c.relnamespace IN (SELECT n.oid"
            " FROM pg_namespace AS n WHERE n.nspowner = to_regrole('omd_owner'))"
        )
        return size

    def _value(self, query: str) -> Any:
        return self._connection.execute(query.encode()).fetchall()[0][0]

    def _all(self, query: str) -> list[dict[str, Any]]:
        with self._connection.cursor(row_factory=tuple_row) as cursor:
            cursor.execute(query.encode())
            names = [column.name for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor]


def _bytes(count: int | None) -> str:
    if count is None:
        return "not known"
    return f"{count / 1e6:,.1f} MB" if count >= 1e6 else f"{count / 1e3:,.1f} kB"
