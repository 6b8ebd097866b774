"""A night of the platform on a stage: what is declared, the workers, and waiting for them.

``model.yaml``, ``flow.sql``, ``rules.yaml`` and ``stage.yaml`` are all that is declared. A story
writes files as a tenant does, and looks at views. It starts no load, no step and no stage.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import psycopg

import omd
from omd.programs.cli.common import PROGRAM
from omd.programs.cli.documents.together import apply_together, documents_of
from omd.programs.demo.platform.proof import named
from omd.programs.demo.platform.supplier import Supplier
from omd.programs.demo.stage import (
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
PATIENCE = 600.0  # seconds that a story waits for one thing
_HERE = Path(__file__).parent

N = TypeVar("N", bound="Night")


@dataclass
class Night(Story):
    """The declared flow, its supplier, and its workers, which end with the block of `open`."""

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

    @classmethod
    @contextmanager
    def open(
        cls: type[N],
        name: str,
        dsn: str,
        folder: Path,
        screen: Screen,
        lake: Path,
        *,
        master: str | None,
        more: Path | None = None,
    ) -> Iterator[N]:
        """Declare the flow under the first free name, and yield it without workers.

        The lake table, and the folder in which deliveries arrive, stay in the folder ``lake``.
        ``more`` is a file of SQL that declares more.
        """
        declared = folder / "declared"
        declared.mkdir()
        with connect(dsn, "UTC") as connection:
            install_omd(connection, screen)
            name = first_free(
                name, lambda name: _is_taken(connection, name) or (lake / name).exists()
            )
            drop = lake / f"{name}_drop"
            drop.mkdir(parents=True)
            files = [*_HERE.glob("*.yaml"), *_HERE.glob("*.sql"), *_HERE.glob("*.json")]
            for file in (*files, *([more] if more else [])):
                text = named(file.read_text(encoding="utf-8"), name)
                text = text.replace("DROP_FOLDER", str(drop))
                text = text.replace("LAKE_FOLDER", str(lake / name))
                (declared / file.name).write_text(text, encoding="utf-8")
            _declare(connection, as_role("omd_admin", dsn), declared, name, screen, more)
            supplier = Supplier(flights_of_2013(folder, screen), drop, DAYS)
            with ExitStack() as workers:
                yield cls(dsn, connection, screen, name, folder, supplier, master, workers)

    def switch_on(self, workers: str) -> None:
        """Switch the flow on, and start a worker for each letter."""
        self.say("  $ omd call omd_dispatch.set_work --is-on true")
        with omd.connect(as_role("omd_admin", self.dsn), application_name="omd demo") as control:
            control.calls.omd_dispatch.set_work(True)
        for name in workers:
            self.start(name)

    # What it sees -------------------------------------------------------------------------------

    def arrive(self, day: int, flights: Any = None) -> None:
        """Let the folder of a day appear; ``flights``: those of the day."""
        self.supplier.write(day, self.supplier.flights[day] if flights is None else flights)
        self.supplier.finish(day)
        self.say(f"  + {self.supplier.folder(day).name}/")

    def await_arrival(self, day: int, status: str) -> None:
        """Wait until the folder of a day has a status."""
        self._await(
            f"the folder of January {day} to be {status}",
            "SELECT FROM omd_report.arrivals WHERE agreement_code = %s AND folder = %s"
            " AND arrival_status = %s",
            [self.name, self.supplier.folder(day).name, status],
        )

    def await_flow(self, day: int) -> None:
        """Wait until the folder of a day is in all tables."""
        with self.screen.step(f"January {day}") as step:
            self.await_arrival(day, "DONE")
            self.wait_for_quiet("facts", "mart")
            step.done(f"{len(self.supplier.flights[day])} flights: facts, mart")

    def await_quiet(self, what: str, done: str, *codes: str) -> None:
        """Show that it waits until nothing is left to do of Modules whose codes begin so."""
        with self.screen.step(what) as step:
            self.wait_for_quiet(*codes)
            step.done(done)

    def wait_for_quiet(self, *codes: str) -> None:
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
        except omd.errors.OmdError as error:
            logs = sorted(self.folder.glob("?.log"))
            lines = [line for log in logs for line in log.read_text().splitlines()[-20:]]
            raise omd.errors.OmdError("\n".join([str(error), *lines])) from None

    def tell_arrivals(self) -> None:
        """Show the folders."""
        self.sql(
            "SELECT folder, arrival_status AS status, problem FROM omd_report.arrivals"
            " WHERE agreement_code = 'nyc_night' ORDER BY folder"
        )

    # Processes ----------------------------------------------------------------------------------

    def call(self, *arguments: str, is_owner: bool = False) -> None:
        """Do what a person does at a terminal: an administrator, or the owner of the rows."""
        who = self.dsn if is_owner else as_role("omd_admin", self.dsn)
        with Process([*PROGRAM, *arguments], who, stdout=subprocess.DEVNULL,
                     stderr=subprocess.PIPE) as process:  # fmt: skip
            said = process.communicate()[1]
        if process.returncode:
            raise omd.errors.OmdError(said)

    def start(self, name: str) -> None:
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
                [*PROGRAM, "worker", *arguments],
                self.runner,
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        self.ended_with_it.callback(_end, worker)
        self.workers[name] = worker
        self.say(f"  $ omd worker {' '.join(arguments)} &    # worker {name}: {worker.pid}")

    def kill(self, code: str) -> None:
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
        self.start(name)


def _is_taken(connection: psycopg.Connection[Any], name: str) -> bool:
    query = "SELECT FROM omd_report.delivery_agreements WHERE agreement_code = %s"
    return connection.execute(query, [name]).fetchone() is not None


def _declare(
    connection: psycopg.Connection[Any],
    admin: str,
    folder: Path,
    name: str,
    screen: Screen,
    more: Path | None,
) -> None:
    """Declare the flow: this is all that a team does."""
    with omd.connect(admin, application_name="omd demo") as control:
        with screen.step("model.yaml") as step:
            apply_together(control, documents_of([folder / "model.yaml"]))
            control.calls.omd_facts.deploy(name)
            step.done("2 entities, a drop folder, facts that keep changes")
        with screen.step("flow.sql") as step:
            connection.execute((folder / "flow.sql").read_bytes())
            step.done("a topic, and a topic on Spark into Iceberg")
        if more is not None:
            with screen.step(more.name) as step:
                connection.execute((folder / more.name).read_bytes())
                step.done("more that becomes of it")
        with screen.step("rules.yaml, stage.yaml") as step:
            paths = [folder / file for file in ("rules.yaml", "stage.yaml")]
            apply_together(control, documents_of(paths))
            control.decision.test_ruleset(f"care_{name}")
            control.calls.omd_decision.activate_ruleset(f"care_{name}", 1)
            step.done("a decision table, a stage that starts at news")


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
