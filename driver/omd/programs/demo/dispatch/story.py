"""The demo of dispatch: a night of a small platform, in a minute.

``left.sql`` and ``schema.sql`` hold what a DBA sets up: tables, a Batch, two topics, and the types
of tasks. In this module schedules fire, files arrive, workers come and go, and things go wrong.
``proof.sql``, ``tasks.sql`` and ``proof.py`` show that each load happened once.
"""

from __future__ import annotations

import csv
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import Any

import psycopg

import omd
from omd.programs.cli.common import PROGRAM
from omd.programs.demo import files
from omd.programs.demo.control.proof import tell_checks
from omd.programs.demo.dispatch import proof
from omd.programs.demo.stage import Screen, Story, connect, execute_file, install_omd

FAMILY = "NIGHT"
TTL = 4  # seconds; the default of 30 would make the reader wait for the death of a worker
OLD = 100_000  # tasks of ten days ago
_HERE = Path(__file__).parent
_HALF = 200  # so many lines of a file arrive before the line hangs
# No worker has done these tasks. Their numbers are out of the way of those of the night.
_HISTORY = """
    INSERT INTO omd_dispatch.task_data_night
        (task_id, partition_code, task_type, lane, priority, execution_time, status, attempt,
         created_at, finished_at, outcome)
    SELECT 1000000000000 + n, omd_dispatch._partition_code('DAY_RING', 16, at), 'REFRESH', 'NIGHT',
        5, at, 'DONE', 1, at, at, 'S'
    FROM (SELECT clock_timestamp() - interval '10 days' AS at) AS old, generate_series(1, %s) AS n
    ON CONFLICT DO NOTHING
"""


def play(dsn: str, folder: Path, screen: Screen) -> bool:
    """Play the demo of dispatch in a database.

    Raises:
        psycopg.errors.DuplicateSchema: the schema night is not the demo's.
    """
    with connect(dsn, "UTC") as connection:
        install_omd(connection, screen)
        about = f"a Batch, 2 topics, the family of tasks {FAMILY}"
        execute_file(connection, screen, _HERE / "left.sql", "an earlier demo is ended")
        connection.execute("CALL omd_dispatch.maintain()")
        execute_file(connection, screen, _HERE / "schema.sql", about)
        with screen.step("January 2013") as step:
            source = files.prepare(folder)
            flights = proof.flights(source)
            step.done(f"{len(flights):,} flights from New York, a file per day")
        with screen.step("history") as step:
            connection.execute(_HISTORY.encode(), [OLD])
            step.done(f"{OLD:,} tasks of ten days ago")
        with ExitStack() as workers:
            story = _Story(dsn, connection, screen, folder, flights, workers)
            try:
                for act in (
                    story.missed_night,
                    story.killed_worker,
                    story.maintenance,
                    story.joined_worker,
                    story.purge,
                    story.morning,
                ):
                    act()
            finally:
                story.forget_schedules()
        tasks = _tell_tasks(connection, screen)
        screen.title("The proof: the source files beside the tables")
        done = sum(task.outcome == "S" for task in tasks)
        return tell_checks(
            screen,
            proof.prove(connection, source),
            "Each flight is in the tables exactly once, and counted once in the sums.\n"
            f"Each of {done} tasks that succeeded has had its effect exactly once.",
            others_hold=all(task.holds for task in tasks),
        )


