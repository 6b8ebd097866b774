"""The demo of lineage: a month of flights and weather that arrive in pieces and out of step.

``schema.sql`` holds what a DBA sets up: four tables, a view, four topics. In this module deliveries
arrive, schedulers run, and things go wrong. ``proof.sql`` and ``proof.py`` show that no row was
lost or doubled; ``chart.py`` draws how far each topic was behind.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import psycopg

import omd
from omd.programs.cli.common import PROGRAM
from omd.programs.demo import files
from omd.programs.demo.control.proof import tell_checks
from omd.programs.demo.lineage import proof
from omd.programs.demo.lineage.chart import LagSampler, chart
from omd.programs.demo.stage import (
    Process,
    Screen,
    Story,
    connect,
    copy_lines,
    execute_file,
    install_omd,
)

FACT, DASH = "fact.departure", "dash.sky_day"
_HERE = Path(__file__).parent
_ZONE = "America/New_York"
_TABLES = {
    "feed.flights": "pos, day, carrier, flight, origin, dest, sched_dep_time, dep_delay",
    "feed.weather": "pos, origin, visib, precip",
}


def play(dsn: str, folder: Path, screen: Screen, *, master: str | None = None) -> bool:
    """Play the demo of lineage in a database.

    Raises:
        psycopg.errors.DuplicateSchema: a schema feed, etl, fact or dash is not the demo's.
    """
    with connect(dsn, _ZONE) as connection:
        install_omd(connection, screen)
        about = "4 tables, a transform view, 4 topics"
        execute_file(connection, screen, _HERE / "schema.sql", about)
        with screen.step("January 2013") as step:
            source = files.prepare(folder)
            flights, weather = proof.flights(source), proof.weather(source)
            step.done(f"{len(flights):,} flights, {len(weather):,} hours of weather")
        with LagSampler(dsn) as lags:
            story = _Story(dsn, connection, screen, lags, flights, weather, master)
            for number, act in enumerate(
                (
                    story.flights_without_weather,
                    story.out_of_step,
                    story.slow_writer,
                    story.killed_step,
                    story.end_of_month,
                    story.killed_spark,
                ),
                start=1,
            ):
                lags.mark(str(number))
                act()
        screen.title("The proof: the source files beside the tables")
        holds = tell_checks(
            screen,
            proof.prove(connection, source),
            "Each flight is in the fact exactly once, with the weather of its hour, and counted"
            " once in the dashboard.",
        )
        screen.title("The lag, as omd_report.lineage_lag told it in each of the six acts")
        screen.say(chart(lags, [FACT, DASH]))
        return holds


def _copy(connection: psycopg.Connection[Any], table: str, lines: Sequence[Any]) -> None:
    copy_lines(connection, table, _TABLES[table], lines)


@dataclass
class _Story(Story):
    lags: LagSampler
    flights: Sequence[proof.Flight]
    weather: Sequence[proof.Weather]
    master: str | None

    # The acts -----------------------------------------------------------------------------------

    def flights_without_weather(self) -> None:
        """Show that a dependency without an offset blocks."""
        self.title(1, "Flights arrive, the weather does not")
        self._deliver("feed.flights", 1, 7)
        self.sql(
            "CALL omd_lineage.probe_sources()", "What a scheduler does at each poll:", answers=False
        )
        self.sql("SELECT topic, is_ready, reason, blocker FROM omd_report.lineage_ready")
        self.say(
            "The fact joins a flight with the weather of its hour. Of the weather nothing is",
            "known, so nothing is done. The dashboard waits for the fact.",
        )

    def out_of_step(self) -> None:
        """Show that the fact goes as far as its slowest dependency."""
        self.title(2, "The weather comes, three days behind")
        self._deliver("feed.weather", 1, 4)
        self._schedule("fact.*")
        self._tell_fact()
        self.sql(
            "SELECT last_pos AS last, upto, blocker FROM omd_report.lineage_lag"
            " WHERE topic = 'fact.departure'"
        )
        self.say(
            "The fact has come as far as the weather, which holds it. The newest hour waits: it",
            "may still be filling, so rows are taken before upto, not at it.",
        )
        self._deliver("feed.weather", 5, 7)
        self._schedule("fact.*")

    def slow_writer(self) -> None:
        """Show that rows are not lost when they become visible late and have earlier positions."""
        self.title(3, "A slow writer")
        self._deliver("feed.weather", 8, 14)
        slow = [f for f in self._days(self.flights, 8, 9) if f[2] == "UA"]
        with psycopg.connect(
            self.dsn, application_name="omd demo slow writer", options=f"-c TimeZone={_ZONE}"
        ) as writer:
            _copy(writer, "feed.flights", slow)
            self.say(
                f"A session inserts {len(slow):,} flights of United, January 8 and 9, and does not"
                " commit yet.",
                "Another one inserts all other flights of January 8 to 14, and commits:",
            )
            late = set(map(id, slow))
            rest = [f for f in self._days(self.flights, 8, 14) if id(f) not in late]
            _copy(self.connection, "feed.flights", rest)
            self.say(f"  + feed.flights: {len(rest):,} rows, visible")
            self._schedule("fact.*")
            self.sql("SELECT upto, end_pos, detail FROM omd_lineage.plan('fact.departure')")
            self._tell_fact()
            self.say(
                "Up to January 14 all seems to be there. Had the fact gone on, United's rows would",
                "appear behind its offset, and never be read. The plan does not pass a transaction",
                "that still writes to the base table. Now it commits:",
            )
            writer.commit()
        self.say(f"  + feed.flights: {len(slow):,} rows, visible at last")
        self._schedule("fact.*")
        self.sql(
            "SELECT carrier, count(*) FROM fact.departure"
            " WHERE carrier = 'UA' AND day IN ('2013-01-08', '2013-01-09') GROUP BY carrier"
        )

    def killed_step(self) -> None:
        """Show that a retry takes the same block."""
        self.title(4, "A step is killed in the middle")
        self._deliver("feed.weather", 15, 21)
        self._deliver("feed.flights", 15, 17)
        with psycopg.connect(self.dsn, application_name="omd demo lock") as locker:
            locker.execute("SELECT FROM fact.progress FOR UPDATE")
            self.say(
                "After its rows, a step of the fact updates fact.progress. Somebody has locked it."
            )
            with self._step(FACT) as process:
                holder = self.wait_for_row(
                    "the step to wait for the lock",
                    "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                    " AND datname = current_database() AND %s = ANY(pg_blocking_pids(pid))",
                    [locker.info.backend_pid],
                )
                self.sql(
                    "SELECT hostid <> '' AS is_held, rows, (next).pos AS next"
                    " FROM omd_lineage.offsets WHERE topic = 'fact.departure'",
                    "The block was recorded before a row was read:",
                )
                self.sql(f"SELECT pg_terminate_backend({holder['pid']})", answers=False)
                lines = (process.communicate()[1] or "").strip().splitlines()
                self.say(*(f"  {line}" for line in lines[:1]))
            locker.rollback()
        self._tell_fact()
        self.say("Nothing of it is there. Meanwhile more has arrived:")
        self._deliver("feed.flights", 18, 21)
        self.sql(
            "SELECT is_planned, start_pos, end_pos, row_count"
            " FROM omd_lineage.plan('fact.departure')"
        )
        self.say("The retry takes the very same block; what is new is the next one:")
        self.wait_for_row(
            "the pause before the retry to end",
            "SELECT FROM omd_report.lineage_ready WHERE topic = %s AND is_ready",
            ["fact.departure"],
        )
        self._schedule("fact.*")

    def end_of_month(self) -> None:
        """Show how a source is declared complete."""
        self.title(5, "The end of the month")
        self._deliver("feed.flights", 22, 31)
        self._deliver("feed.weather", 22, 31)
        self._schedule("fact.*")
        self.say(
            "The newest hour of a source waits until something newer is there. After the last one",
            "of the month nothing is, so the supplier's word that January is complete is needed:",
        )
        for table in _TABLES:
            self.sql(f"CALL omd_lineage.set_offset('{table}', '2013-02-01 00:00 {_ZONE}')")
        self._schedule("fact.*")
        self._tell_fact()

    def killed_spark(self) -> None:
        """Kill a step on Spark when half of its rows are written; two schedulers repair it."""
        self.title(6, "A Spark step is killed half-way, and two schedulers")
        self.say(
            "Spark makes the dashboard of the fact. It writes in parallel, a transaction per",
            "partition. One of them waits for a row that somebody has inserted and not committed.",
            "Then the process gets SIGKILL:",
        )
        with (
            psycopg.connect(self.dsn, application_name="omd demo lock") as locker,
            self._step(DASH) as process,
        ):
            begun = self.wait_for_row(
                "the step on Spark to begin",
                "SELECT module_instance_id AS id FROM omd_lineage.offsets"
                " WHERE topic = %s AND hostid <> '' AND module_instance_id IS NOT NULL",
                [DASH],
            )["id"]
            locker.execute(
                "INSERT INTO dash.sky_day VALUES ('2013-01-10', 'clear', 0, 0, 0, %s)", [begun]
            )
            self.wait_for_row(
                "a partition to wait",
                "SELECT FROM pg_stat_activity WHERE datname = current_database()"
                " AND %s = ANY(pg_blocking_pids(pid))",
                [locker.info.backend_pid],
            )
            # The other partitions get a moment to commit; on one processor they can't.
            with suppress(omd.errors.OmdError):
                self.wait_for_row(
                    "another partition",
                    "SELECT FROM dash.sky_day WHERE omd_insert_module_instance_id = %s LIMIT 1",
                    [begun],
                    patience=3,
                )
            process.cut()
            self.say(f"  $ kill -KILL {process.pid}")
            locker.rollback()
        self.sql(
            "SELECT omd_insert_module_instance_id AS instance, count(*) AS rows, sum(flights)"
            " AS flights FROM dash.sky_day GROUP BY 1",
            "A part of it is in the table:",
        )
        self.sql(
            "SELECT reason, hostid FROM omd_report.lineage_ready WHERE topic = 'dash.sky_day'",
            "For all that the database knows it is at work, until its lease is over:",
        )
        self.sql(
            "CALL omd_lineage.release('dash.sky_day')",
            "We know better. Whoever is released can't commit any more:",
        )
        self._schedule(schedulers=2)
        self.sql(
            "SELECT module_instance_id AS id, execution_status_code AS status,"
            " rollback_instance_array AS rolled_back, rows_inserted AS rows"
            " FROM omd_report.module_execution_log WHERE module_code = 'dash.sky_day'"
            " ORDER BY 1 DESC LIMIT 2",
            "One of them got it, undid what was there, and took the same block:",
        )
        self.sql("SELECT * FROM dash.sky ORDER BY average_delay DESC", "What it was all for:")

    # What they do -------------------------------------------------------------------------------

    def _tell_fact(self) -> None:
        self.sql(
            "SELECT count(*) AS rows, max(day) AS to_day, (SELECT complete_to FROM fact.progress)"
            " FROM fact.departure"
        )

    def _days(self, lines: Sequence[Any], first: int, last: int) -> list[Any]:
        """Return the lines of some days of New York, five hours behind the files in January."""
        start, end = (f"{date(2013, 1, 1) + timedelta(n)}T05:00:00Z" for n in (first - 1, last))
        return [line for line in lines if start <= line[0] < end]

    def _deliver(self, table: str, first: int, last: int) -> None:
        lines = self._days(self.flights if table == "feed.flights" else self.weather, first, last)
        _copy(self.connection, table, lines)
        self.screen.say(f"  + {table}: {len(lines):,} rows, January {first} to {last}")

    # Processes ----------------------------------------------------------------------------------

    def _step(self, topic: str) -> Process:
        """Start one step in a process of its own, as a scheduler does."""
        self.screen.say(f"  $ omd run {topic} &")
        return self._start("run", topic)

    def _schedule(self, topics: str = "*", schedulers: int = 1) -> None:
        """Run schedulers until no topic is ready any more, and show what they print."""
        command = ["worker", "--kind", "TOPIC", "--until-quiet"]
        if topics != "*":
            command += ["--topic", topics]
        running = []
        for _ in range(schedulers):
            ampersand = " &" if schedulers > 1 else ""
            self.screen.say(f"  $ omd {shlex.join(command)}{ampersand}")
            running.append(self._start(*command))
        for number, process in enumerate(running):
            with process:
                lines = process.communicate()[1].splitlines()
            who = f"{'AB'[number]} " if schedulers > 1 else ""
            for line in dict.fromkeys(lines):
                if re.match(r"(fact|dash)\.", line):
                    self.screen.say(f"    {who}{line}")
            if process.returncode:
                raise omd.errors.OmdError("The scheduler failed: " + "\n".join(lines[-20:]))

    def _start(self, *arguments: str) -> Process:
        master = [] if self.master is None else ["--master", self.master]
        return Process(
            [*PROGRAM, *arguments, *master],
            self.runner,
            _ZONE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
