"""The story of the demo: files appear, two workers do the rest, and three things go wrong.

``model.yaml``, ``flow.sql``, ``rules.yaml`` and ``stage.yaml`` are all that is declared. The story
writes files as a tenant does, looks at views, kills workers, and takes one delivery back, as a
person does in the morning. It starts no load, no step and no stage.
"""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

import omd
from omd.cli.common import PROGRAM
from omd.decision.document import define, read_files
from omd.delivery.document import apply_model, read_model
from omd.demo.control.proof import tell_checks
from omd.demo.platform import proof
from omd.demo.platform.proof import NAME, named
from omd.demo.platform.supplier import Supplier
from omd.demo.stage import (
    Process,
    Screen,
    Story,
    as_role,
    connect,
    first_free,
    flights_of_2013,
    install_omd,
)

DAYS = 5
TTL = 6  # seconds; the default of 30 would make the reader wait for the death of a worker
PATIENCE = 600.0  # seconds that the story waits for one thing
_HERE = Path(__file__).parent


def play(dsn: str, folder: Path, screen: Screen, lake: Path, *, master: str | None = None) -> bool:
    """Play the demo of the platform.

    The lake table, and the folder in which deliveries arrive, stay in the folder ``lake``.
    """
    declared = folder / "declared"
    declared.mkdir()
    with connect(dsn, "UTC") as connection:
        install_omd(connection, screen)
        name = first_free(NAME, lambda name: _is_taken(connection, name) or (lake / name).exists())
        drop = lake / f"{name}_drop"
        drop.mkdir(parents=True)
        for file in (*_HERE.glob("*.yaml"), *_HERE.glob("*.sql"), *_HERE.glob("*.json")):
            text = named(file.read_text(encoding="utf-8"), name)
            text = text.replace("DROP_FOLDER", str(drop)).replace("LAKE_FOLDER", str(lake / name))
            (declared / file.name).write_text(text, encoding="utf-8")
        _declare(connection, as_role("omd_admin", dsn), declared, name, screen)
        supplier = Supplier(flights_of_2013(folder, screen), drop, DAYS)
        with ExitStack() as workers:
            story = _Story(dsn, connection, screen, name, folder, supplier, master, workers)
            for act in (
                story.switch_on,
                story.first,
                story.half_written,
                story.refused,
                story.reverted,
                story.killed_step,
            ):
                act()
            story.tell_work()
        return story.prove()


def _is_taken(connection: psycopg.Connection[Any], name: str) -> bool:
    query = "SELECT FROM omd_report.delivery_agreements WHERE agreement_code = %s"
    return connection.execute(query, [name]).fetchone() is not None


def _declare(
    connection: psycopg.Connection[Any], admin: str, folder: Path, name: str, screen: Screen
) -> None:
    """Declare the flow: this is all that a team does."""
    with omd.connect(admin, application_name="omd demo") as control:
        with screen.step("model.yaml") as step:
            apply_model(control.delivery, read_model(folder / "model.yaml"), dry_run=False)
            control.facts.deploy(name)
            step.done("2 entities, a drop folder, facts that keep changes")
        with screen.step("flow.sql") as step:
            connection.execute((folder / "flow.sql").read_bytes())
            step.done("a topic, and a topic on Spark into Iceberg")
        with screen.step("rules.yaml, stage.yaml") as step:
            paths = [folder / file for file in ("rules.yaml", "stage.yaml")]
            define(control.decision, read_files(paths))
            control.decision.test_ruleset(f"care_{name}")
            control.decision.activate_ruleset(f"care_{name}", 1)
            step.done("a decision table, a stage that starts at news")