@dataclass
class _Story(Story):
    folder: Path
    flights: Sequence[proof.Flight]
    ended_with_it: ExitStack
    workers: dict[str, _Worker] = field(default_factory=dict)
    delivered: int = 0

    # The acts -----------------------------------------------------------------------------------

    def missed_night(self) -> None:
        """Show that schedules make up for what they have missed, and that topics follow."""
        self.title(1, "Nobody worked for eight hours")
        self.say(
            "A task is one unit of work that is due at some time, and workers take what is due.",
            "A crontab would have three lines. Here they are three schedules, which create tasks:",
            "for the flights Batch each night, for a procedure each hour, and for each topic that",
            "is ready (night.ready is omd_report.ready_topic_tasks without topics of yours).",
        )
        self.sql(
            "CALL omd_dispatch.register_schedule('night_flights', 'NIGHT', 'FLIGHTS',"
            " '{\"CODE\": \"b_night\"}', p_cron => '30 22 * * *',"
            " p_time_zone => 'America/New_York')",
            answers=False,
        )
        self.sql(
            "CALL omd_dispatch.register_schedule('night_board', 'NIGHT', 'REFRESH',"
            " p_cron => '0 * * * *', p_missed => 'ALL')",
            answers=False,
        )
        self.sql(
            "CALL omd_dispatch.register_schedule('night_topics', 'NIGHT', 'TOPIC',"
            " p_every => '1 second', p_source => 'night.ready')",
            answers=False,
        )
        self._deliver(1, 7)
        self.say(
            "The demo does not wait for the night: the next time of a schedule may be written."
        )
        self._fire("night_flights")
        self.sql(
            "UPDATE omd_dispatch.task_schedule"
            " SET next_time = date_trunc('hour', now()) - interval '7 hours'"
            " WHERE schedule_code = 'night_board'",
            "And as if all workers had been off, the last eight hours of the board were missed:",
        )
        self._start("A")
        self._finish("A does what is due")
        self.sql(
            "SELECT task_type, status, count(*), min(execution_time) AS first_due,"
            " max(execution_time) AS last_due FROM omd_dispatch.task_data_night"
            " WHERE created_at >= (SELECT began_at FROM night.began)"
            " GROUP BY task_type, status ORDER BY task_type"
        )
        self.say(
            "p_missed => 'ALL' made up for each hour, with the time at which it was due. Nobody",
            "has set a time for the topics: night.departure was ready when the flights were there,",
            "and night.delay_day when the departures were.",
        )

    def killed_worker(self) -> None:
        """Kill a worker in the middle of a load; another one repairs it."""
        self.title(2, "A worker is killed in the middle of a load")
        hung = self._deliver(8, 14, hangs_at=11)
        self._fire("night_flights")
        with self.screen.step("A loads") as step:
            self._await(
                "three files to be read",
                "SELECT FROM night.stage HAVING count(DISTINCT day) = 3"
                " AND min(day) = '2013-01-08'",
            )
            step.done("the file of January 11 does not end")
        killed = self.workers.pop("A")
        killed.kill()
        self.say(f"  $ kill -KILL {killed.pid}")
        began = time.monotonic()
        self._await(
            "the process of the task to end with its worker",
            "SELECT FROM omd_report.module_execution_log WHERE module_code = 'm_night_stage'"
            " HAVING max(module_instance_id) FILTER (WHERE execution_status_code = 'F')"
            " = max(module_instance_id)",
        )
        hung()
        self.sql(
            "SELECT day, count(*) AS rows FROM night.stage GROUP BY day ORDER BY day",
            "What A had read of the seven files is in the table:",
        )
        self.sql(
            "SELECT task_id, task_type, attempt, split_part(claimed_by, ':', 2) AS worker"
            " FROM omd_report.dispatch_running WHERE family_code = 'NIGHT'",
            "For all that the database knows, the task is still A's. Another worker joins:",
        )
        self._start("B")
        with self.screen.step("B gets the task") as step:
            self._await(
                "the task to be tried again",
                "SELECT FROM omd_dispatch.task_data_night WHERE task_type = 'FLIGHTS'"
                " AND attempt >= 2 AND status IN ('CLAIMED', 'DONE')"
                " AND created_at >= (SELECT began_at FROM night.began)",
            )
            step.done(f"{time.monotonic() - began:.0f} s after the kill; a worker's TTL is {TTL} s")
        self._finish("B loads")
        self.sql(
            "SELECT module_instance_id AS id, execution_status_code AS status,"
            " rollback_instance_array AS rolled_back FROM omd_report.module_execution_log"
            " WHERE module_code = 'm_night_stage' ORDER BY 1 DESC LIMIT 2",
            "The run that A had begun has failed. B has undone it, and loaded all seven files:",
        )

    def maintenance(self) -> None:
        """Suspend the loads; other tasks go on."""
        self.title(3, "A maintenance")
        self.sql(
            "CALL omd_dispatch.suspend('NIGHT', ARRAY['FLIGHTS', 'TOPIC'],"
            " p_reason => 'other disks for the warehouse')"
        )
        self._deliver(15, 21)
        before = self.one("SELECT count(*) AS board FROM night.board")["board"]
        self._fire("night_flights", "night_board")
        with self.screen.step("the night goes on") as step:
            self._await(
                "the suspension to hold",
                "SELECT FROM omd_report.dispatch_queue WHERE family_code = 'NIGHT'"
                " HAVING sum(due + claimed) = 0 AND sum(suspended) FILTER ("
                "WHERE task_type = 'FLIGHTS') = 1"
                " AND (SELECT count(*) FROM night.board) > %s",
                [before],
            )
            step.done("the board is refreshed, the load waits")
        self.sql(
            "SELECT q.task_type, q.due, q.claimed, q.suspended, s.reason"
            " FROM omd_report.dispatch_queue AS q, omd_report.dispatch_suspensions AS s"
            " WHERE q.family_code = 'NIGHT' AND s.family_code = 'NIGHT' AND q.suspended > 0"
        )
        suspension = self.one(
            "SELECT suspension_id AS id FROM omd_report.dispatch_suspensions"
            " WHERE family_code = 'NIGHT'"
        )
        self.sql(f"CALL omd_dispatch.resume({suspension['id']})", "The disks are there:")
        self._finish("B loads")

    def joined_worker(self) -> None:
        """Let a second worker join while there is much to do."""
        self.title(4, "Much to do, and a worker that joins")
        self.sql(
            "CALL omd_dispatch.register_schedule('night_summary', 'NIGHT', 'SUMMARY',"
            " p_cron => '0 6 * * *', p_source => 'night.carriers', p_next_time => now())",
            "Each carrier gets a summary. The source of a schedule gives a task per row:",
            answers=False,
        )
        with self.screen.step("B begins") as step:
            self._await("a summary", "SELECT FROM night.summary LIMIT 1")
            step.done("two at once; it has two slots")
        self._start("C")
        self._finish("B and C work")
        self.sql(
            "SELECT worker, count(*) AS summaries FROM night.summary GROUP BY worker"
            " ORDER BY count(*) DESC"
        )
        self.say("B does not know that C is there. Each task went to one of them.")

    def purge(self) -> None:
        """Purge old tasks while a load goes on."""
        self.title(5, "A purge, while the work goes on")
        self._deliver(22, 31)
        self._fire("night_flights")
        began = time.monotonic()
        self.sql("CALL omd_dispatch.purge_family('NIGHT')", "Tasks are kept for six days:")
        took = time.monotonic() - began
        with self.screen.step("the last load") as step:
            self._wait_for_quiet()
            step.done("it is done")
        left = self.one(
            "SELECT count(*) AS old FROM omd_dispatch.task_data_night"
            " WHERE created_at < (SELECT began_at FROM night.began) - interval '6 days'"
        )
        self.say(
            f"An empty table took the place of the slot with the old tasks, in {took:.2f} s;"
            f" {left['old']} of them are left.",
            "No row was deleted one by one, and the load went on.",
        )

    def morning(self) -> None:
        """Let the workers leave in order."""
        self.title(6, "The morning")
        self.forget_schedules()
        for name, worker in self.workers.items():
            with self.screen.step(f"{name} leaves") as step:
                worker.leave()
                step.done(f"kill -TERM {worker.pid}: exit code {worker.returncode}")
        self.sql(
            "SELECT (SELECT count(*) FROM omd_report.dispatch_backends"
            " WHERE backend_type = 'NIGHT') AS workers,"
            " (SELECT count(*) FROM omd_dispatch.task_data_night"
            " WHERE status IN ('PENDING', 'CLAIMED')) AS live_tasks"
        )

    # What they do -------------------------------------------------------------------------------

    def forget_schedules(self) -> None:
        """Remove the schedules, so that workers of others fire them no more."""
        self.connection.execute(
            """
            DO $$
            DECLARE
                v_code text;
            BEGIN
                FOR v_code IN
                    SELECT s.schedule_code FROM omd_report.dispatch_schedules AS s
                    WHERE s.family_code = 'NIGHT'
                LOOP
                    CALL omd_dispatch.remove_schedule(v_code);
                END LOOP;
            END $$
            """
        )

    def _fire(self, *schedules: str) -> None:
        """Let schedules occur now."""
        names = ", ".join(f"'{name}'" for name in schedules)
        which = f"IN ({names})" if len(schedules) > 1 else f"= {names}"
        update = "UPDATE omd_dispatch.task_schedule SET next_time = now() WHERE schedule_code"
        self.sql(f"{update} {which}")

    def _deliver(self, first: int, last: int, hangs_at: int = 0) -> Callable[[], None]:
        """Let files arrive; return a function that ends the one that hangs, if one does."""
        rows = 0
        ends: Callable[[], None] = lambda: None  # noqa: E731
        for day, lines in groupby(self.flights, key=lambda line: line[0]):
            number = date.fromisoformat(day).day
            if not first <= number <= last:
                continue
            path = self.folder / f"flights-{day}.csv"
            written = _write(path, list(lines))
            if number == hangs_at:
                ends = _hang(path)
            rows += written
            self.connection.execute("INSERT INTO night.file VALUES (%s, %s)", [day, str(path)])
        self.delivered += rows
        self.screen.say(
            f"  + {last - first + 1} files, January {first} to {last}: {rows:,} flights"
        )
        return ends

    def _finish(self, what: str) -> None:
        """Wait until all that has arrived is loaded, and all that was due is done."""
        with self.screen.step(what) as step:
            self._wait_for_quiet()
            row = self.one("SELECT count(*) AS flights, max(day) AS day FROM night.departure")
            step.done(f"{row['flights']:,} flights, up to January {row['day'].day}")

    def _wait_for_quiet(self) -> None:
        self._await(
            "all that is due to be done",
            "SELECT FROM night.delay_day HAVING sum(flights) = %s AND NOT EXISTS ("
            "SELECT FROM omd_report.dispatch_queue AS q WHERE q.family_code = 'NIGHT'"
            " AND q.due + q.later + q.claimed + q.suspended > 0) AND NOT EXISTS ("
            "SELECT FROM omd_report.dispatch_schedules AS s WHERE s.family_code = 'NIGHT'"
            " AND s.every IS NULL AND s.next_time <= now())",
            [self.delivered],
        )

    def _await(self, what: str, query: str, arguments: Sequence[Any] = ()) -> None:
        """Wait until a query returns a row, or a worker has ended."""

        def ended() -> bool:
            return any(worker.poll() is not None for worker in self.workers.values())

        try:
            self.wait_for_row(what, query, arguments, is_vain=ended)
        except omd.errors.OmdError as error:
            lines = [line for worker in self.workers.values() for line in worker.lines()[-20:]]
            raise omd.errors.OmdError("\n".join([str(error), *lines])) from None

    # Processes ----------------------------------------------------------------------------------

    def _start(self, name: str) -> None:
        """Start a worker in a process of its own."""
        arguments = ["--group", FAMILY, "--workers", "2", "--ttl", str(TTL)]
        with _uninterrupted():
            worker = _Worker(arguments, self.runner, self.folder / f"{name}.log")
            self.ended_with_it.enter_context(worker)
        self.workers[name] = worker
        self.say(f"  $ omd worker {' '.join(arguments)} &    # worker {name}: {worker.pid}")
        with self.screen.step(f"{name} joins") as step:
            self._await(
                "the worker to join",
                "SELECT FROM omd_report.dispatch_backends WHERE backend_type = %s"
                " AND split_part(backend_id, ':', 2) = %s",
                [FAMILY, str(worker.pid)],
            )
            step.done("it is a backend of the group NIGHT")


