"""The demo of lineage: a month of flights and weather that arrive in pieces and out of step.

``schema.sql`` holds what a DBA sets up: four tables, a view, four topics. In this module deliveries
arrive, schedulers run, and things go wrong. ``proof.sql`` and ``proof.py`` show that no row was
lost or doubled; ``chart.py`` draws how far each topic was behind.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import textwrap
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row

import omd
from omd.cli.common import PROGRAM
from omd.demo import files
from omd.demo.control.proof import table_line
from omd.demo.lineage import proof
from omd.demo.lineage.chart import LagSampler, chart
from omd.demo.stage import SUBMIT_ARGS, Screen, as_role, install_omd

FACT, DASH = "fact.departure", "dash.sky_day"
_HERE = Path(__file__).parent
_ZONE = "America/New_York"
_PATIENCE = 180.0
_TABLES = {
    "feed.flights": "pos, day, carrier, flight, origin, dest, sched_dep_time, dep_delay",
    "feed.weather": "pos, origin, visib, precip",
}


def play(dsn: str, folder: Path, screen: Screen, *, master: str | None = None) -> bool:
    """Play the demo of lineage in a database.

    Args:
        dsn: the database; OMD is installed if it is missing.
        folder: an empty work folder, for the source files.
        screen: the place where the story is shown.
        master: Spark's master URL; the default is that of `omd.spark.session`.

    Returns:
        Whether the proof holds.

    Raises:
        OmdError: something did not happen in time.
        psycopg.errors.DuplicateSchema: a schema feed, etl, fact or dash is not the demo's.
    """
    with psycopg.connect(
        dsn,
        autocommit=True,
        application_name="omd demo",
        options=f"-c TimeZone={_ZONE}",
        row_factory=dict_row,
    ) as connection:
        install_omd(connection, screen)
        with screen.step("schema.sql") as step:
            connection.execute((_HERE / "schema.sql").read_bytes())
            step.done("4 tables, a transform view, 4 topics")
        with screen.step("January 2013") as step:
            source = files.prepare(folder)
            flights, weather = proof.flights(source), proof.weather(source)
            step.done(f"{len(flights):,} flights, {len(weather):,} hours of weather")
        with LagSampler(dsn) as lags:
            story = _Story(dsn, connection, screen, lags, flights, weather, master)
            for number, act in enumerate(story.acts(), start=1):
                lags.mark(str(number))
                act()
        holds = _tell_proof(connection, source, screen)
        screen.title("The lag, as omd_report.lineage_lag told it in each of the six acts")
        screen.say(chart(lags, [FACT, DASH]))
        return holds


@dataclass
class _Story:
    dsn: str
    connection: psycopg.Connection[dict[str, Any]]
    screen: Screen
    lags: LagSampler
    flights: Sequence[proof.Flight]
    weather: Sequence[proof.Weather]
    master: str | None

    def acts(self) -> list[Callable[[], None]]:
        """The acts, in their order."""
        return [
            self.flights_without_weather,
            self.out_of_step,
            self.slow_writer,
            self.killed_step,
            self.end_of_month,
            self.killed_spark,
        ]

    # The acts -----------------------------------------------------------------------------------

    def flights_without_weather(self) -> None:
        """Show that a dependency without an offset blocks."""
        self._title(1, "Flights arrive, the weather does not")
        self._deliver("feed.flights", 1, 7)
        self._sql("CALL omd_lineage.probe_sources()", "What a scheduler does at each poll:")
        self._sql("SELECT topic, is_ready, reason, blocker FROM omd_lineage.ready_list")
        self._say(
            "The fact joins a flight with the weather of its hour. Of the weather nothing is",
            "known, so nothing is done. The dashboard waits for the fact.",
        )

    def out_of_step(self) -> None:
        """Show that the fact goes as far as its slowest dependency."""
        self._title(2, "The weather comes, three days behind")
        self._deliver("feed.weather", 1, 4)
        self._schedule("fact.*")
        self._tell_fact()
        self._sql(
            "SELECT last_pos AS last, upto, blocker FROM omd_report.lineage_lag"
            " WHERE topic = 'fact.departure'"
        )
        self._say(
            "The fact has come as far as the weather, which holds it. The newest hour waits: it",
            "may still be filling, so rows are taken before upto, not at it.",
        )
        self._deliver("feed.weather", 5, 7)
        self._schedule("fact.*")

    def slow_writer(self) -> None:
        """Show that rows are not lost when they become visible late and have earlier positions."""
        self._title(3, "A slow writer")
        self._deliver("feed.weather", 8, 14)
        slow = [f for f in self._days(self.flights, 8, 9) if f[2] == "UA"]
        with psycopg.connect(
            self.dsn, application_name="omd demo slow writer", options=f"-c TimeZone={_ZONE}"
        ) as writer:
            self._copy(writer, "feed.flights", slow)
            self._say(
                f"A session inserts {len(slow):,} flights of United, January 8 and 9, and does not"
                " commit yet.",
                "Another one inserts all other flights of January 8 to 14, and commits:",
            )
            late = set(map(id, slow))
            rest = [f for f in self._days(self.flights, 8, 14) if id(f) not in late]
            self._copy(self.connection, "feed.flights", rest)
            self._say(f"  + feed.flights: {len(rest):,} rows, visible")
            self._schedule("fact.*")
            self._sql("SELECT upto, end_pos, detail FROM omd_lineage.plan('fact.departure')")
            self._tell_fact()
            self._say(
                "Up to January 14 all seems to be there. Had the fact gone on, United's rows would",
                "appear behind its offset, and never be read. The plan does not pass a transaction",
                "that still writes to the base table. Now it commits:",
            )
            writer.commit()
        self._say(f"  + feed.flights: {len(slow):,} rows, visible at last")
        self._schedule("fact.*")
        self._sql(
            "SELECT carrier, count(*) FROM fact.departure"
            " WHERE carrier = 'UA' AND day IN ('2013-01-08', '2013-01-09') GROUP BY carrier"
        )

    def killed_step(self) -> None:
        """Show that a retry takes the same block."""
        self._title(4, "A step is killed in the middle")
        self._deliver("feed.weather", 15, 21)
        self._deliver("feed.flights", 15, 17)
        with psycopg.connect(self.dsn, application_name="omd demo lock") as locker:
            locker.execute("SELECT FROM fact.progress FOR UPDATE")
            self._say(
                "After its rows, a step of the fact updates fact.progress. Somebody has locked it."
            )
            with self._step(FACT) as process:
                holder = self._await(
                    "the step to wait for the lock",
                    "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                    " AND datname = current_database() AND %s = ANY(pg_blocking_pids(pid))",
                    [locker.info.backend_pid],
                )
                self._sql(
                    "SELECT hostid <> '' AS is_held, rows, (next).pos AS next"
                    " FROM omd_lineage.offsets WHERE topic = 'fact.departure'",
                    "The block was recorded before a row was read:",
                )
                self._sql(f"SELECT pg_terminate_backend({holder['pid']})")
                lines = (process.communicate()[1] or "").strip().splitlines()
                self._say(*(f"  {line}" for line in lines[:1]))
            locker.rollback()
        self._tell_fact()
        self._say("Nothing of it is there. Meanwhile more has arrived:")
        self._deliver("feed.flights", 18, 21)
        self._sql(
            "SELECT is_planned, start_pos, end_pos, row_count"
            " FROM omd_lineage.plan('fact.departure')"
        )
        self._say("The retry takes the very same block; what is new is the next one:")
        self._await(
            "the pause before the retry to end",
            "SELECT FROM omd_lineage.ready_list WHERE topic = %s AND is_ready",
            ["fact.departure"],
        )
        self._schedule("fact.*")

    def end_of_month(self) -> None:
        """Show how a source is declared complete."""
        self._title(5, "The end of the month")
        self._deliver("feed.flights", 22, 31)
        self._deliver("feed.weather", 22, 31)
        self._schedule("fact.*")
        self._say(
            "The newest hour of a source waits until something newer is there. After the last one",
            "of the month nothing is, so the supplier's word that January is complete is needed:",
        )
        for table in _TABLES:
            self._sql(f"CALL omd_lineage.set_offset('{table}', '2013-02-01 00:00 {_ZONE}')")
        self._schedule("fact.*")
        self._tell_fact()

    def killed_spark(self) -> None:
        """Kill a step on Spark when half of its rows are written; two schedulers repair it."""
        self._title(6, "A Spark step is killed half-way, and two schedulers")
        self._say(
            "Spark makes the dashboard of the fact. It writes in parallel, a transaction per",
            "partition. One of them waits for a row that somebody has inserted and not committed.",
            "Then the process gets SIGKILL:",
        )
        with (
            psycopg.connect(self.dsn, application_name="omd demo lock") as locker,
            self._step(DASH) as process,
        ):
            begun = self._await(
                "the step on Spark to begin",
                "SELECT module_instance_id AS id FROM omd_lineage.offsets"
                " WHERE topic = %s AND hostid <> '' AND module_instance_id IS NOT NULL",
                [DASH],
            )["id"]
            locker.execute(
                "INSERT INTO dash.sky_day VALUES ('2013-01-10', 'clear', 0, 0, 0, %s)", [begun]
            )
            self._await(
                "a partition to wait",
                "SELECT FROM pg_stat_activity WHERE datname = current_database()"
                " AND %s = ANY(pg_blocking_pids(pid))",
                [locker.info.backend_pid],
            )
            # The other partitions get a moment to commit; on one processor they can't.
            self._await(
                None,
                "SELECT FROM dash.sky_day WHERE omd_insert_module_instance_id = %s LIMIT 1",
                [begun],
                patience=3,
            )
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            self._say(f"  $ kill -KILL {process.pid}")
            locker.rollback()
        self._sql(
            "SELECT omd_insert_module_instance_id AS instance, count(*) AS rows, sum(flights)"
            " AS flights FROM dash.sky_day GROUP BY 1",
            "A part of it is in the table:",
        )
        self._sql(
            "SELECT reason, hostid FROM omd_lineage.ready_list WHERE topic = 'dash.sky_day'",
            "For all that the database knows it is at work, until its lease is over:",
        )
        self._sql(
            "CALL omd_lineage.release('dash.sky_day')",
            "We know better. Whoever is released can't commit any more:",
        )
        self._schedule(schedulers=2)
        self._sql(
            "SELECT module_instance_id AS id, execution_status_code AS status,"
            " rollback_instance_array AS rolled_back, rows_inserted AS rows"
            " FROM omd_report.module_execution_log WHERE module_code = 'dash.sky_day'"
            " ORDER BY 1 DESC LIMIT 2",
            "One of them got it, undid what was there, and took the same block:",
        )
        self._sql("SELECT * FROM dash.sky ORDER BY average_delay DESC", "What it was all for:")

    # What they do -------------------------------------------------------------------------------

    def _title(self, number: int, text: str) -> None:
        self.screen.title(f"{number}. {text}")

    def _say(self, *lines: str) -> None:
        self.screen.say("\n".join(lines))

    def _sql(self, query: str, why: str = "") -> None:
        """Show a statement, run it, and show its result."""
        shown = " ".join(query.split())
        if why:
            self.screen.say(why)
        self.screen.say(
            textwrap.fill(f"{shown};", 100, initial_indent="  => ", subsequent_indent="     ")
        )
        cursor = self.connection.execute(query.encode())
        if cursor.description:
            rows = cursor.fetchall()
            if rows and not shown.startswith(("CALL", "SELECT pg_terminate")):
                self.screen.table(rows)
            elif not rows:
                self.screen.say("  (0 rows)")

    def _tell_fact(self) -> None:
        self._sql(
            "SELECT count(*) AS rows, max(day) AS to_day, (SELECT complete_to FROM fact.progress)"
            " FROM fact.departure"
        )

    def _days(self, lines: Sequence[Any], first: int, last: int) -> list[Any]:
        """Return the lines of some days of New York, five hours behind the files in January."""
        start, end = (f"{date(2013, 1, 1) + timedelta(n)}T05:00:00Z" for n in (first - 1, last))
        return [line for line in lines if start <= line[0] < end]

    def _deliver(self, table: str, first: int, last: int) -> None:
        lines = self._days(self.flights if table == "feed.flights" else self.weather, first, last)
        self._copy(self.connection, table, lines)
        self.screen.say(f"  + {table}: {len(lines):,} rows, January {first} to {last}")

    def _copy(
        self, connection: psycopg.Connection[Any], table: str, lines: Sequence[Sequence[str]]
    ) -> None:
        with connection.cursor().copy(
            f"COPY {table} ({_TABLES[table]}) FROM STDIN (NULL 'NA')".encode()
        ) as copy:
            for line in lines:
                copy.write_row(line)

    def _await(
        self, what: str | None, query: str, arguments: list[Any], patience: float = _PATIENCE
    ) -> dict[str, Any]:
        """Wait until a query returns a row, and return it; ``what`` is for the error message."""
        until = time.monotonic() + patience
        while time.monotonic() < until:
            row = self.connection.execute(query.encode(), arguments).fetchone()
            if row is not None:
                return row
            time.sleep(0.05)
        if what is not None:
            raise omd.OmdError(f"Waited {patience:.0f} seconds for {what}, in vain.")
        return {}

    # Processes ----------------------------------------------------------------------------------

    def _step(self, topic: str) -> _Process:
        """Start one step in a process of its own, as a scheduler does."""
        self.screen.say(f"  $ omd lineage step {topic} &")
        return self._start("step", "--one-line", topic)

    def _schedule(self, topics: str = "*", schedulers: int = 1) -> None:
        """Run schedulers until no topic is ready any more, and show what they print."""
        command = ["run", "--until-quiet"]
        if topics != "*":
            command += ["--topic", topics]
        running = []
        for _ in range(schedulers):
            ampersand = " &" if schedulers > 1 else ""
            self.screen.say(f"  $ omd lineage {shlex.join(command)}{ampersand}")
            running.append(self._start(*command))
        for number, process in enumerate(running):
            with process:
                lines = process.communicate()[1].splitlines()
            who = f"{'AB'[number]} " if schedulers > 1 else ""
            for line in dict.fromkeys(lines):
                if re.match(r"(fact|dash)\.", line):
                    self.screen.say(f"    {who}{line}")
            if process.returncode:
                raise omd.OmdError("The scheduler failed: " + "\n".join(lines[-20:]))

    @property
    def runner(self) -> str:
        """The connection string of the schedulers: a scheduler needs no superuser."""
        return as_role("omd_runner", self.dsn)

    def _start(self, *arguments: str) -> _Process:
        master = [] if self.master is None else ["--master", self.master]
        return _Process(
            [*PROGRAM, "lineage", *arguments, *master],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={
                "PYSPARK_SUBMIT_ARGS": SUBMIT_ARGS,
                **os.environ,
                "OMD_DSN": self.runner,
                "PGTZ": _ZONE,
            },
        )


class _Process(subprocess.Popen[str]):
    """Start a process that is ended with its block, together with all that it has started."""

    def __exit__(self, *error: Any) -> None:
        if self.poll() is None:
            os.killpg(self.pid, signal.SIGKILL)
        super().__exit__(*error)


def _tell_proof(connection: psycopg.Connection[Any], source: files.Source, screen: Screen) -> bool:
    screen.title("The proof: the source files beside the tables")
    checks = proof.prove(connection, source)
    screen.table([table_line(check) for check in checks])
    holds = all(check.holds for check in checks)
    screen.say(
        "Each flight is in the fact exactly once, with the weather of its hour, and counted once in"
        " the dashboard."
        if holds
        else "The proof does not hold."
    )
    return holds