@dataclass
class _Story(Story):
    name: str
    folder: Path
    supplier: Supplier
    master: str | None
    ended_with_it: ExitStack
    workers: dict[str, Process] = field(default_factory=dict)

    def sql(self, query: str, why: str = "", *, answers: bool = True) -> None:
        """Show a statement under the name of this play, execute it, and show its rows."""
        super().sql(named(query, self.name), why, answers=answers)

    def one(self, query: str) -> dict[str, Any]:
        """Return the only row of a query under the name of this play."""
        return super().one(named(query, self.name))

    # The acts -----------------------------------------------------------------------------------

    def switch_on(self) -> None:
        """Switch the flow on, and start two workers."""
        self.screen.title("In the evening: two workers, and we go home")
        self.say("  $ omd work on")
        with omd.connect(as_role("omd_admin", self.dsn), application_name="omd demo") as control:
            control.dispatch.set_work(True)
        for name in "AB":
            self._start(name)

    def first(self) -> None:
        """Let a first folder appear."""
        self.screen.title("A folder appears")
        self._arrive(1)
        self._await_flow(1)
        self.say("  Nobody started anything. What has run so far:")
        self.sql(
            "SELECT module_code, execution_status_code AS status, rows_inserted AS rows"
            " FROM omd_report.module_execution_log WHERE module_code LIKE '%nyc_night%'"
            " ORDER BY module_instance_id"
        )

    def half_written(self) -> None:
        """Let a folder appear that is not complete; kill the worker that delivers it."""
        self.screen.title("A folder that is half written, and a worker that dies")
        self.supplier.write(2, self.supplier.flights[2])
        self.say(f"  + {self.supplier.folder(2).name}/: two files, no _SUCCESS")
        self._await_arrival(2, "INCOMPLETE")
        self._tell_arrivals()
        self.say("  It waits. Now the tenant says that it is complete:")
        self.supplier.finish(2)
        self.wait_for_row(
            "a verdict",
            "SELECT FROM omd_report.delivery_log WHERE agreement_code = %s"
            " AND snapshot_datetime = '2013-01-02Z' AND delivery_status = 'VALIDATED'",
            [self.name],
        )
        self._kill(f"delivery.{self.name}")
        self._await_flow(2)

    def refused(self) -> None:
        """Let a folder appear that is refused, and a correction of it."""
        self.screen.title("A folder that is refused")
        self._arrive(3, self.supplier.twice(3))
        self._await_arrival(3, "REFUSED")
        self._tell_arrivals()
        self.say("  The tenant writes the folder again. Another content is found by itself:")
        self._arrive(3)
        self._await_flow(3)

    def reverted(self) -> None:
        """Take a delivery back that was wrong, and correct it under the same time."""
        self.screen.title("A folder that was accepted, and is wrong")
        self._arrive(4, self.supplier.wrong(4))
        self._await_flow(4)
        self.say("  The delays of United are 60 times too long, and five flights were not flown.")
        self._tell_departures()
        load = self.one(
            "SELECT max(module_instance_id) AS id FROM omd_report.facts_loads"
            " WHERE interface_code = 'nyc_night'"
        )["id"]
        reason = "hours for minutes"
        self.say(f"  $ omd facts undo {self.name} {load} --revert '{reason}'")
        self._call("facts", "undo", self.name, str(load), "--revert", reason)
        self._await_quiet("the undo", "has reached the mart", "facts", "mart")
        self._tell_departures()
        self.say("  The tenant corrects the folder, so the delivery has the same time as before:")
        self._arrive(4)
        self._await_flow(4)
        self._tell_departures()

    def killed_step(self) -> None:
        """Kill the worker that takes a step on Spark, while it writes."""
        self.screen.title("A worker dies while Spark writes to the lake")
        topic = f"lake_{self.name}.delay"
        self._arrive(5)
        self.wait_for_row(
            "Spark to write",
            "SELECT FROM omd_report.lake_folders"
            " WHERE table_code = %s AND folder_state = 'WRITING'",
            [topic],
        )
        self._kill(topic)
        self._await_flow(5)
        self._await_quiet("the lake and the rules", "nothing is left to do", "")
        self.sql(
            "SELECT operation, module_instance_id AS run, execution_status_code AS status,"
            " added_rows, total_rows FROM omd_report.lake_commits"
            " WHERE table_code = 'lake_nyc_night.delay' ORDER BY commit_id"
        )

    def tell_work(self) -> None:
        """Show that nothing is left."""
        self.screen.title("In the morning: nothing waits, and nothing has failed for good")
        self.sql(
            "SELECT module_kind_code AS kind, code, state, failures FROM omd_report.work"
            " WHERE code LIKE '%nyc_night%' ORDER BY kind, code"
        )
        self.sql(
            "SELECT task_type AS type, status, outcome, count(*) AS tasks"
            " FROM omd_dispatch.task_data_work GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
        )

    def prove(self) -> bool:
        """Compare all tables with the files that were accepted."""
        self.screen.title("The proof: the accepted files beside all tables")
        with self.screen.step("checksums of every row") as step:
            checks = proof.prove(self.connection, self.name, self.supplier.flights)
            step.done("from the CSV files, and by SQL")
        flights = checks[0].expected.rows
        return tell_checks(
            self.screen,
            checks,
            f"Each of {flights:,} accepted flights is in each table once, as its newest file has"
            " it.",
        )

    # What it sees -------------------------------------------------------------------------------

    def _arrive(self, day: int, flights: Any = None) -> None:
        self.supplier.write(day, self.supplier.flights[day] if flights is None else flights)
        self.supplier.finish(day)
        self.say(f"  + {self.supplier.folder(day).name}/")

    def _await_arrival(self, day: int, status: str) -> None:
        self._await(
            f"the folder of January {day} to be {status}",
            "SELECT FROM omd_report.arrivals WHERE agreement_code = %s AND folder = %s"
            " AND arrival_status = %s",
            [self.name, self.supplier.folder(day).name, status],
        )

    def _await_flow(self, day: int) -> None:
        """Wait until the folder of a day is in all tables."""
        with self.screen.step(f"January {day}") as step:
            self._await_arrival(day, "DONE")
            self._wait_for_quiet("facts", "mart")
            step.done(f"{len(self.supplier.flights[day])} flights: facts, mart")

    def _await_quiet(self, what: str, done: str, *codes: str) -> None:
        with self.screen.step(what) as step:
            self._wait_for_quiet(*codes)
            step.done(done)

    def _wait_for_quiet(self, *codes: str) -> None:
        """Wait until nothing runs and nothing is ready, of Modules whose codes begin so."""
        self._await(
            "all work to be done",
            "SELECT WHERE NOT EXISTS (SELECT FROM omd_report.work"
            " WHERE code LIKE %s AND code ~ %s"
            " AND (state NOT IN ('IDLE', 'WAITING') OR task_id IS NOT NULL))",
            [f"%{self.name}%", f"^({'|'.join(codes)})"],
        )

    def _await(self, what: str, query: str, values: Any) -> None:
        def ended() -> bool:
            return any(worker.poll() is not None for worker in self.workers.values())

        try:
            self.wait_for_row(what, query, values, is_vain=ended, patience=PATIENCE)
        except omd.OmdError as error:
            logs = sorted(self.folder.glob("?.log"))
            lines = [line for log in logs for line in log.read_text().splitlines()[-20:]]
            raise omd.OmdError("\n".join([str(error), *lines])) from None

    def _tell_arrivals(self) -> None:
        self.sql(
            "SELECT folder, arrival_status AS status, problem FROM omd_report.arrivals"
            " WHERE agreement_code = 'nyc_night' ORDER BY folder"
        )

    def _tell_departures(self) -> None:
        self.sql(
            "SELECT count(*) AS flights, max(delay) FILTER (WHERE carrier = 'UA') AS longest_delay"
            " FROM mart_nyc_night.departure WHERE day = '2013-01-04'"
            " AND acm_record_ind <> 'R'"
        )

    # Processes ----------------------------------------------------------------------------------

    def _call(self, *arguments: str) -> None:
        """Do what a person does at a terminal."""
        admin = as_role("omd_admin", self.dsn)
        with Process([*PROGRAM, *arguments], admin, stdout=subprocess.DEVNULL,
                     stderr=subprocess.PIPE) as process:  # fmt: skip
            said = process.communicate()[1]
        if process.returncode:
            raise omd.OmdError(said)

    def _start(self, name: str) -> None:
        """Start a worker in a process of its own."""
        # A step of a moment shall not wait behind a job on Spark.
        arguments = [
            "--workers",
            "2",
            "--ttl",
            str(TTL),
            *(["--master", self.master] if self.master else []),
        ]
        with (self.folder / f"{name}.log").open("a") as log:
            worker = Process(
                [*PROGRAM, "dispatch", "run", *arguments],
                self.runner,
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        self.ended_with_it.callback(_end, worker)
        self.workers[name] = worker
        self.say(f"  $ omd dispatch run {' '.join(arguments)} &    # worker {name}: {worker.pid}")

    def _kill(self, code: str) -> None:
        """Kill the worker that performs a Module, with the process of its task; start another."""
        claim = self.wait_for_row(
            f"a worker to have {code}",
            "SELECT split_part(claimed_by, ':', 2)::integer AS pid FROM omd_report.dispatch_running"
            " WHERE criteria ->> 'CODE' = %s",
            [code],
        )
        ((name, worker),) = ((n, w) for n, w in self.workers.items() if w.pid == claim["pid"])
        family = [worker.pid, *_children(worker.pid)]
        for pid in family:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        worker.wait()
        self.say(f"  $ kill -KILL {worker.pid}    # worker {name}, and the processes of its tasks")
        del self.workers[name]
        self._start(name)


def _end(worker: Process) -> None:
    """End a worker, and the processes of its tasks."""
    family = _children(worker.pid)
    worker.cut()
    for pid in family:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _children(pid: int) -> list[int]:
    """Return the processes that a process has started, and theirs; none where /proc is missing."""
    children = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, file.read_text().split()):
                children += [child, *_children(child)]
    return children