class _Worker(subprocess.Popen[bytes]):
    """Start a worker that ends with its block."""

    def __init__(self, arguments: Sequence[str], dsn: str, log: Path) -> None:
        self._log = log
        with log.open("wb") as file:
            super().__init__(
                [*PROGRAM, "worker", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=file,
                preexec_fn=_end_with_parent,
                env={**os.environ, "OMD_DSN": dsn},
            )

    def __exit__(self, *error: Any) -> None:
        if self.poll() is None:
            self.kill()
        super().__exit__(*error)

    def kill(self) -> None:
        """End it as a power cut does."""
        super().kill()
        self.wait()

    def leave(self) -> None:
        """End it in order."""
        self.send_signal(signal.SIGTERM)
        self.wait(timeout=60)

    def lines(self) -> list[str]:
        """Return what it has printed so far."""
        return self._log.read_text(encoding="utf-8").splitlines()


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back, so that no process is started that nobody ends."""
    held = []
    before = signal.signal(signal.SIGINT, lambda *_: held.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if held:
        raise KeyboardInterrupt


_libc: Any = ctypes.CDLL(None) if sys.platform == "linux" else None


def _end_with_parent() -> None:
    """Let the kernel send SIGTERM to this process when the demo ends, however it does."""
    if _libc is not None:
        _libc.prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


def _write(path: Path, lines: Sequence[proof.Flight]) -> int:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(lines)
    return len(lines)


def _hang(path: Path) -> Callable[[], None]:
    """Let a file arrive over a line that hangs; return a function that repairs the line."""
    whole = path.with_suffix(".whole")
    path.rename(whole)
    os.mkfifo(path)
    line = os.open(path, os.O_RDWR)  # with a reader of its own it does not wait for one
    with whole.open("rb") as file:
        os.write(line, b"".join(file.readline() for _ in range(_HALF)))

    def repair() -> None:
        whole.replace(path)
        os.close(line)

    return repair


def _tell_tasks(connection: psycopg.Connection[Any], screen: Screen) -> list[proof.TaskEffect]:
    screen.title("Every task of the night, and what became of it")
    tasks = proof.tasks(connection)
    screen.table([_task_line(task) for task in tasks])
    screen.say(
        "Outcome S: it succeeded. C: there was nothing to do. The runs are those of process\n"
        "control that the task has begun, by their status: F S is one that failed, and one that\n"
        "succeeded. Effects are counted where they are: runs that succeeded, rows of a procedure."
    )
    return tasks


def _task_line(task: proof.TaskEffect) -> dict[str, Any]:
    return {
        "task": task.task_id,
        "type": task.task_type,
        "what": task.what,
        "due": f"{task.execution_time:%H:%M:%S}",
        "attempts": task.attempt,
        "status": task.status,
        "outcome": task.outcome,
        "runs": task.runs,
        "effects": task.effects,
        "": "✓" if task.holds else "wrong",
    }
